//! Selects training positions of games, in a random order of all files.

use std::fs;
use std::marker::PhantomData;
use std::path::Path;

use fastrand::Rng;
use narikin::network::{Features as _, Sha256Hash};
use rayon::prelude::*;
use readyok_rules::Side;
use sha2::{Digest as _, Sha256};

use crate::data::{DataError, GameReader, Record};
use crate::games::{TrainGame, evaluate};
use crate::nnue::positions::Positions;
use crate::rng;
use crate::samples::{self, Filter, LoadError, ReplayError, Scores, validates};

/// The scores of training positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Targets {
    /// The scores of searches, for the positions that pass the filter.
    Searches {
        /// The weight λ of TD(λ), from 0 to 1: scores are averaged with the later ones of the game
        /// ([`samples::average_later_scores`]).
        td_lambda: f32,
    },
    /// Static evaluations by the network in the executable. Positions are those of the games and, after each of them,
    /// the positions after a number of random legal moves. The side to move is not in check.
    Static {
        /// The number of random moves for each position of a game.
        siblings: u8,
    },
}

/// Games, from which positions are selected. Validation games are separate.
#[derive(Debug)]
pub struct Source<G> {
    filter: Filter,
    targets: Targets,
    games: Vec<Stored>,
    validation: Vec<Stored>,
    scores: Scores,
    hashes: Vec<Sha256Hash>,
    game: PhantomData<G>,
}

#[derive(Debug)]
struct Stored {
    record: Record,
    /// The approximate number of selected positions.
    positions: usize,
}

/// The number of games that one thread replays at a time.
const GAMES_PER_TASK: usize = 64;

/// The index of the random numbers for positions that do not depend on the epoch.
const FIXED: u32 = u32::MAX;

impl<G: TrainGame + Sync> Source<G> {
    /// Loads the games of files.
    ///
    /// # Errors
    /// See [`LoadError`].
    pub fn load(
        paths: &[impl AsRef<Path>],
        filter: Filter,
        targets: Targets,
    ) -> Result<Self, LoadError> {
        let mut source = Self {
            filter,
            targets,
            games: Vec::new(),
            validation: Vec::new(),
            scores: Scores::default(),
            hashes: Vec::new(),
            game: PhantomData,
        };
        for path in paths {
            source.add(path.as_ref())?;
        }
        if let Targets::Searches { td_lambda } = targets
            && td_lambda > 0.0
        {
            source.average_later_scores(td_lambda);
        }
        Ok(source)
    }

    fn average_later_scores(&mut self, td_lambda: f32) {
        let (filter, scale) = (self.filter, self.scores.scale());
        let average = |game: &mut Stored| {
            samples::average_later_scores(&mut game.record, td_lambda, scale);
            let counted = count::<G>(&game.record, &filter);
            debug_assert!(counted.is_ok(), "all games were replayed when they were loaded");
            let (positions, scores) = counted.unwrap_or_default();
            game.positions = positions;
            scores
        };
        let merge = |mut sum: Scores, scores: Scores| {
            sum.merge(&scores);
            sum
        };
        self.scores = self.games.par_iter_mut().map(average).reduce(Scores::default, merge);
        self.validation.par_iter_mut().for_each(|game| {
            average(game);
        });
    }

    fn add(&mut self, path: &Path) -> Result<(), LoadError> {
        let bytes = fs::read(path).map_err(|error| DataError::unreadable(path, error))?;
        self.hashes.push(Sha256::digest(&bytes).into());
        let reader = GameReader::new(path, bytes.as_slice())?;
        if reader.header().game != G::KIND {
            return Err(LoadError::OtherGame(path.to_owned()));
        }
        let records = reader.collect::<Result<Vec<_>, _>>()?;
        let checked: Vec<_> = records
            .into_par_iter()
            .enumerate()
            .map(|(index, record)| {
                let (mut positions, scores) = count::<G>(&record, &self.filter).map_err(|why| {
                    LoadError::Replay { path: path.to_owned(), game: index as u64, why }
                })?;
                if let Targets::Static { siblings } = self.targets {
                    positions = record.plies.len() * (1 + usize::from(siblings));
                }
                Ok((index, Stored { record, positions }, scores))
            })
            .collect::<Result<_, LoadError>>()?;
        for (index, game, scores) in checked {
            if validates(index as u64) {
                self.validation.push(game);
            } else {
                self.scores.merge(&scores);
                self.games.push(game);
            }
        }
        Ok(())
    }

