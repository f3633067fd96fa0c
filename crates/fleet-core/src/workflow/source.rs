//! What a stage begins with: whose work its branch starts from.

use super::{Part, PartState, Skip, Spec, StageStart};

/// Where a commit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommitSource {
    /// The commit that the workflow starts from.
    Base,
    /// This part left it, by its place in the list that was given.
    Part(usize),
}

/// What the branch of a stage starts from, in the order in which it is merged, each once and at least one. `parts` are
/// those of all stages upstream of it, in their order.
///
/// A part that its condition left out is looked through, to what it would have started from. One that failed and was
/// allowed to gives nothing.
pub fn sources(spec: &Spec, stage: usize, parts: &[&Part]) -> Vec<CommitSource> {
    let mut search = SourceSearch { spec, parts, seen: vec![false; spec.stages.len()], found: Vec::new() };
    search.gather(stage);
    if search.found.is_empty() {
        search.found.push(CommitSource::Base);
    }
    search.found
}

struct SourceSearch<'a> {
    spec: &'a Spec,
    parts: &'a [&'a Part],
    /// Stages that were looked at: another way to them gives nothing new.
    seen: Vec<bool>,
    found: Vec<CommitSource>,
}

impl SourceSearch<'_> {
    fn gather(&mut self, stage: usize) {
        let Some(this) = self.spec.stages.get(stage) else { return };
        if this.start == StageStart::New || this.needs.is_empty() {
            return self.add(CommitSource::Base);
        }
        for need in &this.needs {
            if self.seen.get(*need) == Some(&false) {
                self.seen[*need] = true;
                self.take(*need);
            }
        }
    }

    fn take(&mut self, stage: usize) {
        for (at, part) in self.parts.iter().enumerate().filter(|(_, part)| part.stage == stage) {
            match part.state.get() {
                PartState::Done => self.add(CommitSource::Part(at)),
                PartState::Skipped if part.skip == Some(Skip::Condition) => self.gather(stage),
                _ => {}
            }
        }
    }

    fn add(&mut self, source: CommitSource) {
        if !self.found.contains(&source) {
            self.found.push(source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Stage;
    use super::*;
    use crate::transition::Current;

    /// Stages by name, start and needs.
    fn spec(stages: &[(&str, StageStart, &[usize])]) -> Spec {
        let stage = |(name, from, needs): &(&str, StageStart, &[usize])| Stage {
            start: *from,
            needs: needs.to_vec(),
            ..Stage::new(name.parse().unwrap(), String::new())
        };
        let stages = stages.iter().map(stage).collect();
        let (name, task) = ("w".to_owned(), String::new());
        Spec { name, task, params: std::collections::BTreeMap::new(), fail_fast: false, stages }
    }

    #[expect(clippy::disallowed_methods, reason = "tests begin anywhere")]
    fn part(of: usize, number: u32, state: PartState, skip: Option<Skip>) -> Part {
        Part { state: Current::stored(state), skip, ..Part::new(of, number, None) }
    }

    fn done(stage: usize) -> Part {
        part(stage, 1, PartState::Done, None)
    }

    fn left_out(stage: usize) -> Part {
        part(stage, 1, PartState::Skipped, Some(Skip::Condition))
    }

    fn found(spec: &Spec, stage: usize, parts: &[Part]) -> Vec<CommitSource> {
        sources(spec, stage, &parts.iter().collect::<Vec<_>>())
    }

    use CommitSource::{Base, Part as Of};
    use StageStart::{Inherit, New};

    #[test]
    fn what_is_needed_is_merged_in_the_order_of_the_needs_and_then_of_the_copies() {
        let spec = spec(&[("a", New, &[]), ("b", New, &[]), ("c", Inherit, &[1, 0]), ("d", New, &[0])]);
        let parts = [
            part(0, 1, PartState::Done, None),
            part(0, 2, PartState::Failed, None),
            part(0, 3, PartState::Done, None),
            done(1),
        ];
        assert_eq!(found(&spec, 2, &parts), [Of(3), Of(0), Of(2)], "a failed copy gives nothing");
        assert_eq!(found(&spec, 3, &parts), [Base]);
        assert_eq!(found(&spec, 2, &[part(0, 1, PartState::Failed, None)]), [Base], "nobody left anything");
    }

    #[test]
    fn a_stage_that_was_left_out_is_looked_through() {
        let line = spec(&[("a", New, &[]), ("b", Inherit, &[0]), ("c", Inherit, &[1])]);
        assert_eq!(found(&line, 2, &[done(0), left_out(1)]), [Of(0)]);
        let fresh = spec(&[("a", New, &[]), ("b", New, &[0]), ("c", Inherit, &[1])]);
        assert_eq!(found(&fresh, 2, &[done(0), left_out(1)]), [Base]);
        let both = spec(&[("a", New, &[]), ("b", Inherit, &[0]), ("c", Inherit, &[1, 0])]);
        assert_eq!(found(&both, 2, &[done(0), left_out(1)]), [Of(0)], "once");
        let barred = part(1, 1, PartState::Skipped, Some(Skip::Upstream));
        assert_eq!(found(&line, 2, &[done(0), barred]), [Base]);
    }

    #[test]
    fn many_ways_to_the_same_stage_take_no_longer() {
        let mut stages = vec![("root".to_owned(), New, Vec::new())];
        for step in 0..100 {
            let below = if step == 0 { vec![0] } else { vec![step * 2 - 1, step * 2] };
            stages.extend(["l", "r"].map(|side| (format!("{side}{step}"), Inherit, below.clone())));
        }
        let named: Vec<(&str, StageStart, &[usize])> =
            stages.iter().map(|(name, start, needs)| (name.as_str(), *start, needs.as_slice())).collect();
        let spec = spec(&named);
        let parts: Vec<Part> = [done(0)].into_iter().chain((1..spec.stages.len()).map(left_out)).collect();
        assert_eq!(found(&spec, spec.stages.len() - 1, &parts), [Of(0)]);
    }
}
