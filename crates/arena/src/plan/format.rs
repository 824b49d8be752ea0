//! Who meets whom.

use serde::{Deserialize, Serialize};

/// The form of a tournament.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Format {
    /// Everybody meets everybody, by the circle method (Berger tables). With two engines this is
    /// a head-to-head match.
    #[default]
    RoundRobin,
    /// The first engines meet everybody, each other too; the others do not meet each other.
    Gauntlet {
        /// How many engines, from the first of the plan on, are the ones under test.
        #[serde(default = "one")]
        seeds: u32,
    },
    /// Each engine meets all those that stand before it in the plan, one engine after the other: a
    /// round is what one of them plays.
    Pyramid,
    /// Who loses is out. The plan's order is the seeding: the first two can only meet in the final,
    /// and the first ones have a bye if the number of engines is no power of two. The bracket says
    /// how many rounds there are, so that the plan has to say one.
    Knockout {
        /// How often a tied match is played again, each time as long as before.
        #[serde(default = "one")]
        replays: u32,
        /// Who goes on if it is tied still.
        #[serde(default)]
        tie: KnockoutTie,
    },
    /// In each round those meet who have about the same score and have not met yet. Who is left
    /// over has a bye, which counts as winning all games of the round; nobody has a second one
    /// before everybody had one.
    Swiss,
}

/// In which order engines meet in a round robin or a gauntlet, and who begins single games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MeetingOrder {
    /// A round robin by the Berger tables, in rounds in which nobody plays twice.
    #[default]
    Berger,
    /// As fastchess does it: the first engine meets all that come after it in the plan, then the
    /// second one does, and so on; all of it is one round. Single games change colours from pairing
    /// to pairing.
    Rows,
}

impl MeetingOrder {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Who goes on when a match of a knockout was tied as often as it was to be played again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnockoutTie {
    /// Who stands first in the plan.
    #[default]
    HigherSeed,
    /// The lot, drawn with the seed of the plan.
    Lot,
}

pub(super) fn one() -> u32 {
    1
}

/// How many games two engines play from one opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GamesPerPairing {
    /// One. [`Colours`] says whose is the first move.
    One,
    /// Two with reversed colours, which cancels what the opening is worth.
    #[default]
    Two,
}

/// Who has the first move.
///
/// Of two games the first is begun by who stands first in the plan. Single games are as even as
/// they can be: engines that meet again change colours; in a round robin the Berger tables say who
/// begins, in a gauntlet opponents do it by turns, in Swiss it is who began less often, and in a
/// knockout the higher seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Colours {
    /// Who stands first in the plan always has the first move. It needs pairings of one game, or the
    /// order of [`MeetingOrder::Rows`]: fastchess has pairs of games of the same colours.
    pub fixed: bool,
    /// All colours are reversed.
    pub reversed: bool,
}
