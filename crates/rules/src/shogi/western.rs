//! The Western notation of shogi, after George Hodges: `P-7f`, `Bx2b+`, `G*5b`, `N8i-7g`.

use rsshogi::types::{Move, Move32, PieceType, Square};

use super::{ShogiBoard, query::MoveQuery};
use crate::IllegalReason;

/// The notation of squares.
#[derive(Clone, Copy)]
pub(crate) enum Squares {
    /// The rank as a letter: `7f`.
    Letters,
    /// The rank as a digit, as in Japanese diagrams: `76`.
    Digits,
}

impl ShogiBoard {
    /// Writes a legal move: the piece; its origin if another one of its kind could move there or if
    /// `origin` is set; `-`, `x` or `*`; the target; `+` for a promotion, or `=` if it is declined.
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
        let sign = if position.is_capture_move32(mv) { 'x' } else { '-' };
        let promotion = if mv.is_promotion() {
            "+"
        } else if position.is_legal_move(Move::promotion(from, mv.to_sq())) {
            "="
        } else {
            ""
        };
        format!("{}{origin}{sign}{to}{promotion}", piece.piece_type())
    }

    /// All legal moves that a text can mean, or the reason for the rejection.
    ///
    /// Squares can be written in both styles and letters in both cases. The sign between piece and square
    /// can be missing; a piece that could move there from the board is then not dropped.
    pub(crate) fn read_western(&self, text: &str) -> Result<Vec<Move32>, IllegalReason> {
        let query = read(text).ok_or(IllegalReason::InvalidMove)?;
        self.resolve(&query)
    }
}

fn read(text: &str) -> Option<MoveQuery> {
    // Longer than any move.
    const MAX_LEN: usize = 16;
    if text.len() > MAX_LEN {
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
    let sign = letters.next_if(|letter| matches!(letter, '-' | 'x' | '×' | '*' | '\''));
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
        // A sign must precede the target square.
        (Some(to), None) if sign.is_none() => (None, to),
        _ => return None,
    };
    let drop = match sign {
        Some('*' | '\'') => Some(true),
        Some(_) => Some(false),
        None => None,
    };
    let promotes = promotion == Some('+');
    Some(MoveQuery { piece, to, from, drop, promotes, directions: Vec::new() })
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
