//! Limits of searches at their edges.

use readyok_protocol::Dialect;

use super::assertions::{continues, middle, obeys_stop};
use super::clause;
use crate::context::{Test, TestCase, TestContext};
use crate::message::message;
use crate::session::{EngineSession, OrFail};
use crate::spec::TestResult;
use crate::spec::{Need, Profile, Severity};

pub(super) const CHECKS: &[TestCase] = &[
    check!(
        "limits.none",
        "`go` without a limit ends at `stop` or earlier",
        [
            "UCI 2006, go" => "a missing limit does not influence the search",
            "USI draft 1 §5.3, go" => "a missing limit does not affect the search",
        ],
        Should,
        Profile::ALL,
        &[],
        "treat a bare `go` as `go infinite` or as a short search, and obey `stop`",
        Test::Interactive(bare),
    ),
    check!(
        "limits.large",
        "the engine treats huge depths, node counts and times as unlimited",
        [
            "UCI 2006, go depth, nodes and movetime" => "`<x>` is a number without a maximum",
            "USI draft 1 §5.3, go" => "the numbers have no maximum",
        ],
        Should,
        Profile::ALL,
        &[],
        "read 64-bit numbers, and saturate larger ones",
        Test::Interactive(large),
    ),
    check!(
        "limits.zero",
        "the engine replies to a limit of zero, at the latest after `stop`",
        [
            "practice" => "rounding in clients produces depth 0, 0 nodes, 0 ms or 0 moves to go",
        ],
        May,
        Profile::ALL,
        &[],
        "treat zero as the smallest search, and send a move",
        Test::Interactive(zero),
    ),
    check!(
        "limits.movetime-zero",
        "`go movetime 0` ends by itself",
        [
            "UCI 2006, go movetime" => "search exactly this many milliseconds",
            "USI draft 1 §5.3, go movetime" => "search for exactly this many milliseconds",
            "practice (Stockfish#3720)" => "clients round short times to 0 and wait for the reply",
        ],
        Should,
        Profile::ALL,
        &[],
        "treat a time of zero as the shortest search, not as no limit",
        Test::Interactive(move_time_zero),
    ),
    check!(
        "limits.ponder",
        "no depth, node or time limit ends the search while pondering",
        [
            "UCI 2006, go ponder" => "the engine does not exit the search in ponder mode, regardless of its result",
            "USI draft 1 §5.3, go ponder" => "the engine defers its move until `ponderhit` or `stop`",
        ],
        Must,
        Profile::ALL,
        &[Need::Ponder],
        "defer `bestmove` until `ponderhit` or `stop`, regardless of limits",
        Test::Interactive(ponder_holds),
    ),
];

/// A search that may end by itself ends at `stop` at the latest.
fn ends(context: &TestContext<'_>, session: &mut EngineSession, go: &str) -> TestResult {
    let position = &middle(context);
    session.send(position);
    session.send(go);
    session.listen(session.timeouts().quiet());
    if session.is_searching() {
        session.send("stop");
        let limit = session.timeouts().answer();
        if let Err(failure) = session.best(limit) {
            // An engine that ignores `stop` does not fail this check.
            obeys_stop(context)?;
            return Err(failure.into_failure(message!("stop.no-reply", go)));
        }
    }
    session.until_ready().or_fail(message!("go.no-readyok", go))?;
    Ok(())
}

fn bare(context: &TestContext<'_>) -> TestResult {
    ends(context, &mut context.ready()?, "go")
}

fn large(context: &TestContext<'_>) -> TestResult {
    // Excluded from passive checks, because an engine may misread such numbers.
    let mut session = context.ready_unchecked()?;
    for go in ["go depth 2147483647", "go nodes 9223372036854775807", "go movetime 4294967296000"] {
        ends(context, &mut session, go)?;
    }
    Ok(())
}

fn zero(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let moves_to_go = match context.dialect {
        Dialect::Uci => "go wtime 1000 btime 1000 movestogo 0",
        Dialect::Usi => "go btime 0 wtime 0 byoyomi 0",
    };
    for go in ["go depth 0", "go nodes 0", "go movetime 0", moves_to_go] {
        ends(context, &mut session, go)?;
    }
    Ok(())
}

fn move_time_zero(context: &TestContext<'_>) -> TestResult {
    // Excluded from passive checks, because a zero limit is a violation of the client.
    let mut session = context.ready_unchecked()?;
    session.send(&middle(context));
    session.send("go movetime 0");
    if let Err(failure) = session.best(session.timeouts().answer()) {
        // An engine that does not obey `movetime` fails another check.
        return Err(failure.into_failure(message!("go.no-reply", go = "go movetime 0")));
    }
    Ok(())
}

fn ponder_holds(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    for limit in ["depth 1", "nodes 2", "movetime 2"] {
        session.send(&middle(context));
        session.send(&format!("go ponder {limit}"));
        continues(&mut session, message!("ponder.early-with-limit", limit))?;
        session.send("stop");
        session.best(context.timeouts.answer())?;
    }
    Ok(())
}
