//! Openings from files, lists and numbers, one at a time.
//!
//! ```text
//! number of an opening ──> index in the order ──> entry of the source ──> validated by the rules
//!                          (valid ones only)      (sequential, random)
//! ```
//!
//! Files are read on demand and are never loaded into memory.

mod entries;
mod records;
mod shuffle;
mod source;

use std::num::NonZeroU64;
use std::{fmt, io};

use readyok_rules::record::RecordErrorKind;
use readyok_rules::{EndRules, EpdError, Game, Handicap, LineError, PositionError, Termination};
use serde::{Deserialize, Serialize};

use crate::openings::shuffle::{FastchessOrder, Permutation};
use crate::openings::source::Source;
use crate::pairing::Opening;
use crate::plan::{OpeningOrder, Openings};
use crate::rng;

/// The openings of a plan in the order of their use.
///
/// Invalid openings are skipped and reported. The same plan and the same file result in the same openings on every
/// host.
///
/// ```
/// use readyok_arena::openings::Book;
/// use readyok_arena::plan::{OpeningSource, Openings};
/// use readyok_rules::{EndRules, Game};
///
/// let source = OpeningSource::Chess960 { numbers: vec![518, 0] };
/// let mut book = Book::open(Game::Chess960, &Openings { source, ..Openings::default() }, 1)?;
/// assert_eq!(book.get(0)?.name.as_deref(), Some("Chess960 518"));
/// assert_eq!(book.get(2)?, book.get(0)?);
/// # Ok::<(), readyok_arena::openings::OpeningError>(())
/// ```
#[derive(Debug)]
pub struct Book {
    source: Source,
    order: OpeningOrder,
    skip: u64,
    seed: u64,
    /// The random order of one pass through the source.
    shuffled: Option<(u64, Permutation)>,
    fastchess_order: Option<FastchessOrder>,
    /// The number of indices that were validated.
    seen: u64,
    /// Those of them without a valid opening, ascending.
    invalid: Vec<u64>,
    skipped: Skipped,
    last: Option<(u64, Opening)>,
}

/// Maximum number of consecutive invalid lines of a Polyglot book.
const MAX_FAILURES: u64 = 1000;

impl Book {
    /// Opens the source of a plan. No opening is read yet.
    ///
    /// # Errors
    /// The source cannot be opened or is not for this game, or the plan lacks a required field.
    pub fn open(game: Game, openings: &Openings, seed: u64) -> Result<Self, OpeningError> {
        Ok(Self {
            source: Source::open(game, openings, seed)?,
            order: openings.order,
            skip: openings.skip,
            seed,
            shuffled: None,
            fastchess_order: None,
            seen: 0,
            invalid: Vec::new(),
            skipped: Skipped::default(),
            last: None,
        })
    }

    /// Skips openings after which the game is over by these rules, instead of by [`EndRules::BOARD`].
    #[must_use]
    pub fn with_end_rules(mut self, rules: EndRules) -> Self {
        self.source = self.source.with_end_rules(rules);
        self
    }

    /// An opening by its number in the order, counted from 0. After the last one the order repeats; a random order is
    /// shuffled again.
    ///
    /// The first request of a number reads all openings before it, since any of them may be invalid.
    ///
    /// # Errors
    /// The source cannot be read, or none of its openings is valid.
    pub fn get(&mut self, number: u64) -> Result<Opening, OpeningError> {
        if let Some((_, opening)) = self.last.as_ref().filter(|(last, _)| *last == number) {
            return Ok(opening.clone());
        }
        let opening =
            if number < self.valid() { self.seen(number)? } else { self.advance_to(number)? };
        self.last = Some((number, opening.clone()));
        Ok(opening)
    }

    /// An opening by its number in an order that repeats after `cycle` openings.
    pub(crate) fn get_in_cycle(
        &mut self,
        number: u64,
        cycle: u64,
    ) -> Result<Opening, OpeningError> {
        let source = &mut self.source;
        if number >= cycle && (source.is_infinite() || source.count()?.get() >= cycle) {
            return self.get(number % cycle.max(1));
        }
        self.get(number)
    }

    /// The openings skipped since the last call. Only those of the first pass are reported.
    pub fn take_skipped(&mut self) -> Skipped {
        std::mem::take(&mut self.skipped)
    }

