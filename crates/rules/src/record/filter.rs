//! Conditions on games, for selections, searches and exports.

mod line;
mod pattern;
mod placement;
mod range;

use std::{borrow::Cow, str::FromStr};

#[cfg(feature = "openings")]
use crate::Opening;
use crate::{Game, GameResult, MoveError, Position, Side, Termination};

use super::{
    Date, DateRange, FilterError, GameRecord, Headers, Node, NodeId, RecordMove, Speed, Tag, fold,
};

pub use line::MoveLine;
pub use pattern::{
    BoardPattern, MaterialAnswer, MaterialPattern, MaterialSignature, PatternSearch,
    PositionPattern,
};
pub use placement::PiecePlacement;
pub use range::NumberRange;

/// A condition on a game, of a file or of the library. [`Condition::all`] combines several.
///
/// ```
/// use readyok_rules::record::{self, Condition, TextPattern};
///
/// let file = b"[White \"Carlsen, Magnus\"]\n[Result \"1-0\"]\n\n1. e4 e5 1-0\n";
/// let record = record::read(&file[..], None).next().ok_or("a game")??;
/// let condition = Condition::all(vec![
///     Condition::player(TextPattern::new("magnus carlsen")),
///     Condition::moves("1. e4 e5")?,
/// ]);
/// assert!(condition.matches(&record));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub enum Condition {
    /// All conditions hold.
    All(Vec<Self>),
    /// At least one condition holds.
    Any(Vec<Self>),
    /// The condition does not hold.
    Not(Box<Self>),
    /// The game.
    Game(Game),
    /// A player.
    Player(PlayerCondition),
    /// The result.
    Result(GameResult),
    /// The date can be within a range.
    Date(DateRange),
    /// The rating of a player is within a range.
    Rating {
        /// The player.
        side: Side,
        /// The range.
        range: NumberRange,
    },
    /// The class of the time control.
    Speed(Speed),
    /// The name of a player that is not known to be a human.
    Engine(TextPattern),
    /// A header.
    Header {
        /// The name, in any case.
        name: String,
        /// The required value.
        test: HeaderTest,
    },
    /// A common header contains a text.
    Tag(Tag, TextPattern),
    /// The ECO code of [`GameRecord::opening_names`].
    Eco(EcoRange),
    /// The ECO code and the name of [`GameRecord::opening_names`] contain a text.
    Opening(TextPattern),
    /// The game begins with these moves from the standard start position.
    Moves(MoveLine),
    /// A position of the main line matches.
    Position(PositionPattern),
    /// Two successive positions of the main line, or the last one, have this material.
    Material(MaterialPattern),
    /// Positions of the main line match a pattern.
    Pattern(BoardPattern),
    /// The number of plies of the main line is within a range.
    Plies(NumberRange),
    /// What ended the game, from the record or else from the last position.
    Termination(Termination),
    /// The record has annotations of a kind.
    Has(Feature),
    /// A label that the user gave the game in the library. Other records have none.
    Label(String),
    /// The origin of a game of the library. That of other records is unknown.
    Source(Source),
}

/// The origin of a game of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "LibrarySource"))]
pub enum Source {
    /// Played or entered in the app.
    Play,
    /// Read from a file.
    Import,
    /// Played by a match.
    Match,
}

impl Default for Condition {
    /// All games satisfy it.
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

impl Condition {
    /// All conditions hold. Those that are evaluated fastest are evaluated first.
    pub fn all(mut conditions: Vec<Self>) -> Self {
        conditions.sort_by_key(Self::cost);
        Self::All(conditions)
    }

    /// One of the players.
    pub fn player(name: TextPattern) -> Self {
        Self::Player(PlayerCondition { name, ..PlayerCondition::default() })
    }

    /// The ratings of both players are within a range.
    pub fn ratings(range: NumberRange) -> Self {
        Self::All(Side::BOTH.map(|side| Self::Rating { side, range }).to_vec())
    }

    /// The game begins with moves. The text has moves in any notation, with or without numbers.
    pub fn moves(text: &str) -> Result<Self, MoveError> {
        MoveLine::read(text, &[Game::Chess, Game::Shogi]).map(Self::Moves)
    }

    /// A position of the main line is this one, apart from move numbers.
    pub fn reaches(position: &Position) -> Self {
        Self::Position(PositionPattern::with_key(position.game(), position.key()))
    }

