//! Whether an agent stays in its workspace, as far as its own words tell.
//!
//! Owns where an agent may write with its own tools. Must never judge by what it reads, which is often elsewhere and does
//! no harm, nor by what its commands do: they say nothing about that, and a sandbox is what holds them.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use fleet_agents::{About, AgentEvent, Trust, is_editing};

use super::prepare::PreparedRun;
use super::{Keeper, checkout};

/// An agent that never ends its calls must not fill the memory: the oldest are forgotten.
const MAX_CALLS: usize = 64;

#[derive(Debug)]
pub(crate) struct Boundary {
    workspace: PathBuf,
    /// Its own besides: the folder of the run, and where it keeps its plans and notes.
    own: Vec<PathBuf>,
    /// Never: the user's checkout, and everything of other runs.
    foreign: Vec<PathBuf>,
    /// Where else it may write; `None` is anywhere.
    open: Option<Vec<PathBuf>>,
    /// Calls of tools that change files, until it is known whether they did.
    calls: VecDeque<(String, Vec<String>)>,
}

impl Keeper<'_> {
    pub(super) fn boundary(&self, about: &About, prepared: &PreparedRun) -> Boundary {
        let variable = |name: &str| self.engine.environment().get_os(name).map(PathBuf::from);
        // One that only the configuration describes may be any of them.
        let files: Vec<&str> = match about.login_files {
            [] => self.agents.all().flat_map(|agent| agent.about().login_files).copied().collect(),
            files => files.to_vec(),
        };
        let agent_folders = files.into_iter().filter_map(|file| {
            let (root, file) = match file.split_once(':') {
                Some((name, file)) => (variable(name)?, file),
                None => (variable("HOME")?, file),
            };
            let folder = Path::new(file).parent().unwrap_or(Path::new(""));
            // What is in the home itself says nothing about a folder of the agent's own.
            (root != variable("HOME")? || folder != Path::new("")).then(|| root.join(folder))
        });
        let temporary = ["/tmp", "/var/tmp"].map(PathBuf::from).into_iter().chain(variable("TMPDIR"));
        let named =
            self.terms.extra_args.iter().map(|arg| arg.split_once('=').map_or(&**arg, |(_, value)| value));
        let named = named.map(PathBuf::from).filter(|path| path.is_absolute());
        let is_held = self.terms.trust != Trust::Full;
        Boundary {
            workspace: real(prepared.workspace.path()),
            own: [self.folder.dir().to_owned()]
                .into_iter()
                .chain(agent_folders)
                .map(|path| real(&path))
                .collect(),
            foreign: [checkout(&self.project), self.home.root().to_owned()].map(|path| real(&path)).to_vec(),
            open: is_held.then(|| temporary.chain(named).map(|path| real(&path)).collect()),
            calls: VecDeque::new(),
        }
    }
}

impl Boundary {
    /// What an event says about a step outside, in a sentence.
    pub(super) fn step_outside(&mut self, event: &AgentEvent) -> Option<String> {
        match event {
            AgentEvent::WorksIn { directory } => {
                let place = self.place(directory);
                let is_ours = place.starts_with(&self.workspace);
                (!is_ours).then(|| format!("it works in {}, which is not its workspace", place.display()))
            }
            AgentEvent::ToolCall { id, name, files, .. } if is_editing(name) => {
                if self.calls.len() >= MAX_CALLS {
                    self.calls.pop_front();
                }
                self.calls.push_back((id.clone(), files.clone()));
                None
            }
            AgentEvent::ToolResult { id, ok, files, .. } => {
                let at = self.calls.iter().position(|(call, _)| call == id)?;
                let (_, named) = self.calls.remove(at)?;
                let mut written = named.iter().chain(files).filter(|_| *ok).map(|file| self.place(file));
                let outside = written.find(|place| !self.may_write(place))?;
                Some(format!("it wrote {}, which is outside its workspace", outside.display()))
            }
            _ => None,
        }
    }

    fn place(&self, path: &str) -> PathBuf {
        real(&self.workspace.join(path))
    }

    fn may_write(&self, place: &Path) -> bool {
        let is_in = |folders: &[PathBuf]| folders.iter().any(|folder| place.starts_with(folder));
        if place.starts_with(&self.workspace) || is_in(&self.own) {
            return true;
        }
        !is_in(&self.foreign) && self.open.as_ref().is_none_or(|open| is_in(open))
    }
}

