//! Plays games on several threads, and writes them in the order of their numbers.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::player::Players;
use super::{GenerateError, game};
use crate::data::{Header, Record, Writer};

/// The target size of a file, including existing games.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// A number of games.
    Games(u64),
    /// A minimum number of positions.
    Positions(u64),
}

/// The number of games and of positions with scores in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Games.
    pub games: u64,
    /// Positions.
    pub positions: u64,
}

impl Progress {
    fn count(&mut self, game: &Record) {
        self.games += 1;
        self.positions += game.plies.len() as u64;
    }

    fn is_enough(self, until: Until) -> bool {
        match until {
            Until::Games(games) => self.games >= games,
            Until::Positions(positions) => self.positions >= positions,
        }
    }
}

/// Plays games until the file has the target size; 0 threads count as one. A missing file is created,
/// an existing one is extended. `on_game` is called first for the existing games together, then for
/// every new one.
///
/// # Errors
/// See [`GenerateError`]. Games that were already written are preserved.
pub fn run(
    path: &Path,
    header: &Header,
    until: Until,
    threads: usize,
    mut on_game: impl FnMut(Progress),
) -> Result<Progress, GenerateError> {
    let mut progress = Progress::default();
    let mut writer = Writer::open(path, header, |game| progress.count(game))?;
    on_game(progress);
    if progress.is_enough(until) {
        return Ok(progress);
    }
    let next = &AtomicU64::new(progress.games);
    let stop = &AtomicBool::new(false);
    let threads = threads.max(1);
    let (played, games) = sync_channel(threads);
    let written = thread::scope(|scope| {
        for _ in 0..threads {
            let played = played.clone();
            scope.spawn(move || work(header, next, stop, &played));
        }
        drop(played);
        let mut waiting = BTreeMap::new();
        let mut write = || -> Result<(), GenerateError> {
            for (number, game) in &games {
                waiting.insert(number, game?);
                while let Some(game) = waiting.remove(&progress.games) {
                    writer.append(&game)?;
                    progress.count(&game);
                    on_game(progress);
                    if progress.is_enough(until) {
                        return Ok(());
                    }
                }
            }
            Ok(())
        };
        let written = write();
        stop.store(true, Ordering::Relaxed);
        // No thread waits for a free slot any more.
        drop(games);
        written
    });
    writer.sync()?;
    written.map(|()| progress)
}

type NumberedGame = (u64, Result<Record, GenerateError>);

fn work(header: &Header, next: &AtomicU64, stop: &AtomicBool, played: &SyncSender<NumberedGame>) {
    let mut players = match Players::new(stop) {
        Ok(players) => players,
        Err(error) => {
            // Without a receiver the run has already ended.
            let _ = played.send((u64::MAX, Err(error.into())));
            return;
        }
    };
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let game = match game::play(header, number, &mut players) {
            Ok(Some(game)) => Ok(game),
            Ok(None) => return,
            Err(error) => Err(error),
        };
        let failed = game.is_err();
        if played.send((number, game)).is_err() || failed {
            return;
        }
    }
}
