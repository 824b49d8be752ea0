//! Commands that arrive during a search and take effect after it.

use alloc::collections::VecDeque;

use super::InvalidPosition;
use crate::{Command, Go, MateLimit};

/// Maximum memory of the queue in bytes. Only a flood reaches it: it is enough for hundreds of
/// thousands of searches.
const MAX_BYTES: usize = 256 << 20;

/// A command, a line that sets no valid position, or a search that was dropped and must still be answered.
#[derive(Clone, Debug, Eq, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly all entries are commands")]
pub(super) enum Queued {
    Command(Command<'static>),
    InvalidPosition(InvalidPosition),
    DroppedSearch { mate: Option<MateLimit> },
}

#[derive(Debug)]
pub(super) struct CommandQueue {
    entries: VecDeque<QueueEntry>,
    /// Queued searches, and queued commands of [`Queued::is_for_search`].
    searches: usize,
    for_search: usize,
    handshakes: usize,
    quits: usize,
    /// Index of the last position that has no search after it.
    open_position: Option<usize>,
    bytes: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct QueueEntry {
    queued: Queued,
    bytes: usize,
    /// How often it is still to be returned. More than once only for dropped searches.
    count: usize,
}

impl Default for CommandQueue {
    fn default() -> Self {
        Self {
            entries: VecDeque::new(),
            searches: 0,
            for_search: 0,
            handshakes: 0,
            quits: 0,
            open_position: None,
            bytes: 0,
            max_bytes: MAX_BYTES,
        }
    }
}

impl CommandQueue {
    /// Queues a command. `line` is the length of its line. A position replaces one that no search uses.
    ///
    /// The limit does not apply to entries that can be queued only once: the handshake, `quit`, and an
    /// invalid position. Of a search beyond the limit, only the fact that it must be answered is queued.
    ///
    /// # Errors
    /// The queue is full, and the command was dropped.
    pub(super) fn push(&mut self, queued: Queued, line: usize) -> Result<(), QueueFull> {
        // The position is invalid after a dropped search.
        let follows_dropped = self.entries.back_mut().filter(|entry| entry.queued.is_dropped());
        if follows_dropped.is_some() && matches!(queued, Queued::InvalidPosition(_)) {
            return Ok(());
        }
        let replaced = self.open_position.filter(|_| queued.is_position());
        let freed = replaced.and_then(|at| self.entries.get(at)).map_or(0, |entry| entry.bytes);
        let bytes = size_of::<QueueEntry>().saturating_add(line);
        let is_limited = !(queued.is_handshake()
            || queued.is_quit()
            || matches!(queued, Queued::InvalidPosition(_)));
        if is_limited && self.max_bytes < (self.bytes - freed).saturating_add(bytes) {
            if let Queued::Command(Command::Go(go)) = queued
                && go.perft.is_none()
            {
                self.push_dropped_search(&go);
            }
            return Err(QueueFull);
        }
        if let Some(at) = replaced {
            self.remove(at);
        }
        self.insert(queued, bytes);
        Ok(())
    }

    /// Successive dropped searches share an entry, so that the memory is bounded.
    fn push_dropped_search(&mut self, go: &Go<'_>) {
        match self.entries.back_mut() {
            Some(entry) if entry.queued.is_dropped() => {
                entry.count = entry.count.saturating_add(1);
            }
            _ => self.insert(Queued::DroppedSearch { mate: go.mate }, size_of::<QueueEntry>()),
        }
    }

    fn insert(&mut self, queued: Queued, bytes: usize) {
        self.bytes += bytes;
        self.searches += usize::from(queued.is_search());
        self.for_search += usize::from(queued.is_for_search());
        self.handshakes += usize::from(queued.is_handshake());
        self.quits += usize::from(queued.is_quit());
        if queued.is_search() {
            self.open_position = None;
        } else if queued.is_position() {
            self.open_position = Some(self.entries.len());
        }
        self.entries.push_back(QueueEntry { queued, bytes, count: 1 });
    }

    /// Removes the oldest command.
    pub(super) fn pop(&mut self) -> Option<Queued> {
        if let Some(entry) = self.entries.front_mut().filter(|entry| 1 < entry.count) {
            entry.count -= 1;
            return Some(entry.queued.clone());
        }
        self.remove(0)
    }

    /// Removes the first command for the running search: one before any other search.
    pub(super) fn pop_for_search(&mut self) -> Option<Queued> {
        if self.for_search == 0 {
            return None;
        }
        let mut before = self.entries.iter().take_while(|entry| !entry.queued.is_search());
        let at = before.position(|entry| entry.queued.is_for_search())?;
        self.remove(at)
    }

    pub(super) fn has_search(&self) -> bool {
        0 < self.searches
    }

    /// Whether the first `uci` or `usi` is queued.
    pub(super) fn has_handshake(&self) -> bool {
        0 < self.handshakes
    }

    pub(super) fn has_quit(&self) -> bool {
        0 < self.quits
    }

    pub(super) fn clear(&mut self) {
        *self = Self { max_bytes: self.max_bytes, ..Self::default() };
    }

