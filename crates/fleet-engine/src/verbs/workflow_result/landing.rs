//! Where the work of a workflow is, once it is over.

use std::collections::BTreeSet;

use fleet_core::outcome::RunResult;
use fleet_core::workflow::{Changes, Part, PartState, Skip, Spec, Start};
use fleet_store::ops::WorkflowDetail;

use super::Winner;

/// A part, as far as its work is concerned.
#[derive(Debug, Clone)]
pub(super) struct Piece<'a> {
    pub(super) at: usize,
    pub(super) part: &'a Part,
    pub(super) name: &'a str,
    pub(super) branch: Option<&'a str>,
    pub(super) result: Option<&'a RunResult>,
}

/// The parts that count.
#[derive(Debug)]
pub(super) struct Landing<'a> {
    spec: &'a Spec,
    pieces: Vec<Piece<'a>>,
}

impl<'a> Landing<'a> {
    pub(super) fn new(detail: &'a WorkflowDetail) -> Self {
        let current = detail.parts.iter().filter(|part| !part.part.replaced);
        let pieces = current.map(|part| Piece {
            at: part.at,
            part: &part.part,
            name: &part.name,
            branch: part.run.as_ref().and_then(|run| run.branch.as_deref()),
            result: part.result.as_ref(),
        });
        Self::of(&detail.spec, pieces.collect())
    }

    pub(super) fn of(spec: &'a Spec, mut pieces: Vec<Piece<'a>>) -> Self {
        pieces.sort_by_key(|piece| (piece.part.stage, piece.part.number));
        Self { spec, pieces }
    }

    /// The branch of a part, if there is anything on it.
    pub(super) fn branch_of(&self, at: usize) -> Option<&'a str> {
        let piece = self.pieces.iter().find(|piece| piece.at == at)?;
        piece.branch.filter(|_| has_changes(piece) || self.joins(piece))
    }

    /// Whom a stage named that is done, the last one first: its verdict was made with the most in view.
    pub(super) fn winner(&self) -> Option<Winner> {
        self.pieces.iter().rev().filter(|piece| piece.part.state == PartState::Done).find_map(|judge| {
            let named = judge.result?.verdict.as_ref()?.winner.as_deref()?;
            let upstream = self.spec.upstream(judge.part.stage);
            let won = self.named(named).filter(|piece| upstream.contains(&piece.part.stage));
            Some(Winner {
                stage: won.map_or_else(|| named.to_owned(), |piece| piece.name.to_owned()),
                branch: won.and_then(|piece| piece.branch).map(ToOwned::to_owned),
                by: judge.name.to_owned(),
            })
        })
    }

    /// The part that an agent means: by its name, that of its stage if it has only one, or its branch.
    fn named(&self, text: &str) -> Option<&Piece<'a>> {
        let text = text.trim();
        let exactly =
            |piece: &&Piece<'a>| piece.name.eq_ignore_ascii_case(text) || piece.branch == Some(text);
        self.pieces.iter().find(exactly).or_else(|| {
            let of_stage = |piece: &&Piece<'a>| {
                let stage = self.spec.stages.get(piece.part.stage);
                stage.is_some_and(|stage| stage.name.as_str().eq_ignore_ascii_case(text))
            };
            let mut found = self.pieces.iter().filter(of_stage);
            found.next().filter(|_| found.next().is_none())
        })
    }

    /// The stages whose results are those of the workflow: the last ones. One that its condition left out is looked
    /// through, to what it would have gone on with.
    pub(super) fn ends(&self) -> Vec<usize> {
        let (mut next, mut ends) = (self.spec.sinks(), BTreeSet::new());
        while let Some(stage) = next.pop() {
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

    /// The branches that hold what the last stages came to. One that changed nothing passes on what it looked at.
    pub(super) fn branches(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        for sink in self.spec.sinks() {
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
            match piece.branch.filter(|_| self.holds_work(piece)) {
                Some(branch) => found.push(branch.to_owned()),
                None => {
                    passes_on |=
                        piece.part.state == PartState::Done || piece.part.skip == Some(Skip::Condition);
                }
            }
        }
        if passes_on {
            for need in &self.spec.stages[stage].needs {
                self.collect(*need, seen, found);
            }
        }
    }

    /// Whether its branch is where to look: it changed something, or it brought several branches together.
    fn holds_work(&self, piece: &Piece<'_>) -> bool {
        piece.part.state == PartState::Done && (has_changes(piece) || self.joins(piece))
    }

    /// Whether it started from several branches that were merged for it.
    fn joins(&self, piece: &Piece<'_>) -> bool {
        let stage = &self.spec.stages[piece.part.stage];
        let is_merged = |other: &&Piece<'_>| {
            stage.needs.contains(&other.part.stage)
                && other.part.state == PartState::Done
                && has_changes(other)
        };
        stage.start == Start::Inherit
            && stage.changes != Changes::None
            && self.pieces.iter().filter(is_merged).count() > 1
    }
}

