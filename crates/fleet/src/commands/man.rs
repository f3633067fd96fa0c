use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use fleet_core::problem::{Code, Problem};

use crate::Done;
use crate::cli::Cli;
use crate::output::{Output, print};

/// Show the manual page, or write all pages to a folder
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fleet man --dir ~/.local/share/man/man1")]
#[command(display_order = 370)]
pub(crate) struct Man {
    /// Write one page per command into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, _: Output) -> Done {
        if let Some(dir) = self.dir {
            let written =
                std::fs::create_dir_all(&dir).and_then(|()| clap_mangen::generate_to(Cli::command(), &dir));
            return written.map_err(|error| {
                Problem::new(Code::Io, format!("cannot write the manual to {}: {error}", dir.display()))
            });
        }
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command())
            .render(&mut page)
            .map_err(|error| Problem::new(Code::Internal, format!("cannot make the manual: {error}")))?;
        if std::io::stdout().is_terminal() && open(&page).is_ok() {
            return Ok(());
        }
        print(&String::from_utf8_lossy(&page))
    }
}

/// Shows the page with `man`, which wants a file.
fn open(page: &[u8]) -> Done {
    let file = std::env::temp_dir().join(format!("fleet-{}.1", std::process::id()));
    let unwritable = |error: std::io::Error| Problem::new(Code::Io, format!("{}: {error}", file.display()));
    let mut written = std::fs::File::create_new(&file).map_err(unwritable)?;
    let shown =
        written.write_all(page).map_err(unwritable).and_then(|()| fleet_engine::edit_file("man", &file));
    let _ = std::fs::remove_file(&file);
    shown
}
