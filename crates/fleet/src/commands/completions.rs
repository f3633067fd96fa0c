use clap::Args;
use clap_complete::Shell;

use crate::Done;
use crate::cli::Cli;
use crate::output::{Output, print};

/// Print a shell completion script
///
/// In bash, zsh and fish it also completes branches, ids, batches, workflows and agents.
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
        print(&with_names(self.shell, &String::from_utf8_lossy(&script)))
    }
}

/// The script, and in the shells that most people use also names of tasks, batches, workflows and agents.
fn with_names(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{BASH}"),
        Shell::Zsh => {
            let named = script.replace(":_default", ":_fleet_names");
            named.replacen("_fleet() {", &format!("{ZSH}_fleet() {{"), 1)
        }
        Shell::Fish => format!("{script}{FISH}"),
        _ => script.to_owned(),
    }
}

/// Without `compgen -W`, which would run what a name holds, and without what the bash of macOS lacks.
const BASH: &str = r#"
_fleet_with_names() {
    _fleet "$@"
    local cur="${COMP_WORDS[COMP_CWORD]}" names name
    [[ "$cur" == -* ]] && return 0
    names="$(command fleet complete-names -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)"
    [[ -z "$names" ]] && return 0
    COMPREPLY=()
    while IFS= read -r name; do
        [[ "$name" == "$cur"* ]] && COMPREPLY+=("$(printf '%q' "$name")")
    done <<< "$names"
    return 0
}

complete -F _fleet_with_names -o nosort -o bashdefault -o default fleet 2>/dev/null ||
    complete -F _fleet_with_names -o bashdefault -o default fleet
"#;

const ZSH: &str = r#"_fleet_names() {
    # Within a subcommand, $words no longer has the whole line.
    local -a typed names
    typed=(${(z)LBUFFER})
    [[ $LBUFFER == *[[:space:]] ]] || typed=($typed[1,-2])
    names=(${(f)"$(command fleet complete-names -- $typed[2,-1] 2>/dev/null)"})
    if (( $#names )); then
        compadd -a names
    else
        _default
    fi
}

"#;

const FISH: &str = r"
complete -c fleet -a '(command fleet complete-names -- (commandline -opc)[2..] 2>/dev/null)'
";
