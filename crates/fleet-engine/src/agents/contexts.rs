//! How much the models of agents can read.

use fleet_agents::vendors;

/// As the vendors publish them, and as their agents report them. Codex and agents that speak ACP say it themselves.
const KNOWN: &[(&str, u64)] = &[
    ("claude-opus-5*", 1_000_000),
    ("claude-sonnet-5*", 1_000_000),
    ("claude-opus-4*", 200_000),
    ("claude-sonnet-4*", 200_000),
    ("claude-haiku-4*", 200_000),
    ("gemini-2.5*", 1_048_576),
    ("gemini-3*", 1_048_576),
];

/// What Claude Code calls a model that reads more than it usually does, and how much that is.
const LONG: (&str, u64) = ("[1m]", 1_000_000);

/// How much the models of an agent can read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextSizes {
    /// What the user says about all models of the agent.
    pub of_agent: Option<u64>,
    /// What the user says about models, by name or beginning.
    pub of_models: Vec<(String, u64)>,
}

impl ContextSizes {
    /// What the user says comes first, then what the agent `told` about the model at hand, then what is known about it.
    pub fn find(&self, told: Option<u64>, model: Option<&str>) -> Option<u64> {
        let own = || self.of_models.iter().find(|(pattern, _)| model.is_some_and(|it| fits(pattern, it)));
        self.of_agent.or_else(|| own().map(|(_, size)| *size)).or(told).or_else(|| known(model?))
    }
}

fn known(model: &str) -> Option<u64> {
    if model.ends_with(LONG.0) {
        return Some(LONG.1);
    }
    KNOWN.iter().find(|(pattern, _)| fits(pattern, model)).map(|(_, size)| *size)
}

fn fits(pattern: &str, model: &str) -> bool {
    vendors::matches(pattern, model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_counts_more_than_the_agent_and_both_more_than_the_table() {
        let none = ContextSizes::default();
        assert_eq!(none.find(None, Some("claude-opus-4-8")), Some(200_000));
        assert_eq!(none.find(None, Some("claude-sonnet-4-5[1m]")), Some(1_000_000));
        assert_eq!(none.find(Some(272_000), Some("gpt-5.4")), Some(272_000));
        assert_eq!(none.find(None, Some("gpt-5.4")), None, "unknown is not guessed");
        assert_eq!(none.find(None, None), None);
        let of_models = vec![("claude-opus*".to_owned(), 5_000)];
        let own = ContextSizes { of_agent: None, of_models: of_models.clone() };
        assert_eq!(own.find(Some(9), Some("claude-opus-4-8")), Some(5_000));
        assert_eq!(own.find(Some(9), Some("other")), Some(9));
        let all = ContextSizes { of_agent: Some(7), of_models };
        assert_eq!(all.find(Some(9), Some("claude-opus-4-8")), Some(7));
    }
}
