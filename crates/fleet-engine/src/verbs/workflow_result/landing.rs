//! Where the work of a workflow is, once it is over.

use std::collections::BTreeSet;

use fleet_api::verbs::workflow_result::Winner;
use fleet_core::outcome::RunResult;
use fleet_core::report::Verdict;
use fleet_core::workflow::{ChangeRule, Part, PartState, Skip, Spec, StageStart};
use fleet_store::ops::StoredWorkflow;

use crate::verbs::workflow_show::ranks;

#[derive(Debug, Clone)]
pub(super) struct PartWork<'a> {
    pub(super) at: usize,
    pub(super) part: &'a Part,
    pub(super) name: &'a str,
    pub(super) branch: Option<&'a str>,
    pub(super) result: Option<&'a RunResult>,
}

/// The parts that count.
#[derive(Debug)]
pub(super) struct WorkflowLanding<'a> {
    spec: &'a Spec,
    pieces: Vec<PartWork<'a>>,
}

impl<'a> WorkflowLanding<'a> {
    pub(super) fn new(detail: &'a StoredWorkflow) -> Self {
        let current = detail.parts.iter().filter(|part| !part.part.replaced);
        let pieces = current.map(|part| PartWork {
            at: part.at,
            part: &part.part,
            name: &part.name,
            branch: part.run.as_ref().and_then(|run| run.branch.as_deref()),
            result: part.result.as_ref(),
        });
        Self::of(&detail.spec, pieces.collect())
    }

    pub(super) fn of(spec: &'a Spec, mut pieces: Vec<PartWork<'a>>) -> Self {
        pieces.sort_by_key(|piece| (piece.part.stage, piece.part.number));
        Self { spec, pieces }
    }

