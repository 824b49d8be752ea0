//! Moves in UCI and USI notation, without the rules of the games.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use crate::tokenizer::Tokens;
use crate::{Dialect, dialect};

/// A move in UCI or USI notation.
///
/// A small `Copy` value that preserves the spelling. Legality is not checked: `h1a8` is a move.
///
/// ```
/// use readyok_protocol::{Move, MoveShape, Square};
/// let promotion: Move = "e7e8q".parse()?;
/// assert_eq!(promotion.to_string(), "e7e8q");
/// assert_eq!(
///     promotion.shape(),
///     MoveShape::Board { from: Square::new(5, 7), to: Square::new(5, 8), suffix: Some('q') }
/// );
/// # Ok::<(), readyok_protocol::MoveError>(())
/// ```
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct Move {
    /// ASCII, padded with zeros. The longest move, `l10l10q`, has seven bytes.
    bytes: [u8; 8],
}

/// A square by file and rank.
///
/// `e4` of UCI is file 5, rank 4; `7g` of USI is file 7, rank 7.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Square {
    /// From 1. In UCI, `a` is 1; in USI, files are counted from Black's right.
    pub file: u8,
    /// From 1. In UCI, White's back rank is 1; in USI, `a`, White's back rank, is 1.
    pub rank: u8,
}

impl Square {
    /// The square of a file and a rank.
    pub const fn new(file: u8, rank: u8) -> Self {
        Self { file, rank }
    }
}

/// The effect of a move, independent of the position.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MoveShape {
    /// A move from one square to another. In Chess960, castling is the king's move to the square of
    /// its own rook.
    Board {
        /// The origin.
        from: Square,
        /// The destination.
        to: Square,
        /// The promotion piece (`q`, lower case), or in shogi `+` for a promotion; `-` for demotion in
        /// variants.
        suffix: Option<char>,
    },
    /// A drop: `P@e4` in UCI, `P*3d` in USI.
    Drop {
        /// The piece, an upper-case letter.
        piece: char,
        /// The destination.
        to: Square,
    },
    /// `0000`: the null move.
    Null,
}

/// The notation of castling in UCI.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum CastlingForm {
    /// The king's move, `e1g1`.
    #[default]
    KingMove,
    /// The king takes its own rook, `e1h1`, as under `UCI_Chess960`.
    KingTakesRook,
}

/// A token that is not a move of the dialect.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MoveError {
    token: String,
}

impl Move {
    /// `0000`, the null move.
    pub const NULL: Self = Self { bytes: *b"0000\0\0\0\0" };

    /// Reads a token of one dialect in its exact form.
    ///
    /// UCI: `e2e4`, `e7e8q`, `e1h1`, `0000`, `P@e4`, and in variants `b2h8+` and the squares `a1`
    /// to `l10` of larger boards. USI: `7g7f`, `4e3c+`, `P*3d`, `0000`.
    ///
    /// # Errors
    /// The token is not a move of this dialect.
    pub fn read(token: &str, dialect: Dialect) -> Result<Self, MoveError> {
        Self::from_token(token, dialect).ok_or_else(|| MoveError { token: token.to_owned() })
    }

    /// [`read`](Self::read) without the error, which allocates.
    #[inline]
    fn from_token(token: &str, dialect: Dialect) -> Option<Self> {
        Self::is_token(token, dialect).then(|| Self::from_short(token))?
    }

    /// Whether a token is a move of the dialect.
    #[inline]
    pub(crate) fn is_token(token: &str, dialect: Dialect) -> bool {
        let shape = match dialect {
            Dialect::Uci => uci_shape(token.as_bytes()),
            Dialect::Usi => usi_shape(token.as_bytes()),
        };
        shape.is_some()
    }

    /// A move of either dialect.
    #[inline]
    fn from_any_token(token: &str) -> Option<Self> {
        Self::from_token(token, Dialect::Uci).or_else(|| Self::from_token(token, Dialect::Usi))
    }

