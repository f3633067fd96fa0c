use clap::Args;
use fleet_api::{Access, Nature, Row, TABLE};
use serde::Serialize;
use serde_json::Value;

use crate::Done;
use crate::output::{Column, Output, dim, table};

/// List everything that can be asked of codefleet, and who may ask
///
/// Every command, every MCP tool and every call of an agent is one of these verbs. With --json, each comes with the
/// schemas of its request and its answer.
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
        let rows: Vec<&Row> = TABLE.iter().filter(|row| row.id.starts_with(&prefix)).collect();
        // Schemas are made only for those who want them.
        if output.is_json() {
            return output.show(&Answer { verbs: rows.into_iter().map(view).collect() }, String::new);
        }
        output.show(&(), || listed(&rows))?;
        output.note(&dim("`fleet verbs --json` has the schemas of requests and answers"));
        Ok(())
    }
}

fn view(row: &Row) -> VerbView {
    VerbView {
        id: row.id,
        nature: row.nature,
        access: row.access,
        about: row.about(),
        request: (row.request)().to_value(),
        answer: (row.answer)().to_value(),
    }
}

fn listed(rows: &[&Row]) -> String {
    let column = |header, cell: fn(&Row) -> String| Column::new(header, rows.iter().map(|row| cell(row)));
    table(vec![
        column("VERB", |row| row.id.to_owned()),
        column("DOES", |row| nature(row.nature).to_owned()),
        column("WHO", |row| who(row.access).to_owned()),
        column("WHAT", Row::about).giving_way(),
    ])
}

const fn nature(nature: Nature) -> &'static str {
    match nature {
        Nature::Reads => "reads",
        Nature::Adds => "adds",
        Nature::Ends => "ends",
    }
}

const fn who(access: Access) -> &'static str {
    match access {
        Access::People => "people",
        Access::Own => "people, agents for their own",
        Access::Project => "people, agents in their project",
        Access::All => "everybody",
        Access::Agents => "agents",
    }
}
