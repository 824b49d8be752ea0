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
    /// The first engines meet all the others, which do not meet each other.
    Gauntlet {
        /// How many engines, from the first of the plan on, are the ones under test.
        #[serde(default = "one")]
        seeds: u32,
    },
    /// Who loses is out. The plan's order is the seeding, so that the first two can only meet in
    /// the final. A tie after the games of a match is played off.
    Knockout,
    /// In each round those meet who have about the same score and have not met yet.
    Swiss,
}

fn one() -> u32 {
    1
}

/// How many games two engines play from one opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GamesPerPairing {
    /// One. Colours change from round to round.
    One,
    /// Two with reversed colours, which cancels what the opening is worth.
    #[default]
    Two,
}
