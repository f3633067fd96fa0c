//! Looks at workflow files and runs nothing.

use fleet_core::problem::Outcome;
use fleet_core::workflow::{Changes, Copies, Returns, Spec, Start};
use serde::Serialize;

use crate::Engine;
use crate::workflow_file::{self, Diagnostic, Given, Kind, Loaded, Purpose, Wants};

/// What to look at.
#[derive(Debug, Clone)]
pub struct Request {
    /// The workflows, by name or path.
    pub named: Vec<String>,
    /// What all of them are for.
    pub task: Option<String>,
    /// `KEY=VALUE` for their parameters.
    pub set: Vec<String>,
    /// The agent of every stage, whatever the files say.
    pub agent: Option<String>,
}

/// One file.
#[derive(Debug, Clone, Serialize)]
pub struct Checked {
    /// The file, or what was asked for if there is none.
    pub file: String,
    /// Who wrote it; none if it was not found.
    pub kind: Option<Kind>,
    /// Whether it can run.
    pub ok: bool,
    /// What is wrong, or may be.
    pub diagnostics: Vec<Diagnostic>,
    /// What it says; none if it cannot run.
    pub workflow: Option<Picture>,
}

/// What a workflow says.
#[derive(Debug, Clone, Serialize)]
pub struct Picture {
    /// What it is called.
    pub name: String,
    /// What is still to be said before it can run.
    pub wants: Wants,
    /// The stages, in the order of the file.
    pub stages: Vec<StagePicture>,
}

/// What a stage says.
#[derive(Debug, Clone, Serialize)]
pub struct StagePicture {
    /// Its name.
    pub name: String,
    /// How many stages must be over one after the other before it can start.
    pub level: usize,
    /// Its agent; the configured one if it names none.
    pub agent: String,
    /// Its model, if it names one.
    pub model: Option<String>,
    /// The stages that it needs.
    pub needs: Vec<String>,
    /// Where its branch starts.
    pub start: Start,
    /// Whether it has to change something.
    pub changes: Changes,
    /// What it returns.
    pub returns: Returns,
    /// When it is started.
    pub when: Option<String>,
    /// How many parts it has; none if a list decides that another stage returns.
    pub parts: Option<usize>,
    /// The stage that returns this list.
    pub each_of: Option<String>,
}

/// Looks at all of them.
pub fn run(engine: &Engine, request: &Request) -> Outcome<Vec<Checked>> {
    let given = Given {
        task: request.task.clone(),
        set: request.set.clone(),
        agent: request.agent.clone(),
        purpose: Purpose::Check,
    };
    request.named.iter().map(|named| one(engine, named, &given)).collect()
}

fn one(engine: &Engine, named: &str, given: &Given) -> Outcome<Checked> {
    let source = match workflow_file::find(engine, named) {
        Ok(source) => source,
        Err(problem) => {
            let diagnostics = vec![Diagnostic::of_problem(named, problem)];
            return Ok(Checked {
                file: named.to_owned(),
                kind: None,
                ok: false,
                diagnostics,
                workflow: None,
            });
        }
    };
    let (file, kind) = (source.label(), Some(source.kind));
    Ok(match workflow_file::load(engine, &source, given)? {
        Err(diagnostics) => Checked { file, kind, ok: false, diagnostics, workflow: None },
        Ok(loaded) => {
            let workflow = Some(picture(&loaded, engine.config()?.agent()));
            Checked { file, kind, ok: true, diagnostics: loaded.warnings, workflow }
        }
    })
}

fn picture(loaded: &Loaded, default_agent: &str) -> Picture {
    let spec = &loaded.spec;
    let levels = levels(spec);
    let name = |at: &usize| spec.stages[*at].name.to_string();
    let stages = spec.stages.iter().zip(levels).map(|(stage, level)| StagePicture {
        name: stage.name.to_string(),
        level,
        agent: stage.agent.as_ref().map_or_else(|| default_agent.to_owned(), ToString::to_string),
        model: stage.model.as_ref().map(ToString::to_string),
        needs: stage.needs.iter().map(name).collect(),
        start: stage.start,
        changes: stage.changes,
        returns: stage.returns,
        when: stage.when.as_ref().map(ToString::to_string),
        parts: match &stage.copies {
            Copies::One => Some(1),
            Copies::Count(count) => usize::try_from(*count).ok(),
            Copies::Each(items) => Some(items.len()),
            Copies::EachOf(_) => None,
        },
        each_of: match &stage.copies {
            Copies::EachOf(other) => Some(name(other)),
            _ => None,
        },
    });
    Picture { name: spec.name.clone(), wants: loaded.wants.clone(), stages: stages.collect() }
}

/// How deep each stage lies. The workflow was checked: there is no circle, so this comes to an end.
fn levels(spec: &Spec) -> Vec<usize> {
    let mut levels = vec![0; spec.stages.len()];
    for _ in 0..spec.stages.len() {
        let before = levels.clone();
        for (at, stage) in spec.stages.iter().enumerate() {
            levels[at] = stage.needs.iter().map(|need| levels[*need] + 1).max().unwrap_or(0);
        }
        if levels == before {
            break;
        }
    }
    levels
}
