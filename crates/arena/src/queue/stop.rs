//! How a match is ended before its end, and how those who play hear of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a match is ended. The later one is the harder one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// Pairings that are being played are played to their end.
    Finish,
    /// They are broken off, and played again if the match goes on.
    Abort,
}

/// Tells whether the match was stopped. Clones tell the same.
#[derive(Clone, Default)]
pub struct StopToken(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    stop: Option<Stop>,
    next: u64,
    on_abort: BTreeMap<u64, Box<dyn Fn() + Send>>,
}

/// While it exists, an abort is last_seen.
#[must_use]
#[derive(Debug)]
pub struct OnAbort {
    token: StopToken,
    key: u64,
}

impl StopToken {
    /// Stops the match, for good: a stop is never taken back or made milder.
    pub fn stop(&self, how: Stop) {
        let mut state = self.state();
        let news = state.stop < Some(how);
        if news {
            state.stop = Some(how);
        }
        if news && how == Stop::Abort {
            state.on_abort.values().for_each(|act| act());
        }
    }

    /// Whether and how the match was stopped.
    pub fn stopped(&self) -> Option<Stop> {
        self.state().stop
    }

    /// Waits so long, or until games are to be broken off.
    pub fn wait_for_abort(&self, time: Duration) {
        let (tell, told) = channel();
        let _heard = self.on_abort(move || {
            // Whoever waited has gone on.
            let _ = tell.send(());
        });
        // Both ends of the wait are the same.
        let _ = told.recv_timeout(time);
    }

    /// Whether games that are being played are to be broken off.
    pub fn is_aborted(&self) -> bool {
        self.stopped() == Some(Stop::Abort)
    }

    /// Does something when games are to be broken off, at once if they are already. It must be
    /// short, and must not use the token.
    pub fn on_abort(&self, act: impl Fn() + Send + 'static) -> OnAbort {
        let mut state = self.state();
        if state.stop == Some(Stop::Abort) {
            act();
        }
        let key = state.next;
        state.next += 1;
        state.on_abort.insert(key, Box::new(act));
        OnAbort { token: self.clone(), key }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for OnAbort {
    fn drop(&mut self) {
        self.token.state().on_abort.remove(&self.key);
    }
}

impl fmt::Debug for StopToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopToken").field(&self.stopped()).finish()
    }
}
