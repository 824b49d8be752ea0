//! The configuration of a match: everything that determines its games, independent of the host.

pub mod source;
mod tournament;
pub(crate) mod tuning;

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use readyok_client::{EngineProgram, Timeouts, WaitLimit};
pub use readyok_protocol::Dialect as Protocol;
use readyok_protocol::Register;
use readyok_rules::Game;
use serde::{Deserialize, Serialize};

pub use crate::plan::source::{GitSource, SourceError};
pub use crate::plan::tournament::{
    Adjudication, BookFormat, Colors, DrawAdjudication, Format, GamesPerPairing, Impasse,
    KnockoutTie, OpeningOrder, OpeningPolicy, OpeningSource, Openings, PairingOrder,
    ResignAdjudication, SprtPlan, TablebaseAdjudication, TablebaseScope,
};

pub use crate::plan::tuning::{Parameter, TuneError, TuneFile, TunePlan};

/// A match or a tournament. Two runs of the same plan have the same pairings in the same order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The game.
    pub game: Game,
    /// The event in game records.
    #[serde(default)]
    pub event: String,
    /// The site in game records.
    #[serde(default)]
    pub site: String,
    /// The engines. An [`EngineId`] is an index into this list.
    pub engines: Vec<EnginePlan>,
    /// The tournament format.
    #[serde(default)]
    pub format: Format,
    /// The order of the encounters of a round robin or gauntlet.
    #[serde(default, skip_serializing_if = "PairingOrder::is_default")]
    pub pairing_order: PairingOrder,
    /// How many times the format is repeated; in a Swiss tournament the number of rounds.
    #[serde(default = "tournament::one")]
    pub rounds: u32,
    /// Number of game pairs in each encounter of two engines.
    #[serde(default = "tournament::one")]
    pub pairs_per_encounter: u32,
    /// Number of games in a pair.
    #[serde(default)]
    pub games: GamesPerPairing,
    /// The assignment of colors.
    #[serde(default)]
    pub colors: Colors,
    /// Maximum duration of a search without a clock, in milliseconds, regardless of engine output.
    /// The default is [`GameSettings::STALL`](crate::game::GameSettings::STALL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_timeout_ms: Option<NonZeroU64>,
    /// Pause between two games of a worker, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<NonZeroU64>,
    /// The validation of PVs. Invalid ones are reported as warnings.
    #[serde(default, skip_serializing_if = "PvCheck::is_default")]
    pub pv_check: PvCheck,
    /// The openings.
    #[serde(default)]
    pub openings: Openings,
    /// Adjudication of games.
    #[serde(default)]
    pub adjudication: Adjudication,
    /// A sequential test that can end the match early. It requires exactly two engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprt: Option<SprtPlan>,
    /// The tuning of options, which are set for each pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<TunePlan>,
    /// The seed of all random choices.
    #[serde(default)]
    pub seed: u64,
}

/// The index of an engine in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(type = "number"))]
pub struct EngineId(pub u32);

impl EngineId {
    /// The index in lists of all engines.
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// An engine of a match. Its program is not an [`EngineProgram`], as results that are stored have these fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings of an engine")]
pub struct EnginePlan {
    /// The name in game records and tables, unique in the plan.
    pub name: String,
    /// The executable, or `tcp://host:port`; the text of the source if there is one.
    #[serde(default)]
    pub command: String,
    /// The commit from which the program is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<GitSource>,
    /// Command line arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The working directory. The default is the directory of the executable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
    /// Environment variables in addition to the inherited ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The protocol. The default is UCI for chess and USI for shogi.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Options that are set before the first game; the value of a button is empty.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// A file with more options, such as the result of a tuning: it is read when the plan is read from a file, and is
    /// not stored.
    #[serde(default, skip_serializing)]
    pub options_file: Option<PathBuf>,
    /// The limits of each search.
    #[serde(default)]
    pub limits: Limits,
    /// Search on the opponent's time.
    #[serde(default)]
    pub ponder: bool,
    /// Start a new process for each game.
    #[serde(default)]
    pub restart: bool,
    /// A reported forced mate wins the game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub trust_mates: bool,
    /// The engine reports scores from the first player's point of view instead of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whitepov: bool,
    /// The reply to `registration error`. It is a secret: neither stored nor sent to workers.
    #[serde(skip)]
    pub registration: Option<Register<'static>>,
    /// Timeouts of the handshake and of `isready`.
    #[serde(default, skip_serializing_if = "EngineTimeouts::is_default")]
    pub timeouts: EngineTimeouts,
}

impl EnginePlan {
    /// Sets the program to start.
    ///
    /// # Errors
    /// This path of it is not UTF-8, so a plan cannot contain it.
    pub fn with_program(self, program: EngineProgram) -> Result<Self, PathBuf> {
        let utf8 = |path: PathBuf| path.into_os_string().into_string().map_err(PathBuf::from);
        let EngineProgram { path, args, dir, env } = program;
        Ok(Self { command: utf8(path)?, args, dir: dir.map(utf8).transpose()?, env, ..self })
    }

