mod dialogue;
mod hostile;
mod plans;
mod recordings;
pub(crate) mod replay;
mod traps;

use std::path::Path;

use super::*;
use replay::{Recording, Seen, names, recording, replay};

fn brief() -> Brief<'static> {
    Brief { scratch: Path::new("/run/scratch"), ..Brief::plain("Do it", Path::new("/run/tree")) }
}

/// The events of some lines of standard output.
fn lines(decoder: &mut dyn Decoder, lines: &[serde_json::Value]) -> Seen {
    let mut seen = Seen::default();
    for line in lines {
        seen.see_all(&decoder.line(crate::adapter::Stream::Out, line.to_string().as_bytes(), false));
    }
    seen
}
