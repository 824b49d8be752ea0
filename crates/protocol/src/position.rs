//! FEN and SFEN texts, checked for syntax and never rewritten.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use crate::clock::Color;
use crate::diagnostic;
use crate::dialect::Dialect;
use crate::moves::MoveList;

/// A position and the moves from it, the arguments of `position`.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Position<'a> {
    /// The position before the moves.
    pub root: Root<'a>,
    /// The moves in their order.
    pub moves: MoveList<'a>,
}

/// The root position of a game or an analysis.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Root<'a> {
    /// The start position of the game.
    #[default]
    StartPos,
    /// A position of chess or one of its variants.
    Fen(Fen<'a>),
    /// A position of shogi.
    Sfen(Sfen<'a>),
}

impl Dialect {
    /// Whether a game of this dialect can start at this root: FEN is chess, SFEN is shogi.
    pub const fn has_root(self, root: &Root<'_>) -> bool {
        match root {
            Root::StartPos => true,
            Root::Fen(_) => matches!(self, Self::Uci),
            Root::Sfen(_) => matches!(self, Self::Usi),
        }
    }
}

impl Position<'_> {
    /// The side to move after all moves. In the start position it is White in UCI and Black in USI. In
    /// SFEN, `b` is Black, who moves first.
    pub fn mover(&self, dialect: Dialect) -> Color {
        let first = match (&self.root, dialect) {
            (Root::StartPos, Dialect::Uci) => Color::White,
            (Root::StartPos, Dialect::Usi) => Color::Black,
            (Root::Fen(fen), _) => side(fen.fields().nth(1)),
            (Root::Sfen(sfen), Dialect::Uci) => side(sfen.fields().nth(1)).other(),
            (Root::Sfen(sfen), Dialect::Usi) => side(sfen.fields().nth(1)),
        };
        if self.moves.len().is_multiple_of(2) { first } else { first.other() }
    }

    /// The same position, borrowed.
    pub(crate) fn borrowed(&self) -> Position<'_> {
        Position { root: self.root.borrowed(), moves: self.moves.borrowed() }
    }

    /// The same position without borrows.
    pub fn into_owned(self) -> Position<'static> {
        Position { root: self.root.into_owned(), moves: self.moves.into_owned() }
    }
}

impl Root<'_> {
    fn borrowed(&self) -> Root<'_> {
        match self {
            Self::StartPos => Root::StartPos,
            Self::Fen(fen) => Root::Fen(fen.borrowed()),
            Self::Sfen(sfen) => Root::Sfen(sfen.borrowed()),
        }
    }

    /// The same root without borrows.
    pub fn into_owned(self) -> Root<'static> {
        match self {
            Self::StartPos => Root::StartPos,
            Self::Fen(fen) => Root::Fen(fen.into_owned()),
            Self::Sfen(sfen) => Root::Sfen(sfen.into_owned()),
        }
    }
}

impl<'a> From<Fen<'a>> for Position<'a> {
    fn from(fen: Fen<'a>) -> Self {
        Self { root: Root::Fen(fen), moves: MoveList::EMPTY }
    }
}

impl<'a> From<Sfen<'a>> for Position<'a> {
    fn from(sfen: Sfen<'a>) -> Self {
        Self { root: Root::Sfen(sfen), moves: MoveList::EMPTY }
    }
}

fn side(field: Option<&str>) -> Color {
    if field == Some("b") { Color::Black } else { Color::White }
}

