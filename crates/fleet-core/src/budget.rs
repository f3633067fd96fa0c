//! What a fleet may use: money and tokens, by the day and in all.
//!
//! Owns how much is put aside for a run before it starts, so that many runs together stay within the budget. Must never
//! count what a run has used a second time: what is used is no longer put aside.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::{Limits, dollars};
use crate::time::Millis;

/// Money and tokens that were used, or are put aside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Used {
    /// Millionths of a US dollar.
    pub micro_usd: u64,
    /// Tokens, input and output together.
    pub tokens: u64,
}

/// Bounds on money and tokens; `None` is no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Bounds {
    /// Millionths of a US dollar.
    pub micro_usd: Option<u64>,
    /// Tokens, input and output together.
    pub tokens: Option<u64>,
}

impl Bounds {
    /// The smaller bound of each field.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        Self { micro_usd: least(self.micro_usd, other.micro_usd), tokens: least(self.tokens, other.tokens) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    pub day: Bounds,
    pub total: Bounds,
    /// Put aside for a run whose task has no limit of its own.
    pub run: Used,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            day: Bounds::default(),
            total: Bounds::default(),
            run: Used { micro_usd: 1_000_000, tokens: 1_000_000 },
        }
    }
}

/// What was used so far, and what runs at work may still use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Used today.
    pub day: Used,
    /// Used ever, today included.
    pub total: Used,
    /// Put aside for runs at work, without what these have used already.
    pub reserved: Used,
}

/// A day of the ledger, in UTC: all machines agree on it, wherever they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(pub i64);

const DAY_MILLIS: i64 = 86_400_000;

impl Day {
    pub const fn of(now: Millis) -> Self {
        Self(now.0.div_euclid(DAY_MILLIS))
    }

    /// The first moment of the next day: what a budget of a day waits for.
    pub const fn end(self) -> Millis {
        Millis(self.0.saturating_add(1).saturating_mul(DAY_MILLIS))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    Day,
    Total,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetUnit {
    MicroUsd,
    Tokens,
}

impl BudgetUnit {
    const ALL: [Self; 2] = [Self::MicroUsd, Self::Tokens];

    const fn used(self, used: &Used) -> u64 {
        match self {
            Self::MicroUsd => used.micro_usd,
            Self::Tokens => used.tokens,
        }
    }

    const fn bound(self, bounds: &Bounds) -> Option<u64> {
        match self {
            Self::MicroUsd => bounds.micro_usd,
            Self::Tokens => bounds.tokens,
        }
    }

    const fn limit(self, limits: &Limits) -> Option<u64> {
        match self {
            Self::MicroUsd => limits.micro_usd,
            Self::Tokens => limits.tokens,
        }
    }

    /// Nothing sensible can be done with less: a run would be stopped before it has read the task.
    const fn smallest(self) -> u64 {
        match self {
            Self::MicroUsd => 50_000,
            Self::Tokens => 20_000,
        }
    }

    fn show(self, amount: u64) -> String {
        match self {
            Self::MicroUsd => format!("{} dollars", dollars(amount)),
            Self::Tokens => format!("{amount} tokens"),
        }
    }
}

/// One bound, and how far it is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundUse {
    pub period: Period,
    pub unit: BudgetUnit,
    pub bound: u64,
    pub used: u64,
    /// What running runs may still use.
    pub reserved: u64,
}

impl BoundUse {
    /// Neither used nor reserved.
    pub const fn left(&self) -> u64 {
        self.bound.saturating_sub(self.used.saturating_add(self.reserved))
    }

    /// How much of the bound was used, of a hundred.
    pub fn percent(&self) -> u64 {
        let share = u128::from(self.used) * 100 / u128::from(self.bound.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for BoundUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = match self.period {
            Period::Day => "a day",
            Period::Total => "in all",
        };
        write!(f, "of {} {period}, {} are used", self.unit.show(self.bound), self.unit.show(self.used))?;
        if self.reserved > 0 {
            write!(f, " and {} are reserved for running agents", self.unit.show(self.reserved))?;
        }
        Ok(())
    }
}

/// Too little is left for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the budget is too low: {0}")]
pub struct Shortage(pub BoundUse);

impl Budget {
    pub fn is_empty(&self) -> bool {
        [self.day, self.total] == [Bounds::default(); 2]
    }

