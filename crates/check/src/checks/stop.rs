//! Searches that end at `stop`, and commands before it.

use std::time::Duration;

use readyok_protocol::Reply;

use super::assertions::{middle, obeys_stop, soon_done};
use crate::context::{TestContext, percentiles};
use crate::delay::Verdict;
use crate::message::{Message, message};
use crate::session::{Line, OrFail};
use crate::spec::{Stop, TestResult};

/// Number of searches whose `stop` is timed, and the limit of each.
const STOPS: usize = 20;
const STOP_LIMIT: Duration = Duration::from_millis(500);

/// Limit of `readyok` in a search.
const READY_LIMIT: Duration = Duration::from_millis(500);

pub(super) fn infinite(context: &TestContext<'_>) -> TestResult {
    // Excluded from passive checks, which would report the same reply again.
    let mut session = context.ready_unchecked()?;
    for position in soon_done(context) {
        session.send(&position);
        session.send("go infinite");
        if session.ends_when_complete()? {
            return Err(if ends_without_command(context, &position)? {
                Stop::Fail(message!("infinite.early-bestmove"))
            } else {
                Stop::Inconclusive(message!("search.ended-by-isready"))
            });
        }
        session.send("stop");
        session.best(context.timeouts.answer())?;
    }
    Ok(())
}

pub(super) fn stop(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let (mut times, mut late, mut unknown) = (Vec::new(), Vec::new(), false);
    for number in 0..STOPS {
        session.send(&middle(context));
        session.send("go infinite");
        if number % 4 == 0 {
            // Varies the progress of the searches.
            session.listen(Duration::from_millis(20));
        } else {
            session.underway();
        }
        if !session.is_searching() {
            return Err(Stop::Inconclusive(message!("infinite.ended")));
        }
        let (_, timing) = session
            .timed("stop", context.timeouts.answer())
            .or_fail(message!("stop.no-bestmove"))?;
        times.push(timing.time);
        match timing.judge(STOP_LIMIT) {
            Verdict::InTime => (),
            Verdict::Unknown => unknown = true,
            Verdict::TooLate => late.push(timing.time),
        }
    }
    context.remark(format!("`stop` was answered in {}", percentiles(&mut times)));
    let limit = STOP_LIMIT.as_millis();
    match late.first() {
        Some(time) => Err(Stop::Fail(message!("search.took", ms = time.as_millis()))),
        None if unknown => Err(Stop::Loaded(message!("clock.loaded", go = "stop", limit))),
        None => Ok(()),
    }
}

pub(super) fn immediate_stop(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    for go in ["go infinite", "go depth 40", "go movetime 100000000"] {
        session.write(format!("{}\n{go}\nstop\n", middle(context)).as_bytes());
        session.best(context.timeouts.answer()).or_fail(message!("stop.one-write", go))?;
    }
    Ok(())
}

pub(super) fn ready(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&middle(context));
    session.send("go infinite");
    // The duration of `go` itself does not count.
    session.underway();
    let mut times = Vec::new();
    let mut verdicts = Vec::new();
    for _ in 0..3 {
        let (reported, timing) = session.timed_ready();
        let reported = reported.or_fail(message!("search.no-readyok"))?;
        times.push(timing.time);
        verdicts.push(timing.judge(READY_LIMIT));
        if reported.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
            return Err(ended_by_command(context, message!("search.ended-by-isready"))?);
        }
    }
    context.remark(format!("`readyok` in a search took {}", percentiles(&mut times)));
    // The search may end a little later.
    let late = session.listen(context.timeouts.quiet() * 2);
    if late.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
        return Err(ended_by_command(context, message!("search.ended-by-isready"))?);
    }
    session.send("stop");
    session.best(context.timeouts.answer()).or_fail(message!("search.no-reply-to-stop"))?;
    // One late reply may have another cause, such as a depth that allocates memory.
    if verdicts.contains(&Verdict::InTime) {
        return Ok(());
    }
    if verdicts.contains(&Verdict::Unknown) {
        let limit = READY_LIMIT.as_millis();
        return Err(Stop::Loaded(message!("clock.loaded", go = "isready", limit)));
    }
    let ms = times.first().map_or(0, Duration::as_millis);
    Err(Stop::Fail(message!("search.late-readyok", ms)))
}

/// The result if a search ended after a command: inconclusive if it also ends without it.
fn ended_by_command(context: &TestContext<'_>, failure: Message) -> Result<Stop, Stop> {
    Ok(if ends_without_command(context, &middle(context))? {
        Stop::Inconclusive(message!("infinite.ended"))
    } else {
        Stop::Fail(failure)
    })
}

/// Whether an infinite search ends although nothing is sent, not even `isready`.
fn ends_without_command(context: &TestContext<'_>, position: &str) -> Result<bool, Stop> {
    let mut control = context.start_separate()?;
    control.send(position);
    control.send("go infinite");
    let is_answer = |line: &Line| matches!(line.reply, Reply::BestMove(_));
    Ok(control.listen(context.timeouts.quiet() * 4).iter().any(is_answer))
}

pub(super) fn debug(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send("debug on");
    session.ready().or_fail(message!("debug.no-readyok"))?;
    session.send(&middle(context));
    session.send("go infinite");
    session.send("debug off");
    if session.ends_by_itself()? {
        return Err(ended_by_command(context, message!("debug.bestmove"))?);
    }
    session.send("stop");
    if let Err(failure) = session.best(context.timeouts.answer()) {
        obeys_stop(context)?;
        return Err(failure.into_failure(message!("debug.no-reply-to-stop")));
    }
    Ok(())
}
