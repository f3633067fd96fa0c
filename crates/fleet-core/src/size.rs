//! Amounts of bytes as people write them.

use std::fmt;
use std::str::FromStr;

/// A number of bytes: `64MB`, `500kB`, `1GiB`, or plain bytes.
///
/// `k`, `M` and `G` count in thousands, as disks and their tools do; `Ki`, `Mi` and `Gi` count in 1024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a size: write for example 500kB, 64MB or 1GiB")]
pub struct SizeError(String);

const DECIMAL: [(&str, u64); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        parse(text).map(Self).ok_or_else(|| SizeError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let factor = match text[end..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "ki" | "kib" => 1 << 10,
        "mi" | "mib" => 1 << 20,
        "gi" | "gib" => 1 << 30,
        _ => return None,
    };
    text[..end].parse::<u64>().ok()?.checked_mul(factor)
}

/// In the largest unit that tells it exactly.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = |(_, factor): &&(&str, u64)| self.0 > 0 && self.0.is_multiple_of(*factor);
        match DECIMAL.iter().find(exact) {
            Some((unit, factor)) => write!(f, "{}{unit}", self.0 / factor),
            None => write!(f, "{}B", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        let bytes = |text: &str| text.parse::<Size>().map(|size| size.0);
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("512"), Ok(512));
        assert_eq!(bytes("512B"), Ok(512));
        assert_eq!(bytes("500kB"), Ok(500_000));
        assert_eq!(bytes("64MB"), Ok(64_000_000));
        assert_eq!(bytes("64m"), Ok(64_000_000));
        assert_eq!(bytes("2GiB"), Ok(2 << 30));
        for wrong in
            ["", "MB", "-1", "+1", "1.5MB", "1 MB", "1TBB", "1µ", "99999999999999999999", "99999999999GB"]
        {
            assert!(wrong.parse::<Size>().is_err(), "{wrong:?} was accepted");
        }
    }

    #[test]
    fn sizes_are_shown_exactly() {
        for (bytes, shown) in
            [(0, "0B"), (999, "999B"), (1_500, "1500B"), (64_000_000, "64MB"), (2_000_000_000, "2GB")]
        {
            assert_eq!(Size(bytes).to_string(), shown);
            assert_eq!(shown.parse(), Ok(Size(bytes)));
        }
    }
}
