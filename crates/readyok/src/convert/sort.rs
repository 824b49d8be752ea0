//! Sorting games without holding them in memory.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use clap::ValueEnum;
use readyok_rules::record::{GameRecord, PlayerColor, Tag};
use readyok_rules::{GameResult, Side};

use super::output::Rendered;

/// A property by which games are sorted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum SortKey {
    Date,
    White,
    Black,
    Event,
    Site,
    Round,
    Eco,
    /// The average rating of the players
    Rating,
    Plies,
    Result,
}

/// An order of games.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) keys: Vec<SortKey>,
    pub(crate) is_descending: bool,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Value {
    Number(i64),
    Text(String),
}

/// The values of a game; `None` if it lacks one.
type Values = Vec<Option<Value>>;

impl SortKey {
    fn of(self, record: &GameRecord) -> Option<Value> {
        let text = |text: &str| Value::Text(text.to_lowercase());
        let player = |color: PlayerColor| record.player(color.side(record.game())).map(text);
        match self {
            Self::Date => {
                // Dates of shogi have other separators and a time of day.
                let date = record.date_text()?;
                Some(Value::Text(date.replace(['/', '-'], ".").replace('?', "0")))
            }
            Self::White => player(PlayerColor::White),
            Self::Black => player(PlayerColor::Black),
            Self::Event => record.header(Tag::Event).map(text),
            Self::Site => record.header(Tag::Site).map(text),
            Self::Round => record.header(Tag::Round).map(round),
            Self::Eco => record.opening_names().map(|(eco, _)| text(&eco)),
            Self::Rating => average_rating(record).map(Value::Number),
            Self::Plies => i64::try_from(record.plies()).ok().map(Value::Number),
            Self::Result => match record.result {
                GameResult::Win(Side::First) => Some(Value::Number(0)),
                GameResult::Draw => Some(Value::Number(1)),
                GameResult::Win(Side::Second) => Some(Value::Number(2)),
                GameResult::Unknown => None,
            },
        }
    }
}

/// The average rating of the players, or the rating of the only one that has a rating.
pub(super) fn average_rating(record: &GameRecord) -> Option<i64> {
    let ratings: Vec<i64> = Side::BOTH.into_iter().filter_map(|side| record.rating(side)).collect();
    let count = i64::try_from(ratings.len()).ok().filter(|count| *count > 0)?;
    Some(ratings.iter().sum::<i64>() / count)
}

/// `3` and `3.12` as numbers, so that round 10 follows round 9.
fn round(text: &str) -> Value {
    let mut parts = text.split('.').map(|part| part.trim().parse::<i64>().ok());
    match (parts.next().flatten(), parts.next()) {
        (Some(round), None) => Value::Number(round.saturating_mul(100_000)),
        (Some(round), Some(Some(board))) => {
            Value::Number(round.saturating_mul(100_000).saturating_add(board))
        }
        _ => Value::Text(text.to_lowercase()),
    }
}

impl Order {
    fn values(&self, record: &GameRecord) -> Values {
        self.keys.iter().map(|key| key.of(record)).collect()
    }

    /// Games that lack a value are last in either direction.
    fn compare(&self, left: &Values, right: &Values) -> Ordering {
        for pair in left.iter().zip(right) {
            let order = match pair {
                (Some(left), Some(right)) if self.is_descending => right.cmp(left),
                (Some(left), Some(right)) => left.cmp(right),
                (left, right) => left.is_none().cmp(&right.is_none()),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }
}

/// Games in a temporary file, with their sort values in memory.
pub(super) struct Spool {
    order: Order,
    file: BufWriter<File>,
    offset: u64,
    entries: Vec<Entry>,
}

struct Entry {
    values: Values,
    offset: u64,
    length: usize,
    /// The game without its bytes.
    game: Rendered,
}

impl Spool {
    pub(super) fn new(order: Order) -> io::Result<Self> {
        let file = BufWriter::new(tempfile::tempfile()?);
        Ok(Self { order, file, offset: 0, entries: Vec::new() })
    }

    pub(super) fn add(&mut self, record: &GameRecord, mut game: Rendered) -> io::Result<()> {
        let bytes = std::mem::take(&mut game.bytes);
        self.file.write_all(&bytes)?;
        let (offset, length) = (self.offset, bytes.len());
        self.offset += length as u64;
        self.entries.push(Entry { values: self.order.values(record), offset, length, game });
        Ok(())
    }

    /// Calls a function for the games in order, until it returns false.
    pub(super) fn drain(
        self,
        mut write: impl FnMut(Rendered) -> io::Result<bool>,
    ) -> io::Result<()> {
        let Self { order, file, mut entries, .. } = self;
        let mut file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        entries.sort_by(|left, right| order.compare(&left.values, &right.values));
        for Entry { offset, length, mut game, .. } in entries {
            game.bytes = vec![0; length];
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(&mut game.bytes)?;
            if !write(game)? {
                break;
            }
        }
        Ok(())
    }
}
