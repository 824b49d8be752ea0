//! The tournament format, the openings, the adjudication and the sequential test of a match.

use std::num::NonZeroU32;

use readyok_rules::{EndRules, Impasse as ImpasseRule};
use serde::{Deserialize, Serialize};

use crate::stats::{Model, Sprt, SprtError};

/// The tournament format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "PlanFormat"))]
pub enum Format {
    /// All engines play each other, by the circle method (Berger tables). With two engines this is
    /// a head-to-head match.
    #[default]
    RoundRobin,
    /// The first engines play all others and each other.
    Gauntlet {
        /// Number of engines under test, from the start of the list.
        #[serde(default = "one")]
        seeds: u32,
    },
    /// Each engine plays all engines before it in the list. The games of one engine are a round.
    Pyramid,
    /// Single elimination. The order of the list is the seeding: the first two engines can only
    /// play each other in the final. The first ones have byes if the number of engines is not a
    /// power of two. The bracket determines the number of rounds, so `rounds` must be 1.
    Knockout {
        /// How many times a tied match is replayed, each time with the same number of games.
        #[serde(default = "one")]
        replays: u32,
        /// The tie-break after the replays.
        #[serde(default)]
        tie: KnockoutTie,
    },
    /// Each round pairs engines with similar scores that have not played each other. The engine
    /// left over has a bye, which counts as winning all games of the round. No engine has a second
    /// bye before all have had one.
    Swiss,
    /// The first engine is the base, and the others are takes of one idea: see [`Takes`]. An encounter
    /// is a batch of one take, and the sequential test, which is required, ends the match.
    ///
    /// [`Takes`]: crate::takes::Takes
    Takes,
}

/// The order of the encounters of a round robin or gauntlet, and the color of single games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum PairingOrder {
    /// Berger tables.
    ///
    /// No engine plays twice in a round of a round robin.
    #[default]
    Berger,
    /// As fastchess: the first engine plays all engines after it, then the second does.
    ///
    /// All of that is one round. The colors of single games alternate between pairings.
    Fastchess,
}

impl PairingOrder {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The winner of a knockout match that is tied after all replays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum KnockoutTie {
    /// The engine that is first in the list.
    #[default]
    HigherSeed,
    /// A random engine.
    ///
    /// It depends on the seed of the plan.
    Random,
}

pub(super) fn one() -> u32 {
    1
}

/// Number of games from one opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GamesPerPairing {
    /// One. [`Colors`] determines who has the first move.
    One,
    /// Two with reversed colors, which cancels the bias of the opening.
    #[default]
    Two,
}

/// The assignment of colors.
///
/// The engine that is earlier in the list begins the first of two games. Colors of single games are
/// balanced: they alternate between encounters of the same engines. Otherwise they follow the Berger
/// tables in a round robin and alternate between the opponents of a gauntlet. In a Swiss
/// tournament the engine with fewer first moves begins, in a knockout the higher seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Colors {
    /// The engine that is earlier in the list always has the first move. It requires pairs of one
    /// game, or [`PairingOrder::Fastchess`], which has pairs with equal colors.
    pub fixed: bool,
    /// All colors are reversed.
    pub reversed: bool,
}

/// The openings of a match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Openings {
    /// The source.
    pub source: OpeningSource,
    /// The order of use.
    pub order: OpeningOrder,
    /// Number of openings to skip at the start of the order.
    pub skip: u64,
    /// Maximum number of plies of each opening. Required for a Polyglot book.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plies: Option<u32>,
    /// When the next opening is used.
    pub policy: OpeningPolicy,
    /// Number of consecutive uses of each opening, in units of the policy. The default is 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<NonZeroU32>,
}

/// When the next opening is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum OpeningPolicy {
    /// For each game pair.
    #[default]
    Pairing,
    /// For each encounter of two engines.
    ///
    /// All of its pairs have the same opening.
    Encounter,
    /// For each round.
    ///
    /// All of its pairs have the same opening.
    Round,
    /// For each encounter, starting over after as many openings as rounds.
    ///
    /// fastchess does the same.
    Cycle,
}

/// The source of openings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OpeningSource {
    /// The start position of the game.
    #[default]
    Start,
    /// The built-in openings of chess or shogi: usual openings of eight to ten plies that engines evaluate as balanced.
    BuiltIn,
    /// A file, possibly compressed by gzip, or a directory of KIF, KI2, CSA and JKF files, which
    /// are used in the order of their names.
    File {
        /// Its path.
        path: String,
        /// The format. The default depends on the file extension.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        format: Option<BookFormat>,
    },
    /// A list of positions.
    Positions {
        /// FEN or SFEN texts.
        list: Vec<String>,
    },
    /// Start positions of Chess960.
    Chess960 {
        /// Numbers from 0 to 959; all if the list is empty.
        #[serde(default)]
        numbers: Vec<u16>,
    },
    /// Chess960 with different first ranks of White and Black.
    DoubleChess960 {
        /// The numbers of White and Black; all if the list is empty.
        #[serde(default)]
        numbers: Vec<(u16, u16)>,
    },
    /// A shogi handicap.
    Handicap {
        /// The name, in English or Japanese.
        name: String,
    },
}

/// The format of an opening file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum BookFormat {
    /// One position per line, with EPD operations or FEN counters.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Epd,
    /// The first moves of the games in a PGN file.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Pgn,
    /// One SFEN per line, or one USI `position` command with or without the command name.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Sfen,
    /// The first moves of the games in a KIF, KI2, CSA or JKF file.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Kif,
    /// A Polyglot book, whose moves are chosen randomly by their weights.
    #[cfg_attr(feature = "cli", value(help = clap::builder::Resettable::Reset))]
    Polyglot,
}

