//! Shogi as UCI engines write it under `UCI_Variant shogi` (Fairy-Stockfish), and back.
//!
//! | | USI | UCI |
//! |---|---|---|
//! | square | `7g`: files from Black's right, ranks from White's side | `c3`: files from Black's left, ranks from Black's side |
//! | drop | `P*5e` | `P@e5` |
//! | first player | `b`, Black | `w`, White |
//! | hands | `2P3s` in a field of their own | `[PPsss]` after the board |
//! | numbers | every move is counted | pairs are counted |
//!
//! The letters of the board are the same.

use readyok_protocol::{Dialect, Move, MoveShape, Square};

/// Ranks and files.
const SIZE: u8 = 9;

/// The UCI word of a USI move.
pub(super) fn to_uci(word: &str) -> Option<Move> {
    turned(word, Dialect::Usi, Dialect::Uci)
}

/// The USI word of a UCI move.
pub(super) fn to_usi(word: &str) -> Option<Move> {
    turned(word, Dialect::Uci, Dialect::Usi)
}

fn turned(word: &str, from: Dialect, to: Dialect) -> Option<Move> {
    let shape = match Move::read(word, from).ok()?.shape() {
        MoveShape::Board { from, to, suffix: suffix @ (None | Some('+')) } => {
            MoveShape::Board { from: square(from)?, to: square(to)?, suffix }
        }
        MoveShape::Drop { piece, to } => MoveShape::Drop { piece, to: square(to)? },
        MoveShape::Board { .. } | MoveShape::Null => return None,
    };
    Move::from_shape(shape, to)
}

/// Both axes run the other way.
fn square(it: Square) -> Option<Square> {
    let turn = |number: u8| (SIZE + 1).checked_sub(number).filter(|it| (1..=SIZE).contains(it));
    Some(Square::new(turn(it.file)?, turn(it.rank)?))
}

/// The FEN of an SFEN with all of its fields.
pub(super) fn fen(sfen: &str) -> Option<String> {
    let mut fields = sfen.split(' ');
    let (board, turn) = (fields.next()?, fields.next()?);
    let (hands, number) = (fields.next()?, fields.next()?);
    let turn = match turn {
        "b" => "w",
        "w" => "b",
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    Some(format!("{board}[{}] {turn} - - 0 {}", in_brackets(hands)?, number.max(1).div_ceil(2)))
}

/// Pieces in hand without counts: `2Ps` as `PPs`.
fn in_brackets(hands: &str) -> Option<String> {
    let mut pieces = String::new();
    let mut count = None;
    for letter in hands.chars().filter(|&letter| letter != '-') {
        match letter.to_digit(10) {
            Some(digit) => count = Some((count.unwrap_or(0) * 10 + digit).min(18)),
            None if letter.is_ascii_alphabetic() => {
                let count = count.take().unwrap_or(1);
                pieces.extend((0..count).map(|_| letter));
            }
            None => return None,
        }
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(usi: &str, uci: &str) {
        assert_eq!(to_uci(usi).as_ref().map(Move::as_str), Some(uci));
        assert_eq!(to_usi(uci).as_ref().map(Move::as_str), Some(usi));
    }

    #[test]
    fn moves_are_turned_both_ways() {
        check("7g7f", "c3c4");
        check("8h2b+", "b2h8+");
        check("9i1a", "a1i9");
        check("P*5e", "P@e5");
        check("N*1a", "N@i9");
    }

    #[test]
    fn what_is_no_move_of_shogi_is_none() {
        for word in ["e7e8q", "0000", "j1j2", "a10a9", "7g7f", "", "resign"] {
            assert_eq!(to_usi(word), None, "{word}");
        }
        assert_eq!(to_uci("c3c4"), None);
    }

    #[test]
    fn positions_are_written_as_variants_write_them() {
        let check = |sfen, expected: &str| assert_eq!(fen(sfen).as_deref(), Some(expected));
        check(
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL[] w - - 0 1",
        );
        check(
            "4k4/9/4P4/9/9/9/9/9/4K4 w B10P2s 12",
            "4k4/9/4P4/9/9/9/9/9/4K4[BPPPPPPPPPPss] b - - 0 6",
        );
        assert_eq!(fen("4k4/9/4P4/9/9/9/9/9/4K4 w B10P2s"), None);
    }
}