    /// Every bound with how far it is used up.
    pub fn bills(&self, spent: &Spent) -> Vec<BoundUse> {
        BudgetUnit::ALL.iter().flat_map(|unit| self.bills_of(*unit, spent)).collect()
    }

    fn bills_of(&self, unit: BudgetUnit, spent: &Spent) -> impl Iterator<Item = BoundUse> + use<> {
        let reserved = unit.used(&spent.reserved);
        let bill = |period, bounds: &Bounds, used: &Used| {
            let used = unit.used(used);
            unit.bound(bounds).map(|bound| BoundUse { period, unit, bound, used, reserved })
        };
        let bills =
            [bill(Period::Day, &self.day, &spent.day), bill(Period::Total, &self.total, &spent.total)];
        bills.into_iter().flatten()
    }

    /// What is put aside for a run whose task has these limits: as much as it may use, or what is left.
    pub fn reserve(&self, spent: &Spent, limits: Limits) -> Result<Bounds, Shortage> {
        Ok(Bounds {
            micro_usd: self.reserve_of(BudgetUnit::MicroUsd, spent, limits)?,
            tokens: self.reserve_of(BudgetUnit::Tokens, spent, limits)?,
        })
    }

    /// What a run has that asks for more: as much again as a run usually gets, up to the limit of its task, or what is
    /// left. A run without its own limit is not stopped as long as there is enough for all.
    #[must_use]
    pub fn extend(&self, spent: &Spent, limits: Limits, held: Bounds) -> Bounds {
        Bounds {
            micro_usd: self.extend_of(BudgetUnit::MicroUsd, spent, limits, held),
            tokens: self.extend_of(BudgetUnit::Tokens, spent, limits, held),
        }
    }

    fn extend_of(&self, unit: BudgetUnit, spent: &Spent, limits: Limits, held: Bounds) -> Option<u64> {
        let held = unit.bound(&held);
        let Some(left) = self.bills_of(unit, spent).map(|bill| bill.left()).min() else { return held };
        let has = held.unwrap_or(0);
        let most = unit.limit(&limits).unwrap_or(u64::MAX).saturating_sub(has);
        Some(has.saturating_add(unit.used(&self.run).min(left).min(most)))
    }