macro_rules! position_text {
    ($(#[$doc:meta])* $name:ident, $check:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, Hash, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
        pub struct $name<'a> {
            text: Cow<'a, str>,
        }

        impl<'a> $name<'a> {
            /// Checks the syntax of a text. White space between fields is replaced by one space; nothing else
            /// is changed.
            ///
            /// # Errors
            /// The syntax is invalid. The error contains the field and its span.
            pub fn new(text: &'a str) -> Result<Self, PositionError> {
                $check(text).map(|_| Self { text: single_spaced(text) })
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.text
            }

            /// The fields of the text, at least two.
            pub fn fields(&self) -> impl Iterator<Item = &str> {
                self.text.split(' ')
            }

            /// Whether the form is canonical: all fields, the standard board size, pieces in hand in standard
            /// order.
            pub fn is_usual(&self) -> bool {
                $check(&self.text) == Ok(Form::Usual)
            }

            fn borrowed(&self) -> $name<'_> {
                $name { text: Cow::Borrowed(&self.text) }
            }

            /// The same text without borrows.
            pub fn into_owned(self) -> $name<'static> {
                $name { text: Cow::Owned(self.text.into_owned()) }
            }
        }

        impl FromStr for $name<'_> {
            type Err = PositionError;

            fn from_str(text: &str) -> Result<Self, PositionError> {
                $name::new(text).map($name::into_owned)
            }
        }

        impl TryFrom<String> for $name<'_> {
            type Error = PositionError;

            fn try_from(text: String) -> Result<Self, PositionError> {
                text.parse()
            }
        }

        impl From<$name<'_>> for String {
            fn from(it: $name<'_>) -> Self {
                it.text.into_owned()
            }
        }

        impl fmt::Display for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.text)
            }
        }
    };
}

position_text! {
    /// A chess position in Forsyth-Edwards notation, checked for syntax.
    ///
    /// Two to six fields are accepted. Castling rights are `KQkq`, rook files (Shredder-FEN, `HAha`) or mixed
    /// (X-FEN). Boards of other sizes, promoted pieces (`~`, `+`), pieces in hand (`[Pp]`) and additional
    /// fields of variants are accepted too. Legality of the position is not checked.
    ///
    /// ```
    /// use readyok_protocol::Fen;
    /// let shredder = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w AHah -";
    /// assert_eq!(Fen::new(shredder)?.as_str(), shredder);
    /// assert!(Fen::new("rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1").is_err());
    /// # Ok::<(), readyok_protocol::PositionError>(())
    /// ```
    Fen, check_fen
}

impl<'a> Fen<'a> {
    /// Checks the syntax of a text, like [`new`](Self::new), and that the board has the size of chess.
    ///
    /// ```
    /// use readyok_protocol::Fen;
    /// assert!(Fen::new("8/8/8 w - - 0 1").is_ok());
    /// assert!(Fen::chess("8/8/8 w - - 0 1").is_err());
    /// ```
    ///
    /// # Errors
    /// The syntax is invalid, or the board has another size.
    pub fn chess(text: &'a str) -> Result<Self, PositionError> {
        const SIDE: u32 = 8;
        let fen = Self::new(text)?;
        let board = fields(text).next().unwrap_or((0, text));
        let squares = (board.0, board.1.split('[').next().unwrap_or_default());
        let kind = match check_board(squares, |_, _, _| Ok(()))? {
            (SIDE, SIDE) => return Ok(fen),
            (_, SIDE) => PositionErrorKind::RankLength,
            _ => PositionErrorKind::RankCount,
        };
        Err(error(squares, kind))
    }
}

position_text! {
    /// A shogi position in SFEN (USI draft 1 §3), checked for syntax and for the number of pieces.
    ///
    /// The move number may be missing, pieces in hand may have any order, and kings may be missing, as
    /// in mate problems.
    ///
    /// ```
    /// use readyok_protocol::Sfen;
    /// assert!(Sfen::new("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -").is_ok());
    /// assert!(Sfen::new("9/9/9/9/9/9/9/9/9 b 19P 1").is_err());
    /// # Ok::<(), readyok_protocol::PositionError>(())
    /// ```
    Sfen, check_sfen
}

/// A syntax error in a FEN or SFEN.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PositionError {
    /// The byte range of the error.
    pub span: Range<usize>,
    /// The kind of the error.
    pub kind: PositionErrorKind,
    /// The text in that range.
    pub text: String,
}

