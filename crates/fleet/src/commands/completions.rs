use clap::Args;
use clap_complete::Shell;

use crate::Done;
use crate::cli::Cli;
use crate::output::{Output, print};

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_help = INSTALL)]
#[command(display_order = 360)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

const INSTALL: &str = "Install:
  bash  fleet completions bash > ~/.local/share/bash-completion/completions/fleet
  zsh   fleet completions zsh > ~/.zfunc/_fleet      (with ~/.zfunc in $fpath)
  fish  fleet completions fish > ~/.config/fish/completions/fleet.fish";

impl Completions {
    pub(crate) fn run(self, _: Output) -> Done {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::shown(), "fleet", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