    /// Reads a token in any case, and with the drop sign of the other dialect: `E7E8Q` is `e7e8q`;
    /// `p*3D` and `P@3d` are `P*3d`.
    ///
    /// # Errors
    /// The token is not a move of this dialect in any such form.
    pub fn read_lenient(token: &str, dialect: Dialect) -> Result<Self, MoveError> {
        Self::read(token, dialect).or_else(|error| {
            let mut lower = Self::from_short(token).ok_or(error)?;
            lower.bytes.make_ascii_lowercase();
            if let [piece, sign @ (b'*' | b'@'), ..] = &mut lower.bytes {
                piece.make_ascii_uppercase();
                *sign = drop_sign(dialect);
            }
            Self::read(lower.as_str(), dialect)
        })
    }

    /// Reads a move of any dialect in any case.
    pub(crate) fn in_usual_case(token: &str) -> Option<Self> {
        Dialect::ALL.into_iter().find_map(|dialect| Self::read_lenient(token, dialect).ok())
    }

    /// The move of a shape. `None` if a square is outside every board (UCI: 12 files by 10 ranks, USI:
    /// 9 by 9) or a letter is invalid.
    pub fn from_shape(shape: MoveShape, dialect: Dialect) -> Option<Self> {
        let mut text = Packed::default();
        match shape {
            MoveShape::Null => return Some(Self::NULL),
            MoveShape::Drop { piece, to } => {
                text.push(u8::try_from(piece).ok().filter(|piece| is_drop(*piece, dialect))?);
                text.push(drop_sign(dialect));
                text.push_square(to, dialect)?;
            }
            MoveShape::Board { from, to, suffix } => {
                text.push_square(from, dialect)?;
                text.push_square(to, dialect)?;
                if let Some(suffix) = suffix {
                    let suffix = u8::try_from(suffix).ok();
                    text.push(suffix.filter(|suffix| is_suffix(*suffix, dialect))?);
                }
            }
        }
        Some(Self { bytes: text.bytes.to_le_bytes() })
    }

    /// The move as text.
    #[inline]
    pub fn as_str(&self) -> &str {
        // Always valid: only ASCII is stored.
        self.bytes
            .get(..self.length())
            .and_then(|bytes| str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }

    /// The number of bytes before the padding.
    #[inline]
    fn length(self) -> usize {
        self.bytes.len() - u64::from_le_bytes(self.bytes).leading_zeros() as usize / 8
    }

    /// The effect of the move.
    pub fn shape(&self) -> MoveShape {
        let token = self.as_str().as_bytes();
        uci_shape(token).or_else(|| usi_shape(token)).unwrap_or(MoveShape::Null)
    }

    /// Whether origin and destination are equal, as in the `a1a1` of engines without a legal move.
    pub fn goes_nowhere(&self) -> bool {
        matches!(self.shape(), MoveShape::Board { from, to, suffix: None } if from == to)
    }

    fn from_short(token: &str) -> Option<Self> {
        let packed = token.bytes().rev().fold(0, |packed, byte| packed << 8 | u64::from(byte));
        (token.len() <= 8).then_some(Self { bytes: packed.to_le_bytes() })
    }
}

/// Whether a token and the next one form an unknown field, such as `winrate 0.591`, instead of
/// moves.
pub(crate) fn is_field(token: &str, next: &str) -> bool {
    let is_number = next.parse::<f64>().is_ok_and(f64::is_finite);
    let is_move = |token| Move::in_usual_case(token).is_some();
    is_number && !is_move(next) && !is_move(token) && !dialect::ends_a_game(token)
}

/// Whether a token after the first one starts with a digit or a sign. The loop has no early exit, so
/// that the compiler can vectorize it.
fn may_have_number(text: &[u8]) -> bool {
    let starts = text.iter().zip(text.iter().skip(1));
    let mark = |(&before, &first): (&u8, &u8)| u8::from(before == b' ') & u8::from(first <= b'9');
    starts.map(mark).fold(0, |marks, mark| marks | mark) != 0
}

/// The character between the piece and the square of a drop.
const fn drop_sign(dialect: Dialect) -> u8 {
    match dialect {
        Dialect::Uci => b'@',
        Dialect::Usi => b'*',
    }
}

/// Whether a letter is a piece that can be dropped.
#[inline]
const fn is_drop(piece: u8, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Uci => piece.is_ascii_uppercase(),
        Dialect::Usi => matches!(piece, b'P' | b'L' | b'N' | b'S' | b'G' | b'B' | b'R'),
    }
}