    /// A header: `NAME`, `NAME=VALUE`, `NAME!=VALUE`, `NAME~TEXT` or, for numbers and dates, `NAME>=VALUE`,
    /// `NAME<=VALUE`, `NAME>VALUE` and `NAME<VALUE`.
    pub fn header(text: &str) -> Self {
        let operators = ["!=", ">=", "<=", "=", "~", ">", "<"];
        let found = operators
            .into_iter()
            .filter_map(|operator| text.find(operator).map(|at| (at, operator)))
            .min_by_key(|&(at, operator)| (at, std::cmp::Reverse(operator.len())));
        let Some((at, operator)) = found else {
            return Self::Header { name: text.trim().to_owned(), test: HeaderTest::Present };
        };
        let (name, value) = text.split_at(at);
        let value = value.get(operator.len()..).unwrap_or_default().trim().to_owned();
        let test = match operator {
            "=" => HeaderTest::Equals(value),
            "!=" => HeaderTest::Differs(value),
            "~" => HeaderTest::Contains(TextPattern::new(&value)),
            ">=" => HeaderTest::AtLeast(value),
            "<=" => HeaderTest::AtMost(value),
            ">" => HeaderTest::Above(value),
            _ => HeaderTest::Below(value),
        };
        Self::Header { name: name.trim().to_owned(), test }
    }

    /// Whether the record satisfies the condition.
    pub fn matches(&self, record: &GameRecord) -> bool {
        match self {
            Self::All(conditions) => conditions.iter().all(|condition| condition.matches(record)),
            Self::Any(conditions) => conditions.iter().any(|condition| condition.matches(record)),
            Self::Not(condition) => !condition.matches(record),
            Self::Game(game) => record.game() == *game,
            Self::Player(player) => player.matches(record),
            Self::Result(result) => record.result == *result,
            Self::Date(range) => range.contains(record.date()),
            Self::Rating { side, range } => {
                record.rating(*side).is_some_and(|rating| range.contains(rating))
            }
            Self::Speed(speed) => record.speed() == Some(*speed),
            Self::Engine(name) => Side::BOTH.into_iter().any(|side| {
                record.is_engine(side) != Some(false) && name.matches_option(record.player(side))
            }),
            Self::Header { name, test } => test.matches(record, name),
            Self::Tag(tag, pattern) => pattern.matches_option(record.header(*tag)),
            Self::Eco(range) => record.opening_names().is_some_and(|(eco, _)| range.contains(&eco)),
            Self::Opening(pattern) => {
                let names = record.opening_names().map(|(eco, name)| format!("{eco} {name}"));
                pattern.matches_option(names.as_deref())
            }
            Self::Moves(line) => begins_with(record, line),
            Self::Position(pattern) => pattern.first_ply(record).is_some(),
            Self::Material(pattern) => pattern.pattern().first_ply(record).is_some(),
            Self::Pattern(pattern) => pattern.first_ply(record).is_some(),
            Self::Plies(range) => range.contains(i64::try_from(record.plies()).unwrap_or(i64::MAX)),
            Self::Termination(termination) => record.derived_termination() == Some(*termination),
            Self::Has(feature) => feature.is_in(record),
            Self::Label(_) | Self::Source(_) => false,
        }
    }

    /// The number of moves before the position that shows why a record matches: the first one that satisfies a
    /// condition on positions. None without such a condition.
    pub fn first_ply(&self, record: &GameRecord) -> Option<usize> {
        match self {
            Self::All(conditions) | Self::Any(conditions) => {
                conditions.iter().find_map(|condition| condition.first_ply(record))
            }
            Self::Position(pattern) => pattern.first_ply(record),
            _ => self.pattern()?.first_ply(record),
        }
    }

    /// The pattern of pieces of a condition on positions, except a condition on one complete position.
    pub fn pattern(&self) -> Option<&BoardPattern> {
        match self {
            Self::Position(pattern) => pattern.placement(),
            Self::Material(pattern) => Some(pattern.pattern()),
            Self::Pattern(pattern) => Some(pattern),
            _ => None,
        }
    }