    /// An engine that is built from a commit, with the name of its revision.
    pub fn of_source(source: GitSource) -> Self {
        let (name, command) = (source.revision.clone(), source.to_string());
        Self { name, command, source: Some(source), ..Self::default() }
    }

    /// Sets the address to connect to, `host:port`.
    #[must_use]
    pub fn with_address(self, address: &str) -> Self {
        Self { command: format!("tcp://{address}"), ..self }
    }

    /// The program to start; none for a connection.
    pub(crate) fn program(&self) -> Option<EngineProgram> {
        let (args, env) = (self.args.clone(), self.env.clone());
        let dir = self.dir.as_ref().map(PathBuf::from);
        let is_remote = self.command.starts_with("tcp://");
        (!is_remote).then(|| EngineProgram { path: PathBuf::from(&self.command), args, dir, env })
    }
}

/// How far PVs are validated.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum PvCheck {
    /// Only the first move.
    #[default]
    #[cfg_attr(feature = "cli", value(skip))]
    FirstMove,
    /// All moves are legal.
    Moves,
    /// All moves are legal, and mate scores have PVs that end with mate.
    Mate,
}

/// Timeouts of an engine while no clock runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineTimeouts {
    /// Maximum silence before `uciok` or `usiok`, in milliseconds. The default is 10 seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake_ms: Option<NonZeroU64>,
    /// Maximum silence before `readyok`, in milliseconds. The default is one minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_ms: Option<NonZeroU64>,
}

impl PvCheck {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl EngineTimeouts {
    /// The maximum timeout: one day.
    const MAX_MS: u64 = 24 * 3600 * 1000;

    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Replaces the handshake and `readyok` timeouts of `default` with those of the plan. Engine
    /// output extends a timeout to the total of `default`, or to the configured silence if that is
    /// longer.
    pub fn apply(self, default: Timeouts) -> Timeouts {
        let limit = |ms: Option<NonZeroU64>, default: WaitLimit| match ms {
            Some(ms) => {
                let silence = Duration::from_millis(ms.get().min(Self::MAX_MS));
                WaitLimit { silence, total: default.total.max(silence) }
            }
            None => default,
        };
        Timeouts {
            handshake: limit(self.handshake_ms, default.handshake),
            ready: limit(self.ready_ms, default.ready),
            ..default
        }
    }
}

/// The limits of each search of an engine in a match, with its clock. All of them apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "PlanLimits", optional_fields))]
pub struct Limits {
    /// A clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(as = "Option<String>"))]
    pub tc: Option<TimeControl>,
    /// Byoyomi in milliseconds: time per move after the main time, which does not accumulate.
    /// Without `tc` there is no main time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byoyomi_ms: Option<u64>,
    /// Time per move, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub move_time_ms: Option<u64>,
    /// Nodes per move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Depth of each search, in plies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Tolerated overrun of a clock, in milliseconds. The clock is then at zero.
    #[serde(default)]
    pub margin_ms: u64,
}

/// Main time for a game or for a number of moves, and an increment: the initial time, not the state of a clock.
///
/// The notation is that of cutechess: `[moves/][minutes:]seconds[+increment]` with decimal seconds
/// and increments, such as `40/5:00`, `10+0.1` or `0.5`. An hourglass is `hg[minutes:]seconds`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeControl {
    /// Number of moves per period, after which the time is added again; never 0.
    pub moves: Option<u32>,
    /// The main time.
    pub time: Duration,
    /// Time that is added after each move.
    pub increment: Duration,
    /// The time used for a move is added to the opponent's clock.
    pub hourglass: bool,
}

/// An invalid time control.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimeControlError {
    /// The number of moves is not a positive integer.
    #[error("`{0}` is not a number of moves")]
    Moves(String),
    /// A time is not a decimal number with at most three decimals, or exceeds one year.
    #[error("`{0}` is not a number of seconds")]
    Time(String),
    /// The time is 0.
    #[error("the time control is 0")]
    Zero,
    /// An hourglass has a number of moves or an increment.
    #[error("an hourglass clock has no number of moves and no increment")]
    Hourglass,
}

const YEAR_MS: u64 = 365 * 24 * 3600 * 1000;

