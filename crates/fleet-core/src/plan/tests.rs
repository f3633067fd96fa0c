//! Plans, and what they miss.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::id::IdMaker;
use crate::time::Millis;

fn items(of: &[(&str, i64, Option<Complexity>)]) -> Vec<OpenTask> {
    let mut maker = IdMaker::default();
    of.iter()
        .map(|(title, priority, complexity)| OpenTask {
            id: maker.next(Millis(1_800_000_000_000), 5),
            title: (*title).to_owned(),
            body: String::new(),
            priority: Priority::try_from(*priority).unwrap(),
            complexity: *complexity,
            scope: FileScope::default(),
        })
        .collect()
}

fn edge(items: &[OpenTask], task: usize, on: usize) -> Edge {
    Edge { task: items[task].id, on: items[on].id }
}

#[test]
fn the_order_is_that_of_service_and_the_longest_chain_is_named() {
    let all = items(&[
        ("last", 5, None),
        ("small", 1, Some(Complexity::Small)),
        ("big", 3, Some(Complexity::Xl)),
        ("alone", 4, None),
    ]);
    let edges = [edge(&all, 0, 1), edge(&all, 0, 2)];
    let plan = plan(&all, &edges);
    let order: Vec<TaskId> = plan.steps.iter().map(|step| step.id).collect();
    assert_eq!(order, [all[3].id, all[2].id, all[1].id, all[0].id]);
    assert_eq!(plan.critical_path, [all[2].id, all[0].id]);
    let last = plan.steps[3];
    assert_eq!((last.level, last.ends_at, last.unblocks, last.is_critical), (1, 20, 0, true));
    assert_eq!((plan.steps[1].unblocks, plan.steps[2].is_critical), (1, false));
    assert_eq!(super::plan(&[], &edges), Plan::default());
}

#[test]
fn a_text_that_names_another_task_should_perhaps_wait_for_it() {
    let mut all = items(&[
        ("Write the new parser", 3, None),
        ("Document it", 3, None),
        ("Benchmark", 3, None),
        ("Fix", 3, None),
    ]);
    all[1].body = "After “write the new PARSER” is merged; fix what is wrong.".to_owned();
    all[2].body = format!("Compare with {}.", all[0].id);
    all[3].body = format!("See {}", all[3].id);
    let found = missing(&all, &[]);
    let expected = [
        MissingDependency { edge: edge(&all, 2, 0), hint: Hint::NamesId },
        MissingDependency { edge: edge(&all, 1, 0), hint: Hint::NamesTitle },
    ];
    assert_eq!(found, expected);
    let known = [edge(&all, 2, 1), edge(&all, 1, 0)];
    assert_eq!(missing(&all, &known), [], "both wait already, one through the other");
    all[0].body = format!("Not before {}", all[2].id);
    assert_eq!(missing(&all, &[])[0].edge, edge(&all, 0, 2));
    assert!(!missing(&all, &[]).contains(&expected[0]), "the other way round would be a circle");
}

#[test]
fn tasks_of_the_same_files_are_told_once_and_last() {
    let mut all = items(&[("a", 3, None), ("b", 3, None), ("c", 3, None)]);
    all[0].scope = FileScope::parse(["src/**"]).unwrap();
    all[2].scope = FileScope::parse(["src/main.rs"]).unwrap();
    assert_eq!(missing(&all, &[]), [MissingDependency { edge: edge(&all, 2, 0), hint: Hint::SameFiles }]);
    assert_eq!(missing(&all, &[edge(&all, 0, 2)]), []);
}

proptest! {
    #[test]
    fn nobody_comes_before_what_it_waits_for(
        priorities in prop::collection::vec(1..6_i64, 1..12),
        pairs in prop::collection::vec((0..12_usize, 0..12_usize), 0..24),
    ) {
        let of: Vec<_> = priorities.iter().map(|priority| ("task", *priority, None)).collect();
        let all = items(&of);
        let fits = |(task, on): &&(usize, usize)| on < task && *task < all.len();
        let edges: Vec<Edge> = pairs.iter().filter(fits).map(|(task, on)| edge(&all, *task, *on)).collect();
        let plan = plan(&all, &edges);
        prop_assert_eq!(plan.steps.len(), all.len());
        let at: BTreeMap<TaskId, usize> = plan.steps.iter().enumerate().map(|(at, step)| (step.id, at)).collect();
        for edge in &edges {
            prop_assert!(at[&edge.on] < at[&edge.task]);
            prop_assert!(plan.steps[at[&edge.on]].level < plan.steps[at[&edge.task]].level);
            prop_assert!(plan.steps[at[&edge.on]].unblocks > plan.steps[at[&edge.task]].unblocks);
        }
        for pair in plan.critical_path.windows(2) {
            let is_edge = edges.contains(&Edge { task: pair[1], on: pair[0] });
            prop_assert!(is_edge);
        }
        let longest = plan.steps.iter().map(|step| step.ends_at).max().unwrap();
        prop_assert_eq!(usize::try_from(longest).unwrap(), plan.critical_path.len() * 4);
    }
}
