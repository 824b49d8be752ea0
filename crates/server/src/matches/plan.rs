//! The conversion of the page's plan to a plan of the arena, and errors of matches as error codes.

use std::collections::BTreeMap;
use std::time::Duration;

use readyok_arena::openings::Skipped;
use readyok_arena::plan::{
    Adjudication, DrawAdjudication, EnginePlan, Format, GamesPerPairing, KnockoutTie, Limits,
    OpeningOrder, OpeningSource, Openings, Plan, Protocol as ArenaProtocol, ResignAdjudication,
    SprtPlan, TimeControl,
};
use readyok_arena::result::WarningKind;
use readyok_arena::runner::MatchError;
use readyok_arena::schedule::{Schedule, ScheduleError};
use readyok_arena::stats::{Model, SprtError, Verdict};
use readyok_arena::store::StoreError;
use readyok_protocol::{Language, Rule};
use readyok_rules::{Game, Handicap, Position};

use crate::engine::{engine_failure, option_error, printable};
use crate::game::{io_error, opening_error, position_error};
use crate::wire::{
    ApiError, ErrorCode, ErrorInfo, ErrorSubject, LocalizedText, MatchEngine, MatchFormat,
    MatchOpenings, MatchPlan, Protocol, Time,
};

/// Maximum number of engines, rounds, pairs of an encounter, and concurrent games.
const MAX_ENGINES: usize = 100;
const MAX_ROUNDS: u32 = 10_000;
const MAX_PAIRS: u32 = 1_000_000;
const MAX_SLOTS: u32 = 64;
/// Maximum number of openings of a list, and maximum size of a text of the plan.
const MAX_OPENINGS: usize = 100_000;
const MAX_COUNT: usize = 1000;

/// A registered engine in a match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entrant {
    /// The name.
    pub name: String,
    /// The absolute path of the program, or `tcp://host:port`.
    pub command: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// The working directory; none for the directory of the program.
    pub dir: Option<String>,
    /// Environment variables in addition to those of the server.
    pub env: BTreeMap<String, String>,
    /// The protocol; none for UCI in chess and USI in shogi.
    pub protocol: Option<Protocol>,
    /// The values of its options for play.
    pub options: BTreeMap<String, String>,
}

/// The plan of a match, and the number of concurrent games. `entrants` are the engines in the order of the
/// plan.
///
/// # Errors
/// The plan is invalid or too large.
pub fn plan_of(asked: &MatchPlan, entrants: &[Entrant]) -> Result<(Plan, usize), ApiError> {
    if asked.engines.len() < 2 || asked.engines.len() != entrants.len() {
        return Err(ApiError::invalid_request(ErrorCode::TooFewEngines));
    }
    if MAX_ENGINES < entrants.len()
        || !(1..=MAX_ROUNDS).contains(&asked.rounds)
        || !(1..=MAX_PAIRS).contains(&asked.pairs)
        || !(1..=MAX_SLOTS).contains(&asked.concurrency)
    {
        return Err(ApiError::limit(ErrorCode::MatchTooLarge {
            rounds: MAX_ROUNDS,
            pairs: MAX_PAIRS,
            engines: MAX_ENGINES,
            concurrency: MAX_SLOTS,
        }));
    }
    if MAX_COUNT < asked.name.len() || asked.name.chars().any(char::is_control) {
        return Err(ApiError::invalid_text(ErrorSubject::MatchName));
    }
    let mut engines: Vec<EnginePlan> = Vec::new();
    for (engine, entrant) in asked.engines.iter().zip(entrants) {
        let name = name(engine, entrant, &engines)?;
        engines.push(EnginePlan { name, ..engine_plan(engine, entrant)? });
    }
    let plan = Plan {
        game: asked.variant.into(),
        event: asked.name.clone(),
        site: String::new(),
        engines,
        format: match asked.format {
            MatchFormat::RoundRobin => Format::RoundRobin,
            MatchFormat::Gauntlet => Format::Gauntlet { seeds: 1 },
            MatchFormat::Knockout => Format::Knockout { replays: 1, tie: KnockoutTie::default() },
            MatchFormat::Swiss => Format::Swiss,
        },
        pairing_order: readyok_arena::plan::PairingOrder::default(),
        // The bracket determines the number of rounds of a knockout.
        rounds: if asked.format == MatchFormat::Knockout { 1 } else { asked.rounds },
        pairs_per_encounter: asked.pairs,
        games: GamesPerPairing::Two,
        colors: readyok_arena::plan::Colors::default(),
        search_timeout_ms: None,
        wait_ms: None,
        pv_check: readyok_arena::plan::PvCheck::default(),
        openings: openings(asked)?,
        adjudication: adjudication(asked)?,
        sprt: sprt(asked)?,
        seed: asked.seed,
    };
    // This reads the openings and validates the rest.
    Schedule::open(&plan)
        .map_err(|error| ApiError::invalid_request(schedule_error(plan.game, &error)))?;
    let slots = usize::try_from(asked.concurrency).unwrap_or(1);
    Ok((plan, slots))
}

