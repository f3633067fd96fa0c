//! A new user's first hour, from the top of the README to everyday tasks: what is typed and what is shown, as one text that
//! people read and approve.
//!
//! `steps.txt` says what is typed, and where: `80` and `120` are terminals of that width, `|` is a pipe, `readme` types
//! the lines of an example at 80 columns, `idle` lets agents finish, `busy` lets one start, `=` begins a chapter, and `==`
//! another machine. Ids, times and paths are replaced by constants.

mod constants;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use fleet_testkit::wait_until;

use super::launch::readme::example;
use super::support::{World, can_make_terminals, settled};
use constants::Constants;

/// For slow machines; it comes within seconds.
const SOON: Duration = Duration::from_mins(1);
const STEPS: &str = include_str!("steps.txt");

/// A user with a repository, and of programs only what every system has: whatever agents this machine has are not found.
struct Newcomer {
    world: World,
}

impl Newcomer {
    fn new() -> Self {
        let mut world = World::sqlite();
        let programs = world.fleet.user_home().join("bin");
        fs::create_dir(&programs).unwrap();
        for name in ["bash", "sh", "git", "stty", "cat", "sleep"] {
            std::os::unix::fs::symlink(found(name), programs.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleet"), programs.join("fleet")).unwrap();
        world.fleet = world.fleet.env("PATH", &programs).env("FLEET_RUNNER_SLOTS", "2");
        Self { world }
    }

    /// Types a line; what is shown, standard error included, and the exit status.
    fn types(&self, place: Place, line: &str) -> (String, i32) {
        // Variables outlive their line, as in a shell that stays open.
        let line = format!(
            ". ~/variables 2> /dev/null; {line}\ncode=$?; declare -p first > ~/variables 2> /dev/null; exit $code"
        );
        let own = self.world.fleet.command(&[]);
        let mut command = match place {
            Place::Pipe => Command::new(found("bash")),
            Place::Terminal(_) => Command::new(found("script")),
        };
        let (inner, term) = match place {
            Place::Pipe => (format!("{{ {line}\n}} 2>&1"), "dumb"),
            Place::Terminal(width) => (format!("stty cols {width} rows 200\n{line}"), "xterm-256color"),
        };
        match place {
            Place::Pipe => command.args(["-c", &inner]),
            Place::Terminal(_) => command.args(["-qec", "bash -c \"$INNER\"", "/dev/null"]),
        };
        command.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
            .env_remove("FLEET_AUTOSTART")
            .env("INNER", &inner)
            .env("TERM", term)
            .env("SHELL", "/bin/sh")
            .env("NO_COLOR", "1");
        let output =
            command.current_dir(self.world.repo.path()).stdin(Stdio::null()).output().expect("a shell");
        let text = String::from_utf8(output.stdout).expect("UTF-8").replace('\r', "");
        (settled(&text).join("\n"), output.status.code().unwrap_or(-1))
    }

    fn idle(&self) {
        wait_until(SOON, "agents to finish", || {
            let status = self.world.fleet.json(&["status"]);
            status["running"] == 0 && status["ready"] == 0
        });
    }

    fn busy(&self) {
        wait_until(SOON, "an agent to start", || {
            self.world.fleet.json(&["list"])["runs"][0]["state"] == "running"
        });
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        self.world.fleet.run(&["stop", "--agents"]);
    }
}

/// Where a program of this machine is.
fn found(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|file| file.is_file()).unwrap_or_else(|| panic!("{name} is needed"))
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Pipe,
    Terminal(u16),
}

#[derive(Clone)]
enum Step {
    Chapter(&'static str),
    Types(Place, String),
    Idle,
    Busy,
}

fn step(line: &'static str) -> Vec<Step> {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    let narrow = Place::Terminal(80);
    match first {
        "=" => vec![Step::Chapter(rest)],
        "idle" => vec![Step::Idle],
        "busy" => vec![Step::Busy],
        "|" => vec![Step::Types(Place::Pipe, rest.to_owned())],
        "80" => vec![Step::Types(narrow, rest.to_owned())],
        "120" => vec![Step::Types(Place::Terminal(120), rest.to_owned())],
        "readme" => example(rest).lines().flat_map(of_readme).collect(),
        _ => panic!("not a step: {line}"),
    }
}

/// A line of the README without its remark, and with a real name. People read on while an agent continues.
fn of_readme(line: &str) -> Vec<Step> {
    let line = line.split(" # ").next().unwrap_or(line).trim_end();
    let line = line.replace(" result ID", " result write-review-refine");
    let then = line.starts_with("fleet prompt").then_some(Step::Idle);
    std::iter::once(Step::Types(Place::Terminal(80), line)).chain(then).collect()
}

/// What one user sees, and how many lines that took.
fn walk(steps: &[Step]) -> (String, usize) {
    let user = Newcomer::new();
    let (mut text, mut typed) = (String::new(), 0);
    let mut constants = Constants::new(&user.world);
    for step in steps {
        match step {
            Step::Chapter(title) => writeln!(text, "━━━━━ {title}\n").unwrap(),
            Step::Idle => user.idle(),
            Step::Busy => user.busy(),
            Step::Types(place, line) => {
                typed += 1;
                let (shown, code) = user.types(*place, line);
                let place = match place {
                    Place::Pipe => "pipe".to_owned(),
                    Place::Terminal(width) => width.to_string(),
                };
                let code = if code == 0 { String::new() } else { format!("[exit status {code}]\n") };
                let end = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
                writeln!(text, "[{place}] $ {line}\n{shown}{end}{code}").unwrap();
            }
        }
    }
    constants.learn(&user.world);
    (constants.put_into(&text), typed)
}

/// Each machine at the same time: agents take their time.
#[test]
fn the_first_hour_of_a_new_user() {
    if !can_make_terminals() {
        return;
    }
    let lines: Vec<&'static str> = STEPS.lines().filter(|line| !line.is_empty()).collect();
    let users: Vec<Vec<Step>> = lines
        .split(|line| *line == "==")
        .map(|lines| lines.iter().flat_map(|line| step(line)).collect())
        .collect();
    let walked: Vec<(String, usize)> = thread::scope(|scope| {
        let walks: Vec<_> = users.iter().map(|steps| scope.spawn(|| walk(steps))).collect();
        walks.into_iter().map(|walk| walk.join().unwrap()).collect()
    });
    let typed: usize = walked.iter().map(|(_, typed)| typed).sum();
    assert!(typed >= 60, "{typed} steps");
    let text: Vec<String> = walked.into_iter().map(|(text, _)| text).collect();
    insta::assert_snapshot!("first_hour", text.join("\n\n"));
}

/// What the demo tells; how its agents stand depends on when somebody looks.
#[test]
fn the_demo_tells_a_story() {
    if !can_make_terminals() {
        return;
    }
    let user = Newcomer::new();
    let (text, code) = user.types(Place::Terminal(80), "fleet demo");
    assert_eq!(code, 0, "{text}");
    let is_table = |line: &&str| line.contains("  demo   ") || line.starts_with("ID ");
    let story: Vec<&str> = text.lines().filter(|line| !is_table(line)).collect();
    insta::assert_snapshot!("demo", Constants::new(&user.world).put_into(&story.join("\n")));
}
