//! What every verb needs: where things are, how it is configured, the store.

mod names;
mod projects;
mod selection;

use std::ffi::OsString;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fleet_agents::Registry;
use fleet_api::verbs::config_validate;
use fleet_core::id::{IdKind, IdMaker};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::time::Millis;
use fleet_host::git::{self, DiscoverError, Repository, Surrounding};
use fleet_host::trace;
use fleet_store::{Op, Store, StoreUrl};
use tokio::sync::OnceCell;

use crate::caller::Caller;
use crate::config::{Config, ConfigFile, Sources};
use crate::door::Door;
use crate::environment::Environment;
use crate::home::Home;
use crate::inside::{self, Position};
use crate::keeper::AskingCalls;
use crate::terminal::HookInbox;
use crate::verbs::run_logs::OpenLogs;
use crate::waiting::StoreChanges;
use crate::{agents, clock, problems};

pub(crate) use names::LONGEST_NAME;
pub(crate) use selection::{NamedTasks, SelectionScope, branch_of};

/// What a process is started with.
#[derive(Debug, Clone)]
pub struct EngineStart {
    pub environment: Environment,
    /// The directory of the project; `None` is the current directory.
    pub directory: Option<PathBuf>,
    /// `KEY=VALUE` settings from the command line.
    pub flags: Vec<String>,
}

/// The verbs' common ground. Opens the store only when a verb needs it.
pub struct Engine {
    start: EngineStart,
    home: Home,
    repository: Result<Repository, DiscoverError>,
    config: OnceLock<Config>,
    agents: OnceLock<Registry>,
    /// The caller that it acts for, if not the user of this process.
    caller: Option<Caller>,
    /// Shared: it is the same from every directory.
    position: Arc<OnceLock<Position>>,
    /// Which home on which machine this is: looked up once, so that a network card that comes or goes changes nothing.
    place: Arc<OnceLock<String>>,
    store: Arc<OnceCell<Store>>,
    changes: Arc<OnceCell<StoreChanges>>,
    open_logs: Arc<OpenLogs>,
    /// Where the hooks of an agent in a terminal go: only its keeper has that.
    hooks: Option<HookInbox>,
    /// Where the questions of an agent go: only its keeper has that.
    asking: Option<AskingCalls>,
    ids: Mutex<IdMaker>,
}

impl Engine {
    /// Looks around; reads no configuration yet, so that even a broken one can be shown and fixed.
    pub fn new(mut start: EngineStart) -> Outcome<Self> {
        let given = std::mem::take(&mut start.flags);
        start.flags = [start.environment.settings()?, given].concat();
        let environment = &start.environment;
        let home = environment.home().or_else(|problem| inside::without_home(environment, problem))?;
        let home = Home::new(home);
        let directory = match &start.directory {
            Some(directory) => directory.clone(),
            None => start.environment.current_directory()?.to_owned(),
        };
        let repository = find(&home, &directory);
        if let (Some(_), Err(error)) = (&start.directory, &repository) {
            return Err(problems::repository(error));
        }
        Ok(Self {
            start,
            home,
            repository,
            config: OnceLock::new(),
            agents: OnceLock::new(),
            caller: None,
            position: Arc::default(),
            place: Arc::default(),
            store: Arc::default(),
            changes: Arc::default(),
            open_logs: Arc::default(),
            hooks: None,
            asking: None,
            ids: Mutex::new(IdMaker::default()),
        })
    }

    /// The same, seen from another directory, which must be in a repository. Shares the store.
    pub fn at(&self, directory: PathBuf) -> Outcome<Self> {
        let repository = find(&self.home, &directory).map_err(|error| problems::repository(&error))?;
        let start = EngineStart { directory: Some(directory), ..self.start.clone() };
        Ok(self.seen_from(start, Ok(repository)))
    }

    /// The same without any project: only the user's own configuration counts.
    #[must_use]
    pub fn without_project(&self) -> Self {
        let nothing = DiscoverError::NotARepository {
            start: self.home.root().into(),
            searched_to: self.home.root().into(),
        };
        self.seen_from(self.start.clone(), Err(nothing))
    }