    fn reserve_of(&self, unit: BudgetUnit, spent: &Spent, limits: Limits) -> Result<Option<u64>, Shortage> {
        let Some(bill) = self.bills_of(unit, spent).min_by_key(BoundUse::left) else { return Ok(None) };
        let wanted = unit.limit(&limits).unwrap_or_else(|| unit.used(&self.run)).max(1);
        let given = wanted.min(bill.left());
        if given < wanted.min(unit.smallest()) { Err(Shortage(bill)) } else { Ok(Some(given)) }
    }
}

/// A budget from which runs are given their parts, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemainingBudget {
    pub budget: Budget,
    /// Used and reserved so far.
    pub spent: Spent,
}

impl RemainingBudget {
    /// Puts aside what a run with these limits gets.
    pub fn take(&mut self, limits: Limits) -> Result<Bounds, Shortage> {
        let given = self.budget.reserve(&self.spent, limits)?;
        let reserved = &mut self.spent.reserved;
        reserved.micro_usd = reserved.micro_usd.saturating_add(given.micro_usd.unwrap_or(0));
        reserved.tokens = reserved.tokens.saturating_add(given.tokens.unwrap_or(0));
        Ok(given)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn usd(micro_usd: u64) -> Bounds {
        Bounds { micro_usd: Some(micro_usd), tokens: None }
    }

    fn limits(micro_usd: Option<u64>) -> Limits {
        Limits { micro_usd, ..Limits::default() }
    }

    #[test]
    fn a_run_gets_its_limit_or_the_usual_or_what_is_left() {
        let budget = Budget { day: usd(5_000_000), ..Budget::default() };
        let spent = Spent { day: Used { micro_usd: 3_000_000, tokens: 9 }, ..Spent::default() };
        assert_eq!(budget.reserve(&spent, limits(None)), Ok(usd(1_000_000)));
        assert_eq!(budget.reserve(&spent, limits(Some(1_500_000))), Ok(usd(1_500_000)));
        assert_eq!(budget.reserve(&spent, limits(Some(9_000_000))), Ok(usd(2_000_000)));
        let spent = Spent { reserved: Used { micro_usd: 1_950_000, tokens: 0 }, ..spent };
        assert_eq!(budget.reserve(&spent, limits(None)), Ok(usd(50_000)), "the least that is sensible");
        let spent = Spent { reserved: Used { micro_usd: 1_960_000, tokens: 0 }, ..spent };
        let shortage = budget.reserve(&spent, limits(None)).unwrap_err();
        assert_eq!(
            shortage.to_string(),
            "the budget is too low: of 5.00 dollars a day, 3.00 dollars are used and 1.96 dollars \
             are reserved for running agents"
        );
        assert_eq!(budget.reserve(&spent, limits(Some(30_000))), Ok(usd(30_000)), "a small task still fits");
    }

    #[test]
    fn each_bound_counts_and_the_tightest_is_named() {
        let total = Bounds { micro_usd: Some(10_000_000), tokens: Some(100_000) };
        let budget = Budget { day: usd(5_000_000), total, ..Budget::default() };
        let used = |micro_usd, tokens| Used { micro_usd, tokens };
        let spent = Spent { day: used(0, 0), total: used(9_900_000, 40_000), reserved: used(0, 0) };
        let given = Bounds { micro_usd: Some(100_000), tokens: Some(60_000) };
        assert_eq!(budget.reserve(&spent, limits(None)), Ok(given));
        let spent = Spent { total: used(9_900_000, 85_000), ..spent };
        let Shortage(bill) = budget.reserve(&spent, limits(None)).unwrap_err();
        assert_eq!(
            (bill.period, bill.unit, bill.left(), bill.percent()),
            (Period::Total, BudgetUnit::Tokens, 15_000, 85)
        );
        let percents: Vec<u64> = budget.bills(&spent).iter().map(BoundUse::percent).collect();
        assert_eq!(percents, [0, 99, 85]);
        assert_eq!(budget.bills(&Spent { total: used(u64::MAX, 0), ..spent })[1].left(), 0);
    }

    #[test]
    fn a_run_that_needs_more_gets_it_while_there_is_enough() {
        let budget = Budget { day: usd(5_000_000), ..Budget::default() };
        let spent =
            |reserved| Spent { reserved: Used { micro_usd: reserved, tokens: 0 }, ..Spent::default() };
        let more =
            |reserved, limit, held| budget.extend(&spent(reserved), limits(limit), usd(held)).micro_usd;
        assert_eq!(more(1_000_000, None, 1_000_000), Some(2_000_000));
        assert_eq!(more(4_700_000, None, 1_000_000), Some(1_300_000), "what is left");
        assert_eq!(more(5_000_000, None, 1_000_000), Some(1_000_000));
        assert_eq!(more(900_000, Some(1_200_000), 900_000), Some(1_200_000), "up to its limit");
        assert_eq!(more(900_000, Some(900_000), 900_000), Some(900_000));
        let unbounded = Budget::default().extend(&spent(0), limits(None), usd(7));
        assert_eq!(unbounded, usd(7), "without a bound nothing is counted");
    }

    #[test]
    fn without_bounds_nothing_is_put_aside() {
        let budget = Budget::default();
        assert!(budget.is_empty() && budget.bills(&Spent::default()).is_empty());
        assert_eq!(budget.reserve(&Spent::default(), limits(Some(7))), Ok(Bounds::default()));
    }

    #[test]
    fn days_are_those_of_utc() {
        assert_eq!(
            (Day::of(Millis(-1)), Day::of(Millis(0)), Day::of(Millis(86_399_999))),
            (Day(-1), Day(0), Day(0))
        );
        assert_eq!(Day::of(Day(20_000).end()), Day(20_001));
    }

    proptest! {
        #[test]
        fn runs_together_never_get_more_than_there_is(
            bound in 0_u64..9_000_000,
            wishes in prop::collection::vec(prop::option::of(1_u64..2_000_000), 0..50),
        ) {
            let budget = Budget { day: usd(bound), ..Budget::default() };
            let mut remaining = RemainingBudget { budget, spent: Spent::default() };
            let given: u64 =
                wishes.iter().filter_map(|wish| remaining.take(limits(*wish)).ok()?.micro_usd).sum();
            prop_assert!(given <= bound, "{given} of {bound}");
            prop_assert_eq!(remaining.spent.reserved.micro_usd, given);
        }
    }
}