    /// The branch of a part, if there is anything on it.
    pub(super) fn branch_of(&self, at: usize) -> Option<&'a str> {
        let piece = self.pieces.iter().find(|piece| piece.at == at)?;
        piece.branch.filter(|_| self.has_changes(piece) || self.joins(piece))
    }

    /// What was judged last, by a stage that is done: it was judged with the most in view.
    pub(super) fn verdict(&self) -> Option<&'a Verdict> {
        self.judges().into_iter().rev().find_map(verdict_of)
    }

    /// The winner that the last of those stages with a choice chose.
    pub(super) fn winner(&self) -> Option<Winner> {
        self.judges().into_iter().rev().find_map(|judge| {
            let won = self.chosen(judge)?;
            Some(Winner {
                stage: won.name.to_owned(),
                branch: self.work(won).map(ToOwned::to_owned),
                by: judge.name.to_owned(),
            })
        })
    }

    /// The stages that are done, each after those that it needs.
    fn judges(&self) -> Vec<&PartWork<'a>> {
        let ranks = ranks(self.spec);
        let mut done: Vec<&PartWork<'a>> =
            self.pieces.iter().filter(|piece| piece.part.state == PartState::Done).collect();
        done.sort_by_key(|piece| ranks.get(piece.part.stage).copied().unwrap_or_default());
        done
    }

    /// The part that a judge named, if there is one by that name and it was there to be judged. A stage that started
    /// from the work of all of them has merged them, and chose none.
    fn chosen(&self, judge: &PartWork<'a>) -> Option<&PartWork<'a>> {
        let named = verdict_of(judge)?.winner.as_deref()?;
        if self.spec.stages[judge.part.stage].start == StageStart::Inherit {
            return None;
        }
        let upstream = self.spec.upstream(judge.part.stage);
        self.named(named).filter(|piece| upstream.contains(&piece.part.stage))
    }

    /// The part that an agent means: by its name, that of its stage if it has only one, or its branch.
    fn named(&self, text: &str) -> Option<&PartWork<'a>> {
        let text = text.trim();
        let exactly =
            |piece: &&PartWork<'a>| piece.name.eq_ignore_ascii_case(text) || piece.branch == Some(text);
        self.pieces.iter().find(exactly).or_else(|| {
            let of_stage = |piece: &&PartWork<'a>| {
                let stage = self.spec.stages.get(piece.part.stage);
                stage.is_some_and(|stage| stage.name.as_str().eq_ignore_ascii_case(text))
            };
            let mut found = self.pieces.iter().filter(of_stage);
            found.next().filter(|_| found.next().is_none())
        })
    }

    /// The stages whose results are those of the workflow: the last ones. A skipped part is replaced by the parts that
    /// it would have continued.
    pub(super) fn ends(&self) -> Vec<usize> {
        let (mut next, mut ends) = (self.spec.last_stages(), BTreeSet::new());
        let mut seen = BTreeSet::new();
        while let Some(stage) = next.pop() {
            // There may be very many ways to it.
            if !seen.insert(stage) {
                continue;
            }
            let mut pieces = self.pieces.iter().filter(|piece| piece.part.stage == stage);
            let needs = &self.spec.stages[stage].needs;
            if !needs.is_empty() && pieces.all(|piece| piece.part.skip == Some(Skip::Condition)) {
                next.extend(needs);
            } else {
                ends.insert(stage);
            }
        }
        ends.into_iter().collect()
    }

    /// The branches that hold what the last stages came to, each once. One that changed nothing passes on what it looked
    /// at, and one that chose among that, what it chose.
    pub(super) fn branches(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for sink in self.spec.last_stages() {
            self.collect(sink, &mut seen, &mut found);
        }
        found
    }

    fn collect(&self, stage: usize, seen: &mut BTreeSet<usize>, found: &mut Vec<String>) {
        if !seen.insert(stage) {
            return;
        }
        let mut passes_on = false;
        for piece in self.pieces.iter().filter(|piece| piece.part.stage == stage) {
            let is_done = piece.part.state == PartState::Done;
            let chosen = || self.chosen(piece).filter(|_| is_done).and_then(|won| self.work(won));
            match self.work(piece).or_else(chosen) {
                Some(branch) if found.iter().any(|known| known == branch) => {}
                Some(branch) => found.push(branch.to_owned()),
                None => passes_on |= is_done || piece.part.skip == Some(Skip::Condition),
            }
        }
        if passes_on {
            for need in &self.spec.stages[stage].needs {
                self.collect(*need, seen, found);
            }
        }
    }

    /// The branch of a part that is done, if that is where to look.
    fn work(&self, piece: &PartWork<'a>) -> Option<&'a str> {
        piece.branch.filter(|_| self.holds_work(piece))
    }

    /// Whether its branch is where to look: it changed something, or it brought several branches together.
    fn holds_work(&self, piece: &PartWork<'_>) -> bool {
        piece.part.state == PartState::Done && (self.has_changes(piece) || self.joins(piece))
    }

    /// Commits of a read-only stage are not merged.
    fn has_changes(&self, piece: &PartWork<'_>) -> bool {
        self.spec.stages[piece.part.stage].changes != ChangeRule::None
            && piece.result.is_some_and(|result| result.commit_count > 0)
    }

    /// Whether it started from several branches that were merged for it.
    fn joins(&self, piece: &PartWork<'_>) -> bool {
        let stage = &self.spec.stages[piece.part.stage];
        let is_merged = |other: &&PartWork<'_>| {
            stage.needs.contains(&other.part.stage)
                && other.part.state == PartState::Done
                && self.has_changes(other)
        };
        stage.start == StageStart::Inherit
            && stage.changes != ChangeRule::None
            && self.pieces.iter().filter(is_merged).count() > 1
    }
}