    /// The same without any project, and with another agent for tasks that name none, whatever the configuration says.
    pub fn with_agent(&self, agent: &str) -> Outcome<Self> {
        agents::check_known(self, agent)?;
        let mut other = self.without_project();
        other.start.flags.push(format!("agent={agent}"));
        Ok(other)
    }

    /// The same, seen from the directory that the process was started for, which must be in a repository. For engines
    /// without a project.
    pub(crate) fn back(&self) -> Outcome<Self> {
        self.at(self.start_directory()?)
    }

    /// The directory that the process was started for.
    pub(crate) fn start_directory(&self) -> Outcome<PathBuf> {
        match &self.start.directory {
            Some(directory) => Ok(directory.clone()),
            None => Ok(self.start.environment.current_directory()?.to_owned()),
        }
    }

    /// The same, with the settings read once more. Shares the store.
    pub(crate) fn reloaded(&self) -> Self {
        match &self.repository {
            Ok(repository) => self.seen_from(self.start.clone(), Ok(repository.clone())),
            Err(_) => self.without_project(),
        }
    }

    #[must_use]
    pub(crate) fn acting_as(self, caller: Caller) -> Self {
        Self { caller: Some(caller), ..self }
    }

    /// The same for a keeper that listens to the hooks of its agent.
    #[must_use]
    pub(crate) fn with_hooks(self, hooks: HookInbox) -> Self {
        Self { hooks: Some(hooks), ..self }
    }

    /// The same for a keeper that waits for what its agent asks.
    #[must_use]
    pub(crate) fn with_asking(self, asking: AskingCalls) -> Self {
        Self { asking: Some(asking), ..self }
    }

    pub(crate) const fn asking(&self) -> Option<&AskingCalls> {
        self.asking.as_ref()
    }

    pub(crate) const fn hooks(&self) -> Option<&HookInbox> {
        self.hooks.as_ref()
    }

    fn seen_from(&self, start: EngineStart, repository: Result<Repository, DiscoverError>) -> Self {
        Self {
            start,
            home: self.home.clone(),
            repository,
            config: OnceLock::new(),
            agents: OnceLock::new(),
            caller: self.caller.clone(),
            position: Arc::clone(&self.position),
            place: Arc::clone(&self.place),
            store: Arc::clone(&self.store),
            changes: Arc::clone(&self.changes),
            open_logs: Arc::clone(&self.open_logs),
            hooks: self.hooks.clone(),
            asking: self.asking.clone(),
            ids: Mutex::new(IdMaker::default()),
        }
    }

    /// What a process of ours gets that is started on behalf of this one.
    pub(crate) fn environment_for_children(&self) -> Vec<(OsString, OsString)> {
        self.start.environment.for_children(&self.start.flags)
    }

    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The agents that there are: the known ones and those of the configuration.
    pub fn agents(&self) -> Outcome<Registry> {
        if let Some(agents) = self.agents.get() {
            return Ok(agents.clone());
        }
        let agents = agents::registry(self.config()?, &self.start.environment)?;
        Ok(self.agents.get_or_init(|| agents).clone())
    }

    /// Who asks. Inside a run, verbs are called at the door instead.
    pub fn caller(&self) -> Outcome<&Caller> {
        match &self.caller {
            Some(caller) => Ok(caller),
            None => self.position().check().map(|()| &Caller::Person),
        }
    }

    /// Whether this process is inside a run: then only verbs that are asked for are answered, by the keeper of the run.
    pub fn is_inside_a_run(&self) -> bool {
        self.caller.is_none() && self.position().is_inside()
    }

    /// Refuses what only processes of people, and those of codefleet itself, may do: inside a run.
    pub fn check_outside(&self) -> Outcome<()> {
        self.position().check()
    }

    /// Whether this process is inside a run. Looked up once: the answer stays the same when a parent ends.
    pub(crate) fn position(&self) -> &Position {
        self.position.get_or_init(|| Position::look(&self.start.environment, &self.home))
    }

