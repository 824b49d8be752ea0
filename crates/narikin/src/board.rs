//! The interface between the search and the boards of the games.

mod chess;
mod cuckoo;
mod shogi;

use readyok_rules::{Move, Position};

pub(crate) use self::{chess::Chess, shogi::Shogi};
use crate::{
    control::{Limits, TbConfig},
    mate::{self, Solution, Solver},
    network::{Changes, Features},
    score::Value,
    search::{Tuning, tt::Bound},
};

/// A move and its rank.
pub(crate) type Ranked<M> = (i32, M);

pub(crate) type MoveList<M> = Vec<Ranked<M>>;

/// A move, with the indices that the history tables need.
pub(crate) trait SearchMove: Copy + Eq + Send + 'static {
    /// A non-zero encoding, unique among the moves of a position.
    fn packed(self) -> u16;

    /// The origin: a square or a piece in hand. Below [`Board::FROMS`].
    fn from(self) -> usize;

    /// The target square. Below [`Board::SQUARES`].
    fn to(self) -> usize;

    /// The moving piece with its color. Below [`Board::PIECES`].
    fn piece(self) -> usize;
}

/// A board for the search. Moves are those of the side to move, and legal unless stated otherwise.
pub(crate) trait Board: Clone + Send {
    type Move: SearchMove;

    /// Whether a side without legal moves loses even if not in check.
    const STALEMATE_LOSES: bool;

    /// Whether zugzwang occurs.
    const HAS_ZUGZWANG: bool;

    /// Numbers of squares, move origins, colored pieces and kinds of captured pieces.
    const SQUARES: usize;
    const FROMS: usize;
    const PIECES: usize;
    const VICTIMS: usize;

    const TUNING: Tuning;

    /// The board of a position; none if it is not supported.
    fn new(position: &Position, limits: &Limits) -> Option<Self>;

    /// The move in UCI or USI notation.
    #[cfg(test)]
    fn notation(mv: Self::Move) -> String;

    /// The moves of a line from this position on, up to the first that is impossible.
    fn moves(position: &Position, line: &[Self::Move]) -> impl Iterator<Item = Move>;

    /// Generates noisy moves, pseudo-legal.
    fn generate_noisy(&self, list: &mut MoveList<Self::Move>);

    /// Generates quiet moves, pseudo-legal.
    fn generate_quiets(&self, list: &mut MoveList<Self::Move>);

    /// Generates quiet moves that give check, pseudo-legal.
    fn generate_quiet_checks(&self, list: &mut MoveList<Self::Move>);

    /// Generates all legal moves, including underpromotions and non-promotions that the stages
    /// omit.
    fn generate_all(&self, list: &mut MoveList<Self::Move>);

    /// Whether a generated move is legal.
    fn is_legal(&self, mv: Self::Move) -> bool;

    /// The legal move with this encoding, if any.
    fn unpack(&self, packed: u16) -> Option<Self::Move>;

    fn play(&mut self, mv: Self::Move);

    /// Unmakes the last move.
    fn undo(&mut self, mv: Self::Move);

    /// Whether a null move is allowed: not in check, and with enough material against zugzwang.
    fn null_move_allowed(&self) -> bool;

    fn make_null(&mut self);

    fn unmake_null(&mut self);

    /// The side to move: 0 or 1.
    fn side(&self) -> usize;

    /// The hash key of the position.
    fn key(&self) -> u64;

    /// Keys of the correction history.
    fn correction_keys(&self) -> [u64; CORRECTION_KEYS];

    /// Whether the evaluation only rewards progress to mate. Corrections would hide its small differences.
    fn has_bare_king(&self) -> bool {
        false
    }

    fn in_check(&self) -> bool;

    /// Squares that the opponent attacks, as bits, if the butterfly history distinguishes them.
    fn threats(&self) -> u128 {
        0
    }

    fn gives_check(&self, mv: Self::Move) -> bool;

    /// The value if the game has ended by rule, apart from checkmate and stalemate.
    fn game_end(&self, ply: usize) -> Option<Value>;

    /// Whether one move repeats a position of the search.
    fn has_upcoming_repetition(&self, ply: usize) -> bool;

    /// Plies until the game is drawn by the move rules.
    fn plies_left(&self) -> u32;

    /// The scale of evaluations by the fifty-move counter, out of 256.
    fn rule50_scale(&self) -> i32;

    /// A network's value, corrected by knowledge of endgames.
    fn endgame_value(&self, value: Value) -> Value {
        value
    }

    /// The position for networks.
    type Position: Features;

    fn position(&self) -> &Self::Position;

    /// The features that a move changes.
    fn changes(&self, mv: Self::Move) -> Changes;

    /// Whether a move is a drop.
    fn is_drop(mv: Self::Move) -> bool {
        mv.from() >= Self::SQUARES
    }

    /// Whether a move is noisy: a capture or a promotion.
    fn is_noisy(&self, mv: Self::Move) -> bool;

    /// The kind of the captured piece, below [`Self::VICTIMS`]; 0 for none.
    fn victim(&self, mv: Self::Move) -> usize;

    /// The material gained by the move itself.
    fn material_gain(&self, mv: Self::Move) -> Value;

    /// Static exchange evaluation: whether the move gains at least `threshold`.
    fn see_ge(&self, mv: Self::Move, threshold: Value) -> bool;

    /// The value by tablebases, if they are probed at this depth and know the position. `win` is
    /// the value of a win.
    fn probe(&self, _tables: &TbConfig, _depth: i32, _win: Value) -> Option<(Value, Bound)> {
        None
    }

    /// The tablebase results of the root moves; none if some are unknown.
    fn probe_root(&self, _tables: &TbConfig, _win: Value) -> Option<Vec<TbMove>> {
        None
    }

    /// A mate in one, if a quick search finds one.
    fn mate_in_one(&mut self) -> Option<Self::Move>;

    /// The result of the mate solver.
    fn mate(
        &self,
        _solver: &mut Solver,
        _limits: &mate::SolverLimits,
        _stop: &mut dyn FnMut() -> bool,
    ) -> Solution<Self::Move> {
        Solution::Unknown
    }
}

/// The tablebase result of a root move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TbMove {
    pub(crate) mv: u16,
    /// Moves of the lowest rank preserve the result.
    pub(crate) rank: i32,
    pub(crate) value: Value,
}

/// The number of correction history keys.
pub(crate) const CORRECTION_KEYS: usize = 4;

/// A pseudo-random number by index.
pub(super) const fn key(index: u64) -> u64 {
    // SplitMix64, by Steele, Lea and Flood (2014).
    let mut z = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A key per colored piece and square.
pub(super) const fn keys<const SQUARES: usize, const PIECES: usize>() -> [[u64; SQUARES]; PIECES] {
    let mut keys = [[0; SQUARES]; PIECES];
    let mut piece = 0;
    while piece < PIECES {
        let mut square = 0;
        while square < SQUARES {
            keys[piece][square] = key((piece * SQUARES + square) as u64);
            square += 1;
        }
        piece += 1;
    }
    keys
}
