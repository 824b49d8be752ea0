//! Shogi as UCI programs write it under `UCI_Variant shogi` (Fairy-Stockfish), and back.
//!
//! | | USI | UCI |
//! |---|---|---|
//! | square | `7g`: files from Black's right, ranks from White's side | `c3`: files from Black's left, ranks from Black's side |
//! | drop | `P*5e` | `P@e5` |
//! | first player | `b`, Black | `w`, White |
//! | hands | `2P3s` in a field of their own | `[PPsss]` after the board |
//! | numbers | every move is counted | pairs are counted |
//!
//! The letters of the board are the same. Legality is not checked.

use std::fmt::Write as _;

use crate::{PieceKind, Side};

/// The maximum number of pieces of a kind in hand.
const MAX_HAND: u32 = 18;

/// A USI move in UCI notation. `None` if the text is not a move.
///
/// ```
/// use readyok_rules::fairy;
/// assert_eq!(fairy::usi_to_uci("8h2b+").as_deref(), Some("b2h8+"));
/// assert_eq!(fairy::uci_to_usi("P@e5").as_deref(), Some("P*5e"));
/// ```
pub fn usi_to_uci(usi: &str) -> Option<String> {
    converted(usi, b'*', '@', |square| match square {
        [file @ b'1'..=b'9', rank @ b'a'..=b'i'] => Some([b'a' + b'9' - file, b'9' + b'a' - rank]),
        _ => None,
    })
}

/// A UCI move in USI notation. `None` if the text is not a move.
pub fn uci_to_usi(uci: &str) -> Option<String> {
    converted(uci, b'@', '*', |square| match square {
        [file @ b'a'..=b'i', rank @ b'1'..=b'9'] => Some([b'9' + b'a' - file, b'a' + b'9' - rank]),
        _ => None,
    })
}

/// Converts a move. `square` converts its squares, as both axes are reversed.
fn converted(
    text: &str,
    drop: u8,
    converted_drop: char,
    square: impl Fn([u8; 2]) -> Option<[u8; 2]>,
) -> Option<String> {
    let mut converted = String::with_capacity(text.len());
    let mut push = |kind: [u8; 2]| {
        converted.extend(square(kind)?.map(char::from));
        Some(())
    };
    match *text.as_bytes() {
        [piece, sign, file, rank] if sign == drop && piece.is_ascii_uppercase() => {
            push([file, rank])?;
            converted.insert(0, char::from(piece));
            converted.insert(1, converted_drop);
        }
        [from_file, from_rank, to_file, to_rank] => {
            push([from_file, from_rank])?;
            push([to_file, to_rank])?;
        }
        [from_file, from_rank, to_file, to_rank, b'+'] => {
            push([from_file, from_rank])?;
            push([to_file, to_rank])?;
            converted.push('+');
        }
        _ => return None,
    }
    Some(converted)
}

/// The FEN of an SFEN with all of its fields. `None` if a field is missing or malformed.
pub fn sfen_to_fen(sfen: &str) -> Option<String> {
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
            Some(digit) => count = Some((count.unwrap_or(0) * 10 + digit).min(MAX_HAND)),
            None if letter.is_ascii_alphabetic() => {
                let count = count.take().unwrap_or(1);
                pieces.extend((0..count).map(|_| letter));
            }
            None => return None,
        }
    }
    Some(pieces)
}

/// The SFEN of a FEN. The hands and all fields after the side to move can be missing. Fields between it
/// and the last one, the number of full moves, are ignored. `None` if the text is malformed.
pub fn fen_to_sfen(fen: &str) -> Option<String> {
    let mut fields = fen.split_ascii_whitespace();
    let (board, hands) = match fields.next()?.split_once('[') {
        Some((board, hands)) => (board, hands.strip_suffix(']')?),
        None => (fen.split_ascii_whitespace().next()?, ""),
    };
    let (turn, second) = match fields.next()? {
        "w" => ("b", 0),
        "b" => ("w", 1),
        _ => return None,
    };
    let number: u32 = match fields.next_back() {
        Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            number.parse().unwrap_or(u32::MAX)
        }
        Some(_) | None => 1,
    };
    let number = number.max(1).saturating_mul(2).saturating_sub(1).saturating_add(second);
    Some(format!("{board} {turn} {} {number}", with_counts(hands)?))
}

