//! The thread that owns the store. Threads with the lock of the state queue work for it, and do not wait.
//!
//! ```text
//!  AppState ── save(game) ──┐                             ┌─ takes versions of the games (short lock)
//!  caller ── run(work) ──┼──> queue ──> writer thread ─┼─ writes them in one transaction
//!  caller ── barrier ────┘                             └─ reports the results (short lock), answers barriers
//! ```
//! A game is taken when its turn comes, not when it is queued: all changes until then are one write. Work is
//! done in the order of the queue, so that a read finds what was queued before it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use std::{io, thread};

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Store, StoreError};
use crate::game::StoredSession;
use crate::time::now;
use crate::wire::GameId;

/// Maximum number of queued items that one transaction takes.
const MAX_MERGED: usize = 1024;
/// Longest time for the last writes when the server ends.
const CLOSING: Duration = Duration::from_secs(30);

/// Where the writer takes games from.
pub(crate) trait GameSource: Send + 'static {
    /// The present versions of those of the games that are still open.
    fn take(&self, games: &[GameId]) -> Vec<(GameId, StoredSession)>;

    /// The results of saving them.
    fn saved(&self, results: Vec<(GameId, Result<(), StoreError>)>);
}

/// The queue of the writer thread.
#[derive(Clone)]
pub(crate) struct Writer(Sender<Work>);

/// The other end of the queue, before the thread runs.
pub(crate) struct Queue(Receiver<Work>);

/// Receives the result of work, or nothing if the library was closed before.
pub(crate) type Written<T = ()> = oneshot::Receiver<T>;

enum Work {
    Save(GameId),
    Run(Box<dyn FnOnce(&mut Store) + Send>),
    Barrier(oneshot::Sender<()>),
    Close(oneshot::Sender<()>),
}

impl Writer {
    pub(crate) fn new() -> (Self, Queue) {
        let (queue, inbox) = channel();
        (Self(queue), Queue(inbox))
    }

    /// Queues the saving of a game. Returns whether there is a library.
    #[must_use]
    pub(crate) fn save(&self, game: GameId) -> bool {
        self.0.send(Work::Save(game)).is_ok()
    }

    /// Queues work on the library.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> T + Send + 'static,
    ) -> Written<T> {
        let (reply, written) = oneshot::channel();
        let work = move |store: &mut Store| {
            // A caller that does not wait for the result has dropped the other end.
            let _ = reply.send(work(store));
        };
        // Without a thread the reply is dropped, which the receiver sees.
        let _ = self.0.send(Work::Run(Box::new(work)));
        written
    }

    /// Work on the library, and its result.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(work).await.unwrap_or(Err(StoreError::Closed))
    }

    /// As [`Self::call`], on a thread that may wait.
    pub(crate) fn call_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(work).blocking_recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Is answered when all that was queued before is written, or has failed.
    pub(crate) fn barrier(&self) -> Written {
        let (reply, written) = oneshot::channel();
        let _ = self.0.send(Work::Barrier(reply));
        written
    }

    /// Writes what is queued and closes the library. Later work fails.
    pub(crate) async fn close(&self) {
        let (reply, closed) = oneshot::channel();
        if self.0.send(Work::Close(reply)).is_ok() {
            // A disk that hangs does not keep the program from ending.
            let _ = timeout(CLOSING, closed).await;
        }
    }
}

impl Queue {
    /// Starts the thread. It ends when it is closed, or with the last of its writers.
    pub(crate) fn start(self, store: Store, games: impl GameSource) -> io::Result<()> {
        let thread = thread::Builder::new().name("library".to_owned());
        thread.spawn(move || run(store, self.0, &games))?;
        Ok(())
    }
}

fn run(mut store: Store, inbox: Receiver<Work>, source: &impl GameSource) {
    let closed = work(&mut store, &inbox, source);
    // When the end is reported, the file is closed and the queue is gone.
    drop((store, inbox));
    if let Some(reply) = closed {
        let _ = reply.send(());
    }
}

