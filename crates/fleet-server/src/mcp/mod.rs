//! The server as clients see it: tools, resources and prompts over the verbs.

mod answer;
mod arguments;
mod call;
mod open;
mod place;
mod prompts;
mod resources;
mod schema;
mod server;
mod tail;
mod task;
mod tools;
mod worker;

pub(crate) use call::Closing;
pub(crate) use server::Server;