    fn remove(&mut self, at: usize) -> Option<Queued> {
        let QueueEntry { queued, bytes, .. } = self.entries.remove(at)?;
        self.bytes -= bytes;
        self.searches -= usize::from(queued.is_search());
        self.for_search -= usize::from(queued.is_for_search());
        self.handshakes -= usize::from(queued.is_handshake());
        self.quits -= usize::from(queued.is_quit());
        self.open_position = match self.open_position {
            Some(position) if at < position => Some(position - 1),
            Some(position) if at == position => None,
            unchanged => unchanged,
        };
        Some(queued)
    }
}

/// The memory limit of the queue is reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct QueueFull;

impl Queued {
    /// Whether it starts a search. `go perft` requires no answer.
    pub(super) fn is_search(&self) -> bool {
        match self {
            Self::Command(Command::Go(go)) => go.perft.is_none(),
            Self::DroppedSearch { .. } => true,
            Self::Command(_) | Self::InvalidPosition(_) => false,
        }
    }

    fn is_dropped(&self) -> bool {
        matches!(self, Self::DroppedSearch { .. })
    }

    /// Whether it applies to the search before it.
    pub(super) fn is_for_search(&self) -> bool {
        let Self::Command(command) = self else { return false };
        is_for_search(command)
    }

    fn is_handshake(&self) -> bool {
        matches!(self, Self::Command(Command::Uci))
    }

    fn is_quit(&self) -> bool {
        matches!(self, Self::Command(Command::Quit))
    }

    pub(super) fn is_position(&self) -> bool {
        matches!(self, Self::Command(Command::Position(_)) | Self::InvalidPosition(_))
    }
}

/// Whether a command applies to the last search before it.
pub(super) fn is_for_search(command: &Command<'_>) -> bool {
    matches!(command, Command::Stop | Command::PonderHit(_) | Command::GameOver(_) | Command::Quit)
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec::Vec;

    use super::*;
    use crate::Dialect;

    fn read(line: &str) -> Queued {
        Queued::Command(Command::read(line, Dialect::Uci).value.into_owned())
    }

    fn push(queue: &mut CommandQueue, line: &str) {
        queue.push(read(line), line.len()).unwrap();
    }

    fn drain(queue: &mut CommandQueue) -> Vec<Queued> {
        core::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn a_hundred_thousand_searches_are_queued_in_order() {
        let mut queue = CommandQueue::default();
        let lines = |number: u32| ["position startpos".into(), format!("go nodes {number}")];
        for number in 0..100_000 {
            for line in &lines(number) {
                push(&mut queue, line);
            }
        }
        for number in 0..100_000 {
            for line in lines(number) {
                assert_eq!(queue.pop(), Some(read(&line)));
            }
        }
        assert_eq!((queue.pop(), queue.bytes, queue.searches), (None, 0, 0));
    }

    #[test]
    fn a_position_replaces_one_without_a_search() {
        let mut queue = CommandQueue::default();
        for line in ["position startpos", "setoption name Hash value 1", "go depth 1"] {
            push(&mut queue, line);
        }
        for _ in 0..1000 {
            push(&mut queue, "position startpos moves e2e4");
            push(&mut queue, "position startpos moves d2d4");
        }
        queue.push(Queued::InvalidPosition(InvalidPosition::Missing), 8).unwrap();
        push(&mut queue, "setoption name Hash value 2");
        push(&mut queue, "position startpos moves c2c4");
        let expected = [
            "position startpos",
            "setoption name Hash value 1",
            "go depth 1",
            "setoption name Hash value 2",
            "position startpos moves c2c4",
        ];
        assert_eq!(drain(&mut queue), expected.map(read));
        assert_eq!((queue.bytes, queue.open_position), (0, None));
    }

    #[test]
    fn commands_for_the_running_search_come_before_the_next_one() {
        let mut queue = CommandQueue::default();
        for line in ["ucinewgame", "stop", "go", "ponderhit", "quit"] {
            push(&mut queue, line);
        }
        assert_eq!(queue.pop_for_search(), Some(read("stop")));
        assert_eq!(queue.pop_for_search(), None);
        assert_eq!([queue.pop(), queue.pop()], [Some(read("ucinewgame")), Some(read("go"))]);
        assert_eq!(queue.pop_for_search(), Some(read("ponderhit")));
        assert_eq!(queue.pop_for_search(), Some(read("quit")));
        assert_eq!(queue.for_search, 0);
    }

    #[test]
    fn the_queue_has_a_memory_limit() {
        let mut queue = CommandQueue { max_bytes: 100_000, ..CommandQueue::default() };
        let line = "setoption name Hash value 1";
        let mut pushed = 0;
        while queue.push(read(line), line.len()).is_ok() {
            pushed += 1;
        }
        assert!(100 < pushed && queue.bytes <= 100_000, "{pushed}");
        assert_eq!(queue.push(read("position startpos"), 17), Err(QueueFull));
        queue.push(Queued::InvalidPosition(InvalidPosition::Dropped), 0).unwrap();
        queue.push(read("quit"), 4).unwrap();
        pushed += 2;
        assert_eq!(drain(&mut queue).len(), pushed);
        push(&mut queue, line);
    }

    #[test]
    fn searches_beyond_the_limit_are_counted_in_bounded_memory() {
        let mut queue = CommandQueue { max_bytes: 10_000, ..CommandQueue::default() };
        let (mut searches, mut dropped) = (0, 0);
        for _ in 0..10_000 {
            queue.push(Queued::InvalidPosition(InvalidPosition::Missing), 8).unwrap();
            for line in ["position startpos", "go depth 1"] {
                dropped += usize::from(queue.push(read(line), line.len()).is_err());
            }
            searches += 1;
        }
        assert!(queue.has_search() && 10_000 < dropped);
        assert!(queue.bytes < 11_000, "{}", queue.bytes);
        assert_eq!(drain(&mut queue).iter().filter(|queued| queued.is_search()).count(), searches);
        assert_eq!((queue.bytes, queue.searches), (0, 0));
    }
}
