//! The steps of a script, done.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;
use std::time::Duration;

use fleet_agents::demo::{Child, DemoLine, ScriptStep};
use fleet_core::report::{Report, ReportStatus};
use fleet_engine::demo;
use fleet_engine::environment::Environment;

use super::{child, print};

/// What the agent did so far.
#[derive(Debug, Default)]
pub(super) struct DemoWork {
    /// What it changed or says that it changed.
    files: BTreeSet<String>,
    commits: Vec<String>,
    last_words: Option<String>,
    ending: LastLine,
    tools: u32,
}

#[derive(Debug, Default)]
enum LastLine {
    #[default]
    Report,
    Words(String),
    /// Nothing: the end was told in another way.
    Nothing,
}

/// Go on, or exit with this status.
type Flow = ControlFlow<u8>;

const ON: Flow = Flow::Continue(());
/// The exit status when a file that was waited for did not come.
const TIMED_OUT_EXIT_CODE: u8 = 75;
/// How often to look for it.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

impl DemoWork {
    /// Does all steps and returns the exit status. An error is the end of it: nobody listens any more, or the
    /// machine refuses what a test relies on.
    pub(super) fn work(mut self, session: String, steps: Vec<ScriptStep>) -> io::Result<u8> {
        print::line(&DemoLine::Session { id: session })?;
        for step in steps {
            if let Flow::Break(code) = self.act(step)? {
                return Ok(code);
            }
        }
        match std::mem::take(&mut self.ending) {
            LastLine::Report => print::line(&DemoLine::Result { text: self.report()? })?,
            LastLine::Words(text) => print::line(&DemoLine::Result { text })?,
            LastLine::Nothing => {}
        }
        Ok(0)
    }

    fn report(&self) -> io::Result<String> {
        let changed = !(self.files.is_empty() && self.commits.is_empty());
        let status = if changed { ReportStatus::Completed } else { ReportStatus::CompletedNoChanges };
        let summary =
            self.last_words.clone().unwrap_or_else(|| "All steps of the script are done.".to_owned());
        let report = Report {
            files_changed: self.files.iter().cloned().collect(),
            commits: self.commits.clone(),
            ..Report::new(status, summary)
        };
        Ok(format!("Done.\n\n```json\n{}\n```", serde_json::to_string_pretty(&report)?))
    }

    fn act(&mut self, step: ScriptStep) -> io::Result<Flow> {
        match step {
            ScriptStep::Write { path, text } => self.change("write", &path, || write(&path, &text))?,
            ScriptStep::Append { path, text } => self.change("append", &path, || append(&path, &text))?,
            ScriptStep::Delete { path } => self.change("delete", &path, || delete(&path))?,
            ScriptStep::WritePort { path } => self.change("write-port", &path, || write(&path, &port()?))?,
            ScriptStep::Mkdir { path } => self.make_folder(&path)?,
            ScriptStep::Commit { message } => self.commit(&message)?,
            ScriptStep::Touch { path } => fs::write(path, "")?,
            ScriptStep::Lie { path } => self.files.extend([path]),
            ScriptStep::Say { text } => self.say(text)?,
            ScriptStep::Think { text } => print::line(&DemoLine::Thinking { text })?,
            ScriptStep::Raw { text } => print::raw(&text)?,
            ScriptStep::Stderr { text } => print::stderr(&text)?,
            ScriptStep::Binary { bytes } => print::binary(bytes)?,
            ScriptStep::Flood { bytes, lines } => print::flood(bytes, lines)?,
            ScriptStep::Usage { input, output, micro_usd } => {
                print::line(&DemoLine::Usage { input, output, micro_usd })?;
            }
            ScriptStep::RateLimit { span } => print::line(&DemoLine::RateLimit { wait_ms: millis(span) })?,
            ScriptStep::Error { reason, text } => print::line(&DemoLine::Error { reason, text })?,
            ScriptStep::Report { text } => self.ending = LastLine::Words(text),
            ScriptStep::Ask { text } => self.ask(text)?,
            ScriptStep::Question { text, options } => self.question(&text, &options)?,
            ScriptStep::Park { text } => {
                self.tool("fleet ask", &text, None, || demo::run_self(&["ask", "--park", "--", &text]))?;
            }
            ScriptStep::Done { summary } => self.declare("done", &summary)?,
            ScriptStep::Fail { summary } => self.declare("fail", &summary)?,
            ScriptStep::Fork { child } => self.fork(&child)?,
            ScriptStep::Sleep { span } => thread::sleep(span),
            ScriptStep::Hang => hang(),
            ScriptStep::Ignore { signal } => demo::ignore(signal.as_str())?,
            ScriptStep::Die { signal } => demo::signal_self(signal.as_str())?,
            ScriptStep::WaitFor { path, patience } => return wait_for(&path, patience),
            ScriptStep::Exit { code } => return Ok(Flow::Break(code)),
            ScriptStep::Once { path, step } => return self.once(&path, *step),
        }
        Ok(ON)
    }

