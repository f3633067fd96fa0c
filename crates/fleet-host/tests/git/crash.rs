//! Processes that are killed in the middle of their work.

use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fleet_testkit::wait_until;

use crate::sandbox::{Sandbox, git};
use crate::support::{
    Run, commit_left, everything, fresh, is_clean, oid, opened, project, request, text, write,
};
use fleet_host::git::{
    Area, Checkout, SlotState, TakeSnapshot, Workspace, WorkspaceError, list_snapshots, take_snapshot,
};

const PATIENCE: Duration = Duration::from_mins(1);

/// This program once more, to do one thing in a process of its own.
pub(crate) struct Other(Command);

pub(crate) fn child(deed: &str, arguments: &[&str]) -> Other {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "crash::another_process", "--nocapture"]);
    command.env("FLEET_TEST_DEED", deed).env("FLEET_TEST_ARGUMENTS", arguments.join("\n"));
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    command.stdin(Stdio::null()).stdout(Stdio::null());
    Other(command)
}

impl Other {
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.0.env(name, value);
        self
    }

    #[track_caller]
    pub(crate) fn run(mut self) {
        assert!(self.0.status().unwrap().success());
    }

    pub(crate) fn spawn(mut self) -> Child {
        self.0.spawn().unwrap()
    }
}

/// What the other process does; nothing when the tests are run as a whole.
#[test]
#[ignore = "run by other tests, as a process of its own"]
fn another_process() {
    let Ok(deed) = env::var("FLEET_TEST_DEED") else { return };
    let arguments = env::var("FLEET_TEST_ARGUMENTS").unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    match (deed.as_str(), arguments.as_slice()) {
        ("commit", [work_tree, git_dir, common_dir]) => {
            let [work_tree, git_dir, common_dir] = [work_tree, git_dir, common_dir].map(PathBuf::from);
            let checkout = Checkout { work_tree, git_dir, common_dir };
            assert!(commit_left(&checkout).commit.is_some());
        }
        ("open", [repo, home, owner]) => {
            let area = area_of(repo, home);
            let workspace = opened(&area, owner, &format!("b/{owner}"));
            assert!(is_clean(workspace.path()));
            write(workspace.path(), "mine", owner);
            fs::write(area.dir.join(format!("{owner}.ready")), workspace.path().to_str().unwrap()).unwrap();
            loop {
                std::thread::park();
            }
        }
        ("submodules", [repo, home]) => crate::workspace_kinds::with_submodules(repo, home),
        ("agent-submodules", [repo, home]) => crate::agent_repo::with_submodules(repo, home),
        ("warm", [repo, home]) => crate::untouched::without_git(&area_of(repo, home)),
        ("publish", [repo, vault, commit, base]) => {
            crate::publish_odd::in_another_process(repo, vault, commit, base);
        }
        ("cycle", [repo, home, prefix]) => cycle(&area_of(repo, home), prefix),
        other => panic!("no such deed: {other:?}"),
    }
}

fn area_of(repo: &str, home: &str) -> Area {
    Area { pool: 2, ..crate::support::area_of(Path::new(repo), Path::new(home)) }
}

/// Opens, works, keeps and releases for ever, and notes each step that must not be forgotten.
fn cycle(area: &Area, prefix: &str) {
    for number in 0.. {
        let owner = format!("{prefix}-{number}");
        let workspace = opened(area, &owner, &format!("b/{owner}"));
        assert!(!workspace.path().join("mine").exists(), "a file of an earlier run");
        write(workspace.path(), "mine", &owner);
        // From here on the file must be found somewhere, whatever happens.
        fs::write(area.dir.join(format!("{owner}.worked")), "").unwrap();
        keep(&workspace, &owner);
        workspace.release().unwrap();
    }
}

/// Keeps what is in a workspace, as at the end of a run.
fn keep(workspace: &Workspace, owner: &str) {
    let (collected, checkout) = (workspace.collect().unwrap(), workspace.checkout().unwrap());
    assert_eq!(collected.unread, None);
    let staged = collected.staged.as_ref();
    take_snapshot(&TakeSnapshot { run: owner, staged, ..request(&checkout) }).unwrap();
}

/// Ends a process of ours at once.
fn kill(mut child: Child) {
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

#[test]
fn processes_get_workspaces_of_their_own() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let (dir, home) = (repo.join(".git"), sandbox.folder("home"));
    let (dir, home) = (dir.to_str().unwrap(), home.to_str().unwrap());
    let owners: Vec<_> = (0..8).map(|number| format!("r{number}")).collect();
    let children: Vec<_> = owners.iter().map(|owner| child("open", &[dir, home, owner]).spawn()).collect();
    let area = area_of(dir, home);
    let ready = |owner: &String| {
        fs::read_to_string(area.dir.join(format!("{owner}.ready"))).ok().filter(|path| !path.is_empty())
    };
    wait_until(PATIENCE, "eight workspaces", || owners.iter().all(|owner| ready(owner).is_some()));
    let mut paths: Vec<_> = owners.iter().filter_map(ready).collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 8);
    assert!(area.slots().unwrap().iter().all(|slot| slot.live));
    assert!(matches!(area.adopt("r3"), Err(WorkspaceError::InUse { .. })));
    children.into_iter().for_each(kill);

    assert!(area.slots().unwrap().iter().all(|slot| !slot.live && slot.state != SlotState::Free));
    for owner in &owners {
        let adopted = area.adopt(owner).unwrap().unwrap();
        assert_eq!(fs::read_to_string(adopted.path().join("mine")).unwrap(), *owner);
        adopted.release().unwrap();
    }
    assert_eq!(area.slots().unwrap().len(), 2);
}

