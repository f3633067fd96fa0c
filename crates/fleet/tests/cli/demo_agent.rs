//! The scripted agent: what its steps do to files, git and processes, and what it says about that.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fleet_agents::demo::Demo;
use fleet_agents::{Adapter as _, AgentEvent, Brief, Stream};
use fleet_core::report::{Report, ReportStatus};
use fleet_testkit::fleet::{Fleet, Output};
use fleet_testkit::repo::Repo;
use fleet_testkit::wait_until;

use super::support::fleet;

const SOON: Duration = Duration::from_mins(1);

/// A repository in which the agent works.
struct Desk {
    repo: Repo,
    fleet: Fleet,
}

impl Desk {
    fn new() -> Self {
        let repo = Repo::init();
        Self { fleet: fleet().cwd(repo.path()), repo }
    }

    /// Runs these lines to the end.
    fn run(&self, script: &str) -> Output {
        self.fleet.stdin(prompt(script)).run(&["demo-agent"])
    }

    /// Begins with these lines.
    fn started(&self, script: &str) -> Child {
        let mut agent = self.fleet.command(&["demo-agent"]);
        let mut agent = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        agent.stdin.take().unwrap().write_all(prompt(script).as_bytes()).unwrap();
        agent
    }

    fn has(&self, path: &str) -> bool {
        self.repo.path().join(path).exists()
    }
}

fn prompt(script: &str) -> String {
    format!("Work on this.\n```demo\n{script}\n```\n")
}

/// What the adapter makes of the output, and the report at its end.
fn understood(output: &Output) -> (Vec<AgentEvent>, Option<Report>) {
    let brief = Brief::plain("", Path::new("/nowhere"));
    let mut decoder = Demo.decoder(&brief);
    let events = output.stdout.lines().flat_map(|line| decoder.line(Stream::Out, line.as_bytes(), false));
    let events = events.collect();
    (events, decoder.final_text().and_then(Report::find))
}

#[test]
fn it_edits_commits_and_reports() {
    let desk = Desk::new();
    let output = desk.run(
        "write src/a.txt one\\ntwo\nappend src/a.txt three\ndelete README.md\nmkdir empty\ncommit Work -- done
        write \"left over\" x\nusage 10 2 0.5\nsay That was it.",
    );
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    assert_eq!(desk.repo.git(&["show", "HEAD:src/a.txt"]), "one\ntwo\nthree");
    assert_eq!(desk.repo.git(&["log", "-1", "--format=%s by %an"]), "Work -- done by Demo Agent");
    assert_eq!(desk.repo.git(&["status", "--porcelain"]), "?? \"left over\"");
    let (events, report) = understood(&output);
    let report = report.unwrap();
    assert_eq!((report.status, report.summary.as_str()), (ReportStatus::Completed, "That was it."));
    assert_eq!(report.files_changed, ["README.md", "left over", "src/a.txt"]);
    assert_eq!(report.commits, [desk.repo.git(&["rev-parse", "HEAD"])]);
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::Raw { .. })), "{events:?}");
    assert!(events.contains(&AgentEvent::Text { text: "That was it.".to_owned() }));
}