/// The kinds of syntax errors in FEN and SFEN.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum PositionErrorKind {
    /// The side to move is missing.
    TooShort,
    /// Too many fields.
    TooLong,
    /// Neither a piece nor a number of empty squares.
    NotAPiece,
    /// A rank of another length than the rank above it, or longer than 16 squares.
    RankLength,
    /// More than 16 ranks, or in SFEN not nine.
    RankCount,
    /// `+` before a piece that cannot promote, or before nothing.
    NoPromotion,
    /// Neither `w` nor `b`.
    SideToMove,
    /// Castling rights other than letters or `-`.
    Castling,
    /// An en passant field other than a square or `-`.
    EnPassant,
    /// Not a number.
    Counter,
    /// Pieces in hand other than optional counts with piece letters, or `-`.
    Hand,
    /// More pieces of a kind than in a shogi set.
    TooManyPieces,
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            PositionErrorKind::TooShort => "no side to move",
            PositionErrorKind::TooLong => "too many fields",
            PositionErrorKind::NotAPiece => "not a piece",
            PositionErrorKind::RankLength => "rank with the wrong length",
            PositionErrorKind::RankCount => "wrong number of ranks",
            PositionErrorKind::NoPromotion => "piece that cannot be promoted",
            PositionErrorKind::SideToMove => "side to move is neither `w` nor `b`",
            PositionErrorKind::Castling => "castling rights are neither letters nor `-`",
            PositionErrorKind::EnPassant => "en passant is neither a square nor `-`",
            PositionErrorKind::Counter => "not a number",
            PositionErrorKind::Hand => "invalid pieces in hand",
            PositionErrorKind::TooManyPieces => "too many pieces of this kind",
        };
        write!(f, "{what}: `{}` at ", self.text.escape_debug())?;
        diagnostic::write_range(f, "byte", &self.span)
    }
}

impl core::error::Error for PositionError {}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Usual,
    Unusual,
}

impl Form {
    fn usual_if(usual: bool) -> Self {
        if usual { Self::Usual } else { Self::Unusual }
    }
}

type Field<'a> = (usize, &'a str);

fn fields(text: &str) -> impl Iterator<Item = Field<'_>> {
    let start = text.as_ptr() as usize;
    text.split(|c: char| c <= ' ')
        .filter(|field| !field.is_empty())
        .map(move |field| (field.as_ptr() as usize - start, field))
}

fn error((start, text): Field<'_>, kind: PositionErrorKind) -> PositionError {
    PositionError { span: start..start + text.len(), kind, text: text.to_owned() }
}

/// Replaces white space between fields by single spaces. Borrows the text if it is unchanged.
pub(crate) fn single_spaced(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let irregular = |pair: &[u8]| matches!(pair, [a, b] if *b < b' ' || (*a == b' ' && *b == b' '));
    if !text.as_bytes().windows(2).any(irregular) {
        return Cow::Borrowed(text);
    }
    let mut spaced = String::with_capacity(text.len());
    for (_, field) in fields(text) {
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        spaced.push_str(field);
    }
    Cow::Owned(spaced)
}

/// Maximum number of files and ranks.
const MAX_SIDE: u32 = 16;

/// Calls `piece` for each piece of a board, and returns the number of files and ranks.
fn check_board<'a>(
    (start, board): Field<'a>,
    mut piece: impl FnMut(Field<'a>, char, bool) -> Result<(), PositionError>,
) -> Result<(u32, u32), PositionError> {
    let (mut files, mut ranks) = (None, 0);
    let mut at = start;
    for rank in board.split('/') {
        let (mut length, mut number, mut promoted) = (0u32, 0u32, None);
        for (offset, c) in rank.char_indices() {
            let here = (at + offset, rank.get(offset..offset + c.len_utf8()).unwrap_or_default());
            if let Some(digit) = c.to_digit(10).filter(|digit| 0 < number + digit) {
                // `10` is ten squares of a large board; `45` is four and five.
                let run = number * 10 + digit;
                (length, number) = match run {
                    ..=MAX_SIDE => (length, run),
                    _ => ((length + number).min(MAX_SIDE + 1), digit),
                };
                continue;
            }
            length = (length + number).min(MAX_SIDE + 1);
            number = 0;
            match c {
                '+' if promoted.is_none() => promoted = Some(here),
                '~' if 0 < length && promoted.is_none() => (),
                c => {
                    piece(here, c, promoted.take().is_some())?;
                    length = (length + 1).min(MAX_SIDE + 1);
                }
            }
        }
        if let Some(plus) = promoted {
            return Err(error(plus, PositionErrorKind::NoPromotion));
        }
        length += number;
        ranks += 1;
        if MAX_SIDE < length || length == 0 || files.is_some_and(|files| files != length) {
            return Err(error((at, rank), PositionErrorKind::RankLength));
        }
        if MAX_SIDE < ranks {
            return Err(error((start, board), PositionErrorKind::RankCount));
        }
        files = Some(length);
        at += rank.len() + 1;
    }
    Ok((files.unwrap_or(0), ranks))
}

