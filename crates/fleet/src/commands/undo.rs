use clap::Args;
use fleet_api::verbs::undo::Request;
use fleet_api::verbs::undo_list::{self, UndoSnapshot};

use super::Context;
use crate::Done;
use crate::output::{TITLE, ago, columns, count, dim, strong, table};

/// Restore an agent's work after a kill, a clean-up or a crash
///
/// Snapshots of the work are kept in the fleet's home. Without ID, the last one of each run is listed. With ID, a branch is
/// made from it: under its old name if that is free, otherwise beside it. Nothing that is there is ever overwritten.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 180)]
pub(crate) struct Undo {
    /// A run, a task or a branch
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// List all snapshots of ID
    #[arg(long, conflicts_with_all = ["branch", "snapshot"])]
    list: bool,
    /// Make a branch of this name
    #[arg(long, value_name = "NAME", requires = "id")]
    branch: Option<String>,
    /// Take the snapshot of this number instead of the last
    #[arg(long, value_name = "N", requires = "id")]
    snapshot: Option<u64>,
    /// List at most N
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: u16,
}

const EXAMPLES: &str = "Examples:
  fleet undo
  fleet undo login-A
  fleet undo login-A --list
  fleet undo login-A --snapshot 2 --branch login-earlier";

impl Undo {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let output = context.output;
        match self.id {
            Some(id) if !self.list => {
                let request = Request { id, branch: self.branch, snapshot: self.snapshot };
                let made = context.call(request).await?;
                output.show(&made, || {
                    let (branch, number) = (strong(&made.branch), made.snapshot);
                    if made.restored {
                        format!(
                            "restored {branch} from snapshot {number} of run {}; `git switch {}` checks it out",
                            made.run, made.branch
                        )
                    } else {
                        format!("nothing to do: {branch} has all of it; `--branch NAME` makes another one")
                    }
                })
            }
            id => {
                let is_one = id.is_some();
                let request = undo_list::Request { id, limit: usize::from(self.limit) };
                let listing = context.call(request).await?;
                output.show(&listing, || listed(&listing, context, is_one))?;
                if listing.more {
                    output.note(&dim("there are more: `-n 100` shows them"));
                }
                Ok(())
            }
        }
    }
}

fn listed(listing: &undo_list::Answer, context: &Context, is_one: bool) -> String {
    if listing.snapshots.is_empty() {
        return "no snapshots: agents have changed nothing here so far".to_owned();
    }
    let now = context.engine.now();
    let column = columns(&listing.snapshots);
    let number = |snapshot: &UndoSnapshot| if is_one { snapshot.number.to_string() } else { String::new() };
    table(vec![
        column("RUN", &|snapshot| snapshot.run.clone()),
        column("N", &number),
        column("BRANCH", &|snapshot| snapshot.branch.clone().unwrap_or_default()).naming(),
        column("TITLE", &|snapshot| snapshot.title.clone().unwrap_or_default()).keeping(TITLE),
        column("WHY", &|snapshot| snapshot.why.clone()).giving_way().optional(),
        column("AGE", &|snapshot| ago(snapshot.at.0, now)),
        column("CHANGES", &|snapshot| snapshot.files.map_or_else(String::new, |files| count(files, "file"))),
        column("", &|snapshot| if snapshot.on_branch { "on its branch" } else { "" }.to_owned())
            .painted(dim)
            .optional(),
    ])
}