/// A unique name of an engine in the match.
fn name(
    engine: &MatchEngine,
    entrant: &Entrant,
    others: &[EnginePlan],
) -> Result<String, ApiError> {
    let is_free = |name: &str| others.iter().all(|other| other.name != name);
    let asked = engine.name.trim();
    if MAX_COUNT < asked.len() || asked.chars().any(char::is_control) {
        return Err(ApiError::invalid_text(ErrorSubject::EngineName));
    }
    if !asked.is_empty() {
        let taken =
            || ApiError::invalid_request(ErrorCode::DuplicateName { name: asked.to_owned() });
        return is_free(asked).then(|| asked.to_owned()).ok_or_else(taken);
    }
    let own = match entrant.name.trim() {
        "" => "engine",
        name => name,
    };
    let numbered = (2..).map(|number: u32| format!("{own} {number}"));
    let mut names = std::iter::once(own.to_owned()).chain(numbered);
    names.find(|name| is_free(name)).ok_or_else(|| ApiError::too_many(ErrorSubject::Engine))
}

fn engine_plan(engine: &MatchEngine, entrant: &Entrant) -> Result<EnginePlan, ApiError> {
    let limits = limits(engine)?;
    let mut options = entrant.options.clone();
    options.extend(engine.options.iter().map(|(name, value)| (name.clone(), value.clone())));
    Ok(EnginePlan {
        name: String::new(),
        command: entrant.command.clone(),
        args: entrant.args.clone(),
        dir: entrant.dir.clone(),
        env: entrant.env.clone(),
        protocol: entrant.protocol.map(|protocol| match protocol {
            Protocol::Uci => ArenaProtocol::Uci,
            Protocol::Usi => ArenaProtocol::Usi,
        }),
        options,
        limits,
        ponder: engine.ponder,
        ..EnginePlan::default()
    })
}

fn limits(engine: &MatchEngine) -> Result<Limits, ApiError> {
    let mut limits = Limits { nodes: engine.nodes, depth: engine.depth, ..Limits::default() };
    match engine.time {
        Time::None if engine.nodes.is_none() && engine.depth.is_none() => {
            return Err(ApiError::invalid_request(ErrorCode::MissingLimit));
        }
        Time::None => (),
        Time::PerMove { time: 0 } | Time::Clock { base: 0, increment: 0, byoyomi: 0, moves: _ } => {
            return Err(ApiError::invalid_request(ErrorCode::ZeroTime));
        }
        Time::PerMove { time } => limits.move_time_ms = Some(time),
        Time::Clock { base, increment, byoyomi, moves } => {
            limits.byoyomi_ms = (byoyomi > 0).then_some(byoyomi);
            limits.tc = (base > 0 || increment > 0).then_some(TimeControl {
                moves: moves.filter(|moves| *moves > 0),
                time: Duration::from_millis(base),
                increment: Duration::from_millis(increment),
                hourglass: false,
            });
        }
    }
    // Years are no time control, and sums of them could not be counted.
    let control = limits.tc.map(|tc| tc.to_string().parse::<TimeControl>());
    if control.is_some_and(|read| read.is_err()) {
        return Err(ApiError::invalid_request(ErrorCode::TimeTooLong));
    }
    Ok(limits)
}

