//! Whether a machine can bear another agent: by its free memory, its load and its disk.
//!
//! What a system does not tell refuses nothing.

use std::fmt;

use crate::size::Size;

/// What must be left before another agent is started; `None` is no bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// Bytes; each new agent is taken to need as much.
    pub free_memory: Option<u64>,
    /// Percentage of the time in which every process waited for memory.
    pub memory_pressure: Option<u8>,
    /// Runnable processes for each core, in percent.
    pub load_percent: Option<u32>,
    /// Bytes at the home of codefleet.
    pub free_disk: Option<u64>,
}

/// What a machine has left, as far as it tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MachineState {
    pub free_memory: Option<u64>,
    pub memory_pressure: Option<u8>,
    pub load_percent: Option<u32>,
    pub free_disk: Option<u64>,
}

/// What a machine has too little of, or too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    Memory { free: u64, needed: u64 },
    MemoryPressure { percent: u8, most: u8 },
    Load { percent: u32, most: u32 },
    Disk { free: u64, needed: u64 },
}

impl AdmissionLimits {
    /// At most how many of `wanted` agents may be started now.
    pub fn admitted(&self, machine: &MachineState, wanted: usize) -> Result<usize, Shortage> {
        if let (Some(needed), Some(free)) = (self.free_disk, machine.free_disk)
            && free < needed
        {
            return Err(Shortage::Disk { free, needed });
        }
        if let (Some(most), Some(percent)) = (self.memory_pressure, machine.memory_pressure)
            && percent > most
        {
            return Err(Shortage::MemoryPressure { percent, most });
        }
        if let (Some(most), Some(percent)) = (self.load_percent, machine.load_percent)
            && percent > most
        {
            return Err(Shortage::Load { percent, most });
        }
        let (Some(needed), Some(free)) = (self.free_memory, machine.free_memory) else { return Ok(wanted) };
        match usize::try_from(free / needed.max(1)).unwrap_or(usize::MAX) {
            0 => Err(Shortage::Memory { free, needed }),
            room => Ok(wanted.min(room)),
        }
    }
}

/// In whole megabytes: nobody compares bytes.
fn size(bytes: u64) -> Size {
    const MEGABYTE: u64 = 1_000_000;
    Size(if bytes > MEGABYTE { bytes / MEGABYTE * MEGABYTE } else { bytes })
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Memory { free, needed } => {
                write!(f, "{} of memory free, {} needed (`admission.free_memory`)", size(free), size(needed))
            }
            Self::MemoryPressure { percent, most } => {
                write!(f, "memory pressure {percent}%, at most {most}% (`admission.memory_pressure`)")
            }
            Self::Load { percent, most } => {
                let each = |percent: u32| format!("{}.{:02}", percent / 100, percent % 100);
                write!(f, "load {} per core, at most {} (`admission.load`)", each(percent), each(most))
            }
            Self::Disk { free, needed } => {
                write!(f, "{} of disk free, {} needed (`admission.free_disk`)", size(free), size(needed))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: AdmissionLimits = AdmissionLimits {
        free_memory: Some(500_000_000),
        memory_pressure: Some(40),
        load_percent: Some(200),
        free_disk: Some(1_000_000_000),
    };
    const IDLE: MachineState = MachineState {
        free_memory: Some(1_700_000_000),
        memory_pressure: Some(0),
        load_percent: Some(10),
        free_disk: Some(9_000_000_000),
    };

    #[test]
    fn as_many_are_started_as_there_is_memory_for() {
        assert_eq!(LIMITS.admitted(&IDLE, 2), Ok(2));
        assert_eq!(LIMITS.admitted(&IDLE, 32), Ok(3));
        assert_eq!(LIMITS.admitted(&MachineState::default(), 32), Ok(32), "a system that tells nothing");
        assert_eq!(AdmissionLimits::default().admitted(&IDLE, 32), Ok(32));
    }

    #[test]
    fn what_is_short_is_named() {
        let told = |machine: MachineState| LIMITS.admitted(&machine, 1).unwrap_err().to_string();
        insta::assert_snapshot!(told(MachineState { free_memory: Some(312_345_678), ..IDLE }), @"312MB of memory free, 500MB needed (`admission.free_memory`)");
        insta::assert_snapshot!(told(MachineState { memory_pressure: Some(41), ..IDLE }), @"memory pressure 41%, at most 40% (`admission.memory_pressure`)");
        insta::assert_snapshot!(told(MachineState { load_percent: Some(305), ..IDLE }), @"load 3.05 per core, at most 2.00 (`admission.load`)");
        insta::assert_snapshot!(told(MachineState { free_disk: Some(7), ..IDLE }), @"7B of disk free, 1GB needed (`admission.free_disk`)");
    }
}