    /// The relative time of an evaluation.
    fn cost(&self) -> u8 {
        match self {
            Self::All(conditions) | Self::Any(conditions) => {
                conditions.iter().map(Self::cost).max().unwrap_or_default()
            }
            Self::Not(condition) => condition.cost(),
            Self::Game(_)
            | Self::Result(_)
            | Self::Rating { .. }
            | Self::Label(_)
            | Self::Source(_) => 0,
            Self::Player(_)
            | Self::Date(_)
            | Self::Speed(_)
            | Self::Engine(_)
            | Self::Header { .. }
            | Self::Tag(..) => 1,
            Self::Moves(_) | Self::Plies(_) => 2,
            Self::Has(_) => 3,
            Self::Eco(_) | Self::Opening(_) | Self::Termination(_) => 4,
            Self::Position(_) | Self::Material(_) | Self::Pattern(_) => 5,
        }
    }
}

/// An ECO code, a prefix such as `B9`, or a range such as `B20-B99`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EcoRange {
    /// The first code or prefix.
    from: String,
    /// The last code or prefix.
    to: String,
}

impl EcoRange {
    /// Whether a code is in the range.
    pub fn contains(&self, code: &str) -> bool {
        self.from.as_str() <= code && (code <= self.to.as_str() || code.starts_with(&self.to))
    }
}

impl FromStr for EcoRange {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let (from, to) =
            text.split_once("..").or_else(|| text.split_once('-')).unwrap_or((text, text));
        let is_code = |code: &str| {
            let mut letters = code.chars();
            letters.next().is_some_and(|letter| matches!(letter, 'A'..='E'))
                && letters.all(|letter| letter.is_ascii_digit())
                && code.len() <= 3
        };
        let (from, to) = (from.trim().to_ascii_uppercase(), to.trim().to_ascii_uppercase());
        if is_code(&from) && is_code(&to) {
            Ok(Self { from, to })
        } else {
            Err(FilterError::Eco(text.to_owned()))
        }
    }
}

fn begins_with(record: &GameRecord, line: &MoveLine) -> bool {
    let game = line.end().game();
    let mut nodes = record.mainline();
    line.moves().is_empty()
        || record.game() == game
            && record.start().key() == Position::start(game).key()
            && line
                .moves()
                .iter()
                .all(|mv| nodes.next().and_then(Node::mv) == Some(RecordMove::Legal(*mv)))
}

/// The side of a player: by the order of the moves, or by the color as players name it. White moves first in chess,
/// and Black (sente) in shogi.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum PlayerColor {
    /// White; gote in shogi.
    #[cfg_attr(feature = "cli", value(alias = "gote", help = clap::builder::Resettable::Reset))]
    White,
    /// Black; sente in shogi.
    #[cfg_attr(feature = "cli", value(alias = "sente", help = clap::builder::Resettable::Reset))]
    Black,
    /// A side of any game.
    #[cfg_attr(feature = "cli", value(skip))]
    Side(Side),
}

impl PlayerColor {
    /// The side with this color.
    pub fn side(self, game: Game) -> Side {
        let first = match self {
            Self::White => game != Game::Shogi,
            Self::Black => game == Game::Shogi,
            Self::Side(side) => return side,
        };
        if first { Side::First } else { Side::Second }
    }
}

/// The result from the view of a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlayerResult {
    /// The player wins.
    Win,
    /// The player loses.
    Loss,
    /// A draw.
    Draw,
}

/// A condition on one of the players.
#[derive(Debug, Clone, Default)]
pub struct PlayerCondition {
    /// The name of the player.
    pub name: TextPattern,
    /// The color of the player; any if `None`.
    pub color: Option<PlayerColor>,
    /// The name of the opponent.
    pub opponent: TextPattern,
    /// The result of the player; any if `None`.
    pub result: Option<PlayerResult>,
    /// The rating of the player; any if `None`.
    pub rating: Option<NumberRange>,
}

impl PlayerCondition {
    /// The sides that can be the player, by color and result of a game.
    pub fn sides(&self, game: Game, result: GameResult) -> impl Iterator<Item = Side> {
        let side = self.color.map(|color| color.side(game));
        let wanted = self.result;
        Side::BOTH.into_iter().filter(move |player| {
            side.is_none_or(|side| side == *player)
                && wanted.is_none_or(|wanted| match wanted {
                    PlayerResult::Win => result == GameResult::Win(*player),
                    PlayerResult::Loss => result == GameResult::Win(player.other()),
                    PlayerResult::Draw => result == GameResult::Draw,
                })
        })
    }

