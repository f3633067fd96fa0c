//! What this machine has left, as far as the system tells.

use std::path::Path;

use fleet_core::admission::MachineState;

use crate::{disk, kernel_file, machine};

/// Looks at memory, load, and the disk that a folder is on.
pub fn look(folder: &Path) -> MachineState {
    let text = |path: &str| kernel_file::read_text(path).ok();
    MachineState {
        free_memory: text("/proc/meminfo").as_deref().and_then(available_memory),
        memory_pressure: text("/proc/pressure/memory").as_deref().and_then(full_pressure),
        load_percent: text("/proc/loadavg").as_deref().and_then(|load| load_percent(load, machine::cores())),
        free_disk: disk::free(folder),
    }
}

fn available_memory(meminfo: &str) -> Option<u64> {
    let kilobytes = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(kilobytes.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.saturating_mul(1_024))
}

/// The share of the last ten seconds in which every process waited for memory.
fn full_pressure(pressure: &str) -> Option<u8> {
    let full = pressure.lines().find_map(|line| line.strip_prefix("full "))?;
    let average = full.split(' ').find_map(|field| field.strip_prefix("avg10="))?;
    average.split('.').next()?.parse().ok()
}

/// The average of the last minute, for each core.
fn load_percent(loadavg: &str, cores: usize) -> Option<u32> {
    let (whole, hundredths) = loadavg.split(' ').next()?.split_once('.')?;
    let load = whole.parse::<u32>().ok()?.checked_mul(100)?.checked_add(hundredths.parse().ok()?)?;
    Some(load / u32::try_from(cores.max(1)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_read() {
        assert_eq!(available_memory("MemTotal: 9 kB\nMemAvailable:   21769108 kB\n"), Some(22_291_566_592));
        let pressure =
            "some avg10=9.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=41.53 avg60=0.00 total=2\n";
        assert_eq!(full_pressure(pressure), Some(41));
        assert_eq!(load_percent("7.22 10.00 9.02 7/196 29867\n", 2), Some(361));
        assert_eq!((available_memory(""), full_pressure("some"), load_percent("x", 2)), (None, None, None));
    }
}