/// Whether a letter can follow two squares.
#[inline]
const fn is_suffix(letter: u8, dialect: Dialect) -> bool {
    match dialect {
        Dialect::Uci => matches!(letter, b'a'..=b'z' | b'+' | b'-'),
        Dialect::Usi => letter == b'+',
    }
}

/// A text of at most eight bytes, the first one in the lowest bits.
#[derive(Default)]
struct Packed {
    bytes: u64,
    length: usize,
}

impl Packed {
    /// Two squares have six bytes, and something else one or two.
    fn push(&mut self, byte: u8) {
        self.bytes |= u64::from(byte) << (8 * (self.length % 8));
        self.length += 1;
    }

    fn push_square(&mut self, square: Square, dialect: Dialect) -> Option<()> {
        let Square { file, rank } = square;
        let letter = |number: u8| (b'a' - 1).wrapping_add(number);
        match dialect {
            Dialect::Uci => {
                if !matches!((file, rank), (1..=12, 1..=10)) {
                    return None;
                }
                self.push(letter(file));
                if rank == 10 {
                    self.push(b'1');
                }
                self.push(b'0' + rank % 10);
            }
            Dialect::Usi => {
                if !matches!((file, rank), (1..=9, 1..=9)) {
                    return None;
                }
                self.push(b'0' + file);
                self.push(letter(rank));
            }
        }
        Some(())
    }
}

/// The length of the moves at the start of a text that are separated by single spaces.
#[inline]
pub(crate) fn plain_length(text: &str, dialect: Dialect) -> usize {
    match dialect {
        Dialect::Uci => plain_length_by(text.as_bytes(), uci_move),
        Dialect::Usi => plain_length_by(text.as_bytes(), usi_move),
    }
}

fn plain_length_by(text: &[u8], first: impl Fn(&[u8]) -> Option<(MoveShape, &[u8])>) -> usize {
    let (mut rest, mut length) = (text, 0);
    while let Some((_, after)) = first(rest) {
        match after {
            [] => return text.len(),
            [b' ', next @ ..] => rest = next,
            _ => break,
        }
        length = text.len() - after.len();
    }
    length
}

#[inline]
fn uci_shape(token: &[u8]) -> Option<MoveShape> {
    uci_move(token).filter(|(_, rest)| rest.is_empty()).map(|(shape, _)| shape)
}

/// Splits a UCI move from the start of a text.
#[inline]
fn uci_move(text: &[u8]) -> Option<(MoveShape, &[u8])> {
    if let [piece, b'@', rest @ ..] = text
        && is_drop(*piece, Dialect::Uci)
    {
        let (to, rest) = uci_square(rest)?;
        return Some((MoveShape::Drop { piece: char::from(*piece), to }, rest));
    }
    if let Some(rest) = text.strip_prefix(b"0000") {
        return Some((MoveShape::Null, rest));
    }
    let (from, rest) = uci_square(text)?;
    let (to, rest) = uci_square(rest)?;
    let (suffix, rest) = match rest {
        [letter, rest @ ..] if is_suffix(*letter, Dialect::Uci) => {
            (Some(char::from(*letter)), rest)
        }
        _ => (None, rest),
    };
    Some((MoveShape::Board { from, to, suffix }, rest))
}

/// The largest board of a known engine has 12 files and 10 ranks (Fairy-Stockfish).
#[inline]
fn uci_square(token: &[u8]) -> Option<(Square, &[u8])> {
    let (file, rank, rest) = match token {
        [file @ b'a'..=b'l', b'1', b'0', rest @ ..] => (file, 10, rest),
        [file @ b'a'..=b'l', rank @ b'1'..=b'9', rest @ ..] => (file, rank - b'0', rest),
        _ => return None,
    };
    Some((Square::new(file - b'a' + 1, rank), rest))
}

#[inline]
fn usi_shape(token: &[u8]) -> Option<MoveShape> {
    usi_move(token).filter(|(_, rest)| rest.is_empty()).map(|(shape, _)| shape)
}

