//! Agents that print more than anybody can keep.

use std::fs;

use fleet_testkit::wait_until;

use super::processes::{is_alive, kilobytes};
use super::stage::{BOUND, Stage, names};

/// So much a keeper may use at its worst, in kB, beside the pages of the program itself, which are many in a debug build.
const MOST_MEMORY: u64 = 20_000;
/// So much of each stream is kept, with some room for the rest of a piece.
const CAP: u64 = 8_000_000;

/// Runs the steps, and looks at the keeper while the agent waits after them. Returns the run.
fn printed(steps: &str) -> (Stage, String) {
    let mut stage = Stage::new();
    stage.fleet = stage.fleet.env("FLEET_LIMITS_LOG", "8MB");
    let (written, go) = (stage.sign("written"), stage.sign("go"));
    let task = stage.add(&format!(
        "{steps}\nwrite a.txt a\ntouch {}\nwait-for {}\nsay The end.",
        written.display(),
        go.display()
    ));
    let runner = stage.run(None);
    stage.wait_for("written");
    let run = stage.live_run();
    let keeper = stage.keeper_pid(&run);
    // Everything that was printed is on its way; what the keeper needs at its worst, it needs now or has needed.
    stage.give("go");
    let mut worst = 0;
    wait_until(BOUND, "the end of the keeper", || {
        let of_keeper = |what| kilobytes(&format!("/proc/{keeper}/status"), what);
        if let (Some(most), Some(program)) = (of_keeper("VmHWM"), of_keeper("RssFile")) {
            worst = worst.max(most.saturating_sub(program));
        }
        !is_alive(keeper)
    });
    assert!(worst > 0 && worst < MOST_MEMORY, "the keeper used {worst} kB");
    stage.wait_status(&task, "done");
    stage.assert_tidy([runner]);
    stage.assert_once(&task);
    (stage, run)
}

/// How many bytes of a log there are on disk.
fn log_size(stage: &Stage, run: &str, name: &str) -> u64 {
    let folder = stage.run_folder(run);
    let files = names(&folder).into_iter().filter(|file| file.starts_with(name));
    files.map(|file| fs::metadata(folder.join(file)).unwrap().len()).sum()
}

fn said(stage: &Stage, text: &str) -> usize {
    let is_it = |event: &&serde_json::Value| event["data"]["text"].as_str() == Some(text);
    stage.events().iter().filter(is_it).count()
}

#[test]
fn heavy_a_flood_without_a_line_end() {
    let (stage, run) = printed("flood 200MB noline\nraw \\nfor the line end");
    assert!(log_size(&stage, &run, "stdout.log") <= CAP);
    assert_eq!(said(&stage, "The end."), 1, "what comes after it is heard");
}

#[test]
fn heavy_a_flood_of_lines() {
    let (stage, run) = printed("flood 10MB");
    assert!(log_size(&stage, &run, "stdout.log") <= CAP);
    let events = stage.events();
    let kept = events.iter().filter(|event| event["kind"] == "run.raw").count();
    let omitted: u64 = events.iter().filter_map(|event| event["data"]["count"].as_u64()).sum();
    assert!(kept <= 50_000 && omitted > 0, "{kept} kept, {omitted} omitted");
    let result = fs::read_to_string(stage.run_folder(&run).join("result.json")).unwrap();
    assert!(result.contains("The end."), "what comes after it is heard: {result}");
}

#[test]
fn bytes_that_are_no_text_and_line_ends_that_are_none() {
    let (stage, run) = printed("binary 1MB\nraw \\none \u{2028}two \u{2029}three\nstderr oh\u{2028}dear");
    assert!(log_size(&stage, &run, "stdout.log") > 1_000_000);
    assert_eq!(log_size(&stage, &run, "stderr.log"), "oh\u{2028}dear\n".len() as u64);
    assert_eq!(said(&stage, "one \u{2028}two \u{2029}three"), 1, "one line");
}
