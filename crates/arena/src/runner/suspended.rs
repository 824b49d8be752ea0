//! What a program does that was stopped in the middle of games, as by Ctrl-Z, and goes on.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::game::Cancel;

/// How often this program was stopped and went on. Clones count the same.
///
/// Nobody looked at the clocks meanwhile: an engine that answered in time cannot be told from one that
/// did not. So pairings that were on are played again.
#[derive(Clone, Default)]
pub struct Suspensions(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    count: u64,
    /// The games that are on.
    games: Vec<Cancel>,
}

/// The time in which it is told that the program goes on, to those who go on first.
const NEWS: Duration = Duration::from_millis(100);

impl Suspensions {
    /// The program goes on after it was stopped. Games that are on are broken off.
    pub fn went_on(&self) {
        let mut state = self.state();
        state.count += 1;
        state.games.drain(..).for_each(|game| game.cancel());
        self.0.changed.notify_all();
    }

    /// Has games broken off when the program next goes on. Tells how often it has so far.
    pub(super) fn watch(&self, games: &Cancel) -> u64 {
        let mut state = self.state();
        state.games.push(games.clone());
        state.count
    }

    /// Whether it has gone on since. The news may still be on its way to here, and is waited for if
    /// somebody was late.
    pub(super) fn is_news(&self, before: u64, is_late: bool) -> bool {
        let time = if is_late { NEWS } else { Duration::ZERO };
        let wait = self.0.changed.wait_timeout_while(self.state(), time, |it| it.count == before);
        wait.unwrap_or_else(PoisonError::into_inner).0.count != before
    }

    /// The games are over.
    pub(super) fn forget(&self, games: &Cancel) {
        self.state().games.retain(|it| !it.is(games));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Suspensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Suspensions").field(&self.state().count).finish()
    }
}
