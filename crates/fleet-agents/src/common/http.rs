//! What the HTTP state of a model provider means for a run.

use fleet_core::run::Reason;

/// The reason that a state stands for, if it tells enough: a 400 can be anything.
pub(crate) const fn reason_of(status: u64) -> Option<Reason> {
    match status {
        401 | 403 => Some(Reason::Auth),
        402 => Some(Reason::QuotaExhausted),
        404 => Some(Reason::BadModel),
        408 | 500..=599 => Some(Reason::ProviderOutage),
        413 => Some(Reason::ContextOverflow),
        429 => Some(Reason::RateLimited),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_tell_enough() {
        assert_eq!(reason_of(401), Some(Reason::Auth));
        assert_eq!(reason_of(404), Some(Reason::BadModel));
        assert_eq!(reason_of(429), Some(Reason::RateLimited));
        assert_eq!(reason_of(529), Some(Reason::ProviderOutage));
        assert_eq!((reason_of(200), reason_of(400), reason_of(600)), (None, None, None));
    }
}
