//! Terminals of agents in the user's tmux, each a `fleet attach`.

use fleet_api::verbs::run_attach::Request;
use fleet_core::problem::{Code, Problem};
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

/// Opens a terminal for each agent, with these further arguments of `fleet attach`.
pub(super) async fn open(context: &Context, ids: &[String], layout: Layout, options: &[String]) -> Done {
    let mut shown = Vec::new();
    for id in ids {
        let found = context.call(Request { id: id.clone() }).await?;
        shown.push((found.branch.unwrap_or(found.title), found.task.to_string()));
    }
    let is_inside = context.engine.environment().get("TMUX")?.is_some();
    // A session of ours that is there already gets more windows.
    let mut target = (!is_inside && tmux_has(SESSION)).then(|| format!("{SESSION}:"));
    let home = context.engine.environment().get("FLEET_HOME")?.map(ToOwned::to_owned);
    let fleet = Environment::this_binary()?.into_os_string().into_string();
    let fleet = fleet.map_err(|_| Problem::new(Code::Io, "the path of fleet is not text"))?;
    for (number, (name, task)) in shown.iter().enumerate() {
        let is_pane = layout == Layout::Panes && number > 0;
        let mut command: Vec<String> = match (is_inside, &target) {
            (false, None) => words(&["new-session", "-d", "-s", SESSION]),
            _ if is_pane => words(&["split-window"]),
            _ => words(&["new-window"]),
        };
        command.extend(target.iter().flat_map(|target| ["-t".to_owned(), target.clone()]));
        // The server of tmux may have been started with another home.
        command.extend(home.iter().flat_map(|home| ["-e".to_owned(), format!("FLEET_HOME={home}")]));
        if !is_pane {
            command.extend(["-n".to_owned(), window_name(name)]);
        }
        // Words of their own: no shell reads them.
        command.extend(["--".to_owned(), fleet.clone(), "attach".to_owned(), task.clone()]);
        command.extend_from_slice(options);
        run_tmux(&command)?;
        if !is_inside {
            target = Some(format!("{SESSION}:"));
        }
        if is_pane {
            let mut tidy = words(&["select-layout"]);
            tidy.extend(target.iter().flat_map(|target| ["-t".to_owned(), target.clone()]));
            tidy.push("tiled".to_owned());
            run_tmux(&tidy)?;
        }
    }
    if is_inside {
        let names: Vec<_> = shown.iter().map(|(name, _)| escaped(name)).collect();
        context.output.note(&format!("opened in tmux: {}", names.join(", ")));
        return Ok(());
    }
    run_tmux(&words(&["attach-session", "-t", &format!("={SESSION}")]))
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