    /// The hashes of the files.
    pub fn hashes(&self) -> &[Sha256Hash] {
        &self.hashes
    }

    /// The number of training games.
    pub fn games(&self) -> usize {
        self.games.len()
    }

    /// The approximate number of training positions per epoch.
    pub fn positions(&self) -> usize {
        self.games.iter().map(|game| game.positions).sum()
    }

    /// The scores and results of training positions that pass the filter.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }

    /// The random order of the training games in an epoch.
    pub fn order(&self, seed: u64, epoch: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..).take(self.games.len()).collect();
        rng::of(seed, epoch.into()).shuffle(&mut order);
        order
    }

    /// The number of games from the start of an order that have about this number of positions. The
    /// last part of an order is not much smaller than the others.
    pub fn take(&self, order: &[u32], positions: usize) -> usize {
        let mut sum = 0;
        let rest: usize = order.iter().map(|&game| self.games[game as usize].positions).sum();
        if rest <= positions + positions / 2 {
            return order.len();
        }
        for (taken, &game) in order.iter().enumerate() {
            if sum >= positions {
                return taken;
            }
            sum += self.games[game as usize].positions;
        }
        order.len()
    }

    /// The training positions of games.
    pub fn training(&self, games: &[u32], seed: u64, epoch: u32) -> Vec<Positions> {
        games
            .par_chunks(GAMES_PER_TASK)
            .map(|games| {
                let mut positions = Positions::default();
                for &game in games {
                    let rng = rng::of(seed ^ u64::from(epoch) << 32, game.into());
                    self.select(&self.games[game as usize].record, rng, |board, score, winner| {
                        positions.push(board, score, winner);
                    });
                }
                positions
            })
            .collect()
    }

    /// The positions of validation games: all, or those of evenly chosen games if there are more than
    /// a maximum. Calls `with` with the board of each.
    pub fn validation(&self, most: usize, mut with: impl FnMut(&G::Board)) -> Positions {
        let all: usize = self.validation.iter().map(|game| game.positions).sum();
        let step = all.div_ceil(most.max(1)).max(1);
        let mut positions = Positions::default();
        for (index, game) in self.validation.iter().enumerate().step_by(step) {
            let rng = rng::of(u64::from(FIXED), index as u64);
            self.select(&game.record, rng, |board, score, winner| {
                positions.push(board, score, winner);
                with(board);
            });
        }
        positions
    }

    /// Calls `with` with each selected position of a game: its board, its score for the side to move,
    /// and the winner.
    fn select(
        &self,
        record: &Record,
        mut rng: Rng,
        mut with: impl FnMut(&G::Board, i16, Option<Side>),
    ) {
        let done = match self.targets {
            Targets::Searches { .. } => samples::each::<G>(record, &self.filter, |sample| {
                let score = match sample.board.turn() {
                    Side::First => sample.score,
                    Side::Second => -sample.score,
                };
                with(sample.board, score, record.winner);
            }),
            Targets::Static { siblings } => samples::replay::<G>(record, |_, board, _| {
                let mut add = |board: &G::Board| {
                    if !G::in_check(board) {
                        with(board, narrow(evaluate(board)), record.winner);
                    }
                };
                add(board);
                let mut moves = G::legal_moves(board);
                for chosen in 0..usize::from(siblings).min(moves.len()) {
                    let other = rng.usize(chosen..moves.len());
                    moves.swap(chosen, other);
                    let mut sibling = board.clone();
                    if G::play(&mut sibling, moves[chosen]) {
                        add(&sibling);
                    }
                }
            }),
        };
        debug_assert!(done.is_ok(), "all games were replayed when they were loaded");
    }
}

/// The number of positions that pass the filter, and their scores.
fn count<G: TrainGame>(record: &Record, filter: &Filter) -> Result<(usize, Scores), ReplayError> {
    let (mut positions, mut scores) = (0, Scores::default());
    samples::each::<G>(record, filter, |sample| {
        positions += 1;
        scores.add(sample.score, record.winner);
    })?;
    Ok((positions, scores))
}

fn narrow(value: i32) -> i16 {
    let most = i32::from(i16::MAX);
    i16::try_from(value.clamp(-most, most)).unwrap_or(0)
}
