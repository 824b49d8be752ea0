//! The summary of a game: what searches and lists need, in 32 bytes. All summaries are held in memory. The first 8
//! bytes are the [`Digest`], which is what the explorer needs.
//!
//! ```text
//!  0 u16 rating of the first       8 u32 name of the first player    24 u16 plies
//!  2 u16 rating of the second     12 u32 name of the second player   26 u16 opening
//!  4 u24 date                     16 u32 event                       28 u8 flags, 29 u8 termination
//!  7 u8 flags                     20 u32 hash of the moves           30 u8 speed, 31 u8 (unused)
//! flags 7: bits 0-1 result, 2-3 variant, 4-5 source, 6 (unused), 7 the game exists
//! flags 28: bits 0-1, 2-3 kind of player, 4 annotated, 5 variations, 6 custom start position, 7 edited
//! ```

use readyok_rules::record::{Date, Source, Speed};
use readyok_rules::{Game, GameResult, Side, Termination};

/// Size of a stored summary.
pub(crate) const SIZE: usize = DIGEST_SIZE + REST_SIZE;

/// Size of a stored digest.
pub(crate) const DIGEST_SIZE: usize = 8;

/// Size of the rest of a summary.
pub(crate) const REST_SIZE: usize = 24;

/// Number of a row in the table of names; 0 is an unknown name.
pub type NameId = u32;

/// What searches and lists need of a game, in 32 bytes.
#[expect(clippy::struct_excessive_bools, reason = "independent flags")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// First and second player.
    pub players: [NameId; 2],
    /// Event.
    pub event: NameId,
    /// Hash of the start position and the main line; equal for duplicates.
    pub moves_hash: u32,
    /// Ratings; 0 if unknown.
    pub ratings: [u16; 2],
    /// Date; parts can be unknown.
    pub date: Date,
    /// Length of the main line, at most 65,535.
    pub plies: u16,
    /// Number of a row in the table of openings; 0 if unknown.
    pub opening: u16,
    /// Result.
    pub result: GameResult,
    /// What ended the game, if known.
    pub termination: Option<Termination>,
    /// Chess, Chess960 or shogi.
    pub variant: Game,
    /// Origin of the game.
    pub source: Source,
    /// Whether each player is an engine; none if unknown.
    pub engines: [Option<bool>; 2],
    /// Whether there are comments, glyphs, clocks or evaluations.
    pub annotated: bool,
    /// Whether there are variations.
    pub variations: bool,
    /// Whether the start position is not that of the variant.
    pub custom_start: bool,
    /// Whether the game was changed after it was added.
    pub edited: bool,
    /// Class of the time control, if known.
    pub speed: Option<Speed>,
    /// False for a deleted game.
    pub exists: bool,
}

/// Terminations by their number in stored summaries, from 1; 0 is unknown. New ones are appended.
const TERMINATIONS: [Termination; 34] = {
    use Termination as T;
    [
        T::Checkmate,
        T::Stalemate,
        T::Repetition,
        T::FivefoldRepetition,
        T::PerpetualCheck,
        T::FiftyMoveRule,
        T::SeventyFiveMoveRule,
        T::InsufficientMaterial,
        T::DeadPosition,
        T::MoveLimit,
        T::Declaration,
        T::FailedDeclaration,
        T::Impasse,
        T::TryRule,
        T::Resignation,
        T::DrawAgreement,
        T::TimeForfeit,
        T::TimeoutInsufficientMaterial,
        T::IllegalMove,
        T::Forfeit,
        T::Adjudication,
        T::DrawAdjudication,
        T::ResignAdjudication,
        T::MateAdjudication,
        T::TablebaseAdjudication,
        T::EngineFailure,
        T::EngineCrash,
        T::EngineStall,
        T::EngineStartFailure,
        T::Aborted,
        T::NoMate,
        T::TakeBack,
        T::Error,
        T::Other,
    ]
};

pub(crate) fn termination_code(termination: Option<Termination>) -> u8 {
    let code = TERMINATIONS.iter().zip(1..).find(|(known, _)| Some(**known) == termination);
    code.map_or(0, |(_, code)| code)
}

pub(crate) fn termination_of(code: u8) -> Option<Termination> {
    TERMINATIONS.get(usize::from(code).wrapping_sub(1)).copied()
}

pub(crate) fn result_code(result: GameResult) -> u8 {
    match result {
        GameResult::Unknown => 0,
        GameResult::Win(Side::First) => 1,
        GameResult::Win(Side::Second) => 2,
        GameResult::Draw => 3,
    }
}

/// The result of a code in the lowest two bits.
#[inline]
pub(crate) fn result_of(code: u8) -> GameResult {
    match code & 3 {
        0 => GameResult::Unknown,
        1 => GameResult::Win(Side::First),
        2 => GameResult::Win(Side::Second),
        _ => GameResult::Draw,
    }
}

fn is_indexed(source: Source, result: GameResult) -> bool {
    source != Source::Play || result != GameResult::Unknown
}

