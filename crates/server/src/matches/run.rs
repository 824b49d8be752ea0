//! The threads of a match: one plays, one follows and reports.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use readyok_arena::event::{Event, Listener};
use readyok_arena::game::GameSettings;
use readyok_arena::openings::Skipped;
use readyok_arena::pairing::{PairResult, Pairing};
use readyok_arena::queue::{MatchSpec, Stop};
use readyok_arena::runner::{
    EnginePlayer, Match, MatchError, PairPlayer, PlayContext, PlayerError, Settings, StopHandle,
};
use readyok_arena::store::Store;
use readyok_client::Timeouts;

use super::errors::match_error;
use super::{Finished, Follow, Program};
use crate::time::instant;
use crate::wire::{ErrorCode, MatchDelta, MatchId, MatchLine};

/// Minimum interval between updates of the page.
const MIN_INTERVAL: Duration = Duration::from_millis(200);

/// What has happened in a match.
#[derive(Debug)]
pub enum MatchEvent {
    /// Something has changed.
    Changed(MatchId, Changes),
    /// A game counts, and can go into the library.
    Game(MatchId, Box<Finished>),
    /// Its thread has ended, and so have its engines.
    Ended(MatchId),
}

/// What has changed in a match since it was taken last.
#[derive(Clone, Debug)]
pub struct Changes(Arc<Mutex<Follow>>);

impl Changes {
    /// Takes the changes, with the status of the match. None if nothing has changed.
    pub fn take(&self) -> Option<(MatchDelta, MatchLine)> {
        let mut follow = lock(&self.0);
        let delta = follow.take_delta()?;
        Some((delta, follow.line()))
    }
}

/// Receives events from the threads of matches.
pub type MatchListener = Arc<dyn Fn(MatchEvent) + Send + Sync>;

/// A match that is played.
#[derive(Debug)]
pub(super) struct MatchThread {
    pub(super) follow: Arc<Mutex<Follow>>,
    stop: StopHandle,
    /// Disconnected when the thread ends.
    ended: mpsc::Receiver<()>,
    interrupts: u32,
}

pub(super) fn lock(follow: &Mutex<Follow>) -> MutexGuard<'_, Follow> {
    follow.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MatchThread {
    /// Ends the match: games that are on are played to their ends, or broken off.
    pub(super) fn stop(&mut self, finish: bool) {
        let wanted = if finish { 1 } else { 2 };
        while self.interrupts < wanted {
            self.stop.interrupt();
            self.interrupts += 1;
        }
    }

    pub(super) fn is_over(&self) -> bool {
        !matches!(self.ended.try_recv(), Err(mpsc::TryRecvError::Empty))
    }

    /// Waits for the thread. Returns whether it has ended.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        !matches!(self.ended.recv_timeout(timeout), Err(RecvTimeoutError::Timeout))
    }
}

enum Message {
    Event(Event),
    Skipped(Arc<Skipped>),
    Pair(PairResult),
}

/// Forwards events from the thread of the match.
struct EventForwarder(Sender<Message>);

impl Listener for EventForwarder {
    fn on_event(&mut self, event: &Event) {
        // The follower has ended.
        let _ = self.0.send(Message::Event(event.clone()));
    }

    fn on_skipped_openings(&mut self, skipped: &Arc<Skipped>) {
        let _ = self.0.send(Message::Skipped(Arc::clone(skipped)));
    }
}

/// Plays with engines, and passes complete pairs on.
struct ReportingPlayer<P> {
    player: P,
    sender: Sender<Message>,
}

impl<P: PairPlayer> PairPlayer for ReportingPlayer<P> {
    fn play(
        &mut self,
        pairing: &Pairing,
        context: &mut PlayContext<'_>,
    ) -> Result<Option<PairResult>, PlayerError> {
        let pair = self.player.play(pairing, context)?;
        if let Some(pair) = &pair {
            let _ = self.sender.send(Message::Pair(pair.clone()));
        }
        Ok(pair)
    }
}

/// Plays a match in a thread of its own. At the end, `keep` is called there before the end is reported.
pub(super) fn start(
    id: MatchId,
    follow: Follow,
    store: Store,
    slots: usize,
    program: Program,
    listener: MatchListener,
    keep: impl FnOnce(&Follow) + Send + 'static,
) -> Result<MatchThread, MatchError> {
    let plan_game = store.plan().game;
    let settings =
        Settings { on_interrupt: Stop::Finish, report_moves: true, ..Settings::default() };
    let mut game = Match::new(store, settings)?;
    let (sender, messages) = mpsc::channel();
    game.listen(EventForwarder(sender.clone()));
    let stop = game.stop_handle();
    let follow = Arc::new(Mutex::new(follow));
    let (end, ended) = mpsc::channel();
    let running = MatchThread { follow: Arc::clone(&follow), stop, ended, interrupts: 0 };
    let play = move || {
        let setting = GameSettings::new(plan_game);
        let make = |spec: &MatchSpec| {
            let player = EnginePlayer::new(&spec.plan, setting.clone(), Timeouts::default());
            let player = player.report_moves(spec.report_moves);
            let player = match &program.guard {
                Some(guard) => player.guarded(guard),
                None => player,
            };
            ReportingPlayer { player, sender: sender.clone() }
        };
        let result = game.play_here(slots, None, make);
        // The last sender: the follower continues.
        drop(sender);
        result
    };
    let name = format!("match {id}");
    let thread =
        thread::Builder::new().name(name.clone()).spawn(play).map_err(MatchError::Threads)?;
    let follower = move || {
        let publish = || {
            if lock(&follow).has_news() {
                listener(MatchEvent::Changed(id, Changes(Arc::clone(&follow))));
            }
        };
        let mut last = instant();
        loop {
            let due = lock(&follow).has_news().then(|| last + MIN_INTERVAL);
            let message = match due {
                // Also if messages arrive without a pause, as with very short games.
                Some(due) if due <= instant() => Err(RecvTimeoutError::Timeout),
                Some(due) => messages.recv_timeout(due.saturating_duration_since(instant())),
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(Message::Pair(pair)) => lock(&follow).played(pair),
                Ok(Message::Skipped(skipped)) => lock(&follow).on_skipped(&skipped),
                Ok(Message::Event(event)) => {
                    let games = lock(&follow).on_event(&event);
                    for game in games {
                        listener(MatchEvent::Game(id, Box::new(game)));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    publish();
                    last = instant();
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        match thread.join() {
            Ok(Ok(_)) => lock(&follow).over(),
            Ok(Err(error)) => lock(&follow).failed(match_error(plan_game, &error)),
            Err(_) => lock(&follow).failed(ErrorCode::MatchFailed.into()),
        }
        keep(&lock(&follow));
        // After this report, the match can be resumed or deleted.
        drop(end);
        publish();
        listener(MatchEvent::Ended(id));
    };
    thread::Builder::new()
        .name(format!("{name}, followed"))
        .spawn(follower)
        .map_err(MatchError::Threads)?;
    Ok(running)
}
