//! The end of a run that left much behind: from the end of its agent until the run is over, and the task after it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::rig::{RunRig, made_at, wait};
use crate::BenchSetting;
use crate::report::{Goal, ReportRow};

/// What an agent leaves, and how long the end of its run may take, in milliseconds.
const CASES: [(&str, &str, f64); 3] = [
    (
        "the end of a run with 200,000 new small files",
        "python3 -c \"import os\nfor i in range(200000):\n if i % 500 == 0: os.makedirs(f'n{i//500}')\n open(f'n{i//500}/{i}.txt','w').write(f'{i}\\n'*10)\"",
        15_000.0,
    ),
    ("the end of a run with a new file of 2 GB", "head -c 2000000000 /dev/urandom > big.bin", 40_000.0),
    (
        "the end of a run with 2,000 new files of 1 MB",
        "for i in $(seq 2000); do head -c 1000000 /dev/urandom > $i.bin; done",
        40_000.0,
    ),
];

/// A task that comes right after it may wait this long, in milliseconds.
const NEXT: f64 = 1_000.0;

pub(crate) fn run(setting: &BenchSetting) -> Vec<ReportRow> {
    CASES.iter().flat_map(|(what, script, bound)| case(setting, (what, script), *bound)).collect()
}

fn case(setting: &BenchSetting, (what, work): (&str, &str), bound: f64) -> Vec<ReportRow> {
    let mut rig = RunRig::new(setting, 100);
    let (ended, next) = (rig.mark("ended"), rig.mark("next"));
    let script = format!("#!/bin/bash\n{work}\ntouch {}\n", ended.display());
    agent(&rig, "much", &script);
    agent(&rig, "little", &format!("#!/bin/bash\ntouch {}\n", next.display()));
    rig.start("2");
    rig.fleet(&["task", "add", "work", "--agent", "much", "--retries", "0"]);
    wait("the agent has ended", || ended.exists());
    let added = rig.mark("added");
    fs::write(&added, "").expect("a file");
    rig.fleet(&["task", "add", "next", "--agent", "little", "--retries", "0", "--read-only"]);
    wait("the next agent works", || next.exists());
    rig.quiet();
    let over = rig.mark("over");
    fs::write(&over, "").expect("a file");
    let row = |what: &str, took: f64, bound: f64| {
        ReportRow::new(what, (took, "ms"), (bound, "ms (fixed bound)"), Goal::AtMost(1.0))
    };
    vec![
        row(what, made_at(&over) - made_at(&ended), bound),
        row("the first act of a task added meanwhile", made_at(&next) - made_at(&added), NEXT),
    ]
}

fn agent(rig: &RunRig, name: &str, script: &str) {
    let (path, config) = (rig.mark(name), rig.home().join("config.toml"));
    fs::write(&path, script).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    fs::create_dir_all(rig.home()).expect("a folder");
    let before = fs::read_to_string(&config).unwrap_or_default();
    let entry = format!("[agents.{name}]\nprogram = '{}'\nprompt = 'stdin'\n", path.display());
    fs::write(config, before + &entry).expect("a configuration");
}