impl FromStr for TimeControl {
    type Err = TimeControlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => {
                let number = moves.parse().ok().filter(|&moves| moves > 0);
                (Some(number.ok_or_else(|| TimeControlError::Moves(moves.to_owned()))?), rest)
            }
            None => (None, text),
        };
        let (hourglass, rest) = match rest.strip_prefix("hg") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (time, increment) = match rest.split_once('+') {
            Some((time, increment)) => (time, seconds(increment)?),
            None => (rest, Duration::ZERO),
        };
        let (minutes, time) = match time.split_once(':') {
            Some((minutes, time)) => (seconds(minutes)?.saturating_mul(60), time),
            None => (Duration::ZERO, time),
        };
        let time = minutes + seconds(time)?;
        if time + increment == Duration::ZERO {
            return Err(TimeControlError::Zero);
        }
        if hourglass && (moves.is_some() || increment > Duration::ZERO) {
            return Err(TimeControlError::Hourglass);
        }
        Ok(Self { moves, time, increment, hourglass })
    }
}

/// Parses a decimal number of seconds without rounding.
fn seconds(text: &str) -> Result<Duration, TimeControlError> {
    let error = || TimeControlError::Time(text.to_owned());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.len() + fraction.len() == 0 {
        return Err(error());
    }
    if fraction.len() > 3 {
        return Err(error());
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| error())? };
    let fraction: u64 = format!("{fraction:0<3}").parse().map_err(|_| error())?;
    let millis = whole.checked_mul(1000).and_then(|whole| whole.checked_add(fraction));
    millis.filter(|&millis| millis <= YEAR_MS).map(Duration::from_millis).ok_or_else(error)
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        if self.hourglass {
            f.write_str("hg")?;
        }
        write!(f, "{}", self.time.as_secs_f64())?;
        if self.increment > Duration::ZERO {
            write!(f, "+{}", self.increment.as_secs_f64())?;
        }
        Ok(())
    }
}

impl TryFrom<String> for TimeControl {
    type Error = TimeControlError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TimeControl> for String {
    fn from(control: TimeControl) -> Self {
        control.to_string()
    }
}

/// An invalid plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Two engines have the same name.
    #[error("two engines have the name `{name}`")]
    SameName {
        /// The name.
        name: String,
    },
    /// An engine has no search limit.
    #[error("engine `{engine}` has no limit")]
    NoLimit {
        /// The engine.
        engine: String,
    },
    /// A limit of an engine is 0.
    #[error("`{field}` of engine `{engine}` must be at least 1")]
    ZeroLimit {
        /// The engine.
        engine: String,
        /// The key of the limit.
        field: &'static str,
    },
    /// An hourglass clock is combined with incompatible settings.
    #[error("engine `{engine}` has an hourglass clock, which {problem}")]
    Hourglass {
        /// An engine with an hourglass clock.
        engine: String,
        /// The incompatible setting.
        problem: HourglassProblem,
    },
    /// The tuning is invalid.
    #[error("{0}")]
    Tune(TuneError),
    /// The source of an engine is invalid.
    #[error("engine `{engine}`: {why}")]
    Source {
        /// The engine.
        engine: String,
        /// The invalid part.
        why: SourceError,
    },
    /// The options file of an engine was not read: only plans in files have them.
    #[error(
        "`options_file` of engine `{engine}` is only read from a plan in a file: write `options` instead"
    )]
    OptionsFile {
        /// The engine.
        engine: String,
    },
    /// An engine has the protocol USI, which does not support chess.
    #[error("engine `{engine}` has the protocol USI, which supports only shogi")]
    UsiInChess {
        /// The engine.
        engine: String,
    },
}

readyok_protocol::texts! {
    /// A setting that is incompatible with an hourglass clock.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum HourglassProblem {
        /// Another engine has no hourglass clock.
        Others => "all engines must have",
        Byoyomi => "excludes byoyomi",
        /// The time of the ponder search is not known in advance.
        Ponder => "excludes pondering",
    }
}

impl Plan {
    /// The number of rounds of a match that lasts until its sequential test ends.
    pub const UNLIMITED_ROUNDS: u32 = u32::MAX;

