//! Clocks, judged as a match runner does: the time from `go` to `bestmove` against the remaining time.

use std::time::Duration;

use readyok_protocol::{Best, Dialect};
use readyok_rules::{Position, Side};

use super::assertions::test_positions;
use super::clause;
use crate::context::{Test, TestCase, TestContext, percentiles};
use crate::delay::{Timing, Verdict};
use crate::message::{Message, message};
use crate::session::{EngineSession, OrFail, WaitError};
use crate::spec::{Profile, Severity, Stop, TestResult};

/// Tolerance of match runners, including the inaccuracy of the measurement.
pub(super) const TOLERANCE: Duration = Duration::from_millis(20);

/// Limit of a reply with nearly no time left, which is lost in any case.
const PROMPT: Duration = Duration::from_millis(250);

/// Number of measurements after one that exceeds its limit, and the number that have to exceed it.
const REPETITIONS: usize = 2;
const CONFIRMED: usize = 2;

/// A `go` command as text, and the time for the move.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedGo {
    /// The side to move: 0 is White in chess and Black in shogi.
    side: usize,
    go: &'static str,
    limit: Duration,
}

/// `go` with the remaining time of the side to move in milliseconds.
const fn clock(side: usize, go: &'static str, limit: u64) -> TimedGo {
    TimedGo { side, go, limit: Duration::from_millis(limit) }
}

/// `go` with nearly no time left.
const fn prompt(go: &'static str) -> TimedGo {
    TimedGo { side: 0, go, limit: PROMPT }
}

pub(super) const CHECKS: &[TestCase] = &[
    check!(
        "limits.low-time",
        "with 0.4 s left and no increment the engine never loses on time",
        [
            "UCI 2006, go wtime and btime" => "the side has this many milliseconds left",
            "USI draft 1 §5.3, go btime and wtime" => "the remaining time of the side",
        ],
        Must,
        Profile::ALL,
        &[],
        "use a small part of the remaining time, minus a reserve for communication delays",
        Test::Interactive(low_time),
    ),
    check!(
        "limits.game",
        "the engine plays a short game against itself without losing on time",
        [
            "UCI 2006, go wtime, btime, winc and binc" => "the remaining time and the increment of each side",
            "USI draft 1 §5.3, go btime, wtime and byoyomi" => "the remaining time of each side, and the time per move after it",
        ],
        Must,
        Profile::ALL,
        &[],
        "divide the remaining time by the expected number of moves, and keep a reserve for communication delays",
        Test::Interactive(game),
    ),
];

/// Measures the time from a line to `bestmove`. A move that exceeds the limit by far is not awaited.
fn measure(
    context: &TestContext<'_>,
    session: &mut EngineSession,
    line: &str,
    limit: Duration,
) -> Result<Result<Timing, WaitError>, Stop> {
    let grace = Duration::from_millis(1500) + context.timeouts.ping() * 4;
    let (found, timing) = session.measured(line, limit + grace);
    match found {
        Ok(_) => Ok(Ok(timing)),
        Err(WaitError::Late(_)) => {
            session.send("stop");
            // A missing reply is the failure of another check.
            session.best(context.timeouts.answer())?;
            Ok(Ok(timing))
        }
        Err(other) => Ok(Err(other)),
    }
}

/// Judges repeated measurements of a limit.
pub(super) fn judge(
    limit: Duration,
    line: &str,
    measure: impl FnMut() -> Result<Result<Timing, WaitError>, Stop>,
) -> Result<Vec<Duration>, Stop> {
    judge_within(limit, TOLERANCE, line, measure)
}

/// Judges repeated measurements of a limit with a tolerance.
pub(super) fn judge_within(
    limit: Duration,
    tolerance: Duration,
    line: &str,
    mut measure: impl FnMut() -> Result<Result<Timing, WaitError>, Stop>,
) -> Result<Vec<Duration>, Stop> {
    let mut times = Vec::new();
    let (mut late, mut unknown) = (Vec::new(), false);
    for number in 0..=REPETITIONS {
        let verdict = match measure()? {
            Ok(timing) => {
                times.push(timing.time);
                timing.judge(limit + tolerance)
            }
            Err(other) => return Err(other.into_failure(message!("go.no-reply", go = line))),
        };
        match verdict {
            Verdict::InTime if number == 0 => break,
            Verdict::InTime => (),
            Verdict::Unknown => unknown = true,
            Verdict::TooLate => late.push(times.last().copied().unwrap_or_default()),
        }
    }
    late.sort();
    let shown = |time: Duration| time.as_millis();
    match late.first() {
        Some(time) if CONFIRMED <= late.len() => Err(Stop::Fail(message!(
            "clock.exceeded",
            go = line,
            ms = shown(*time),
            limit = shown(limit)
        ))),
        Some(_) => Err(Stop::Loaded(message!("clock.loaded", go = line, limit = shown(limit)))),
        None if unknown => {
            Err(Stop::Loaded(message!("clock.loaded", go = line, limit = shown(limit))))
        }
        None => Ok(times),
    }
}