    fn matches(&self, record: &GameRecord) -> bool {
        self.sides(record.game(), record.result).any(|side| {
            self.rating.is_none_or(|range| {
                record.rating(side).is_some_and(|rating| range.contains(rating))
            }) && self.name.matches_option(record.player(side))
                && self.opponent.matches_option(record.player(side.other()))
        })
    }
}

/// A text that contains all parts of a pattern, in any order. Case, full-width forms and middle dots make no difference,
/// as in [`fold()`]. An empty pattern matches any text, and a missing one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct TextPattern(Vec<String>);

impl TextPattern {
    /// The parts of a text, separated by blanks or commas.
    pub fn new(text: &str) -> Self {
        let text = fold(text);
        let parts = text.split(|letter: char| letter.is_whitespace() || letter == ',');
        Self(parts.filter(|part| !part.is_empty()).map(str::to_owned).collect())
    }

    /// The folded parts.
    pub fn parts(&self) -> &[String] {
        &self.0
    }

    /// Whether a text contains all parts.
    pub fn matches(&self, text: &str) -> bool {
        self.matches_folded(&fold(text))
    }

    /// Whether a folded text contains all parts.
    pub fn matches_folded(&self, text: &str) -> bool {
        self.0.iter().all(|part| text.contains(part.as_str()))
    }

    fn matches_option(&self, text: Option<&str>) -> bool {
        self.0.is_empty() || text.is_some_and(|text| self.matches(text))
    }
}

/// A condition on the value of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeaderTest {
    /// The header exists and is not empty.
    Present,
    /// The value is this text, in any case.
    Equals(String),
    /// The value is not this text, or missing.
    Differs(String),
    /// The value contains all parts.
    Contains(TextPattern),
    /// The value is at least this number or date.
    AtLeast(String),
    /// The value is at most this number or date.
    AtMost(String),
    /// The value is greater than this number or date.
    Above(String),
    /// The value is less than this number or date.
    Below(String),
}

impl HeaderTest {
    fn matches(&self, record: &GameRecord, name: &str) -> bool {
        let value = match name.to_ascii_lowercase().as_str() {
            "result" => Some(record.result.as_str()),
            lower => record
                .headers
                .iter()
                .find(|(known, _)| known.to_ascii_lowercase() == lower)
                .map(|(_, value)| value),
        };
        let Some(value) = value else { return matches!(self, Self::Differs(_)) };
        match self {
            Self::Present => !value.is_empty(),
            Self::Equals(wanted) => value.to_lowercase() == wanted.to_lowercase(),
            Self::Differs(wanted) => value.to_lowercase() != wanted.to_lowercase(),
            Self::Contains(pattern) => pattern.matches(value),
            Self::AtLeast(limit) => compare(value, limit).is_some_and(std::cmp::Ordering::is_ge),
            Self::AtMost(limit) => compare(value, limit).is_some_and(std::cmp::Ordering::is_le),
            Self::Above(limit) => compare(value, limit).is_some_and(std::cmp::Ordering::is_gt),
            Self::Below(limit) => compare(value, limit).is_some_and(std::cmp::Ordering::is_lt),
        }
    }
}

/// Compares numbers, or dates. `None` if a value is neither.
fn compare(value: &str, limit: &str) -> Option<std::cmp::Ordering> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let first_day = |text: &str| Some(Date::parse(text).days()?.0);
    match (number(value), number(limit)) {
        (Some(value), Some(limit)) => value.partial_cmp(&limit),
        _ => Some(first_day(value)?.cmp(&first_day(limit)?)),
    }
}

/// A kind of annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Feature {
    /// Comments.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Comments,
    /// Variations.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Variations,
    /// Numeric annotation glyphs.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Nags,
    /// Remaining times and times of moves.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Clocks,
    /// Evaluations.
    #[cfg_attr(feature = "cli", value(name = "evals", help = clap::builder::Resettable::Reset))]
    Evaluations,
    /// Marked squares and arrows.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Marks,
}