    /// Who answers in place of this engine: inside a run its keeper.
    pub(crate) fn door(&self) -> Outcome<Option<Door>> {
        let Position::Inside { door } = self.position() else { return Ok(None) };
        if self.caller.is_some() {
            return Ok(None);
        }
        if !self.start.flags.is_empty() {
            let problem = Problem::new(Code::NotYours, "command-line settings have no effect inside a run");
            return Err(problem.hint("leave out `-c` and `--config`"));
        }
        let named = self.start.directory.as_ref();
        let at = named.map(|given| self.start.environment.absolute(given)).transpose()?;
        Ok(Some(Door::new(door.clone(), at.or_else(|| self.elsewhere()))))
    }

    /// The current directory, if it is in a repository, and not in a workspace.
    fn elsewhere(&self) -> Option<PathBuf> {
        let here = self.start.environment.current_directory().ok()?;
        let is_elsewhere = self.repository.is_ok() && self.surrounding().is_none();
        is_elsewhere.then(|| here.to_owned())
    }

    pub fn environment(&self) -> &Environment {
        &self.start.environment
    }

    /// The user's configuration file, which need not exist.
    pub fn user_config(&self) -> ConfigFile {
        ConfigFile::User(self.home.root().join("config.toml"))
    }

    /// The configuration file of the project's work tree, which need not exist.
    pub fn project_config(&self) -> Outcome<ConfigFile> {
        let repository = self.repository()?;
        let tree = repository.work_tree.as_ref().ok_or_else(|| {
            Problem::new(Code::NotARepository, "a bare repository has no work tree for a configuration file")
        })?;
        Ok(ConfigFile::Project(tree.join(".fleet").join("config.toml")))
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            user_file: self.user_config().path().to_owned(),
            project_file: self.project_config().ok().map(|file| file.path().to_owned()),
            environment: &self.start.environment,
            flags: &self.start.flags,
        }
    }

    pub fn config(&self) -> Outcome<&Config> {
        if let Some(config) = self.config.get() {
            return Ok(config);
        }
        let _span = trace::span(|| "read the configuration".to_owned());
        let config = Config::load(&self.sources())?;
        Ok(self.config.get_or_init(|| config))
    }

    pub fn check_config(&self) -> config_validate::Answer {
        let mut report = Config::validate(&self.sources());
        // Each setting may be right, and an agent that they describe together wrong.
        if report.problems.is_empty() {
            report.problems.extend(self.agents().err());
            report.problems.extend(agents::prices(self).err());
        }
        if report.problems.is_empty() {
            report.warnings.extend(self.unknown_agents().unwrap_or_default());
        }
        report
    }

    fn unknown_agents(&self) -> Outcome<Vec<String>> {
        let settings = self.config()?.settings();
        let warnings = settings.iter().map(|setting| {
            let unknown = agents::unknown_in_setting(self, setting)?;
            Ok(unknown.into_iter().map(|warning| format!("{}: {warning}", setting.origin)).collect())
        });
        warnings.collect::<Outcome<Vec<Vec<_>>>>().map(|each| each.concat())
    }

    pub fn repository(&self) -> Outcome<&Repository> {
        self.repository.as_ref().map_err(problems::repository)
    }

    /// The workspace that the directory is in, if it is in one.
    pub(crate) fn surrounding(&self) -> Option<Surrounding> {
        surrounding(&self.home, self.repository.as_ref().ok()?.work_tree.as_deref()?)
    }

    /// The directory that identifies the project.
    pub(crate) fn common_dir(&self) -> Outcome<String> {
        common_dir(self.repository()?)
    }

    /// The store, opened at the first use.
    pub async fn store(&self) -> Outcome<&Store> {
        self.store.get_or_try_init(|| Box::pin(self.open_store())).await
    }

    /// Leaves what it can of its store operations to the process at the other end of the stream, which has the store open.
    /// Before anything else uses the store.
    pub(crate) fn relay_store(&self, stream: UnixStream) -> Outcome<()> {
        let store = Store::relayed(stream, &self.store_url()?)
            .map_err(|error| Problem::new(Code::Internal, format!("cannot talk to the runner: {error}")))?;
        store.set_lease(self.config()?.runner().lease);
        // One that is open already is as good.
        let _ = self.store.set(store);
        Ok(())
    }

    async fn open_store(&self) -> Outcome<Store> {
        self.position().check()?;
        self.home.check_ours()?;
        let url = self.store_url()?;
        let _span = trace::span(|| "open the store".to_owned());
        let store = Store::open(&url).await.map_err(problems::store)?;
        self.position().check_store(&store).await?;
        store.set_lease(self.config()?.runner().lease);
        clock::shared::follow(&store).await.map_err(problems::store)?;
        Ok(store)
    }

    pub fn store_url(&self) -> Outcome<StoreUrl> {
        let setting = self.config()?.store();
        if let Some(path) = setting.strip_prefix("sqlite:~/") {
            return Ok(StoreUrl::Sqlite(self.start.environment.user_home()?.join(path)));
        }
        StoreUrl::parse(setting, self.home.root())
            .ok_or_else(|| Problem::new(Code::ConfigInvalid, "store: neither `sqlite…` nor `postgres://…`"))
    }

    /// The file that holds the store, if it is one.
    pub fn store_file(&self) -> Option<PathBuf> {
        match self.store_url().ok()? {
            StoreUrl::Sqlite(file) => Some(file),
            StoreUrl::Postgres(_) => None,
        }
    }

    pub async fn call<O: Op>(&self, op: O) -> Outcome<O::Out> {
        let store = self.store().await?;
        let _span = trace::span(|| format!("store: {}", short_name::<O>()));
        store.call(op).await.map_err(problems::store)
    }

    /// The logs that are read page by page.
    pub(crate) fn open_logs(&self) -> &OpenLogs {
        &self.open_logs
    }

    /// Wakes waiters in this process when the store has changed.
    pub(crate) async fn changes(&self) -> Outcome<StoreChanges> {
        self.changes.get_or_try_init(|| StoreChanges::listen(self)).await.cloned()
    }

    /// Gives the newest events their numbers, unless very many are without: for verbs that show those of one task or
    /// run, which should not wait.
    pub(crate) async fn number_events(&self) -> Outcome<()> {
        self.store().await?.number_events().await.map(drop).map_err(problems::store)
    }

    /// What time it is, once the store is open: see [`Engine::time`].
    pub fn now(&self) -> Millis {
        clock::now()
    }

    /// What time it is by the store's clock. For verbs that need it before they have asked the store anything.
    pub async fn time(&self) -> Outcome<Millis> {
        self.store().await?;
        Ok(self.now())
    }

    pub fn new_id<K: IdKind>(&self) -> Outcome<K> {
        let entropy = clock::entropy()?;
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(ids.next(clock::now(), entropy))
    }
}

