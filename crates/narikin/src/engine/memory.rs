//! How much memory the machine has.

/// The memory of this machine with its swap space, in megabytes. None where the system does not
/// tell.
///
/// Linux promises memory that is not there, and ends a process that takes it at its word.
#[cfg(target_os = "linux")]
pub(super) fn megabytes() -> Option<i64> {
    let about = rustix::system::sysinfo();
    let units = u128::from(about.totalram) + u128::from(about.totalswap);
    i64::try_from((units * u128::from(about.mem_unit)) >> 20).ok()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn megabytes() -> Option<i64> {
    None
}
