//! Whose model a name is.
//!
//! Owns the table of how vendors name their models: data, to be read and extended in one place. It only knows names that
//! cannot be mistaken. Must never refuse anything itself: a gateway may serve every model under every name, and the user
//! who has one says so in the configuration.

/// A vendor, as adapters name their provider, and the beginnings of the names of its models.
struct Vendor {
    provider: &'static str,
    /// A `*` at the end stands for anything.
    models: &'static [&'static str],
}

const VENDORS: &[Vendor] = &[
    Vendor {
        provider: "anthropic",
        models: &["claude-*", "opus", "opus[1m]", "sonnet", "sonnet[1m]", "haiku", "opusplan"],
    },
    Vendor {
        provider: "openai",
        models: &["gpt-*", "chatgpt-*", "codex-*", "o1", "o1-*", "o3", "o3-*", "o4-*"],
    },
    Vendor { provider: "google", models: &["gemini-*"] },
];

/// The vendor of a model, by its name. A name with a `/` names its provider itself, in the words of some agent, and
/// matches no vendor here.
pub fn vendor_of(model: &str) -> Option<&'static str> {
    let fits = |pattern: &&str| matches(pattern, model);
    VENDORS.iter().find(|vendor| vendor.models.iter().any(fits)).map(|vendor| vendor.provider)
}

/// The vendor of this model, if it is surely another one than the provider of an agent. A provider that serves many
/// vendors' models is not a vendor, so that it accepts any model.
pub fn other_vendor(provider: &str, model: &str) -> Option<&'static str> {
    let is_vendor = VENDORS.iter().any(|vendor| vendor.provider == provider);
    vendor_of(model).filter(|vendor| is_vendor && *vendor != provider)
}

/// Whether a pattern, in which only a `*` at the end is special, is for this model.
pub fn matches(pattern: &str, model: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => model.starts_with(beginning),
        None => model == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_vendor_or_nothing() {
        for (model, vendor) in [
            ("claude-opus-4-5", Some("anthropic")),
            ("sonnet", Some("anthropic")),
            ("gpt-5-codex", Some("openai")),
            ("o3", Some("openai")),
            ("o3-mini", Some("openai")),
            ("gemini-2.5-pro", Some("google")),
            ("openai/gpt-5", None),
            ("o30", None),
            ("sonnets", None),
            ("qwen3-coder", None),
            ("", None),
        ] {
            assert_eq!(vendor_of(model), vendor, "{model}");
        }
    }

    #[test]
    fn only_vendors_know_strangers() {
        assert_eq!(other_vendor("openai", "claude-opus-4-5"), Some("anthropic"));
        assert_eq!(other_vendor("openai", "gpt-5"), None);
        assert_eq!(other_vendor("openai", "my-own-model"), None);
        assert_eq!(other_vendor("opencode", "claude-opus-4-5"), None);
    }

    #[test]
    fn a_star_at_the_end_stands_for_anything() {
        assert!(matches("gpt-5*", "gpt-5-mini") && matches("gpt-5*", "gpt-5") && matches("*", "x"));
        assert!(!matches("gpt-5", "gpt-5-mini") && !matches("gpt*5", "gpt-5") && matches("a*b", "a*b"));
    }
}
