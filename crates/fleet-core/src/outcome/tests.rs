use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::report::Verdict;

/// A writing task whose agent ended well, said nothing and changed nothing.
fn silent() -> Evidence {
    Evidence {
        exit: AgentExit::Code(0),
        report: None,
        words: None,
        declared: None,
        question: None,
        failure: None,
        commits: 0,
        files: 0,
        read_only: false,
        may_be_empty: false,
        is_interactive: false,
        returns: Returns::Report,
        unmerged: Vec::new(),
        checks: Checks::default(),
        stopped: None,
    }
}

fn report(status: ReportStatus) -> Report {
    Report::new(status, "as it says")
}

/// What the agent left, what it said and how its process ended, all combined: what a reviewer reads.
#[test]
fn endings_by_evidence() {
    let mut table = format!("{:<42}", "");
    let columns = [(false, 0), (false, 1), (true, 0), (true, 1)];
    for (read_only, files) in columns {
        let name = format!("{}, {files} files", if read_only { "read-only" } else { "writing" });
        write!(table, "{name:<22}").unwrap();
    }
    let says: [(&str, Option<ReportStatus>); 4] = [
        ("says nothing", None),
        ("completed", Some(ReportStatus::Completed)),
        ("completed_no_changes", Some(ReportStatus::CompletedNoChanges)),
        ("blocked", Some(ReportStatus::Blocked)),
    ];
    for (exit, declares) in [(0, false), (1, false), (1, true)] {
        for (name, status) in says {
            if declares && status.is_none() {
                continue;
            }
            let row = format!("exit {exit}, {}{name}", if declares { "declares " } else { "" });
            write!(table, "\n{row:<42}").unwrap();
            for (read_only, files) in columns {
                let said = status.map(report);
                let (report, declared) =
                    if declares { (None, said.map(Declared::Done)) } else { (said, None) };
                let exit = AgentExit::Code(exit);
                let evidence = Evidence { exit, report, declared, files, read_only, ..silent() };
                write!(table, "{:<22}", short(&decide(&evidence))).unwrap();
            }
        }
    }
    insta::assert_snapshot!(table.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"));
}

/// An agent in a terminal, by how its process ended, what it said and what it left.
#[test]
fn endings_in_a_terminal() {
    let exits = [
        AgentExit::Code(0),
        AgentExit::Code(1),
        AgentExit::Code(129),
        AgentExit::Code(130),
        AgentExit::Signal(1),
        AgentExit::Signal(2),
        AgentExit::Signal(9),
        AgentExit::Signal(15),
    ];
    let claim = Report { files_changed: vec!["a".to_owned()], ..report(ReportStatus::Completed) };
    let says = [
        ("says nothing", None),
        ("completed", Some(report(ReportStatus::Completed))),
        ("claims a change", Some(claim)),
        ("blocked", Some(report(ReportStatus::Blocked))),
    ];
    let mut table = format!("{:<56}{:<20}1 file", "", "no files");
    for exit in exits {
        for (name, report) in &says {
            let end = |files| {
                let (exit, report) = (exit.clone(), report.clone());
                short(&decide(&Evidence { is_interactive: true, exit, report, files, ..silent() }))
            };
            let row = format!("{}, {name}", exit.to_string().trim_start_matches("the agent "));
            write!(table, "\n{row:<56}{:<20}{}", end(0), end(1)).unwrap();
        }
    }
    insta::assert_snapshot!(table);
    let closed = result(&Evidence { is_interactive: true, ..silent() }, &[]);
    assert_eq!(
        (closed.status, closed.summary.as_str()),
        (ResultStatus::CompletedNoChanges, "the agent was closed")
    );
    let failure = Some((Reason::Auth, "refused".to_owned()));
    let refused = decide(&Evidence { is_interactive: true, failure, ..silent() });
    assert_eq!(refused, Ending::Failed(Reason::Auth, "refused".to_owned()), "its own word says more");
}

fn short(ending: &Ending) -> String {
    match ending {
        Ending::Failed(reason, _) => reason.to_string(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// Each row has everything that the rows below it have, and wins.
#[test]
fn the_order_of_precedence() {
    let text = |text: &str| text.to_owned();
    let mut evidence = Evidence { report: Some(report(ReportStatus::Completed)), files: 1, ..silent() };
    assert_eq!(decide(&evidence), Ending::Succeeded);
    evidence.exit = AgentExit::Signal(9);
    assert_eq!(
        decide(&evidence),
        Ending::Failed(Reason::AgentError, text("the agent was ended by signal 9"))
    );
    evidence.failure = Some((Reason::Auth, text("refused")));
    assert_eq!(decide(&evidence), Ending::Failed(Reason::Auth, text("refused")));
    evidence.question = Some(text("which?"));
    assert_eq!(decide(&evidence), Ending::Asked);
    for (stop, ending) in [
        (StopCause::Tokens(text("1k")), Ending::Failed(Reason::OverBudget, text("1k"))),
        (StopCause::Money(text("$1")), Ending::Failed(Reason::OverBudget, text("$1"))),
        (StopCause::Context(text("91 %")), Ending::Failed(Reason::ContextPressure, text("91 %"))),
        (StopCause::Shutdown(text("bye")), Ending::Released(text("bye"))),
    ] {
        evidence.stopped = Some(stop);
        assert_eq!(decide(&evidence), ending);
    }
    for (stop, ending) in [
        (StopCause::TimeLimit(text("4h")), Ending::Failed(Reason::TimedOut, text("4h"))),
        (StopCause::Idle(text("20m")), Ending::Failed(Reason::Auth, text("refused (20m)"))),
    ] {
        evidence.stopped = Some(stop);
        assert_eq!(decide(&evidence), Ending::Asked, "a person has not answered");
        assert_eq!(decide(&Evidence { question: None, ..evidence.clone() }), ending);
    }
    evidence.declared = Some(Declared::Fail { summary: text("no way") });
    assert_eq!(decide(&evidence), Ending::Failed(Reason::BlockedByAgent, text("no way")));
    evidence.declared = Some(Declared::Done(report(ReportStatus::Completed)));
    assert_eq!(decide(&evidence), Ending::Succeeded);
    evidence.failure = None;
    evidence.exit = AgentExit::NotStarted(text("no claude on PATH"));
    let missing = text("the agent could not be started: no claude on PATH");
    assert_eq!(decide(&evidence), Ending::Failed(Reason::AgentMissing, missing.clone()));
    evidence.failure = Some((Reason::SetupFailed, text("the disk is full")));
    assert_eq!(decide(&evidence), Ending::Failed(Reason::SetupFailed, missing));
    evidence.stopped = Some(StopCause::Killed(text("enough")));
    assert_eq!(decide(&evidence), Ending::Cancelled(text("enough")));
}

#[test]
fn an_agent_that_its_provider_turned_away_was_not_stale() {
    let silent_after = |reason| {
        let stopped = Some(StopCause::Idle("20m".to_owned()));
        let failure = Some((reason, "why".to_owned()));
        decide(&Evidence { stopped, failure, exit: AgentExit::Signal(15), ..silent() })
    };
    let words = || "why (20m)".to_owned();
    assert_eq!(silent_after(Reason::RateLimited), Ending::Failed(Reason::RateLimited, words()));
    assert_eq!(silent_after(Reason::ProviderOutage), Ending::Failed(Reason::ProviderOutage, words()));
    assert_eq!(silent_after(Reason::AgentError), Ending::Failed(Reason::Stale, "20m".to_owned()));
}

fn result(evidence: &Evidence, files: &[&str]) -> RunResult {
    let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
    RunResult::new(evidence, &decide(evidence), EvidenceNames { files, commits: Vec::new() })
}

#[test]
fn a_result_has_the_files_of_git_and_says_where_the_claim_differs() {
    let mut claim = report(ReportStatus::Completed);
    claim.files_changed = ["./src/a.rs", "/work/tree/b.rs", "c.rs", "/a/c.rs"].map(str::to_owned).to_vec();
    let evidence = Evidence { report: Some(claim.clone()), files: 3, commits: 1, ..silent() };
    let seen = result(&evidence, &["src/a.rs", "b.rs", "d.rs"]);
    assert_eq!(seen.files_changed, ["src/a.rs", "b.rs", "d.rs"]);
    assert_eq!((seen.status, seen.files, seen.commit_count), (ResultStatus::Completed, 3, 1));
    assert_eq!(seen.remarks, ["reported as changed, but git shows no change: c.rs, /a/c.rs"]);
    assert_eq!(seen.claimed, Some(claim));
    let json = serde_json::to_string(&seen).unwrap();
    assert_eq!(serde_json::from_str::<RunResult>(&json).unwrap(), seen);
    assert_eq!(
        result(&evidence, &["src/a.rs"]).remarks,
        [] as [&str; 0],
        "a list that was cut proves nothing"
    );
}

#[test]
fn a_claimed_change_that_git_does_not_show_is_no_change() {
    let mut claim = report(ReportStatus::Completed);
    claim.files_changed = (0..8).map(|number| format!("{number}.rs")).collect();
    let seen = result(&Evidence { report: Some(claim), ..silent() }, &[]);
    assert_eq!((seen.status, seen.reason), (ResultStatus::NoChanges, Some(Reason::NoChanges)));
    assert_eq!(
        seen.remarks,
        ["reported as changed, but git shows no change: 0.rs, 1.rs, 2.rs, 3.rs, 4.rs and 3 more"]
    );
    insta::assert_snapshot!(seen.summary, @"the agent reported that it is done (as it says), but git shows no change");
}

#[test]
fn a_status_is_corrected_by_what_was_seen() {
    let status = |evidence: &Evidence| result(evidence, &[]).status;
    let nothing_to_do = Evidence { report: Some(report(ReportStatus::CompletedNoChanges)), ..silent() };
    assert_eq!(status(&nothing_to_do), ResultStatus::CompletedNoChanges);
    assert_eq!(status(&Evidence { files: 1, ..nothing_to_do }), ResultStatus::Completed);
    let answer = Evidence { read_only: true, report: Some(report(ReportStatus::Completed)), ..silent() };
    assert_eq!(status(&answer), ResultStatus::Completed);
    let wrote = result(&Evidence { files: 1, ..answer }, &["a"]);
    assert_eq!(
        wrote.remarks,
        ["the task is read-only, but files were changed; the changes are kept on the branch"]
    );
    let asked = Evidence { question: Some("which?".to_owned()), ..silent() };
    assert_eq!((status(&asked), result(&asked, &[]).summary.as_str()), (ResultStatus::Asked, "which?"));
    let failed = Evidence { declared: Some(Declared::Fail { summary: "no".to_owned() }), ..silent() };
    assert_eq!(status(&failed), ResultStatus::Blocked);
    assert_eq!(result(&failed, &[]).claimed.map(|report| report.status), Some(ReportStatus::Blocked));
    let long = Evidence { declared: Some(Declared::Fail { summary: "x".repeat(1 << 20) }), ..failed };
    assert!(serde_json::to_string(&result(&long, &[])).unwrap().len() < 40_000, "it is bounded");
    let done = Some(Declared::Done(report(ReportStatus::Completed)));
    let hung = Evidence { declared: done, files: 1, exit: AgentExit::Signal(9), ..silent() };
    let hung = result(&hung, &["a"]);
    assert_eq!(hung.status, ResultStatus::Completed);
    assert_eq!(hung.remarks, ["it reported that it is done; afterwards the agent was ended by signal 9"]);
}

#[test]
fn an_answer_that_others_wait_for_has_to_be_there() {
    let end = |returns, report: Option<Report>, files| {
        decide(&Evidence { returns, report, files, read_only: files == 0, ..silent() })
    };
    let plain = || report(ReportStatus::Completed);
    let verdict = Report { verdict: Some(Verdict { approve: Some(false), ..Verdict::default() }), ..plain() };
    let (full, empty) = (
        Report { items: Some(vec!["one".to_owned()]), ..plain() },
        Report { items: Some(Vec::new()), ..plain() },
    );
    for returns in [Returns::Verdict, Returns::List] {
        for said in [None, Some(plain())] {
            for files in [0, 1] {
                let Ending::Failed(Reason::AgentError, why) = end(returns, said.clone(), files) else {
                    panic!("{returns} without one is no success")
                };
                assert!(why.contains("its report needs"), "the next attempt is told: {why}");
            }
        }
    }
    assert_eq!(end(Returns::Verdict, Some(verdict.clone()), 0), Ending::Succeeded, "no is an answer");
    assert_eq!(end(Returns::List, Some(full), 0), Ending::Succeeded);
    assert_eq!(end(Returns::List, Some(empty), 0), Ending::Succeeded, "nothing found is an answer");
    let gave_up = Report { status: ReportStatus::Blocked, ..verdict };
    let blocked = Ending::Failed(Reason::BlockedByAgent, "as it says".to_owned());
    assert_eq!(end(Returns::List, Some(gave_up), 0), blocked, "why it could not says more");
}

#[test]
fn what_was_to_be_merged_has_to_be_merged() {
    let unmerged = vec!["write-2: `git merge 1f`".to_owned()];
    let why = "the agent did not merge everything: write-2: `git merge 1f`".to_owned();
    let end = decide(&Evidence { files: 1, unmerged, ..silent() });
    assert_eq!(end, Ending::Failed(Reason::AgentError, why));
}

#[test]
fn work_is_done_when_all_checks_succeed() {
    let receipt = |exit, output_tail: &str| CheckResult {
        argv: ["cargo", "test"].map(str::to_owned).to_vec(),
        exit,
        seconds: 1,
        output_tail: output_tail.to_owned(),
    };
    let good = || receipt(CheckExit::Code(0), "");
    let end =
        |due, run: Vec<CheckResult>| decide(&Evidence { files: 1, checks: Checks { due, run }, ..silent() });
    assert_eq!(end(2, vec![good(), good()]), Ending::Succeeded);
    let failed = |why: &str| Ending::Failed(Reason::ChecksFailed, why.to_owned());
    let said = "the check `cargo test` ended with exit status 101; the end of its output:\na.rs:1: no";
    assert_eq!(end(2, vec![good(), receipt(CheckExit::Code(101), "\na.rs:1: no\n")]), failed(said));
    let ended = receipt(CheckExit::Signal(9), "");
    assert_eq!(end(1, vec![ended]), failed("the check `cargo test` was ended by signal 9"));
    assert_eq!(end(2, vec![good()]), failed("1 of 2 checks were run"));
    let wrote = Evidence { files: 1, checks: Checks { due: 1, run: Vec::new() }, ..silent() };
    assert!(calls_for_checks(&wrote));
    assert!(!calls_for_checks(&Evidence { files: 0, ..wrote.clone() }), "it failed already");
    assert!(!calls_for_checks(&Evidence { checks: Checks::default(), ..wrote.clone() }), "there are none");
    let done = Some(Declared::Done(report(ReportStatus::Completed)));
    let stopped = Some(StopCause::Shutdown("bye".to_owned()));
    let interrupted = Evidence { declared: done, stopped, ..wrote };
    assert_eq!(decide(&interrupted), Ending::Released("bye".to_owned()), "what was not checked is not done");
    let seen = result(&Evidence { checks: Checks { due: 1, run: vec![good()] }, ..interrupted }, &["a"]);
    assert_eq!((seen.status, seen.checks.as_slice()), (ResultStatus::Completed, &[good()][..]));
    let json = serde_json::to_string(&seen).unwrap();
    assert!(json.contains(r#"{"argv":["cargo","test"],"exit":{"code":0},"seconds":1}"#), "{json}");
    assert_eq!(serde_json::from_str::<RunResult>(&json).unwrap(), seen);
}

fn evidence() -> impl Strategy<Value = Evidence> {
    let said = || prop::option::of(prop::sample::select(ReportStatus::ALL).prop_map(report));
    let exit = prop_oneof![(0..3).prop_map(AgentExit::Code), (1..16).prop_map(AgentExit::Signal)];
    let declared = prop::option::of(prop_oneof![
        prop::sample::select(ReportStatus::ALL).prop_map(|status| Declared::Done(report(status))),
        Just(Declared::Fail { summary: String::new() }),
    ]);
    let failure =
        prop::option::of(prop::sample::select(Reason::ALL).prop_map(|reason| (reason, String::new())));
    let text = String::new;
    let stops = [
        StopCause::Idle(text()),
        StopCause::Shutdown(text()),
        StopCause::Money(text()),
        StopCause::Killed(text()),
    ];
    let stopped = prop::option::of(prop::sample::select(stops.to_vec()));
    (exit, said(), declared, failure, stopped, (0..2usize, 0..2usize, any::<bool>())).prop_map(
        |(exit, report, declared, failure, stopped, (commits, files, read_only))| Evidence {
            question: None,
            words: None,
            exit,
            report,
            declared,
            failure,
            stopped,
            commits,
            files,
            read_only,
            may_be_empty: false,
            is_interactive: false,
            returns: Returns::Report,
            unmerged: Vec::new(),
            checks: Checks::default(),
        },
    )
}

proptest! {
    /// Whatever an agent says, a success was seen: a good end and a change, or an honest reason for none.
    #[test]
    fn no_success_without_evidence(evidence in evidence()) {
        if decide(&evidence) == Ending::Succeeded {
            let done = matches!(evidence.declared, Some(Declared::Done(_)));
            prop_assert!(done || (evidence.exit.is_success() && evidence.failure.is_none()));
            let honest = evidence.final_report().is_some_and(|said| said.status == ReportStatus::CompletedNoChanges);
            prop_assert!(evidence.has_changes() || evidence.read_only || honest);
            prop_assert!(!matches!(evidence.stopped, Some(StopCause::Killed(_))));
        }
    }
}

/// What it did elsewhere is not on its branch, whatever it says about that.
#[test]
fn work_outside_of_the_workspace_is_never_a_success() {
    let outside = (Reason::OutsideWorkspace, "it wrote /x".to_owned());
    let ending = Ending::Failed(outside.0, outside.1.clone());
    let stopped = Some(StopCause::Hopeless(outside.0, outside.1.clone()));
    let declared = Some(Declared::Done(report(ReportStatus::Completed)));
    for evidence in [
        Evidence { files: 3, report: Some(report(ReportStatus::Completed)), ..silent() },
        Evidence { declared, files: 3, ..silent() },
        Evidence { stopped, ..silent() },
    ] {
        let evidence = Evidence { failure: Some(outside.clone()), ..evidence };
        assert_eq!(decide(&evidence), ending, "{evidence:?}");
        let killed = Some(StopCause::Killed("enough".to_owned()));
        let evidence = Evidence { stopped: killed, ..evidence };
        assert_eq!(decide(&evidence), Ending::Cancelled("enough".to_owned()), "a person's word is last");
    }
}

#[test]
fn what_an_agent_says_in_prose_is_not_lost() {
    let says = |words: &str| Evidence { words: Some(words.to_owned()), ..silent() };
    let result = |evidence: &Evidence| {
        let result = RunResult::new(evidence, &decide(evidence), EvidenceNames::default());
        (result.status, result.summary)
    };
    let found = "  Two bugs:\n- one\n- two\n";
    let trimmed = found.trim().to_owned();
    let look = Evidence { read_only: true, ..says(found) };
    assert_eq!(result(&look), (ResultStatus::Completed, trimmed.clone()));
    let review = Evidence { may_be_empty: true, ..says(found) };
    assert_eq!(result(&review), (ResultStatus::CompletedNoChanges, trimmed.clone()));
    let wrote = Evidence { files: 1, commits: 1, ..says(found) };
    assert_eq!(result(&wrote), (ResultStatus::Completed, trimmed));
    let (status, summary) = result(&says(found));
    assert_eq!(status, ResultStatus::NoChanges);
    assert_eq!(summary, "git shows no change; the agent said: Two bugs: - one - two");
    let nothing = Evidence { may_be_empty: true, ..says(" \n") };
    assert_eq!(result(&nothing).0, ResultStatus::NoChanges, "it said nothing");
    let judge = Evidence { returns: Returns::Verdict, may_be_empty: true, ..says("I like it") };
    assert_eq!(result(&judge).0, ResultStatus::Failed, "others wait for just that");
}
