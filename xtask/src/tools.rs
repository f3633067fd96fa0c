//! What the checks need on this machine: a table, how each is found, and how it is installed where it is
//! missing.
//!
//! Installs without asking only where that is usual: packages as root on Debian and its kin (containers),
//! components of the toolchain through rustup. Elsewhere it says what to install. To add a tool, add a row to
//! [`TOOLS`].

use std::ffi::OsStr;
use std::path::Path;
use std::{env, fs};

use fleet_testkit::postgres::Binaries;

use crate::failure::Failure;
use crate::process::{self, cargo};
use crate::step::Step;

struct RequiredTool {
    name: &'static str,
    find: Find,
    source: ToolSource,
}

/// How it is seen that a tool is there.
enum Find {
    /// A program of this name.
    OnPath(&'static str),
    /// `cargo NAME --version` works; that the file exists is not enough, because rustup puts one there for
    /// everything.
    Cargo(&'static str),
    /// The programs of the server, which are seldom on `PATH`.
    Postgres,
}

/// Where a tool comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolSource {
    Package { debian: &'static str, macos: &'static str },
    Component(&'static str),
}

const TOOLS: [RequiredTool; 5] = [
    RequiredTool {
        name: "git",
        find: Find::OnPath("git"),
        source: ToolSource::Package { debian: "git", macos: "brew install git" },
    },
    RequiredTool {
        name: "a C compiler",
        find: Find::OnPath("cc"),
        source: ToolSource::Package { debian: "build-essential", macos: "xcode-select --install" },
    },
    RequiredTool {
        name: "the PostgreSQL server",
        find: Find::Postgres,
        source: ToolSource::Package { debian: POSTGRESQL, macos: "brew install postgresql@17" },
    },
    RequiredTool { name: "rustfmt", find: Find::Cargo("fmt"), source: ToolSource::Component("rustfmt") },
    RequiredTool { name: "clippy", find: Find::Cargo("clippy"), source: ToolSource::Component("clippy") },
];

const POSTGRESQL: &str = "postgresql";
const CLUSTER_SETTINGS: &str = "/etc/postgresql-common/createcluster.conf";

/// Makes sure that every tool of the table is there, or says what to do.
pub(crate) fn ensure() -> Result<(), Failure> {
    let step = Step::begin("tools");
    let machine = BuildMachine::this();
    match plan(&missing(is_there), machine) {
        InstallPlan::Nothing => {}
        InstallPlan::Tell(text) => return Err(Failure::MissingTools(text)),
        InstallPlan::Install { packages, components } => {
            install(&packages, &components)?;
            let still = missing(is_there);
            if !still.is_empty() {
                return Err(Failure::MissingTools(advice(&still, machine)));
            }
        }
    }
    step.end("ok");
    Ok(())
}

/// Installs a package of Debian where that is usual. False where it is not.
pub(crate) fn install_package(debian: &'static str) -> Result<bool, Failure> {
    let machine = BuildMachine::this();
    let usual = machine.debian && machine.root;
    if usual {
        install(&[debian], &[])?;
    }
    Ok(usual)
}

/// Shells in which completion scripts are tested.
const SHELLS: [&str; 2] = ["zsh", "fish"];

/// Installs the shells where that is usual. Elsewhere their tests are skipped, and only CI insists.
pub(crate) fn ensure_shells() {
    let is_missing = |shell: &&'static str| !is_there(&Find::OnPath(shell));
    let missing: Vec<&'static str> = SHELLS.into_iter().filter(is_missing).collect();
    if missing.is_empty() {
        return;
    }
    let (step, machine) = (Step::begin("shells"), BuildMachine::this());
    let is_installed = machine.debian && machine.root && install(&missing, &[]).is_ok();
    let what = missing.join(" and ");
    step.end(&if is_installed {
        format!("installed {what}")
    } else {
        format!("skipped: there is no {what}")
    });
}

fn missing(is_there: impl Fn(&Find) -> bool) -> Vec<&'static RequiredTool> {
    TOOLS.iter().filter(|tool| !is_there(&tool.find)).collect()
}

fn is_there(find: &Find) -> bool {
    match find {
        Find::OnPath(program) => on_path(program, &env::var_os("PATH").unwrap_or_default()),
        Find::Cargo(name) => process::succeeds(cargo().args([name, "--version"])),
        Find::Postgres => Binaries::find().is_some(),
    }
}

fn on_path(program: &str, path: &OsStr) -> bool {
    env::split_paths(path).any(|dir| dir.join(program).is_file())
}

/// What matters about the machine for installing.
#[derive(Debug, Clone, Copy)]
struct BuildMachine {
    debian: bool,
    root: bool,
    rustup: bool,
}

impl BuildMachine {
    fn this() -> Self {
        let has = |program| is_there(&Find::OnPath(program));
        Self {
            debian: Path::new("/etc/debian_version").exists() && has("apt-get"),
            root: rustix::process::geteuid().is_root(),
            rustup: has("rustup"),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum InstallPlan {
    Nothing,
    Install { packages: Vec<&'static str>, components: Vec<&'static str> },
    Tell(String),
}

fn plan(missing: &[&RequiredTool], machine: BuildMachine) -> InstallPlan {
    let (packages, components) = (packages(missing), components(missing));
    let packages_can = packages.is_empty() || (machine.debian && machine.root);
    let components_can = components.is_empty() || machine.rustup;
    if missing.is_empty() {
        InstallPlan::Nothing
    } else if packages_can && components_can {
        InstallPlan::Install { packages, components }
    } else {
        InstallPlan::Tell(advice(missing, machine))
    }
}

fn packages(tools: &[&RequiredTool]) -> Vec<&'static str> {
    let package = |tool: &&RequiredTool| match tool.source {
        ToolSource::Package { debian, .. } => Some(debian),
        ToolSource::Component(_) => None,
    };
    tools.iter().filter_map(package).collect()
}

fn components(tools: &[&RequiredTool]) -> Vec<&'static str> {
    let component = |tool: &&RequiredTool| match tool.source {
        ToolSource::Component(name) => Some(name),
        ToolSource::Package { .. } => None,
    };
    tools.iter().filter_map(component).collect()
}

/// What is missing, then commands to be copied.
fn advice(missing: &[&RequiredTool], machine: BuildMachine) -> String {
    let names: Vec<_> = missing.iter().map(|tool| tool.name).collect();
    let mut lines = vec![format!("missing: {}. Install with:", names.join(", "))];
    let packages = packages(missing);
    if machine.debian && !packages.is_empty() {
        let sudo = if machine.root { "" } else { "sudo " };
        lines.push(format!("  {sudo}apt-get install {}", packages.join(" ")));
    } else {
        lines.extend(missing.iter().filter_map(|tool| advice_elsewhere(tool)));
    }
    let components = components(missing);
    if !components.is_empty() {
        lines.push(format!("  rustup component add {}", components.join(" ")));
    }
    lines.join("\n")
}

fn advice_elsewhere(tool: &RequiredTool) -> Option<String> {
    let ToolSource::Package { debian, macos } = tool.source else { return None };
    Some(format!("  {macos}    (macOS; elsewhere what Debian calls {debian}, for {})", tool.name))
}

/// One thing to do with root's rights.
#[derive(Debug, PartialEq, Eq)]
enum RootAction {
    Apt(Vec<&'static str>),
    /// Debian's package would otherwise make a database server of its own and leave it running.
    NoMainCluster,
}

/// The settings of clusters belong to a package of their own, which must be there before they can be changed:
/// a file put there beforehand would be taken for a changed one and asked about.
fn actions(packages: &[&'static str]) -> Vec<RootAction> {
    let mut actions = Vec::new();
    if packages.is_empty() {
        return actions;
    }
    actions.push(RootAction::Apt(vec!["update"]));
    if packages.contains(&POSTGRESQL) {
        actions.push(RootAction::Apt(vec![
            "install",
            "--yes",
            "--no-install-recommends",
            "postgresql-common",
        ]));
        actions.push(RootAction::NoMainCluster);
    }
    actions.push(RootAction::Apt([&["install", "--yes", "--no-install-recommends"], packages].concat()));
    actions
}

fn install(packages: &[&'static str], components: &[&'static str]) -> Result<(), Failure> {
    for action in actions(packages) {
        match action {
            RootAction::Apt(arguments) => apt_get(&arguments)?,
            RootAction::NoMainCluster => forbid_main_cluster()?,
        }
    }
    if components.is_empty() {
        return Ok(());
    }
    let arguments = [&["component", "add"], components].concat();
    let ok = process::run(process::command("rustup").args(&arguments))?;
    if ok { Ok(()) } else { Err(Failure::Install { command: format!("rustup {}", arguments.join(" ")) }) }
}

fn apt_get(arguments: &[&str]) -> Result<(), Failure> {
    let mut command = process::command("apt-get");
    // Another installation may be under way, as on a machine that has just been started.
    command.args(["-o", "DPkg::Lock::Timeout=300"]).args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    if process::run(&mut command)? {
        Ok(())
    } else {
        Err(Failure::Install { command: format!("apt-get {}", arguments.join(" ")) })
    }
}

fn forbid_main_cluster() -> Result<(), Failure> {
    let cannot = |source| Failure::File { path: CLUSTER_SETTINGS, source };
    let settings = fs::read_to_string(CLUSTER_SETTINGS).map_err(cannot)?;
    fs::write(CLUSTER_SETTINGS, without_main_cluster(&settings)).map_err(cannot)
}

fn without_main_cluster(settings: &str) -> String {
    let others = settings.lines().filter(|line| !line.trim_start().starts_with("create_main_cluster"));
    others.chain(["create_main_cluster = false", ""]).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
