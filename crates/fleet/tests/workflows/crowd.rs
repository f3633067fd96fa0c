//! Many stages at once, and many workflows.

use std::fmt::Write as _;
use std::thread;

use super::bench::{Bench, stage};

/// A root, so many quick stages that need it, and one that needs them all.
fn wide(width: usize) -> String {
    let mut text = stage("root", "", "write r.txt x");
    text += &stage("mid", &format!("needs = ['root']\ncount = {width}\nchanges = 'optional'"), "say ok");
    text += &stage("join", "needs = ['mid']", "write j.txt x");
    text
}

fn repeated(width: usize, times: usize) {
    let bench = Bench::new();
    let text = wide(width);
    for time in 0..times {
        let output = bench.follow(&text);
        assert_eq!(output.code, 0, "time {time}: {output:?}");
        let workflow = bench.newest();
        assert_eq!(workflow["progress"]["done"], width + 2, "time {time}: {workflow}");
    }
}

#[test]
fn a_root_and_many_and_a_join() {
    repeated(12, 2);
}

#[test]
#[ignore = "long: FLEET_TEST_BINARY=target/release/fleet cargo test -p codefleet --test workflows heavy_fifty -- --ignored"]
fn heavy_fifty_between_a_root_and_a_join_two_hundred_times() {
    repeated(50, 200);
}

#[test]
fn two_that_are_started_at_once_do_not_mind_each_other() {
    let bench = Bench::new();
    let mut text = String::from("task = 'Do it'\n");
    write!(text, "{}", stage("a", "", "write a.txt x") + &stage("b", "needs = ['a']", "write b.txt x"))
        .unwrap();
    let files = ["one.toml", "two.toml"].map(|name| bench.file(name, &text));
    thread::scope(|scope| {
        for file in &files {
            let fleet = bench.fleet.clone();
            scope.spawn(move || fleet.ok(&["workflow", "run", file]));
        }
    });
    for name in ["one", "two"] {
        assert_eq!(bench.show(name)["progress"]["done"], 2);
    }
}
