//! What runs use of this machine: one look at the table of processes for all of them.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fleet_core::id::RunId;
use fleet_core::run::Run;
use fleet_core::time::Millis;
use fleet_host::plain;
use fleet_host::process::{Identity, ProcessTree, ProcessUsage, Processes};

use crate::clock;
use crate::home::{Home, RunFolder};
use fleet_api::verbs::run_list::CpuSample;
use fleet_api::views::RunLoad;

/// The processor time of a run at one moment of [`clock::uptime`].
#[derive(Debug, Clone, Copy)]
struct Sample {
    cpu: Duration,
    at: Duration,
}

impl Sample {
    fn before(looked: &CpuSample, run: RunId) -> Option<Self> {
        let cpu = Duration::from_millis(*looked.cpu_millis.get(&run)?);
        Some(Self { cpu, at: Duration::from_millis(looked.at_millis) })
    }
}

/// What each of these runs uses now, compared with the look before, and what to compare the next look with. Those that are
/// not at work here are left out.
pub(crate) fn look(home: &Home, runs: &[Run], before: &CpuSample) -> (HashMap<RunId, RunLoad>, CpuSample) {
    let mut loads = HashMap::new();
    let mut looked = CpuSample { at_millis: millis(clock::uptime()), ..CpuSample::default() };
    let place = home.place().ok();
    let is_here = |run: &&Run| run.state.is_live() && Some(&run.place) == place.as_ref();
    let here: Vec<&Run> = runs.iter().filter(is_here).collect();
    if here.is_empty() {
        return (loads, looked);
    }
    let processes = Processes::scan();
    let (now, at) = (clock::machine_now(), clock::uptime());
    looked.at_millis = millis(at);
    for run in here {
        let folder = home.run(run.id);
        let usage = tree(run, &folder).map(|tree| tree.usage_in(&processes));
        let sample = usage.map(|usage| Sample { cpu: usage.cpu, at });
        let samples = Sample::before(before, run.id).zip(sample);
        loads.insert(run.id, load(usage, samples, idle(&folder, now)));
        looked.cpu_millis.extend(usage.map(|usage| (run.id, millis(usage.cpu))));
    }
    (loads, looked)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn load(usage: Option<ProcessUsage>, samples: Option<(Sample, Sample)>, idle: Option<Duration>) -> RunLoad {
    let cpu_percent = usage.and_then(|usage| match samples {
        Some((before, now)) => percent(now.cpu.saturating_sub(before.cpu), now.at.saturating_sub(before.at)),
        None => percent(usage.cpu, usage.age?),
    });
    RunLoad {
        processes: usage.map_or(0, |usage| usage.processes),
        cpu_percent,
        memory_bytes: usage.map_or(0, |usage| usage.rss_bytes),
        idle_seconds: idle.map(|idle| idle.as_secs()),
    }
}

/// Too short a time says nothing: the kernel counts in hundredths of a second.
const SHORTEST: Duration = Duration::from_millis(100);

fn percent(part: Duration, whole: Duration) -> Option<u64> {
    let percent = (part.as_millis() * 100).checked_div(whole.as_millis())?;
    (whole >= SHORTEST).then(|| u64::try_from(percent).unwrap_or(u64::MAX))
}

/// The processes of a run: as its keeper wrote down, or those of the keeper while there is no agent yet.
fn tree(run: &Run, folder: &RunFolder) -> Option<ProcessTree> {
    let noted = plain::read(&folder.tree()).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    noted.or_else(|| {
        let keeper: Identity = serde_json::from_str(run.keeper.as_deref()?).ok()?;
        let marker = ("FLEET_RUN".to_owned(), run.id.to_string());
        Some(ProcessTree { root: keeper.clone(), marker, keeper: Some(keeper), group: None })
    })
}

/// How long ago anything was written to a log of the run.
fn idle(folder: &RunFolder, now: Millis) -> Option<Duration> {
    let mut logs = vec![folder.setup_log(), folder.checks_log()];
    for log in [folder.stdout(), folder.stderr()] {
        // A log that is full goes on in a second file.
        let mut tail = log.clone().into_os_string();
        tail.push(".tail");
        logs.extend([log, tail.into()]);
    }
    let newest = logs.iter().filter_map(|log| written_at(log)).max()?;
    Some(now.since(newest))
}

fn written_at(log: &Path) -> Option<Millis> {
    let metadata = fs::metadata(log).ok()?;
    let since = metadata.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_a_processor() {
        let second = Duration::from_secs(1);
        assert_eq!(percent(second, second * 2), Some(50));
        assert_eq!(percent(second * 3, second), Some(300), "three processors");
        assert_eq!(percent(second, Duration::ZERO), None);
        assert_eq!(percent(Duration::from_millis(10), Duration::from_millis(20)), None, "too short");
    }

    #[test]
    fn a_second_look_counts_what_happened_in_between() {
        let usage = ProcessUsage {
            processes: 2,
            cpu: Duration::from_secs(90),
            rss_bytes: 7,
            age: Some(Duration::from_secs(100)),
        };
        let sample = |cpu, at| Sample { cpu: Duration::from_secs(cpu), at: Duration::from_secs(at) };
        let first = load(Some(usage), None, None);
        assert_eq!((first.cpu_percent, first.processes, first.memory_bytes), (Some(90), 2, 7));
        let second =
            load(Some(usage), Some((sample(89, 10), sample(90, 14))), Some(Duration::from_millis(2_500)));
        assert_eq!((second.cpu_percent, second.idle_seconds), (Some(25), Some(2)));
        let shrunk = load(Some(usage), Some((sample(95, 10), sample(90, 14))), None);
        assert_eq!(shrunk.cpu_percent, Some(0), "a process that ended takes its time along");
        assert_eq!(load(None, None, None).cpu_percent, None);
    }
}
