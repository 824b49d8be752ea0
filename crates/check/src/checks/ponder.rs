//! Ponder searches.

use std::time::Duration;

use readyok_protocol::{Best, Dialect};

use super::assertions::{self, continues, middle, soon_done};
use super::clocks;
use super::positions::read;
use crate::capabilities::Feature;
use crate::context::TestContext;
use crate::message::message;
use crate::session::OrFail;
use crate::spec::{Stop, TestResult};

pub(super) fn holds_bestmove(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let clocks = expiring_clocks(context);
    let mut positions = soon_done(context);
    positions.push(middle(context));
    for position in positions {
        session.send(&position);
        session.send(&format!("go ponder {clocks}"));
        continues(&mut session, message!("ponder.early-bestmove"))?;
        session.send("stop");
        session.best(context.timeouts.answer())?;
    }
    Ok(())
}

/// Limit of a reply to `ponderhit` with 60 ms left.
const HIT_LIMIT: Duration = Duration::from_millis(300);

/// A clock that expires while the engine ponders.
fn expiring_clocks(context: &TestContext<'_>) -> &'static str {
    match context.dialect {
        Dialect::Uci => "wtime 60 btime 60 winc 0 binc 0",
        Dialect::Usi => "btime 60 wtime 60",
    }
}

pub(super) fn hit(context: &TestContext<'_>) -> TestResult {
    let mut positions = soon_done(context);
    positions.push(middle(context));
    for position in positions {
        let go = format!("go ponder {}", expiring_clocks(context));
        let no_reply = || message!("ponderhit.no-bestmove");
        clocks::hit_in_time(context, &position, &go, HIT_LIMIT, no_reply)?;
    }
    let long = match context.dialect {
        Dialect::Uci => "go ponder wtime 800 btime 100000",
        Dialect::Usi => "go ponder btime 800 wtime 100000",
    };
    let limit = Duration::from_millis(800);
    clocks::hit_in_time(context, &middle(context), long, limit, || {
        message!("ponderhit.no-bestmove")
    })?;
    if context.engine_info.capabilities.lacks(Feature::Depth) {
        return Ok(());
    }
    let mut session = context.ready_unchecked()?;
    session.send(&middle(context));
    session.send("go ponder depth 1");
    session.listen(Duration::from_millis(30));
    // Another check covers early replies.
    if session.is_searching() {
        session.send("ponderhit");
        session
            .best(context.timeouts.answer())
            .or_fail(message!("ponderhit.no-bestmove-at-depth"))?;
    }
    Ok(())
}

pub(super) fn no_legal_move(context: &TestContext<'_>) -> TestResult {
    let mated = context.position(assertions::test_positions(context.game()).mated);
    let pondered = ponder_without_move(context, &mated);
    if pondered.is_err() {
        // Another check covers an engine that does not reply in this position at all.
        context.start_separate()?.search(&mated, "go depth 2")?;
    }
    pondered
}

fn ponder_without_move(context: &TestContext<'_>, position: &str) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send(position);
    session.send(&format!("go ponder {}", expiring_clocks(context)));
    session.underway();
    if session.is_searching() {
        session.send("stop");
        session.best(context.timeouts.answer()).or_fail(message!("ponder.no-reply-to-stop"))?;
    }
    session.until_ready().or_fail(message!("ponder.no-readyok"))?;
    Ok(())
}

pub(super) fn stop(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&middle(context));
    session.send(&format!("go ponder {}", expiring_clocks(context)));
    if session.ends_by_itself()? {
        return Err(Stop::Inconclusive(message!("ponder.ended")));
    }
    session.send("stop");
    session.best(context.timeouts.answer()).or_fail(message!("ponder.no-reply-to-stop"))?;
    // The other side is to move: a reply for the position before is illegal.
    let text = assertions::test_positions(context.game()).middle[1];
    let found =
        session.search(&context.position(text), "go depth 2").or_fail(message!("ponder.miss"))?;
    match &found.best.best {
        Best::Move(mv) if read(context, text)?.parse_move(mv.as_str()).is_err() => {
            Err(Stop::Fail(message!("go.other-position", mv)))
        }
        _ => Ok(()),
    }
}