/// A path without links, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, above)));
    let Some((found, above)) = found else { return path.to_owned() };
    let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
    rest.components().fold(found, |mut place, part| {
        match part {
            Component::ParentDir => drop(place.pop()),
            part => place.push::<&OsStr>(part.as_os_str()),
        }
        place
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A home with two workspaces, a checkout and the agent's own folder.
    fn boundary(root: &Path, trust: Trust) -> Boundary {
        for folder in ["fleet/w1", "fleet/w2", "fleet/runs/r1", "checkout", "home/.agent", "tmp"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let place = |name: &str| real(&root.join(name));
        Boundary {
            workspace: place("fleet/w1"),
            own: vec![place("fleet/runs/r1"), place("home/.agent")],
            foreign: vec![place("checkout"), place("fleet")],
            open: (trust != Trust::Full).then(|| vec![place("tmp")]),
            calls: VecDeque::new(),
        }
    }

    fn call(name: &str, file: &str) -> AgentEvent {
        let (id, name, files) = ("1".to_owned(), name.to_owned(), vec![file.to_owned()]);
        AgentEvent::ToolCall { id, name, summary: String::new(), files }
    }

    fn result(ok: bool) -> AgentEvent {
        AgentEvent::ToolResult { id: "1".to_owned(), ok, summary: String::new(), files: Vec::new() }
    }

    fn writes(boundary: &mut Boundary, file: &str) -> Option<String> {
        assert_eq!(boundary.step_outside(&call("Write", file)), None, "nothing is written yet");
        boundary.step_outside(&result(true))
    }

    #[test]
    fn what_is_written_outside_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        std::fs::create_dir_all(dir.path().join("fleet/w1")).unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("fleet/w1/link")).unwrap();
        let inside = ["a.rs".to_owned(), path("fleet/w1/new/b.rs"), "link/fleet/w1/c".to_owned()];
        let own = [path("home/.agent/plans/p.md"), path("fleet/runs/r1/x")];
        let others = [
            path("fleet/w2/a.rs"),
            path("checkout/a.rs"),
            "../w2/a.rs".to_owned(),
            "link/x/../checkout/a".to_owned(),
        ];
        let elsewhere = [path("home/notes"), "link/etc".to_owned()];
        for (trust, is_held) in [(Trust::ReadOnly, true), (Trust::Sandbox, true), (Trust::Full, false)] {
            let mut boundary = boundary(dir.path(), trust);
            for file in inside.iter().chain(&own).chain([&path("tmp/x")]) {
                assert_eq!(writes(&mut boundary, file), None, "{file}");
            }
            for file in &others {
                let told = writes(&mut boundary, file).unwrap_or_else(|| panic!("{file} is not its own"));
                assert!(told.ends_with("which is outside its workspace"), "{told}");
            }
            for file in &elsewhere {
                assert_eq!(writes(&mut boundary, file).is_some(), is_held, "{trust:?} {file}");
            }
        }
    }

    #[test]
    fn what_is_read_or_refused_is_no_step_outside() {
        let dir = tempfile::tempdir().unwrap();
        let (mut boundary, file) = (boundary(dir.path(), Trust::Sandbox), dir.path().join("fleet/w2/a"));
        let file = file.display().to_string();
        boundary.step_outside(&call("Read", &file));
        assert_eq!(boundary.step_outside(&result(true)), None);
        boundary.step_outside(&call("edit", &file));
        assert_eq!(boundary.step_outside(&result(false)), None);
        assert_eq!(boundary.step_outside(&result(true)), None, "that call is over");
        for _ in 0..10 * MAX_CALLS {
            boundary.step_outside(&call("edit", &file));
        }
        assert_eq!(boundary.calls.len(), MAX_CALLS);
    }

    #[test]
    fn the_directory_of_another_run_is_seen_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut boundary = boundary(dir.path(), Trust::Full);
        let mut works_in = |name: &str| {
            let directory = dir.path().join(name).display().to_string();
            boundary.step_outside(&AgentEvent::WorksIn { directory })
        };
        assert_eq!((works_in("fleet/w1"), works_in("fleet/w1/sub")), (None, None));
        assert!(works_in("fleet/w2").unwrap().ends_with("fleet/w2, which is not its workspace"));
        assert!(works_in("fleet/w10").is_some());
    }
}
