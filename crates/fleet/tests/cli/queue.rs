//! A newcomer's walk through the queue: the same words from both engines.

use std::fmt::Write as _;

use super::support::{World, timeless};

/// What was typed and what came, with names in the place of ids.
struct Transcript {
    text: String,
    names: Vec<(String, &'static str)>,
}

impl Transcript {
    /// Types a command whose ids are written as `{name}`.
    fn types(&mut self, world: &World, line: &str) {
        let arguments: Vec<String> = line.split(' ').map(|word| self.with_ids(word)).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = world.fleet.run(&arguments);
        writeln!(self.text, "$ fleet {}", line.replace('_', " ")).unwrap();
        let mut said = output.stdout + &output.stderr;
        for (id, name) in &self.names {
            // Lists show the end of an id.
            said = said.replace(id, name).replace(&id[10..], &name[2..7]);
        }
        let project = world.repo.path().file_name().unwrap().to_str().unwrap();
        let said = timeless(&said.replace(project, "shop"));
        writeln!(self.text, "{said}{}", if said.is_empty() { "" } else { "\n" }).unwrap();
        if output.code != 0 {
            writeln!(self.text, "[exit code {}]\n", output.code).unwrap();
        }
    }

    /// Adds a task quietly; its id is shown as `name` from now on, which is as wide as an id.
    fn adds(&mut self, world: &World, name: &'static str, options: &[&str]) {
        assert_eq!(name.len(), 15);
        let options: Vec<String> = options.iter().map(|word| self.with_ids(word)).collect();
        let mut arguments = vec!["task", "add", "-q"];
        arguments.extend(options.iter().map(String::as_str));
        let id = world.fleet.ok(&arguments).trim_end().to_owned();
        assert_eq!(id.len(), 15, "only the id, so that a script can keep it");
        self.names.push((id, name));
    }

    /// Underscores stand for spaces within an argument.
    fn with_ids(&self, word: &str) -> String {
        let mut word = word.replace('_', " ");
        for (id, name) in &self.names {
            word = word.replace(&format!("{{{}}}", name.trim_end_matches('.')), id);
        }
        word
    }
}

fn walk(world: &World) -> String {
    // Whatever agents this machine has.
    std::fs::write(world.fleet.home().join("config.toml"), "agent = 'demo'\n").unwrap();
    let mut shell = Transcript { text: String::new(), names: Vec::new() };
    shell.types(world, "task list");
    shell.types(world, "task ready");
    shell.adds(world, "t-login........", &["Fix the flaky login test", "-p", "5", "--label", "bug"]);
    shell.adds(world, "t-api..........", &["Write the API", "--limit", "time=30m", "--limit", "usd=2.50"]);
    let docs = ["Document the API", "--after", "{t-api}", "-l", "docs", "-d", "First line.\n\nSecond.\u{7}"];
    shell.adds(world, "t-docs.........", &docs);
    shell.adds(world, "t-cache........", &["Try the new cache", "--hold", "--scope", "src/cache/**"]);
    for line in [
        "task list",
        "task ready",
        "task show {t-docs}",
        "task edit {t-docs} -p 4 --label api --meta ticket=SHOP-12 --clear description",
        "task edit {t-docs} -p 4",
        "task dep add {t-docs} {t-login}",
        "task dep tree {t-docs}",
        "task dep add {t-api} {t-docs}",
        "task dep remove {t-docs} {t-login}",
        "task dep remove {t-docs} {t-login}",
        "task hold {t-login} {t-api} -m wait_for_the_design",
        "task hold {t-login}",
        "task list --status held",
        "task release {t-login} {t-api} {t-cache}",
        "task cancel {t-api} -m not_needed",
        "task list",
        "task list --all --label none",
        "task retry {t-api}",
        "task delete --yes {t-api}",
        "task delete {t-cache}",
        "task delete --yes {t-cache} {t-login}",
        "task list --all",
        "task show {t-cache}",
        "events --here -n 6",
    ] {
        shell.types(world, line);
    }
    shell.text
}

#[test]
fn a_newcomers_walk_on_sqlite() {
    insta::assert_snapshot!("walk", walk(&World::sqlite()));
}

#[test]
fn a_newcomers_walk_on_postgresql() {
    insta::assert_snapshot!("walk", walk(&World::postgres()));
}
