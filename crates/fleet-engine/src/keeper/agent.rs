//! Starting the agent: its prompt, its environment, its process.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Component, PathBuf};

use fleet_agents::{Brief, LaunchPlan, Program, PromptVia};
use fleet_core::run::Reason;
use fleet_host::process::{
    self, Group, Identity, Inside, Launch, LaunchError, ProcessTree, Started, StdinFrom, TerminalStarted,
};
use tokio::task::JoinHandle;

use super::prepare::PreparedRun;
use super::{Keeper, blocking};
use crate::agent_env::{AgentEnv, agent_environment};
use crate::config::{AgentVariables, Secret};
use crate::environment::Environment;
use crate::home::{RunFolder, create_private, make_private, write_beside_agent, write_passing};
use crate::problems::chain;
use crate::terminal::first_size;

/// An agent that was started.
pub(super) enum StartedAgent {
    Piped(Started),
    InTerminal(TerminalStarted),
}

impl StartedAgent {
    pub(super) const fn identity(&self) -> &Identity {
        match self {
            Self::Piped(started) => &started.identity,
            Self::InTerminal(started) => &started.identity,
        }
    }
}

pub(super) type NotStarted = (Reason, String);

impl Keeper<'_> {
    pub(super) fn start(
        &self,
        plan: &LaunchPlan,
        brief: &Brief<'_>,
        prepared: &PreparedRun,
        group: LaunchGroup,
    ) -> Result<(StartedAgent, ProcessTree), NotStarted> {
        let failed = |why: String| (Reason::SetupFailed, why);
        let file = self.folder.prompt();
        write_passing(&file, brief.prompt.as_bytes())
            .map_err(|error| failed(format!("the prompt: {error}")))?;
        write_files(&self.folder, plan).map_err(|error| failed(format!("the agent's settings: {error}")))?;
        let launch = Launch {
            program: self.program(&plan.program)?,
            args: plan.args.iter().map(OsString::from).collect(),
            env: self.environment(prepared, Some(plan)),
            cwd: prepared.workspace.path().to_owned(),
            stdin: match plan.prompt {
                PromptVia::Stdin => StdinFrom::File(file),
                PromptVia::File | PromptVia::Terminal => StdinFrom::Null,
                PromptVia::Dialogue => StdinFrom::Pipe,
            },
        };
        let started = match plan.prompt {
            PromptVia::Terminal => {
                process::launch_in_terminal(&launch, first_size()).map(StartedAgent::InTerminal)
            }
            _ => process::launch(&launch).map(StartedAgent::Piped),
        };
        let started = started.map_err(|error| not_launched(&error))?;
        let tree = group.leave(started.identity().clone());
        Ok((started, tree))
    }

    fn program(&self, program: &Program) -> Result<PathBuf, NotStarted> {
        match program {
            Program::This => {
                Environment::this_binary().map_err(|problem| (Reason::SetupFailed, problem.to_string()))
            }
            Program::OnPath(name) => self.engine.environment().find_program(name).ok_or_else(|| {
                (Reason::AgentMissing, format!("`{name}` is not on the PATH of the runner: install it"))
            }),
        }
    }

    /// Makes the control group in which the agent is started, in the background.
    pub(super) fn launch_group(&self) -> JoinHandle<LaunchGroup> {
        let (tree, folder, run) = (self.tree(self.me.clone()), self.folder.clone(), self.run.id.to_string());
        tokio::task::spawn_blocking(move || LaunchGroup::new(tree, &folder, &run))
    }

    /// Ends what set-up commands left running, when there is no agent with which it would end.
    pub(super) async fn end_processes(&self) {
        let (tree, sequence) = (self.tree(self.me.clone()), self.stop_sequence());
        let _ = blocking(move || tree.stop(&sequence, &mut || drop(process::reap()))).await;
    }

    /// The processes of this run, by the mark that they inherit.
    pub(super) fn tree(&self, root: Identity) -> ProcessTree {
        let marker = ("FLEET_RUN".to_owned(), self.run.id.to_string());
        ProcessTree { root, marker, keeper: Some(self.me.clone()), group: None }
    }

    /// What the agent, or with no plan a set-up command or a check, sees of the world. The agent does not learn where
    /// the fleet and its store are. Commands see neither the door nor what is set for the agent: they run what the
    /// agent wrote, without the agent's rules.
    pub(super) fn environment(
        &self,
        prepared: &PreparedRun,
        plan: Option<&LaunchPlan>,
    ) -> Vec<(OsString, OsString)> {
        let mut run = self.run_variables(prepared);
        if plan.is_some_and(|plan| plan.prompt == PromptVia::Terminal) {
            // What the emulated terminal understands, whatever the runner was started in.
            run.push(("TERM", "xterm-256color".into()));
            run.push(("COLORTERM", "truecolor".into()));
        }
        // Only the agent speaks for the run.
        if plan.is_some() {
            run.extend(prepared.door.iter().map(|door| ("FLEET_DOOR", door.as_os_str().to_owned())));
        }
        let run: Vec<(String, OsString)> =
            run.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let variables = match plan {
            Some(_) => self.config.variables_for(&self.run.agent),
            None => AgentVariables { pass: self.config.workspaces().pass_env.clone(), ..Default::default() },
        };
        let rules = AgentEnv {
            vendor: plan.map_or(&[][..], |plan| &plan.pass_env),
            pass: &variables.pass,
            adapter: plan.map_or(&[][..], |plan| &plan.env),
            set: &variables.set,
            run: &run,
        };
        agent_environment(self.engine.environment(), &rules)
    }

    /// What everything in the workspace may know about its run.
    fn run_variables(&self, prepared: &PreparedRun) -> Vec<(&'static str, OsString)> {
        let mut run: Vec<(&str, OsString)> = vec![
            ("FLEET_RUN", self.run.id.to_string().into()),
            ("FLEET_TASK", self.task.id.to_string().into()),
            ("FLEET_PROJECT", self.project.common_dir.clone().into()),
            ("FLEET_BRANCH", prepared.workspace.branch().into()),
            ("FLEET_BASE", prepared.base.to_string().into()),
            ("FLEET_WORKSPACE", prepared.workspace.path().as_os_str().to_owned()),
        ];
        if let Ok(binary) = Environment::this_binary() {
            run.push(("FLEET_BIN", binary.into_os_string()));
        }
        if let Some(ports) = &prepared.ports {
            run.push(("FLEET_PORT", ports.first.to_string().into()));
            run.push(("FLEET_PORT_COUNT", ports.count.to_string().into()));
        }
        if let Some(batch) = &self.task.spec.batch {
            run.push(("FLEET_BATCH", batch.to_string().into()));
        }
        run
    }

    /// What must not appear in logs: the values that the user set for the agent, and the password of the store, which is
    /// in a file that an agent may be able to read.
    pub(super) fn secrets(&self) -> Vec<Vec<u8>> {
        let variables = self.config.variables_for(&self.run.agent);
        let values = variables.set.values().map(Secret::revealed);
        let store = self.engine.environment().get_os("FLEET_STORE").and_then(OsStr::to_str);
        let passwords = [store, Some(self.config.store())].into_iter().flatten().flat_map(passwords);
        let all = values.chain(passwords).chain(self.terms.secrets());
        all.map(|secret| secret.as_bytes().to_vec()).collect()
    }
}

