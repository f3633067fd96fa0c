//! What can be asked of codefleet, one file per verb. The command line has a file of the same name for each; MCP tools
//! have the names that their clients know.

#![expect(clippy::unused_async, reason = "verbs have one signature, whether they wait or not")]

macro_rules! modules {
    ($($name:ident),+) => {
        $(pub(crate) mod $name;)+
    };
}

fleet_api::for_each_verb!(modules);

mod details;
mod elsewhere;
mod follow;
pub(crate) mod lineage;
mod log_tail;
mod needs_you;
mod prelude;
mod project_git;
pub(crate) mod question;
mod queue_pauses;
mod reasons;
mod texts;
