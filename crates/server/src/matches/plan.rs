//! The conversion of the page's plan to a plan of the arena.

use std::time::Duration;

use readyok_arena::openings::OpeningDefect;
use readyok_arena::plan::{
    Adjudication, EnginePlan, Format, GamesPerPairing, KnockoutTie, Limits, OpeningOrder,
    OpeningSource, Openings, Plan, SprtPlan, TimeControl,
};
use readyok_arena::schedule::{PairingError, Schedule};
use readyok_arena::stats::SprtError;
use readyok_rules::{Handicap, Position};

use crate::errors::{position_error, schedule_error};
use crate::wire::{
    ApiError, ErrorCode, ErrorSubject, MatchEngine, MatchFormat, MatchOpenings, MatchPlan,
    MatchProgram, Time, Variant,
};

/// Maximum number of engines, rounds, pairs of an encounter, and concurrent games.
const MAX_ENGINES: usize = 100;
const MAX_ROUNDS: u32 = 10_000;
const MAX_PAIRS: u32 = 1_000_000;
const MAX_SLOTS: u32 = 64;
/// Maximum number of openings of a list, and maximum size of a text of the plan.
const MAX_OPENINGS: usize = 100_000;
const MAX_COUNT: usize = 1000;

/// The plan of a match, and the number of concurrent games. `registered` are its engines in the order of the
/// plan; names, limits and further options are those of the match.
///
/// # Errors
/// The plan is invalid or too large.
pub fn plan_of(
    requested: &MatchPlan,
    registered: &[EnginePlan],
) -> Result<(Plan, usize), ApiError> {
    if requested.engines.len() < 2 || requested.engines.len() != registered.len() {
        return Err(ApiError::invalid_request(ErrorCode::from(PairingError::TooFewEngines {
            engines: requested.engines.len(),
        })));
    }
    // As long as its test.
    let is_unlimited = requested.rounds == Plan::UNLIMITED_ROUNDS
        && requested.sprt.is_some()
        && match requested.format {
            MatchFormat::RoundRobin | MatchFormat::Gauntlet | MatchFormat::Takes => true,
            MatchFormat::Knockout | MatchFormat::Swiss => false,
        };
    if MAX_ENGINES < registered.len()
        || !(is_unlimited || (1..=MAX_ROUNDS).contains(&requested.rounds))
        || !(1..=MAX_PAIRS).contains(&requested.pairs)
        || !(1..=MAX_SLOTS).contains(&requested.concurrency)
    {
        return Err(ApiError::limit(ErrorCode::MatchTooLarge {
            rounds: MAX_ROUNDS,
            pairs: MAX_PAIRS,
            engines: MAX_ENGINES,
            concurrency: MAX_SLOTS,
        }));
    }
    if MAX_COUNT < requested.name.len() || requested.name.chars().any(char::is_control) {
        return Err(ApiError::invalid_text(ErrorSubject::MatchName));
    }
    let mut engines: Vec<EnginePlan> = Vec::new();
    for (engine, registered) in requested.engines.iter().zip(registered) {
        let name = name(engine, registered, &engines)?;
        engines.push(EnginePlan { name, ..engine_plan(engine, registered)? });
    }
    let plan = Plan {
        game: requested.variant,
        event: requested.name.clone(),
        site: String::new(),
        engines,
        format: match requested.format {
            MatchFormat::RoundRobin => Format::RoundRobin,
            MatchFormat::Gauntlet => Format::Gauntlet { seeds: 1 },
            MatchFormat::Knockout => Format::Knockout { replays: 1, tie: KnockoutTie::default() },
            MatchFormat::Swiss => Format::Swiss,
            MatchFormat::Takes => Format::Takes,
        },
        pairing_order: readyok_arena::plan::PairingOrder::default(),
        // The bracket determines the number of rounds of a knockout.
        rounds: if requested.format == MatchFormat::Knockout { 1 } else { requested.rounds },
        pairs_per_encounter: requested.pairs,
        games: GamesPerPairing::Two,
        colors: readyok_arena::plan::Colors::default(),
        search_timeout_ms: None,
        wait_ms: None,
        pv_check: readyok_arena::plan::PvCheck::default(),
        openings: openings(requested)?,
        adjudication: adjudication(requested)?,
        sprt: sprt(requested)?,
        tune: None,
        seed: requested.seed,
    };
    // This reads the openings and validates the rest.
    Schedule::open(&plan)
        .map_err(|error| ApiError::invalid_request(schedule_error(plan.game, &error)))?;
    let slots = usize::try_from(requested.concurrency).unwrap_or(1);
    Ok((plan, slots))
}

