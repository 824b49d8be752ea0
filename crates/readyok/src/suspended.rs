//! Hears when this program goes on after it was stopped, as by Ctrl-Z.

use std::io;

use readyok_arena::runner::Suspensions;

/// Counts how often this program goes on after it was stopped.
#[cfg(unix)]
pub(crate) fn suspensions() -> io::Result<Suspensions> {
    use signal_hook::consts::SIGCONT;
    use signal_hook::iterator::Signals;

    let suspensions = Suspensions::default();
    let told = suspensions.clone();
    let mut signals = Signals::new([SIGCONT])?;
    let hear = move || signals.forever().for_each(|_| told.went_on());
    std::thread::Builder::new().name("suspensions".to_owned()).spawn(hear)?;
    Ok(suspensions)
}

/// Elsewhere no program is told.
#[cfg(not(unix))]
pub(crate) fn suspensions() -> io::Result<Suspensions> {
    Ok(Suspensions::default())
}
