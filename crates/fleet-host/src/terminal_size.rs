//! How large a terminal is.

/// In characters. Its bounds are part of the type: whoever attaches says how large they are, and a screen takes memory for
/// each of its cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TerminalSize {
    columns: u16,
    rows: u16,
}

impl TerminalSize {
    pub const LARGEST: Self = Self { columns: 500, rows: 200 };
    /// A wide character needs two columns.
    pub const SMALLEST: Self = Self { columns: 2, rows: 1 };

    /// The nearest size within the bounds. Zero means that a terminal does not know, as on some serial lines: it counts as
    /// 80 or 24.
    pub fn new(columns: u16, rows: u16) -> Self {
        let known = |given: u16, otherwise: u16| if given == 0 { otherwise } else { given };
        let usual = Self::default();
        Self {
            columns: known(columns, usual.columns).clamp(Self::SMALLEST.columns, Self::LARGEST.columns),
            rows: known(rows, usual.rows).clamp(Self::SMALLEST.rows, Self::LARGEST.rows),
        }
    }

    pub fn columns(self) -> u16 {
        self.columns
    }

    pub fn rows(self) -> u16 {
        self.rows
    }
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { columns: 80, rows: 24 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_within_bounds() {
        assert_eq!(TerminalSize::new(200, 50), TerminalSize { columns: 200, rows: 50 });
        assert_eq!(TerminalSize::new(0, 0), TerminalSize { columns: 80, rows: 24 });
        assert_eq!(TerminalSize::new(1, 1), TerminalSize::SMALLEST);
        assert_eq!(TerminalSize::new(u16::MAX, u16::MAX), TerminalSize::LARGEST);
    }
}
