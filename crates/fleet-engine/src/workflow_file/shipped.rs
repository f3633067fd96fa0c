//! The workflows that come with codefleet.

use std::path::PathBuf;

use super::{FileFormat, SourceFile, WorkflowOrigin};

#[derive(Debug, Clone, Copy)]
pub(crate) struct ShippedFile {
    pub(crate) name: &'static str,
    /// What it is good for, in one line.
    pub(crate) about: &'static str,
    pub(crate) text: &'static str,
}

impl ShippedFile {
    /// As if it had been found.
    pub(crate) fn source(&self) -> SourceFile {
        let path = PathBuf::from(format!("{}.toml", self.name));
        SourceFile {
            text: self.text.to_owned(),
            format: FileFormat::Toml,
            label: path.display().to_string(),
            path,
            kind: WorkflowOrigin::Shipped,
        }
    }
}

macro_rules! shipped {
    ($($name:literal: $about:literal,)+) => {
        /// All of them, the simplest first.
        pub(crate) const SHIPPED: &[ShippedFile] = &[$(ShippedFile {
            name: $name,
            about: $about,
            text: include_str!(concat!("../../workflows/", $name, ".toml")),
        },)+];
    };
}

shipped! {
    "write-review-refine": "one agent writes, another reviews, the first fixes the findings",
    "parallel-review": "two halves at the same time, then one review of both",
    "compete-judge": "two agents do the same task; a judge picks the better diff",
    "plan-fanout-integrate": "plan independent pieces, one agent each, merge everything",
    "bug-hunt": "a failing test, then the fix, then a sceptical review",
}
