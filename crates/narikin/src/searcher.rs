//! The searcher, with the state that persists between searches.

use std::{collections::TryReserveError, fmt, sync::Arc, thread};

use readyok_rules::{BoardRef, Game, Position};

use crate::{
    board::{Board, Chess, Shogi},
    control::{Control, Limits, SearchResult},
    mate::Solver,
    network::{Network, embedded},
    search::{
        history::Histories,
        run::{Run, unsearched},
        timeman::SchedulingDelays,
        tt::TranspositionTable,
    },
};

/// Size of the mate solver's table in megabytes.
const SOLVER_MEMORY: usize = 8;

/// Searches positions, with a transposition table and histories that persist.
pub struct Searcher {
    tt: TranspositionTable,
    /// Histories per thread, allocated on demand.
    chess: Vec<Histories<Chess>>,
    shogi: Vec<Histories<Shogi>>,
    /// The mate solver of shogi, allocated on demand.
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
    /// Creates a searcher with a hash table of this size in megabytes; 0 is a minimal one.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn new(hash: usize) -> Result<Self, TryReserveError> {
        Ok(Self {
            tt: TranspositionTable::new(hash)?,
            chess: Vec::new(),
            shogi: Vec::new(),
            solver: None,
            chess_network: embedded(Game::Chess),
            shogi_network: embedded(Game::Shogi),
        })
    }

    /// Resizes and clears the hash table. If memory is insufficient, the size is unchanged.
    ///
    /// # Errors
    ///
    /// There is not enough memory.
    pub fn resize(&mut self, hash: usize) -> Result<(), TryReserveError> {
        self.tt.resize(hash)
    }

    /// Clears all tables, as for a new game.
    pub fn clear(&mut self) {
        self.tt.clear(thread::available_parallelism().map_or(1, usize::from));
        self.chess.iter_mut().for_each(Histories::clear);
        self.shogi.iter_mut().for_each(Histories::clear);
    }

    /// Allocates the state for a game in advance, so that the first search does not wait for it.
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
            // Without memory for it, the search works alone.
            self.solver = Solver::new(SOLVER_MEMORY).ok();
        }
    }

    /// Searches a position until a limit is reached or the control stops it. With one thread, equal
    /// searches on equal state have equal results.
    ///
    /// Positions whose game has ended by repetition, by the fifty-move rule or by an available
    /// declaration are searched normally. If the position is not supported, the result is any legal
    /// move.
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
        let run =
            |network| Run { position, network, tt: &self.tt, limits, control, delays: &delays };
        let found = match position.board() {
            BoardRef::Chess(_) => self
                .chess_network
                .as_deref()
                .and_then(|network| run(network).search(&mut self.chess, None)),
            BoardRef::Shogi(_) => self
                .shogi_network
                .as_deref()
                .and_then(|network| run(network).search(&mut self.shogi, self.solver.as_mut())),
            BoardRef::Diagram(_) => None,
        };
        found.unwrap_or_else(|| unsearched(position, limits, control))
    }

    /// The static evaluation in centipawns for the side to move; none if the position is not supported.
    pub fn evaluate(&self, position: &Position) -> Option<i32> {
        fn value<B: Board>(network: Option<&Network>, position: &Position) -> Option<i32> {
            let board = B::new(position, &Limits::default())?;
            Some(board.endgame_value(network?.evaluate(board.position())?))
        }
        match position.board() {
            BoardRef::Chess(_) => value::<Chess>(self.chess_network.as_deref(), position),
            BoardRef::Shogi(_) => value::<Shogi>(self.shogi_network.as_deref(), position),
            BoardRef::Diagram(_) => None,
        }
    }

    /// Evaluates positions of the network's game by the network. Chess and Chess960 share one.
    pub fn set_network(&mut self, network: Arc<Network>) {
        let game = network.architecture().game();
        *self.network_mut(game) = Some(network);
        self.clear();
    }

    /// Evaluates positions of a game by the network in the executable.
    pub fn reset_network(&mut self, game: Game) {
        *self.network_mut(game) = embedded(game);
        self.clear();
    }

    /// Evaluates positions like another searcher.
    pub(crate) fn copy_networks(&mut self, other: &Self) {
        self.chess_network.clone_from(&other.chess_network);
        self.shogi_network.clone_from(&other.shogi_network);
        self.clear();
    }

    /// The evaluation of a game: `network` and its name.
    pub fn evaluation_name(&self, game: Game) -> String {
        let network = match game {
            Game::Chess | Game::Chess960 => &self.chess_network,
            Game::Shogi => &self.shogi_network,
        };
        network
            .as_ref()
            .map_or_else(|| "none".to_owned(), |network| format!("network {}", network.name()))
    }

    fn network_mut(&mut self, game: Game) -> &mut Option<Arc<Network>> {
        match game {
            Game::Chess | Game::Chess960 => &mut self.chess_network,
            Game::Shogi => &mut self.shogi_network,
        }
    }
}
