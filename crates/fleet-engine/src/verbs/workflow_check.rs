use fleet_api::verbs::workflow_check::{Answer, CheckedFile, Picture, Request, StagePicture};
use fleet_core::workflow::{Copies, Spec};

use super::prelude::*;
use super::workflow_run;
use crate::workflow_file::{self, GivenValues, Loaded, SourceFile, SourcePurpose, SourceQuery, of_problem};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let given = GivenValues {
        task: request.task,
        set: request.set,
        agent: request.agent,
        purpose: if request.for_run { SourcePurpose::Run } else { SourcePurpose::Check },
    };
    let one = |source| one(engine, &SourceQuery { source, from: request.from.as_deref() }, &given);
    Ok(Answer { workflows: request.workflows.iter().map(one).collect::<Outcome<_>>()? })
}

fn one(engine: &Engine, wanted: &SourceQuery<'_>, given: &GivenValues) -> Outcome<CheckedFile> {
    let named = wanted.name();
    let wrong = |file, kind, diagnostics| CheckedFile {
        file,
        kind,
        ok: false,
        needs_consent: false,
        diagnostics,
        workflow: None,
    };
    let source = match wanted.read(engine) {
        Ok(source) => source,
        Err(problem) => return Ok(wrong(named.to_owned(), None, vec![of_problem(named, problem)])),
    };
    let (file, kind) = (source.label.clone(), Some(source.kind));
    Ok(match workflow_file::load(engine, &source, given)? {
        Err(diagnostics) => wrong(file, kind, diagnostics),
        Ok(loaded) => {
            let workflow = Some(picture(&loaded, engine.config()?.agent()));
            let needs_consent = is_unagreed(engine, &source, &loaded);
            CheckedFile { file, kind, ok: true, needs_consent, diagnostics: loaded.warnings, workflow }
        }
    })
}

/// Whether a run would still ask the user to agree to something. A check outside of a repository cannot know.
fn is_unagreed(engine: &Engine, source: &SourceFile, loaded: &Loaded) -> bool {
    let asked = workflow_run::commands(engine, source, &loaded.spec);
    let asked = asked.ok().flatten().map(|asked| asked.on_lines(&loaded.lines));
    asked.is_some_and(|asked| !asked.is_trusted(engine.home().root()).unwrap_or_default())
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
        parts: stage.copies.count(),
        each_of: match &stage.copies {
            Copies::EachOf(other) => Some(name(other)),
            _ => None,
        },
    });
    Picture { name: spec.name.clone(), wants: loaded.wants.clone(), stages: stages.collect() }
}

/// The depth of each stage. The workflow was checked: there is no cycle, so this ends.
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