fn has_changes(piece: &Piece<'_>) -> bool {
    piece.result.is_some_and(|result| result.commit_count > 0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use fleet_core::outcome::{AgentExit, ResultStatus};
    use fleet_core::report::Verdict;
    use fleet_core::workflow::Stage;

    use super::*;

    /// `name[*]: needs`, the star for one that inherits.
    fn spec(stages: &[(&str, &[usize])]) -> Spec {
        let stage = |(name, needs): &(&str, &[usize])| {
            let mut stage = Stage::new(name.trim_end_matches('*').parse().unwrap(), String::new());
            stage.needs = needs.to_vec();
            stage.start = if name.ends_with('*') { Start::Inherit } else { Start::New };
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
        }
    }

    type Fate = (PartState, Option<Skip>, RunResult);

    fn done(commits: usize) -> Fate {
        (PartState::Done, None, result(commits, None))
    }

    /// The branches and the winner, when each stage has come to this.
    fn landed(spec: &Spec, fates: &[Fate]) -> (Vec<String>, Option<(String, Option<String>)>) {
        let mut parts = Vec::new();
        for (at, (state, skip, _)) in fates.iter().enumerate() {
            let mut part = Part::new(at, 1, None);
            (part.state, part.skip) = (*state, *skip);
            parts.push((part, spec.stages[at].name.to_string()));
        }
        let piece = |((part, name), (.., result)): (&'_ (Part, String), &'_ Fate)| {
            (part.clone(), name.clone(), result.clone())
        };
        let owned: Vec<_> = parts.iter().zip(fates).map(piece).collect();
        let pieces = owned.iter().enumerate().map(|(at, (part, name, result))| Piece {
            at,
            part,
            name,
            branch: Some(name),
            result: Some(result),
        });
        let landing = Landing::of(spec, pieces.collect());
        (landing.branches(), landing.winner().map(|winner| (winner.stage, winner.branch)))
    }

    /// The last stages, when each was skipped for this reason or not.
    fn ends(spec: &Spec, skips: &[Option<Skip>]) -> Vec<usize> {
        let part = |(at, skip): (usize, &Option<Skip>)| Part { skip: *skip, ..Part::new(at, 1, None) };
        let parts: Vec<Part> = skips.iter().enumerate().map(part).collect();
        let piece = |(at, part)| Piece { at, part, name: "", branch: None, result: None };
        Landing::of(spec, parts.iter().enumerate().map(piece).collect()).ends()
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
        let named = |name| (PartState::Done, None, result(0, Some(name)));
        let winner = |name| landed(&contest, &[done(1), done(1), named(name)]).1.unwrap();
        assert_eq!(winner("b"), ("b".to_owned(), Some("b".to_owned())));
        assert_eq!(winner(" A\n"), ("a".to_owned(), Some("a".to_owned())));
        assert_eq!(winner("nobody"), ("nobody".to_owned(), None));
        assert_eq!(winner("judge").1, None, "not itself");
    }
}
