//! Shogi on the board of `rsshogi`.

use readyok_protocol::{CastlingForm, Move as UsiMove};
use rsshogi::board::{Move32List, Position, hirate_position};
use rsshogi::movegen::generate_legal_all_move32;
use rsshogi::types::{Move, Move32};

use crate::Failure;

/// Maximum of the move number, so that counting further does not overflow.
const MAX_MOVE_NUMBER: u16 = 10_000;

impl super::Board for Position {
    type Move = Move32;

    fn start() -> Self {
        hirate_position()
    }

    /// One king may be missing, as in mate problems.
    fn from_text(text: &str) -> Result<Self, Failure> {
        let mut fields = text.split(' ');
        let mut next = |default| fields.next().unwrap_or(default);
        let (board, side, hands) = (next(""), next(""), next("-"));
        let number = next("1").parse().unwrap_or(MAX_MOVE_NUMBER).clamp(1, MAX_MOVE_NUMBER);
        let position = Self::from_sfen(&format!("{board} {side} {hands} {number}"))?;
        position.validate().map_err(|error| format!("{error:?}"))?;
        let (us, them) = (position.turn(), position.turn().flip());
        let their_king = position.king_square(them);
        if position.king_square(us).is_none() && their_king.is_none() {
            return Err("there is no king".into());
        }
        if !their_king.is_none() && position.is_attacked_by(their_king, us) {
            return Err("the side that is not to move is in check".into());
        }
        Ok(position)
    }

    fn decode_move(&self, text: &str) -> Result<Move32, Failure> {
        let legal = |mv: &Move| mv.is_normal() && self.is_legal_move(*mv);
        let mv = Move::from_usi(text).filter(legal).ok_or("it is not legal")?;
        Ok(self.move32_from_move(mv))
    }

    fn encode_move(&self, mv: &Move32, _castling: CastlingForm) -> Result<UsiMove, Failure> {
        Ok(mv.to_usi().parse()?)
    }

    fn play_move(&mut self, mv: &Move32) -> Result<(), Failure> {
        Ok(self.try_apply_move32(*mv).map_err(|error| format!("{error:?}"))?)
    }

    fn any_move(&self) -> Option<Move32> {
        let mut moves = Move32List::new();
        generate_legal_all_move32(self, &mut moves);
        moves.iter().next().copied()
    }
}