#[test]
fn killed_at_any_moment_nothing_is_lost_and_nothing_is_stuck() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    for number in 0..200 {
        write(&repo, &format!("many/{number}"), "x");
    }
    git(&repo, &["-c", "core.hooksPath=/dev/null", "add", "--all"]);
    git(&repo, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message=many"]);
    let (dir, home) = (repo.join(".git"), sandbox.folder("home"));
    let (dir, home) = (dir.to_str().unwrap(), home.to_str().unwrap());
    let area = area_of(dir, home);
    let files = everything(&repo);
    for round in 0_u64..12 {
        let running = child("cycle", &[dir, home, &format!("c{round}")]).spawn();
        let begun = || area.slots().is_ok_and(|slots| slots.iter().any(|slot| slot.state != SlotState::Free));
        wait_until(PATIENCE, "a first claim", begun);
        // Not a wait for anything: another moment in every round is the point.
        std::thread::sleep(Duration::from_millis(round * 7));
        kill(running);
        recover(&area);
        let next = opened(&area, "next", &format!("next/{round}"));
        assert_eq!(everything(next.path()), files);
        next.release().unwrap();
        assert!(area.slots().unwrap().iter().all(|slot| slot.state == SlotState::Free));
    }
    let notes =
        fs::read_dir(&area.dir).unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    let worked: Vec<_> = notes.filter_map(|name| name.strip_suffix(".worked").map(str::to_owned)).collect();
    assert!(!worked.is_empty());
    for owner in worked {
        let kept = list_snapshots(&area.vault, Some(&owner)).unwrap();
        let last = kept.last().unwrap_or_else(|| panic!("the work of {owner} is lost"));
        assert_eq!(text(&area.vault, &["cat-file", "blob", &format!("{}:mine", last.commit)]), owner);
    }
    for dir in [&area.repo, &area.vault] {
        text(dir, &["fsck", "--strict"]);
    }
}

/// What a reconciler does for every claim of a dead process.
fn recover(area: &Area) {
    for slot in area.slots().unwrap() {
        let SlotState::Claimed { owner, .. } = slot.state else { continue };
        let mut adopted = None;
        // A git that the dead process had started may go on for a moment.
        wait_until(PATIENCE, "the slot of the dead", || {
            let answer = area.adopt(&owner);
            let in_use = matches!(answer, Err(WorkspaceError::InUse { .. }));
            adopted = Some(answer);
            !in_use
        });
        if let Some(workspace) = adopted.unwrap().unwrap() {
            keep(&workspace, &owner);
            workspace.release().unwrap();
        }
    }
}

#[test]
fn a_git_that_outlives_its_master_keeps_the_slot() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    // A filter that waits: the checkout stops in the middle until the gate is opened.
    let (gate, reached) = (sandbox.path("gate"), sandbox.path("reached"));
    let script = sandbox.path("wait.sh");
    let (gate_text, reached_text) = (gate.display(), reached.display());
    fs::write(
        &script,
        format!("touch '{reached_text}'\nwhile [ ! -e '{gate_text}' ]; do sleep 0.02; done\ncat\n"),
    )
    .unwrap();
    write(&repo, ".gitattributes", "slow filter=slow\n");
    write(&repo, "slow", "x\n");
    let no_hooks = |args: &[&str]| git(&repo, &[&["-c", "core.hooksPath=/dev/null"], args].concat());
    no_hooks(&["add", "--all"]);
    no_hooks(&["commit", "--quiet", "--message=slow"]);
    git(&repo, &["config", "filter.slow.smudge", &format!("sh '{}'", script.display())]);

    let (dir, home) = (repo.join(".git"), sandbox.folder("home"));
    let (dir, home) = (dir.to_str().unwrap(), home.to_str().unwrap());
    let running = child("open", &[dir, home, "r1"]).spawn();
    wait_until(PATIENCE, "the checkout to be in the middle", || reached.exists());
    kill(running);
    let area = area_of(dir, home);
    assert!(matches!(area.adopt("r1"), Err(WorkspaceError::InUse { .. })));
    assert!(area.slots().unwrap()[0].live);
    fs::write(&gate, "").unwrap();
    wait_until(PATIENCE, "git to end", || area.slots().unwrap().iter().all(|slot| !slot.live));
    // No agent has been there: nothing to take over, and half a checkout must not pass for work.
    assert!(area.adopt("r1").unwrap().is_none());
    assert!(area.slots().unwrap().iter().all(|slot| slot.state == SlotState::Free));
    let again = area.open(&fresh(&area, "r2", "b/r1")).unwrap();
    assert_eq!(text(again.path(), &["rev-parse", "HEAD"]), oid(&repo, "main").to_string());
    assert_eq!(everything(again.path()), everything(&repo));
}

#[test]
fn a_killed_snapshot_leaves_nothing_in_the_way() {
    let run = Run::new();
    let checkout = run.checkout();
    // What a process that was killed in the middle leaves, by our own number.
    for number in 0..100 {
        for purpose in ["index", "paths", "part"] {
            write(&checkout.git_dir, &format!("fleet-{purpose}-{}-{number}", std::process::id()), "old");
            write(&checkout.git_dir, &format!("fleet-{purpose}-{}-{number}.lock", std::process::id()), "old");
        }
    }
    write(run.path(), "new", "x");
    let snapshot = run.taken();
    assert!(crate::support::names(run.vault(), &snapshot.tree).contains(&"new".to_owned()));
    run.workspace.release().unwrap();
    let left = fs::read_dir(&checkout.git_dir).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with("fleet-")));
}
