//! Tests of what is said, without a terminal and without tasks at work.

use fleet_api::views::{Followed, RunView, TaskView};
use fleet_core::Current;
use fleet_core::budget::Bounds;
use fleet_core::id::{BatchId, IdKind, IdMaker, ProjectId, RunId, TaskId};
use fleet_core::run::{Reason, Run, RunState, Totals};
use fleet_core::task::{Task, TaskHistory, TaskMode, TaskSpec, TaskState};
use fleet_core::time::Millis;

use super::closing::{advice, leave, problem};
use super::rows::{Fit, PrintedRows, most_telling, rest};
use super::screen::frame;
use super::words;

const NOW: Millis = Millis(1_800_000_000_000);

fn an_id<K: IdKind>(number: u64) -> K {
    IdMaker::default().next(NOW, number)
}

#[expect(clippy::disallowed_methods, reason = "tests begin anywhere")]
fn task(number: u64, state: TaskState, history: TaskHistory) -> Task {
    let spec = TaskSpec::new("One".parse().unwrap());
    let state = Current::stored(state);
    Task { history, state, ..Task::new(an_id(number), an_id::<ProjectId>(0), spec, NOW) }
}

#[expect(clippy::disallowed_methods, reason = "tests begin anywhere")]
fn run(task: TaskId, state: RunState, ended_at: Option<Millis>) -> Run {
    Run {
        id: an_id::<RunId>(1),
        task,
        project: an_id(0),
        attempt: 1,
        state: Current::stored(state),
        reason: None,
        detail: None,
        runner: "runner".to_owned(),
        place: "here".to_owned(),
        mode: TaskMode::Headless,
        agent: "demo".to_owned(),
        model: None,
        branch: None,
        base: None,
        workspace: None,
        keeper: None,
        session: None,
        meter: None,
        usage: Totals::default(),
        reserved: Bounds::default(),
        account: None,
        activity: None,
        percent: None,
        agent_state: None,
        decoded: 0,
        batches: 0,
        stop: None,
        lease_until: NOW,
        created_at: NOW,
        started_at: None,
        ended_at,
    }
}

fn one(number: u64, state: TaskState) -> Followed {
    with(number, state, TaskHistory::default())
}

fn with(number: u64, state: TaskState, history: TaskHistory) -> Followed {
    let task = task(number, state, history);
    let branch = Some(format!("b{number}"));
    Followed { task: TaskView { branch, ..TaskView::new(&task, NOW) }, run: None, details: None }
}

fn failed(number: u64) -> Followed {
    let history = TaskHistory {
        attempts: 1,
        failures: 1,
        reason: Some(Reason::AgentError),
        remark: Some("the agent ended with exit status 3".to_owned()),
        ..Default::default()
    };
    with(number, TaskState::Failed, history)
}

#[test]
fn what_a_task_is_at() {
    let mut running = one(1, TaskState::Running);
    let mut of = run(running.task.id, RunState::Finishing, None);
    (of.percent, of.activity) = (Some(40), Some("reads".to_owned()));
    running.run = Some(RunView::from(&of));
    let later = Millis(NOW.0 + 61_000);
    assert_eq!((words::state(&running), words::agent(&running).as_str()), ("finishing", "demo"));
    assert_eq!((words::elapsed(&running, later), words::took(&running)), ("1m1s".to_owned(), None));
    assert_eq!(words::activity(&running, later), "40% reads");
    running.task.model = Some("claude-sonnet-4-6".to_owned());
    assert_eq!(words::agent(&running), "demo/claude-sonnet-4-6");
    running.task.handed_to = Some("demo".to_owned());
    assert_eq!(words::agent(&running), "demo", "who goes on with it does not use the model of another");
    running.run.as_mut().unwrap().model = Some("m-1".to_owned());
    assert_eq!(words::agent(&running), "demo/m-1");
    running.task.attempts = 3;
    assert_eq!(words::activity(&running, later), "attempt 3: 40% reads");
    running.run =
        Some(RunView::from(&run(running.task.id, RunState::Succeeded, Some(Millis(NOW.0 + 1_290)))));
    assert_eq!(words::took(&running).as_deref(), Some("1.2s"));

    let history = TaskHistory {
        retry_at: Some(Millis(NOW.0 + 9_000)),
        reason: Some(Reason::Lost),
        ..Default::default()
    };
    let again = with(2, TaskState::Queued, history);
    assert_eq!(
        (words::state(&again), words::activity(&again, NOW).as_str()),
        ("scheduled", "again in 9s: lost")
    );
    assert_eq!(words::activity(&failed(3), NOW), "agent_error: the agent ended with exit status 3");
    let mut asks = one(4, TaskState::Waiting);
    let mut of = run(asks.task.id, RunState::Succeeded, Some(NOW));
    of.activity = Some("which one?".to_owned());
    asks.run = Some(RunView::from(&of));
    assert_eq!(words::activity(&asks, NOW), "the agent asks you");
}

