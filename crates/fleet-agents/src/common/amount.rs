//! Tokens and money, as agents write them.

/// A number of tokens or the like. Agents sometimes write integers as fractions, and never mean negative numbers.
pub(crate) fn whole(number: f64) -> Option<u64> {
    /// 2^53: far above all counters, and every integer up to it is exact as a float.
    const LARGEST_AMOUNT: f64 = 9_007_199_254_740_992.0;
    let rounded = number.round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
    (0.0..LARGEST_AMOUNT).contains(&rounded).then_some(rounded as u64)
}

pub(crate) fn micro_usd(dollars: f64) -> Option<u64> {
    whole(dollars * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_counter_could_have_is_a_number() {
        assert_eq!([0.0, 2.6, 3.0].map(whole), [Some(0), Some(3), Some(3)]);
        for odd in [-1.0, 1e300, f64::NAN, f64::INFINITY] {
            assert_eq!((whole(odd), micro_usd(odd)), (None, None), "{odd}");
        }
        assert_eq!(micro_usd(0.005_763_9), Some(5_764));
    }
}
