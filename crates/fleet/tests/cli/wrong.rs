//! What people type wrongly: each gets a sentence that says what is wrong, and the next step.

use std::fmt::Write as _;

use fleet_testkit::fleet::Output;

use super::support::World;

/// One line each, as it is typed; `ID` is a task that is queued, `DONE` one that is cancelled.
const LINES: &str = "
fleet
fleet cancel login
fleet retry login
fleet rm login
fleet delete login
fleet drop login
fleet pick login
fleet merge login
fleet land login
fleet add 'Fix it'
fleet new 'Fix it'
fleet queue
fleet top
fleet tail login
fleet attach login
fleet answer login yes
fleet send login hello
fleet history
fleet wait login
fleet login
fleet install
fleet version
fleet hold ID
fleet search parser
fleet checkout login
fleet dashboard
fleet serve
fleet set agent codex
fleet stop login
fleet lst
fleet crate fix -p x
fleet create
fleet create fix
fleet create fix -p ''
fleet create 'bad name' -p x --agent demo
fleet create a..b -p x --agent demo
fleet create -dash -p x --agent demo
fleet create refs/heads/x -p x --agent demo
fleet create main -p x --agent demo
fleet create fix -p x --agent nosuch
fleet create fix -p x --agent demo --base nosuch
fleet create fix --prompt-file nosuch
fleet create fix -p x --limit time=soon --agent demo
fleet create fix -p x --limit speed=3 --agent demo
fleet fanout
fleet fanout three login -p x
fleet fanout 0 login -p x
fleet fanout 101 login -p x
fleet fanout 2 login
fleet multi
fleet multi nocolon
fleet multi a:b a:c --agent demo
fleet multi a:b a/b:c --agent demo
fleet multi --file nosuch
fleet list --limit many
fleet list --limit 0
fleet list --batch nonsense
fleet list --watch
fleet show
fleet show nobody
fleet show ID
fleet why nobody
fleet logs nobody
fleet logs ID
fleet logs login -n few
fleet diff nobody
fleet open ID
fleet prompt ID
fleet prompt nobody hello
fleet prompt ID ''
fleet prompt ID --file nosuch
fleet keep nobody
fleet keep ID
fleet kill
fleet kill nobody
fleet kill 'logn-*'
fleet kill ID
fleet kill ID --wait soon
fleet kill DONE --yes
fleet resume
fleet resume nobody
fleet resume ID
fleet undo nobody
fleet clean nobody
fleet task
fleet task add
fleet task add ''
fleet task add 'Fix it' -p urgent
fleet task add 'Fix it' -p 9
fleet task add 'Fix it' --after nobody
fleet task add 'Fix it' --after ID --agent nosuch
fleet task add 'Fix it' --not-before 2020-01-01
fleet task add 'Fix it' --not-before soon
fleet task add 'Fix it' --label 'a b'
fleet task add 'Fix it' --scope '../x'
fleet task add 'Fix it' --branch 'a b'
fleet task add 'Fix it' --file nosuch
fleet task show nobody
fleet task edit ID --clear nothing
fleet task edit DONE --title x
fleet task release ID
fleet task retry ID
fleet task cancel DONE
fleet task delete nobody --yes
fleet task delete ID
fleet task dep add ID ID
fleet task list --status nonsense
fleet task import nosuch
fleet workflow run nosuch
fleet workflow check nosuch
fleet workflow show nobody
fleet workflow rm nobody
fleet agents show nosuch
fleet agents test nosuch
fleet agents pause nosuch
fleet config get nosuch
fleet config set nosuch 1
fleet config set agent nosuch
fleet config set limits.idle 10
fleet config set tasks.priority high
fleet config set runner.slots many
fleet config unset nosuch
fleet explain nosuch
fleet setup nosuch
fleet completions tcsh
fleet events --since yesterday
fleet --config agent list
fleet --color sometimes list
fleet --project /nowhere list
fleet -x list
";

#[test]
fn every_mistake_is_told_with_the_next_step() {
    let mut world = World::sqlite();
    world.fleet = world.fleet.env("FLEET_AUTOSTART", "false").env("COLUMNS", "100");
    // Whatever agents this machine has.
    std::fs::write(world.fleet.home().join("config.toml"), "agent = 'demo'\n").unwrap();
    let add = |title: &str, branch: &str| {
        let arguments = ["task", "add", "-q", title, "--agent", "demo", "--branch", branch];
        world.fleet.ok(&arguments).trim_end().to_owned()
    };
    let (queued, over) = (add("Queued", "queued"), add("Over", "over"));
    world.fleet.ok(&["task", "cancel", &over]);
    let constant = |text: &str| {
        let text = text.replace(&queued, "t00000000000001").replace(&over, "t00000000000002");
        let text = text.replace(&queued[10..], "00001").replace(&over[10..], "00002");
        let text = text.replace(&world.repo.path().display().to_string(), "~/shop");
        text.replace(&world.fleet.home().display().to_string(), "~/.fleet")
    };
    let mut page = String::new();
    for line in LINES.lines().filter(|line| !line.is_empty()) {
        let meant = |word: String| match word.as_str() {
            "ID" => queued.clone(),
            "DONE" => over.clone(),
            _ => word,
        };
        let words: Vec<String> = words(line).into_iter().skip(1).map(meant).collect();
        let output = world.fleet.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        check(line, &output);
        writeln!(page, "$ {line}\n{}\n", constant(told(&output.stderr))).unwrap();
    }
    insta::assert_snapshot!("wrong", page);
}

/// It is clear what is wrong, and what to do next.
#[track_caller]
fn check(line: &str, output: &Output) {
    assert!((1..100).contains(&output.code), "{line}: {output:?}");
    let said = &output.stderr;
    let is_clear = is_help(said) || said.lines().any(|line| line.contains("error: "));
    assert!(is_clear && !said.contains("panicked"), "{line}: {said}");
    let has_next = ["\n  → ", "tip:", "Usage:", "--help", "fleet explain "];
    assert!(has_next.iter().any(|sign| said.contains(sign)), "{line} has no next step: {said}");
}

fn is_help(said: &str) -> bool {
    said.contains("Print help")
}

/// Help is in a page of its own.
fn told(said: &str) -> &str {
    if is_help(said) { "(its help)" } else { said.trim_end() }
}

/// Split at spaces outside of single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![];
    let (mut word, mut quoted, mut any) = (String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => word.push(c),
        }
    }
    if any || !word.is_empty() {
        words.push(word);
    }
    words
}