/// The position in which a side is to move.
fn position_of(context: &TestContext<'_>, side: usize) -> String {
    let texts = test_positions(context.game()).middle;
    context.position(texts.get(side).copied().unwrap_or(texts[0]))
}

/// An engine after a first search, which may be slower than others.
fn warm(context: &TestContext<'_>) -> Result<EngineSession, Stop> {
    let mut session = context.ready()?;
    session.search(&position_of(context, 0), "go depth 1")?;
    Ok(session)
}

/// Verifies that searches with clocks end in time.
pub(super) fn in_time(context: &TestContext<'_>, clocks: &[TimedGo]) -> TestResult {
    let mut session = warm(context)?;
    for TimedGo { side, go, limit } in clocks {
        let position = position_of(context, *side);
        judge(*limit, go, || {
            session.send(&position);
            session.ready()?;
            measure(context, &mut session, go, *limit)
        })?;
    }
    Ok(())
}

pub(super) fn clock_times(context: &TestContext<'_>) -> TestResult {
    const UCI: [TimedGo; 8] = [
        clock(0, "go wtime 1000 btime 1000", 1000),
        clock(0, "go wtime 300 btime 300 winc 10 binc 10", 300),
        prompt("go wtime 1 btime 1"),
        clock(0, "go wtime 500", 500),
        clock(0, "go winc 10 wtime 200 binc 0 btime 100000", 200),
        clock(1, "go wtime 100000 btime 200 winc 0 binc 10", 200),
        clock(1, "go btime 500", 500),
        prompt("go wtime 20 btime 20"),
    ];
    const USI: [TimedGo; 6] = [
        clock(0, "go btime 1000 wtime 1000", 1000),
        clock(0, "go btime 300 wtime 300 binc 10 winc 10", 310),
        prompt("go btime 1 wtime 1"),
        clock(0, "go btime 500 wtime 0", 500),
        clock(0, "go btime 200 wtime 100000", 200),
        clock(1, "go btime 100000 wtime 200", 200),
    ];
    in_time(
        context,
        match context.dialect {
            Dialect::Uci => &UCI,
            Dialect::Usi => &USI,
        },
    )
}

pub(super) fn moves_to_go(context: &TestContext<'_>) -> TestResult {
    let other = match context.dialect {
        Dialect::Uci => "go wtime 100000 btime 300 movestogo 2",
        Dialect::Usi => "go wtime 300 btime 100000 movestogo 2",
    };
    in_time(
        context,
        &[
            clock(0, "go wtime 400 btime 400 movestogo 1", 400),
            clock(0, "go wtime 1000 btime 1000 movestogo 40", 1000),
            clock(1, other, 300),
        ],
    )
}

pub(super) fn byoyomi(context: &TestContext<'_>) -> TestResult {
    in_time(
        context,
        &[
            clock(0, "go btime 0 wtime 0 byoyomi 200", 200),
            clock(0, "go btime 500 wtime 500 byoyomi 100", 600),
            clock(1, "go btime 60000 wtime 0 byoyomi 200", 200),
        ],
    )
}

pub(super) fn usi_clocks(context: &TestContext<'_>) -> TestResult {
    in_time(
        context,
        &[
            clock(0, "go btime 1000 wtime 1000 byoyomi 0", 1000),
            clock(0, "go btime 0 wtime 0 binc 150 winc 150", 150),
            prompt("go btime 0 wtime 0 byoyomi 60"),
        ],
    )
}

/// Repeats a search with the same clock.
pub(super) fn repeated(
    context: &TestContext<'_>,
    go: &str,
    limit: Duration,
    count: usize,
) -> Result<Vec<Duration>, Stop> {
    let mut session = warm(context)?;
    let position = position_of(context, 0);
    let mut times = Vec::new();
    for _ in 0..count {
        times.extend(judge(limit, go, || {
            session.send(&position);
            session.ready()?;
            measure(context, &mut session, go, limit)
        })?);
    }
    Ok(times)
}

/// Remaining time, and the number of searches with it.
const LEFT: Duration = Duration::from_millis(400);
const MOVES: usize = 6;

fn low_time(context: &TestContext<'_>) -> TestResult {
    let left = LEFT.as_millis();
    let go = match context.dialect {
        Dialect::Uci => format!("go wtime {left} btime {left} winc 0 binc 0"),
        Dialect::Usi => format!("go btime {left} wtime {left}"),
    };
    let mut times = repeated(context, &go, LEFT, MOVES)?;
    context.remark(format!("with {left} ms on the clock a move took {}", percentiles(&mut times)));
    Ok(())
}

