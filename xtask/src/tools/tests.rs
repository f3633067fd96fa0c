//! What is done about missing tools, without installing any.

use super::*;

const CONTAINER: BuildMachine = BuildMachine { debian: true, root: true, rustup: true };
const LAPTOP: BuildMachine = BuildMachine { debian: true, root: false, rustup: true };
const MAC: BuildMachine = BuildMachine { debian: false, root: false, rustup: true };

fn without(names: &[&str]) -> Vec<&'static RequiredTool> {
    TOOLS.iter().filter(|tool| names.contains(&tool.name)).collect()
}

fn told(names: &[&str], machine: BuildMachine) -> String {
    match plan(&without(names), machine) {
        InstallPlan::Tell(text) => text,
        other => panic!("expected advice, not {other:?}"),
    }
}

#[test]
fn a_program_is_found_only_where_path_leads() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("git"), "").unwrap();
    fs::create_dir(dir.path().join("cc")).unwrap();
    let path = env::join_paths([Path::new("/nowhere"), dir.path()]).unwrap();
    assert!(on_path("git", &path));
    assert!(!on_path("cc", &path), "a directory is no program");
    assert!(!on_path("git", OsStr::new("")));
}

#[test]
fn missing_is_what_is_not_found() {
    let names: Vec<_> =
        missing(|find| matches!(find, Find::OnPath("git"))).iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["a C compiler", "the PostgreSQL server", "rustfmt", "clippy"]);
    assert!(missing(|_| true).is_empty());
}

#[test]
fn with_everything_there_nothing_is_done() {
    assert_eq!(plan(&[], MAC), InstallPlan::Nothing);
}

#[test]
fn root_on_debian_installs() {
    let tools = without(&["git", "the PostgreSQL server", "clippy"]);
    let expected = InstallPlan::Install { packages: vec!["git", "postgresql"], components: vec!["clippy"] };
    assert_eq!(plan(&tools, CONTAINER), expected);
}

#[test]
fn components_need_no_root() {
    let expected = InstallPlan::Install { packages: vec![], components: vec!["rustfmt", "clippy"] };
    assert_eq!(plan(&without(&["rustfmt", "clippy"]), MAC), expected);
}

#[test]
fn others_are_told_the_commands() {
    assert_eq!(
        told(&["git", "the PostgreSQL server", "rustfmt"], LAPTOP),
        "missing: git, the PostgreSQL server, rustfmt. Install with:\n  sudo apt-get install git postgresql\n  \
         rustup component add rustfmt"
    );
    assert_eq!(
        told(&["the PostgreSQL server"], MAC),
        "missing: the PostgreSQL server. Install with:\n  brew install postgresql@17    (macOS; elsewhere what Debian \
         calls postgresql, for the PostgreSQL server)"
    );
    let without_rustup = BuildMachine { rustup: false, ..CONTAINER };
    assert_eq!(
        told(&["clippy"], without_rustup),
        "missing: clippy. Install with:\n  rustup component add clippy"
    );
}

#[test]
fn the_servers_own_cluster_is_forbidden_before_it_is_installed() {
    let install = |packages: &[&'static str]| {
        RootAction::Apt([&["install", "--yes", "--no-install-recommends"], packages].concat())
    };
    let update = || RootAction::Apt(vec!["update"]);
    assert_eq!(
        actions(&["git", "postgresql"]),
        [
            update(),
            install(&["postgresql-common"]),
            RootAction::NoMainCluster,
            install(&["git", "postgresql"])
        ]
    );
    assert_eq!(actions(&["git"]), [update(), install(&["git"])]);
    assert_eq!(actions(&[]), []);
}

#[test]
fn other_settings_of_clusters_stay() {
    let settings = "# a comment\n#create_main_cluster = true\ncreate_main_cluster = true\nssl = on\n";
    let expected = "# a comment\n#create_main_cluster = true\nssl = on\ncreate_main_cluster = false\n";
    assert_eq!(without_main_cluster(settings), expected);
    assert_eq!(without_main_cluster(expected), expected, "twice is as good as once");
}
