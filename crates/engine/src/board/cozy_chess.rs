//! Chess and Chess960 on the board of `cozy-chess`.

use cozy_chess::util::{display_uci_move, parse_uci_move};
use cozy_chess::{Board, Move};
use readyok_protocol::{CastlingForm, Move as UciMove};

use crate::Failure;

impl super::Board for Board {
    type Move = Move;

    fn start() -> Self {
        Self::default()
    }

    /// Missing or too large counters are replaced by the nearest values that the crate accepts.
    fn from_text(text: &str) -> Result<Self, Failure> {
        let mut fields = text.split(' ');
        let mut next = |default| fields.next().unwrap_or(default);
        let (board, side, castling, en_passant) = (next(""), next(""), next("-"), next("-"));
        let halfmoves = counter(next("0")).min(100);
        let fullmoves = counter(next("1")).max(1);
        let fen = format!("{board} {side} {castling} {en_passant} {halfmoves} {fullmoves}");
        // Castling rights have two notations; both are tried.
        Ok(Self::from_fen(&fen, false).or_else(|_| Self::from_fen(&fen, true))?)
    }

    /// Accepts castling as the king's move and as the move to the rook.
    fn decode_move(&self, text: &str) -> Result<Move, Failure> {
        let exact = text.parse()?;
        if self.is_legal(exact) {
            return Ok(exact);
        }
        let mv = parse_uci_move(self, text)?;
        if self.is_legal(mv) { Ok(mv) } else { Err("it is not legal".into()) }
    }

    fn encode_move(&self, mv: &Move, castling: CastlingForm) -> Result<UciMove, Failure> {
        let text = match castling {
            CastlingForm::KingMove => display_uci_move(self, *mv).to_string(),
            CastlingForm::KingTakesRook => mv.to_string(),
        };
        Ok(text.parse()?)
    }

    fn play_move(&mut self, mv: &Move) -> Result<(), Failure> {
        Ok(self.try_play(*mv)?)
    }

    fn any_move(&self) -> Option<Move> {
        let mut found = None;
        self.generate_moves(|moves| {
            found = moves.into_iter().next();
            found.is_some()
        });
        found
    }
}

fn counter(text: &str) -> u16 {
    text.parse().unwrap_or(u16::MAX)
}
