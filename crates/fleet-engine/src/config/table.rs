//! What can be configured, as data.
//!
//! Owns the table of keys. Must never decide anything. A new setting is one row here and one accessor.

mod agents;
mod failures;

use super::form::{Form, NoDuration};
use super::keys::{Fixed, Key, Kind, Scope};
use agents::AGENTS;
use failures::FAILURES;

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

const CAP: Kind = Kind::Integer { min: 0, max: 10_000 };
const PORT: Kind = Kind::Integer { min: 1_024, max: 65_535 };
const OPTIONAL: Kind = duration(30 * DAY, NoDuration::Allowed);
const EVERY: Kind = duration(DAY, NoDuration::Allowed);
const SETUP: Kind = duration(DAY, NoDuration::Refused);
/// Short, because a project may set it, and whoever stops a run waits for it.
const GRACE: Kind = duration(HOUR, NoDuration::Refused);
/// Never none: a run that prints without end must not fill the disk.
const LOG: Kind = Kind::String(Form::Size { least: 1_000, most: 100_000_000_000 });

const fn duration(most: u64, none: NoDuration) -> Kind {
    Kind::String(Form::Duration { most, none })
}

/// Every key, in the order in which they are shown.
pub const KEYS: &[Key] = &ALL;

const ALL: [Key; GENERAL.len() + FAILURES.len() + AGENTS.len()] = joined([GENERAL, FAILURES, AGENTS]);

/// One list of several: so that each can have a file of its own.
const fn joined<const N: usize>(lists: [&[Key]; 3]) -> [Key; N] {
    let mut all = [GENERAL[0]; N];
    let (mut at, mut list) = (0, 0);
    while list < lists.len() {
        let mut row = 0;
        while row < lists[list].len() {
            all[at] = lists[list][row];
            at += 1;
            row += 1;
        }
        list += 1;
    }
    all
}

