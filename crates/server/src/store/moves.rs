//! Moves of 16 bits, independent of the move generator.
//!
//! | bits | chess | shogi |
//! |---|---|---|
//! | 0–6 | to: file + 8 · rank, a1 is 0 | to: (file − 1) · 9 + rank, 1a is 0 |
//! | 7–13 | from, the same | from, the same; for a drop 81 + the piece's place in `PLNSBRG` |
//! | 14–15 | becomes `n`, `b`, `r`, `q`, if from is a pawn's: see below | bit 14: promotes |
//!
//! In chess a promotion has 64 added to its from, and castling is the king capturing its own rook.

use readyok_rules::{CastlingForm, Move};

const DROPS: &[u8] = b"PLNSBRG";
const PROMOTIONS: &[u8] = b"nbrq";

/// Moves as bytes, two for each, the little end first. What cannot be written ends them.
pub(crate) fn encoded(moves: &[Move]) -> Vec<u8> {
    let encoded = moves.iter().map_while(|mv| encode(*mv));
    encoded.flat_map(u16::to_le_bytes).collect()
}

pub(super) fn encode(mv: Move) -> Option<u16> {
    let uci = mv.to_uci(CastlingForm::KingTakesRook);
    match mv {
        Move::Chess(_) => chess(uci.as_bytes()),
        Move::Shogi(_) => shogi(uci.as_bytes()),
    }
}

fn chess(uci: &[u8]) -> Option<u16> {
    let square = |file: u8, rank: u8| {
        let (file, rank) = (file.checked_sub(b'a')?, rank.checked_sub(b'1')?);
        (file < 8 && rank < 8).then(|| u16::from(file) + 8 * u16::from(rank))
    };
    let (squares, becomes) = uci.split_at_checked(4)?;
    let &[from_file, from_rank, to_file, to_rank] = squares else { return None };
    let (from, to) = (square(from_file, from_rank)?, square(to_file, to_rank)?);
    Some(match becomes {
        [] => to | from << 7,
        [letter] => {
            let place = PROMOTIONS.iter().position(|it| it == letter)?;
            to | (from + 64) << 7 | u16::try_from(place).ok()? << 14
        }
        _ => return None,
    })
}

fn shogi(uci: &[u8]) -> Option<u16> {
    let square = |file: u8, rank: u8| {
        let (file, rank) = (file.checked_sub(b'1')?, rank.checked_sub(b'a')?);
        (file < 9 && rank < 9).then(|| u16::from(file) * 9 + u16::from(rank))
    };
    let (start, rest) = uci.split_at_checked(2)?;
    let (&[from_file, from_rank], &[to_file, to_rank, ref promotes @ ..]) = (start, rest) else {
        return None;
    };
    let to = square(to_file, to_rank)?;
    let from = if from_rank == b'*' {
        81 + u16::try_from(DROPS.iter().position(|it| *it == from_file)?).ok()?
    } else {
        square(from_file, from_rank)?
    };
    Some(to | from << 7 | if promotes == b"+" { 1 << 14 } else { 0 })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use readyok_rules::{Game, Position};

    use super::*;

    #[test]
    fn every_move_of_a_position_has_its_own_bits() {
        let positions = [
            (Game::Chess, "r3k2r/pPppppbp/8/8/3pP3/8/PPPP1P1P/R3K2R b KQkq e3 0 1"),
            (Game::Chess, "r3k2r/pPpppp1p/8/8/8/8/PPPPPP1P/R3K2R w KQkq - 0 1"),
            (Game::Shogi, "4k4/9/9/P8/9/9/9/9/4K4 b RBGSNL2P 1"),
        ];
        for (game, text) in positions {
            let position = Position::from_text(game, text).expect("it can be played");
            let moves = position.legal_moves();
            let bits: HashSet<u16> =
                moves.iter().map(|mv| encode(*mv).expect("it can be written")).collect();
            assert_eq!(bits.len(), moves.len(), "{text}");
        }
    }

    #[test]
    fn the_bits_stay_what_they_are() {
        let start = Position::start(Game::Chess);
        let e4 = start.parse_move("e2e4").expect("it is legal");
        assert_eq!(encoded(&[e4]), (28_u16 + 12 * 128).to_le_bytes());
        let start = Position::start(Game::Shogi);
        let pawn = start.parse_move("7g7f").expect("it is legal");
        assert_eq!(encoded(&[pawn]), (59_u16 + 60 * 128).to_le_bytes());
    }
}
