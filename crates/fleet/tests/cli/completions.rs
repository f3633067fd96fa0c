//! What is printed for shells and readers of manuals.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use fleet_testkit::fleet::Fleet;

use super::support::{World, fleet, has, has_shell, shell};

#[test]
fn completions_are_scripts_that_shells_can_read() {
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = fleet().ok(&["completions", name]);
        assert!(script.contains("all-projects") && script.contains("retry"), "{name}");
    }
    for name in ["bash", "zsh", "fish"] {
        if has_shell(name) {
            let line = format!("\"$FLEET\" completions {name} > script && {name} -n script");
            let output = shell(&fleet(), &line);
            assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{name}");
        }
    }
}

#[test]
fn bash_completes_a_command() {
    let line = "source <(\"$FLEET\" completions bash); COMP_WORDS=(fleet task re) COMP_CWORD=2
        _fleet fleet re task; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = shell(&fleet(), line);
    assert_eq!(output.stdout, "ready\nrelease\nretry\n", "{}", output.stderr);
}

/// A queue with a task on the branch `login-A`, and a `fleet` on the path that answers shells and only prints the rest.
struct AtAShell {
    fleet: Fleet,
    id: String,
}

impl AtAShell {
    fn new() -> (World, Self) {
        let world = World::sqlite();
        let own = world.fleet.env("FLEET_AUTOSTART", "false");
        let id = own.ok(&["task", "add", "-q", "Login", "--branch", "login-A", "--agent", "demo"]);
        let folder = own.user_home().join("bin");
        std::fs::create_dir(&folder).unwrap();
        let script = "case $1 in comple*) exec \"$FLEET\" \"$@\";; esac; echo \"did: $*\"";
        std::fs::write(folder.join("fleet"), format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(folder.join("fleet"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::join_paths(
            std::iter::once(folder).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        (world, Self { fleet: own.env("PATH", path.unwrap()), id: id.trim_end().to_owned() })
    }

    #[track_caller]
    fn types(&self, line: &str) -> String {
        let output = shell(&self.fleet, line);
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{}", output.stdout);
        output.stdout
    }
}

#[test]
fn names_are_completed_by_what_comes_before() {
    let (_world, user) = AtAShell::new();
    let asked = |line: &str| user.types(&format!("fleet complete-names -- {line}"));
    assert_eq!(asked("show").lines().collect::<BTreeSet<_>>(), BTreeSet::from([&user.id[10..], "login-A"]));
    assert!(asked("create x --agent").lines().any(|name| name == "demo"));
    assert_eq!(asked("config get"), "");
}

#[test]
fn bash_completes_names() {
    let (_world, user) = AtAShell::new();
    let line = "source <(fleet completions bash); COMP_WORDS=(fleet kill log) COMP_CWORD=2
        _fleet_with_names fleet log kill; printf '%s\\n' \"${COMPREPLY[@]}\"";
    assert_eq!(user.types(line), "login-A\n");
}

#[test]
fn bash_never_runs_what_a_name_holds() {
    let (_world, user) = AtAShell::new();
    user.fleet.ok(&[
        "task",
        "add",
        "x",
        "--branch",
        "log$(touch${IFS}pwned)`touch${IFS}pwned`",
        "--agent",
        "demo",
    ]);
    let line = "source <(fleet completions bash); COMP_WORDS=(fleet kill log) COMP_CWORD=2
        _fleet_with_names fleet log kill; eval \"printf '%s\\\\n' ${COMPREPLY[*]}\"; ls";
    let shown = user.types(line);
    assert!(shown.contains("log$(touch${IFS}pwned)`touch${IFS}pwned`"), "{shown}");
    assert!(!shown.lines().any(|file| file == "pwned"), "{shown}");
}

#[test]
fn fish_completes_commands_and_names() {
    if !has_shell("fish") {
        return;
    }
    let (_world, user) = AtAShell::new();
    let completed = |line: &str| {
        user.types("fleet completions fish > fleet.fish");
        let line = format!("fish --no-config -c 'source fleet.fish; complete -C \"{line}\"'");
        let offered = user.types(&line);
        offered.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(completed("fleet task re"), ["ready", "release", "retry"]);
    assert_eq!(completed("fleet kill log"), ["login-A"]);
    assert_eq!(completed("fleet kill login-A --zz"), Vec::<String>::new());
}

/// Types into a terminal: what the prompt waits for comes back before more is typed.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "fpath=($HOME/functions \$fpath); autoload -U compinit; compinit -u -d $HOME/dump; PS1='RE''ADY'"
zpty -r z seen '*READY*'
for line in 'fleet task rel' 'fleet kill log'; do
    zpty -w -n z "$line"$'\t\n'
    zpty -r z seen '*did: *READY*'
    print -r -- "did: ${${seen##*did: }%%$'\r'*}"
done
zpty -d z
"#;

#[test]
fn zsh_completes_commands_and_names() {
    if !has_shell("zsh") {
        return;
    }
    let (_world, user) = AtAShell::new();
    std::fs::write(user.fleet.user_home().join("type.zsh"), ZSH).unwrap();
    let line = "mkdir ~/functions; fleet completions zsh > ~/functions/_fleet; zsh -f ~/type.zsh";
    assert_eq!(user.types(line), "did: task release\ndid: kill login-A\n");
}

#[test]
fn manuals_are_for_every_command() {
    let fleet = fleet();
    let page = fleet.ok(&["man"]);
    assert!(page.contains(".TH fleet 1") && page.contains("SUBCOMMANDS"), "{page}");
    if has("man") {
        let output = shell(&fleet, "\"$FLEET\" man > page.1 && man --warnings -l page.1 2>&1 > /dev/null");
        assert_eq!(output.code, 0, "{}", output.stdout);
    }
    let refused = fleet.fail(1, &["man", "--dir", "/dev/null/man1"]).stderr;
    assert!(refused.contains("/dev/null/man1"), "{refused}");
    fleet.ok(&["man", "--dir", "pages/man1"]);
    let written = std::fs::read_dir(fleet.user_home().join("pages/man1")).unwrap();
    let names: BTreeSet<String> =
        written.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    for name in ["fleet.1", "fleet-task.1", "fleet-task-dep-add.1", "fleet-config-edit.1"] {
        assert!(names.contains(name), "{name} is missing: {names:?}");
    }
}

#[test]
fn every_code_is_explained_and_has_an_exit_code() {
    let fleet = fleet();
    let table = include_str!("../../../../docs/exit-codes.md");
    let codes = fleet.json(&["explain"])["codes"].clone();
    let listed = fleet.ok(&["explain"]);
    for code in codes.as_array().unwrap() {
        let name = code["code"].as_str().unwrap();
        assert!(listed.lines().any(|line| line.starts_with(name)), "{name} is listed");
        let page = fleet.ok(&["explain", name]);
        assert!(page.starts_with(&format!("# {name}\n")) && page.contains("## What to do"), "{page}");
        assert!(table.contains(&format!("`{name}`")), "docs/exit-codes.md does not name {name}");
    }
}

#[test]
fn the_short_name_is_the_same_program() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("flt");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fleet"), &link).unwrap();
    let short = Fleet::new(link);
    assert_eq!(short.ok(&["--version"]), fleet().ok(&["--version"]));
    let help = short.ok(&["task", "--help"]).replace("Usage: flt", "Usage: fleet");
    assert_eq!(help, fleet().ok(&["task", "--help"]));
    let version = format!("fleet {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(fleet().ok(&["--version"]), version);
}
