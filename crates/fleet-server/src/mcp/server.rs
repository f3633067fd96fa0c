//! The server: what a client can ask of it.

use std::path::PathBuf;
use std::sync::Arc;

use fleet_api::Client;
use fleet_core::problem::{Problem, ProblemKind};
use fleet_engine::Service;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, Implementation, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::Semaphore;

use super::call::{Call, Closing};
use super::{answer, prompts, resources, tools};

/// One client's view of the fleet. Holds nothing that is not in the store: any number of them may be at work on one home.
#[derive(Clone)]
pub(crate) struct Server {
    client: Arc<dyn Client>,
    /// The directory that calls without a `repo_path` are about.
    directory: Option<PathBuf>,
    closing: Closing,
    start: Arc<Semaphore>,
}

const INSTRUCTIONS: &str = "codefleet runs coding agents (\"workers\"), each on its own git worktree and \
    branch. Start one with create_worker, which returns at once; then call wait instead of polling, and \
    collect_worker_result for the outcome. get_diff shows what was changed; merge the branch yourself if you \
    want it. Workers queue when all slots are busy, survive the end of this session, and keep their work on \
    their branch. list_agents shows which executors can work here. When several agents should build on each \
    other (write and review, compete and judge, plan and split), use create_workflow. To plan work for later or \
    in a given order, use the backlog: search_backlog, create_task, analyze_dependencies.";

/// What the params of each method are.
const SHAPES: [(&str, &str); 9] = [
    ("initialize", "an object with `protocolVersion`, `capabilities` and `clientInfo`"),
    ("ping", "none"),
    ("tools/list", "none, or an object with `cursor`, a text"),
    ("tools/call", "an object with `name`, a text, and `arguments`, an object"),
    ("resources/list", "none, or an object with `cursor`, a text"),
    ("resources/templates/list", "none, or an object with `cursor`, a text"),
    ("resources/read", "an object with `uri`, a text"),
    ("prompts/list", "none, or an object with `cursor`, a text"),
    ("prompts/get", "an object with `name`, a text, and `arguments`, an object of texts"),
];

impl Server {
    pub(crate) fn new(service: Service) -> Self {
        let directory = service.directory();
        let start = Arc::new(Semaphore::new(1));
        Self { client: Arc::new(service), directory, closing: Closing::new(), start }
    }

    pub(crate) fn for_another_client(&self) -> Self {
        Self { closing: Closing::new(), ..self.clone() }
    }

    pub(crate) fn closing(&self) -> Closing {
        self.closing.clone()
    }

    fn call(&self, context: RequestContext<RoleServer>) -> Call {
        Call {
            client: Arc::clone(&self.client),
            directory: self.directory.clone(),
            closing: self.closing.clone(),
            start: Arc::clone(&self.start),
            context,
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        InitializeResult::new(capabilities)
            .with_server_info(Implementation::new("codefleet", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::described().to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        tools::call(&request.name, self.call(context), arguments).await.map(CallToolResponse::from)
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = page.and_then(|page| page.cursor);
        resources::list(&self.call(context), cursor).await.map_err(|problem| failure(&problem))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents =
            resources::read(&self.call(context), &request.uri).await.map_err(|problem| failure(&problem))?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::described()))
    }

    /// What has the name of one of the methods above and is not one has another shape.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let shape = SHAPES.iter().find(|(method, _)| *method == request.method);
        Err(match shape {
            Some((method, shape)) => {
                ErrorData::invalid_params(format!("the params of {method}: {shape}"), None)
            }
            None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None),
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let given = request.arguments.unwrap_or_default();
        let filled = prompts::fill(&request.name, &given).map_err(|problem| failure(&problem))?;
        Ok(filled.into())
    }
}

/// A problem where the protocol has no result for it.
fn failure(problem: &Problem) -> ErrorData {
    let (text, data) = (answer::text(problem), Some(answer::data(problem)));
    match problem.code.kind() {
        ProblemKind::NotFound => ErrorData::resource_not_found(text, data),
        ProblemKind::Invalid | ProblemKind::Conflict => ErrorData::invalid_params(text, data),
        _ => ErrorData::internal_error(text, data),
    }
}