/// Works until there is no sender, or until the library is closed. Returns who waits for that.
fn work(
    store: &mut Store,
    inbox: &Receiver<Work>,
    source: &impl GameSource,
) -> Option<oneshot::Sender<()>> {
    while let Ok(first) = inbox.recv() {
        let mut games = Vec::new();
        let mut barriers = Vec::new();
        for work in std::iter::once(first).chain(inbox.try_iter().take(MAX_MERGED)) {
            match work {
                Work::Save(game) => games.push(game),
                Work::Barrier(reply) => barriers.push(reply),
                Work::Run(run) => {
                    save(store, source, &mut games, &mut barriers);
                    run(store);
                }
                Work::Close(reply) => {
                    save(store, source, &mut games, &mut barriers);
                    return Some(reply);
                }
            }
        }
        save(store, source, &mut games, &mut barriers);
    }
    None
}

/// Saves the queued games, and answers the barriers among them.
fn save(
    store: &mut Store,
    source: &impl GameSource,
    games: &mut Vec<GameId>,
    barriers: &mut Vec<oneshot::Sender<()>>,
) {
    if !games.is_empty() {
        let taken = source.take(games);
        games.clear();
        let ids: Vec<GameId> = taken.iter().map(|(id, _)| *id).collect();
        let results = store.save(taken, now());
        source.saved(ids.into_iter().zip(results).collect());
    }
    for barrier in barriers.drain(..) {
        let _ = barrier.send(());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use readyok_library::Source;
    use readyok_rules::record::read;

    use super::*;
    use crate::game::{GameSession, Tree};
    use crate::time::Moment;

    /// One game that is always open, with what was taken and saved.
    #[derive(Clone, Default)]
    struct Open(Arc<Mutex<Vec<String>>>);

    impl Open {
        fn note(&self, text: String) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        }

        fn notes(&self) -> String {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).join(", ")
        }
    }

    impl GameSource for Open {
        fn take(&self, games: &[GameId]) -> Vec<(GameId, StoredSession)> {
            self.note(format!("take {games:?}"));
            let record = read(&b"1. e4 e5 *"[..], None).flatten().next().expect("a game");
            let room = |id: &GameId| GameSession::new(*id, Tree::from_record(&record), 5);
            games.iter().map(|id| (*id, room(id).stored())).collect()
        }

        fn saved(&self, results: Vec<(GameId, Result<(), StoreError>)>) {
            let ids: Vec<_> = results.iter().map(|(id, _)| *id).collect();
            self.note(format!(
                "saved {ids:?} {}",
                results.iter().all(|(_, result)| result.is_ok())
            ));
        }
    }

    fn new_game(store: &mut Store, at: Moment) -> Result<GameId, StoreError> {
        let record = read(&b"1. e4 *"[..], None).flatten().next().expect("a game");
        store.new_game(&record, Source::Play, at)
    }

    #[test]
    fn what_waits_is_written_together_and_in_order() {
        let directory = tempfile::tempdir().expect("a directory");
        let (open, (writer, queue)) = (Open::default(), Writer::new());
        queue
            .start(Store::open(directory.path()).expect("it opens"), open.clone())
            .expect("a thread");
        let new = |at| writer.call_blocking(move |store| new_game(store, at));
        let [first, second] = [1, 2].map(|at| new(at).expect("a row"));
        // The writer waits until everything is queued.
        let (release, held) = channel::<()>();
        drop(writer.run(move |_| held.recv()));
        assert!(writer.save(first));
        let early = writer.barrier();
        assert!(writer.save(second));
        let read = writer.run(move |store| store.game(second).expect("it works").is_some());
        assert!(writer.save(first));
        let late = writer.barrier();
        drop(release);
        early.blocking_recv().expect("it is answered");
        assert!(read.blocking_recv().expect("it is done"), "it finds what was queued before");
        late.blocking_recv().expect("it is answered");
        assert_eq!(open.notes(), "take [1, 2], saved [1, 2] true, take [1], saved [1] true");
    }

    #[tokio::test]
    async fn a_closed_library_has_written_everything_and_takes_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let (open, (writer, queue)) = (Open::default(), Writer::new());
        queue
            .start(Store::open(directory.path()).expect("it opens"), open.clone())
            .expect("a thread");
        let id = writer.call(|store| new_game(store, 1)).await.expect("a game");
        assert!(writer.save(id));
        writer.close().await;
        assert_eq!(open.notes(), "take [1], saved [1] true");
        assert!(!writer.save(id));
        let late = writer.call(|store| new_game(store, 2)).await;
        assert!(matches!(late, Err(StoreError::Closed)));
        assert!(writer.barrier().await.is_err());
        let again = Store::open(directory.path()).expect("it is not locked");
        assert_eq!(again.open_games().next().map(|next| next.0), Some(id));
    }
}
