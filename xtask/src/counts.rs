//! How many tests passed and failed, read from what the test runners print.

use std::fmt;
use std::ops::AddAssign;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 { write!(f, ", {} skipped", self.skipped) } else { Ok(()) }
    }
}

/// Who prints the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestRunner {
    /// One summary for the whole run.
    Nextest,
    /// The harness behind `cargo test`: one result for each executable and each crate's documentation.
    Libtest,
}

/// Reads the output of one runner.
#[derive(Debug)]
pub(crate) struct CountReader {
    runner: TestRunner,
    counts: Counts,
}

impl CountReader {
    pub(crate) fn new(runner: TestRunner) -> Self {
        Self { runner, counts: Counts::default() }
    }

    pub(crate) fn line(&mut self, line: &str) {
        let line = without_colours(line);
        match self.runner {
            // The last one counts: an earlier one can only be the output of a test, repeated because it
            // failed.
            TestRunner::Nextest => self.counts = nextest_summary(&line).unwrap_or(self.counts),
            TestRunner::Libtest => self.counts += libtest_result(&line).unwrap_or_default(),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }
}

/// `     Summary [   2.149s] 4 tests run: 2 passed (1 slow, 1 leaky), 1 failed, 1 timed out, 1 skipped`
fn nextest_summary(line: &str) -> Option<Counts> {
    let (_, numbers) = line.trim_start().strip_prefix("Summary [")?.split_once("run: ")?;
    let mut counts = Counts::default();
    for part in without_parentheses(numbers).split(',') {
        let (number, what) = part.trim().split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        match what.trim() {
            "passed" => counts.passed += number,
            "skipped" => counts.skipped += number,
            // Failed, failed to start, ran out of time, and whatever else there may be that is not a success.
            _ => counts.failed += number,
        }
    }
    Some(counts)
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s`
fn libtest_result(line: &str) -> Option<Counts> {
    let (_, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |what: &str| {
        let part = numbers.split("; ").find_map(|part| part.strip_suffix(what))?;
        part.trim().parse().ok()
    };
    Some(Counts { passed: count("passed")?, failed: count("failed")?, skipped: count("ignored")? })
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let outside = |character: &char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(outside).collect()
}

/// Without the sequences `ESC [ … letter`.
fn without_colours(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let first = pieces.next().unwrap_or_default();
    let rest = pieces.map(|piece| {
        piece.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).get(1..).unwrap_or_default()
    });
    [first].into_iter().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(runner: TestRunner, lines: &[&str]) -> Counts {
        let mut reader = CountReader::new(runner);
        for line in lines {
            reader.line(line);
        }
        reader.counts()
    }

    #[test]
    fn nextest_says_it_once() {
        let cases = [
            ("     Summary [   0.144s] 24 tests run: 24 passed, 0 skipped", (24, 0, 0)),
            ("     Summary [   0.012s] 1 test run: 1 passed, 0 skipped", (1, 0, 0)),
            (
                "     Summary [   2.149s] 4 tests run: 2 passed (1 slow, 1 leaky), 1 failed, 1 timed out, 3 skipped",
                (2, 2, 3),
            ),
            (
                "     Summary [ 120.001s] 15/24 tests run: 12 passed, 1 failed, 2 exec failed, 0 skipped",
                (12, 3, 0),
            ),
            (
                "\u{1b}[32;1m     Summary\u{1b}[0m [   0.214s] \u{1b}[1m2\u{1b}[0m tests run: \u{1b}[1m2\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m (\u{1b}[1m1\u{1b}[0m \u{1b}[33;1mleaky\u{1b}[0m), \u{1b}[1m3\u{1b}[0m \u{1b}[33;1mskipped\u{1b}[0m",
                (2, 0, 3),
            ),
        ];
        for (line, (passed, failed, skipped)) in cases {
            assert_eq!(read(TestRunner::Nextest, &[line]), Counts { passed, failed, skipped }, "{line}");
        }
    }

    #[test]
    fn what_a_failed_test_printed_does_not_count() {
        let lines = [
            "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 23 filtered out; finished in 1.23s",
            "    Summary [   0.1s] 7 tests run: 7 passed, 0 skipped",
            "     Summary [   1.444s] 2 tests run: 1 passed, 1 failed, 0 skipped",
            "        FAIL [   1.238s] (14/24) some test",
        ];
        assert_eq!(read(TestRunner::Nextest, &lines), Counts { passed: 1, failed: 1, skipped: 0 });
    }

    #[test]
    fn libtest_says_it_for_each_executable() {
        let lines = [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s",
            "test some::test ... FAILED",
            "test result: FAILED. 5 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s",
        ];
        assert_eq!(read(TestRunner::Libtest, &lines), Counts { passed: 8, failed: 2, skipped: 1 });
    }

    #[test]
    fn other_lines_count_nothing() {
        let lines = [
            "",
            "Summary",
            "Summary [1s] none",
            "test result: ok",
            "test result: ok. all passed",
            "\u{1b}[",
            "é\u{1b}[é",
        ];
        assert_eq!(read(TestRunner::Nextest, &lines), Counts::default());
        assert_eq!(read(TestRunner::Libtest, &lines), Counts::default());
    }

    #[test]
    fn skipped_tests_are_named_only_if_there_are_any() {
        assert_eq!(Counts { passed: 3, failed: 1, skipped: 0 }.to_string(), "3 passed, 1 failed");
        assert_eq!(Counts { passed: 3, failed: 0, skipped: 2 }.to_string(), "3 passed, 0 failed, 2 skipped");
    }
}
