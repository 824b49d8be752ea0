//! Stopping a match, and the token by which workers observe it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How a match is stopped. `Abort` overrides `Finish`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// Finish running pairings.
    Finish,
    /// Abort running pairings, and replay them when the match is resumed.
    Abort,
}

/// The stop state of a match. Clones share it.
#[derive(Clone, Default)]
pub struct StopToken(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    stop: Option<Stop>,
    next: u64,
    on_abort: BTreeMap<u64, Box<dyn Fn() + Send>>,
}

/// Registration of an abort callback, until it is dropped.
#[must_use]
#[derive(Debug)]
pub struct OnAbort {
    token: StopToken,
    key: u64,
}

impl StopToken {
    /// Stops the match. A stop is never revoked or weakened.
    pub fn stop(&self, how: Stop) {
        let mut state = self.state();
        let is_new = state.stop < Some(how);
        if is_new {
            state.stop = Some(how);
        }
        if is_new && how == Stop::Abort {
            state.on_abort.values().for_each(|act| act());
        }
    }

    /// How the match was stopped, if it was.
    pub fn stopped(&self) -> Option<Stop> {
        self.state().stop
    }

    /// Waits for this time or until an abort.
    pub fn wait_for_abort(&self, time: Duration) {
        let (sender, aborted) = channel();
        let _registration = self.on_abort(move || {
            // The wait may be over.
            let _ = sender.send(());
        });
        // A timeout and an abort are equivalent.
        let _ = aborted.recv_timeout(time);
    }

    /// Whether running games must be aborted.
    pub fn is_aborted(&self) -> bool {
        self.stopped() == Some(Stop::Abort)
    }

    /// Calls a function on an abort, or immediately if the match is already aborted. The function must be short and must
    /// not use the token.
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
