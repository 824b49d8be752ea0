//! Positions as text: FEN and SFEN, checked for syntax and never rewritten.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use crate::clock::Color;
use crate::dialect::Dialect;
use crate::moves::MoveList;

/// A position and the moves that lead on from it: what `position` says.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Position<'a> {
    /// Where the moves start.
    pub root: Root<'a>,
    /// The moves, in the order played.
    pub moves: MoveList<'a>,
}

/// Where a game or an analysis starts.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Root<'a> {
    /// The usual start position of the game.
    #[default]
    StartPos,
    /// A position of chess or of one of its variants.
    Fen(Fen<'a>),
    /// A position of shogi.
    Sfen(Sfen<'a>),
}

impl Position<'_> {
    /// The side to move after all moves, as the dialect calls it: whoever moves first in the start
    /// position is White in UCI and Black in USI, and Black in an SFEN whichever it is.
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
            /// Checks a text. Fields may be divided by any white space, which becomes one space;
            /// nothing else is changed.
            ///
            /// # Errors
            /// The text breaks the syntax. The error names the field and the bytes.
            pub fn new(text: &'a str) -> Result<Self, PositionError> {
                $check(text).map(|_| Self { text: single_spaced(text) })
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.text
            }

            /// The fields of the text, of which there are at least two.
            pub fn fields(&self) -> impl Iterator<Item = &str> {
                self.text.split(' ')
            }

            /// Whether the form is the usual one: all fields there, the usual board, pieces in
            /// hand in the usual order.
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
    /// Two to six fields are accepted, as are castling rights as `KQkq`, as rook files
    /// (Shredder-FEN, `HAha`) and mixed (X-FEN), boards of other sizes, promoted pieces (`~`,
    /// `+`), pieces in hand (`[Pp]`) and further fields of variants. Whether a position can arise
    /// in a game is for a rules crate to say.
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

position_text! {
    /// A shogi position in SFEN (USI draft 1 §3), checked for syntax and for the number of pieces.
    ///
    /// The move number may be missing, and pieces in hand may stand in any order. Kings may be
    /// missing, as in mate problems.
    ///
    /// ```
    /// use readyok_protocol::Sfen;
    /// assert!(Sfen::new("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -").is_ok());
    /// assert!(Sfen::new("9/9/9/9/9/9/9/9/9 b 19P 1").is_err());
    /// # Ok::<(), readyok_protocol::PositionError>(())
    /// ```
    Sfen, check_sfen
}

/// Where and why a text is no FEN or SFEN.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PositionError {
    /// The bytes of the text that are meant.
    pub span: Range<usize>,
    /// What is wrong there.
    pub fault: PositionFault,
    /// The bytes themselves.
    pub text: String,
}

/// What can be wrong with a FEN or SFEN.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum PositionFault {
    /// There is no field for the side to move.
    TooShort,
    /// There are more fields than the notation has.
    TooLong,
    /// A character that is neither a piece nor a number of empty squares.
    NotAPiece,
    /// A rank with more or fewer squares than the one above it, or more than 16.
    RankLength,
    /// More than 16 ranks, or in SFEN not as many as there are files.
    RankCount,
    /// A `+` before a piece that cannot promote, or before nothing.
    NoPromotion,
    /// Neither `w` nor `b`.
    SideToMove,
    /// Castling rights are letters or `-`.
    Castling,
    /// The en passant field is a square or `-`.
    EnPassant,
    /// Not a number.
    Counter,
    /// Pieces in hand are an optional count and a piece letter, or `-` for none.
    Hand,
    /// More pieces of a kind than there are in the box.
    TooManyPieces,
}

impl fmt::Display for PositionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.fault {
            PositionFault::TooShort => "no side to move",
            PositionFault::TooLong => "too many fields",
            PositionFault::NotAPiece => "not a piece",
            PositionFault::RankLength => "rank of the wrong length",
            PositionFault::RankCount => "wrong number of ranks",
            PositionFault::NoPromotion => "piece that cannot be promoted",
            PositionFault::SideToMove => "side to move is neither `w` nor `b`",
            PositionFault::Castling => "castling rights are letters or `-`",
            PositionFault::EnPassant => "en passant is a square or `-`",
            PositionFault::Counter => "not a number",
            PositionFault::Hand => "not pieces in hand",
            PositionFault::TooManyPieces => "more pieces than there are",
        };
        let Range { start, end } = self.span;
        write!(f, "{what}: `{}` at bytes {start}..{end}", self.text.escape_debug())
    }
}

