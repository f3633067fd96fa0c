use clap::Args;
use fleet_api::verbs::workflow_check::{CheckedFile, Picture, Request, StagePicture};
use fleet_api::views::{Diagnostic, Severity};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use fleet_core::workflow::{ChangeRule, Returns, StageStart};
use unicode_width::UnicodeWidthStr;

use super::super::Context;
use super::diagnostics;
use crate::Done;
use crate::output::{columns, count, dim, print, print_json, strong, table};

/// Check workflow files and show what they would do, without running them
///
/// Reports all errors at once, with file, line and column, and a suggestion where there is one: unknown keys and
/// agents, missing stages, cycles, prompts and conditions that name a stage which has not finished by then.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 20)]
pub(crate) struct Check {
    /// Workflows: names, or paths of files
    #[arg(value_name = "WORKFLOW", required = true)]
    workflows: Vec<String>,
    #[command(flatten)]
    request: Request,
}

const EXAMPLES: &str = "Examples:
  fleet workflow check flow.toml
  fleet workflow check .fleet/workflows/* --json
  fleet workflow check plan-fanout-integrate --set most=3 --agent demo";

impl Check {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let named = self.workflows;
        let sources = named.iter().cloned().map(|named| super::source(context, named));
        let workflows = sources.collect::<Outcome<_>>()?;
        let from = std::env::current_dir().ok();
        let checked = context.call(Request { workflows, from, ..self.request }).await?;
        let all = &checked.workflows;
        for diagnostic in all.iter().flat_map(|one| &one.diagnostics) {
            let file = context.shortest_path(&diagnostic.file);
            context.output.note(&diagnostics::shown(&Diagnostic { file, ..diagnostic.clone() }));
        }
        if context.output.is_json() {
            print_json(&checked)?;
        } else {
            let each = all.iter().zip(&named);
            let shown: Vec<String> = each.filter_map(|(one, named)| shown(context, one, named)).collect();
            print(&shown.join("\n\n"))?;
        }
        conclude(context, all)
    }
}

fn conclude(context: &Context, all: &[CheckedFile]) -> Done {
    let wrong = all.iter().filter(|one| !one.ok).count();
    if wrong == 0 {
        return Ok(());
    }
    let errors = all.iter().flat_map(|one| &one.diagnostics).filter(|one| one.severity == Severity::Error);
    let found = count(errors.count(), "problem");
    let message = match all {
        [one] => format!("{} has {found}", escaped(&context.shortest_path(&one.file))),
        all => format!("{wrong} of {} workflows are wrong: {found}", all.len()),
    };
    Err(Problem::new(Code::WorkflowInvalid, message))
}

fn shown(context: &Context, one: &CheckedFile, named: &str) -> Option<String> {
    let picture = one.workflow.as_ref()?;
    let file = strong(&escaped(&context.shortest_path(&one.file)));
    let title = format!("{file}: OK, {}", count(picture.stages.len(), "stage"));
    let mut parts = vec![title, graph(picture), stages(picture)];
    let mut wants = Vec::new();
    if picture.wants.task {
        wants.push("--task TEXT".to_owned());
    }
    wants.extend(picture.wants.params.iter().map(|param| format!("--set {}=VALUE", escaped(param))));
    if !wants.is_empty() {
        parts.push(dim(&format!("missing: {}", wants.join(" "))));
    }
    if one.needs_consent {
        parts.push(dim(&format!("needs approval: fleet trust --workflow {}", escaped(named))));
    }
    Some(parts.join("\n"))
}

/// The maximum width of a picture.
const WIDE: usize = 78;

/// The levels in order: what is in one level may run at the same time.
fn graph(picture: &Picture) -> String {
    let deepest = picture.stages.iter().map(|stage| stage.level).max().unwrap_or(0);
    let level = |level: usize| {
        let stages = picture.stages.iter().filter(|stage| stage.level == level);
        stages.map(name_with_parts).collect::<Vec<_>>()
    };
    let mut lines = vec![" ".to_owned()];
    for at in 0..=deepest {
        for (number, name) in level(at).into_iter().enumerate() {
            let joint = match (at, number) {
                (0, 0) => " ",
                (_, 0) => " → ",
                _ => ", ",
            };
            let line = lines.last().map_or(0, |line| line.width());
            let is_full = line + joint.width() + name.width() > WIDE;
            if let Some(line) = lines.last_mut() {
                line.push_str(if is_full { joint.trim_end() } else { joint });
            }
            if is_full {
                lines.push("    ".to_owned());
            }
            if let Some(line) = lines.last_mut() {
                line.push_str(&name);
            }
        }
    }
    lines.join("\n")
}

fn name_with_parts(stage: &StagePicture) -> String {
    match (stage.parts, &stage.each_of) {
        (Some(1), _) => stage.name.clone(),
        (Some(parts), _) => format!("{} ×{parts}", stage.name),
        (None, _) => format!("{} ×n", stage.name),
    }
}

fn stages(picture: &Picture) -> String {
    let column = columns(&picture.stages);
    let agent = |stage: &StagePicture| match &stage.model {
        Some(model) => format!("{} {model}", stage.agent),
        None => stage.agent.clone(),
    };
    table(vec![
        column("STAGE", &|stage| stage.name.clone()),
        column("AGENT", &agent),
        column("NEEDS", &|stage| stage.needs.join(", ")).giving_way(),
        column("HOW", &how).giving_way(),
    ])
}

/// What sets a stage apart, in a few words.
fn how(stage: &StagePicture) -> String {
    let mut words = Vec::new();
    if stage.start == StageStart::Inherit {
        words.push("inherits".to_owned());
    }
    if stage.changes == ChangeRule::None {
        words.push("read-only".to_owned());
    }
    if stage.returns != Returns::Report {
        words.push(format!("returns a {}", stage.returns));
    }
    match (stage.parts, &stage.each_of) {
        (_, Some(other)) => words.push(format!("one for each of {other}.items")),
        (Some(parts), None) if parts > 1 => words.push(format!("{parts} at once")),
        _ => {}
    }
    words.extend(stage.when.as_ref().map(|when| format!("when {when}")));
    words.join(", ")
}
