//! The connections to a server: accepted, bounded, ended.
//!
//! Owns how many there are and how long one may take to say what it wants. Must never let a client that only connects,
//! and shows no token, keep others out.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// A client may have many; more is no client.
const MAX_CONNECTIONS: usize = 512;
/// How long a client may take to send the head of its next request. Those that are idle for longer connect again.
const HEAD: Duration = Duration::from_secs(10);
/// The pause after a failed accept, because all file descriptors are in use.
const PAUSE: Duration = Duration::from_millis(100);
/// How long answers that are being written may take at the end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves connections until `end`; then ends the connections.
pub(crate) async fn serve(listener: TcpListener, router: Router, end: impl Future<Output = ()>) {
    let (places, ending) = (Arc::new(Semaphore::new(MAX_CONNECTIONS)), GracefulShutdown::new());
    tokio::pin!(end);
    loop {
        let next = async {
            // It is never closed, so that there always is a permit in the end.
            let place = Arc::clone(&places).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            () = &mut end => break,
        };
        let Ok((stream, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(router.clone());
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(HEAD);
        let connection = ending.watch(protocol.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A client that breaks off has its reasons.
            let _ = connection.await;
            drop(place);
        });
    }
    let _ = timeout(SHUTDOWN_TIMEOUT, ending.shutdown()).await;
}
