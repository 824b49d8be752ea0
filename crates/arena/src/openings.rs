//! Where games start: openings from files, lists and numbers, one at a time.
//!
//! ```text
//! number of an opening ──> place in the order ──> entry of the source ──> checked by the rules
//!                          (without bad ones)     (sequential, by lot)
//! ```
//!
//! A file is read as its openings are needed and never held in memory, whatever its size.

mod entries;
mod error;
mod fastchess;
mod marks;
mod permutation;
mod polyglot;
mod read;
mod records;
mod source;

use std::num::NonZeroU64;

use readyok_rules::{EndRules, Game};

pub use error::{OpeningError, OpeningFault, Skipped};

use crate::pairing::Opening;
use crate::plan::{OpeningOrder, Openings};
use crate::rng;
use fastchess::Shuffle;
use permutation::Permutation;
use source::Source;

/// The openings of a plan, by their number in the order in which they are used.
///
/// An opening that cannot be played is left out of the order and reported. The same plan gives the
/// same openings on every machine, as long as the file is the same.
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
    /// The order of one time through the source.
    shuffled: Option<(u64, Permutation)>,
    /// The order that fastchess draws.
    drawn: Option<Shuffle>,
    /// The places in the order that have been looked at are those before this one…
    seen: u64,
    /// …of which these have no playable opening; rising.
    bad: Vec<u64>,
    skipped: Skipped,
    last: Option<(u64, Opening)>,
}

/// So many bad lines of a Polyglot book in succession are enough.
const MOST_FAILURES: u64 = 1000;

impl Book {
    /// Opens the openings of a plan. No opening is read yet.
    ///
    /// # Errors
    /// The source is not there, or not for this game, or the plan lacks something that it needs.
    pub fn open(game: Game, openings: &Openings, seed: u64) -> Result<Self, OpeningError> {
        Ok(Self {
            source: Source::open(game, openings, seed)?,
            order: openings.order,
            skip: openings.skip,
            seed,
            shuffled: None,
            drawn: None,
            seen: 0,
            bad: Vec::new(),
            skipped: Skipped::default(),
            last: None,
        })
    }

    /// Leaves out what is over by these rules, instead of by [`EndRules::BOARD`].
    #[must_use]
    pub fn with_end_rules(mut self, rules: EndRules) -> Self {
        self.source = self.source.with_end_rules(rules);
        self
    }

    /// An opening by its number in the order, from 0 on. After the last one the first follows
    /// again, in a new order if it is by lot.
    ///
    /// To ask for a later number than ever before reads all openings up to it, as any of them may
    /// have to be left out.
    ///
    /// # Errors
    /// The source cannot be read, or none of its openings can be played.
    pub fn get(&mut self, number: u64) -> Result<Opening, OpeningError> {
        if let Some((_, opening)) = self.last.as_ref().filter(|(last, _)| *last == number) {
            return Ok(opening.clone());
        }
        let opening = if number < self.good() { self.again(number)? } else { self.on(number)? };
        self.last = Some((number, opening.clone()));
        Ok(opening)
    }

    /// An opening by its number in an order that ends after the first so many.
    pub(crate) fn get_of(&mut self, number: u64, most: u64) -> Result<Opening, OpeningError> {
        let source = &mut self.source;
        if number >= most && (source.is_endless() || source.count()?.get() >= most) {
            return self.get(number % most.max(1));
        }
        self.get(number)
    }

    /// What was left out since this was last asked. Only the first time through the source is
    /// reported.
    pub fn take_skipped(&mut self) -> Skipped {
        std::mem::take(&mut self.skipped)
    }

    /// How many of the places that were looked at have an opening.
    fn good(&self) -> u64 {
        self.seen - self.bad.len() as u64
    }

    /// An opening that was seen already.
    fn again(&mut self, number: u64) -> Result<Opening, OpeningError> {
        let before =
            self.bad.iter().zip(0..).take_while(|&(&place, index)| place - index <= number);
        let place = number + before.count() as u64;
        let opening = self.at(place)?;
        opening.ok_or_else(|| OpeningError::in_plan(OpeningFault::Empty))
    }

    /// Goes on to an opening that was not seen yet.
    fn on(&mut self, number: u64) -> Result<Opening, OpeningError> {
        let mut failures: u64 = 0;
        loop {
            let place = self.seen;
            match self.at(place) {
                // The end of the source, which is known now.
                Ok(None) => {
                    self.source.count()?;
                }
                Ok(Some(opening)) => {
                    failures = 0;
                    self.seen += 1;
                    if self.good() > number {
                        return Ok(opening);
                    }
                }
                Err(error) if error.is_of_source() => return Err(error),
                Err(error) => {
                    failures += 1;
                    let count = self.source.known_count();
                    if failures >= self.enough_failures(count) {
                        return Err(error.and_all_others(count.map_or(failures, NonZeroU64::get)));
                    }
                    self.seen += 1;
                    self.bad.push(place);
                    if count.is_none_or(|count| place < count.get()) {
                        self.skipped.add(error);
                    }
                }
            }
        }
    }

    /// After so many bad openings in succession there is no good one.
    fn enough_failures(&self, count: Option<NonZeroU64>) -> u64 {
        match (count, self.order) {
            (None, _) if self.source.is_endless() => MOST_FAILURES,
            (None, _) => u64::MAX,
            (Some(count), OpeningOrder::Sequential | OpeningOrder::Fastchess) => count.get(),
            // A good one can be the first of one order and the last of the next.
            (Some(count), OpeningOrder::Random) => count.get().saturating_mul(2).saturating_sub(1),
        }
    }

    /// The opening at a place in the order; none past the end of a source that was not known.
    fn at(&mut self, place: u64) -> Result<Option<Opening>, OpeningError> {
        let place = place.checked_add(self.skip).unwrap_or(place);
        let entry = match self.order {
            OpeningOrder::Sequential => match self.source.known_count() {
                Some(count) => place % count,
                None => place,
            },
            // A line of a Polyglot book is drawn by lot in any order.
            OpeningOrder::Random | OpeningOrder::Fastchess if self.source.is_endless() => place,
            OpeningOrder::Random => {
                let count = self.source.count()?;
                self.permutation(place / count, count).at(place % count)
            }
            OpeningOrder::Fastchess => {
                let count = self.source.count()?;
                let drawn = self.drawn.get_or_insert_with(|| Shuffle::new(count, self.seed));
                drawn.at(place % count)
            }
        };
        self.source.opening(entry)
    }

    /// The order of the time `pass` through the source.
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