#[test]
fn it_takes_notes_when_there_is_no_script() {
    let desk = Desk::new();
    let prompt = "# Fix the login\n\nIt is flaky.\n";
    let output = desk.fleet.stdin(prompt).run(&["demo-agent", "--session=s1"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let (events, report) = understood(&output);
    let [file] = report.unwrap().files_changed.try_into().expect("one file");
    assert!(file.starts_with("notes/fix-the-login-"), "{file}");
    let notes = fs::read_to_string(desk.repo.path().join(file)).unwrap();
    assert_eq!(notes, "# Notes\n\nThe task is:\n\n# Fix the login\n\nIt is flaky.\n");
    assert_eq!(events[0], AgentEvent::SessionStarted { session: "s1".to_owned() });
    let other = Desk::new();
    let output = other.fleet.stdin(prompt).run(&["demo-agent", "--read-only"]);
    assert_eq!(understood(&output).1.unwrap().status, ReportStatus::CompletedNoChanges);
    assert_eq!(other.repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn it_lies_when_told_to() {
    let desk = Desk::new();
    let report = understood(&desk.run("lie src/never.rs")).1.unwrap();
    assert_eq!(
        (report.status, &report.files_changed[..]),
        (ReportStatus::Completed, &["src/never.rs".to_owned()][..])
    );
    assert!(!desk.has("src"));
    let report =
        understood(&desk.run(r#"report I say: {"summary": "Stuck", "status": "blocked",}"#)).1.unwrap();
    assert_eq!(report, Report::new(ReportStatus::Blocked, "Stuck"));
}

#[test]
fn it_ends_as_it_is_told() {
    let desk = Desk::new();
    let output = desk.run("write a x\nexit 7\nwrite b x");
    assert_eq!(output.code, 7);
    assert!(desk.has("a") && !desk.has("b"));
    assert_eq!(understood(&output).1, None, "no report");
    assert_eq!(desk.run("die TERM\nwrite b x").code, 128 + 15);
    assert_eq!(desk.run("die KILL\nwrite b x").code, 128 + 9);
    assert!(!desk.has("b"));
    assert_eq!(desk.run("ignore TERM\nignore INT\ndie TERM\ndie INT\nwrite c x").code, 0);
    assert!(desk.has("c"), "it lived on");
    let script = "once first exit 3\nexit 0";
    assert_eq!((desk.run(script).code, desk.run(script).code), (3, 0));
}

#[test]
fn an_unknown_step_is_refused_before_anything_is_done() {
    let desk = Desk::new();
    let output = desk.run("write a x\n\ndance on the table");
    assert_eq!((output.code, output.stdout.as_str()), (64, ""));
    assert_eq!(output.stderr, "line 3 of the script, \"dance on the table\": there is no step \"dance\"\n");
    assert!(!desk.has("a"));
}

#[test]
fn a_tool_that_fails_is_told_and_survived() {
    let desk = Desk::new();
    let output = desk.run("commit Nothing at all\ndelete nothing\nwrite-port port\nsay On.");
    assert_eq!(output.code, 0);
    let (events, report) = understood(&output);
    let failed = events.iter().filter(|event| matches!(event, AgentEvent::ToolResult { ok: false, .. }));
    assert_eq!(failed.count(), 3, "{events:?}");
    assert_eq!(report.unwrap().status, ReportStatus::CompletedNoChanges);
    let desk = Desk { fleet: desk.fleet.env("FLEET_PORT", "21000"), ..desk };
    desk.run("write-port port");
    assert_eq!(fs::read_to_string(desk.repo.path().join("port")).unwrap(), "21000\n");
}

#[test]
fn it_waits_for_signs_and_gives_them() {
    let desk = Desk::new();
    let mut agent = desk.started("touch ready\nwait-for go 1m\nwrite done x");
    wait_until(SOON, "the agent's sign", || desk.has("ready"));
    assert!(!desk.has("done"));
    desk.repo.write("go", "");
    assert!(agent.wait().unwrap().success());
    assert!(desk.has("done"));
    let output = desk.run("wait-for never 20ms\nwrite more x");
    assert_eq!(output.code, 75);
    assert_eq!(output.stderr, "gave up after 20ms waiting for never\n");
}

#[test]
fn it_floods() {
    let desk = Desk::new();
    let output = desk.run("flood 1MB\nflood 100kB noline");
    let longest = output.stdout.lines().map(str::len).max();
    assert_eq!(longest, Some(100_000));
    assert!(output.stdout.len() > 1_100_000);
    let output = desk.started("binary 10kB").wait_with_output().unwrap();
    assert!(output.stdout.len() > 10_000 && std::str::from_utf8(&output.stdout).is_err());
    assert!(output.stdout.contains(&0));
}

/// The parent and the state of a process that is not over, as `ps` has them.
fn process(pid: &str) -> Option<(String, String)> {
    let output = Command::new("ps").args(["-o", "ppid=,stat=", "-p", pid]).output().unwrap();
    let line = String::from_utf8(output.stdout).unwrap();
    let mut words = line.split_whitespace().map(str::to_owned);
    words.next().zip(words.next()).filter(|(_, state)| !state.starts_with('Z'))
}

#[test]
fn it_leaves_processes_behind() {
    let desk = Desk::new();
    let output = desk.run("fork session double ignore clearenv quiet pid=pid 5m\nwait-for pid");
    assert_eq!(output.code, 0, "{output:?}");
    let pid = fs::read_to_string(desk.repo.path().join("pid")).unwrap();
    let signal = |name: &str| assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    let (parent, state) = process(&pid).expect("it lives on");
    assert!(parent != "0" && state.contains('s'), "it leads a session: {state}");
    signal("-TERM");
    assert!(process(&pid).is_some(), "it does not mind");
    signal("-KILL");
    wait_until(SOON, "the end of the child", || process(&pid).is_none());
}

#[test]
fn it_declares_its_end_through_the_binary() {
    // Without a run around it the command refuses; that it was asked is what can be seen here.
    let output = Desk::new().run("done All of it");
    let (events, report) = understood(&output);
    let declared = |event: &AgentEvent| matches!(event, AgentEvent::ToolCall { name, summary, .. } if name == "fleet done" && summary == "All of it");
    assert!(events.iter().any(declared), "{events:?}");
    assert!(
        events.iter().any(|event| matches!(event, AgentEvent::ToolResult { ok: false, .. })),
        "{events:?}"
    );
    assert_eq!(report, None, "it said so in another way");
}

#[test]
fn it_is_not_for_people() {
    let fleet = fleet();
    assert!(!fleet.ok(&["--help"]).contains("demo-agent"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(!fleet.ok(&["completions", shell]).contains("demo-agent"), "{shell}");
    }
    assert!(!fleet.ok(&["man"]).replace('\\', "").contains("demo-agent"));
    let broken = fleet.env("FLEET_STORE", "nonsense://").env("FLEET_HOME", "/dev/null/home");
    assert_eq!(broken.stdin("```demo\nsay hi\n```").run(&["demo-agent"]).code, 0, "it needs nothing of ours");
}
