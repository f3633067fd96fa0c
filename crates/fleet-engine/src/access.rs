//! Who may ask what: checked once, in front of the table of verbs, for readers and writers alike.
//!
//! What an agent names in its request must come from its own task, or belong to its own repository, as the verb says. Lists,
//! which name nothing, are narrowed by their verbs.

use fleet_api::{Access, Asker, Nature, Subject, Verb};
use fleet_core::problem::{Code, Outcome, Problem};

use crate::engine::NamedTasks;
use crate::verbs::lineage;
use crate::{Engine, verbs};

/// What a verb says of itself.
pub(crate) struct Rule {
    verb: &'static str,
    nature: Nature,
    access: Access,
}

impl Rule {
    pub(crate) const fn of<V: Verb>(_request: &V) -> Self {
        Self { verb: V::ID, nature: V::NATURE, access: V::ACCESS }
    }
}

/// Refuses what this caller may not ask. For an agent, names in the request are replaced by the ids that were checked.
pub(crate) async fn judge(engine: &Engine, rule: Rule, subjects: Vec<Subject<'_>>) -> Outcome<()> {
    let asker = engine.caller()?.asker();
    if !rule.access.admits(asker, rule.nature) {
        return Err(refusal(asker, rule.verb));
    }
    if asker != Asker::Agent {
        return Ok(());
    }
    // An agent may report about its own run from anywhere.
    if rule.access != Access::Agents {
        lineage::check_place(engine)?;
    }
    for subject in subjects {
        check(engine, rule.access, subject).await?;
    }
    Ok(())
}

fn refusal(asker: Asker, verb: &str) -> Problem {
    match asker {
        Asker::Person => Problem::new(Code::NotInARun, format!("`{verb}` works only inside a run"))
            .hint("outside one, use `fleet task edit ID` or `fleet task cancel ID`"),
        Asker::Agent => Problem::new(Code::NotYours, format!("only people can use `{verb}`"))
            .hint("say in your report what you need; a person can do it"),
        Asker::Viewer | Asker::Runner => Problem::new(Code::NotYours, format!("viewers cannot use `{verb}`"))
            .hint("use a token that may change things"),
    }
}

async fn check(engine: &Engine, access: Access, subject: Subject<'_>) -> Outcome<()> {
    match subject {
        Subject::Task(typed) => match NamedTasks::parse(engine, typed).await? {
            NamedTasks::One(task) => {
                match access {
                    Access::Project => lineage::check_project(engine, task).await?,
                    _ => lineage::check(engine, task).await?,
                }
                *typed = task.to_string();
            }
            // Verbs that take several tasks narrow these; the others refuse them.
            NamedTasks::Batch(batch) => *typed = batch.to_string(),
            NamedTasks::Pattern(_) => {}
        },
        Subject::Neighbour(typed) => {
            let task = engine.task_id(typed).await?;
            lineage::check_project(engine, task).await?;
            *typed = task.to_string();
        }
        Subject::Run(typed) => {
            let run = engine.run_id(typed).await?;
            lineage::check_run(engine, run).await?;
            *typed = run.to_string();
        }
        Subject::Workflow(typed) => {
            let workflow = verbs::workflow_show::meant(engine, typed).await?;
            lineage::check_workflow(engine, workflow).await?;
            *typed = workflow.to_string();
        }
    }
    Ok(())
}
