//! One line of a text book.

use std::str::FromStr;

use rsshogi::board::Position;
use rsshogi::types::Move;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What a line says.
#[derive(Debug)]
pub(super) enum Line {
    /// The moves of a position follow, which is written as the rules write it.
    Position(String),
    /// A move of the position before it.
    Move(TextMove),
    /// A header, a comment or nothing.
    Other,
    /// Something that cannot be read.
    Unreadable {
        /// Whether it would be a position.
        is_position: bool,
    },
}

/// A move as the book has it, legal or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TextMove {
    pub(super) mv: Move,
    pub(super) reply: Move,
    pub(super) score: Option<i32>,
    /// How often it was seen.
    pub(super) count: Option<u64>,
}

impl Line {
    pub(super) fn read(bytes: &[u8]) -> Self {
        // A comment may have any encoding.
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_ascii();
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        if text.is_empty() || is_comment(text) {
            Self::Other
        } else if let Some(sfen) = text.strip_prefix("sfen ") {
            usual(sfen).map_or(Self::Unreadable { is_position: true }, Self::Position)
        } else {
            let unreadable = Self::Unreadable { is_position: text == "sfen" };
            TextMove::read(text).map_or(unreadable, Self::Move)
        }
    }
}

impl TextMove {
    fn read(text: &str) -> Option<Self> {
        let mut words =
            text.split_ascii_whitespace().take_while(|word| !is_comment(word)).peekable();
        // An older spelling.
        let _ = words.next_if_eq(&"move");
        let mv = read_move(words.next()?)?;
        let reply = words.next().map_or(Some(Move::MOVE_NONE), read_move)?;
        let score = optional(words.next()).ok()?;
        let _depth: Option<i64> = optional(words.next()).ok()?;
        let count = optional(words.next()).ok()?;
        Some(Self { mv, reply, score, count })
    }
}

fn is_comment(text: &str) -> bool {
    text.starts_with('#') || text.starts_with("//")
}

/// A position in the usual spelling, as a first move.
fn usual(sfen: &str) -> Option<String> {
    let mut fields = sfen.split_ascii_whitespace();
    let [board, turn, hands] = [fields.next()?, fields.next()?, fields.next()?];
    let position = Position::from_sfen(&format!("{board} {turn} {hands} 1")).ok()?;
    Some(position.to_sfen(Some(1)))
}

fn read_move(word: &str) -> Option<Move> {
    match word {
        "none" | "None" => Some(Move::MOVE_NONE),
        "resign" => Some(Move::MOVE_RESIGN),
        _ => Move::from_usi(word).filter(|mv| mv.is_normal()),
    }
}

/// A number that may be missing.
fn optional<T: FromStr>(word: Option<&str>) -> Result<Option<T>, T::Err> {
    word.filter(|word| !matches!(*word, "none" | "None")).map(str::parse).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_move(text: &str) -> bool {
        matches!(Line::read(text.as_bytes()), Line::Move(_))
    }

    fn is_unreadable(text: &[u8]) -> bool {
        matches!(Line::read(text), Line::Unreadable { .. })
    }

    #[test]
    fn moves_have_up_to_five_fields() {
        for text in ["7g7f", "7g7f none", "P*5e 3c3d+ -12 3 1", "move 7g7f 3c3d", "resign"] {
            assert!(is_move(text), "{text}");
        }
        for text in ["7g7f 3c3d 40 32 10 // often", "7g7f # 3c3d", "7g7f\t3c3d\r"] {
            assert!(is_move(text), "{text}");
        }
        let Line::Move(mv) = Line::read(b"7g7f 3c3d 40 32 10\r\n") else { panic!("a move") };
        assert_eq!((mv.score, mv.count), (Some(40), Some(10)));
        for text in ["7g", "7g7f 3c", "7g7f 3c3d much", "7g7f 3c3d 1 2 -3", "sfen", "\u{0}", "{}"] {
            assert!(is_unreadable(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_comment_may_have_any_encoding() {
        assert!(matches!(Line::read(b"// \x8f\xe8\x8b\xcd"), Line::Other));
        assert!(matches!(Line::read(b"7g7f 3c3d // \x8f\xe8\x8b\xcd"), Line::Move(_)));
        assert!(is_unreadable(b"\x8f\xe8\x8b\xcd"));
    }

    #[test]
    fn positions_are_spelled_in_one_way() {
        let start = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
        for number in ["", " 1", " 7", " x"] {
            let Line::Position(read) = Line::read(format!("{start}{number}").as_bytes()) else {
                panic!("{number}")
            };
            assert_eq!(format!("sfen {read}"), format!("{start} 1"));
        }
        assert!(is_unreadable(b"sfen x"));
        assert!(is_unreadable(b"sfen 9/9 b - 1"));
    }
}
