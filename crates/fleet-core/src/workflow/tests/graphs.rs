//! Any graph of stages, which end in any order.

use proptest::prelude::*;

use super::*;

/// One stage of any graph: what it needs, what its failure means, how it ends, and whether it is only wanted if the first
/// that it needs went well, or did not.
type Any = (Vec<usize>, OnFailure, PartState, Option<bool>);

/// Any graph: each stage needs some of those before it.
fn graphs() -> impl Strategy<Value = Vec<Any>> {
    let one = |at: usize| {
        let needs = proptest::collection::btree_set(0..at.max(1), 0..=at.min(3));
        let needs =
            needs.prop_map(move |needs| needs.into_iter().filter(|need| *need < at).collect::<Vec<_>>());
        let policy = proptest::sample::select(OnFailure::ALL);
        let fate = prop_oneof![
            4 => Just(PartState::Done),
            1 => Just(PartState::Failed),
            1 => Just(PartState::Cancelled)
        ];
        let wish = prop_oneof![3 => Just(None), 1 => any::<bool>().prop_map(Some)];
        (needs, policy, fate, wish)
    };
    (1..12_usize).prop_flat_map(move |count| (0..count).map(one).collect::<Vec<_>>())
}

proptest! {
    /// Whatever the order in which stages end, a workflow ends, and in the state that its graph and the fates of its
    /// stages say.
    #[test]
    fn every_workflow_ends_as_its_graph_says(
        graph in graphs(),
        order in proptest::collection::vec(any::<prop::sample::Index>(), 64),
    ) {
        let wish = |needs: &[usize], is_ok: bool| {
            let first = needs.first()?;
            Condition::try_from(if is_ok { format!("s{first}.ok") } else { format!("not s{first}.ok") }).ok()
        };
        let stages = graph.iter().enumerate().map(|(at, (needs, on_failure, _, is_ok))| Stage {
            on_failure: *on_failure,
            when: is_ok.and_then(|is_ok| wish(needs, is_ok)),
            ..stage(&format!("s{at}"), needs)
        });
        let mut play = Play::new(spec(stages.collect()));
        for pick in order {
            let running = play.running();
            if running.is_empty() {
                break;
            }
            let part = *pick.get(&running);
            play.end(part, graph[part].2);
        }
        let fates: Vec<PartState> = graph.iter().map(|(_, _, fate, _)| *fate).collect();
        let expected = predict(&play.spec, &fates);
        prop_assert_eq!(play.state, expected.state, "{}", play.shown());
        for (at, may_be) in expected.stages.iter().enumerate() {
            prop_assert!(may_be.contains(&play.parts[at].state), "{} is not {:?}: {}", at, may_be, play.shown());
        }
    }
}