/// A unique name of an engine in the match.
fn name(
    engine: &MatchEngine,
    registered: &EnginePlan,
    others: &[EnginePlan],
) -> Result<String, ApiError> {
    let is_free = |name: &str| others.iter().all(|other| other.name != name);
    let requested = engine.name.trim();
    if MAX_COUNT < requested.len() || requested.chars().any(char::is_control) {
        return Err(ApiError::invalid_text(ErrorSubject::EngineName));
    }
    if !requested.is_empty() {
        let taken =
            || ApiError::invalid_request(ErrorCode::DuplicateName { name: requested.to_owned() });
        return is_free(requested).then(|| requested.to_owned()).ok_or_else(taken);
    }
    let own = match registered.name.trim() {
        "" => "engine",
        name => name,
    };
    let numbered = (2..).map(|number: u32| format!("{own} {number}"));
    let mut names = std::iter::once(own.to_owned()).chain(numbered);
    names.find(|name| is_free(name)).ok_or_else(|| ApiError::too_many(ErrorSubject::Engine))
}

fn engine_plan(engine: &MatchEngine, registered: &EnginePlan) -> Result<EnginePlan, ApiError> {
    let mut plan =
        EnginePlan { limits: limits(engine)?, ponder: engine.ponder, ..registered.clone() };
    plan.options.extend(engine.options.clone());
    Ok(plan)
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

fn openings(requested: &MatchPlan) -> Result<Openings, ApiError> {
    let usual = Openings::default();
    Ok(match &requested.openings {
        MatchOpenings::Start => usual,
        MatchOpenings::BuiltIn => {
            if requested.variant == Variant::Chess960 {
                return Err(ApiError::invalid_request(ErrorCode::from(
                    OpeningDefect::OpeningsOfOtherVariant { variant: requested.variant },
                )));
            }
            Openings { source: OpeningSource::BuiltIn, order: OpeningOrder::Random, ..usual }
        }
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
                Position::from_text(requested.variant, text).map_err(|error| {
                    let why = position_error(Some(requested.variant), &error);
                    ApiError::invalid_request(why.with(|context| context.entry = Some(number)))
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

fn adjudication(requested: &MatchPlan) -> Result<Adjudication, ApiError> {
    let none = |moves: Option<u32>| moves == Some(0);
    if none(requested.draw.map(|rule| rule.moves))
        || none(requested.resign.map(|rule| rule.moves))
        || none(requested.max_moves)
    {
        return Err(ApiError::invalid_request(ErrorCode::MissingMoveCount));
    }
    Ok(Adjudication {
        draw: requested.draw,
        resign: requested.resign,
        max_moves: requested.max_moves,
        ..Adjudication::default()
    })
}

fn sprt(requested: &MatchPlan) -> Result<Option<SprtPlan>, ApiError> {
    let is_of_takes = requested.format == MatchFormat::Takes;
    let Some(test) = requested.sprt else {
        let missing = || ApiError::invalid_request(ErrorCode::from(SprtError::TakesRequireSprt));
        return if is_of_takes { Err(missing()) } else { Ok(None) };
    };
    if requested.engines.len() != 2 && !is_of_takes {
        return Err(ApiError::invalid_request(ErrorCode::from(
            SprtError::SprtRequiresTwoEngines { engines: requested.engines.len() },
        )));
    }
    test.test().map_err(|error| ApiError::invalid_request(ErrorCode::from(error)))?;
    Ok(Some(test))
}

/// A plan as the form of the page shows it. What the form does not know is left out.
pub fn form_of(plan: &Plan) -> MatchPlan {
    let engine = |engine: &EnginePlan| MatchEngine {
        engine: match &engine.source {
            Some(source) => MatchProgram::Git { source: source.clone() },
            None => {
                MatchProgram::Program { command: engine.command.clone(), args: engine.args.clone() }
            }
        },
        name: engine.name.clone(),
        time: time_of(&engine.limits),
        nodes: engine.limits.nodes,
        depth: engine.limits.depth,
        ponder: engine.ponder,
        options: engine.options.clone(),
    };
    MatchPlan {
        name: plan.event.clone(),
        variant: plan.game,
        engines: plan.engines.iter().map(engine).collect(),
        format: match plan.format {
            Format::RoundRobin | Format::Pyramid => MatchFormat::RoundRobin,
            Format::Gauntlet { .. } => MatchFormat::Gauntlet,
            Format::Knockout { .. } => MatchFormat::Knockout,
            Format::Swiss => MatchFormat::Swiss,
            Format::Takes => MatchFormat::Takes,
        },
        rounds: plan.rounds,
        pairs: plan.pairs_per_encounter,
        openings: match &plan.openings.source {
            OpeningSource::Start | OpeningSource::DoubleChess960 { .. } => MatchOpenings::Start,
            OpeningSource::BuiltIn => MatchOpenings::BuiltIn,
            OpeningSource::File { path, .. } => MatchOpenings::File {
                path: path.clone(),
                plies: plan.openings.plies,
                shuffled: plan.openings.order != OpeningOrder::Sequential,
            },
            OpeningSource::Positions { list } => MatchOpenings::Positions { list: list.clone() },
            OpeningSource::Chess960 { .. } => MatchOpenings::Chess960,
            OpeningSource::Handicap { name } => MatchOpenings::Handicap { name: name.clone() },
        },
        concurrency: 1,
        draw: plan.adjudication.draw,
        resign: plan.adjudication.resign,
        max_moves: plan.adjudication.max_moves,
        sprt: plan.sprt,
        seed: plan.seed,
    }
}

fn time_of(limits: &Limits) -> Time {
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    match (limits.tc, limits.byoyomi_ms, limits.move_time_ms) {
        (None, None, Some(time)) => Time::PerMove { time },
        (None, None, None) => Time::None,
        (tc, byoyomi, _) => Time::Clock {
            base: tc.map_or(0, |tc| millis(tc.time)),
            increment: tc.map_or(0, |tc| millis(tc.increment)),
            byoyomi: byoyomi.unwrap_or_default(),
            moves: tc.and_then(|tc| tc.moves),
        },
    }
}

/// A copy of a plan with the changes of its form, and another seed: what the form does not show stays as it is.
/// `programs` are the engines of the changed form, as for [`plan_of`].
///
/// # Errors
/// A change is invalid, or the new plan is.
pub fn changed_plan(
    original: &Plan,
    wanted: &MatchPlan,
    programs: &[EnginePlan],
) -> Result<Plan, ApiError> {
    let form = form_of(original);
    let mut checked = wanted.clone();
    // A plan can have more rounds than a form can set, and its openings may be on another computer.
    let is_same_length = wanted.rounds == form.rounds;
    if is_same_length {
        checked.rounds = 1;
    }
    let has_same_openings = wanted.openings == form.openings;
    if has_same_openings {
        checked.openings = MatchOpenings::Start;
    }
    let (fresh, _) = plan_of(&checked, programs)?;
    let mut plan = original.clone();
    plan.engines = Vec::new();
    for (index, (engine, fresh)) in wanted.engines.iter().zip(fresh.engines).enumerate() {
        // By its name if engines were removed; one that was renamed is at the same place.
        let same = |shown: &MatchEngine| shown.engine == engine.engine;
        let named = form.engines.iter().position(|shown| same(shown) && shown.name == engine.name);
        let at = named.unwrap_or(index);
        let before = form.engines.get(at).zip(original.engines.get(at));
        let Some((shown, before)) = before.filter(|(shown, _)| same(shown)) else {
            plan.engines.push(fresh);
            continue;
        };
        let limits = |of: &MatchEngine| (of.time, of.nodes, of.depth);
        let is_same = limits(shown) == limits(engine);
        plan.engines.push(EnginePlan {
            name: fresh.name,
            limits: if is_same {
                before.limits
            } else {
                Limits { margin_ms: before.limits.margin_ms, ..fresh.limits }
            },
            ponder: engine.ponder,
            options: engine.options.clone(),
            ..before.clone()
        });
    }
    plan.event.clone_from(&fresh.event);
    plan.game = fresh.game;
    if wanted.format != form.format {
        plan.format = fresh.format;
    }
    if !is_same_length {
        plan.rounds = fresh.rounds;
    }
    plan.pairs_per_encounter = fresh.pairs_per_encounter;
    if !has_same_openings {
        plan.openings = fresh.openings;
    }
    (plan.adjudication.draw, plan.adjudication.resign) =
        (fresh.adjudication.draw, fresh.adjudication.resign);
    plan.adjudication.max_moves = fresh.adjudication.max_moves;
    plan.sprt = fresh.sprt;
    plan.seed = fresh.seed;
    Ok(plan)
}
