//! What a search gives, and what stays from one search to the next.

use std::{collections::TryReserveError, fmt, sync::Arc, thread};

use readyok_rules::{BoardRef, Game, Position};

use crate::{
    board::{Board, Chess, Shogi},
    control::{Control, Limits, SearchResult},
    eval::network::{Network, NetworkError},
    mate::Solver,
    search::{
        history::Histories,
        run::{Run, unsearched},
        timeman::SchedulingDelays,
        tt::TranspositionTable,
    },
};

/// The memory of the mate solver, in megabytes.
const SOLVER_MEMORY: usize = 8;

/// An engine's memory, with which it searches one position after the other.
pub struct Searcher {
    tt: TranspositionTable,
    /// What each thread has learnt; made when it is needed.
    chess: Vec<Histories<Chess>>,
    shogi: Vec<Histories<Shogi>>,
    /// For mates of shogi; made when it is needed.
    solver: Option<Solver>,
    chess_network: Option<Arc<Network>>,
    shogi_network: Option<Arc<Network>>,
}

impl fmt::Debug for Searcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searcher").finish_non_exhaustive()
    }
}

impl Searcher {
    /// A searcher with a hash table of so many megabytes; 0 is next to none.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn new(hash: usize) -> Result<Self, TryReserveError> {
        Ok(Self {
            tt: TranspositionTable::new(hash)?,
            chess: Vec::new(),
            shogi: Vec::new(),
            solver: None,
            chess_network: None,
            shogi_network: None,
        })
    }

    /// Replaces the hash table by one of so many megabytes, and forgets what was in it. If there is
    /// not enough memory, it keeps its size.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn resize(&mut self, hash: usize) -> Result<(), TryReserveError> {
        self.tt.resize(hash)
    }

    /// Forgets everything, as for a new game.
    pub fn clear(&mut self) {
        self.tt.clear(thread::available_parallelism().map_or(1, usize::from));
        self.chess.iter_mut().for_each(Histories::clear);
        self.shogi.iter_mut().for_each(Histories::clear);
    }

    /// Makes what the searches of a game work with, so that the first one does not wait for it.
    pub fn prepare(&mut self, game: Game) {
        match game {
            Game::Chess | Game::Chess960 if self.chess.is_empty() => {
                self.chess.push(Histories::new());
            }
            Game::Chess | Game::Chess960 => (),
            Game::Shogi => {
                if self.shogi.is_empty() {
                    self.shogi.push(Histories::new());
                }
                self.make_solver();
            }
        }
    }

    fn make_solver(&mut self) {
        if self.solver.is_none() {
            // Without one, mates are found by the search alone.
            self.solver = Solver::new(SOLVER_MEMORY).ok();
        }
    }

    /// Searches a position until a limit is reached or the control stops it. With one thread, the
    /// same searches on the same memory give the same results.
    ///
    /// A position whose game is over by repetition or the fifty-move rule is searched like any
    /// other, and so is one where a win could be declared. A position that cannot come up in a game,
    /// and that the search's board does not take, is not searched: any legal move is as good.
    pub fn search(
        &mut self,
        position: &Position,
        limits: &Limits,
        control: &dyn Control,
    ) -> SearchResult {
        self.tt.new_search();
        if matches!(position.board(), BoardRef::Shogi(_)) {
            self.make_solver();
        }
        let delays = SchedulingDelays::new(control.elapsed());
        let run = Run { position, tt: &self.tt, limits, control, delays: &delays };
        let found = match position.board() {
            BoardRef::Chess(_) => run.search(&mut self.chess, self.chess_network.as_deref(), None),
            BoardRef::Shogi(_) => {
                let solver = self.solver.as_mut();
                run.search(&mut self.shogi, self.shogi_network.as_deref(), solver)
            }
        };
        found.unwrap_or_else(|| unsearched(position, limits, control))
    }

    /// Evaluates a game's positions with the network of this file from now on, or by hand-written
    /// terms without one. Chess and Chess960 are one game here.
    ///
    /// # Errors
    /// The file is no network for this game. Everything stays as it was.
    pub fn set_network(&mut self, game: Game, file: Option<&[u8]>) -> Result<(), NetworkError> {
        let read = |features| file.map(|file| Network::read(file, features)).transpose();
        match game {
            Game::Chess | Game::Chess960 => {
                self.chess_network = read(Chess::FEATURES)?.map(Arc::new);
            }
            Game::Shogi => self.shogi_network = read(Shogi::FEATURES)?.map(Arc::new),
        }
        self.clear();
        Ok(())
    }
}
