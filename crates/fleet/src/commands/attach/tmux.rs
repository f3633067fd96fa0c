//! Terminals of agents in the user's tmux, each a `fleet attach`.

use fleet_api::verbs::run_attach::Request;
use fleet_api::verbs::run_kill_find;
use fleet_core::glob::NamePattern;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use fleet_engine::environment::Environment;
use fleet_engine::{run_tmux, tmux_has};

use super::{Attach, Context};
use crate::Done;

/// The session that is made where the user is in none.
const SESSION: &str = "fleet";

/// How terminals are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Windows,
    Panes,
}

/// An agent that gets a window or a pane.
struct Shown {
    /// The name of its window.
    name: String,
    task: String,
}

/// Opens a terminal for each agent, with these further arguments of `fleet attach`.
pub(super) async fn open(context: &Context, ids: &[String], layout: Layout, options: &[String]) -> Done {
    let mut shown = Vec::new();
    for id in ids {
        shown.extend(meant(context, id).await?);
    }
    let is_inside = context.engine.environment().get("TMUX")?.is_some();
    let mut tmux = Tmux {
        is_inside,
        // A session of ours that is there already gets more windows.
        target: (!is_inside && tmux_has(SESSION)).then(|| format!("{SESSION}:")),
        home: context.engine.environment().get("FLEET_HOME")?.map(ToOwned::to_owned),
        fleet: Environment::this_binary()?
            .into_os_string()
            .into_string()
            .map_err(|_| Problem::new(Code::Io, "the path of fleet is not text"))?,
    };
    for (number, one) in shown.iter().enumerate() {
        tmux.add(one, layout == Layout::Panes && number > 0, options)?;
    }
    if is_inside {
        let names: Vec<_> = shown.iter().map(|one| escaped(&one.name)).collect();
        context.output.note(&format!("opened in tmux: {}", names.join(", ")));
        return Ok(());
    }
    run_tmux(&words(&["attach-session", "-t", &format!("={SESSION}")]))
}

/// One agent, or those that a pattern means and that have not finished.
async fn meant(context: &Context, id: &str) -> Outcome<Vec<Shown>> {
    if NamePattern::has_wildcards(id) {
        let request = run_kill_find::Request { patterns: vec![id.to_owned()], ..Default::default() };
        let found = context.call(request).await?.targets.into_iter();
        return Ok(found.map(|one| Shown { name: one.branch, task: one.task.to_string() }).collect());
    }
    let found = context.call(Request { id: id.to_owned(), wait_seconds: None }).await?;
    Ok(vec![Shown { name: found.branch.unwrap_or(found.title), task: found.task.to_string() }])
}

/// The tmux of the user.
struct Tmux {
    /// Whether this is called in it.
    is_inside: bool,
    /// The session that gets more; none is the current one, or one that does not exist yet.
    target: Option<String>,
    /// Its server may have been started with another one.
    home: Option<String>,
    fleet: String,
}

impl Tmux {
    fn add(&mut self, one: &Shown, is_pane: bool, options: &[String]) -> Done {
        let mut command: Vec<String> = match (self.is_inside, &self.target) {
            (false, None) => words(&["new-session", "-d", "-s", SESSION]),
            _ if is_pane => words(&["split-window"]),
            _ => words(&["new-window"]),
        };
        command.extend(self.in_target());
        command.extend(self.home.iter().flat_map(|home| ["-e".to_owned(), format!("FLEET_HOME={home}")]));
        if !is_pane {
            command.extend(["-n".to_owned(), window_name(&one.name)]);
        }
        // Words of their own: no shell reads them.
        command.extend(["--".to_owned(), self.fleet.clone(), "attach".to_owned(), one.task.clone()]);
        command.extend_from_slice(options);
        run_tmux(&command)?;
        if !self.is_inside {
            self.target = Some(format!("{SESSION}:"));
        }
        if is_pane {
            let mut tidy = words(&["select-layout"]);
            tidy.extend(self.in_target());
            tidy.push("tiled".to_owned());
            run_tmux(&tidy)?;
        }
        Ok(())
    }

    fn in_target(&self) -> impl Iterator<Item = String> {
        self.target.iter().flat_map(|target| ["-t".to_owned(), target.clone()])
    }
}

/// tmux takes `:` and `.` in names for parts of targets.
fn window_name(name: &str) -> String {
    name.chars().map(|c| if ":.".contains(c) || c.is_control() { '-' } else { c }).collect()
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

impl Attach {
    /// What each of the terminals is opened with.
    pub(super) fn options(&self) -> Vec<String> {
        let read_only = self.read_only.then(|| "--read-only".to_owned());
        let key = self.detach_key.iter().flat_map(|key| ["--detach-key".to_owned(), key.clone()]);
        read_only.into_iter().chain(key).collect()
    }
}
