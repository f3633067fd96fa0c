//! What [`check`] refuses.

use super::*;

fn flaws(spec: &Spec) -> Vec<String> {
    check(spec).into_iter().map(|flaw| format!("{}: {}", flaw.field, flaw.message)).collect()
}

#[test]
fn what_cannot_run_is_refused() {
    assert_eq!(flaws(&spec(vec![])), ["stages: there is no stage"]);
    assert_eq!(flaws(&spec(vec![stage("a", &[0])])), ["needs: a needs itself"]);
    assert_eq!(
        flaws(&spec(vec![stage("a", &[7])])),
        ["needs: there is no stage 7: they are numbered 0 to 0"]
    );
    let circle = spec(vec![stage("a", &[]), stage("b", &[0, 3]), stage("c", &[1]), stage("d", &[2])]);
    assert_eq!(flaws(&circle), ["needs: the stages need each other in a cycle: b needs d needs c needs b"]);
    assert_eq!(
        flaws(&spec(vec![stage("a", &[]), stage("a", &[])])),
        ["name: stages 0 and 1 are both called a"]
    );
    let mut copied = vec![stage("a", &[]), stage("a-1", &[]), stage("a-x", &[]), stage("b-1", &[])];
    copied[0].copies = Copies::Count(2);
    assert_eq!(flaws(&spec(copied.clone())), ["name: a-1 is what one of the copies of a is called"]);
    copied[0].copies = Copies::One;
    assert_eq!(flaws(&spec(copied)), [""; 0]);
    let mut heir = stage("a", &[]);
    heir.start = StageStart::Inherit;
    assert_eq!(flaws(&spec(vec![heir])), ["start: a is to inherit, but needs no other stage"]);
}

#[test]
fn prompts_and_conditions_may_only_look_back() {
    let mut stages = vec![stage("a", &[]), stage("b", &[0]), stage("c", &[])];
    stages[1].prompt =
        "{a.summary} {stage_0_files} {c.summary} {b.status} {stage_9_summary} {a.sumary} {d.diff}".to_owned();
    stages[2].prompt = "{params.x} {json: {\"a\": 1}} {a.b.c} {unknown} {}".to_owned();
    insta::assert_snapshot!(flaws(&spec(stages)).join("\n"));
    let mut stages = vec![stage("stage_1", &[]), stage("b", &[0])];
    stages[1].prompt = "{stage_1.summary} {stage_0_summary}".to_owned();
    let spec_of = spec(stages.clone());
    assert_eq!(flaws(&spec_of), [""; 0]);
    let found: Vec<Placeholder> =
        placeholders(&spec_of, &spec_of.stages[1].prompt).into_iter().map(|(_, place)| place).collect();
    assert_eq!(
        found,
        [Placeholder::Of(0, StageField::Summary), Placeholder::Of(0, StageField::Summary)],
        "by name as well as by number"
    );
    stages[1].prompt = "{stage_2.summary}".to_owned();
    assert_eq!(flaws(&spec(stages)), ["prompt: {stage_2.summary}: there is no stage \"stage_2\""]);
    let mut stages = vec![stage("a", &[]), stage("b", &[0]), stage("c", &[])];
    stages[1].when = Some(Condition::try_from("a.okay and c.ok and d.ok and ok".to_owned()).unwrap());
    insta::assert_snapshot!(flaws(&spec(stages)).join("\n"));
}

#[test]
fn words_in_braces_that_stand_for_nothing_are_found() {
    let mut stages = vec![stage("review", &[]), stage("b", &[0])];
    stages[1].prompt =
        "{task} {task} {review} {unknown} {review.summary} {item} {a} {X} {json: 1} {task_prompt}".to_owned();
    let spec = spec(stages);
    let found = unknown_words(&spec, &spec.stages[1].prompt);
    assert_eq!(found, ["task", "review", "unknown"]);
    let meant: Vec<Option<String>> = found.iter().map(|word| meant_placeholder(&spec, word)).collect();
    assert_eq!(meant, [Some("task_prompt".to_owned()), Some("review.summary".to_owned()), None]);
}

#[test]
fn a_prompt_that_no_agent_would_read_is_refused() {
    let mut long = spec(vec![stage("a", &[]), stage("b", &[])]);
    long.task = "x".repeat(LONGEST_PROMPT / 2);
    assert_eq!(flaws(&long), [""; 0]);
    long.stages[1].prompt = "{task_prompt} {task_prompt}".to_owned();
    assert_eq!(
        flaws(&long),
        ["prompt: with all that it names the prompt has 256 KiB, at most 256 are allowed"]
    );
    long.stages[1].prompt = "{item} {item}".to_owned();
    long.stages[1].copies = Copies::Each(vec!["short".to_owned(), long.task.clone()]);
    assert_eq!(flaws(&long).len(), 1);
}
