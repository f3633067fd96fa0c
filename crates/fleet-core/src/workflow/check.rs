//! Whether a workflow can run at all.
//!
//! Owns every rule that concerns more than one field. Reports all problems at once, each with its stage and field, so
//! that a caller that knows the file can point at the line.

use std::collections::BTreeMap;

use super::facts::FACTS;
use super::{Copies, MAX_PARTS, MAX_STAGES, Returns, Spec, Stage, StageName, StageStart, placeholder};
use crate::text::escaped;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Index of the stage; `None` is the workflow itself.
    pub stage: Option<usize>,
    /// The field, by the name that [`Stage`] or [`Spec`] has for it.
    pub field: &'static str,
    pub message: String,
    /// The word that was probably meant instead of a wrong one: the wrong one, and the choices there are.
    pub choices: Option<(String, Vec<String>)>,
}

impl Flaw {
    fn new(stage: usize, field: &'static str, message: String) -> Self {
        Self { stage: Some(stage), field, message, choices: None }
    }

    fn among(mut self, given: &str, choices: Vec<String>) -> Self {
        self.choices = Some((given.to_owned(), choices));
        self
    }
}

/// All problems of a workflow; empty if it can run.
pub fn check(spec: &Spec) -> Vec<Flaw> {
    let mut flaws = overall(spec);
    if !flaws.is_empty() {
        return flaws;
    }
    for (at, stage) in spec.stages.iter().enumerate() {
        flaws.extend(needs(spec, at, stage));
    }
    if flaws.is_empty() {
        flaws.extend(cycle_in(spec));
    }
    // What is upstream of a stage is known only when the needs are in order.
    if flaws.is_empty() {
        for (at, stage) in spec.stages.iter().enumerate() {
            flaws.extend(copies(spec, at, stage));
            flaws.extend(condition(spec, at, stage));
            flaws.extend(placeholder::check(spec, at, &stage.prompt));
            flaws.extend(texts(at, stage));
        }
    }
    flaws
}

/// The stage of which a copy would have this name.
fn spreads_to<'a>(spec: &'a Spec, name: &str) -> Option<&'a StageName> {
    let (of, number) = name.rsplit_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let stage = &spec.stages[spec.find(of).filter(|_| is_number)?];
    (stage.copies != Copies::One).then_some(&stage.name)
}

fn overall(spec: &Spec) -> Vec<Flaw> {
    let flaw = |field, message| Flaw { stage: None, field, message, choices: None };
    let mut flaws = Vec::new();
    if spec.name.trim().is_empty()
        || spec.name.chars().count() > 100
        || spec.name.chars().any(char::is_control)
    {
        flaws.push(flaw("name", "a workflow needs a name of one line, at most 100 characters".to_owned()));
    }
    if spec.stages.is_empty() {
        flaws.push(flaw("stages", "there is no stage".to_owned()));
    }
    if spec.stages.len() > MAX_STAGES {
        flaws.push(flaw("stages", format!("{} stages, at most {MAX_STAGES} are allowed", spec.stages.len())));
    }
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, stage) in spec.stages.iter().enumerate() {
        if let Some(other) = first.insert(stage.name.as_str(), at) {
            let message = format!("stages {other} and {at} are both called {}", stage.name);
            flaws.push(Flaw::new(at, "name", message));
        }
        if matches!(stage.name.as_str(), "params" | "item" | "task_prompt" | "workflow") {
            flaws.push(Flaw::new(at, "name", format!("{} is reserved in prompts", stage.name)));
        }
        if let Some(other) = spreads_to(spec, stage.name.as_str()) {
            let message = format!("{} is what one of the copies of {other} is called", stage.name);
            flaws.push(Flaw::new(at, "name", message));
        }
    }
    let known: usize = spec
        .stages
        .iter()
        .map(|stage| match &stage.copies {
            Copies::One | Copies::EachOf(_) => 1,
            Copies::Count(count) => usize::try_from(*count).unwrap_or(usize::MAX),
            Copies::Each(items) => items.len().max(1),
        })
        .fold(0, usize::saturating_add);
    if known > MAX_PARTS {
        flaws.push(flaw("stages", format!("they make {known} parts, at most {MAX_PARTS} are allowed")));
    }
    flaws
}

fn needs(spec: &Spec, at: usize, stage: &Stage) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (position, need) in stage.needs.iter().enumerate() {
        if *need == at {
            flaws.push(Flaw::new(at, "needs", format!("{} needs itself", stage.name)));
        } else if *need >= spec.stages.len() {
            let last = spec.stages.len() - 1;
            flaws.push(Flaw::new(
                at,
                "needs",
                format!("there is no stage {need}: they are numbered 0 to {last}"),
            ));
        } else if stage.needs[..position].contains(need) {
            flaws.push(Flaw::new(at, "needs", format!("{} is named twice", spec.stages[*need].name)));
        }
    }
    if stage.start == StageStart::Inherit && stage.needs.is_empty() {
        let message = format!("{} is to inherit, but needs no other stage", stage.name);
        flaws.push(Flaw::new(at, "start", message));
    }
    flaws
}