    /// The number of valid openings so far.
    fn valid(&self) -> u64 {
        self.seen - self.invalid.len() as u64
    }

    /// An opening that was validated before.
    fn seen(&mut self, number: u64) -> Result<Opening, OpeningError> {
        let before =
            self.invalid.iter().zip(0..).take_while(|&(&index, count)| index - count <= number);
        let index = number + before.count() as u64;
        let opening = self.at(index)?;
        opening.ok_or_else(|| OpeningError::in_plan(OpeningDefect::NoOpenings))
    }

    /// Validates openings up to this one.
    fn advance_to(&mut self, number: u64) -> Result<Opening, OpeningError> {
        let mut failures: u64 = 0;
        loop {
            let index = self.seen;
            match self.at(index) {
                // The end of the source was reached.
                Ok(None) => {
                    self.source.count()?;
                }
                Ok(Some(opening)) => {
                    failures = 0;
                    self.seen += 1;
                    if self.valid() > number {
                        return Ok(opening);
                    }
                }
                Err(error) if error.is_of_source() => return Err(error),
                Err(error) => {
                    failures += 1;
                    let count = self.source.known_count();
                    if failures >= self.max_failures(count) {
                        return Err(error.for_all(count.map_or(failures, NonZeroU64::get)));
                    }
                    self.seen += 1;
                    self.invalid.push(index);
                    if count.is_none_or(|count| index < count.get()) {
                        self.skipped.add(error);
                    }
                }
            }
        }
    }

    /// After this number of consecutive invalid openings there is no valid one.
    fn max_failures(&self, count: Option<NonZeroU64>) -> u64 {
        match (count, self.order) {
            (None, _) if self.source.is_infinite() => MAX_FAILURES,
            (None, _) => u64::MAX,
            (Some(count), OpeningOrder::Sequential | OpeningOrder::Fastchess) => count.get(),
            // The only valid one can be the first of one order and the last of the next.
            (Some(count), OpeningOrder::Random) => count.get().saturating_mul(2).saturating_sub(1),
        }
    }

    /// The opening at an index of the order; `None` at the end of a source whose size was unknown.
    fn at(&mut self, index: u64) -> Result<Option<Opening>, OpeningError> {
        let index = index.checked_add(self.skip).unwrap_or(index);
        let entry = match self.order {
            OpeningOrder::Sequential => match self.source.known_count() {
                Some(count) => index % count,
                None => index,
            },
            // Lines of a Polyglot book are random in any order.
            OpeningOrder::Random | OpeningOrder::Fastchess if self.source.is_infinite() => index,
            OpeningOrder::Random => {
                let count = self.source.count()?;
                self.permutation(index / count, count).at(index % count)
            }
            OpeningOrder::Fastchess => {
                let count = self.source.count()?;
                let create = || FastchessOrder::new(count, self.seed);
                self.fastchess_order.get_or_insert_with(create).at(index % count)
            }
        };
        self.source.opening(entry)
    }

    /// The order of a pass through the source.
    fn permutation(&mut self, pass: u64, count: NonZeroU64) -> Permutation {
        match self.shuffled {
            Some((known, permutation)) if known == pass => permutation,
            _ => {
                let permutation = Permutation::new(count, rng::number(self.seed, pass));
                self.shuffled = Some((pass, permutation));
                permutation
            }
        }
    }
}

/// An opening or a source of openings that cannot be used.
#[derive(Debug)]
pub struct OpeningError {
    /// The file; `None` if the openings are listed in the plan.
    pub path: Option<String>,
    /// The line of the file, counted from 1.
    pub line: Option<u64>,
    /// The reason.
    pub fault: OpeningFault,
}

readyok_protocol::errors! {
    /// The reason why an opening or a source of openings cannot be used.
    #[derive(Debug)]
    #[non_exhaustive]
    pub enum OpeningFault {
        /// No opening can be used.
        AllBad {
            count: u64 = all_of(*count),
            /// The reason of the last one.
            last: Box<Self>,
        } => "{count} invalid: {last}",
    }
    wraps {
        Io(io::Error),
        Position(PositionError),
        Epd(EpdError),
        Moves(LineError),
        Record(RecordErrorKind),
        Defect(OpeningDefect),
    }
}

