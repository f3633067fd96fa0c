//! The command line: start-up, memory, and a durable write.

use std::path::Path;
use std::process::{Command, Stdio};

use fleet_store::{Store, StoreUrl, ops};
use fleet_testkit::repo::Repo;

use crate::report::{Goal, ReportRow};
use crate::timing::in_turn;
use crate::{BenchSetting, memory, seed};

const ROUNDS: usize = 101;

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    let repo = Repo::init();
    let homes = tempfile::tempdir().expect("a folder");
    let (thousand, empty) = (homes.path().join("thousand"), homes.path().join("empty"));
    let fleet = |home: &Path, arguments: &[&str]| {
        let mut command = Command::new(&setting.fleet);
        command
            .args(arguments)
            .current_dir(repo.path())
            .env("FLEET_HOME", home)
            .env("FLEET_AUTOSTART", "false");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    fill(&thousand, &mut fleet(&thousand, &["task", "add", "first"]));
    let git = || {
        let mut command = Command::new("git");
        command.args(["rev-parse", "HEAD"]).current_dir(repo.path()).stdout(Stdio::null());
        command
    };
    let quiet = |mut command: Command| assert!(command.status().expect("it starts").success());
    let list_arguments = ["task", "list"];
    let [list, revision] =
        in_turn(ROUNDS, [Box::new(|| quiet(fleet(&thousand, &list_arguments))), Box::new(|| quiet(git()))]);
    // An add makes the store grow; so little that the list beside it still counts as that of an empty one.
    quiet(fleet(&empty, &["task", "list"]));
    let done = homes.path().join("written");
    let [add, empty_list] = in_turn(
        ROUNDS,
        [
            Box::new(|| quiet(fleet(&done, &["task", "add", "hello"]))),
            Box::new(|| quiet(fleet(&empty, &["task", "list"]))),
        ],
    );
    let peak = memory::peak_mib(&fleet(&thousand, &list_arguments));
    vec![
        ReportRow::new(
            "`fleet task list`, 1,000 tasks",
            (list, "ms"),
            (revision, "ms `git rev-parse HEAD`"),
            Goal::AtMost(3.0),
        ),
        ReportRow::new("its peak memory", (peak, "MiB"), (15.0, "MiB (fixed bound)"), Goal::AtMost(1.0)),
        ReportRow::new(
            "`fleet task add`, durable",
            (add, "ms"),
            (empty_list, "ms `fleet task list`, empty store"),
            Goal::AtMost(2.0),
        ),
    ]
}

/// A store with a thousand tasks of the repository that `first` adds a task to.
fn fill(home: &Path, first: &mut Command) {
    assert!(first.status().expect("it starts").success());
    let path = home.join("fleet.db");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let project = runtime.block_on(async {
        let store = Store::open(&StoreUrl::Sqlite(path.clone())).await.expect("a store");
        let all = store.call(ops::ListProjects { place: String::new() }).await.expect("projects");
        all[0].id
    });
    seed::fill_sqlite(&path, project, 1_000);
}