    /// Reads a plan from TOML. A sequential test without `rounds` is not limited by them.
    ///
    /// # Errors
    /// The text is not a plan.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        let plan: Self = toml::from_str(text)?;
        let has_rounds = toml::from_str::<toml::Table>(text)?.contains_key("rounds");
        Ok(if has_rounds { plan } else { plan.with_default_rounds() })
    }

    /// Sets the number of rounds of a plan that states none: one, or as many as its sequential test needs.
    #[must_use]
    pub fn with_default_rounds(self) -> Self {
        let is_repeatable = match self.format {
            Format::RoundRobin | Format::Gauntlet { .. } | Format::Pyramid | Format::Takes => true,
            Format::Knockout { .. } | Format::Swiss => false,
        };
        let lasts = self.sprt.is_some() && is_repeatable;
        Self { rounds: if lasts { Self::UNLIMITED_ROUNDS } else { 1 }, ..self }
    }

    /// Whether later pairings depend on the results of all earlier ones.
    #[cfg(feature = "nats")]
    pub(crate) fn needs_all_results(&self) -> bool {
        match self.format {
            Format::RoundRobin | Format::Gauntlet { .. } | Format::Pyramid | Format::Takes => false,
            Format::Knockout { .. } | Format::Swiss => true,
        }
    }

    /// Whether the next pairings are better with more results: the best take plays, or a tuning moves its values.
    #[cfg(feature = "nats")]
    pub(crate) fn is_adaptive(&self) -> bool {
        self.format == Format::Takes || self.tune.is_some()
    }

    /// Whether only its sequential test ends the match.
    pub fn is_unlimited(&self) -> bool {
        self.rounds == Self::UNLIMITED_ROUNDS
    }

    /// A plan without engines: one round from the start position, without adjudication.
    pub fn new(game: Game) -> Self {
        Self {
            game,
            event: String::new(),
            site: String::new(),
            engines: Vec::new(),
            format: Format::default(),
            pairing_order: PairingOrder::default(),
            rounds: 1,
            pairs_per_encounter: 1,
            games: GamesPerPairing::default(),
            colors: Colors::default(),
            search_timeout_ms: None,
            wait_ms: None,
            pv_check: PvCheck::default(),
            openings: Openings::default(),
            adjudication: Adjudication::default(),
            sprt: None,
            tune: None,
            seed: 0,
        }
    }

    /// An engine. `None` if the plan has fewer engines.
    pub fn engine(&self, id: EngineId) -> Option<&EnginePlan> {
        self.engines.get(id.index())
    }

    /// The name of an engine; `?` if the plan has fewer engines.
    pub fn engine_name(&self, id: EngineId) -> &str {
        self.engine(id).map_or("?", |engine| &engine.name)
    }

    /// Whether the seed affects the match.
    pub fn is_random(&self) -> bool {
        if self.tune.is_some() {
            return true;
        }
        let is_tie_random =
            matches!(self.format, Format::Knockout { tie: KnockoutTie::Random, .. });
        self.openings.order != OpeningOrder::Sequential || is_tie_random
    }

    /// Checks that each engine has a unique name, valid limits, and a protocol for the game.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), PlanError> {
        for (index, engine) in self.engines.iter().enumerate() {
            let EnginePlan { name, limits, protocol, source, .. } = engine;
            if self.engines.iter().take(index).any(|earlier| earlier.name == *name) {
                return Err(PlanError::SameName { name: name.clone() });
            }
            if limits.is_empty() {
                return Err(PlanError::NoLimit { engine: name.clone() });
            }
            if engine.options_file.is_some() {
                return Err(PlanError::OptionsFile { engine: name.clone() });
            }
            if let Some(field) = limits.zero() {
                return Err(PlanError::ZeroLimit { engine: name.clone(), field });
            }
            let has_hourglass = |limits: &Limits| limits.tc.is_some_and(|tc| tc.hourglass);
            if has_hourglass(limits) {
                let problem = if !self.engines.iter().all(|other| has_hourglass(&other.limits)) {
                    Some(HourglassProblem::Others)
                } else if limits.byoyomi_ms.is_some() {
                    Some(HourglassProblem::Byoyomi)
                } else if engine.ponder {
                    Some(HourglassProblem::Ponder)
                } else {
                    None
                };
                if let Some(problem) = problem {
                    return Err(PlanError::Hourglass { engine: name.clone(), problem });
                }
            }
            if let Some(why) = source.as_ref().and_then(|source| source.check().err()) {
                return Err(PlanError::Source { engine: name.clone(), why });
            }
            if *protocol == Some(Protocol::Usi) && self.game != Game::Shogi {
                return Err(PlanError::UsiInChess { engine: name.clone() });
            }
        }
        self.tune.as_ref().map_or(Ok(()), |tune| tune.check(self).map_err(PlanError::Tune))
    }
}

impl Limits {
    /// Whether no limit is set.
    pub fn is_empty(&self) -> bool {
        let Self { tc, byoyomi_ms, move_time_ms, nodes, depth, margin_ms: _ } = self;
        tc.is_none()
            && byoyomi_ms.is_none()
            && move_time_ms.is_none()
            && nodes.is_none()
            && depth.is_none()
    }

    /// The key of a limit that is 0.
    fn zero(&self) -> Option<&'static str> {
        let byoyomi = self.byoyomi_ms.filter(|_| self.tc.is_none());
        let limits = [
            ("byoyomi_ms", byoyomi),
            ("move_time_ms", self.move_time_ms),
            ("nodes", self.nodes),
            ("depth", self.depth.map(u64::from)),
        ];
        limits.into_iter().find(|(_, limit)| *limit == Some(0)).map(|(field, _)| field)
    }
}
