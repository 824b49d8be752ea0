//! What the search needs to know of a game.

mod chess;
mod cuckoo;
mod shogi;

use readyok_rules::Position;

pub(crate) use self::{chess::Chess, shogi::Shogi};
use crate::{
    control::{Limits, TbConfig},
    mate::{self, Solution, Solver},
    score::Value,
    search::{Tuning, tt::Bound},
};

/// A move and how promising it is.
pub(crate) type Ranked<M> = (i32, M);

/// Moves with their ranks, kept to be filled again.
pub(crate) type MoveList<M> = Vec<Ranked<M>>;

/// A move as the search sees it: what its tables are indexed by.
pub(crate) trait SearchMove: Copy + Eq + Send + 'static {
    /// A number other than 0, unique among the moves of a position.
    fn packed(self) -> u16;

    /// Where it comes from: a square, or a piece in hand. Below [`Board::FROMS`].
    fn from(self) -> usize;

    /// Where it goes. Below [`Board::SQUARES`].
    fn to(self) -> usize;

    /// The piece that moves, with its colour. Below [`Board::PIECES`].
    fn piece(self) -> usize;
}

/// A board that can be searched. Moves are those of the side to move, and legal where nothing
/// else is said.
pub(crate) trait Board: Clone + Send {
    /// A move of this game.
    type Move: SearchMove;

    /// Whether a side that has no move loses although it is not in check.
    const STALEMATE_LOSES: bool;

    /// Whether there are positions in which it would be better not to move.
    const HAS_ZUGZWANG: bool;

    /// How many squares, origins of moves, coloured pieces and kinds of victims there are.
    const SQUARES: usize;
    const FROMS: usize;
    const PIECES: usize;
    const VICTIMS: usize;

    /// What pays in this game.
    const TUNING: Tuning;

    /// The board of a position; none if the search cannot play it.
    fn new(position: &Position, limits: &Limits) -> Option<Self>;

    /// The word that both protocols know for a move.
    fn notation(mv: Self::Move) -> String;

    /// Adds the moves that change material. Some may not be legal.
    fn generate_noisy(&self, list: &mut MoveList<Self::Move>);

    /// Adds all other moves. Some may not be legal.
    fn generate_quiets(&self, list: &mut MoveList<Self::Move>);

    /// Adds the quiet moves that give check directly. Some may not be legal.
    fn generate_quiet_checks(&self, list: &mut MoveList<Self::Move>);

    /// Adds all legal moves, those included that nobody would play.
    fn generate_all(&self, list: &mut MoveList<Self::Move>);

    /// Whether a move that was generated here is legal.
    fn is_legal(&self, mv: Self::Move) -> bool;

    /// The legal move that packs to this, if there is one.
    fn unpack(&self, packed: u16) -> Option<Self::Move>;

    /// Plays a legal move.
    fn play(&mut self, mv: Self::Move);

    /// Takes back the last move, which is this one.
    fn undo(&mut self, mv: Self::Move);

    /// Whether passing is allowed and sensible here.
    fn null_move_allowed(&self) -> bool;

    /// Lets the other side move.
    fn make_null(&mut self);

    /// Takes back a pass.
    fn unmake_null(&mut self);

    /// The side to move, 0 or 1.
    fn side(&self) -> usize;

    /// A hash of the position without its history.
    fn key(&self) -> u64;

    /// Hashes of parts of the position whose evaluations tend to be wrong together.
    fn correction_keys(&self) -> [u64; CORRECTION_KEYS];

    /// Whether the side to move is in check.
    fn in_check(&self) -> bool;

    /// Whether a move gives check.
    fn gives_check(&self, mv: Self::Move) -> bool;

    /// The value if the game is over here by rule, for all that moves are left. `ply` counts from
    /// the root.
    fn game_end(&self, ply: usize) -> Option<Value>;

    /// Whether the side to move can repeat a position of the search at once.
    fn has_upcoming_repetition(&self, ply: usize) -> bool;

    /// After how many plies at the latest the game is drawn if nothing irreversible happens until then.
    fn plies_left(&self) -> u32;

    /// How much of a value is left when no progress is made, out of 256.
    fn rule50_scale(&self) -> i32;

    /// The value as it stands, by hand-written terms.
    fn evaluate(&self) -> Value;

    /// How many features of a position networks know.
    const FEATURES: usize;

    /// Calls with every feature of a position, as a side sees it.
    fn features(&self, side: usize, each: &mut dyn FnMut(usize));

    /// Calls with every feature that a move adds or removes, as a side sees it.
    fn changes(&self, mv: Self::Move, side: usize, each: &mut dyn FnMut(Change));

    /// Whether a move drops a piece from hand: its origin is no square then.
    fn is_drop(mv: Self::Move) -> bool {
        mv.from() >= Self::SQUARES
    }

    /// Whether a move changes material at once.
    fn is_noisy(&self, mv: Self::Move) -> bool;

    /// The kind of piece that a move takes. Below [`Self::VICTIMS`]; 0 for none.
    fn victim(&self, mv: Self::Move) -> usize;

    /// The material that a move wins at once.
    fn material_gain(&self, mv: Self::Move) -> Value;

    /// Whether the exchanges on the move's target win at least so much.
    fn see_ge(&self, mv: Self::Move, threshold: Value) -> bool;

    /// The value by tablebases, if they are to be asked with so many plies left and know it. `win` is
    /// what a win is worth.
    fn probe(&self, _tables: &TbConfig, _depth: i32, _win: Value) -> Option<(Value, Bound)> {
        None
    }

    /// What tablebases say of the moves, with values as by [`probe`](Self::probe); none if they do not
    /// know all of them.
    fn probe_root(&self, _tables: &TbConfig, _win: Value) -> Option<Vec<TbMove>> {
        None
    }

    /// A mate in one move, if it can be told cheaply.
    fn mate_in_one(&mut self) -> Option<Self::Move>;

    /// What the solver finds.
    fn mate(
        &self,
        _solver: &mut Solver,
        _limits: &mate::Limits,
        _stop: &mut dyn FnMut() -> bool,
    ) -> Solution<Self::Move> {
        Solution::Unknown
    }
}

/// What tablebases say of a move.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TbMove {
    /// The move, packed.
    pub(crate) mv: u16,
    /// Moves of the lowest rank are the best; they keep what can be had.
    pub(crate) rank: i32,
    /// What it promises.
    pub(crate) value: Value,
}

/// What a move does to a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Added(usize),
    Removed(usize),
}

/// How many parts of a position have a key.
pub(crate) const CORRECTION_KEYS: usize = 4;

/// A number that looks random, the same for the same index.
pub(super) const fn key(index: u64) -> u64 {
    // SplitMix64, by Steele, Lea and Flood (2014).
    let mut z = index.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A key for each coloured piece on each square.
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
