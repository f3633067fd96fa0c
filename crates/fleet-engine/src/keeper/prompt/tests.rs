use fleet_core::id::IdMaker;
use fleet_core::task::{Description, TaskSpec, Title};
use fleet_core::time::Millis;

use super::*;

fn task(title: &str, description: &str, read_only: bool) -> Task {
    let spec = TaskSpec {
        description: Description::try_from(description.to_owned()).unwrap(),
        read_only,
        ..TaskSpec::new(Title::try_from(title.to_owned()).unwrap())
    };
    let now = Millis(1_800_000_000_000);
    Task::new(IdMaker::default().next(now, 1), IdMaker::default().next(now, 2), spec, Millis(0))
}

const ADDED: &str = "Added by the person who gave you this task";

fn templates() -> Templates {
    let nowhere = std::path::Path::new("/nonexistent");
    Templates::load(nowhere, nowhere).unwrap()
}

fn prompt<'a>(task: &'a Task, earlier: &'a EarlierAttempts, prompts: &'a [String]) -> PromptContext<'a> {
    let (base, branch, workspace) = ("abc123", "fix/login", "/w");
    PromptContext {
        task,
        stage: None,
        base,
        branch,
        workspace,
        attempt: 1,
        continues: false,
        passed_on: None,
        earlier,
        prompts,
    }
}

#[test]
fn a_first_attempt_is_told_where_it_is_and_what_to_do() {
    let task = task("Fix {branch} names", "They hold {braces}.", false);
    let text = prompt(&task, &EarlierAttempts::default(), &[]).text(&templates());
    assert!(
        text.starts_with("You work alone in a git worktree") && text.contains("branch `fix/login`"),
        "{text}"
    );
    assert!(text.ends_with("Your task:\n\nFix {branch} names\n\nThey hold {braces}.\n"), "{text}");
    assert!(text.contains("\"status\": \"completed\"") && !text.contains("attempt"), "{text}");
}

#[test]
fn a_template_that_forgets_the_task_or_what_was_added_does_not_lose_it() {
    let (task, prompts) = (task("Fix it", "In full.", false), [format!("{ADDED}: Also the docs.")]);
    let (earlier, nothing) = (EarlierAttempts::default(), EarlierAttempts::default());
    let told = |template: &str| {
        let templates =
            Templates { task: template.to_owned(), resume: template.to_owned(), of_project: Vec::new() };
        let new = prompt(&task, &nothing, &[]).text(&templates);
        (new, prompt(&task, &earlier, &prompts).resumed(&templates))
    };
    let added = format!("{ADDED}: Also the docs.\n");
    let (new, resumed) = told("Be brief.\n");
    assert_eq!(new, "Be brief.\n\nFix it\n\nIn full.\n");
    assert_eq!(resumed, format!("Be brief.\n\n\n{added}"));
    assert_eq!(told("").0.trim_start(), "Fix it\n\nIn full.\n");
    let (new, resumed) = told("{description}{prompts}");
    assert_eq!((new.as_str(), resumed), ("In full.\n", format!("In full.\n{added}")));
}

#[test]
fn a_later_attempt_hears_what_was_left_and_what_was_added() {
    let task = task("Look", "", true);
    let earlier = EarlierAttempts {
        end: Some("it ran out of time".to_owned()),
        notes: vec!["tests are in t/".to_owned()],
        reason: None,
        reported: Some("half of it is there".to_owned()),
    };
    let prompts = [format!("{ADDED}: Also the docs.")];
    let passed_on = Some("Your branch starts from the work of others.");
    let prompt =
        PromptContext { attempt: 3, continues: true, passed_on, ..prompt(&task, &earlier, &prompts) };
    let text = prompt.text(&templates());
    for part in [
        "Your branch starts from the work of others.\n\nThis is attempt 3.",
        "it ran out of time",
        "What the one before it reported: half of it is there. It left its work",
        "git log abc123..",
        "- tests are in t/",
        "Also the docs.",
        "Only look",
        "completed_no_changes",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let resumed = prompt.resumed(&templates());
    assert!(resumed.starts_with("Your work was interrupted: it ran out of time."), "{resumed}");
    assert!(
        resumed.contains("Your task, once more:\n\nLook") && resumed.contains("Also the docs."),
        "{resumed}"
    );
    assert!(!resumed.contains("This is attempt"), "{resumed}");
}

#[test]
fn a_stage_is_told_its_own_words_and_what_to_return() {
    let task = task("flow: judge", "Look at {write.diff}.", true);
    let told = |returns, names: &[&str]| {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let stage = StageText { text: "Look at {this}.".to_owned(), returns, names };
        let (end, reason) = (Some("it said nothing".to_owned()), Some(Reason::AgentError));
        let earlier = EarlierAttempts { end, reason, ..EarlierAttempts::default() };
        let prompt = PromptContext { stage: Some(&stage), ..prompt(&task, &earlier, &[]) };
        (prompt.text(&templates()), prompt.resumed(&templates()))
    };
    let (text, resumed) = told(Returns::Verdict, &["a-1", "a-2"]);
    assert!(text.ends_with("Your task:\n\nLook at {this}.\n") && !text.contains("write.diff"), "{text}");
    assert!(text.contains("`winner` is the name of the stage (a-1, a-2) that did best"), "{text}");
    let found = fleet_core::report::Report::find(&text).unwrap();
    assert!(found.verdict.is_some(), "the example is a report itself");
    assert!(resumed.starts_with("Your work is not done yet: it said nothing."), "{resumed}");
    assert!(resumed.contains("\"verdict\"") && resumed.contains("Look at {this}."), "{resumed}");
    let (text, _) = told(Returns::List, &[]);
    assert!(text.contains("\"items\": [\"…\"]") && text.contains("`items` must be there"), "{text}");
    let (text, _) = told(Returns::Report, &[]);
    assert!(!text.contains("verdict") && !text.contains("items"), "{text}");
}
