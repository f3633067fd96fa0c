//! Everything that can be configured: one row for each key.
//!
//! A row has the doc, the name, the field with its type, the default (as a user would type it), the kind of its values,
//! and who may set it. A new key is one row here, and the code that uses it. A `*` in a name stands for the name of an
//! agent, and at its end for the name of a variable.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use fleet_agents::Trust;
use fleet_core::problem::Outcome;
use fleet_core::run::Reason;
use fleet_core::task::TaskMode;

use super::form::TextForm::{
    AgentName, Alias, Argument, BranchPrefix, Command, ContextSize, DetachKey, ErrorPattern, Folder,
    InnerPath, Model, ModelPattern, MultiLine, Path, Pattern, Plain, Program, ReleaseAddress, StoreAddress,
    VariablePattern, VariableValue, Word,
};
use super::key::KeyKind::{self, Boolean, Integer, List, OneOf, Text};
use super::key::KeyScope::{Anywhere, Consented, Lowering, Raising, UserOnly};
use super::key::{Key, ValueUnit};
use super::read::{SettingsByKey, read};
use super::secret::Secret;

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

const CAP: KeyKind = Integer { min: 0, max: 10_000 };
const PORT: KeyKind = Integer { min: 1_024, max: 65_535 };
const DOLLARS: KeyKind =
    KeyKind::Quantity { unit: ValueUnit::MicroDollars, min: 1, max: u64::MAX, or_none: false };
const TOKENS: KeyKind = KeyKind::Quantity { unit: ValueUnit::Tokens, min: 1, max: u64::MAX, or_none: false };

const fn up_to(seconds: u64) -> KeyKind {
    KeyKind::Quantity { unit: ValueUnit::Milliseconds, min: 1, max: seconds * 1_000, or_none: false }
}

const fn bytes(min: u64, max: u64) -> KeyKind {
    KeyKind::Quantity { unit: ValueUnit::Bytes, min, max, or_none: false }
}

macro_rules! default_of {
    () => {
        None
    };
    ($default:literal) => {
        Some($default)
    };
}

