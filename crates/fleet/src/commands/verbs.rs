use clap::Args;
use fleet_api::{Access, Nature, TABLE, VerbRow};
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use serde::Serialize;
use serde_json::Value;

use crate::Done;
use crate::output::{Output, columns, dim, table};

/// List every operation, and who may call it
///
/// Every command, every MCP tool and every call of an agent is one of these verbs. WHO may call it: people always may,
/// except for `agents` only; `own tasks` and `own project` let an agent call it for what is its own. With --json, each
/// comes with the schemas of its request and its answer.
#[derive(Debug, Args)]
#[command(display_order = 350)]
pub(crate) struct Verbs {
    /// Only verbs whose names begin with this, such as `task`
    prefix: Option<String>,
}

#[derive(Serialize)]
struct Answer {
    verbs: Vec<VerbView>,
}

#[derive(Serialize)]
struct VerbView {
    id: &'static str,
    nature: Nature,
    access: Access,
    about: String,
    request: Value,
    answer: Value,
}

impl Verbs {
    pub(crate) fn run(self, output: Output) -> Done {
        let prefix = self.prefix.unwrap_or_default();
        let rows: Vec<&VerbRow> = TABLE.iter().filter(|row| row.id.starts_with(&prefix)).collect();
        if rows.is_empty() {
            let problem =
                Problem::new(Code::NothingMatched, format!("no verb begins with \"{}\"", escaped(&prefix)));
            return Err(problem.hint("`fleet verbs` lists them"));
        }
        // Schemas are made only for those who want them.
        if output.is_json() {
            return output.show(&Answer { verbs: rows.into_iter().map(view).collect() }, String::new);
        }
        output.show(&(), || listed(&rows))?;
        output.note(&dim("`fleet verbs --json` has the schemas of requests and answers"));
        Ok(())
    }
}

fn view(row: &VerbRow) -> VerbView {
    VerbView {
        id: row.id,
        nature: row.nature,
        access: row.access,
        about: row.about(),
        request: (row.request)().to_value(),
        answer: (row.answer)().to_value(),
    }
}

fn listed(rows: &[&VerbRow]) -> String {
    let column = columns(rows);
    table(vec![
        column("VERB", &|row| row.id.to_owned()),
        column("DOES", &|row| nature(row.nature).to_owned()),
        column("WHO", &|row| who(row.access).to_owned()),
        column("WHAT", &|row| row.about()).giving_way(),
    ])
}

const fn nature(nature: Nature) -> &'static str {
    match nature {
        Nature::Reads => "read",
        Nature::Adds => "write",
        Nature::Ends => "remove",
    }
}

const fn who(access: Access) -> &'static str {
    match access {
        Access::People => "people",
        Access::Own => "own tasks",
        Access::Project => "own project",
        Access::All => "all",
        Access::Agents => "agents",
    }
}