impl Summary {
    /// Whether the game is found by its positions. Games that were begun in the app and have no result are not: an
    /// analysis would find itself.
    #[must_use]
    pub fn is_indexed(&self) -> bool {
        is_indexed(self.source, self.result)
    }

    /// An empty game.
    #[must_use]
    pub fn new(variant: Game, source: Source) -> Self {
        Self {
            players: [0; 2],
            event: 0,
            moves_hash: 0,
            ratings: [0; 2],
            date: Date::default(),
            plies: 0,
            opening: 0,
            result: GameResult::Unknown,
            termination: None,
            variant,
            source,
            engines: [None; 2],
            annotated: false,
            variations: false,
            custom_start: false,
            edited: false,
            speed: None,
            exists: true,
        }
    }

    pub(crate) fn to_bytes(self) -> [u8; SIZE] {
        let mut out = [0; SIZE];
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            out[at..at + bytes.len()].copy_from_slice(bytes);
            at += bytes.len();
        };
        let variant = match self.variant {
            Game::Chess => 0,
            Game::Chess960 => 1,
            Game::Shogi => 2,
        };
        let source = match self.source {
            Source::Play => 0,
            Source::Import => 1,
            Source::Match => 2,
        };
        let kind = |engine: Option<bool>| engine.map_or(0, |is_engine| 1 + u8::from(is_engine));
        let flags = |bits: [bool; 4]| {
            bits.into_iter().zip(4..).fold(0, |flags, (bit, at)| flags | u8::from(bit) << at)
        };
        let speed = Speed::ALL.iter().zip(1..).find(|(known, _)| Some(**known) == self.speed);
        put(&self.ratings[0].to_le_bytes());
        put(&self.ratings[1].to_le_bytes());
        put(&self.date.to_bits().to_le_bytes()[..3]);
        put(&[result_code(self.result) | variant << 2 | source << 4 | u8::from(self.exists) << 7]);
        for id in [self.players[0], self.players[1], self.event, self.moves_hash] {
            put(&id.to_le_bytes());
        }
        put(&self.plies.to_le_bytes());
        put(&self.opening.to_le_bytes());
        put(&[
            kind(self.engines[0])
                | kind(self.engines[1]) << 2
                | flags([self.annotated, self.variations, self.custom_start, self.edited]),
            termination_code(self.termination),
            speed.map_or(0, |(_, code)| code),
        ]);
        out
    }

    pub(crate) fn from_bytes(bytes: &[u8; SIZE]) -> Self {
        let (digest, rest) = split(bytes);
        Raw::new(digest, &rest).summary()
    }
}

/// The digest and the rest of a stored summary.
pub(crate) fn split(bytes: &[u8; SIZE]) -> (Digest, [u8; REST_SIZE]) {
    let (mut digest, mut rest) = ([0; DIGEST_SIZE], [0; REST_SIZE]);
    digest.copy_from_slice(&bytes[..DIGEST_SIZE]);
    rest.copy_from_slice(&bytes[DIGEST_SIZE..]);
    (Digest::from_bytes(digest), rest)
}

/// A stored summary, decoded field by field: scans of all games need few of them. Any bytes are valid: unknown codes
/// are read as unknown values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Raw<'a> {
    digest: Digest,
    rest: &'a [u8; REST_SIZE],
}

impl<'a> Raw<'a> {
    #[inline]
    pub(crate) fn new(digest: Digest, rest: &'a [u8; REST_SIZE]) -> Self {
        Self { digest, rest }
    }

    #[inline]
    fn u16_at(self, at: usize) -> u16 {
        u16::from_le_bytes([self.rest[at], self.rest[at + 1]])
    }

    #[inline]
    fn u32_at(self, at: usize) -> u32 {
        u32::from(self.u16_at(at)) | u32::from(self.u16_at(at + 2)) << 16
    }

    #[inline]
    pub(crate) fn exists(self) -> bool {
        self.digest.exists()
    }

    #[inline]
    pub(crate) fn players(self) -> [NameId; 2] {
        [self.u32_at(0), self.u32_at(4)]
    }

    #[inline]
    pub(crate) fn event(self) -> NameId {
        self.u32_at(8)
    }

    #[inline]
    pub(crate) fn moves_hash(self) -> u32 {
        self.u32_at(12)
    }

    #[inline]
    pub(crate) fn ratings(self) -> [u16; 2] {
        self.digest.ratings()
    }

    #[inline]
    pub(crate) fn date(self) -> Date {
        self.digest.date()
    }

    #[inline]
    pub(crate) fn plies(self) -> u16 {
        self.u16_at(16)
    }

    #[inline]
    pub(crate) fn opening(self) -> u16 {
        self.u16_at(18)
    }

    #[inline]
    pub(crate) fn result(self) -> GameResult {
        self.digest.result()
    }

    #[inline]
    pub(crate) fn variant(self) -> Game {
        match self.digest.flags() >> 2 & 3 {
            1 => Game::Chess960,
            2 => Game::Shogi,
            _ => Game::Chess,
        }
    }

