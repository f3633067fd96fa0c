//! From the text of a file to a workflow that can run, or to all that is wrong.

use std::collections::BTreeMap;

use fleet_core::problem::Outcome;
use fleet_core::task::{AgentName, BaseRef};
use fleet_core::workflow::{
    Flaw, Placeholder, Spec, Stage, check, meant_placeholder, placeholders, unknown_words,
};

use super::agents;
use super::form::{self, SourceMarks, WorkflowDraft};
use super::given::{GivenValues, SourcePurpose};
use super::node::{Node, UnreadableText};
use super::reader::WorkflowReader;
use super::source::SourceFile;
use super::{Diagnostic, FileFormat, Severity, Wants, json, toml, yaml};
use crate::agents as known;
use crate::{Engine, problems};

#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    /// What it says, with its parameters filled in.
    pub(crate) spec: Spec,
    /// Where the file wants it to start.
    pub(crate) base: Option<BaseRef>,
    /// What is still to be said before it can run; nothing, if it was read for that.
    pub(crate) wants: Wants,
    /// The lines of what a user has to agree to, by their keys, such as `stages.a.checks`.
    pub(crate) lines: BTreeMap<String, usize>,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Reads a workflow. What is wrong with it is the inner error; the outer one is what keeps anything from being read, such
/// as a broken configuration.
pub(crate) fn load(
    engine: &Engine,
    source: &SourceFile,
    given: &GivenValues,
) -> Outcome<Result<Loaded, Vec<Diagnostic>>> {
    let wish = given.agent.as_deref().map(str::parse::<AgentName>).transpose().map_err(problems::field)?;
    if let Some(agent) = &wish {
        // Told once, and not as a flaw of every stage.
        known::check_known(engine, agent.as_str())?;
    }
    let text = source.text.strip_prefix('\u{feff}').unwrap_or(&source.text).replace("\r\n", "\n");
    let mut reader = WorkflowReader::new(source.label.clone(), &text);
    let root = match tree(source.format, &text) {
        Ok(root) => root,
        Err(UnreadableText { at, why }) => {
            let help =
                text.trim().is_empty().then(|| "`fleet workflow init` writes a starter workflow".to_owned());
            reader.refuse_shape(at, why, help);
            return Ok(Err(reader.finish()));
        }
    };
    let mut draft = form::read(&mut reader, source, &root, given);
    if let Some(agent) = wish {
        draft.stages.iter_mut().for_each(|stage| replace_agent(stage, &agent));
    }
    agents::check(engine, &mut reader, &draft.stages, &draft.marks)?;
    Ok(finish(reader, source, given, draft))
}

fn tree(format: FileFormat, text: &str) -> Result<Node, UnreadableText> {
    if text.trim().is_empty() {
        return Err(UnreadableText::new(0, "the file is empty"));
    }
    match format {
        FileFormat::Toml => toml::read(text),
        FileFormat::Yaml => yaml::read(text),
        FileFormat::Json => json::read(text),
    }
}

/// What was said in the words of another agent means nothing to this one.
fn replace_agent(stage: &mut Stage, agent: &AgentName) {
    if stage.agent.as_ref() != Some(agent) {
        (stage.model, stage.effort) = (None, None);
        stage.extra_args.clear();
    }
    stage.agent = Some(agent.clone());
}

fn finish(
    mut reader: WorkflowReader<'_>,
    source: &SourceFile,
    given: &GivenValues,
    draft: WorkflowDraft,
) -> Result<Loaded, Vec<Diagnostic>> {
    let WorkflowDraft { name, task, base, fail_fast, params, missing, stages, marks, top } = draft;
    let name = name.unwrap_or_else(|| source.stem());
    let said = given.task.clone().or(task).filter(|task| !task.trim().is_empty());
    let is_unsaid = said.is_none();
    let task = said.unwrap_or_else(|| name.clone());
    let spec = Spec { name, task, params, fail_fast, stages };
    if reader.is_whole() {
        for flaw in check(&spec) {
            let marks = flaw.stage.and_then(|at| marks.get(at)).unwrap_or(&top);
            let at = reader.within(marks.of(flaw.field), &about(&flaw));
            let help = flaw.choices.and_then(|(given, choices)| reader.meant(&given, choices));
            reader.refuse(Some(at), flaw.message, help);
        }
    }
    warn_of_unknown_words(&mut reader, &spec, &marks);
    let lines = lines(&reader, &spec, &marks);
    let wants = Wants { task: is_unsaid && asks_for_task(&spec), params: missing };
    if wants.task && given.purpose == SourcePurpose::Run {
        let help = "give it a task: what its agents should do".to_owned();
        reader.refuse(None, "this workflow needs a task", Some(help));
    }
    let found = reader.finish();
    if found.iter().any(|one| one.severity == Severity::Error) {
        return Err(found);
    }
    Ok(Loaded { spec, base, wants, lines, warnings: found })
}

/// A word in braces that is not a placeholder reaches the agent as it is.
fn warn_of_unknown_words(reader: &mut WorkflowReader<'_>, spec: &Spec, marks: &[SourceMarks]) {
    for (stage, marks) in spec.stages.iter().zip(marks) {
        for word in unknown_words(spec, &stage.prompt) {
            let at = reader.within(marks.of("prompt"), &[&format!("{{{word}}}")]);
            let meant = meant_placeholder(spec, &word).map(|meant| format!("did you mean {{{meant}}}?"));
            reader.warn(Some(at), format!("{{{word}}} is not a placeholder: it stays as it is"), meant);
        }
    }
}

fn lines(reader: &WorkflowReader<'_>, spec: &Spec, marks: &[SourceMarks]) -> BTreeMap<String, usize> {
    let keys = ["checks", "extra_args"];
    let stages = spec.stages.iter().zip(marks);
    let all = stages.flat_map(|(stage, marks)| keys.map(|key| (stage, key, marks.of(key).start)));
    all.map(|(stage, key, at)| (format!("stages.{}.{key}", stage.name), reader.line(at))).collect()
}

fn asks_for_task(spec: &Spec) -> bool {
    let asks = |stage: &Stage| {
        placeholders(spec, &stage.prompt).iter().any(|(_, place)| *place == Placeholder::Task)
    };
    spec.stages.iter().any(asks)
}

/// The words in a prompt or a condition that a flaw is about: the wrong one itself, or a place in braces.
fn about(flaw: &Flaw) -> Vec<&str> {
    let name = flaw.message.strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let wrong = flaw.choices.as_ref().map(|(word, _)| word.as_str());
    name.map(|(name, _)| name).into_iter().chain(wrong).collect()
}
