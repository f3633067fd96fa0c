//! The settings as what they are.
//!
//! Owns the conversion, made once, so that those who ask cannot fail. Must never hold a rule about a value: each was
//! checked before, so a failure here says that the table of keys and this file disagree.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::time::Duration;

use fleet_core::policy::RateLimits;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::Reason;
use fleet_core::schedule::Caps;
use fleet_core::size::Size;

use super::agent::AgentSettings;
use super::form;
use super::secret::Secret;
use super::setting::Setting;
use super::value::Value;

/// When output is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// When it goes to a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How the runner of this machine works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runner {
    /// Whether commands that queue work start it when none is up.
    pub autostart: bool,
    /// How many runs it has at a time; none is said for as many as the machine can bear.
    slots: Option<u32>,
    /// After how long without a sign of life a run counts as lost.
    pub lease: Duration,
}

/// What a run may use when its task does not say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLimits {
    /// Wall-clock time of the whole run.
    pub time: Option<Duration>,
    /// Time without any output.
    pub idle: Option<Duration>,
    /// Bytes that are kept of each stream.
    pub log: u64,
    /// Time between being told to stop and being killed.
    pub stop_grace: Duration,
}

/// How workspaces are made and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspaces {
    /// How many of a project are kept to be used again.
    pub pool: usize,
    /// Whether files that git ignores stay in one that is used again.
    pub keep_ignored: bool,
    /// Files of the user's checkout that are copied into a new one: paths inside of it, perhaps with wildcards.
    pub copy: Vec<String>,
    /// Commands that prepare a new one. Those of a project need the user's consent first.
    pub setup: Vec<String>,
    /// Variables of the user's that these and the checks of a run may see, as in [`AgentVariables::pass`].
    pub pass_env: Vec<String>,
    /// How long these may take together.
    pub setup_time: Duration,
    /// How long the checks of a run may take together.
    pub check_time: Duration,
    /// How often the work is saved while a run goes on.
    pub snapshot_every: Option<Duration>,
}

/// Which ports runs may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ports {
    /// All of them.
    pub range: RangeInclusive<u16>,
    /// How many each run has for itself; so many fit in the range.
    pub block: u16,
}

/// What all runs together may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spending {
    /// On one day, in millionths of a dollar.
    pub day_micro_usd: Option<u64>,
    /// Ever, in millionths of a dollar.
    pub total_micro_usd: Option<u64>,
    /// On one day, in tokens.
    pub day_tokens: Option<u64>,
    /// Put aside for a run whose task has no limit of its own, in millionths of a dollar.
    pub run_micro_usd: u64,
    /// When people are warned, of a hundred.
    pub warn_percent: u8,
}

/// What an agent sees of the user's environment, and what is set for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentVariables {
    /// Names of variables of the user's, or beginnings of names with a `*` at the end.
    pub pass: Vec<String>,
    /// What is set, by name.
    pub set: BTreeMap<String, Secret>,
}

