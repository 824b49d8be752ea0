//! The Western notation of shogi, after George Hodges: `P-7f`, `Bx2b+`, `G*5b`, `N8i-7g`.

use rsshogi::types::{Move, Move32, PieceType, Square};

use super::{ShogiBoard, wanted::Wanted};
use crate::IllegalReason;

/// How the squares are written.
#[derive(Clone, Copy)]
pub(crate) enum Squares {
    /// The rank as a letter: `7f`.
    Letters,
    /// The rank as a digit, as Japanese diagrams have it: `76`.
    Digits,
}

impl ShogiBoard {
    /// Writes a legal move: the piece, where it comes from if another one of its kind could go
    /// there or if the origin is always wanted, how it goes, where to, and whether it promotes (`+`)
    /// or declines to (`=`).
    pub(crate) fn western(&self, mv: Move32, squares: Squares, origin: bool) -> String {
        let position = self.position();
        let to = name(mv.to_sq(), squares);
        if let Some(piece) = mv.dropped_piece() {
            return format!("{piece}*{to}");
        }
        let from = mv.from_sq();
        let piece = position.piece_on(from);
        let ambiguous = || {
            self.legal_moves().iter().any(|other| {
                !other.is_drop()
                    && other.to_sq() == mv.to_sq()
                    && other.from_sq() != from
                    && position.piece_on(other.from_sq()) == piece
            })
        };
        let origin = if origin || ambiguous() { name(from, squares) } else { String::new() };
        let manner = if position.is_capture_move32(mv) { 'x' } else { '-' };
        let promotion = if mv.is_promotion() {
            "+"
        } else if position.is_legal_move(Move::promotion(from, mv.to_sq())) {
            "="
        } else {
            ""
        };
        format!("{}{origin}{manner}{to}{promotion}", piece.piece_type())
    }

    /// All legal moves that a text can mean, or why there is none.
    ///
    /// Squares can be written in both styles, letters in both cases, and the sign between piece and
    /// square can be missing; a piece that could go there from the board is then not dropped.
    pub(crate) fn read_western(&self, text: &str) -> Result<Vec<Move32>, IllegalReason> {
        let wanted = read(text).ok_or(IllegalReason::Unreadable)?;
        self.resolve(&wanted)
    }
}

fn read(text: &str) -> Option<Wanted> {
    // The longest that means anything is shorter still.
    const LONGEST: usize = 16;
    if text.len() > LONGEST {
        return None;
    }
    let text = text.to_ascii_lowercase();
    let mut letters = text.chars().filter(|letter| !letter.is_whitespace()).peekable();
    let promoted = letters.next_if_eq(&'+').is_some();
    let piece: PieceType = letters.next()?.to_string().parse().ok()?;
    let piece = match (promoted, piece.is_promotable()) {
        (true, true) => piece.promote(),
        (true, false) => return None,
        (false, _) => piece,
    };
    let first = if letters.peek().is_some_and(char::is_ascii_digit) {
        Some(square(letters.next()?, letters.next()?)?)
    } else {
        None
    };
    let manner = letters.next_if(|letter| matches!(letter, '-' | 'x' | '×' | '*' | '\''));
    let second = if letters.peek().is_some_and(char::is_ascii_digit) {
        Some(square(letters.next()?, letters.next()?)?)
    } else {
        None
    };
    let promotion = letters.next_if(|letter| matches!(letter, '+' | '='));
    if letters.next().is_some() {
        return None;
    }
    let (from, to) = match (first, second) {
        (Some(from), Some(to)) => (Some(from), to),
        (None, Some(to)) => (None, to),
        // The sign has to stand before the square where the piece goes.
        (Some(to), None) if manner.is_none() => (None, to),
        _ => return None,
    };
    let drop = match manner {
        Some('*' | '\'') => Some(true),
        Some(_) => Some(false),
        None => None,
    };
    let promotes = promotion == Some('+');
    Some(Wanted { piece, to, from, drop, promotes, directions: Vec::new() })
}

fn square(file: char, rank: char) -> Option<Square> {
    let rank = match rank.to_digit(10) {
        Some(digit) => char::from_digit(digit.checked_add(9)?, 36)?,
        None => rank,
    };
    Square::from_usi(&format!("{file}{rank}"))
}

fn name(square: Square, squares: Squares) -> String {
    match squares {
        Squares::Letters => square.to_usi(),
        Squares::Digits => {
            let (file, rank) = (square.file().raw(), square.rank().raw());
            format!("{}{}", file.saturating_add(1), rank.saturating_add(1))
        }
    }
}