fn openings(asked: &MatchPlan) -> Result<Openings, ApiError> {
    let usual = Openings::default();
    Ok(match &asked.openings {
        MatchOpenings::Start => usual,
        MatchOpenings::Chess960 => Openings {
            source: OpeningSource::Chess960 { numbers: Vec::new() },
            order: OpeningOrder::Random,
            ..usual
        },
        MatchOpenings::Handicap { name } => {
            if Handicap::from_name(name).is_none() {
                return Err(ApiError::invalid_request(ErrorCode::unknown(
                    ErrorSubject::Handicap,
                    name,
                )));
            }
            Openings { source: OpeningSource::Handicap { name: name.clone() }, ..usual }
        }
        MatchOpenings::Positions { list } if MAX_OPENINGS < list.len() => {
            return Err(ApiError::too_many(ErrorSubject::Position));
        }
        MatchOpenings::Positions { list } => {
            // They are read when they are needed, which can be in the middle of the match.
            for (number, text) in (1_u64..).zip(list) {
                Position::from_text(asked.variant.into(), text).map_err(|error| {
                    let why = position_error(Some(asked.variant.into()), &error);
                    ApiError::invalid_request(why.with(|it| it.entry = Some(number)))
                })?;
            }
            Openings { source: OpeningSource::Positions { list: list.clone() }, ..usual }
        }
        MatchOpenings::File { path, plies, shuffled } => Openings {
            source: OpeningSource::File { path: path.clone(), format: None },
            order: if *shuffled { OpeningOrder::Random } else { OpeningOrder::Sequential },
            plies: *plies,
            ..usual
        },
    })
}

fn adjudication(asked: &MatchPlan) -> Result<Adjudication, ApiError> {
    let none = |moves: Option<u32>| moves == Some(0);
    if none(asked.draw.map(|rule| rule.moves))
        || none(asked.resign.map(|rule| rule.moves))
        || none(asked.max_moves)
    {
        return Err(ApiError::invalid_request(ErrorCode::MissingMoveCount));
    }
    Ok(Adjudication {
        draw: asked.draw.map(|rule| DrawAdjudication {
            from_move: rule.from_move,
            moves: rule.moves,
            score: rule.score,
        }),
        resign: asked.resign.map(|rule| ResignAdjudication {
            moves: rule.moves,
            score: rule.score,
            two_sided: false,
        }),
        max_moves: asked.max_moves,
        ..Adjudication::default()
    })
}

fn sprt(asked: &MatchPlan) -> Result<Option<SprtPlan>, ApiError> {
    let Some(test) = asked.sprt else { return Ok(None) };
    if asked.engines.len() != 2 {
        return Err(ApiError::invalid_request(ErrorCode::SprtRequiresTwoEngines));
    }
    let (elo0, elo1, alpha, beta) = (test.elo0, test.elo1, test.alpha, test.beta);
    let plan = SprtPlan { model: Model::default(), elo0, elo1, alpha, beta };
    plan.test().map_err(|error| ApiError::invalid_request(test_error(&error)))?;
    Ok(Some(plan))
}

/// The decision of a test.
pub(super) fn decision(verdict: Verdict) -> Option<ErrorInfo> {
    match verdict {
        Verdict::AcceptH0 => Some(ErrorCode::AcceptedH0.into()),
        Verdict::AcceptH1 => Some(ErrorCode::AcceptedH1.into()),
        Verdict::Continue => None,
    }
}

/// The number of failures of an engine.
pub(super) fn engine_failures(name: &str, count: u64) -> ErrorInfo {
    ErrorCode::EngineFailures { count }.with(|it| it.engine = Some(name.to_owned()))
}

pub(super) fn openings_skipped(game: Game, skipped: &Skipped) -> Option<ErrorInfo> {
    let first = skipped.errors.first()?;
    let count = skipped.more.saturating_add(skipped.errors.len() as u64);
    let cause = Box::new(opening_error(game, first));
    Some(match count {
        1 => ErrorCode::OpeningSkipped { cause }.into(),
        _ => ErrorCode::OpeningsSkipped { count, cause }.into(),
    })
}

