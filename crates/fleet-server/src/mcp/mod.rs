//! The server as clients see it: tools, resources and prompts over the verbs.

mod answer;
mod arguments;
mod call;
mod collected;
mod given;
mod open;
mod place;
mod prompts;
mod resources;
mod schema;
mod server;
mod stages;
mod status;
mod tail;
mod task;
mod tools;
mod wake;
mod worker;
mod workflow;

pub(crate) use call::Closing;
pub(crate) use server::Server;
pub(crate) use tools::MAX_WAIT;
