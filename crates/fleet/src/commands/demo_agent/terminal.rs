//! The demo agent in a terminal: a line to type prompts into, until `/exit`.

use std::io::{self, Write as _};
use std::path::Path;

use fleet_agents::demo;
use fleet_engine::Keys;
use fleet_engine::demo::run_self;
use serde_json::{Value, json};

use super::act::DemoWork;
use super::print;

/// What it shows when it takes a prompt.
const PROMPT: &str = "demo> ";
/// No more of a prompt is passed to the hook.
const LONGEST_TOLD: usize = 16 * 1024;
/// How its keeper names a file with a prompt that cannot be typed.
const IN_FILE: (&str, &str) = ("Read the file ", " and do what it says.");

pub(super) struct DemoTerminal {
    pub(super) session: String,
    pub(super) read_only: bool,
}

impl DemoTerminal {
    /// Takes prompts until it is told to leave or its terminal goes away.
    pub(super) fn run(&self) -> io::Result<()> {
        print::for_people();
        tell(&json!({"hook": "session", "id": self.session}));
        print::raw(&format!("The demo agent, conversation {}. `/exit` leaves.", self.session))?;
        loop {
            write!(io::stdout(), "{PROMPT}")?;
            io::stdout().flush()?;
            tell(&json!({"hook": "idle"}));
            let Some(line) = next_line() else { return Ok(()) };
            match line.trim() {
                "" => {}
                "/exit" => return Ok(()),
                prompt => self.answer(&whole(prompt)?)?,
            }
        }
    }

    fn answer(&self, prompt: &str) -> io::Result<()> {
        // More does not fit an argument.
        let start = prompt.get(..prompt.floor_char_boundary(LONGEST_TOLD)).unwrap_or_default();
        tell(&json!({"hook": "prompt", "text": start}));
        print::raw("working…")?;
        if let Some(files) = prompt.strip_prefix("ask ") {
            return files.split_whitespace().try_for_each(ask);
        }
        let steps = match demo::script(prompt) {
            Ok(steps) => steps.unwrap_or_else(|| demo::job(prompt, self.read_only)),
            Err(error) => return print::raw(&error.to_string()),
        };
        DemoWork::default().work(self.session.clone(), steps).map(drop)
    }
}

/// Asks whether it may do something, and does it if so: it writes a file of that name.
fn ask(what: &str) -> io::Result<()> {
    tell(&json!({"hook": "asks", "text": what}));
    print::raw(&format!("Allow: {what}?\n1. Yes\n2. Yes, always\n3. No"))?;
    // One key, without Enter.
    let keys = Keys::listen();
    let answer = Keys::next();
    drop(keys);
    match answer {
        Some(b'1' | b'2') => {
            let folder = Path::new(what).parent().map_or(Ok(()), std::fs::create_dir_all);
            match folder.and_then(|()| std::fs::write(what, "allowed\n")) {
                Ok(()) => print::raw(&format!("wrote {what}")),
                Err(error) => print::raw(&format!("cannot write {what}: {error}")),
            }
        }
        _ => print::raw("denied"),
    }
}

/// What was typed; none at the end. Byte by byte, so that nothing of the next line is taken with it.
fn next_line() -> Option<String> {
    let mut line = Vec::new();
    while let Some(key) = Keys::next() {
        if key == b'\n' {
            return Some(String::from_utf8_lossy(&line).into_owned());
        }
        line.push(key);
    }
    None
}

/// The prompt itself where its keeper has put it into a file.
fn whole(line: &str) -> io::Result<String> {
    let (before, after) = IN_FILE;
    match line.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) {
        Some(path) => std::fs::read_to_string(path),
        None => Ok(line.to_owned()),
    }
}

/// Calls the hook, as any agent does it. One outside of a run has nobody to tell.
fn tell(what: &Value) {
    let _ = run_self(&["hook", &what.to_string()]);
}