/// A warning about an engine. The text is used if its kind is unknown.
pub(super) fn warning(engine: Option<&str>, kind: Option<&WarningKind>, text: &str) -> ErrorInfo {
    let code = kind.map_or_else(|| ErrorCode::System { text: printable(text) }, warning_code);
    match engine {
        Some(name) => code.with(|it| it.engine = Some(name.to_owned())),
        None => code.into(),
    }
}

fn warning_code(kind: &WarningKind) -> ErrorCode {
    match kind {
        WarningKind::UnknownOption { name } => {
            ErrorCode::unknown(ErrorSubject::Option, printable(name))
        }
        WarningKind::Unregistered { .. } => {
            ErrorCode::System { text: printable(&kind.to_string()) }
        }
        WarningKind::Restarted { failure } => {
            ErrorCode::Restarted { cause: Box::new(engine_failure(failure)) }
        }
        WarningKind::OptionValue { error } => option_error(error),
        WarningKind::NoScore => ErrorCode::MoveWithoutScore,
        WarningKind::OtherPv { text } => ErrorCode::PvMoveMismatch { token: printable(text) },
        WarningKind::IllegalPv { text } => ErrorCode::IllegalPvMove { token: printable(text) },
        WarningKind::PvBeyondEnd { text, end: _ } => {
            ErrorCode::PvAfterGameEnd { token: printable(text) }
        }
        WarningKind::MatePvLength { plies, found } => {
            ErrorCode::MatePvLength { plies: *plies, found: *found }
        }
        WarningKind::MatePvWithoutMate => ErrorCode::MatePvWithoutMate,
        WarningKind::WrongMateSign => ErrorCode::WrongMateSign,
        WarningKind::HostOverloaded { percent } => ErrorCode::HostOverloaded { percent: *percent },
        WarningKind::Protocol { rule } => {
            let (english, japanese) = (kind.to_string(), japanese(*rule));
            ErrorCode::ProtocolViolation { text: LocalizedText { english, japanese } }
        }
    }
}

fn japanese(rule: Rule) -> String {
    let language = Language::Japanese;
    format!("{} ({})", rule.text_in(language), rule.clause_in(language))
}

/// The error of a match.
pub(super) fn match_error(game: Game, error: &MatchError) -> ErrorInfo {
    match error {
        MatchError::Schedule(error) => schedule_error(game, error),
        MatchError::Test(error) => test_error(error).into(),
        MatchError::TestOf(_) => ErrorCode::SprtRequiresTwoEngines.into(),
        MatchError::Store(error) => store_error(error),
        MatchError::Threads(error) => ErrorCode::system(error).into(),
        _ => ErrorCode::MatchFailed.into(),
    }
}

/// The error of stored results.
pub(super) fn store_error(error: &StoreError) -> ErrorInfo {
    match error {
        StoreError::Io { path, what: _, error } => {
            io_error(error).with(|it| it.path = Some(path.display().to_string()))
        }
        StoreError::Damaged { path, line, why: _ } => ErrorCode::InvalidResults.with(|it| {
            (it.path, it.line) = (Some(path.display().to_string()), Some(*line));
        }),
        _ => ErrorCode::InvalidResults.into(),
    }
}

/// The error of a schedule.
pub(super) fn schedule_error(game: Game, error: &ScheduleError) -> ErrorInfo {
    let code = match error {
        ScheduleError::TooFewEngines { .. } => ErrorCode::TooFewEngines,
        ScheduleError::TooManyEngines { .. } => {
            ErrorCode::TooMany { subject: ErrorSubject::Engine }
        }
        ScheduleError::TooLarge => ErrorCode::TooMany { subject: ErrorSubject::Game },
        ScheduleError::Opening(error) => return opening_error(game, error),
        ScheduleError::NoSuchPairing { .. }
        | ScheduleError::Games { .. }
        | ScheduleError::OtherEngines { .. } => ErrorCode::InvalidResults,
        other => ErrorCode::system(other),
    };
    code.into()
}

