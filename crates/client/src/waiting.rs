//! How long the threads of an engine wanted a processor and had none, where the system tells. Linux does
//! (`/proc/<id>/task/<thread>/schedstat`).

use std::fs;
use std::time::Duration;

use crate::arrival::waited;

/// No more threads are asked: one that thinks is among the first.
const MOST: usize = 256;

/// The sum over the threads that a process has now.
pub(crate) fn of_process(id: u32) -> Option<Duration> {
    let tasks = fs::read_dir(format!("/proc/{id}/task")).ok()?;
    let counts = tasks.flatten().take(MOST).filter_map(|task| {
        // Threads come and go meanwhile.
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        waited(&text)
    });
    counts.reduce(Duration::saturating_add)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command};
    use std::thread;

    use super::*;
    use crate::time::now;

    /// Two that never rest share a processor.
    #[test]
    fn who_shares_a_processor_waits_for_it() {
        let status = fs::read_to_string("/proc/self/status").expect("there is one");
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        let first = allowed.expect("it is told").trim().split([',', '-']).next().expect("one");
        let busy = || {
            let mut command = Command::new("taskset");
            command.args(["-c", first, "sh", "-c", "while :; do :; done"]);
            command.spawn().expect("util-linux is there")
        };
        let mut both = [busy(), busy()];
        let until = now() + Duration::from_secs(20);
        let waits = |child: &Child| of_process(child.id()).is_some_and(|it| it.as_millis() > 20);
        while !both.iter().all(waits) && now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        let waited = both.each_ref().map(waits);
        for child in &mut both {
            child.kill().and_then(|()| child.wait()).expect("it can be killed");
        }
        assert_eq!(waited, [true, true]);
        assert_eq!(of_process(both[0].id()), None);
    }
}