/// A struct with a field for each of its keys, its rows, and how it is read.
macro_rules! section {
    ($(#[$meta:meta])* $section:ident {
        $($(#[doc = $doc:literal])+ $name:literal $field:ident: $type:ty $(= $default:literal)?, $kind:expr, $scope:expr;)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $section {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl $section {
            const KEYS: &[Key] = &[$(Key {
                name: $name,
                kind: $kind,
                default: default_of!($($default)?),
                doc: concat!($($doc),+).trim_ascii(),
                scope: $scope,
            }),+];

            fn read(settings: &SettingsByKey, agent: &str) -> Outcome<Self> {
                Ok(Self { $($field: read(settings, &$name.replacen('*', agent, 1), $kind)?,)+ })
            }
        }
    };
}

/// The sections of the configuration, in the order in which their keys are shown.
macro_rules! sections {
    ($($(#[doc = $doc:literal])+ $field:ident: $section:ident { $($rows:tt)+ })+) => {
        $(section! { $(#[doc = $doc])+ $section { $($rows)+ } })+

        /// What is set, as what it is.
        #[derive(Debug, Clone)]
        pub(super) struct Sections {
            $($field: $section,)+
            pub(super) agents: BTreeMap<String, AgentSettings>,
        }

        impl Sections {
            pub(super) fn read(settings: &SettingsByKey) -> Outcome<Self> {
                Ok(Self { $($field: $section::read(settings, "")?,)+ agents: agents(settings)? })
            }
        }

        impl super::Config {
            $($(#[doc = $doc])+ pub fn $field(&self) -> &$section {
                &self.sections.$field
            })+
        }

        const ROWS: &[&[Key]] = &[$($section::KEYS,)+ POLICY, AgentSettings::KEYS];
    };
}

/// Every key, in the order in which they are shown.
pub(super) fn all() -> impl DoubleEndedIterator<Item = &'static Key> {
    ROWS.iter().copied().flatten()
}

sections! {
    /// What is set outside of any section.
    general: General {
        /// Where all state is kept: `sqlite` (a file in `$FLEET_HOME`), `sqlite:PATH` or `postgres://…`.
        "store" store: Secret = "sqlite", Text(StoreAddress), UserOnly;
        /// The default agent.
        "agent" agent: String = "claude", Text(AgentName), Consented;
        /// Agents that may continue a task whose own agent cannot, in this order.
        "fallback" fallback: Vec<String> = "", List(AgentName), UserOnly;
        /// Colours in the output: `always`, `never`, or `auto` for terminals only.
        "color" color: Color = "auto", OneOf(&["auto", "always", "never"]), UserOnly;
        /// The program that shows long output on a terminal; `auto` is `$PAGER`, else `less -FRX`; `cat` for none.
        "pager" pager: String = "auto", Text(Plain), UserOnly;
        /// Whether commands that queue work start the runner if none is up.
        "autostart" autostart: bool = "true", Boolean, UserOnly;
        /// How many generations of tasks agents may add below one of your tasks; 0 for none.
        "spawn_depth" spawn_depth: u32 = "2", Integer { min: 0, max: 100 }, UserOnly;
        /// Folders in whose repositories agents may work; a folder can be a repository itself; empty for everywhere.
        "allowed_repos" allowed_repos: Vec<String> = "", List(Folder), UserOnly;
    }

    /// Attaching to the terminals of agents.
    terminal: TerminalSettings {
        /// The key that detaches from an agent's terminal, such as `ctrl-a`.
        "terminal.detach_key" detach_key: String = "ctrl-]", Text(DetachKey), UserOnly;
    }

    /// What a task gets that does not say otherwise, and how tasks are listed.
    tasks: TaskDefaults {
        /// The priority of a task that is added without one, from 1 to 5; 5 runs first.
        "tasks.priority" priority: u8 = "3", Integer { min: 1, max: 5 }, Anywhere;
        /// How often a task is retried after its first run failed.
        "tasks.retries" retries: u32 = "2", Integer { min: 0, max: 20 }, Raising;
        /// How often work that failed its checks goes back to the agent before the task fails.
        "tasks.check_retries" check_retries: u32 = "2", Integer { min: 0, max: 20 }, Raising;
        /// What the branch names begin with that `fleet fanout` makes from a prompt, such as `agents/`.
        "tasks.branch_prefix" branch_prefix: String = "", Text(BranchPrefix), Anywhere;
        /// Maximum number of tasks in a list.
        "tasks.list_limit" list_limit: u32 = "50", Integer { min: 1, max: 10_000 }, Anywhere;
    }

    /// How `create`, `fanout` and `multi` launch agents.
    launch: LaunchDefaults {
        /// How `fleet create`, `fanout` and `multi` run agents: `headless`, or `interactive` in a terminal you can attach to.
        "launch.mode" mode: TaskMode = "headless", OneOf(&["headless", "interactive"]), Anywhere;
    }

    /// How many runs there may be at a time; see [`super::Config::caps`].
    cap_settings: CapSettings {
        /// Maximum concurrent runs; 0 for no cap.
        "caps.total" total: u32 = "0", CAP, UserOnly;
        /// Maximum concurrent runs in one project; 0 for no cap.
        "caps.per_project" per_project: u32 = "0", CAP, UserOnly;
    }

    /// How the runner of this machine works.
    runner: Runner {
        /// Maximum concurrent headless runs on this machine; 0 for the number of its cores, at least 2.
        "runner.slots" configured_slots: usize = "0", Integer { min: 0, max: 1_000 }, UserOnly;
        /// Maximum concurrent interactive runs on this machine; they need no slot.
        "runner.terminals" terminals: usize = "50", Integer { min: 0, max: 1_000 }, UserOnly;
        /// After how many seconds without a sign of life a run counts as lost.
        "runner.lease_seconds" lease: Duration = "30", Integer { min: 2, max: 3_600 }, UserOnly;
    }

    /// What must be left on this machine before another agent is started; see [`super::Config::admission`].
    admission_settings: AdmissionSettings {
        /// How much memory must be free for each agent that is started, or `none`.
        "admission.free_memory" free_memory: Option<u64> = "256MB", bytes(1_000_000, 1_000_000_000_000_000).or_none(), UserOnly;
        /// Above what share of time, in percent, in which all processes wait for memory no agent is started; 0 for any.
        "admission.memory_pressure" memory_pressure: u8 = "40", Integer { min: 0, max: 100 }, UserOnly;
        /// Above what load for each core no agent is started, such as 4; 0 for any.
        "admission.load" load: u32 = "0", Integer { min: 0, max: 1_000 }, UserOnly;
        /// How much disk must be free at `$FLEET_HOME` before an agent is started, or `none`.
        "admission.free_disk" free_disk: Option<u64> = "100MB", bytes(1_000_000, 1_000_000_000_000_000).or_none(), UserOnly;
    }

    /// What a run may use when its task does not say otherwise.
    limits: RunLimits {
        /// How long a headless run may take if its task has no time limit, or `none`.
        "limits.time" time: Option<Duration> = "4h", up_to(30 * DAY).or_none(), Raising;
        /// How long a headless agent may show no sign of work before its run is stopped, or `none`.
        "limits.idle" idle: Option<Duration> = "20m", up_to(30 * DAY).or_none(), Raising;
        /// How much of an agent's output is kept, for each of its two streams.
        // Never none: a run that prints without end must not fill the disk.
        "limits.log" log: u64 = "64MB", bytes(1_000, 100_000_000_000), Raising;
        /// How long an agent has to stop before it is killed.
        // Short, because a project may set it, and a user who stops a run waits for it.
        "limits.stop_grace" stop_grace: Duration = "5s", up_to(HOUR), Raising;
        /// At what percentage of its model's context a headless agent continues in a new conversation; 0 for never.
        "limits.context_pressure" context_pressure: u8 = "90", Integer { min: 0, max: 100 }, UserOnly;
        /// How often a task may continue in a new conversation before it fails.
        "limits.context_restarts" context_restarts: u32 = "10", Integer { min: 0, max: 1_000 }, UserOnly;
        /// How many tokens models can read, such as `gpt-5*=400k`, before what agents and codefleet know about them.
        "limits.context_sizes" context_sizes: Vec<(String, u64)> = "", List(ContextSize), UserOnly;
    }

    /// How workspaces are made and kept.
    workspaces: Workspaces {
        /// How many workspaces of a project are kept for reuse; unless this is 0, one for each slot, and all for ten minutes.
        "workspaces.pool" pool: usize = "4", Integer { min: 0, max: 64 }, UserOnly;
        /// Whether files that git ignores are kept when a workspace is reused: faster builds, less isolation.
        "workspaces.keep_ignored" keep_ignored: bool = "false", Boolean, Anywhere;
        /// Files of your checkout to copy into each new workspace, such as `.env`; `*` is a wildcard.
        "workspaces.copy" copy: Vec<String> = "", List(InnerPath), Consented;
        /// Commands that `sh -c` runs in each new workspace; those of a project run only after `fleet trust`.
        "workspaces.setup" setup: Vec<String> = "", List(Command), Consented;
        /// Commands that must succeed on the work of a task before it is done; its own checks run after them, and stages have their own.
        "workspaces.checks" checks: Vec<String> = "", List(Command), Consented;
        /// Your variables that set-up commands and checks may see, by name or as `PREFIX_*`.
        "workspaces.pass_env" pass_env: Vec<String> = "", List(VariablePattern), UserOnly;
        /// How long the commands of `workspaces.setup` may take together.
        "workspaces.setup_time" setup_time: Duration = "10m", up_to(DAY), Raising;
        /// How long `git submodule update` may take in a new workspace.
        "workspaces.submodule_time" submodule_time: Duration = "30m", up_to(2 * HOUR), Raising;
        /// How long the checks of a run may take together.
        "workspaces.check_time" check_time: Duration = "10m", up_to(DAY), Raising;
        /// How often the work of a run is saved while it runs, or `none` for only at its end.
        "workspaces.snapshot_every" snapshot_every: Option<Duration> = "5m", up_to(DAY).or_none(), Anywhere;
    }

    /// Which ports runs may use.
    ports: Ports {
        /// The first port that runs may use.
        "ports.first" first: u16 = "21000", PORT, UserOnly;
        /// The last port that runs may use.
        "ports.last" last: u16 = "28999", PORT, UserOnly;
        /// How many ports each run gets.
        "ports.block" block: u16 = "10", Integer { min: 1, max: 1_000 }, UserOnly;
    }

    /// What all runs together may use. Amounts of money are in millionths of a dollar.
    spending: Spending {
        /// How many dollars all runs together may cost per day (UTC), or `none`.
        "budget.day_usd" day_micro_usd: Option<u64> = "none", DOLLARS.or_none(), UserOnly;
        /// How many dollars all runs together may cost in total, or `none`.
        "budget.total_usd" total_micro_usd: Option<u64> = "none", DOLLARS.or_none(), UserOnly;
        /// How many tokens all runs together may use per day (UTC), or `none`.
        "budget.day_tokens" day_tokens: Option<u64> = "none", TOKENS.or_none(), UserOnly;
        /// How much of a budget is reserved for a run whose task has no cost limit; it gets more while there is more.
        "budget.run_usd" run_micro_usd: u64 = "1.00", DOLLARS, UserOnly;
        /// At what percentage of a budget or limit to warn.
        "budget.warn_percent" warn_percent: u8 = "80", Integer { min: 1, max: 100 }, UserOnly;
    }

    /// Where newer versions are.
    updates: Updates {
        /// Where `fleet update` looks for the newest release: a JSON document with its version; `none` for nowhere.
        "update.url" url: String = "none", Text(ReleaseAddress), UserOnly;
    }

    /// What is done when a provider asks to slow down; see [`super::Config::rate_limits`].
    rate_limit_settings: RateLimitSettings {
        /// The first pause of an account whose provider asks to slow down without saying for how long; doubles each time.
        "rate_limit.first_pause" first_pause: Duration = "30s", up_to(DAY), UserOnly;
        /// The longest such pause.
        "rate_limit.longest_pause" longest_pause: Duration = "1h", up_to(DAY), UserOnly;
        /// How often a task is requeued after such pauses before it fails.
        "rate_limit.retries" retries: u32 = "50", Integer { min: 0, max: 1_000 }, UserOnly;
    }
}

/// What happens to a task after each [`Reason`] of failure. The defaults are those of [`fleet_core::policy`].
macro_rules! policy {
    ($($reason:literal = $default:literal, $when:literal;)+) => {
        const POLICY: &[Key] = &[$(Key {
            name: concat!("policy.", $reason),
            kind: OneOf(&["retry", "pause", "hand_over", "give_up"]),
            default: Some($default),
            doc: concat!("What happens to a task when ", $when, "."),
            scope: UserOnly,
        }),+];
    };
}

policy! {
    "agent_error" = "retry", "its agent ended with an error";
    "blocked_by_agent" = "give_up", "its agent said that it cannot continue";
    "no_changes" = "retry", "nothing was changed";
    "rate_limited" = "pause", "the provider asked to slow down";
    "quota_exhausted" = "hand_over", "the quota of the account was exhausted";
    "auth" = "give_up", "the provider rejected the credentials";
    "bad_model" = "give_up", "the provider did not know the model";
    "context_overflow" = "retry", "the conversation became too long for the model";
    "context_pressure" = "retry", "the conversation was about to become too long for the model";
    "provider_outage" = "pause", "the provider was down";
    "stale" = "retry", "its agent showed no sign of work for too long";
    "timed_out" = "retry", "it took longer than its limit";
    "over_budget" = "give_up", "it reached its limit of tokens or money";
    "setup_failed" = "retry", "a set-up command failed";
    "workspace_failed" = "retry", "its workspace could not be created";
    "workspace_refused" = "give_up", "its workspace cannot be made before you change something";
    "lost" = "retry", "its keeper disappeared";
    "untrusted" = "give_up", "the repository requests something that was not approved";
    "agent_missing" = "give_up", "its agent is not installed";
    "branch_taken" = "give_up", "its branch was taken";
    "merge_conflict" = "give_up", "the branches it starts from conflict";
    "checks_failed" = "retry", "a check failed";
    "outside_workspace" = "give_up", "its agent worked outside its workspace";
}

// A repository may say which model and how much effort its tasks deserve, within what the user lets an agent use. It must
// never say what is started, with which arguments, variables or tool servers. No key has a default: the adapter decides.
section! {
    /// What is set for one agent.
    #[derive(Default)]
    AgentSettings {
        /// The model, unless the task names one.
        "agents.*.model" model: Option<String>, Text(Model), Anywhere;
        /// The models this agent may use, such as `gpt-5` or `gpt-5*`; empty for any.
        "agents.*.models" models: Vec<String>, List(ModelPattern), UserOnly;
        /// Short names of models for this agent, such as `fast=gpt-5-mini`.
        "agents.*.aliases" aliases: BTreeMap<String, String>, List(Alias), UserOnly;
        /// The model's reasoning effort, in the agent's own terms.
        "agents.*.effort" effort: Option<String>, Text(Word), Anywhere;
        /// What this agent may do without asking (`sandbox` if not set); a project can only lower it.
        "agents.*.trust" trust: Option<Trust>, OneOf(Trust::WORDS), Lowering("sandbox");
        /// Maximum concurrent runs of this agent; 0 for no cap.
        "agents.*.cap" cap: Option<u32>, CAP, UserOnly;
        /// The provider this agent uses, if not its usual one.
        "agents.*.provider" provider: Option<String>, Text(Word), UserOnly;
        /// The account this agent uses; agents of one provider and account are paused together.
        "agents.*.account" account: Option<String>, Text(Word), UserOnly;
        /// Agents that may continue a task of this agent, instead of the global `fallback`.
        "agents.*.fallback" fallback: Option<Vec<String>>, List(AgentName), UserOnly;
        /// The program to start: a name on the PATH, or a full path.
        "agents.*.program" program: Option<String>, Text(Program), UserOnly;
        /// Arguments appended to ours; for an agent you define, all arguments.
        "agents.*.args" args: Vec<String>, List(Argument), UserOnly;
        /// Options that a task may pass to this agent, by name or as `--prefix*`; any, if it has full trust.
        "agents.*.task_args" task_args: Vec<String>, List(Argument), UserOnly;
        /// A system prompt for this agent: a text, or `@FILE`.
        "agents.*.system_prompt" system_prompt: Option<String>, Text(MultiLine), UserOnly;
        /// A JSON file with tool servers (`mcpServers`) to add to the agent's own.
        "agents.*.mcp" mcp: Option<String>, Text(Path), UserOnly;
        /// Whether the last answer must follow the report schema, where the agent supports that.
        "agents.*.structured" structured: Option<bool>, Boolean, Anywhere;
        /// Your variables that this agent may see, by name or as `PREFIX_*`.
        "agents.*.pass_env" pass_env: Vec<String>, List(VariablePattern), UserOnly;
        /// A variable that is set for this agent.
        "agents.*.env.*" env: BTreeMap<String, Secret>, Text(VariableValue), UserOnly;
        /// How an agent you define gets its task: on standard input, or in a file that `args` name.
        "agents.*.prompt" prompt: Option<String>, OneOf(&["stdin", "file"]), UserOnly;
        /// What an agent you define prints: `lines`, or the format of a known agent, such as `claude` or `acp`.
        "agents.*.output" output: Option<String>, Text(AgentName), UserOnly;
        /// Arguments with which an agent you define resumes a conversation, instead of `args`.
        "agents.*.resume_args" resume_args: Option<Vec<String>>, List(Argument), UserOnly;
        /// Arguments with which an agent you define starts its own interface in a terminal; without them it has none.
        "agents.*.terminal_args" terminal_args: Option<Vec<String>>, List(Argument), UserOnly;
        /// Arguments for an agent you define when it may change nothing.
        "agents.*.args_read_only" args_read_only: Vec<String>, List(Argument), UserOnly;
        /// Arguments for an agent you define when it may work in its workspace.
        "agents.*.args_sandbox" args_sandbox: Vec<String>, List(Argument), UserOnly;
        /// Arguments for an agent you define when it may do anything.
        "agents.*.args_full" args_full: Vec<String>, List(Argument), UserOnly;
        /// A regular expression that finds the id of the conversation in a line.
        "agents.*.session_pattern" session_pattern: Option<String>, Text(Pattern), UserOnly;
        /// A regular expression with groups `input`, `output`, `cache_read` or `cost` that finds usage in a line.
        "agents.*.usage_pattern" usage_pattern: Option<String>, Text(Pattern), UserOnly;
        /// Patterns for failures in the output of an agent you define, such as `rate_limited=429|slow down`.
        "agents.*.error_patterns" error_patterns: Vec<(Reason, String)>, List(ErrorPattern), UserOnly;
        /// The context size of this agent's models, in tokens; otherwise as in `limits.context_sizes`.
        "agents.*.context_limit" context_limit: Option<u64>, Integer { min: 1_000, max: 100_000_000 }, UserOnly;
        /// Arguments with which an agent you define prints its version; it is not asked if empty.
        "agents.*.version_args" version_args: Vec<String>, List(Argument), UserOnly;
        /// How to install an agent you define; shown if it is missing.
        "agents.*.install" install: Option<String>, Text(Plain), UserOnly;
        /// How to log in to an agent you define; shown if the login was rejected.
        "agents.*.login" login: Option<String>, Text(Plain), UserOnly;
    }
}

/// The settings of every agent about which anything is set.
fn agents(settings: &SettingsByKey) -> Outcome<BTreeMap<String, AgentSettings>> {
    let names = settings.keys().filter_map(|name| name.strip_prefix("agents.")?.split_once('.'));
    let mut agents = BTreeMap::new();
    for (agent, _) in names {
        if !agents.contains_key(agent) {
            agents.insert(agent.to_owned(), AgentSettings::read(settings, agent)?);
        }
    }
    Ok(agents)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    Auto,
    Always,
    Never,
}

impl Runner {
    /// How many runs a machine with so many cores has at a time.
    pub fn slots(&self, cores: usize) -> usize {
        match self.configured_slots {
            // Agents mostly wait for their provider, so that even one core bears two.
            0 => cores.max(2),
            slots => slots,
        }
    }
}

impl Ports {
    pub fn range(&self) -> RangeInclusive<u16> {
        self.first..=self.last
    }
}