fn verdict_of<'a>(piece: &PartWork<'a>) -> Option<&'a Verdict> {
    piece.result?.verdict.as_ref()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fleet_core::Current;
    use fleet_core::outcome::{AgentExit, ResultStatus};
    use fleet_core::workflow::Stage;

    use super::*;

    /// `name[*]: needs`, the star for one that inherits.
    fn spec(stages: &[(&str, &[usize])]) -> Spec {
        let stage = |(name, needs): &(&str, &[usize])| {
            let mut stage = Stage::new(name.trim_end_matches('*').parse().unwrap(), String::new());
            stage.needs = needs.to_vec();
            stage.start = if name.ends_with('*') { StageStart::Inherit } else { StageStart::New };
            stage
        };
        let stages = stages.iter().map(stage).collect();
        Spec { name: "w".to_owned(), task: String::new(), params: BTreeMap::new(), fail_fast: false, stages }
    }

    fn result(commit_count: usize, winner: Option<&str>) -> RunResult {
        RunResult {
            status: ResultStatus::Completed,
            reason: None,
            summary: String::new(),
            files_changed: Vec::new(),
            files: commit_count,
            commits: Vec::new(),
            commit_count,
            tests: Vec::new(),
            checks: Vec::new(),
            next_steps: Vec::new(),
            verdict: winner.map(|name| Verdict { winner: Some(name.to_owned()), ..Verdict::default() }),
            items: Vec::new(),
            exit: AgentExit::Code(0),
            claimed: None,
            remarks: Vec::new(),
            branch_taken: false,
            unpublished: false,
        }
    }

    type PartEnd = (PartState, Option<Skip>, RunResult);

    fn done(commits: usize) -> PartEnd {
        (PartState::Done, None, result(commits, None))
    }

    /// The branches and the winner, when each stage has come to this.
    #[expect(clippy::disallowed_methods, reason = "tests begin anywhere")]
    fn landed(spec: &Spec, fates: &[PartEnd]) -> (Vec<String>, Option<(String, Option<String>)>) {
        let mut parts = Vec::new();
        for (at, (state, skip, _)) in fates.iter().enumerate() {
            let mut part = Part::new(at, 1, None);
            (part.state, part.skip) = (Current::stored(*state), *skip);
            parts.push((part, spec.stages[at].name.to_string()));
        }
        let piece = |((part, name), (.., result)): (&'_ (Part, String), &'_ PartEnd)| {
            (part.clone(), name.clone(), result.clone())
        };
        let owned: Vec<_> = parts.iter().zip(fates).map(piece).collect();
        let pieces = owned.iter().enumerate().map(|(at, (part, name, result))| PartWork {
            at,
            part,
            name,
            branch: Some(name),
            result: Some(result),
        });
        let landing = WorkflowLanding::of(spec, pieces.collect());
        (landing.branches(), landing.winner().map(|winner| (winner.stage, winner.branch)))
    }

    /// The last stages, when each was skipped for this reason or not.
    fn ends(spec: &Spec, skips: &[Option<Skip>]) -> Vec<usize> {
        let part = |(at, skip): (usize, &Option<Skip>)| Part { skip: *skip, ..Part::new(at, 1, None) };
        let parts: Vec<Part> = skips.iter().enumerate().map(part).collect();
        let piece = |(at, part)| PartWork { at, part, name: "", branch: None, result: None };
        WorkflowLanding::of(spec, parts.iter().enumerate().map(piece).collect()).ends()
    }

    #[test]
    fn the_work_is_where_the_last_stage_left_it() {
        let line = spec(&[("write", &[]), ("review*", &[0]), ("refine*", &[1])]);
        assert_eq!(landed(&line, &[done(1), done(0), done(2)]).0, ["refine"]);
        assert_eq!(landed(&line, &[done(1), done(0), done(0)]).0, ["write"], "who changed nothing passes on");
        let skipped = (PartState::Skipped, Some(Skip::Condition), result(0, None));
        assert_eq!(landed(&line, &[done(1), done(0), skipped]).0, ["write"]);
        assert_eq!(ends(&line, &[None, None, None]), [2]);
        assert_eq!(
            ends(&line, &[None, None, Some(Skip::Condition)]),
            [1],
            "what was not needed says nothing"
        );
        assert_eq!(ends(&line, &[None, None, Some(Skip::Upstream)]), [2]);
        let failed = (PartState::Failed, None, result(1, None));
        assert_eq!(landed(&line, &[done(1), done(0), failed]).0, [""; 0], "half of it is not offered");
    }

    #[test]
    fn many_ways_to_the_same_stage_take_no_longer() {
        let mut stages = vec![("root".to_owned(), Vec::new())];
        for step in 0..100 {
            let below = if step == 0 { vec![0] } else { vec![step * 2 - 1, step * 2] };
            stages.extend(["l", "r"].map(|side| (format!("{side}{step}"), below.clone())));
        }
        let named: Vec<(&str, &[usize])> =
            stages.iter().map(|(name, needs)| (name.as_str(), needs.as_slice())).collect();
        let ladder = spec(&named);
        let skips: Vec<Option<Skip>> =
            (0..named.len()).map(|at| (at > 0).then_some(Skip::Condition)).collect();
        assert_eq!(ends(&ladder, &skips), [0]);
    }

    #[test]
    fn several_are_taken_from_where_they_were_joined() {
        let fan = [("plan", &[][..]), ("a", &[0]), ("b", &[0])];
        let apart = spec(&fan);
        assert_eq!(landed(&apart, &[done(0), done(1), done(1)]).0, ["a", "b"]);
        let joined = spec(&[fan[0], fan[1], fan[2], ("join*", &[1, 2])]);
        assert_eq!(landed(&joined, &[done(0), done(1), done(1), done(0)]).0, ["join"]);
        let looked = spec(&[fan[0], fan[1], fan[2], ("look", &[1, 2])]);
        assert_eq!(landed(&looked, &[done(0), done(1), done(1), done(0)]).0, ["a", "b"]);
    }

    #[test]
    fn a_judge_names_a_stage_before_it() {
        let contest = spec(&[("a", &[]), ("b", &[]), ("judge", &[0, 1])]);
        let winner = |name| landed(&contest, &[done(1), done(1), named(name)]).1.unwrap();
        assert_eq!(winner("b"), ("b".to_owned(), Some("b".to_owned())));
        assert_eq!(winner(" A\n"), ("a".to_owned(), Some("a".to_owned())));
        for nobody in ["nobody", "judge"] {
            assert_eq!(landed(&contest, &[done(1), done(1), named(nobody)]).1, None, "{nobody}");
        }
        let branches = |name| landed(&contest, &[done(1), done(1), named(name)]).0;
        assert_eq!(branches("b"), ["b"]);
        assert_eq!(branches("nobody"), ["a", "b"], "nothing was chosen");
        let mut looker = contest.clone();
        looker.stages[2].changes = ChangeRule::None;
        let busy = (PartState::Done, None, result(1, Some("b")));
        assert_eq!(landed(&looker, &[done(1), done(1), busy]).0, ["b"], "not what it was not to commit");
        let together = spec(&[("a", &[]), ("b", &[]), ("judge*", &[0, 1])]);
        let (branches, winner) = landed(&together, &[done(1), done(1), named("b")]);
        assert_eq!((branches, winner), (vec!["judge".to_owned()], None), "both are in it");
        looker.stages[2].start = StageStart::Inherit;
        assert_eq!(landed(&looker, &[done(1), done(1), named("b")]).0, ["a", "b"]);
    }

    fn named(name: &str) -> PartEnd {
        (PartState::Done, None, result(0, Some(name)))
    }

    #[test]
    fn what_comes_after_a_judge_counts() {
        let polished = spec(&[("a", &[]), ("b", &[]), ("judge", &[0, 1]), ("polish*", &[2])]);
        let winner = Some(("b".to_owned(), Some("b".to_owned())));
        let (branches, chosen) = landed(&polished, &[done(1), done(1), named("b"), done(1)]);
        assert_eq!((branches, chosen), (vec!["polish".to_owned()], winner.clone()));
        let (branches, chosen) = landed(&polished, &[done(1), done(1), named("b"), done(0)]);
        assert_eq!((branches, chosen), (vec!["b".to_owned()], winner), "there was nothing to polish");
        let beside = spec(&[("a", &[]), ("b", &[]), ("judge", &[0, 1]), ("docs", &[1])]);
        assert_eq!(landed(&beside, &[done(1), done(1), named("b"), done(1)]).0, ["b", "docs"]);
        assert_eq!(landed(&beside, &[done(1), done(1), named("b"), done(0)]).0, ["b"], "no branch twice");
    }

    #[test]
    fn a_winner_that_left_no_work_has_no_branch() {
        let contest = spec(&[("a", &[]), ("b", &[]), ("judge", &[0, 1])]);
        let (branches, winner) = landed(&contest, &[done(1), done(0), named("b")]);
        assert_eq!((branches, winner), (vec!["a".to_owned()], Some(("b".to_owned(), None))));
        let failed = (PartState::Failed, None, result(1, None));
        let (branches, winner) = landed(&contest, &[done(1), failed, named("b")]);
        assert_eq!((branches, winner), (vec!["a".to_owned()], Some(("b".to_owned(), None))));
    }

    #[test]
    fn the_judge_who_saw_most_decides_wherever_it_is_written() {
        let reversed = spec(&[("last", &[2]), ("a", &[]), ("first", &[1])]);
        let (branches, winner) = landed(&reversed, &[named("a"), done(1), named("nobody")]);
        assert_eq!((branches, winner), (vec!["a".to_owned()], Some(("a".to_owned(), Some("a".to_owned())))));
    }
}
