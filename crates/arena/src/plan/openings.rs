//! Where the games of a match start.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// The openings of a match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Openings {
    /// Where they come from.
    pub source: OpeningSource,
    /// In which order they are used.
    pub order: OpeningOrder,
    /// How many are left out at the beginning of the order.
    pub skip: u64,
    /// At most so many plies of each are played. A Polyglot book needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// Who starts from the same one.
    pub policy: OpeningPolicy,
    /// How often each is used in succession: by so many pairings, meetings or rounds, as the policy
    /// counts. By default once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<NonZeroU32>,
}

/// When the next opening is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpeningPolicy {
    /// For each pairing.
    #[default]
    Pairing,
    /// Each time two engines meet: all pairings of a meeting start from the same.
    Meeting,
    /// For each round: whoever plays in it starts from the same.
    Round,
    /// Each time two engines meet, and from the first one on again after as many as there are
    /// rounds, as fastchess does it.
    Cycle,
}

/// Where openings come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OpeningSource {
    /// The start position of the game.
    #[default]
    Start,
    /// A file, which can be compressed by gzip; or a folder of KIF, KI2, CSA and JKF files, which
    /// are taken in the order of their names.
    File {
        /// Its path.
        path: String,
        /// Its format. By default its name's ending tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<BookFormat>,
    },
    /// Positions that are named by the user: FEN or SFEN.
    Positions {
        /// The texts.
        list: Vec<String>,
    },
    /// The start positions of Chess960 by their number, 0 to 959; all of them if the list is
    /// empty.
    Chess960 {
        /// The numbers.
        #[serde(default)]
        numbers: Vec<u16>,
    },
    /// Chess960 with different first ranks: White's number and Black's, all if the list is empty.
    DoubleChess960 {
        /// Pairs of numbers.
        #[serde(default)]
        numbers: Vec<(u16, u16)>,
    },
    /// A handicap of shogi, by its name.
    Handicap {
        /// The name, in English or Japanese.
        name: String,
    },
}

/// The format of a file of openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BookFormat {
    /// One position for each line, with EPD operations or FEN counters.
    Epd,
    /// The first moves of the games in a PGN file.
    Pgn,
    /// One SFEN, or one line of USI `position` with or without that word, for each line.
    Sfen,
    /// The first moves of the games in a KIF, KI2, CSA or JKF file.
    Kif,
    /// A Polyglot book, whose moves are drawn by their weights.
    Polyglot,
}

/// In which order openings are used. When all were used they start again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpeningOrder {
    /// As they stand.
    #[default]
    Sequential,
    /// By lot, with the seed of the plan; none a second time before all were used. The order is the
    /// same on every machine.
    Random,
    /// By the lot of fastchess: what it draws with the same seed, and again in the same order.
    Fastchess,
}
