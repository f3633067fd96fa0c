//! The side that answers.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::mpsc;

use super::table;
use super::wire::{self, MAX_WAITING, WireRefusal};
use crate::Store;

pub(crate) async fn serve(store: Store, stream: UnixStream) {
    let (read, write) = stream.into_split();
    let mut requests = BufReader::new(read);
    let mut line = String::new();
    if !matches!(requests.read_line(&mut line).await, Ok(1..)) || line != wire::greeting() {
        return;
    }
    let (answers, queue) = mpsc::channel(MAX_WAITING);
    tokio::spawn(wire::send(write, queue));
    loop {
        line.clear();
        let is_heard = matches!(requests.read_line(&mut line).await, Ok(1..));
        // A client that gave up has gone to the store instead, perhaps long ago: this process may have been frozen.
        if !is_heard || is_gone(requests.get_ref().as_ref()) {
            return;
        }
        let (store, answers, request) = (store.clone(), answers.clone(), line.clone());
        tokio::spawn(async move {
            if let Some(answer) = answer(&store, request.trim_end()).await {
                let _ = answers.send(answer).await;
            }
        });
    }
}

/// Whether the client is gone.
fn is_gone(stream: &UnixStream) -> bool {
    let mut polled = [PollFd::new(stream, PollFlags::empty())];
    let is_polled = poll(&mut polled, Some(&Timespec::default())).is_ok();
    is_polled && polled[0].revents().contains(PollFlags::HUP)
}

/// None for a request without a number: no client waits for its answer.
async fn answer(store: &Store, request: &str) -> Option<String> {
    let (number, call) = request.split_once(' ')?;
    let answer = run(store, call).await.unwrap_or_else(|| "direct ".to_owned());
    Some(format!("{number} {answer}\n"))
}

/// `None` for what the client has to ask the store itself.
async fn run(store: &Store, call: &str) -> Option<String> {
    let (name, json) = call.split_once(' ')?;
    let (entry, op) = table::decode(name, json)?;
    match store.call_any(op).await {
        Ok(out) => Some(format!("done {}", entry.encode_out(&out)?)),
        Err(error) => Some(format!("refused {}", serde_json::to_string(&WireRefusal::of(error)?).ok()?)),
    }
}
