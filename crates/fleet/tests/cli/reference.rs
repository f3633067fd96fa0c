//! The help of every command, as one page that is reviewed as a whole.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::support::fleet;

/// Runs with `--help`, and again for each command that this help names.
fn walk(path: &[&str], pages: &mut String) {
    let mut arguments = path.to_vec();
    arguments.push("--help");
    let page = fleet().env("COLUMNS", "100").ok(&arguments);
    let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
    let text = once(&lines.join("\n"), path.is_empty());
    let title = ["fleet"].iter().chain(path).copied().collect::<Vec<_>>().join(" ");
    writeln!(pages, "\n───── {title}\n\n{}", text.trim_end()).unwrap();
    for name in commands(&page) {
        let mut deeper = path.to_vec();
        deeper.push(name);
        walk(&deeper, pages);
    }
}

/// The options of every command are shown once; whether they are everywhere is checked instead.
fn once(page: &str, is_first: bool) -> String {
    const FIRST: &str = "Global options:\n      --json\n";
    const LAST: &str = "- never:  Never";
    let (start, end) = (page.find(FIRST), page.find(LAST));
    let (start, end) = start.zip(end).unwrap_or_else(|| panic!("without the common options: {page}"));
    if is_first {
        return page.to_owned();
    }
    format!("{}(and the global options){}", &page[..start], &page[end + LAST.len()..])
}

/// The names of commands in a help text: in one section, or in groups.
fn commands(page: &str) -> Vec<&str> {
    page.lines()
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| name.starts_with(|c: char| c.is_ascii_lowercase()) && *name != "help")
        .collect()
}

#[test]
fn the_help_of_every_command() {
    let mut pages = String::new();
    walk(&[], &mut pages);
    insta::assert_snapshot!("reference", pages);
    let documented: BTreeSet<String> =
        pages.lines().filter_map(|line| line.strip_prefix("───── ")).map(ToOwned::to_owned).collect();
    // `cmd="fleet__subcmd__task__subcmd__add"` in the script for bash stands for one command.
    let script = fleet().ok(&["completions", "bash"]);
    let completed = script.lines().filter_map(|line| {
        let path = line.trim().strip_prefix("cmd=\"fleet")?.strip_suffix('"')?;
        Some(format!("fleet{}", path.replace("__subcmd__", " ")))
    });
    let completed: BTreeSet<String> = completed.filter(|path| !path.contains(" help")).collect();
    assert_eq!(documented, completed, "the page has every command that shells complete");
}