readyok_protocol::errors! {
    /// A defect of openings that concerns neither a position nor a record.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    #[serde(tag = "code", rename_all = "snake_case")]
    pub enum OpeningDefect {
        BookRequiresPlies => "a Polyglot book needs `plies`",
        NotPolyglot {
            /// The size of the file.
            bytes: u64,
        } => "a Polyglot book has entries of 16 bytes, but the file has {bytes} bytes",
        UnknownExtension => "unknown file extension; specify the format",
        /// A directory cannot be a source of chess openings.
        IsADirectory => "the path is a directory",
        OpeningsOfOtherVariant {
            /// The game of the plan.
            variant: Game = english_name(*variant),
        } => "openings of this kind are not for {variant}",
        NoOpenings => "there are no openings",
        DecompressedTooLarge { limit: u64 } => "the decompressed file has more than {limit} bytes",
        OpeningTooLong { limit: usize } => "the opening has more than {limit} bytes",
        NotUtf8 => "the opening is not valid UTF-8",
        /// A shogi record without a start position, like a file that is not a record.
        NoMoves => "the record has no moves",
        OpeningOver { termination: Termination = termination.text() } =>
            "the game is already over ({termination})",
        InvalidStartNumber { number: u16 } => "Chess960 has no start position {number}, only 0 to 959",
        UnknownHandicap {
            name: String,
            /// All handicaps.
            names: String,
        } => "shogi has no handicap `{name}`, only {names}",
    }
}

fn all_of(count: u64) -> String {
    if count == 1 { "the only opening is".to_owned() } else { format!("all {count} openings are") }
}

fn english_name(game: Game) -> &'static str {
    match game {
        Game::Chess => "chess",
        Game::Chess960 => "Chess960",
        Game::Shogi => "shogi",
    }
}

impl OpeningDefect {
    fn handicap(name: &str) -> Self {
        let names = Handicap::ALL.map(Handicap::name).join(", ");
        Self::UnknownHandicap { name: name.to_owned(), names }
    }
}

/// Openings that were skipped.
#[derive(Debug, Default)]
pub struct Skipped {
    /// The first errors.
    pub errors: Vec<OpeningError>,
    /// The number of further errors.
    pub more: u64,
}

impl Skipped {
    const MAX_ERRORS: usize = 100;

    /// Whether no opening was skipped.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    fn add(&mut self, error: OpeningError) {
        if self.errors.len() < Self::MAX_ERRORS {
            self.errors.push(error);
        } else {
            self.more += 1;
        }
    }
}

impl OpeningError {
    fn in_plan(fault: impl Into<OpeningFault>) -> Self {
        Self { path: None, line: None, fault: fault.into() }
    }

    fn in_file(path: &str, fault: impl Into<OpeningFault>) -> Self {
        Self { path: Some(path.to_owned()), line: None, fault: fault.into() }
    }

    /// Whether the source is unusable, not only a single opening.
    fn is_of_source(&self) -> bool {
        match &self.fault {
            OpeningFault::Io(_) | OpeningFault::AllBad { .. } => true,
            OpeningFault::Defect(defect) => matches!(
                defect,
                OpeningDefect::UnknownExtension
                    | OpeningDefect::IsADirectory
                    | OpeningDefect::BookRequiresPlies
                    | OpeningDefect::NotPolyglot { .. }
                    | OpeningDefect::NoOpenings
                    | OpeningDefect::DecompressedTooLarge { .. }
            ),
            OpeningFault::Position(_)
            | OpeningFault::Epd(_)
            | OpeningFault::Moves(_)
            | OpeningFault::Record(_) => false,
        }
    }

    /// Applies the error to all openings.
    fn for_all(self, count: u64) -> Self {
        let fault = OpeningFault::AllBad { count, last: Box::new(self.fault) };
        Self { fault, ..self }
    }
}

impl fmt::Display for OpeningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.line) {
            (Some(path), Some(line)) => write!(f, "{path}, line {line}: ")?,
            (Some(path), None) => write!(f, "{path}: ")?,
            (None, _) => f.write_str("openings: ")?,
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for OpeningError {}