/// Verifies that a search that was started by `go ponder` ends in time after `ponderhit`.
pub(super) fn hit_in_time(
    context: &TestContext<'_>,
    position: &str,
    go: &str,
    limit: Duration,
    no_reply: impl Fn() -> Message,
) -> TestResult {
    judge(limit, "ponderhit", || {
        // Another check covers early replies.
        let mut session = context.ready_unchecked()?;
        session.send(position);
        session.send(go);
        session.listen(Duration::from_millis(30));
        if !session.is_searching() {
            return Err(Stop::Inconclusive(message!("ponder.ended")));
        }
        match session.timed("ponderhit", limit + context.timeouts.answer()) {
            Err(WaitError::Late(time)) => Err(WaitError::Late(time).into_failure(no_reply())),
            other => Ok(other.map(|(_, timing)| timing)),
        }
    })
    .map(drop)
}

/// Times of the game: remaining time, increment or byoyomi, and the maximum number of moves of both sides.
const BASE: Duration = Duration::from_millis(900);
const INCREMENT: Duration = Duration::from_millis(25);
const BYOYOMI: Duration = Duration::from_millis(250);
const PLIES: usize = 50;
const BYOYOMI_PLIES: usize = 20;

fn game(context: &TestContext<'_>) -> TestResult {
    match play_game(context) {
        Err(Stop::Fail(loss)) => match play_game(context) {
            Ok(()) | Err(Stop::Loaded(_)) => {
                Err(Stop::Loaded(message!("game.not-repeated", cause = loss)))
            }
            other => other,
        },
        other => other,
    }
}

fn play_game(context: &TestContext<'_>) -> TestResult {
    let mut session = warm(context)?;
    session.send(context.dialect.new_game());
    session.ready()?;
    let mut position = Position::start(context.game());
    let mut moves: Vec<String> = Vec::new();
    let mut left = [BASE; 2];
    let plies = match context.dialect {
        Dialect::Uci => PLIES,
        Dialect::Usi => BYOYOMI_PLIES,
    };
    let mut times = Vec::new();
    while moves.len() < plies && position.outcome().is_none() {
        let side = usize::from(position.turn() == Side::Second);
        let [first, second] = left.map(|time| time.as_millis());
        let (go, limit) = match context.dialect {
            Dialect::Uci => {
                let inc = INCREMENT.as_millis();
                let go = format!("go wtime {first} btime {second} winc {inc} binc {inc}");
                (go, left[side])
            }
            Dialect::Usi => {
                let byoyomi = BYOYOMI.as_millis();
                let go = format!("go btime {first} wtime {second} byoyomi {byoyomi}");
                (go, left[side] + BYOYOMI)
            }
        };
        let line =
            if moves.is_empty() { String::new() } else { format!(" moves {}", moves.join(" ")) };
        session.send(&format!("position startpos{line}"));
        session.ready()?;
        let (best, timing) = session
            .timed(&go, limit + context.timeouts.answer())
            .or_fail(message!("go.no-reply", go = &go))?;
        let number = moves.len() + 1;
        let (ms, limit_ms) = (timing.time.as_millis(), limit.as_millis());
        match timing.judge(limit + TOLERANCE) {
            Verdict::InTime => (),
            Verdict::Unknown => {
                return Err(Stop::Loaded(message!("clock.loaded", go, limit = limit_ms)));
            }
            Verdict::TooLate => {
                return Err(Stop::Fail(message!("game.time-loss", number, ms, limit = limit_ms)));
            }
        }
        times.push(timing.time);
        left[side] = left[side].saturating_sub(timing.time);
        if context.dialect == Dialect::Uci {
            left[side] += INCREMENT;
        }
        let Best::Move(mv) = best.best else { break };
        // Another check covers illegal moves.
        let Ok(next) = position.clone().after([mv.as_str()]) else { break };
        position = next;
        moves.push(mv.as_str().to_owned());
    }
    context.remark(format!("{} moves took {}", moves.len(), percentiles(&mut times)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timed(times: &[(u64, u64)]) -> Result<usize, Stop> {
        let mut times = times.iter();
        let measure = || {
            let (time, delay) = times.next().copied().unwrap_or_default();
            let (time, delay) = (Duration::from_millis(time), Duration::from_millis(delay));
            Ok(Ok(Timing { time, delay }))
        };
        judge(Duration::from_millis(300), "go", measure).map(|times| times.len())
    }

    #[test]
    fn times_beyond_the_limit_fail_when_they_are_confirmed() {
        assert!(matches!(timed(&[(320, 0)]), Ok(1)));
        assert!(matches!(timed(&[(522, 0), (520, 0), (521, 0)]), Err(Stop::Fail(_))));
        assert!(matches!(timed(&[(3000, 50), (3000, 50), (200, 0)]), Err(Stop::Fail(_))));
    }

    #[test]
    fn times_under_load_have_no_verdict() {
        assert!(matches!(timed(&[(522, 400), (520, 400), (521, 400)]), Err(Stop::Loaded(_))));
        assert!(matches!(timed(&[(522, 400), (200, 0), (200, 0)]), Err(Stop::Loaded(_))));
        assert!(matches!(timed(&[(522, 0), (200, 0), (200, 0)]), Err(Stop::Loaded(_))));
    }
}
