//! The demo: a scratch repository with a home of its own, a handful of dependent tasks, and a runner to be killed.
//!
//! Owns a folder that is made for it and removed after it. Must never touch the user's home, store or repositories.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::git::{self, Color, DiffStyle, Oid};
use fleet_host::process::Signal;
use fleet_store::ops;

use super::{runner_stop, task_add};
use crate::environment::{Environment, PREFIX};
use crate::home::make_private;
use crate::runner::registry;
use crate::{Engine, Start, clock, problems};
use fleet_api::views::TaskView;

/// What the scratch repository has before anybody works on it.
const FILES: &[(&str, &str)] = &[
    ("README.md", "# settings\n\nReads and prints settings.\n"),
    ("src/__init__.py", ""),
    (".gitignore", "__pycache__/\n"),
];

/// A process that was killed is gone at once, unless the machine is very busy.
const DEATH: Duration = Duration::from_secs(10);

/// A task of the demo: its title, its branch, the numbers of those that come first, and what the demo agent does.
struct Act {
    title: &'static str,
    branch: &'static str,
    after: &'static [usize],
    script: &'static str,
}

const ACTS: &[Act] = &[
    Act {
        title: "Write the parser",
        branch: "parser",
        after: &[],
        script: "think Lines like KEY = VALUE, comments with a #.\nsleep 700ms\n\
                 write src/parser.py def parse(line):\\n    key, _, value = line.partition(\"=\")\\n    \
                 return key.strip(), value.strip()\nusage 1800 240 0.011\nsleep 900ms\n\
                 commit Parse one line of settings\nsay The parser reads one line at a time.",
    },
    Act {
        title: "Write the printer",
        branch: "printer",
        after: &[],
        script: "sleep 500ms\nwrite src/printer.py def show(settings):\\n    for key, value in \
                 sorted(settings.items()):\\n        print(f\"{key} = {value}\")\nusage 1500 180 0.009\nsleep 1500ms\n\
                 say The printer sorts by key.",
    },
    Act {
        title: "Explain the format",
        branch: "format",
        after: &[],
        script: "sleep 600ms\nwrite docs/format.md # The format\\n\\nOne setting on each line: `key = value`.\nsleep 800ms\n\
                 append docs/format.md \\nComments begin with `#`.\nusage 900 320 0.007\nsay The format is explained.",
    },
    Act {
        title: "Test the parser",
        branch: "parser-test",
        after: &[0],
        script: "sleep 600ms\nwrite tests/test_parser.py from src.parser import parse\\n\\n\\ndef test_spaces():\\n    \
                 assert parse(\" a = 1 \") == (\"a\", \"1\")\nusage 2100 300 0.014\nsleep 900ms\n\
                 commit Test the parser\nsay One test, and it passes.",
    },
    Act {
        title: "Write the release notes",
        branch: "release-notes",
        after: &[1, 2, 3],
        script: "sleep 500ms\nwrite CHANGELOG.md # 0.1.0\\n\\n- A parser, a printer, and what they mean.\n\
                 usage 1100 150 0.006\nsleep 400ms\nsay The notes are written.",
    },
];

/// Where the demo takes place.
#[derive(Debug)]
pub struct Stage {
    dir: PathBuf,
}

/// What a run of the demo changed.
#[derive(Debug, Clone)]
pub struct Work {
    /// The task.
    pub title: String,
    /// Where the work is.
    pub branch: String,
    /// The differences, as git shows them.
    pub patch: String,
}