const GENERAL: &[Key] = &[
    Key {
        name: "store",
        kind: Kind::String(Form::StoreAddress),
        default: Some(Fixed::Text("sqlite")),
        doc: "Where everything is kept: `sqlite` (a file in the home folder), `sqlite:PATH` or `postgres://…`.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "agent",
        kind: Kind::String(Form::AgentName),
        default: Some(Fixed::Text("claude")),
        doc: "The agent for a task that names none.",
        scope: Scope::Consented,
    },
    Key {
        name: "fallback",
        kind: Kind::List(Form::AgentName),
        default: Some(Fixed::List(&[])),
        doc: "Agents that may go on with a task whose own agent cannot, in this order.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "color",
        kind: Kind::OneOf(&["auto", "always", "never"]),
        default: Some(Fixed::Text("auto")),
        doc: "Colours in the output: `always`, `never`, or `auto` for terminals only.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "autostart",
        kind: Kind::Boolean,
        default: Some(Fixed::Boolean(true)),
        doc: "Whether commands that queue work start the runner when none is up.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "spawn_depth",
        kind: Kind::Integer { min: 0, max: 100 },
        default: Some(Fixed::Integer(2)),
        doc: "How many generations of tasks agents may add below a task of yours; 0 for none.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "allowed_repos",
        kind: Kind::List(Form::Folder),
        default: Some(Fixed::List(&[])),
        doc: "Folders in whose repositories agents may work, they themselves included; empty for everywhere.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "tasks.priority",
        kind: Kind::Integer { min: 1, max: 5 },
        default: Some(Fixed::Integer(3)),
        doc: "The priority of a task that is added without one, from 1 to 5.",
        scope: Scope::Anywhere,
    },
    Key {
        name: "tasks.retries",
        kind: Kind::Integer { min: 0, max: 20 },
        default: Some(Fixed::Integer(2)),
        doc: "How many times a task is tried again after its first run failed.",
        scope: Scope::Raising,
    },
    Key {
        name: "tasks.list_limit",
        kind: Kind::Integer { min: 1, max: 10_000 },
        default: Some(Fixed::Integer(50)),
        doc: "How many tasks a list shows at most.",
        scope: Scope::Anywhere,
    },
    Key {
        name: "caps.total",
        kind: CAP,
        default: Some(Fixed::Integer(0)),
        doc: "How many runs there may be at a time; 0 for no cap.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "caps.per_project",
        kind: CAP,
        default: Some(Fixed::Integer(0)),
        doc: "How many runs there may be at a time in one project; 0 for no cap.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "runner.slots",
        kind: Kind::Integer { min: 0, max: 1_000 },
        default: Some(Fixed::Integer(0)),
        doc: "How many runs this machine has at a time; 0 for as many as it has cores, at least 2.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "runner.lease_seconds",
        kind: Kind::Integer { min: 2, max: 3_600 },
        default: Some(Fixed::Integer(30)),
        doc: "After how many seconds without a sign of life a run counts as lost.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "limits.time",
        kind: OPTIONAL,
        default: Some(Fixed::Text("4h")),
        doc: "How long a run may take when its task has no limit of its own, or `none`.",
        scope: Scope::Raising,
    },
    Key {
        name: "limits.idle",
        kind: OPTIONAL,
        default: Some(Fixed::Text("20m")),
        doc: "How long an agent may say nothing before its run is stopped, or `none`.",
        scope: Scope::Raising,
    },
    Key {
        name: "limits.log",
        kind: LOG,
        default: Some(Fixed::Text("64MB")),
        doc: "How much of an agent's output is kept, for each of its two streams.",
        scope: Scope::Raising,
    },
    Key {
        name: "limits.stop_grace",
        kind: GRACE,
        default: Some(Fixed::Text("5s")),
        doc: "How long an agent that is told to stop has before it is killed.",
        scope: Scope::Raising,
    },
    Key {
        name: "workspaces.pool",
        kind: Kind::Integer { min: 0, max: 64 },
        default: Some(Fixed::Integer(4)),
        doc: "How many worktrees of a project are kept to be used again.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "workspaces.keep_ignored",
        kind: Kind::Boolean,
        default: Some(Fixed::Boolean(false)),
        doc: "Whether files that git ignores stay in a worktree that is used again.",
        scope: Scope::Anywhere,
    },
    Key {
        name: "workspaces.copy",
        kind: Kind::List(Form::InnerPath),
        default: Some(Fixed::List(&[])),
        doc: "Files of your checkout that each new workspace gets a copy of, such as `.env`.",
        scope: Scope::Consented,
    },
    Key {
        name: "workspaces.setup",
        kind: Kind::List(Form::Command),
        default: Some(Fixed::List(&[])),
        doc: "Commands that prepare a new workspace; those of a project run only after `fleet trust`.",
        scope: Scope::Consented,
    },
    Key {
        name: "workspaces.pass_env",
        kind: Kind::List(Form::VariablePattern),
        default: Some(Fixed::List(&[])),
        doc: "Variables of yours that set-up commands and checks may see, by name or as `PREFIX_*`.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "workspaces.setup_time",
        kind: SETUP,
        default: Some(Fixed::Text("10m")),
        doc: "How long the commands of `workspaces.setup` may take together.",
        scope: Scope::Raising,
    },
    Key {
        name: "workspaces.check_time",
        kind: SETUP,
        default: Some(Fixed::Text("10m")),
        doc: "How long the checks of a run may take together.",
        scope: Scope::Raising,
    },
    Key {
        name: "workspaces.snapshot_every",
        kind: EVERY,
        default: Some(Fixed::Text("5m")),
        doc: "How often the work of a run is saved while it goes on, or `none` for only at its end.",
        scope: Scope::Anywhere,
    },
    Key {
        name: "ports.first",
        kind: PORT,
        default: Some(Fixed::Integer(21_000)),
        doc: "The first port that runs may use.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "ports.last",
        kind: PORT,
        default: Some(Fixed::Integer(28_999)),
        doc: "The last port that runs may use.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "ports.block",
        kind: Kind::Integer { min: 1, max: 1_000 },
        default: Some(Fixed::Integer(10)),
        doc: "How many ports each run has for itself.",
        scope: Scope::UserOnly,
    },
];
