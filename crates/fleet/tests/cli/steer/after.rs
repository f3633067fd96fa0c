//! Tasks that start from the work of others, as the README shows it.

use super::Yard;

#[test]
fn the_documentation_of_the_parser_sees_the_parser() {
    let yard = Yard::new();
    let add = |args: &[&str]| yard.fleet.run(&[&["task", "add"], args].concat());
    let first = yard.add("parser", "write src/parser/lexer.rs x");
    let document = "```demo\nappend src/parser/lexer.rs docs\n```";
    let second = add(&["-q", "Document the parser", "--after", &first, "--agent", "demo", "-d", document]);
    assert_eq!((second.code, second.stderr.as_str()), (0, ""), "{second:?}");
    let second = second.stdout.trim_end();
    let apart = add(&["Apart", "--after", &format!("{first},{second}"), "--base", "HEAD", "--agent", "demo"]);
    assert!(apart.stderr.contains("note: it starts from HEAD, as `--base` says"), "{apart:?}");
    let shown = yard.fleet.ok(&["task", "show", second]);
    assert!(shown.contains("starts from  parser\n"), "{shown}");
    yard.finish_all();
    let branch = format!("fleet/{second}");
    assert_eq!(yard.file(&branch, "src/parser/lexer.rs"), "x\ndocs");
    let diff = yard.fleet.ok(&["diff", second]);
    assert!(diff.contains("+docs") && !diff.contains("+x"), "only its own work: {diff}");
    let shown = yard.fleet.json(&["show", second]);
    assert_eq!(shown["base"].as_str(), yard.tip("parser").as_deref());
    assert_eq!(shown["starts_from"], serde_json::json!(["parser"]));
    let next = shown["next"].to_string();
    assert!(
        next.contains(&format!("`git merge {branch}` merges it, with the work that it starts from")),
        "{next}"
    );
    let conflicts = yard.fleet.ok(&["conflicts"]);
    assert!(conflicts.starts_with("no conflicts"), "one is on top of the other: {conflicts}");
    let apart = yard.fleet.json(&["task", "list", "--all"]);
    let apart = apart["tasks"].as_array().unwrap().iter().find(|task| task["title"] == "Apart").unwrap();
    assert_eq!(apart["state"], "done");
    let files =
        yard.repo.git(&["ls-tree", "-r", "--name-only", &format!("fleet/{}", apart["id"].as_str().unwrap())]);
    assert!(!files.contains("lexer.rs"), "{files}");
}