/// Pieces in hand with counts, in the order of SFEN: `sPP` as `2Ps`.
fn with_counts(hands: &str) -> Option<String> {
    let is_known = |letter: char| {
        letter == '-'
            || PieceKind::IN_HAND.iter().any(|kind| kind.letter() == letter.to_ascii_uppercase())
    };
    if !hands.chars().all(is_known) {
        return None;
    }
    let mut pieces = String::new();
    for side in Side::BOTH {
        for letter in PieceKind::IN_HAND.map(PieceKind::letter) {
            let letter = if side == Side::First { letter } else { letter.to_ascii_lowercase() };
            // Writing to a string cannot fail.
            let _ = match hands.matches(letter).count() {
                0 => Ok(()),
                1 => write!(pieces, "{letter}"),
                count => write!(pieces, "{count}{letter}"),
            };
        }
    }
    Some(if pieces.is_empty() { "-".to_owned() } else { pieces })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(usi: &str, uci: &str) {
        assert_eq!(usi_to_uci(usi).as_deref(), Some(uci));
        assert_eq!(uci_to_usi(uci).as_deref(), Some(usi));
    }

    #[test]
    fn converts_moves_in_both_directions() {
        check("7g7f", "c3c4");
        check("8h2b+", "b2h8+");
        check("9i1a", "a1i9");
        check("P*5e", "P@e5");
        check("N*1a", "N@i9");
    }

    #[test]
    fn rejects_text_that_is_not_a_shogi_move() {
        for text in ["e7e8q", "0000", "j1j2", "a10a9", "7g7f", "", "resign", "p@e5", "P*5e", "a0a1"]
        {
            assert_eq!(uci_to_usi(text), None, "{text}");
        }
        for text in ["c3c4", "P@e5", "7g7f=", "0a1a", "7j7f"] {
            assert_eq!(usi_to_uci(text), None, "{text}");
        }
    }

    #[test]
    fn writes_fens_of_the_variant() {
        let check = |sfen, expected: &str| assert_eq!(sfen_to_fen(sfen).as_deref(), Some(expected));
        check(
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL[] w - - 0 1",
        );
        check(
            "4k4/9/4P4/9/9/9/9/9/4K4 w B10P2s 12",
            "4k4/9/4P4/9/9/9/9/9/4K4[BPPPPPPPPPPss] b - - 0 6",
        );
        assert_eq!(sfen_to_fen("4k4/9/4P4/9/9/9/9/9/4K4 w B10P2s"), None);
    }

    #[test]
    fn reads_fens_of_the_variant_in_all_forms() {
        let check =
            |fen: &str, expected: &str| assert_eq!(fen_to_sfen(fen).as_deref(), Some(expected));
        let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
        check(&format!("{start}[-] w 0 1"), &format!("{start} b - 1"));
        check(&format!("{start}[] b - - 0 1"), &format!("{start} w - 2"));
        check(&format!("{start} w"), &format!("{start} b - 1"));
        check("4k4/9/9/9/9/9/9/9/4K4[sPbPs] b - - 0 6", "4k4/9/9/9/9/9/9/9/4K4 w 2Pb2s 12");
        for broken in ["", "4k4", "4k4[P w", "4k4[x] w", "4k4[1P] w", "4k4 x - - 0 1"] {
            assert_eq!(fen_to_sfen(broken), None, "{broken}");
        }
    }

    #[test]
    fn positions_survive_a_round_trip() {
        for text in [
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
            "4k4/9/4P4/9/9/9/9/9/4K4 w RB10P2sp 12",
            "4k4/9/4+P4/9/9/9/9/9/4K4 b 2G4n 31",
        ] {
            assert_eq!(sfen_to_fen(text).and_then(|fen| fen_to_sfen(&fen)).as_deref(), Some(text));
        }
    }
}
