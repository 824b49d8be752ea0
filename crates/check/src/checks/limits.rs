//! Limits of searches at their edges, and clocks.

use std::time::Duration;

use readyok_protocol::Dialect;

use super::{clause, probe};
use crate::bench::{Bench, percentiles};
use crate::check::{Check, Outcome, Profile, Severity, Stop, Test};
use crate::message::said;
use crate::talk::{Blame, Talk};

/// What is left on a clock, and how often the engine gets so much.
const LEFT: Duration = Duration::from_millis(400);
const MOVES: usize = 8;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "limits.clock-kept",
        "with 0.4 s on its clock and no increment the engine moves within that time, in every search",
        [
            "UCI 2006, go wtime and btime" => "the side has this many milliseconds left",
            "USI draft 1 §5.3, go btime and wtime" => "so much time is left on the clock of the side",
        ],
        Must,
        Profile::ALL,
        &[],
        "take a small part of the time that is left, less a reserve for what gets lost on the way",
        Test::Ask(clock_kept),
    ),
    check!(
        "limits.bare",
        "`go` without any limit ends at `stop`, if not before",
        [
            "UCI 2006, go" => "a limit that is not given does not influence the search",
            "USI draft 1 §5.3, go" => "a limit that is left out does not bear on the search",
        ],
        Should,
        Profile::ALL,
        &[],
        "take `go` alone for `go infinite` or for a short search, and heed `stop` in it",
        Test::Ask(bare),
    ),
    check!(
        "limits.large",
        "depths, counts and times beyond all use are taken for what they are: no limit",
        [
            "UCI 2006, go depth, nodes and movetime" => "<x> is a number, and no largest one is named",
            "USI draft 1 §5.3, go" => "the numbers have no largest value",
        ],
        Should,
        Profile::ALL,
        &[],
        "read numbers of 64 bits and take what is too large for the largest",
        Test::Ask(large),
    ),
    check!(
        "limits.zero",
        "a limit of zero does not hang or end the engine: it answers, at the latest to `stop`",
        [
            "practice" => "clients that round down ask for depth 0, 0 nodes or 0 ms",
        ],
        May,
        Profile::ALL,
        &[],
        "take zero for the smallest search there is, and answer with a move all the same",
        Test::Ask(zero),
    ),
    check!(
        "limits.ponder-holds",
        "while the engine ponders no limit of depth, nodes or time ends the search",
        [
            "UCI 2006, go ponder" => "the search is not left in ponder mode, whatever it has found",
            "USI draft 1 §5.3, go ponder" => "the engine keeps its move until `ponderhit` or `stop`",
        ],
        Must,
        Profile::ALL,
        &[],
        "hold `bestmove` back until `ponderhit` or `stop`, whichever limit is reached",
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
            .or_fail(said!("`{go}` was not answered", go = &go))?;
        times.push(found.time);
        if LEFT + bench.pace.margin() < found.time {
            return Err(Stop::Fail(said!(
                "`{go}` took {ms} ms",
                go = &go,
                ms = found.time.as_millis()
            )));
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
            return Err(lost.blame(said!("`{go}` and `stop` were not answered", go)));
        }
    }
    talk.until_ready().or_fail(said!("after `{go}` `isready` was not answered", go))?;
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
        super::search::goes_on(
            &mut talk,
            said!("`bestmove` came in `go ponder {limit}` before `ponderhit` or `stop`", limit),
        )?;
        talk.say("stop");
        talk.best(bench.pace.answer())?;
    }
    Ok(())
}