/// A cycle, with all its stages.
fn cycle_in(spec: &Spec) -> Option<Flaw> {
    let mut open: Vec<usize> = spec.stages.iter().map(|stage| stage.needs.len()).collect();
    let mut free: Vec<usize> = (0..open.len()).filter(|at| open[*at] == 0).collect();
    let mut is_left = vec![true; open.len()];
    while let Some(done) = free.pop() {
        is_left[done] = false;
        for (at, stage) in spec.stages.iter().enumerate() {
            if stage.needs.contains(&done) {
                open[at] -= 1;
                if open[at] == 0 {
                    free.push(at);
                }
            }
        }
    }
    // Every stage that is left needs another one that is left, so following the needs comes round.
    let mut at = is_left.iter().position(|left| *left)?;
    let mut walk: Vec<usize> = Vec::new();
    while !walk.contains(&at) {
        walk.push(at);
        at = *spec.stages[at].needs.iter().find(|need| is_left[**need])?;
    }
    let start = walk.iter().position(|seen| *seen == at)?;
    let mut names: Vec<&str> = walk[start..].iter().map(|at| spec.stages[*at].name.as_str()).collect();
    names.push(names[0]);
    let message = format!("the stages need each other in a cycle: {}", names.join(" needs "));
    Some(Flaw::new(at, "needs", message))
}

fn copies(spec: &Spec, at: usize, stage: &Stage) -> Option<Flaw> {
    let message = match &stage.copies {
        Copies::Count(0) => {
            "a count of 0 would do nothing: write `when = \"false\"` to leave a stage out".to_owned()
        }
        Copies::One | Copies::Each(_) | Copies::Count(_) => return None,
        Copies::EachOf(source) => {
            let other = spec.stages.get(*source)?;
            if !spec.upstream(at).contains(source) {
                format!("{} is not among the stages that {} needs", other.name, stage.name)
            } else if other.returns != Returns::List {
                format!("{} returns no list: write `returns = \"list\"` there", other.name)
            } else {
                return None;
            }
        }
    };
    Some(Flaw::new(at, "copies", message))
}

fn condition(spec: &Spec, at: usize, stage: &Stage) -> Vec<Flaw> {
    let Some(condition) = &stage.when else { return Vec::new() };
    let upstream = spec.upstream(at);
    let names = condition.names();
    names
        .into_iter()
        .filter_map(|name| named(spec, &upstream, name))
        .map(|flaw| Flaw { stage: Some(at), ..flaw })
        .collect()
}

/// What is wrong with a name in a condition.
fn named(spec: &Spec, upstream: &[usize], name: &str) -> Option<Flaw> {
    let flaw = |message| Flaw { stage: None, field: "when", message, choices: None };
    let shown = escaped(name);
    let stages = || upstream.iter().map(|at| spec.stages[*at].name.to_string()).collect::<Vec<_>>();
    match name.split_once('.') {
        None if matches!(name, "item" | "number") => None,
        None => Some(
            flaw(format!(
                "{shown:?} is neither a stage's fact, as in NAME.ok, nor a value: put texts in quotes"
            ))
            .among(name, stages()),
        ),
        Some(("params", param)) if spec.params.contains_key(param) => None,
        Some(("params", param)) => Some(
            flaw(format!("there is no parameter {:?}", escaped(param)))
                .among(param, spec.params.keys().cloned().collect()),
        ),
        Some((of, fact)) => match spec.find(of) {
            None => Some(flaw(format!("there is no stage {:?}", escaped(of))).among(of, stages())),
            Some(other) if !upstream.contains(&other) => Some(flaw(format!(
                "{of} has not finished by then: it is not among the stages that this one needs"
            ))),
            Some(_) if FACTS.iter().any(|(known, _)| *known == fact && *known != "scores") => None,
            Some(_) if fact.strip_prefix("scores.").is_some_and(|whom| !whom.is_empty()) => None,
            Some(_) => Some(
                flaw(format!("a stage has no fact {:?}", escaped(fact)))
                    .among(fact, FACTS.iter().map(|(known, _)| (*known).to_owned()).collect()),
            ),
        },
    }
}

fn texts(at: usize, stage: &Stage) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    if stage.prompt.trim().is_empty() {
        flaws.push(Flaw::new(at, "prompt", format!("{} has an empty prompt", stage.name)));
    }
    if stage.prompt.contains('\0') || stage.prompt.len() > 256 * 1024 {
        flaws.push(Flaw::new(at, "prompt", "a prompt has no NUL characters and at most 256 KiB".to_owned()));
    }
    for check in &stage.checks {
        if check.first().is_none_or(|program| program.trim().is_empty()) {
            flaws.push(Flaw::new(
                at,
                "checks",
                "a check is a command: a program and its arguments".to_owned(),
            ));
        }
    }
    flaws
}