fn check_fen(text: &str) -> Result<Form, PositionError> {
    let mut parts = fields(text);
    let whole = (0, text);
    let board = parts.next().ok_or_else(|| error(whole, PositionErrorKind::TooShort))?;
    let side = parts.next().ok_or_else(|| error(board, PositionErrorKind::TooShort))?;
    let has_hand = board.1.contains('[');
    // In variants with pieces in hand, they follow the board in brackets.
    let squares = match board.1.split_once('[') {
        Some((squares, hand)) => {
            let at = board.0 + squares.len() + 1;
            let pieces =
                hand.strip_suffix(']').ok_or_else(|| error((at, hand), PositionErrorKind::Hand))?;
            if !pieces.chars().all(|c| c.is_ascii_alphanumeric() || "+-".contains(c)) {
                return Err(error((at, pieces), PositionErrorKind::Hand));
            }
            (board.0, squares)
        }
        None => board,
    };
    let size = check_board(squares, |here, c, _| {
        let known = c.is_ascii_alphabetic() || c == '*';
        if known { Ok(()) } else { Err(error(here, PositionErrorKind::NotAPiece)) }
    })?;
    if !matches!(side.1, "w" | "b") {
        return Err(error(side, PositionErrorKind::SideToMove));
    }
    let mut parts = parts.peekable();
    // Shogi has neither castling nor en passant; some FENs omit both fields.
    let is_short = has_hand && parts.peek().is_some_and(|&(_, field)| is_counter(field.as_bytes()));
    if let Some(castling) = parts.next_if(|_| !is_short) {
        // Rook files, or `K` and `Q`; never `moves`, which would end the position.
        let is_letter = |c: char| matches!(c.to_ascii_lowercase(), 'a'..='q');
        let letters = castling.1.len() <= 16 && castling.1.chars().all(is_letter);
        if castling.1 != "-" && !letters {
            return Err(error(castling, PositionErrorKind::Castling));
        }
    }
    if let Some(en_passant) = parts.next_if(|_| !is_short) {
        let square = match en_passant.1.as_bytes() {
            [b'a'..=b'p', rank @ ..] => is_counter(rank) && rank.len() <= 2,
            _ => false,
        };
        if en_passant.1 != "-" && !square {
            return Err(error(en_passant, PositionErrorKind::EnPassant));
        }
    }
    // Variants add their own counters (remaining checks) before, between or after the usual two.
    let mut counters = 0;
    for counter in parts {
        counters += 1;
        let known = counter.1.chars().all(|c| c.is_ascii_digit() || c == '+');
        if !known || counter.1.len() > 20 {
            return Err(error(counter, PositionErrorKind::Counter));
        }
        if 3 < counters {
            return Err(error(counter, PositionErrorKind::TooLong));
        }
    }
    Ok(Form::usual_if(counters == 2 && size == (8, 8)))
}

/// Pieces in the order of the hand, with their number in a shogi set.
const BOX: [(char, u32); 8] =
    [('R', 2), ('B', 2), ('G', 4), ('S', 4), ('N', 4), ('L', 4), ('P', 18), ('K', 2)];

