//! The machine of the server, and option values that suit it.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::{env, fs, thread};

use crate::wire::{EngineOption, Machine, OptionKind};

/// Limits of the recommended size of a hash table, in MiB.
const MIN_HASH: u64 = 16;
const MAX_HASH: u64 = 1024;
/// The recommended size where the memory of the machine is unknown.
const USUAL_HASH: u64 = 256;

/// The machine, which does not change.
pub(crate) fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Machine> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
        Machine {
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
            memory: memory(),
            system: env::consts::OS.to_owned(),
            distributions: distributions(&release),
        }
    })
}

/// The memory of the machine in MiB.
fn memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// The distribution of Linux, and those that it is like: `ID` and `ID_LIKE` of `os-release`.
fn distributions(release: &str) -> Vec<String> {
    let value = |name: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches(['"', '\''])
    };
    let names = [value("ID"), value("ID_LIKE")];
    names.iter().flat_map(|names| names.split_whitespace()).take(8).map(str::to_owned).collect()
}

/// Values of `Threads` and `Hash` within the ranges of an engine.
///
/// Half of the logical cores, which are the physical ones on most machines, and a sixteenth of the memory, as
/// several engines may run: a power of two from 16 to 1024 MiB.
pub(crate) fn recommended(options: &[EngineOption], machine: &Machine) -> BTreeMap<String, String> {
    let threads = u64::from((machine.cores / 2).max(1));
    let hash = machine.memory.map_or(USUAL_HASH, |memory| {
        let share = (memory / 16).clamp(MIN_HASH, MAX_HASH);
        1 << share.ilog2()
    });
    // Threads of engines with a backend, such as Lc0, only feed it.
    let has_backend = options.iter().any(|option| option.name.eq_ignore_ascii_case("Backend"));
    let of = |option: &EngineOption| {
        let is = |name: &str| option.name.eq_ignore_ascii_case(name);
        let wanted = match () {
            () if is("Threads") && !has_backend => threads,
            () if is("Hash") || is("USI_Hash") => hash,
            () => return None,
        };
        let OptionKind::Spin { min, max, .. } = option.kind else { return None };
        let wanted = i64::try_from(wanted).unwrap_or(i64::MAX);
        let value = wanted.min(max.unwrap_or(wanted)).max(min.unwrap_or(wanted));
        Some((option.name.clone(), value.to_string()))
    };
    options.iter().filter(|option| !option.set_by_server).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(name: &str, max: i64) -> EngineOption {
        EngineOption {
            name: name.to_owned(),
            kind: OptionKind::Spin { default: Some(1), min: Some(1), max: Some(max) },
            labels: BTreeMap::new(),
            help: BTreeMap::new(),
            set_by_server: false,
        }
    }

    #[track_caller]
    fn check(cores: u32, memory: Option<u64>, options: &[EngineOption], expected: &[(&str, &str)]) {
        let machine = Machine { cores, memory, ..Machine::default() };
        let found = recommended(options, &machine);
        let found: Vec<_> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, expected, "{cores} {memory:?}");
    }

    #[test]
    fn values_follow_the_machine_within_the_ranges_of_the_engine() {
        let stockfish = [option("Threads", 1024), option("Hash", 1 << 25), option("MultiPV", 256)];
        check(8, Some(16_000), &stockfish, &[("Hash", "512"), ("Threads", "4")]);
        check(1, Some(200), &stockfish, &[("Hash", "16"), ("Threads", "1")]);
        check(192, Some(1 << 20), &stockfish, &[("Hash", "1024"), ("Threads", "96")]);
        check(4, None, &stockfish, &[("Hash", "256"), ("Threads", "2")]);
        let limited = [option("Threads", 2), option("USI_Hash", 64)];
        check(16, Some(64_000), &limited, &[("Threads", "2"), ("USI_Hash", "64")]);
        // Lc0 has no hash table of this name.
        check(16, Some(64_000), &[option("Threads", 128), option("Backend", 1)], &[]);
        let managed = EngineOption { set_by_server: true, ..option("Hash", 1024) };
        check(16, Some(64_000), &[managed], &[]);
    }

    #[test]
    fn distributions_are_read_from_os_release() {
        let ubuntu = "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n";
        assert_eq!(distributions(ubuntu), ["ubuntu", "debian"]);
        let leap = "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n";
        assert_eq!(distributions(leap), ["opensuse-leap", "suse", "opensuse"]);
        assert!(distributions("").is_empty());
    }
}
