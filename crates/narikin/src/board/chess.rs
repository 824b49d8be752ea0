//! Chess and Chess960 as the search sees them.

use readyok_rules::{
    ChessBoard,
    shakmaty::{self, EnPassantMode, Move, Position, Role, zobrist::Zobrist64},
};

use super::{Board, chess_eval};
use crate::score::{DRAW, Value};

pub(crate) struct Chess {
    position: shakmaty::Chess,
    key: u64,
    /// The positions before this one, in the search.
    line: Vec<shakmaty::Chess>,
    /// The keys of all earlier positions that matter, in the game and in the search.
    keys: Vec<u64>,
}

impl Chess {
    pub(crate) fn new(board: &ChessBoard) -> Self {
        Self {
            position: board.position().clone(),
            key: ChessBoard::key_of(board.position()),
            line: Vec::new(),
            keys: board.earlier().to_vec(),
        }
    }

    fn is_repeated(&self) -> bool {
        let reversible = usize::try_from(self.position.halfmoves()).unwrap_or(usize::MAX);
        // Only every other position has the same side to move.
        let earlier = self.keys.iter().rev().take(reversible).skip(1).step_by(2);
        earlier.into_iter().any(|&key| key == self.key)
    }
}

impl Board for Chess {
    type Move = Move;
    const STALEMATE_LOSES: bool = false;

    fn for_each_move(&self, each: impl FnMut(Move)) {
        self.position.legal_moves().into_iter().for_each(each);
    }

    fn for_each_capture(&self, each: impl FnMut(Move)) {
        let moves = self.position.legal_moves().into_iter();
        moves.filter(|&mv| self.gain(mv).is_some()).for_each(each);
    }

    fn play(&mut self, mv: Move) {
        self.line.push(self.position.clone());
        self.keys.push(self.key);
        let updated =
            self.position.update_zobrist_hash(Zobrist64(self.key), mv, EnPassantMode::Legal);
        self.position.play_unchecked(mv);
        self.key = match updated {
            Some(Zobrist64(key)) => key,
            None => ChessBoard::key_of(&self.position),
        };
    }

    fn undo(&mut self, _mv: Move) {
        if let (Some(position), Some(key)) = (self.line.pop(), self.keys.pop()) {
            self.position = position;
            self.key = key;
        }
    }

    fn key(&self) -> u64 {
        self.key
    }

    fn in_check(&self) -> bool {
        self.position.is_check()
    }

    fn ended(&self, _ply: usize) -> Option<Value> {
        // Mate on the last of the fifty moves counts.
        let fifty_moves = self.position.halfmoves() >= 100
            && !(self.position.is_check() && self.position.legal_moves().is_empty());
        let drawn = fifty_moves || self.is_repeated() || self.position.is_insufficient_material();
        drawn.then_some(DRAW)
    }

    fn evaluate(&self) -> Value {
        chess_eval::evaluate(&self.position)
    }

    fn gain(&self, mv: Move) -> Option<Value> {
        // Other promotions are as good as none.
        let queen = mv.promotion().filter(|&role| role == Role::Queen);
        match (mv.capture(), queen) {
            (None, None) => None,
            (victim, queen) => Some(
                victim.map_or(0, chess_eval::worth)
                    + queen.map_or(0, |queen| {
                        chess_eval::worth(queen) - chess_eval::worth(Role::Pawn)
                    }),
            ),
        }
    }

    fn mover(&self, mv: Move) -> Value {
        chess_eval::worth(mv.role())
    }

    fn pack(mv: Move) -> u32 {
        let from = mv.from().map_or(0, u32::from);
        let promotion = mv.promotion().map_or(0, u32::from);
        from | u32::from(mv.to()) << 6 | promotion << 12
    }
}