fn check_sfen(text: &str) -> Result<Form, PositionError> {
    let mut parts = fields(text);
    let whole = (0, text);
    let board = parts.next().ok_or_else(|| error(whole, PositionErrorKind::TooShort))?;
    let side = parts.next().ok_or_else(|| error(board, PositionErrorKind::TooShort))?;
    let mut left = BOX.map(|(_, count)| count);
    let mut take = |here, c: char, count: u32, wrong| {
        let kind = BOX.iter().position(|(letter, _)| *letter == c.to_ascii_uppercase());
        let slot = kind.and_then(|kind| left.get_mut(kind)).ok_or_else(|| error(here, wrong))?;
        *slot =
            slot.checked_sub(count).ok_or_else(|| error(here, PositionErrorKind::TooManyPieces))?;
        Ok(())
    };
    let size = check_board(board, |here, c, promoted| {
        if promoted && matches!(c.to_ascii_uppercase(), 'K' | 'G') {
            return Err(error(here, PositionErrorKind::NoPromotion));
        }
        take(here, c, 1, PositionErrorKind::NotAPiece)
    })?;
    if size != (9, 9) {
        return Err(error(board, PositionErrorKind::RankCount));
    }
    if !matches!(side.1, "w" | "b") {
        return Err(error(side, PositionErrorKind::SideToMove));
    }
    let mut usual = true;
    let Some(hand) = parts.next() else { return Ok(Form::Unusual) };
    if hand.1 != "-" {
        let (mut count, mut last, mut start) = (None, None, hand.0);
        for (offset, c) in hand.1.char_indices() {
            let end = hand.0 + offset + c.len_utf8();
            let here = (start, text.get(start..end).unwrap_or_default());
            if let Some(digit) = c.to_digit(10) {
                count = Some((count.unwrap_or(0) * 10 + digit).min(99));
                continue;
            }
            if count == Some(0) || c.eq_ignore_ascii_case(&'k') {
                return Err(error(here, PositionErrorKind::Hand));
            }
            take(here, c, count.unwrap_or(1), PositionErrorKind::Hand)?;
            let order = (
                c.is_ascii_lowercase(),
                BOX.iter().position(|(letter, _)| *letter == c.to_ascii_uppercase()),
            );
            usual &= count != Some(1) && last < Some(order);
            (count, last, start) = (None, Some(order), end);
        }
        if count.is_some() {
            return Err(error(hand, PositionErrorKind::Hand));
        }
    }
    match parts.next() {
        None => return Ok(Form::Unusual),
        Some((_, number)) if is_counter(number.as_bytes()) => (),
        Some(number) => return Err(error(number, PositionErrorKind::Counter)),
    }
    match parts.next() {
        None => Ok(Form::usual_if(usual)),
        Some(more) => Err(error(more, PositionErrorKind::TooLong)),
    }
}

fn is_counter(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn error_span_is_exact() {
        let text = "8/8/8/8/8/8/8/7x w - - 0 1";
        let error = Fen::new(&text.replace('x', "?")).unwrap_err();
        assert_eq!((error.span, error.kind), (15..16, PositionErrorKind::NotAPiece));
        let all: Vec<_> = fields(" a  b ").collect();
        assert_eq!(all, [(1, "a"), (4, "b")]);
    }

    /// As written by FEN validators for Fairy-Stockfish's variants.
    #[test]
    fn a_board_with_a_hand_needs_neither_castling_nor_en_passant() {
        let board = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
        for rest in ["[-] w 0 1", "[] b 12 40", "[Pp] w - - 0 1", "[] w"] {
            assert!(Fen::new(&[board, rest].concat()).is_ok(), "{rest}");
        }
        let error = Fen::new(&[board, " w 0 1"].concat()).unwrap_err();
        assert_eq!((error.text.as_str(), error.kind), ("0", PositionErrorKind::Castling));
        let error = Fen::new(&[board, "[] w 0 x"].concat()).unwrap_err();
        assert_eq!((error.text.as_str(), error.kind), ("x", PositionErrorKind::Counter));
    }
}
