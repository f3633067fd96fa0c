//! What is printed for shells and readers of manuals.

use std::collections::BTreeSet;

use fleet_testkit::fleet::Fleet;

use super::support::{fleet, has, shell};

#[test]
fn completions_are_scripts_that_shells_can_read() {
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = fleet().ok(&["completions", name]);
        assert!(script.contains("all-projects") && script.contains("retry"), "{name}");
    }
    for name in ["bash", "zsh", "fish"] {
        if has(name) {
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