fn not_launched(error: &LaunchError) -> NotStarted {
    let is_missing = matches!(
        error,
        LaunchError::NotFound { .. } | LaunchError::NoInterpreter { .. } | LaunchError::NotExecutable { .. }
    );
    let reason = if is_missing { Reason::AgentMissing } else { Reason::SetupFailed };
    (reason, chain(error))
}

/// The control group of a run. Its keeper is in it until the agent is started; without an agent the group is removed.
pub(super) struct LaunchGroup {
    tree: ProcessTree,
    note: TreeNote,
    inside: Option<Inside>,
    has_agent: bool,
}

impl LaunchGroup {
    fn new(tree: ProcessTree, folder: &RunFolder, run: &str) -> Self {
        let tree = ProcessTree { group: Group::create(run), ..tree };
        // Noted before there is anything to find: a repair looks in the group.
        let note = TreeNote::write(folder, &tree);
        let inside = tree.group.as_ref().map(Group::enter).filter(Inside::has_entered);
        let mut group = Self { tree, note, inside, has_agent: false };
        if group.inside.is_none() {
            group.forget();
        }
        group
    }

    /// A group that the agent is not in must not be relied on.
    fn forget(&mut self) {
        if let Some(group) = self.tree.group.take() {
            group.remove();
            self.note.change(&self.tree);
        }
    }

