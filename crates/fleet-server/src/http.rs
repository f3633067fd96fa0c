//! The protocol over HTTP, for clients that cannot start a program.
//!
//! Owns who may connect: clients that know the token, by a name of this machine. Must never answer other clients with
//! more than a refusal.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::{BoxFuture, Engine, Service, server_token};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use crate::lines::LONGEST_MESSAGE;
use crate::mcp::Server;
use crate::sessions::Sessions;
use crate::stdio::end_signal;
use crate::{broken, connections};

/// The default address of the server: only for this machine, and always the same, so that clients can be told once.
pub const DEFAULT_ADDRESS: &str = "127.0.0.1:8642";

/// The path of the one endpoint.
const PATH: &str = "/mcp";

/// A server that is bound and serves when told to.
pub struct Http {
    listener: TcpListener,
    address: SocketAddr,
    names: Vec<String>,
}

impl Http {
    /// Takes the address. One that others can reach is refused unless `remote` says that it is meant; `names` are then
    /// those by which clients call this machine.
    pub async fn bind(address: &str, remote: bool, names: Vec<String>) -> Outcome<Self> {
        let wanted: SocketAddr = address.parse().map_err(|_| {
            Problem::new(
                Code::InvalidValue,
                format!("{address:?} is not an address such as {DEFAULT_ADDRESS}"),
            )
            .hint("write IP:PORT; port 0 is any that is free")
        })?;
        if !wanted.ip().is_loopback() && !remote {
            let message = format!(
                "{} can be reached from other machines, which could then start agents here",
                wanted.ip()
            );
            return Err(Problem::new(Code::InvalidValue, message)
                .hint(format!("use {DEFAULT_ADDRESS} and a tunnel such as ssh -L"))
                .hint("`--allow-remote` to allow it; the token is then sent unencrypted"));
        }
        let listener = TcpListener::bind(wanted).await.map_err(|error| {
            broken(&format!("cannot listen at {wanted}"), error)
                .hint("`--http 127.0.0.1:0` takes any free port")
        })?;
        let address = listener.local_addr().map_err(|error| broken("the address is unknown", error))?;
        Ok(Self { listener, address, names })
    }

    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves until it is interrupted. Agents go on.
    pub fn serve(self, engine: &Engine) -> BoxFuture<'_, Outcome<()>> {
        Box::pin(self.run(engine))
    }

    async fn run(self, engine: &Engine) -> Outcome<()> {
        let engine = Arc::new(engine.without_project());
        server_token::read(&engine)?;
        let server = Server::new(Service::new(&engine));
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(self.hosts())
            .with_allowed_origins(self.origins())
            .enforce_origin_validation()
            .with_max_request_body_bytes(LONGEST_MESSAGE);
        let ended = config.cancellation_token.clone();
        let sessions = Arc::new(Sessions::new());
        let make = move || Ok(server.for_another_client());
        let service = StreamableHttpService::new(make, sessions.manager(), config);
        let router = Router::new()
            .route_service(PATH, service)
            .layer(middleware::from_fn_with_state(sessions, track_session))
            .layer(middleware::from_fn_with_state(engine, admit));
        let end = end_signal()?;
        connections::serve(self.listener, router, async move {
            end.await;
            // Clients hold streams open for as long as there is a server.
            ended.cancel();
        })
        .await;
        Ok(())
    }

    /// What a client may call this machine: a page that was led here under another name is refused.
    fn hosts(&self) -> Vec<String> {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(ToOwned::to_owned).to_vec();
        match self.address.ip() {
            ip if ip.is_loopback() || ip.is_unspecified() => {}
            ip => hosts.push(ip.to_string()),
        }
        hosts.extend(self.names.iter().cloned());
        hosts
    }

    /// The pages of which browsers may speak to it: those of this machine.
    fn origins(&self) -> Vec<String> {
        let name = |host: &String| match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(ip)) => format!("[{ip}]"),
            _ => host.clone(),
        };
        self.hosts()
            .iter()
            .map(name)
            .flat_map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:*")))
            .collect()
    }
}

/// Takes note of the sessions that are in use: one by its request, a new one by the answer.
async fn track_session(State(sessions): State<Arc<Sessions>>, request: Request, next: Next) -> Response {
    if let Some(session) = named(request.headers()) {
        if request.method() == Method::DELETE {
            return end_session(&sessions, &session, next.run(request)).await;
        }
        sessions.note_request(&session).await;
        return next.run(request).await;
    }
    let response = next.run(request).await;
    if let Some(session) = named(response.headers()) {
        sessions.note_request(&session).await;
    }
    response
}

/// A session that does not exist is not found, also when it should be ended. One that was ended is gone when the answer
/// comes, so that nothing is merely accepted: clients take that for a failure.
async fn end_session(sessions: &Sessions, session: &str, ended: impl Future<Output = Response>) -> Response {
    if !sessions.is_known(session).await {
        return (StatusCode::NOT_FOUND, "there is no such session\n").into_response();
    }
    let response = ended.await;
    if response.status() == StatusCode::ACCEPTED { StatusCode::NO_CONTENT.into_response() } else { response }
}

fn named(headers: &HeaderMap) -> Option<String> {
    Some(headers.get("mcp-session-id")?.to_str().ok()?.to_owned())
}

/// Lets those pass who know the token, as it is now: a person may have made a new one.
async fn admit(State(engine): State<Arc<Engine>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|text| {
        let (scheme, secret) = text.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(secret.trim())
    });
    let is_known = |given: &str| server_token::read(&engine).is_ok_and(|known| known.token.is(given));
    if given.is_some_and(is_known) {
        return next.run(request).await;
    }
    let why = "the token is missing or wrong: send `Authorization: Bearer TOKEN`, see `fleet mcp token`\n";
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer realm=\"codefleet\"")], why)
        .into_response()
}