impl core::error::Error for PositionError {}

/// Whether a correct text has the usual form.
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

fn fault((start, text): Field<'_>, fault: PositionFault) -> PositionError {
    PositionError { span: start..start + text.len(), fault, text: text.to_owned() }
}

/// The text with one space between two fields. A copy only where that changes something.
pub(crate) fn single_spaced(text: &str) -> Cow<'_, str> {
    let text = text.trim_matches(|c: char| c <= ' ');
    let odd = |pair: &[u8]| matches!(pair, [a, b] if *b < b' ' || (*a == b' ' && *b == b' '));
    if !text.as_bytes().windows(2).any(odd) {
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

/// The longest rank and the most ranks that are accepted.
const MAX_SIDE: u32 = 16;

/// Walks over the pieces of a board, and returns its files and ranks.
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
            return Err(fault(plus, PositionFault::NoPromotion));
        }
        length += number;
        ranks += 1;
        if MAX_SIDE < length || length == 0 || files.is_some_and(|files| files != length) {
            return Err(fault((at, rank), PositionFault::RankLength));
        }
        if MAX_SIDE < ranks {
            return Err(fault((start, board), PositionFault::RankCount));
        }
        files = Some(length);
        at += rank.len() + 1;
    }
    Ok((files.unwrap_or(0), ranks))
}

fn check_fen(text: &str) -> Result<Form, PositionError> {
    let mut parts = fields(text);
    let whole = (0, text);
    let board = parts.next().ok_or_else(|| fault(whole, PositionFault::TooShort))?;
    let side = parts.next().ok_or_else(|| fault(board, PositionFault::TooShort))?;
    let has_hand = board.1.contains('[');
    // Pieces in hand follow the board in brackets, in the variants that have them.
    let squares = match board.1.split_once('[') {
        Some((squares, hand)) => {
            let at = board.0 + squares.len() + 1;
            let pieces =
                hand.strip_suffix(']').ok_or_else(|| fault((at, hand), PositionFault::Hand))?;
            if !pieces.chars().all(|c| c.is_ascii_alphanumeric() || "+-".contains(c)) {
                return Err(fault((at, pieces), PositionFault::Hand));
            }
            (board.0, squares)
        }
        None => board,
    };
    let size = check_board(squares, |here, c, _| {
        let known = c.is_ascii_alphabetic() || c == '*';
        if known { Ok(()) } else { Err(fault(here, PositionFault::NotAPiece)) }
    })?;
    if !matches!(side.1, "w" | "b") {
        return Err(fault(side, PositionFault::SideToMove));
    }
    let mut parts = parts.peekable();
    // Shogi knows neither castling nor en passant, and is written without them as well.
    let is_short = has_hand && parts.peek().is_some_and(|&(_, field)| is_counter(field.as_bytes()));
    if let Some(castling) = parts.next_if(|_| !is_short) {
        // The files of the rooks, or `K` and `Q`; never `moves`, which would end the position.
        let is_letter = |c: char| matches!(c.to_ascii_lowercase(), 'a'..='q');
        let letters = castling.1.len() <= 16 && castling.1.chars().all(is_letter);
        if castling.1 != "-" && !letters {
            return Err(fault(castling, PositionFault::Castling));
        }
    }
    if let Some(en_passant) = parts.next_if(|_| !is_short) {
        let square = match en_passant.1.as_bytes() {
            [b'a'..=b'p', rank @ ..] => is_counter(rank) && rank.len() <= 2,
            _ => false,
        };
        if en_passant.1 != "-" && !square {
            return Err(fault(en_passant, PositionFault::EnPassant));
        }
    }
    // Variants put their own counters (checks left) before, between or after the usual two.
    let mut counters = 0;
    for counter in parts {
        counters += 1;
        let known = counter.1.chars().all(|c| c.is_ascii_digit() || c == '+');
        if !known || counter.1.len() > 20 {
            return Err(fault(counter, PositionFault::Counter));
        }
        if 3 < counters {
            return Err(fault(counter, PositionFault::TooLong));
        }
    }
    Ok(Form::usual_if(counters == 2 && size == (8, 8)))
}