    #[inline]
    pub(crate) fn source(self) -> Source {
        match self.digest.flags() >> 4 & 3 {
            0 => Source::Play,
            2 => Source::Match,
            _ => Source::Import,
        }
    }

    #[inline]
    pub(crate) fn engines(self) -> [Option<bool>; 2] {
        [self.rest[20] & 3, self.rest[20] >> 2 & 3].map(|kind| (kind > 0).then_some(kind > 1))
    }

    #[inline]
    pub(crate) fn termination(self) -> Option<Termination> {
        termination_of(self.rest[21])
    }

    #[inline]
    pub(crate) fn speed(self) -> Option<Speed> {
        Speed::ALL.get(usize::from(self.rest[22]).wrapping_sub(1)).copied()
    }

    #[inline]
    fn flag(self, bit: u8) -> bool {
        self.rest[20] & 1 << bit != 0
    }

    pub(crate) fn is_edited(self) -> bool {
        self.flag(7)
    }

    /// Whether there are comments, glyphs, clocks or evaluations.
    pub(crate) fn is_annotated(self) -> bool {
        self.flag(4)
    }

    pub(crate) fn has_variations(self) -> bool {
        self.flag(5)
    }

    /// Equal to [`Summary::is_indexed`].
    pub(crate) fn is_indexed(self) -> bool {
        is_indexed(self.source(), self.result())
    }

    pub(crate) fn summary(self) -> Summary {
        Summary {
            players: self.players(),
            event: self.event(),
            moves_hash: self.moves_hash(),
            ratings: self.ratings(),
            date: self.date(),
            plies: self.plies(),
            opening: self.opening(),
            result: self.result(),
            termination: self.termination(),
            variant: self.variant(),
            source: self.source(),
            engines: self.engines(),
            annotated: self.is_annotated(),
            variations: self.has_variations(),
            custom_start: self.flag(6),
            edited: self.flag(7),
            speed: self.speed(),
            exists: self.exists(),
        }
    }
}

/// What the explorer needs of a summary, in 8 bytes: ratings, date, result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Digest(u64);

impl Digest {
    #[inline]
    pub(crate) fn from_bytes(bytes: [u8; DIGEST_SIZE]) -> Self {
        Self(u64::from_le_bytes(bytes))
    }

    pub(crate) fn to_bytes(self) -> [u8; DIGEST_SIZE] {
        self.0.to_le_bytes()
    }

    #[inline]
    fn flags(self) -> u8 {
        self.to_bytes()[7]
    }

    #[inline]
    pub(crate) fn exists(self) -> bool {
        self.0 & 1 << 63 != 0
    }

    #[inline]
    pub(crate) fn result(self) -> GameResult {
        result_of(self.flags())
    }

    #[inline]
    pub(crate) fn ratings(self) -> [u16; 2] {
        let [a, b, c, d, ..] = self.to_bytes();
        [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])]
    }

    #[inline]
    pub(crate) fn date(self) -> Date {
        let [.., a, b, c, _] = self.to_bytes();
        Date::from_bits(u32::from_le_bytes([a, b, c, 0]))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_a_summary_that_is_stored_again(bytes: [u8; SIZE]) {
            let summary = Summary::from_bytes(&bytes);
            prop_assert_eq!(Summary::from_bytes(&summary.to_bytes()), summary);
            let (digest, _) = split(&bytes);
            prop_assert_eq!((digest.result(), digest.date()), (summary.result, summary.date));
            prop_assert_eq!((digest.ratings(), digest.exists()), (summary.ratings, summary.exists));
        }
    }

    #[test]
    fn the_bytes_do_not_change() {
        let summary = Summary {
            players: [1, 0x0102_0304],
            event: 7,
            moves_hash: 0xDEAD_BEEF,
            ratings: [2800, 0],
            date: Date::new(2026, 11, 25).expect("a date"),
            plies: 84,
            opening: 300,
            result: GameResult::Win(Side::Second),
            termination: Some(Termination::Resignation),
            engines: [Some(true), Some(false)],
            annotated: true,
            edited: true,
            speed: Some(Speed::Blitz),
            ..Summary::new(Game::Shogi, Source::Match)
        };
        let expected = [
            0xF0, 0x0A, 0, 0, 0x79, 0xD5, 0x0F, 0xAA, 1, 0, 0, 0, 4, 3, 2, 1, 7, 0, 0, 0, 0xEF,
            0xBE, 0xAD, 0xDE, 84, 0, 44, 1, 0x96, 15, 2, 0,
        ];
        assert_eq!(summary.to_bytes(), expected);
        assert_eq!(Summary::from_bytes(&expected), summary);
    }

    #[test]
    fn terminations_have_distinct_codes() {
        let codes: HashSet<u8> =
            Termination::ALL.iter().map(|known| termination_code(Some(*known))).collect();
        assert_eq!(codes.len(), Termination::ALL.len());
        for termination in Termination::ALL {
            assert_eq!(termination_of(termination_code(Some(*termination))), Some(*termination));
        }
        assert_eq!(termination_of(0), None);
    }
}