impl Feature {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::Comments,
        Self::Variations,
        Self::Nags,
        Self::Clocks,
        Self::Evaluations,
        Self::Marks,
    ];

    /// Whether a record has annotations of this kind.
    pub fn is_in(self, record: &GameRecord) -> bool {
        record.any_node(|node| {
            let notes = record.annotations(node.id());
            match self {
                Self::Comments => {
                    !notes.before.is_empty()
                        || !notes.comments.is_empty()
                        || notes.end.as_ref().is_some_and(|end| !end.comments.is_empty())
                }
                Self::Variations => record.children(node.id()).nth(1).is_some(),
                Self::Nags => !notes.nags.is_empty(),
                Self::Clocks => notes.clock.is_some() || notes.elapsed.is_some(),
                Self::Evaluations => notes.evaluation.is_some(),
                Self::Marks => !notes.marks.is_empty(),
            }
        })
    }
}

/// The rating of a player: of the headers `WhiteElo` and `BlackElo`, or of floodgate's comments at the start of a game.
pub fn rating(headers: &Headers, comments: &[String], side: Side) -> Option<i64> {
    let (header, comment) = match side {
        Side::First => ("WhiteElo", "black_rate:"),
        Side::Second => ("BlackElo", "white_rate:"),
    };
    let number = |text: &str| {
        let whole = text.trim().split('.').next().unwrap_or_default();
        whole.parse().ok().filter(|rating| *rating > 0)
    };
    if let Some(text) = headers.get(header) {
        return number(text);
    }
    let mut lines = comments.iter().flat_map(|comment| comment.lines());
    number(lines.find_map(|line| line.trim().strip_prefix(comment))?.rsplit(':').next()?)
}

impl GameRecord {
    /// The number of plies of the main line.
    pub fn plies(&self) -> usize {
        self.node(self.last()).map_or(0, Node::ply)
    }

    /// The [`rating`] of a player.
    pub fn rating(&self, side: Side) -> Option<i64> {
        rating(&self.headers, &self.annotations(NodeId::ROOT).comments, side)
    }

    /// The opening: that of the last named position of the main line.
    #[cfg(feature = "openings")]
    pub fn opening(&self) -> Option<Opening> {
        if self.game() != Game::Chess {
            return None;
        }
        Opening::of_line(self.start(), self.mainline().map_while(|node| node.mv()?.legal()))
    }

    /// ECO code and name of the opening of the moves, or else of the headers. Names of headers differ by source and
    /// language. Without the feature `openings`, only the headers count.
    pub fn opening_names(&self) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
        #[cfg(feature = "openings")]
        let of_moves = self.opening().map(|opening| (opening.eco.into(), opening.name.into()));
        #[cfg(not(feature = "openings"))]
        let of_moves = None;
        of_moves.or_else(|| self.opening_of_headers().map(|(eco, name)| (eco.into(), name.into())))
    }

    /// ECO code and name of the opening in the headers; an unknown part is empty.
    pub fn opening_of_headers(&self) -> Option<(&str, &str)> {
        let eco = self.headers.get("ECO").unwrap_or_default();
        let name = self.header(Tag::Opening).unwrap_or_default();
        let is_known = |text: &str| !matches!(text, "" | "?");
        (is_known(eco) || is_known(name)).then_some((eco, name))
    }

    /// Whether a player is an engine, if that is recorded.
    pub fn is_engine(&self, side: Side) -> Option<bool> {
        let name = match side {
            Side::First => "WhiteType",
            Side::Second => "BlackType",
        };
        match self.headers.get(name)? {
            "program" => Some(true),
            "human" => Some(false),
            _ => None,
        }
    }

    /// What ended the game: as in the record or else by the last position.
    pub fn derived_termination(&self) -> Option<Termination> {
        self.termination().filter(|termination| *termination != Termination::Other).or_else(|| {
            let outcome = self.position().outcome();
            outcome.map(|outcome| outcome.termination).or_else(|| self.termination())
        })
    }

    /// Whether a node of the tree satisfies a condition.
    pub(super) fn any_node(&self, mut condition: impl FnMut(&Node) -> bool) -> bool {
        let mut pending = vec![NodeId::ROOT];
        while let Some(id) = pending.pop() {
            let Some(node) = self.node(id) else { continue };
            if condition(node) {
                return true;
            }
            pending.extend(self.children(id).map(Node::id));
        }
        false
    }
}
