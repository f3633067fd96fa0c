//! The protocol on standard input and output: one message on each line.

use fleet_core::problem::Outcome;
use fleet_core::text::shortened;
use fleet_engine::{BoxFuture, Engine, Service};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use rmcp::transport::io::stdio_pipes;
use tokio::signal::unix::{SignalKind, signal};

use crate::broken;
use crate::lines::LineTransport;
use crate::mcp::Server;

/// Serves until the input ends or it is interrupted. Agents go on: they never belong to this process.
pub fn serve_stdio(engine: &Engine) -> BoxFuture<'_, Outcome<()>> {
    Box::pin(serve(engine))
}

async fn serve(engine: &Engine) -> Outcome<()> {
    let server = Server::new(Service::new(engine));
    let (input, output) = stdio_pipes();
    let client = LineTransport::new(input, output, server.closing());
    let end = end_signal()?;
    tokio::pin!(end);
    let serving = server.clone().serve(client);
    let service = tokio::select! {
        service = serving => service,
        () = &mut end => return Ok(()),
    };
    let service = match service {
        Ok(service) => service,
        // A client that left before it said hello did not want anything.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => {
            return Err(broken("the client did not initialize", shortened(&error.to_string(), 300)));
        }
    };
    tokio::select! {
        ended = service.waiting() => ended.map(drop).map_err(|error| broken("the server failed", error)),
        () = &mut end => Ok(()),
    }
}

/// Ends when this process is asked to end.
pub(crate) fn end_signal() -> Outcome<impl Future<Output = ()>> {
    let listen = |kind| signal(kind).map_err(|error| broken("cannot listen for signals", error));
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}