    fn say(&mut self, text: String) -> io::Result<()> {
        self.last_words = Some(text.clone());
        print::line(&DemoLine::Text { text })
    }

    fn ask(&mut self, text: String) -> io::Result<()> {
        self.ending = LastLine::Nothing;
        print::line(&DemoLine::Question { text })
    }

    /// Waits for a person, and says the answer.
    fn question(&mut self, text: &str, options: &[String]) -> io::Result<()> {
        let mut args = vec!["ask"];
        for option in options {
            args.extend(["--option", option]);
        }
        args.extend(["--", text]);
        match self.tool("fleet ask", text, None, || demo::run_self(&args))? {
            Some(answer) => self.say(format!("The answer: {}", answer.trim_end())),
            None => Ok(()),
        }
    }

    /// As any agent does it: by a command, with the run in its environment.
    fn declare(&mut self, verb: &str, summary: &str) -> io::Result<()> {
        self.ending = LastLine::Nothing;
        self.tool(&format!("fleet {verb}"), summary, None, || demo::run_self(&[verb, "--", summary]))
            .map(|_| ())
    }

    fn commit(&mut self, message: &str) -> io::Result<()> {
        let made = self.tool("commit", message, None, || demo::commit(Path::new("."), message))?;
        self.commits.extend(made);
        Ok(())
    }

    fn fork(&mut self, child: &Child) -> io::Result<()> {
        let start = || child::start(child).map(|pid| format!("pid {pid}"));
        self.tool("fork", &child.to_string(), None, start).map(|_| ())
    }

    /// Not reported: git knows no folders.
    fn make_folder(&mut self, path: &str) -> io::Result<()> {
        let make = || fs::create_dir_all(path).map(|()| "ok".to_owned());
        self.tool("mkdir", path, Some(path), make).map(|_| ())
    }

    fn change(&mut self, name: &str, path: &str, change: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let changed = self.tool(name, path, Some(path), || change().map(|()| "ok".to_owned()))?;
        if changed.is_some() {
            self.files.insert(path.to_owned());
        }
        Ok(())
    }

    fn once(&mut self, path: &str, step: ScriptStep) -> io::Result<Flow> {
        match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(_) => self.act(step),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(ON),
            Err(error) => Err(error),
        }
    }

    /// Says that a tool is used, uses it, and says what came of it. A tool that fails is told and survived.
    fn tool(
        &mut self,
        name: &str,
        input: &str,
        file: Option<&str>,
        act: impl FnOnce() -> io::Result<String>,
    ) -> io::Result<Option<String>> {
        self.tools += 1;
        let id = self.tools.to_string();
        let files: Vec<String> = file.map(str::to_owned).into_iter().collect();
        let (name, input) = (name.to_owned(), input.to_owned());
        print::line(&DemoLine::Tool { id: id.clone(), name, input, files: files.clone() })?;
        let done = act();
        let (ok, output) = match &done {
            Ok(said) => (true, said.clone()),
            Err(error) => (false, error.to_string()),
        };
        print::line(&DemoLine::ToolResult { id, ok, output, files })?;
        Ok(done.ok())
    }
}

fn write(path: &str, text: &str) -> io::Result<()> {
    make_folder_of(path)?;
    fs::write(path, text)
}

fn append(path: &str, text: &str) -> io::Result<()> {
    make_folder_of(path)?;
    OpenOptions::new().append(true).create(true).open(path)?.write_all(text.as_bytes())
}

fn make_folder_of(path: &str) -> io::Result<()> {
    Path::new(path).parent().map_or(Ok(()), fs::create_dir_all)
}

fn delete(path: &str) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// The first of the ports that the run was given.
fn port() -> io::Result<String> {
    let environment = Environment::from_process();
    let port = environment.get("FLEET_PORT").map_err(|problem| io::Error::other(problem.to_string()))?;
    port.map(|port| format!("{port}\n")).ok_or_else(|| io::Error::other("there is no FLEET_PORT"))
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn hang() -> ! {
    loop {
        thread::park();
    }
}

fn wait_for(path: &str, patience: Duration) -> io::Result<Flow> {
    let mut waited = Duration::ZERO;
    while !fs::exists(path)? {
        if waited >= patience {
            print::stderr(&format!("gave up after {patience:?} waiting for {path}"))?;
            return Ok(Flow::Break(TIMED_OUT_EXIT_CODE));
        }
        thread::sleep(POLL_INTERVAL);
        waited += POLL_INTERVAL;
    }
    Ok(ON)
}