#[test]
fn only_changes_are_told() {
    let mut lines = PrintedRows::default();
    let mut told = |tasks: &[Followed]| lines.changed_lines(tasks, NOW).len();
    assert_eq!(told(&[one(1, TaskState::Queued), one(2, TaskState::Queued)]), 2);
    assert_eq!(told(&[one(1, TaskState::Queued), one(2, TaskState::Queued)]), 0);
    assert_eq!(told(&[one(1, TaskState::Running), one(2, TaskState::Queued)]), 1);
    let mut second = one(1, TaskState::Running);
    second.task.attempts = 1;
    assert_eq!(told(&[second.clone(), one(2, TaskState::Queued)]), 1, "another attempt is news");
    let mut of = run(second.task.id, RunState::Running, None);
    of.activity = Some("said something".to_owned());
    second.run = Some(RunView::from(&of));
    assert_eq!(told(&[second, one(2, TaskState::Queued)]), 0, "what it says is not");
}

#[test]
fn a_small_screen_shows_what_is_at_work() {
    use TaskState::{Done, Failed, Queued, Running};
    let states = [Done, Queued, Running, Failed, Queued, Running, Done];
    let tasks: Vec<Followed> = (1..).zip(states).map(|(number, state)| one(number, state)).collect();
    let shown = most_telling(&tasks, 3);
    let names: Vec<String> = shown.iter().map(|one| one.branch()).collect();
    assert_eq!(names, ["b2", "b3", "b6"], "in their order");
    assert_eq!(rest(&tasks, &shown), "… and 4 tasks more: 2 done, 1 failed, 1 ready");
    assert_eq!(most_telling(&tasks, 9).len(), 7);
}

#[test]
fn columns_do_not_come_and_go_with_what_an_agent_says() {
    let mut fit = Fit::default();
    let mut heads = |activity: &str| {
        let mut running = one(1, TaskState::Running);
        let of = run(running.task.id, RunState::Running, None);
        running.run = Some(RunView { activity: Some(activity.to_owned()), ..RunView::from(&of) });
        let lines = fit.lines(&[&running], 60, NOW);
        anstream::adapter::strip_str(&lines[0]).to_string().split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(heads("reads"), "ID");
    assert_eq!(heads("reads a file with a rather long name"), "STATE");
    assert_eq!(heads("reads"), "STATE");
}

#[test]
fn a_frame_stands_where_the_last_one_stood() {
    let lines = ["a".to_owned(), "b".to_owned()];
    assert_eq!(frame(0, &lines), "a\x1b[K\nb\x1b[J\n");
    assert_eq!(frame(3, &lines[..1]), "\x1b[3Fa\x1b[J\n", "and erases what was below");
}

#[test]
fn the_end_names_what_is_not_done() {
    let batch: BatchId = an_id(7);
    assert_eq!(problem(None, &[one(1, TaskState::Done)], 0), None);
    let alone = problem(None, &[failed(1)], 0).unwrap();
    assert_eq!(alone.message, "b1 failed: agent_error: the agent ended with exit status 3");
    assert_eq!(alone.hints.len(), 2);
    let many: Vec<Followed> = (1..=9).map(failed).chain([one(10, TaskState::Done)]).collect();
    let several = problem(Some(batch), &many, 1).unwrap();
    assert_eq!(several.message, "9 of 11 tasks not done");
    assert!(several.hints[0].starts_with("b1 failed: agent_error"), "{:?}", several.hints);
    assert_eq!(several.hints[5], "and 4 more: `fleet task list`");
    assert!(several.hints[6].contains(&format!("--batch {batch}")), "{:?}", several.hints);
    let gone = problem(None, &[one(1, TaskState::Done)], 2).unwrap();
    assert_eq!(gone.message, "2 tasks were deleted before the end");
    let cancelled = problem(None, &[one(1, TaskState::Cancelled)], 0).unwrap();
    assert_eq!(cancelled.message, "b1 was cancelled");
}

#[test]
fn what_to_do_next_fits_what_was_launched() {
    let mut look = one(1, TaskState::Done);
    assert!(advice(std::slice::from_ref(&look)).contains("git merge b1"));
    look.task.read_only = true;
    assert!(advice(&[look.clone()]).contains("fleet show t"));
    assert!(advice(&[one(1, TaskState::Done), look.clone()]).starts_with("2 tasks done"));
    assert!(leave(None, &[look.clone()]).contains("`fleet kill b1`"));
    let batch: BatchId = an_id(7);
    assert!(leave(Some(batch), &[look]).contains(&format!("`fleet kill --batch {batch}`")));
}
