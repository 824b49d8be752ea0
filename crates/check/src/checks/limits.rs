//! Limits of searches at their edges, and clocks.

use std::time::Duration;

use readyok_protocol::Dialect;

use super::{clause, probe};
use crate::bench::{Bench, percentiles};
use crate::check::{Check, Outcome, Profile, Severity, Stop, Test};
use crate::message::message;
use crate::talk::{Blame, Talk};

/// What is left on a clock, and how often the engine gets so much.
const LEFT: Duration = Duration::from_millis(400);
const MOVES: usize = 8;

pub(super) const CHECKS: &[Check] = &[
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
        Test::Ask(clock_kept),
    ),
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
        Test::Ask(bare),
    ),
    check!(
        "limits.large",
        "the engine treats huge depths, node counts and times as unlimited",
        [
            "UCI 2006, go depth, nodes and movetime" => "<x> is a number without a maximum",
            "USI draft 1 §5.3, go" => "the numbers have no maximum",
        ],
        Should,
        Profile::ALL,
        &[],
        "read 64-bit numbers, and saturate larger ones",
        Test::Ask(large),
    ),
    check!(
        "limits.zero",
        "the engine replies to a limit of zero, at the latest after `stop`",
        [
            "practice" => "rounding in clients produces depth 0, 0 nodes or 0 ms",
        ],
        May,
        Profile::ALL,
        &[],
        "treat zero as the smallest search, and send a move",
        Test::Ask(zero),
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
        &[],
        "defer `bestmove` until `ponderhit` or `stop`, regardless of limits",
        Test::Ask(ponder_holds),
    ),
];

fn middle(bench: &Bench<'_>) -> String {
    bench.position(probe::of(bench.game()).middle[0])
}

fn clock_kept(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let left = LEFT.as_millis();
    let go = match bench.dialect {
        Dialect::Uci => format!("go wtime {left} btime {left} winc 0 binc 0"),
        Dialect::Usi => format!("go btime {left} wtime {left}"),
    };
    let mut times = Vec::new();
    for _ in 0..MOVES {
        talk.say(&middle(bench));
        talk.say(&go);
        let found = talk
            .best(LEFT + bench.pace.margin() + bench.pace.answer())
            .or_fail(message!("go.no-reply", go = &go))?;
        times.push(found.time);
        if LEFT + bench.pace.margin() < found.time {
            return Err(Stop::Fail(message!("go.took", go = &go, ms = found.time.as_millis())));
        }
    }
    bench.remark(format!("with {left} ms on the clock a move took {}", percentiles(&mut times)));
    Ok(())
}

/// Whether an engine that did not answer `stop` does so elsewhere. If not, that is for another check to judge.
pub(super) fn obeys_stop(bench: &Bench<'_>) -> Outcome {
    let mut other = bench.aside()?;
    other.say(&middle(bench));
    other.say("go infinite");
    other.underway();
    other.say("stop");
    other.best(bench.pace.answer())?;
    Ok(())
}

/// A search that may end by itself ends at `stop` at the latest.
fn ends(bench: &Bench<'_>, talk: &mut Talk, go: &str) -> Outcome {
    let position = &middle(bench);
    talk.say(position);
    talk.say(go);
    talk.listen(talk.pace().quiet());
    if talk.is_searching() {
        talk.say("stop");
        let limit = talk.pace().answer();
        if let Err(lost) = talk.best(limit) {
            // An engine that obeys no `stop` says nothing about the limit.
            obeys_stop(bench)?;
            return Err(lost.blame(message!("stop.no-reply", go)));
        }
    }
    talk.until_ready().or_fail(message!("go.no-readyok", go))?;
    Ok(())
}

fn bare(bench: &Bench<'_>) -> Outcome {
    ends(bench, &mut bench.ready()?, "go")
}

fn large(bench: &Bench<'_>) -> Outcome {
    // An engine that misreads such numbers may answer whatever it likes without breaking other rules.
    let mut talk = bench.provoked()?;
    for go in ["go depth 2147483647", "go nodes 9223372036854775807", "go movetime 4294967296000"] {
        ends(bench, &mut talk, go)?;
    }
    Ok(())
}

fn zero(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    for go in ["go depth 0", "go nodes 0", "go movetime 0"] {
        ends(bench, &mut talk, go)?;
    }
    Ok(())
}

fn ponder_holds(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    for limit in ["depth 1", "nodes 2", "movetime 2"] {
        talk.say(&middle(bench));
        talk.say(&format!("go ponder {limit}"));
        super::search::goes_on(&mut talk, message!("ponder.early-with-limit", limit))?;
        talk.say("stop");
        talk.best(bench.pace.answer())?;
    }
    Ok(())
}
