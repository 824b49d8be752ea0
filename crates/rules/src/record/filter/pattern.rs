//! Patterns of positions: pieces on squares, material, and how long they last.

mod material;
mod parse;

pub use material::{MaterialAnswer, MaterialSignature};

use std::str::FromStr;

use super::placement::{CODES, EMPTY, PiecePlacement, code_of, piece_of};
use super::{FilterError, NumberRange};
use crate::record::{GameRecord, RecordMove};
use crate::{Game, Piece, Position, Side};

/// A set of codes of pieces, as bits.
type CodeSet = u32;

/// Every piece, and no piece. The code 16 means nothing.
const ANY: CodeSet = !(1 << 16);

/// A number of pieces, from a minimum to a maximum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CountRange {
    min: u8,
    max: u8,
}

impl CountRange {
    fn contains(self, count: u8) -> bool {
        (self.min..=self.max).contains(&count)
    }
}

/// The colors of the squares of the bishops when each side has exactly one (chess).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BishopColors {
    Opposite,
    Same,
}

/// A conjunction of conditions on one position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Conditions {
    /// Squares by index, with what can be on them.
    squares: Vec<(u8, CodeSet)>,
    /// Numbers of pieces on the board, by code.
    counts: Vec<(u8, CountRange)>,
    /// Numbers of pieces in hand, by side and index in `PieceKind::IN_HAND`.
    hands: Vec<(Side, usize, CountRange)>,
    /// Value of the first side minus that of the second one.
    balance: Option<(i32, i32)>,
    bishops: Option<BishopColors>,
    turn: Option<Side>,
}

impl Conditions {
    #[inline]
    fn hold(&self, placement: &PiecePlacement) -> bool {
        self.squares.iter().all(|(square, allowed)| allowed >> placement.code(*square) & 1 == 1)
            && self.turn.is_none_or(|turn| turn == placement.turn())
            && self.counts.iter().all(|(code, range)| range.contains(placement.count(*code)))
            && self.balance.is_none_or(|(min, max)| (min..=max).contains(&placement.balance()))
            && self
                .hands
                .iter()
                .all(|(side, kind, range)| range.contains(placement.in_hand(*side, *kind)))
            && self.bishops.is_none_or(|colors| {
                colors.match_counts(placement.bishops(Side::First), placement.bishops(Side::Second))
            })
    }

    /// The conditions with the sides exchanged and the board turned upside down: in shogi also left to right.
    fn with_sides_exchanged(&self, game: Game) -> Self {
        let width = game.width();
        let square = |index: u8| {
            let (row, column) = (index / width, index % width);
            let column = if game == Game::Shogi { width - 1 - column } else { column };
            (width - 1 - row) * width + column
        };
        let code = |code: u8| {
            piece_of(code)
                .map_or(EMPTY, |piece| code_of(Piece { side: piece.side.other(), ..piece }))
        };
        let codes = |set: CodeSet| -> CodeSet {
            let members = (0..32).filter(|index| set >> index & 1 == 1);
            members.fold(0, |set, index| set | 1 << code(index))
        };
        Self {
            squares: self.squares.iter().map(|&(index, set)| (square(index), codes(set))).collect(),
            counts: self.counts.iter().map(|&(index, range)| (code(index), range)).collect(),
            hands: self
                .hands
                .iter()
                .map(|&(side, kind, range)| (side.other(), kind, range))
                .collect(),
            balance: self.balance.map(|(min, max)| (max.saturating_neg(), min.saturating_neg())),
            bishops: self.bishops,
            turn: self.turn.map(Side::other),
        }
    }

    /// The conditions with the files in the opposite order.
    fn with_files_exchanged(&self, game: Game) -> Self {
        let width = game.width();
        let square = |index: u8| index / width * width + width - 1 - index % width;
        let squares = self.squares.iter().map(|&(index, set)| (square(index), set)).collect();
        Self { squares, ..self.clone() }
    }

    /// The smallest number of pieces of each code on the board of a position that matches.
    fn minimum(&self) -> [u8; CODES] {
        let mut minimum = [0_u8; CODES];
        for (_, set) in &self.squares {
            if set.is_power_of_two() {
                minimum[set.trailing_zeros() as usize % CODES] += 1;
            }
        }
        for (code, range) in &self.counts {
            let count = &mut minimum[usize::from(*code) % CODES];
            *count = range.min.max(*count);
        }
        minimum
    }
}

