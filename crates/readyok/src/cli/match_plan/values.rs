//! The values of arguments that describe a plan.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;

use readyok_arena::plan::{
    DrawAdjudication, Format, KnockoutTie, Protocol, ResignAdjudication, SprtPlan, TimeControl,
};
use readyok_arena::stats::Model;

/// A nonempty engine name.
#[derive(Clone, Debug)]
pub(super) struct NameArg(pub(super) String);

/// A path.
#[derive(Clone, Debug)]
pub(super) struct FileArg(pub(super) PathBuf);

#[derive(Clone, Copy, Debug)]
pub(super) struct ProtocolArg(pub(super) Protocol);

/// Milliseconds, written as seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seconds(pub(super) u64);

/// The numbers of White's first rank and of Black's.
#[derive(Clone, Copy, Debug)]
pub(super) struct RanksArg {
    pub(super) white: u16,
    pub(super) black: u16,
}

/// Milliseconds, written as seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct PositiveSeconds(pub(super) NonZeroU64);

#[derive(Clone, Copy, Debug)]
pub(super) struct DrawArg(pub(super) DrawAdjudication);

#[derive(Clone, Copy, Debug)]
pub(super) struct ResignArg(pub(super) ResignAdjudication);

#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct SprtArg {
    elo: [f64; 2],
    errors: [f64; 2],
}

pub(super) fn format(text: &str) -> Result<Format, String> {
    match (text, text.split_once('=')) {
        ("round-robin", _) => Ok(Format::RoundRobin),
        ("gauntlet", _) => Ok(Format::Gauntlet { seeds: 1 }),
        ("knockout", _) => Ok(Format::Knockout { replays: 1, tie: KnockoutTie::default() }),
        ("pyramid", _) => Ok(Format::Pyramid),
        ("swiss", _) => Ok(Format::Swiss),
        (_, Some(("gauntlet", seeds))) => match seeds.parse() {
            Ok(seeds @ 1..) => Ok(Format::Gauntlet { seeds }),
            Ok(0) | Err(_) => Err(format!("`{seeds}` is not a positive number of engines")),
        },
        _ => {
            Err("expected round-robin, gauntlet, gauntlet=N, pyramid, knockout or swiss".to_owned())
        }
    }
}

/// Splits at commas and parses each part.
fn list<T: FromStr>(text: &str) -> Option<Vec<T>> {
    text.split(',').map(|part| part.trim().parse().ok()).collect()
}

impl FromStr for NameArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim() {
            "" => Err("the name is empty"),
            name => Ok(Self(name.to_owned())),
        }
    }
}

impl FromStr for FileArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() { Err("the path is empty") } else { Ok(Self(PathBuf::from(text))) }
    }
}

impl FromStr for DrawArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match list(text).as_deref() {
            Some(&[from_move, moves, score]) if moves > 0 => {
                Ok(Self(DrawAdjudication { from_move, moves, score }))
            }
            _ => Err("expected MOVE,COUNT,CP, such as 40,8,10"),
        }
    }
}

impl FromStr for ResignArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (numbers, two_sided) =
            text.strip_suffix(",both").map_or((text, false), |numbers| (numbers, true));
        match list(numbers).as_deref() {
            Some(&[moves, score]) if moves > 0 => {
                Ok(Self(ResignAdjudication { moves, score, two_sided }))
            }
            _ => Err("expected COUNT,CP or COUNT,CP,both, such as 3,600"),
        }
    }
}

impl SprtArg {
    /// The test in this Elo model.
    pub(in crate::cli) fn plan(self, model: Model) -> SprtPlan {
        let Self { elo: [elo0, elo1], errors: [alpha, beta] } = self;
        SprtPlan { model, elo0, elo1, alpha, beta }
    }
}

impl FromStr for SprtArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (elo, errors): ([f64; 2], [f64; 2]) = match list(text).as_deref() {
            Some(&[elo0, elo1]) => ([elo0, elo1], [0.05, 0.05]),
            Some(&[elo0, elo1, alpha, beta]) => ([elo0, elo1], [alpha, beta]),
            _ => return Err("expected ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA"),
        };
        let [elo0, elo1] = elo;
        let [alpha, beta] = errors;
        if !(elo0.is_finite() && elo1.is_finite() && elo0 < elo1) {
            return Err("ELO0 must be less than ELO1");
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            return Err("ALPHA and BETA must be positive with a sum below 1");
        }
        Ok(Self { elo, errors })
    }
}

impl FromStr for Seconds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = "expected a number of seconds";
        let time: TimeControl = text.parse().map_err(|_| error)?;
        if time.moves.is_some() || !time.increment.is_zero() {
            return Err(error);
        }
        u64::try_from(time.time.as_millis()).map(Self).map_err(|_| error)
    }
}

impl FromStr for RanksArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |text: &str| text.parse().ok().filter(|number| *number < 960);
        let ranks = text.split_once('/').map(|(white, black)| (number(white), number(black)));
        match ranks {
            Some((Some(white), Some(black))) => Ok(Self { white, black }),
            _ => Err("expected WHITE/BLACK with numbers from 0 to 959, such as 518/0"),
        }
    }
}

impl FromStr for PositiveSeconds {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Seconds(millis) = text.parse()?;
        NonZeroU64::new(millis).map(Self).ok_or("expected a positive number of seconds")
    }
}

impl FromStr for ProtocolArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "uci" => Ok(Self(Protocol::Uci)),
            "usi" => Ok(Self(Protocol::Usi)),
            _ => Err("expected uci or usi"),
        }
    }
}
