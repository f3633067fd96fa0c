//! `get_diff`

use std::io::{self, Write};

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::verbs::run_diff::{self, Color, Comparison, DiffStyle, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Nature, Tool};
use crate::mcp::worker;

pub(super) struct This;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The worker, or one of its runs
    worker_id: String,
    /// stat: files and numbers only; patch: the changes themselves; stat if left out
    #[serde(default)]
    format: Option<Format>,
    /// So much of the patch at once; 50000 if left out
    #[serde(default)]
    #[schemars(range(min = 1000, max = 500_000))]
    max_bytes: Option<usize>,
    /// next_cursor of the part before
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Format {
    Stat,
    Patch,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    worker_id: String,
    run_id: String,
    branch_name: Option<String>,
    base_commit: String,
    /// What is compared with the base: branch, workspace (while the agent works) or snapshot
    of: String,
    commits: Vec<Commit>,
    commit_count: u64,
    files: Vec<File>,
    file_count: u64,
    added: u64,
    deleted: u64,
    /// A part of the patch, in whole lines
    patch: Option<String>,
    /// For the next part; null at the end
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Commit {
    id: String,
    subject: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct File {
    status: String,
    path: String,
    old_path: Option<String>,
    /// Null for files that are no text
    added: Option<u64>,
    deleted: Option<u64>,
}

const USUAL: usize = 50_000;

impl Tool for This {
    type Args = Args;
    type Answer = Answer;
    const TITLE: &'static str = "See what a worker changed";
    const ABOUT: &'static str =
        "What a worker changed since it started, while it works or afterwards. Look at the stat first; ask for the patch, \
         part by part, when you review or compare. To see single files, use git with branch_name and base_commit.";
    const NATURE: Nature = Nature::Reads;

    async fn run(call: Call, args: Args) -> Outcome<Answer> {
        let engine = call.engine().await?;
        let (task, run) = worker::seen_run(&engine, &args.worker_id).await?;
        let wanted = run_diff::Request { id: run.to_string(), snapshot: None };
        let comparison = run_diff::find(&engine, &wanted).await?;
        let skip = args.cursor.as_deref().map(parse).transpose()?.unwrap_or(0);
        let format = args.format.unwrap_or(if skip > 0 { Format::Patch } else { Format::Stat });
        let most = args.max_bytes.unwrap_or(USUAL);
        let read = tokio::task::spawn_blocking(move || -> Outcome<(Summary, Option<Part>)> {
            let summary = comparison.summary()?;
            let part = if format == Format::Patch { Some(part(&comparison, skip, most)?) } else { None };
            Ok((summary, part))
        });
        let (summary, part) = read.await.map_err(|error| Problem::new(Code::Internal, error.to_string()))??;
        Ok(answer(task.to_string(), summary, part))
    }
}

fn parse(cursor: &str) -> Outcome<u64> {
    cursor.parse().map_err(|_| {
        Problem::new(Code::InvalidValue, "cursor: it is not one of get_diff")
            .hint("pass on next_cursor as it was, or leave it out to begin")
    })
}

fn answer(worker_id: String, summary: Summary, part: Option<Part>) -> Answer {
    let (patch, next) = part.map_or((None, None), |part| (Some(part.text), part.next));
    Answer {
        worker_id,
        run_id: summary.run.to_string(),
        branch_name: summary.branch,
        base_commit: summary.base,
        of: summary.of.to_owned(),
        commits: summary.commits.into_iter().map(|commit| Commit { id: commit.id, subject: commit.subject }).collect(),
        commit_count: summary.commit_count,
        files: summary.files.into_iter().map(file).collect(),
        file_count: summary.file_count,
        added: summary.added,
        deleted: summary.deleted,
        patch,
        next_cursor: next.map(|next| next.to_string()),
    }
}

fn file(file: run_diff::FileView) -> File {
    File {
        status: file.status.to_owned(),
        path: file.path,
        old_path: file.old_path,
        added: file.added,
        deleted: file.deleted,
    }
}

/// A part of a patch.
pub(in crate::mcp) struct Part {
    pub(in crate::mcp) text: String,
    /// Where the next one begins.
    pub(in crate::mcp) next: Option<u64>,
}

/// So many bytes of the patch from there on, cut after a line if there is one. Blocks.
pub(in crate::mcp) fn part(comparison: &Comparison, skip: u64, most: usize) -> Outcome<Part> {
    let mut window = Window { skip, most, kept: Vec::new(), is_full: false };
    let written = comparison.write(DiffStyle::Patch { color: Color::Never }, &mut window);
    let Window { mut kept, is_full, .. } = window;
    if !is_full {
        written?;
        return Ok(Part { text: String::from_utf8_lossy(&kept).into_owned(), next: None });
    }
    let line = kept.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    kept.truncate(line.unwrap_or_else(|| whole_characters(&kept)));
    let next = Some(skip + kept.len() as u64);
    Ok(Part { text: String::from_utf8_lossy(&kept).into_owned(), next })
}

/// So many of the bytes are whole characters.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
        _ => bytes.len(),
    }
}

/// Keeps some bytes of what is written to it, and then takes no more, so that nobody writes on in vain.
struct Window {
    skip: u64,
    most: usize,
    kept: Vec<u8>,
    is_full: bool,
}

impl Write for Window {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = usize::try_from(self.skip).unwrap_or(usize::MAX).min(bytes.len());
        self.skip -= skipped as u64;
        let rest = &bytes[skipped..];
        let room = self.most - self.kept.len();
        if rest.len() > room {
            self.kept.extend_from_slice(&rest[..room]);
            self.is_full = true;
            return Err(io::Error::other("that is enough"));
        }
        self.kept.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_keeps_its_part_and_no_more() {
        let text = b"first line\nsecond line\nthird\n";
        for (skip, most, expected, is_full) in [
            (0, 100, &text[..], false),
            (0, 29, &text[..], false),
            (0, 5, &b"first"[..], true),
            (11, 6, &b"second"[..], true),
            (23, 100, &b"third\n"[..], false),
            (500, 10, &b""[..], false),
        ] {
            for size in [1, 4, 64] {
                let mut window = Window { skip, most, kept: Vec::new(), is_full: false };
                let written = text.chunks(size).try_for_each(|chunk| window.write_all(chunk));
                assert_eq!((window.kept.as_slice(), window.is_full), (expected, is_full), "{skip} {most} {size}");
                assert_eq!(written.is_err(), is_full);
            }
        }
    }
}
