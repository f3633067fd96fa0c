pub(crate) mod result;

use fleet_api::Moment;
use fleet_api::verbs::run_show::{Answer, StoredFile};
use fleet_api::views::{EventView, RunLoad, RunView};
use fleet_core::outcome::ResultStatus;
use fleet_core::run::RunReport;
use fleet_core::text::{escaped, escaped_lines};
use fleet_core::time::Millis;
use fleet_engine::clock;

use super::{events, list, messages};
use crate::output::{ago, arrows, bytes, columns, count, dim, fields, paint_status, strong, table, usage};

command! {
    /// Show everything about a run, and what to do next
    #[command(after_help = EXAMPLES)]
    #[command(display_order = 80)]
    Show(run_show) shows render
}

const EXAMPLES: &str = "Examples:
  fleet show login-fix
  fleet show t0skybd1 --json | jq .result.remarks";

fn render(shown: &Answer, now: Millis) -> String {
    let title =
        shown.title.as_deref().map_or_else(|| dim("its task was deleted"), |title| strong(&escaped(title)));
    let head = format!("{}  {title}", strong(shown.run.id.as_str()));
    let notes = shown.notes.iter().map(|event| note(event, now)).collect::<Vec<_>>();
    let setup = shown.setup_log.iter().map(|line| format!("  {}", escaped(line))).collect::<Vec<_>>();
    let parts = [
        head,
        about(shown, now),
        shown.result.as_ref().map(result::render).unwrap_or_default(),
        section("notes", &notes),
        sent(shown, now),
        snapshots(shown, now),
        section("the end of the set-up log", &setup),
        files(shown),
        arrows(&shown.next),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn section(title: &str, lines: &[String]) -> String {
    if lines.is_empty() { String::new() } else { format!("{}\n{}", dim(title), lines.join("\n")) }
}

fn about(shown: &Answer, now: Millis) -> String {
    let run = &shown.run;
    let text =
        |value: &Option<String>| value.as_deref().map(|text| escaped(text).into_owned()).unwrap_or_default();
    let task = match shown.task_state {
        Some(state) => format!("{} ({})", run.task, paint_status(state.as_str())),
        None => run.task.to_string(),
    };
    let agent = match &run.session {
        Some(session) => format!("{}, session {session}", list::agent(run)),
        None => list::agent(run),
    };
    let when = |moment: Option<Moment>| {
        moment.map(|at| format!("{} ({} ago)", clock::local(at.0), ago(at.0, now))).unwrap_or_default()
    };
    fields(&[
        ("state", state(shown, now)),
        ("why", why(run)),
        ("declared", shown.report.as_ref().map(declared).unwrap_or_default()),
        ("task", task),
        ("attempt", attempt(shown)),
        ("batch", shown.batch.map(|batch| batch.to_string()).unwrap_or_default()),
        ("project", escaped(&shown.project_name).into_owned()),
        ("branch", text(&run.branch)),
        ("base", text(&run.base)),
        ("starts from", escaped(&shown.starts_from.join(", ")).into_owned()),
        ("workspace", text(&run.workspace)),
        ("agent", escaped(&agent).into_owned()),
        ("mode", if run.mode.is_interactive() { run.mode.to_string() } else { String::new() }),
        ("runner", escaped(&run.runner).into_owned()),
        ("claimed", when(Some(run.created_at))),
        ("started", when(run.started_at)),
        ("ended", when(run.ended_at)),
        ("used", usage(run.input_tokens, run.output_tokens, run.micro_usd)),
        ("load", shown.load.map(load).unwrap_or_default()),
        ("asks", run.agent_state.as_ref().map(|now| escaped(&now.text).into_owned()).unwrap_or_default()),
        ("progress", progress(run)),
    ])
}

fn state(shown: &Answer, now: Millis) -> String {
    let run = &shown.run;
    let span = if run.ended_at.is_some() { "after" } else { "for" };
    let is_asked =
        shown.result.as_ref().is_some_and(|result| result["status"] == ResultStatus::Asked.as_str());
    let state = if is_asked { "asked a question" } else { run.state.as_str() };
    let state = format!("{} {span} {}", paint_status(state), list::elapsed(run, now));
    match &run.agent_state {
        Some(agent) => {
            format!("{state}; {} for {}", paint_status(agent.state.label()), ago(agent.since.0, now))
        }
        None => state,
    }
}

fn why(run: &RunView) -> String {
    if let Some(why) = &run.stopping {
        return format!("is being stopped: {}", escaped(why));
    }
    let reason = run.reason.map(|reason| reason.to_string());
    let parts = reason.into_iter().chain(run.detail.clone());
    escaped_lines(parts.collect::<Vec<_>>().join(": ").trim_end()).into_owned()
}

fn declared(report: &RunReport) -> String {
    match report {
        RunReport::Done(_) => "that it is done".to_owned(),
        RunReport::Fail(why) => format!("that it failed: {}", escaped(why)),
        RunReport::Note(_) | RunReport::Progress { .. } => String::new(),
    }
}

fn attempt(shown: &Answer) -> String {
    let (this, most) = (shown.run.attempt, shown.attempts_allowed);
    if this > most { this.to_string() } else { format!("{this} of at most {most}") }
}

fn load(load: RunLoad) -> String {
    let cpu = load.cpu_percent.map(|percent| format!(", {percent}% of a processor")).unwrap_or_default();
    let idle = load.idle_seconds.map(|seconds| format!(", silent for {seconds}s")).unwrap_or_default();
    let processes = match load.processes {
        1 => "1 process".to_owned(),
        processes => format!("{processes} processes"),
    };
    format!("{processes}{cpu}, {} of memory{idle}", bytes(load.memory_bytes))
}

fn progress(run: &RunView) -> String {
    let percent = run.percent.map(|percent| format!("{percent}%"));
    let said = run.activity.as_ref().map(|said| escaped(said).into_owned());
    percent.into_iter().chain(said).collect::<Vec<_>>().join("  ")
}

fn note(event: &EventView, now: Millis) -> String {
    let kind = event.kind.strip_prefix("run.").unwrap_or(&event.kind);
    let when = dim(&format!("{:>7}", ago(event.at.0, now)));
    format!("{when}  {kind:<9} {}", events::details(&event.data))
}

fn sent(shown: &Answer, now: Millis) -> String {
    if shown.messages.is_empty() { String::new() } else { messages::table_of(&shown.messages, now) }
}

fn snapshots(shown: &Answer, now: Millis) -> String {
    if shown.snapshots.is_empty() {
        return String::new();
    }
    let column = columns(&shown.snapshots);
    table(vec![
        column("SNAPSHOT", &|snapshot| snapshot.number.to_string()),
        column("AGE", &|snapshot| ago(snapshot.at.0, now)).painted(dim),
        column("WHY", &|snapshot| snapshot.why.clone()).giving_way(),
        column("REF", &|snapshot| snapshot.name.clone()).painted(dim),
    ])
}

fn files(shown: &Answer) -> String {
    let line = |file: &StoredFile| {
        format!("  {} {}", escaped(&file.path.display().to_string()), dim(&bytes(file.bytes)))
    };
    let lines: Vec<String> = shown.files.iter().map(line).collect();
    section(&format!("{} kept", count(lines.len(), "file")), &lines)
}