/// Splits a USI move from the start of a text.
#[inline]
fn usi_move(text: &[u8]) -> Option<(MoveShape, &[u8])> {
    if let [piece, b'*', rest @ ..] = text
        && is_drop(*piece, Dialect::Usi)
    {
        let (to, rest) = usi_square(rest)?;
        return Some((MoveShape::Drop { piece: char::from(*piece), to }, rest));
    }
    if let Some(rest) = text.strip_prefix(b"0000") {
        return Some((MoveShape::Null, rest));
    }
    let (from, rest) = usi_square(text)?;
    let (to, rest) = usi_square(rest)?;
    let (suffix, rest) = match rest {
        [letter, rest @ ..] if is_suffix(*letter, Dialect::Usi) => {
            (Some(char::from(*letter)), rest)
        }
        _ => (None, rest),
    };
    Some((MoveShape::Board { from, to, suffix }, rest))
}

#[inline]
fn usi_square(token: &[u8]) -> Option<(Square, &[u8])> {
    match token {
        [file @ b'1'..=b'9', rank @ b'a'..=b'i', rest @ ..] => {
            Some((Square::new(file - b'0', rank - b'a' + 1), rest))
        }
        _ => None,
    }
}

impl FromStr for Move {
    type Err = MoveError;

    /// Reads a move of either dialect. Only `0000` belongs to both.
    fn from_str(token: &str) -> Result<Self, MoveError> {
        Self::from_any_token(token).ok_or_else(|| MoveError { token: token.to_owned() })
    }
}

impl TryFrom<String> for Move {
    type Error = MoveError;

    fn try_from(token: String) -> Result<Self, MoveError> {
        token.parse()
    }
}

impl From<Move> for String {
    fn from(it: Move) -> Self {
        it.as_str().to_owned()
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Move({self})")
    }
}

impl fmt::Display for MoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a move", self.token.escape_debug())
    }
}

impl core::error::Error for MoveError {}

/// A list of moves: a game, a principal variation, or `searchmoves`.
///
/// The text is borrowed if possible. Tokens that are not moves (`rep_draw` at the end of a variation)
/// stay in the list.
#[derive(Debug, Default, Eq, Hash, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
pub struct MoveList<'a> {
    /// Tokens separated by single spaces, without keywords.
    text: Cow<'a, str>,
}

/// A token of a [`MoveList`].
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum MoveToken<'a> {
    /// A move.
    Move(Move),
    /// Anything else, such as `rep_draw` or `resign`.
    Other(&'a str),
}

/// An invalid token for a list of moves: it is empty, contains white space, or is a keyword that would
/// end the list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MoveListError {
    token: String,
}

impl Clone for MoveList<'_> {
    fn clone(&self) -> Self {
        Self { text: self.text.clone() }
    }

    // Reuses the allocation: the next variation has about the same length.
    fn clone_from(&mut self, source: &Self) {
        self.text.clone_from(&source.text);
    }
}

impl<'a> MoveList<'a> {
    /// No moves.
    pub const EMPTY: Self = Self { text: Cow::Borrowed("") };

    /// A text that the reader has split and checked.
    pub(crate) const fn from_checked(text: Cow<'a, str>) -> Self {
        Self { text }
    }

