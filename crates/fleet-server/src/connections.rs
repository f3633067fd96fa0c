//! The connections to a server: accepted, bounded, ended.
//!
//! Owns how many there are and how long one may take to say what it wants. Must never let somebody who only connects, and
//! shows no token, keep others out.

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
const MOST: usize = 512;
/// So long a client has for the head of its next request. Those that are idle for longer connect again.
const HEAD: Duration = Duration::from_secs(10);
/// After somebody could not be let in, because all files are in use.
const PAUSE: Duration = Duration::from_millis(100);
/// In the end answers that are being written have so long.
const FAREWELL: Duration = Duration::from_secs(5);

/// Serves whoever connects until `end`; then ends the connections.
pub(crate) async fn serve(listener: TcpListener, router: Router, end: impl Future<Output = ()>) {
    let (places, ending) = (Arc::new(Semaphore::new(MOST)), GracefulShutdown::new());
    tokio::pin!(end);
    loop {
        let next = async {
            // Nobody closes it, so that there always is one in the end.
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
    let _ = timeout(FAREWELL, ending.shutdown()).await;
}