/// Kinds of pieces in the order of the hand, with how many the box has.
const BOX: [(char, u32); 8] =
    [('R', 2), ('B', 2), ('G', 4), ('S', 4), ('N', 4), ('L', 4), ('P', 18), ('K', 2)];

fn check_sfen(text: &str) -> Result<Form, PositionError> {
    let mut parts = fields(text);
    let whole = (0, text);
    let board = parts.next().ok_or_else(|| fault(whole, PositionFault::TooShort))?;
    let side = parts.next().ok_or_else(|| fault(board, PositionFault::TooShort))?;
    let mut left = BOX.map(|(_, count)| count);
    let mut take = |here, c: char, count: u32, wrong| {
        let kind = BOX.iter().position(|(letter, _)| *letter == c.to_ascii_uppercase());
        let slot = kind.and_then(|kind| left.get_mut(kind)).ok_or_else(|| fault(here, wrong))?;
        *slot = slot.checked_sub(count).ok_or_else(|| fault(here, PositionFault::TooManyPieces))?;
        Ok(())
    };
    let size = check_board(board, |here, c, promoted| {
        if promoted && matches!(c.to_ascii_uppercase(), 'K' | 'G') {
            return Err(fault(here, PositionFault::NoPromotion));
        }
        take(here, c, 1, PositionFault::NotAPiece)
    })?;
    if size != (9, 9) {
        return Err(fault(board, PositionFault::RankCount));
    }
    if !matches!(side.1, "w" | "b") {
        return Err(fault(side, PositionFault::SideToMove));
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
                return Err(fault(here, PositionFault::Hand));
            }
            take(here, c, count.unwrap_or(1), PositionFault::Hand)?;
            let order = (
                c.is_ascii_lowercase(),
                BOX.iter().position(|(it, _)| *it == c.to_ascii_uppercase()),
            );
            usual &= count != Some(1) && last < Some(order);
            (count, last, start) = (None, Some(order), end);
        }
        if count.is_some() {
            return Err(fault(hand, PositionFault::Hand));
        }
    }
    match parts.next() {
        None => return Ok(Form::Unusual),
        Some((_, number)) if is_counter(number.as_bytes()) => (),
        Some(number) => return Err(fault(number, PositionFault::Counter)),
    }
    match parts.next() {
        None => Ok(Form::usual_if(usual)),
        Some(more) => Err(fault(more, PositionFault::TooLong)),
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
    fn the_span_of_a_fault_is_the_fault() {
        let text = "8/8/8/8/8/8/8/7x w - - 0 1";
        let error = Fen::new(&text.replace('x', "?")).unwrap_err();
        assert_eq!((error.span, error.fault), (15..16, PositionFault::NotAPiece));
        let all: Vec<_> = fields(" a  b ").collect();
        assert_eq!(all, [(1, "a"), (4, "b")]);
    }

    /// As validators of Fairy-Stockfish's variants write it.
    #[test]
    fn a_board_with_a_hand_needs_neither_castling_nor_en_passant() {
        let board = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL";
        for rest in ["[-] w 0 1", "[] b 12 40", "[Pp] w - - 0 1", "[] w"] {
            assert!(Fen::new(&[board, rest].concat()).is_ok(), "{rest}");
        }
        let error = Fen::new(&[board, " w 0 1"].concat()).unwrap_err();
        assert_eq!((error.text.as_str(), error.fault), ("0", PositionFault::Castling));
        let error = Fen::new(&[board, "[] w 0 x"].concat()).unwrap_err();
        assert_eq!((error.text.as_str(), error.fault), ("x", PositionFault::Counter));
    }
}