impl Runner {
    /// How many runs a machine with so many cores has at a time.
    pub fn slots(&self, cores: usize) -> usize {
        match self.slots {
            // Agents mostly wait for their provider, so that even one core bears two.
            None => cores.max(2),
            Some(slots) => usize::try_from(slots).unwrap_or(usize::MAX),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Typed {
    pub(super) store: Secret,
    pub(super) agent: String,
    pub(super) color: Color,
    pub(super) priority: u8,
    pub(super) retries: u32,
    pub(super) list_limit: u32,
    pub(super) spawn_depth: u32,
    pub(super) allowed_repos: Vec<String>,
    pub(super) caps: Caps,
    pub(super) runner: Runner,
    pub(super) limits: RunLimits,
    pub(super) workspaces: Workspaces,
    pub(super) ports: Ports,
    pub(super) agents: BTreeMap<String, AgentSettings>,
    pub(super) fallback: Vec<String>,
    pub(super) variables: BTreeMap<String, AgentVariables>,
    pub(super) policy: BTreeMap<Reason, String>,
    pub(super) rate_limits: RateLimits,
    pub(super) spending: Spending,
}

impl Typed {
    pub(super) fn of(settings: &BTreeMap<String, Setting>) -> Outcome<Self> {
        let reader = Reader { settings };
        Ok(Self {
            store: reader.secret("store")?,
            agent: reader.string("agent")?,
            color: reader.color("color")?,
            priority: reader.integer("tasks.priority")?,
            retries: reader.integer("tasks.retries")?,
            list_limit: reader.integer("tasks.list_limit")?,
            spawn_depth: reader.integer("spawn_depth")?,
            allowed_repos: reader.list("allowed_repos")?,
            caps: reader.caps()?,
            runner: reader.runner()?,
            limits: reader.limits()?,
            workspaces: reader.workspaces()?,
            ports: reader.ports()?,
            agents: reader.agents()?,
            fallback: reader.list("fallback")?,
            variables: reader.variables()?,
            policy: reader.policy()?,
            rate_limits: reader.rate_limits()?,
            spending: reader.spending()?,
        })
    }
}

/// Takes settings out as their types.
pub(super) struct Reader<'a> {
    settings: &'a BTreeMap<String, Setting>,
}

impl Reader<'_> {
    fn caps(&self) -> Outcome<Caps> {
        Ok(Caps {
            total: more_than_none(self.integer("caps.total")?),
            per_project: more_than_none(self.integer("caps.per_project")?),
            per_agent: self
                .of_agents(".cap", Reader::integer)?
                .filter_map(|(agent, cap)| Some((agent, more_than_none(cap)?)))
                .collect(),
        })
    }

    fn runner(&self) -> Outcome<Runner> {
        Ok(Runner {
            autostart: self.boolean("autostart")?,
            slots: more_than_none(self.integer("runner.slots")?),
            lease: Duration::from_secs(self.integer("runner.lease_seconds")?),
        })
    }

    fn limits(&self) -> Outcome<RunLimits> {
        Ok(RunLimits {
            time: self.optional_duration("limits.time")?,
            idle: self.optional_duration("limits.idle")?,
            log: self.size("limits.log")?,
            stop_grace: self.duration("limits.stop_grace")?,
        })
    }

    fn workspaces(&self) -> Outcome<Workspaces> {
        Ok(Workspaces {
            pool: self.integer("workspaces.pool")?,
            keep_ignored: self.boolean("workspaces.keep_ignored")?,
            copy: self.list("workspaces.copy")?,
            setup: self.list("workspaces.setup")?,
            pass_env: self.list("workspaces.pass_env")?,
            setup_time: self.duration("workspaces.setup_time")?,
            check_time: self.duration("workspaces.check_time")?,
            snapshot_every: self.optional_duration("workspaces.snapshot_every")?,
        })
    }

    fn ports(&self) -> Outcome<Ports> {
        let range = self.integer("ports.first")?..=self.integer("ports.last")?;
        Ok(Ports { range, block: self.integer("ports.block")? })
    }

    fn variables(&self) -> Outcome<BTreeMap<String, AgentVariables>> {
        let mut all: BTreeMap<String, AgentVariables> = BTreeMap::new();
        for (agent, pass) in self.of_agents(".pass_env", Reader::list)? {
            all.entry(agent).or_default().pass = pass;
        }
        for name in self.settings.keys() {
            let Some((agent, variable)) =
                name.strip_prefix("agents.").and_then(|rest| rest.split_once(".env."))
            else {
                continue;
            };
            let set = &mut all.entry(agent.to_owned()).or_default().set;
            set.insert(variable.to_owned(), self.secret(name)?);
        }
        Ok(all)
    }

    /// Every agent about which anything is set.
    fn agents(&self) -> Outcome<BTreeMap<String, AgentSettings>> {
        let names = self.settings.keys().filter_map(|name| name.strip_prefix("agents.")?.split_once('.'));
        let names: BTreeSet<&str> = names.map(|(agent, _)| agent).collect();
        names.into_iter().map(|name| Ok((name.to_owned(), AgentSettings::read(self, name)?))).collect()
    }

    fn policy(&self) -> Outcome<BTreeMap<Reason, String>> {
        Reason::ALL.iter().map(|reason| Ok((*reason, self.string(&format!("policy.{reason}"))?))).collect()
    }

    fn rate_limits(&self) -> Outcome<RateLimits> {
        Ok(RateLimits {
            first: self.duration("rate_limit.first_pause")?,
            longest: self.duration("rate_limit.longest_pause")?,
            retries: self.integer("rate_limit.retries")?,
        })
    }

    fn spending(&self) -> Outcome<Spending> {
        let amount = |name: &str, read: fn(&str) -> Option<Option<u64>>| {
            read(&self.string(name)?).ok_or_else(|| defect(name))
        };
        Ok(Spending {
            day_micro_usd: amount("budget.day_usd", form::money)?,
            total_micro_usd: amount("budget.total_usd", form::money)?,
            day_tokens: amount("budget.day_tokens", form::tokens)?,
            run_micro_usd: amount("budget.run_usd", form::money)?.ok_or_else(|| defect("budget.run_usd"))?,
            warn_percent: self.integer("budget.warn_percent")?,
        })
    }

    /// What is set under a key that has no default.
    pub(super) fn optional<T>(&self, name: &str, read: fn(&Self, &str) -> Outcome<T>) -> Outcome<Option<T>> {
        self.value(name).is_some().then(|| read(self, name)).transpose()
    }

    pub(super) fn integer<T: TryFrom<i64>>(&self, name: &str) -> Outcome<T> {
        match self.value(name) {
            Some(Value::Integer(number)) => T::try_from(*number).map_err(|_| defect(name)),
            _ => Err(defect(name)),
        }
    }

    pub(super) fn boolean(&self, name: &str) -> Outcome<bool> {
        match self.value(name) {
            Some(Value::Boolean(truth)) => Ok(*truth),
            _ => Err(defect(name)),
        }
    }

    pub(super) fn string(&self, name: &str) -> Outcome<String> {
        match self.value(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err(defect(name)),
        }
    }

    pub(super) fn list(&self, name: &str) -> Outcome<Vec<String>> {
        match self.value(name) {
            Some(Value::List(items)) => Ok(items.clone()),
            _ => Err(defect(name)),
        }
    }

    fn secret(&self, name: &str) -> Outcome<Secret> {
        match self.value(name) {
            Some(Value::Secret(secret)) => Ok(secret.clone()),
            _ => Err(defect(name)),
        }
    }

    fn optional_duration(&self, name: &str) -> Outcome<Option<Duration>> {
        form::duration(&self.string(name)?).map_err(|_| defect(name))
    }

    fn duration(&self, name: &str) -> Outcome<Duration> {
        self.optional_duration(name)?.ok_or_else(|| defect(name))
    }

    fn size(&self, name: &str) -> Outcome<u64> {
        self.string(name)?.parse::<Size>().map(|size| size.0).map_err(|_| defect(name))
    }

    fn color(&self, name: &str) -> Outcome<Color> {
        match self.string(name)?.as_str() {
            "auto" => Ok(Color::Auto),
            "always" => Ok(Color::Always),
            "never" => Ok(Color::Never),
            _ => Err(defect(name)),
        }
    }

    /// What is set for each agent under names that end so.
    fn of_agents<T>(
        &self,
        end: &str,
        read: fn(&Self, &str) -> Outcome<T>,
    ) -> Outcome<impl Iterator<Item = (String, T)> + use<T>> {
        let mut found = Vec::new();
        for name in self.settings.keys() {
            let agent = name.strip_prefix("agents.").and_then(|rest| rest.strip_suffix(end));
            // A variable of an agent may be called like a key.
            if let Some(agent) = agent.filter(|agent| !agent.contains('.')) {
                found.push((agent.to_owned(), read(self, name)?));
            }
        }
        Ok(found.into_iter())
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.settings.get(name).map(|setting| &setting.value)
    }
}

/// Zero stands for no bound of one's own.
fn more_than_none(number: u32) -> Option<u32> {
    Some(number).filter(|number| *number > 0)
}

pub(super) fn defect(name: &str) -> Problem {
    Problem::new(Code::Internal, format!("the setting `{name}` is not what its key says"))
}
