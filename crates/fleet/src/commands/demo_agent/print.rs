//! What the demo agent prints.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use fleet_agents::demo::DemoLine;

/// Whether people read it, in a terminal.
static IS_FOR_PEOPLE: AtomicBool = AtomicBool::new(false);

/// From now on people read it.
pub(super) fn for_people() {
    IS_FOR_PEOPLE.store(true, Ordering::Relaxed);
}

/// One line of the documented format; for people, its words.
pub(super) fn line(line: &DemoLine) -> io::Result<()> {
    if IS_FOR_PEOPLE.load(Ordering::Relaxed) {
        return words(line).map_or(Ok(()), |words| raw(&words));
    }
    raw(&serde_json::to_string(line)?)
}

fn words(line: &DemoLine) -> Option<String> {
    match line {
        DemoLine::Text { text } | DemoLine::Thinking { text } | DemoLine::Question { text } => {
            Some(text.clone())
        }
        DemoLine::Tool { name, input, .. } => Some(format!("* {name} {input}")),
        DemoLine::ToolResult { ok: false, output, .. } => Some(format!("  failed: {output}")),
        DemoLine::Error { text, .. } => Some(format!("error: {text}")),
        DemoLine::Result { .. } => Some("Done.".to_owned()),
        _ => None,
    }
}

pub(super) fn raw(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

pub(super) fn stderr(text: &str) -> io::Result<()> {
    writeln!(io::stderr().lock(), "{text}")
}

/// Bytes of all values, the same in every run; line ends are among them.
pub(super) fn binary(bytes: u64) -> io::Result<()> {
    // A full-period generator modulo 2^32; its upper bits look random enough.
    let mut state: u32 = 1;
    let block: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(BLOCK)
    .collect();
    repeat(&block, bytes)
}

/// So many bytes of text, in lines of a hundred or without any.
pub(super) fn flood(bytes: u64, lines: bool) -> io::Result<()> {
    let mut line = "x".repeat(100);
    if lines {
        line.replace_range(99.., "\n");
    }
    repeat(line.repeat(BLOCK / 100).as_bytes(), bytes)
}

const BLOCK: usize = 64_000;

/// Repeats the block until this many bytes are written, and ends the line.
fn repeat(block: &[u8], bytes: u64) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let mut left = bytes;
    while left > 0 {
        let now = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        out.write_all(&block[..now])?;
        left -= now as u64;
    }
    out.write_all(b"\n")?;
    out.flush()
}