/// The name of an operation, such as `ListRuns`.
fn short_name<O>() -> &'static str {
    let name = std::any::type_name::<O>();
    let end = name.find('<').unwrap_or(name.len());
    name[..end].rsplit("::").next().unwrap_or(name)
}

/// The repository that a directory belongs to. A workspace belongs to the user's, whatever its agent has made of the
/// `.git` in it, and of repositories below: those are not even looked at.
fn find(home: &Home, directory: &Path) -> Result<Repository, DiscoverError> {
    let Some(workspace) = directory.canonicalize().ok().and_then(|here| surrounding(home, &here)) else {
        return git::discover(directory);
    };
    let Surrounding { repo, checkout } = workspace;
    Ok(Repository { common_dir: repo, git_dir: checkout.git_dir, work_tree: Some(checkout.work_tree) })
}

fn surrounding(home: &Home, path: &Path) -> Option<Surrounding> {
    git::surrounding(&home.areas(), &home.vaults(), path)
}

/// The store keeps paths as text: one that is not UTF-8 would name another repository after the round trip.
fn common_dir(repository: &Repository) -> Outcome<String> {
    let path = &repository.common_dir;
    path.to_str().map(ToOwned::to_owned).ok_or_else(|| {
        Problem::new(
            Code::NotARepository,
            format!("the path of the repository {} is not UTF-8", path.display()),
        )
        .hint("move the repository to a path without such characters")
    })
}
