//! How much memory is free.
//!
//! Linux promises memory that is not there, and ends a process that takes it at its word. Other systems
//! refuse what they do not have.

/// Whether there is room for a table of so many megabytes in place of one of `kept`. Where the system
/// does not tell, it is to be tried.
pub(crate) fn fits(wanted: i64, kept: i64) -> bool {
    free().is_none_or(|free| is_room(wanted, kept, free))
}

/// Of so many megabytes, those for which there is room.
pub(super) fn part_that_fits(wanted: i64) -> i64 {
    free().map_or(wanted, |free| wanted.min(usable(free)))
}

fn is_room(wanted: i64, kept: i64, free: u64) -> bool {
    wanted <= kept.saturating_add(usable(free))
}

/// The megabytes of free memory that may be taken: not all, as the rest of the engine and of the
/// machine goes on.
fn usable(free: u64) -> i64 {
    i64::try_from((free - free / 16) >> 20).unwrap_or(i64::MAX)
}

/// Free memory in bytes.
#[cfg(target_os = "linux")]
fn free() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| of_machine(&text));
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let groups = groups.lines().flat_map(folders).filter_map(|(folder, group)| {
        let [most, used, stat] =
            [group.most, group.used, "memory.stat"].map(|name| read(&format!("{folder}/{name}")));
        of_group(&most?, &used?, &stat.unwrap_or_default(), group)
    });
    machine.into_iter().chain(groups).min()
}

#[cfg(not(target_os = "linux"))]
fn free() -> Option<u64> {
    None
}

/// What `/proc/meminfo` says.
#[cfg(any(target_os = "linux", test))]
fn of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// How a version of control groups names what it knows of a group.
#[cfg(any(target_os = "linux", test))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Names {
    root: &'static str,
    most: &'static str,
    used: &'static str,
    /// What is used for files and can be had at once.
    idle: &'static str,
}

#[cfg(any(target_os = "linux", test))]
const FIRST_VERSION: Names = Names {
    root: "/sys/fs/cgroup/memory",
    most: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    idle: "total_inactive_file ",
};

#[cfg(any(target_os = "linux", test))]
const SECOND_VERSION: Names = Names {
    root: "/sys/fs/cgroup",
    most: "memory.max",
    used: "memory.current",
    idle: "inactive_file ",
};

/// The folders of the group that a line of `/proc/self/cgroup` names and of all around it, each of
/// which has a limit of its own.
#[cfg(any(target_os = "linux", test))]
fn folders(line: &str) -> Vec<(String, Names)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { return Vec::new() };
    let names = match controllers {
        "" => SECOND_VERSION,
        it if it.split(',').any(|name| name == "memory") => FIRST_VERSION,
        _ => return Vec::new(),
    };
    let mut folder = names.root.to_owned();
    let mut folders = vec![(folder.clone(), names)];
    for part in path.split('/').filter(|part| !part.is_empty()) {
        folder = format!("{folder}/{part}");
        folders.push((folder.clone(), names));
    }
    folders
}

/// What the files of a group say; nothing if it has no limit.
#[cfg(any(target_os = "linux", test))]
fn of_group(most: &str, used: &str, stat: &str, names: Names) -> Option<u64> {
    let most: u64 = most.trim().parse().ok()?;
    let used: u64 = used.trim().parse().ok()?;
    let idle = stat.lines().find_map(|line| line.strip_prefix(names.idle)?.parse().ok());
    Some(most.saturating_sub(used.saturating_sub(idle.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn what_is_free_and_the_old_table_make_room_for_a_new_one() {
        assert!(is_room(15_000, 16, 16 * GIB));
        assert!(!is_room(16_000, 16, 16 * GIB), "a sixteenth is left for others");
        // Of 24 GiB, the old table has 15 and 8 are free: together they do for 20.
        assert!(is_room(20_480, 15_360, 8 * GIB));
        assert!(!is_room(20_480, 16, 8 * GIB));
        assert!(is_room(16, 16_000, 0), "a smaller table always fits");
        assert!(!is_room(i64::MAX, 1, u64::MAX / 2));
    }

    #[test]
    fn no_more_is_taken_than_there_is() {
        assert_eq!(part_that_fits(0), 0);
        #[cfg(target_os = "linux")]
        assert!(part_that_fits(i64::MAX) < 1 << 40);
    }

    #[test]
    fn the_machine_tells_what_is_available_and_not_what_it_has() {
        let text =
            "MemTotal:       24684092 kB\nMemFree:         1234 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(of_machine(text), Some(2 << 20));
        assert_eq!(of_machine("MemTotal: 5 kB\n"), None);
        assert_eq!(of_machine("MemAvailable: much\n"), None);
    }

    #[test]
    fn groups_limit_what_is_in_them() {
        let of = |line: &str| -> Vec<String> {
            folders(line).into_iter().map(|(folder, _)| folder).collect()
        };
        assert_eq!(
            of("0::/user/game"),
            ["/sys/fs/cgroup", "/sys/fs/cgroup/user", "/sys/fs/cgroup/user/game"]
        );
        assert_eq!(of("4:cpu,memory:/"), ["/sys/fs/cgroup/memory"]);
        assert!(of("3:cpuset:/").is_empty() && of("nothing").is_empty());

        let stat = "anon 5\ninactive_file 300\nactive_file 7\n";
        assert_eq!(of_group("1000\n", "900\n", stat, SECOND_VERSION), Some(400));
        assert_eq!(of_group("1000\n", "1200\n", "", SECOND_VERSION), Some(0));
        assert_eq!(of_group("max\n", "900\n", stat, SECOND_VERSION), None);
        let stat = "inactive_file 1\ntotal_inactive_file 500\n";
        assert_eq!(of_group("1000\n", "900\n", stat, FIRST_VERSION), Some(600));
    }
}
