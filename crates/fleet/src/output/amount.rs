//! Large numbers as people read them: three digits are enough.

/// Bytes: `412MB`, `1.2GB`.
pub(crate) fn bytes(number: u64) -> String {
    short(number, &["B", "kB", "MB", "GB", "TB"])
}

/// How many: `12.3k`.
pub(crate) fn number(number: u64) -> String {
    short(number, &["", "k", "M", "G", "T"])
}

/// Money in millionths of a dollar: `$1.25`, and `$0.0042` where a cent is too much.
pub(crate) fn money(micro_usd: u64) -> String {
    let cents = micro_usd.saturating_add(5_000) / 10_000;
    if cents == 0 && micro_usd > 0 {
        return format!("$0.{:04}", micro_usd.div_ceil(100));
    }
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// The same; nothing where nobody has told a price, which is not the same as nothing to pay.
pub(crate) fn cost(micro_usd: u64) -> String {
    if micro_usd == 0 { String::new() } else { money(micro_usd) }
}

/// Tokens; nothing for none.
pub(crate) fn tokens(count: u64) -> String {
    if count == 0 { String::new() } else { number(count) }
}

/// What agents used: `1.2k tokens in, 300 out, $0.02`.
pub(crate) fn usage(input: u64, output: u64, micro_usd: u64) -> String {
    if (input, output, micro_usd) == (0, 0, 0) {
        return String::new();
    }
    let cost = if micro_usd == 0 { String::new() } else { format!(", {}", money(micro_usd)) };
    format!("{} tokens in, {} out{cost}", number(input), number(output))
}

fn short(number: u64, units: &[&str]) -> String {
    let mut at = 0;
    // In tenths, so that no fraction is needed.
    let mut tenths = u128::from(number) * 10;
    while tenths >= 10_000 && at + 1 < units.len() {
        tenths /= 1_000;
        at += 1;
    }
    let unit = units.get(at).copied().unwrap_or_default();
    if at == 0 || tenths >= 1_000 {
        return format!("{}{unit}", tenths / 10);
    }
    format!("{}.{}{unit}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_enough() {
        let shown = |number: u64| bytes(number);
        assert_eq!([0, 999, 1_000, 12_345, 123_456].map(shown), ["0B", "999B", "1.0kB", "12.3kB", "123kB"]);
        assert_eq!(number(1_250_000_000_000_000), "1250T");
        assert_eq!(number(u64::MAX), "18446744T");
    }

    #[test]
    fn money_is_never_nothing_when_there_was_some() {
        let shown = |micro_usd: u64| money(micro_usd);
        assert_eq!(
            [0, 1, 4_200, 10_000, 1_250_000].map(shown),
            ["$0.00", "$0.0001", "$0.0042", "$0.01", "$1.25"]
        );
    }
}