    /// The tokens, separated by single spaces.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same moves, borrowed.
    pub(crate) fn borrowed(&self) -> MoveList<'_> {
        MoveList { text: Cow::Borrowed(&self.text) }
    }

    /// Whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The number of tokens, in O(n).
    pub fn len(&self) -> usize {
        let spaces = self.text.bytes().filter(|&byte| byte == b' ').count();
        spaces + usize::from(!self.is_empty())
    }

    /// The tokens as text.
    pub fn tokens(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        Tokens::of(&self.text).map(|token| token.text)
    }

    /// The tokens, each either a move or something else.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = MoveToken<'_>> + Clone {
        self.tokens().map(|token| {
            Move::from_any_token(token).map_or(MoveToken::Other(token), MoveToken::Move)
        })
    }

    /// The first token that is not a move of the dialect.
    pub(crate) fn first_other(&self, dialect: Dialect) -> Option<&str> {
        if plain_length(&self.text, dialect) == self.text.len() {
            return None;
        }
        self.tokens().find(|token| !Move::is_token(token, dialect))
    }

    /// Whether two of the tokens would be read as a field of `info`.
    pub(crate) fn has_field(&self, dialect: Dialect) -> bool {
        // A field contains a number; no chess move starts like one.
        may_have_number(self.text.as_bytes())
            && plain_length(&self.text, dialect) < self.text.len()
            && self.tokens().zip(self.tokens().skip(1)).any(|(token, next)| is_field(token, next))
    }

    /// The moves, without other tokens.
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = Move> + Clone {
        self.tokens().filter_map(Move::from_any_token)
    }

    /// Adds a move.
    pub fn push(&mut self, it: Move) {
        self.push_checked(it.as_str());
    }

    /// Adds any token. A move in another case, such as `E7E8Q`, is normalized.
    ///
    /// # Errors
    /// The token is empty, contains white space or a control character, or is a keyword of the
    /// protocol (`depth`, `moves` …), which would end the list when read.
    pub fn push_token(&mut self, token: &str) -> Result<(), MoveListError> {
        if token.is_empty() || token.contains(|c: char| c <= ' ') || dialect::ends_a_list(token) {
            return Err(MoveListError { token: token.to_owned() });
        }
        let usual = Move::in_usual_case(token);
        self.push_checked(usual.as_ref().map_or(token, Move::as_str));
        Ok(())
    }

    pub(crate) fn push_checked(&mut self, token: &str) {
        let text = self.text.to_mut();
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(token);
    }

    /// Adds moves in ASCII, each after a space.
    fn push_chunk(&mut self, chunk: &[u8]) {
        let moves = str::from_utf8(chunk).unwrap_or_default();
        let text = self.text.to_mut();
        text.push_str(if text.is_empty() {
            moves.strip_prefix(' ').unwrap_or_default()
        } else {
            moves
        });
    }

    /// Removes the last token. Returns whether there was one.
    pub fn pop(&mut self) -> bool {
        let keep = self.text.rfind(' ').unwrap_or(0);
        let had = !self.text.is_empty();
        match &mut self.text {
            Cow::Borrowed(text) => *text = text.get(..keep).unwrap_or_default(),
            Cow::Owned(text) => text.truncate(keep),
        }
        had
    }

    /// The same list without borrows.
    pub fn into_owned(self) -> MoveList<'static> {
        MoveList { text: Cow::Owned(self.text.into_owned()) }
    }
}

/// Length from which the moves of a chunk are added to a list.
const MAX_CHUNK: usize = 256;

impl FromIterator<Move> for MoveList<'_> {
    fn from_iter<I: IntoIterator<Item = Move>>(moves: I) -> Self {
        let mut list = Self::EMPTY;
        list.extend(moves);
        list
    }
}

impl Extend<Move> for MoveList<'_> {
    fn extend<I: IntoIterator<Item = Move>>(&mut self, moves: I) {
        let moves = moves.into_iter();
        // Few moves are longer than four letters and a space.
        self.text.to_mut().reserve(5 * moves.size_hint().0);
        // Several moves are checked and copied together, which takes an eighth of the time of single ones.
        let (mut chunk, mut length) = ([0; MAX_CHUNK + 1 + size_of::<Move>()], 0);
        for it in moves {
            if let Some([space, slot @ ..]) = chunk.get_mut(length..=length + size_of::<Move>()) {
                *space = b' ';
                // The next move overwrites the padding.
                slot.copy_from_slice(&it.bytes);
                length += 1 + it.length();
            }
            if MAX_CHUNK < length {
                self.push_chunk(chunk.get(..length).unwrap_or_default());
                length = 0;
            }
        }
        self.push_chunk(chunk.get(..length).unwrap_or_default());
    }
}

impl FromStr for MoveList<'_> {
    type Err = MoveListError;

    /// Reads tokens with white space between them.
    fn from_str(text: &str) -> Result<Self, MoveListError> {
        let mut list = Self::EMPTY;
        for token in text.split_ascii_whitespace() {
            list.push_token(token)?;
        }
        Ok(list)
    }
}

impl TryFrom<String> for MoveList<'_> {
    type Error = MoveListError;

    fn try_from(text: String) -> Result<Self, MoveListError> {
        text.parse()
    }
}

impl From<MoveList<'_>> for String {
    fn from(list: MoveList<'_>) -> Self {
        list.text.into_owned()
    }
}

impl fmt::Display for MoveList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for MoveListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not allowed in a list of moves", self.token.escape_debug())
    }
}

impl core::error::Error for MoveListError {}
