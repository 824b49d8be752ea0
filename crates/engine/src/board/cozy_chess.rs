//! Chess and Chess960 on the board of `cozy-chess`.

use cozy_chess::Board;
use cozy_chess::util::parse_uci_move;
use readyok_protocol::Move;

use crate::Failure;

impl super::Board for Board {
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
    fn play_move(&mut self, text: &str) -> Result<(), Failure> {
        let exact = text.parse()?;
        if self.try_play(exact).is_err() {
            self.try_play(parse_uci_move(self, text)?)?;
        }
        Ok(())
    }

    /// Castling is the last choice, because its notation depends on Chess960: a king that may move two
    /// squares to the side may also move one.
    fn any_move(&self) -> Option<Move> {
        let ours = self.colors(self.side_to_move());
        let mut moves = Vec::new();
        self.generate_moves(|more| {
            moves.extend(more);
            false
        });
        let plain = moves.iter().find(|mv| !ours.has(mv.to));
        plain.or_else(|| moves.first())?.to_string().parse().ok()
    }
}

fn counter(text: &str) -> u16 {
    text.parse().unwrap_or(u16::MAX)
}