/// The order in which openings are used. After the last one they start over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum OpeningOrder {
    /// The order of the source.
    #[default]
    Sequential,
    /// A random permutation by the seed of the plan, the same on every host.
    Random,
    /// The permutation that fastchess has with the same seed, repeated without change.
    Fastchess,
}

/// A sequential probability ratio test of `elo0` against `elo1`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "SprtSettings"))]
pub struct SprtPlan {
    /// The Elo model of the bounds.
    #[serde(default, with = "model")]
    #[cfg_attr(feature = "ts", ts(as = "Option<String>", optional))]
    pub model: Model,
    /// The hypothesis H0, in Elo of the model.
    pub elo0: f64,
    /// The hypothesis H1.
    pub elo1: f64,
    /// The probability of accepting H1 when H0 is true.
    #[serde(default = "five_percent")]
    pub alpha: f64,
    /// The probability of accepting H0 when H1 is true.
    #[serde(default = "five_percent")]
    pub beta: f64,
}

impl SprtPlan {
    /// The test with these parameters.
    ///
    /// # Errors
    /// The parameters are invalid.
    pub fn test(&self) -> Result<Sprt, SprtError> {
        Sprt::new(self.model, self.elo0, self.elo1, self.alpha, self.beta)
    }
}

fn five_percent() -> f64 {
    0.05
}

/// Serializes a model as its name.
mod model {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use super::Model;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
    pub(super) fn serialize<S: Serializer>(model: &Model, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(model)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Model, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// Adjudication of games. By default only the rules of engine matches apply: repetition and the
/// fifty-move rule of chess without a claim, and [`Impasse`] in shogi.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adjudication {
    /// A draw by score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawAdjudication>,
    /// A loss by score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resign: Option<ResignAdjudication>,
    /// The game is drawn after this number of moves, opening moves included: full moves in chess,
    /// plies in shogi (usually 256, 320 or 512).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_moves: Option<u32>,
    /// Adjudication by Syzygy tablebases (chess).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tablebases: Option<TablebaseAdjudication>,
    /// The impasse rule of shogi.
    pub impasse: Impasse,
    /// The rules of fastchess. Opening moves do not count for `max_moves`. Clocks have an increment
    /// before the first move. `two_sided` compares the absolute scores of both sides and requires
    /// that the mover is behind. The score of a move is that of the last `info` with an exact score.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_fastchess: bool,
}

impl Adjudication {
    /// The rules that end a game on the board.
    pub(crate) fn end_rules(&self) -> EndRules {
        let mut rules = EndRules::BOARD;
        // A game with fewer pieces is a handicap game; with all pieces both 27-point rules are equal.
        rules.shogi.impasse = match self.impasse {
            Impasse::Points27 => ImpasseRule::Points27Handicap,
            Impasse::Points24 => ImpasseRule::Points24,
            Impasse::TryRule => ImpasseRule::Try,
            Impasse::None => ImpasseRule::Ignored,
        };
        rules
    }
}

/// A draw by score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "DrawRule"))]
pub struct DrawAdjudication {
    /// The first move number at which a draw is possible, after both sides have played it: full
    /// moves in chess, plies in shogi.
    pub from_move: u32,
    /// Number of consecutive moves of each side; in chess without a capture or pawn move after the
    /// first of them.
    pub moves: u32,
    /// Maximum absolute score in centipawns. Mate scores always exceed it.
    pub score: u32,
}

/// A loss by score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "ResignRule"))]
pub struct ResignAdjudication {
    /// Number of consecutive moves of the losing side.
    pub moves: u32,
    /// Minimum loss in centipawns. A score of being mated always counts.
    pub score: u32,
    /// The winner's score must agree.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(as = "Option<bool>", optional))]
    pub two_sided: bool,
}

/// Adjudication by tablebases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TablebaseAdjudication {
    /// Directories with Syzygy files.
    pub paths: Vec<String>,
    /// Maximum number of pieces; 0 is the maximum of the files.
    #[serde(default)]
    pub pieces: u32,
    /// Cursed wins, which the fifty-move rule draws, count as wins.
    #[serde(default)]
    pub ignore_fifty_moves: bool,
    /// The results that end a game.
    #[serde(default)]
    pub scope: TablebaseScope,
}

/// The tablebase results that end a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum TablebaseScope {
    /// Wins, losses and draws.
    #[default]
    Both,
    /// Wins and losses.
    WinLoss,
    /// Draws.
    Draw,
}

/// The rule for shogi games in which both kings have entered the opponent's camp.
///
/// The handicap giver counts the omitted pieces as their own, as in the rules of the Japan Shogi
/// Association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Impasse {
    /// 27-point rule.
    ///
    /// A valid declaration wins.
    #[default]
    #[cfg_attr(feature = "cli", value(name = "27-points"))]
    Points27,
    /// 24-point rule: 31 points win, 24 draw.
    ///
    /// A declaration also draws with 25 to 30 points.
    #[cfg_attr(feature = "cli", value(name = "24-points"))]
    Points24,
    /// Try rule: a king on the start square of the other king wins.
    #[cfg_attr(feature = "cli", value(name = "try"))]
    TryRule,
    /// No rule.
    None,
}