/// A pattern of positions that lasts for a number of successive positions of the main line of a game.
///
/// The text of a pattern has terms that are separated by blanks; all of them must hold in the same position.
///
/// | term | condition |
/// |---|---|
/// | `board=PLACEMENT` | the piece placement of a FEN or an SFEN; digits are empty squares, `?` any square, `!` any piece, `A` and `a` any piece of the first and the second side, `[RQ]` one of these pieces, `*` any squares up to the end of the row |
/// | `pawns=PLACEMENT` | exactly these pawns; other pieces are not compared |
/// | `on=Nd5,-e4,[bn]f6` | pieces on squares, `-` for no piece |
/// | `material=KRPvKR` | the pieces of both sides (chess), of either color; `*` after those of a side allows more |
/// | `R=1..2`, `p=4`, `+r=1..` | the number of pieces on the board, in lower case of the second side |
/// | `B*=1..`, `p*=0` | the number of pieces in hand (shogi) |
/// | `balance=2..` | the value of the pieces of the first side minus those of the second: 1, 3, 3, 5, 9 in chess; in shogi the values of Larry Kaufman, pieces in hand included |
/// | `bishops=opposite`, `bishops=same` | one bishop each, on squares of these colors (chess) |
/// | `turn=w` | the side to move, as in FEN and SFEN |
/// | `flip=sides`, `flip=files` | also with the sides or the files exchanged; both with a comma |
/// | `ply=20..60` | the number of moves before the position |
/// | `for=8` | for at least this number of successive positions |
/// | `game=shogi` | the game, if the other terms do not show it; chess otherwise |
///
/// ```
/// use readyok_rules::record::{self, BoardPattern};
///
/// let file = b"1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 *";
/// let record = record::read(&file[..], None).next().ok_or("a game")??;
/// let pattern: BoardPattern = "on=Bc4,bc5 balance=0".parse()?;
/// assert_eq!(pattern.first_ply(&record), Some(6));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardPattern {
    game: Game,
    /// One of them holds.
    alternatives: Vec<Conditions>,
    plies: NumberRange,
    /// Number of successive positions.
    length: u32,
    /// Fewer positions suffice at the end of a game.
    allows_end: bool,
}

impl BoardPattern {
    /// Reads a pattern. The game is used if the text does not show one.
    ///
    /// # Errors
    /// A term is unknown or malformed, or no position can match.
    pub fn read(text: &str, game: Option<Game>) -> Result<Self, FilterError> {
        parse::read(text, game)
    }

    fn new(game: Game, alternatives: Vec<Conditions>) -> Self {
        let plies = NumberRange { min: i64::MIN, max: i64::MAX };
        Self { game, alternatives, plies, length: 1, allows_end: false }
    }

    /// Whether a position of the game can match. Chess960 is chess.
    pub fn is_of(&self, game: Game) -> bool {
        (self.game == Game::Shogi) == (game == Game::Shogi)
    }

    /// Begins a search in a game.
    pub fn search(&self) -> PatternSearch<'_> {
        PatternSearch { pattern: self, runs: vec![0; self.alternatives.len()], ply: 0 }
    }

    /// The number of moves before the first position of the main line that begins a match.
    pub fn first_ply(&self, record: &GameRecord) -> Option<usize> {
        if !self.is_of(record.game()) {
            return None;
        }
        let mut placement = PiecePlacement::new(record.start());
        let mut search = self.search();
        if let Some(ply) = search.add(&placement) {
            return Some(ply);
        }
        for node in record.mainline() {
            match node.mv() {
                Some(RecordMove::Legal(mv)) => drop(placement.play(mv)),
                Some(RecordMove::Null) => placement.pass(),
                Some(RecordMove::Illegal(_)) | None => break,
            }
            if let Some(ply) = search.add(&placement) {
                return Some(ply);
            }
        }
        search.end()
    }

    /// Whether a position matches, regardless of its neighbors.
    fn holds(&self, placement: &PiecePlacement) -> bool {
        self.alternatives.iter().any(|conditions| conditions.hold(placement))
    }
}

impl FromStr for BoardPattern {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        Self::read(text, None)
    }
}