impl Stage {
    /// Makes a folder with a small repository in it.
    pub fn build(outer: &Engine) -> Outcome<Self> {
        let temporary =
            outer.environment().get_os("TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let stage =
            Self { dir: temporary.join(format!("codefleet-demo-{:08x}", clock::entropy()? & 0xffff_ffff)) };
        stage.furnish().map_err(|error| problems::io(&stage.dir, &error))?;
        Ok(stage)
    }

    fn furnish(&self) -> std::io::Result<()> {
        make_private(&self.dir)?;
        for (name, text) in FILES {
            let file = self.repository().join(name);
            fs::create_dir_all(file.parent().unwrap_or(&self.dir))?;
            fs::write(file, text)?;
        }
        fleet_host::demo::new_repository(&self.repository())?;
        fleet_host::demo::commit(&self.repository(), "The beginning").map(drop)
    }

    /// The folder of everything.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The repository that the agents work on.
    pub fn repository(&self) -> PathBuf {
        self.dir.join("settings")
    }

    /// An engine that sees nothing of the user's fleet.
    pub fn engine(&self, outer: &Engine) -> Outcome<Engine> {
        let others = outer.environment().variables().filter(|(name, _)| !name.starts_with(PREFIX));
        let own =
            [("FLEET_HOME", self.dir.join("home").into_os_string()), ("FLEET_AUTOSTART", "false".into())];
        let variables = others.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = variables.chain(own.map(|(name, value)| (name.to_owned(), value)));
        let environment = Environment::from_pairs(variables).with_current_directory(self.repository());
        Engine::new(Start { environment, directory: Some(self.repository()), flags: Vec::new() })
    }

    /// Stops runners and agents; what they did stays.
    pub async fn stop(&self, engine: &Engine) -> Outcome<()> {
        let everything = fleet_api::verbs::runner_stop::Request { agents: true, restart: false };
        runner_stop::run(engine, everything).await.map(drop)
    }

    /// Removes everything, runners and agents first.
    pub async fn clear(self, engine: &Engine) -> Outcome<()> {
        self.stop(engine).await?;
        fs::remove_dir_all(&self.dir).map_err(|error| problems::io(&self.dir, &error))
    }
}

/// Queues the tasks.
pub async fn add_tasks(engine: &Engine) -> Outcome<Vec<TaskView>> {
    let mut tasks: Vec<TaskView> = Vec::new();
    for act in ACTS {
        let request = fleet_api::verbs::task_add::Request {
            title: act.title.to_owned(),
            description: Some(format!("```demo\n{}\n```", act.script)),
            agent: Some("demo".to_owned()),
            branch: Some(act.branch.to_owned()),
            after: act.after.iter().map(|number| tasks[*number].id.to_string()).collect(),
            ..Default::default()
        };
        tasks.push(task_add::add(engine, request).await?);
    }
    Ok(tasks)
}

/// Kills the runner as the kernel does when memory runs out: without a word. Returns its process id.
pub fn kill_runner(engine: &Engine) -> Outcome<i32> {
    let home = crate::home::Home::new(engine.home());
    let up = registry::up(&home).map_err(|error| problems::io(&home.runners(), &error))?;
    let runner = up.first().ok_or_else(|| Problem::new(Code::Internal, "there is no runner to kill"))?;
    let killed = runner.process.signal(Signal::KILL).and_then(|_| runner.process.wait_for_end(DEATH));
    killed.map_err(|error| problems::io(&home.runners(), &error))?;
    Ok(runner.process.pid)
}

/// What the agents did, task by task.
pub async fn work(engine: &Engine, tasks: &[TaskView]) -> Outcome<Vec<Work>> {
    let repo = engine.repository()?.common_dir.clone();
    let mut all = Vec::new();
    for task in tasks {
        let filter = ops::RunFilter { task: Some(task.id), newest_of_task: true, ..Default::default() };
        let runs = engine.call(ops::ListRuns { filter, limit: 1 }).await?;
        let Some((branch, base)) =
            runs.first().and_then(|row| Some((row.run.branch.clone()?, row.run.base.clone()?)))
        else {
            continue;
        };
        let patch = patch(&repo, &base, &branch).map_err(|error| Problem::new(Code::Internal, error))?;
        all.push(Work { title: task.title.clone(), branch, patch });
    }
    Ok(all)
}

fn patch(repo: &Path, base: &str, branch: &str) -> Result<String, String> {
    let base = Oid::parse(base).map_err(|error| error.to_string())?;
    let tip = git::branch_commit(repo, branch).map_err(|error| error.to_string())?;
    let Some(tip) = tip else { return Ok(String::new()) };
    let mut bytes = Vec::new();
    git::diff(repo, (&base, &tip), DiffStyle::Patch { color: Color::Never }, &mut bytes)
        .map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
