//! What was measured: a table for people, JSON for programs.

use std::path::PathBuf;

use serde::Serialize;

/// One figure against its baseline.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ReportRow {
    pub(crate) what: String,
    /// The figure with its unit.
    pub(crate) figure: String,
    pub(crate) baseline: String,
    /// Figure divided by baseline.
    pub(crate) ratio: f64,
    pub(crate) goal: Goal,
    pub(crate) met: bool,
    /// Where the time goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl ReportRow {
    pub(crate) fn new(
        what: impl Into<String>,
        figure: (f64, &str),
        baseline: (f64, &str),
        goal: Goal,
    ) -> Self {
        let ratio = figure.0 / baseline.0;
        let met = match goal {
            Goal::AtMost(bound) => ratio <= bound,
            Goal::AtLeast(bound) => ratio >= bound,
        };
        let figure = format!("{} {}", digits(figure.0), figure.1);
        let baseline = format!("{} {}", digits(baseline.0), baseline.1);
        Self { what: what.into(), figure, baseline, ratio, goal, met, note: None }
    }

    /// With a word on where the time goes, which is told if the goal is missed.
    pub(crate) fn note(self, text: &str) -> Self {
        Self { note: Some(text.to_owned()), ..self }
    }
}

fn digits(number: f64) -> String {
    if number >= 100.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct BenchReport {
    benches: Vec<NamedBench>,
}

#[derive(Debug, Serialize)]
struct NamedBench {
    name: String,
    rows: Vec<ReportRow>,
}

impl BenchReport {
    pub(crate) fn add(&mut self, name: &str, rows: Vec<ReportRow>) {
        self.benches.push(NamedBench { name: name.to_owned(), rows });
    }

    /// Markdown, as it is in docs/benchmarks.md.
    pub(crate) fn table(&self) -> String {
        let mut lines = vec![
            "| what | figure | baseline in the same run | ratio | goal | met |".to_owned(),
            "|---|---|---|---|---|---|".to_owned(),
        ];
        for row in self.benches.iter().flat_map(|bench| &bench.rows) {
            let goal = match row.goal {
                Goal::AtMost(bound) => format!("≤ {bound}"),
                Goal::AtLeast(bound) => format!("≥ {bound}"),
            };
            let met = if row.met { "yes" } else { "**no**" };
            lines.push(format!(
                "| {} | {} | {} | {:.2} | {goal} | {met} |",
                row.what, row.figure, row.baseline, row.ratio
            ));
        }
        let missed = self.benches.iter().flat_map(|bench| &bench.rows).filter(|row| !row.met);
        let notes = missed.filter_map(|row| Some(format!("- {}: {}", row.what, row.note.as_ref()?)));
        let notes: Vec<String> = notes.collect();
        if !notes.is_empty() {
            lines.extend([String::new(), "Where the time goes:".to_owned(), String::new()]);
            lines.extend(notes);
        }
        lines.join("\n")
    }

    pub(crate) fn write(&self) -> PathBuf {
        let path = PathBuf::from("target/bench.json");
        std::fs::write(&path, serde_json::to_string_pretty(self).expect("plain data"))
            .expect("target/ is writable");
        path
    }
}