/// A search for a pattern in a game whose positions are added one by one.
#[derive(Debug, Clone)]
pub struct PatternSearch<'a> {
    pattern: &'a BoardPattern,
    /// By alternative, the number of successive positions that match.
    runs: Vec<u32>,
    ply: u32,
}

impl PatternSearch<'_> {
    /// Begins again with another game.
    pub fn restart(&mut self) {
        self.runs.fill(0);
        self.ply = 0;
    }

    /// Adds the start position, or the position after the next move. Returns the number of moves before the first
    /// position of a match when it is long enough.
    #[inline]
    pub fn add(&mut self, placement: &PiecePlacement) -> Option<usize> {
        let pattern = self.pattern;
        let is_in_range = pattern.plies.contains(self.ply.into());
        let mut found = None;
        for (conditions, run) in pattern.alternatives.iter().zip(&mut self.runs) {
            *run = if is_in_range && conditions.hold(placement) { *run + 1 } else { 0 };
            if *run >= pattern.length {
                found = found.or(Some(*run));
            }
        }
        let first = found.map(|run| (self.ply + 1 - run) as usize);
        self.ply = self.ply.saturating_add(1);
        first
    }

    /// Ends the game. Returns the first position of a match that suffices because the game ends there.
    pub fn end(&self) -> Option<usize> {
        let longest = self.runs.iter().copied().max().filter(|run| *run > 0)?;
        self.pattern.allows_end.then(|| self.ply.saturating_sub(longest) as usize)
    }
}

/// A FEN or an SFEN, complete or with its first fields only.
///
/// Fields that are missing are not compared, move numbers never. The placement can have the wildcards of
/// [`BoardPattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PositionPattern(PatternKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternKind {
    /// The key of a complete position.
    Key {
        shogi: bool,
        key: u64,
    },
    Placement(BoardPattern),
}

impl PositionPattern {
    /// The positions of a game with a [`Position::key`].
    pub fn with_key(game: Game, key: u64) -> Self {
        Self(PatternKind::Key { shogi: game == Game::Shogi, key })
    }

    /// The key of the only position that matches.
    pub fn key(&self) -> Option<u64> {
        match &self.0 {
            PatternKind::Key { key, .. } => Some(*key),
            PatternKind::Placement(_) => None,
        }
    }

    /// The pattern of a placement that is not a complete position.
    pub fn placement(&self) -> Option<&BoardPattern> {
        match &self.0 {
            PatternKind::Key { .. } => None,
            PatternKind::Placement(pattern) => Some(pattern),
        }
    }

    /// Whether a position of the game can match.
    pub fn is_of(&self, game: Game) -> bool {
        match &self.0 {
            PatternKind::Key { shogi, .. } => *shogi == (game == Game::Shogi),
            PatternKind::Placement(pattern) => pattern.is_of(game),
        }
    }

    /// Whether a position matches.
    pub fn matches(&self, position: &Position) -> bool {
        self.is_of(position.game())
            && match &self.0 {
                PatternKind::Key { key, .. } => position.key() == *key,
                PatternKind::Placement(pattern) => pattern.holds(&PiecePlacement::new(position)),
            }
    }

    /// The number of moves before the first position of the main line that matches.
    pub fn first_ply(&self, record: &GameRecord) -> Option<usize> {
        match &self.0 {
            PatternKind::Key { .. } => {
                record.positions().position(|position| self.matches(&position))
            }
            PatternKind::Placement(pattern) => pattern.first_ply(record),
        }
    }
}

impl FromStr for PositionPattern {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        parse::read_position(text).map(Self)
    }
}

/// The pieces of both sides in chess: `KRPvKR`, of either color. `*` after the pieces of a side allows more. Material
/// counts that is in two successive positions, or in the last one: not that within an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaterialPattern(BoardPattern);

impl MaterialPattern {
    /// The pattern of positions.
    pub fn pattern(&self) -> &BoardPattern {
        &self.0
    }
}

impl FromStr for MaterialPattern {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut conditions = Conditions::default();
        parse::read_material(text, &mut conditions)?;
        let flipped = conditions.with_sides_exchanged(Game::Chess);
        let pattern = BoardPattern::new(Game::Chess, vec![conditions, flipped]);
        Ok(Self(BoardPattern { length: 2, allows_end: true, ..pattern }))
    }
}