    /// The agent is there, and its keeper goes out.
    fn leave(mut self, agent: Identity) -> ProcessTree {
        self.has_agent = true;
        self.tree.root = agent;
        self.note.change(&self.tree);
        self.tree.clone()
    }
}

impl Drop for LaunchGroup {
    fn drop(&mut self) {
        self.inside = None;
        if !self.has_agent {
            // It is empty, and would never be looked at again.
            self.tree.group.as_ref().map(Group::remove);
        }
    }
}

/// Where a reconciler finds what to end. Without it the mark in the environment has to do: so it is not forced to the
/// disk, after whose loss of power there is nothing left to be ended.
struct TreeNote {
    file: Option<(File, usize)>,
}

impl TreeNote {
    fn write(folder: &RunFolder, tree: &ProcessTree) -> Self {
        let write = || -> std::io::Result<(File, usize)> {
            let (file, bytes) = (create_private(&folder.tree())?, serde_json::to_vec(tree)?);
            file.write_all_at(&bytes, 0)?;
            Ok((file, bytes.len()))
        };
        Self { file: write().ok() }
    }

    /// Replaces the note in place and in one write, so that a reader finds the old or the new one. Blanks cover a
    /// longer old one.
    fn change(&self, tree: &ProcessTree) {
        let (Some((file, length)), Ok(mut bytes)) = (&self.file, serde_json::to_vec(tree)) else { return };
        bytes.resize(bytes.len().max(*length), b' ');
        let _ = file.write_all_at(&bytes, 0);
    }
}

/// Writes the settings of one run where only its agent looks.
fn write_files(folder: &RunFolder, plan: &LaunchPlan) -> std::io::Result<()> {
    let scratch = folder.scratch();
    let name = scratch.to_string_lossy();
    let mut words = plan.args.iter().chain(plan.env.iter().map(|(_, value)| value));
    // An agent that has not heard of the folder does not need one.
    if words.any(|word| word.contains(&*name)) {
        make_private(&scratch)?;
    }
    for file in &plan.files {
        let is_inside = file.path.starts_with(&scratch)
            && file.path.components().all(|part| part != Component::ParentDir);
        if !is_inside {
            return Err(std::io::Error::other("a file outside of the run's own folder"));
        }
        if let (Some(parent), Some(name)) =
            (file.path.parent(), file.path.file_name().and_then(OsStr::to_str))
        {
            write_beside_agent(parent, name, file.content.as_bytes())?;
        }
    }
    Ok(())
}

/// What is secret in the address of a store: its password, and the whole of an address with one in its query.
fn passwords(address: &str) -> Vec<&str> {
    let Some((_, rest)) = address.split_once("://") else { return Vec::new() };
    let credentials = rest.rsplit_once('@').map(|(credentials, _)| credentials);
    let password =
        credentials.and_then(|credentials| credentials.split_once(':')).map(|(_, password)| password);
    let whole = rest.contains("password=").then_some(address);
    password.into_iter().chain(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_of_a_store_is_a_secret() {
        assert_eq!(passwords("postgres://me:pass:w@rd@host/db"), ["pass:w@rd"]);
        let in_query = "postgres://host/db?password=long-secret";
        assert_eq!(passwords(in_query), [in_query]);
        for none in ["sqlite", "sqlite:/a:b@c", "postgres://me@host/db", "postgres:///db"] {
            assert_eq!(passwords(none), [""; 0], "{none}");
        }
    }
}
