//! What the client says during a search and what waits for its end.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use crate::Command;

/// So many commands, and so many bytes of them, may wait.
const MAX_COMMANDS: usize = 256;
const MAX_BYTES: usize = 4 << 20;

/// The commands that wait, in their order.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    queue: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    command: Command<'static>,
    /// How long its line is.
    bytes: usize,
}

impl Waiting {
    /// Keeps a command that was so many bytes long. A `position` takes the place of the one that
    /// no `go` would search any more.
    ///
    /// # Errors
    /// Too much waits already. Nothing has changed.
    pub(super) fn keep(
        &mut self,
        command: Command<'_>,
        bytes: usize,
    ) -> Result<(), Box<Command<'static>>> {
        let stale = self.stale_position().filter(|_| matches!(command, Command::Position(_)));
        let kept = |(at, _): &(usize, &Waiter)| Some(*at) != stale;
        let (mut commands, mut total) = (1, bytes);
        for (_, waiter) in self.queue.iter().enumerate().filter(kept) {
            commands += 1;
            total += waiter.bytes;
        }
        let command = command.into_owned();
        if MAX_COMMANDS < commands || MAX_BYTES < total {
            return Err(Box::new(command));
        }
        if let Some(at) = stale {
            self.queue.remove(at);
        }
        self.queue.push_back(Waiter { command, bytes });
        Ok(())
    }

    /// Keeps the first hello, which is never refused.
    pub(super) fn keep_hello(&mut self) {
        self.queue.push_back(Waiter { command: Command::Hello, bytes: 0 });
    }

    /// Whether the first hello waits.
    pub(super) fn holds_hello(&self) -> bool {
        self.queue.iter().any(|waiter| waiter.command == Command::Hello)
    }

    /// Takes the command that has waited longest.
    pub(super) fn take(&mut self) -> Option<Command<'static>> {
        self.queue.pop_front().map(|waiter| waiter.command)
    }

    /// Takes the first command about the search that runs: before any other search, and whatever
    /// else waits before it for the end of this one.
    pub(super) fn take_about_search(&mut self) -> Option<Command<'static>> {
        let mut waiters = self.queue.iter().take_while(|waiter| !is_search(&waiter.command));
        let at = waiters.position(|waiter| is_about_search(&waiter.command))?;
        self.queue.remove(at).map(|waiter| waiter.command)
    }

    /// Whether a command is about a search that waits.
    pub(super) fn concerns(&self, command: &Command<'_>) -> bool {
        is_about_search(command) && self.queue.iter().any(|waiter| is_search(&waiter.command))
    }

    /// Whether something waits that the running search must end for.
    pub(super) fn presses(&self) -> bool {
        self.holds_hello() || self.queue.iter().any(|waiter| is_search(&waiter.command))
    }

    pub(super) fn clear(&mut self) {
        self.queue.clear();
    }

    /// The last `position` that has no `go` after it.
    fn stale_position(&self) -> Option<usize> {
        let mut last = self.queue.iter().enumerate().rev();
        let found = last.find(|(_, waiter)| {
            matches!(waiter.command, Command::Position(_)) || is_search(&waiter.command)
        });
        found.filter(|(_, waiter)| !is_search(&waiter.command)).map(|(at, _)| at)
    }
}

/// The commands that a waiting `go` keeps from the search before it.
fn is_about_search(command: &Command<'_>) -> bool {
    matches!(command, Command::Stop | Command::PonderHit(_) | Command::GameOver(_))
}

/// Engines that count leaf nodes owe no answer to that.
fn is_search(command: &Command<'_>) -> bool {
    matches!(command, Command::Go(go) if go.perft.is_none())
}