/// The error of the parameters of a test.
fn test_error(error: &SprtError) -> ErrorCode {
    match error {
        SprtError::Hypotheses { .. } => ErrorCode::InvalidHypotheses,
        SprtError::Errors { .. } => ErrorCode::InvalidErrorRates,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::PathBuf;

    use readyok_arena::openings::{OpeningError, OpeningFault};
    use readyok_client::{EngineFailure, EngineFailureKind};

    use super::*;

    #[test]
    fn a_warning_names_its_engine() {
        let kind = WarningKind::OtherPv { text: "e2e4".to_owned() };
        let found = warning(Some("Rogue"), Some(&kind), "English");
        let code = ErrorCode::PvMoveMismatch { token: "e2e4".to_owned() };
        assert_eq!(found, code.with(|it| it.engine = Some("Rogue".to_owned())));
        let unknown = warning(None, None, "English");
        assert_eq!(unknown, ErrorCode::System { text: "English".to_owned() }.into());
    }

    #[test]
    fn skipped_openings_are_counted_with_the_first_error() {
        let error = |line| OpeningError {
            path: Some("book.epd".to_owned()),
            line: Some(line),
            fault: OpeningFault::NotText,
        };
        let info = |errors: Vec<OpeningError>, more| {
            openings_skipped(Game::Chess, &Skipped { errors, more })
        };
        assert_eq!(info(Vec::new(), 0), None);
        let cause = || {
            Box::new(ErrorCode::NotUtf8.with(|it| {
                (it.path, it.line) = (Some("book.epd".to_owned()), Some(3));
            }))
        };
        let one = ErrorCode::OpeningSkipped { cause: cause() };
        assert_eq!(info(vec![error(3)], 0), Some(one.into()));
        let many = ErrorCode::OpeningsSkipped { count: 7, cause: cause() };
        assert_eq!(info(vec![error(3), error(4)], 5), Some(many.into()));
    }

    #[test]
    fn storage_errors_name_the_file() {
        let info = |error| match_error(Game::Chess, &MatchError::Store(error));
        let path = PathBuf::from("a.match");
        let why = "English".to_owned();
        let damaged = ErrorCode::InvalidResults.with(|it| {
            (it.path, it.line) = (Some("a.match".to_owned()), Some(3));
        });
        assert_eq!(info(StoreError::Damaged { path: path.clone(), line: 3, why }), damaged);
        let error = io::Error::from(io::ErrorKind::PermissionDenied);
        let denied = ErrorCode::PermissionDenied.with(|it| it.path = Some("a.match".to_owned()));
        assert_eq!(info(StoreError::Io { path, what: "cannot be opened", error }), denied);
    }

    #[test]
    fn a_restart_names_the_failure_as_its_cause() {
        let failure = Box::new(EngineFailure::new(EngineFailureKind::Closed));
        let kind = WarningKind::Restarted { failure };
        let cause = Box::new(ErrorCode::OutputClosed.into());
        let expected = ErrorCode::Restarted { cause };
        assert_eq!(warning(Some("Rogue"), Some(&kind), "English").code, expected);
    }

    #[test]
    fn a_violation_has_a_japanese_text() {
        for rule in Rule::ALL {
            let kind = WarningKind::Protocol { rule };
            let ErrorCode::ProtocolViolation { text } = warning(None, Some(&kind), "").code else {
                panic!("{rule:?}");
            };
            assert_eq!(text.english, kind.to_string());
            let expected = rule.text_in(Language::Japanese);
            assert!(text.japanese.starts_with(expected), "{}", text.japanese);
        }
    }

    #[test]
    fn only_a_decided_test_is_reported() {
        let code = |verdict| decision(verdict).map(|info| info.code);
        assert_eq!(code(Verdict::AcceptH0), Some(ErrorCode::AcceptedH0));
        assert_eq!(code(Verdict::AcceptH1), Some(ErrorCode::AcceptedH1));
        assert_eq!(code(Verdict::Continue), None);
    }
}
