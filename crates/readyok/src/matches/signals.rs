//! Ends a match by signals of the system.

use std::error::Error;

use readyok_arena::runner::StopHandle;

/// Ctrl-C ends it as its settings say, and the next one at once. So does the first SIGTERM: who sends it will not wait
/// for games to end. SIGHUP is left to who has started the program, who may have it ignored (`nohup`).
#[cfg(unix)]
pub(super) fn end_by_signals(stop: StopHandle) -> Result<(), Box<dyn Error>> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let hear = move || {
        for signal in signals.forever() {
            stop.interrupt();
            if signal == SIGTERM {
                stop.interrupt();
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(hear)?;
    Ok(())
}

/// Elsewhere there is Ctrl-C alone.
#[cfg(not(unix))]
pub(super) fn end_by_signals(stop: StopHandle) -> Result<(), Box<dyn Error>> {
    Ok(ctrlc::set_handler(move || stop.interrupt())?)
}
