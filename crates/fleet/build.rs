//! Lists the commands, so that a new one needs no entry in a list.
//!
//! Every file in `src/commands` that holds a struct of its own name with arguments is a command: `why.rs` with
//! `struct Why`, or with `Why(why)` in `command!`. A folder with such a `mod.rs` is one, too, and the commands in it are those
//! of a group.

#![expect(clippy::disallowed_methods, reason = "Cargo tells a build script where things are by variables")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src/commands");
    let variable = |name| env::var(name).map(PathBuf::from).map_err(io::Error::other);
    let folder = variable("CARGO_MANIFEST_DIR")?.join("src/commands");
    let out = variable("OUT_DIR")?;
    let modules = modules(&folder)?;
    fs::write(out.join("commands.rs"), of_all(&modules) + &groups("", &folder, &modules)?)
}

/// The macros of all groups below a folder.
fn groups(of: &str, folder: &Path, modules: &[Module]) -> io::Result<String> {
    let mut macros = String::new();
    for group in modules.iter().filter(|module| module.is_folder) {
        let (name, folder) = (format!("{of}{}_", group.name), folder.join(&group.name));
        let inner = self::modules(&folder)?;
        macros += &of_group(&name, &inner);
        macros += &groups(&name, &folder, &inner)?;
    }
    Ok(macros)
}

struct Module {
    name: String,
    is_folder: bool,
    command: Option<Command>,
}

struct Command {
    /// The type that has its arguments.
    of: String,
    kind: CommandKind,
}

enum CommandKind {
    /// It has a run function that wants an engine.
    InContext,
    /// It can do without, whatever is wrong with the user's home.
    Alone,
}

/// All modules of a folder, by their names.
fn modules(folder: &Path) -> io::Result<Vec<Module>> {
    let mut modules = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let inner = path.join("mod.rs");
        let is_folder = inner.exists();
        let file = if is_folder { inner } else { path.clone() };
        let is_source = file.extension().is_some_and(|extension| extension == "rs");
        let name = path.file_stem().and_then(|name| name.to_str()).filter(|name| is_source && *name != "mod");
        if let Some(name) = name {
            let command = command(&fs::read_to_string(&file)?, name);
            modules.push(Module { name: name.to_owned(), is_folder, command });
        }
    }
    modules.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(modules)
}

/// The command that a module is, if it is one. Where its name means something else, the type is called `DoneCommand`.
fn command(source: &str, name: &str) -> Option<Command> {
    let mut names = [camel(name), format!("{}Command", camel(name))].into_iter();
    if source.contains("\ncommand! {") {
        let of = names.find(|name| source.contains(&format!("\n    {name}(")))?;
        return Some(Command { of, kind: CommandKind::InContext });
    }
    let of = names.find(|name| source.contains(&format!("struct {name} {{")))?;
    let is_in_context = source.contains("fn run(self, context: &Context)");
    let kind = if is_in_context { CommandKind::InContext } else { CommandKind::Alone };
    source.contains("fn run(self").then_some(Command { of, kind })
}

/// `demo_agent` as `DemoAgent`.
fn camel(name: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(word).collect()
}

fn declarations(modules: &[Module]) -> String {
    modules.iter().fold(String::new(), |text, module| text + "mod " + &module.name + ";\n")
}

fn variants(modules: &[Module]) -> String {
    let mut text = String::new();
    for module in modules {
        if let Some(command) = &module.command {
            let _ = writeln!(text, "    {}(Box<{}::{}>),", camel(&module.name), module.name, command.of);
        }
    }
    text
}

fn arms(modules: &[Module], arm: impl Fn(&CommandKind) -> &'static str) -> String {
    let mut text = String::new();
    for module in modules {
        if let Some(command) = &module.command {
            let _ = writeln!(
                text,
                "            Self::{}(command) => {},",
                camel(&module.name),
                arm(&command.kind)
            );
        }
    }
    text
}

/// A macro, because modules are looked for beside the file that calls it.
fn named(name: &str, body: &str) -> String {
    format!("macro_rules! {name} {{\n() => {{\n{body}}};\n}}\n")
}

/// `group` is such as `task_dep_`.
fn of_group(group: &str, modules: &[Module]) -> String {
    let body = format!(
        "{}\n/// The commands of this group.\n#[derive(Debug, clap::Subcommand)]\nenum Command {{\n{}}}\n\n\
         impl Command {{\n    async fn run(self, context: &Context) -> Done {{\n        match self {{\n{}        }}\n    }}\n}}\n",
        declarations(modules),
        variants(modules),
        arms(modules, |_| "Box::pin(command.run(context)).await"),
    );
    let has_commands = modules.iter().any(|module| module.command.is_some());
    if has_commands { named(&format!("{group}commands"), &body) } else { String::new() }
}

fn of_all(modules: &[Module]) -> String {
    let arm = |kind: &CommandKind| match kind {
        CommandKind::InContext => {
            "invocation.in_context(Box::new(move |context| Box::pin(command.run(context))))"
        }
        CommandKind::Alone => "command.run(invocation.output)",
    };
    let body = format!(
        "{}\n/// Every command.\n#[derive(Debug, clap::Subcommand)]\npub(crate) enum Command {{\n{}}}\n\n\
         impl Command {{\n    fn run(self, invocation: &Invocation) -> Done {{\n        match self {{\n{}        }}\n    }}\n\n    \
         /// One command, by its name: to define all of them takes longer than to run most.\n    \
         pub(crate) fn definition(name: &str) -> Option<clap::Command> {{\n        \
         Some(match name {{\n{}            _ => return None,\n        }})\n    }}\n}}\n",
        declarations(modules),
        variants(modules),
        arms(modules, arm),
        definitions(modules),
    );
    named("all_commands", &body)
}

fn definitions(modules: &[Module]) -> String {
    let mut text = String::new();
    for module in modules {
        if let Some(command) = &module.command {
            let (typed, name, of) = (module.name.replace('_', "-"), &module.name, &command.of);
            let _ = writeln!(
                text,
                "            \"{typed}\" => <{name}::{of} as clap::Args>::augment_args(clap::Command::new(\"{typed}\")),"
            );
        }
    }
    text
}
