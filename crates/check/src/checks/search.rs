//! Searches: start, limits, end, and commands during a search.

use std::time::Duration;

use readyok_protocol::{Best, Bound};
use readyok_rules::{Game, Position};

use super::assertions::middle;
use super::clocks::{self, clock_times, moves_to_go};
use super::positions::read;
use super::state::interleavings;
use crate::capabilities::Feature;
use crate::checks::{assertions, clause, ponder, searchmoves, stop};
use crate::context::{Test, TestCase, TestContext, largest, percentiles};
use crate::message::message;
use crate::session::{EngineSession, OrFail};
use crate::spec::rule;
use crate::spec::{Need, Profile, Severity};
use crate::spec::{Stop, TestResult};

/// A node count that every engine reaches quickly, and its tolerance: engines check limits every few thousand nodes.
const NODES: u64 = 3000;
const NODES_MISSED: u64 = 60_000;

/// Duration of a search with `movetime`.
const MOVE_TIME: Duration = Duration::from_millis(300);

macro_rules! search {
    ($id:literal, $rule:literal, $source:literal, $text:literal, $usi:literal, $severity:ident, $advice:literal, $run:expr) => {
        search!($id, $rule, $source, $text, $usi, $severity, Profile::ALL, &[], $advice, $run)
    };
    ($id:literal, $rule:literal, $source:literal, $text:literal, $usi:literal, $severity:ident, $profiles:expr, $needs:expr, $advice:literal, $run:expr) => {
        check!(
            concat!("search.", $id),
            $rule,
            [
                concat!("UCI 2006, ", $source) => $text,
                concat!("USI draft 1 §5.3, ", $source) => $usi,
            ],
            $severity,
            $profiles,
            $needs,
            $advice,
            Test::Interactive($run)
        )
    };
}

pub(super) const PLAYS: TestCase = search!(
    "completes",
    "every search ends with `bestmove`, also with `MultiPV`",
    "go and bestmove",
    "for each `go` a `bestmove` is needed",
    "the reply to each `go` is `bestmove`",
    Must,
    "send one `bestmove` for each `go`",
    plays
);

pub(super) const CHECKS: &[TestCase] = &[
    PLAYS,
    rule!(
        IllegalBestMove,
        Profile::ALL,
        &[],
        "send a move of the searched position; omit an unknown ponder move",
    ),
    rule!(BestMoveWithoutSearch, Profile::ALL, &[], "send `bestmove` exactly once for each `go`",),
    rule!(BestMoveTooEarly, Profile::ALL, &[], "defer `bestmove` until `stop` or `ponderhit`",),
    search!(
        "depth",
        "`go depth` ends at the given depth",
        "go depth",
        "search this many plies only",
        "search the given number of plies",
        Must,
        "end the search after completing this depth",
        depth
    ),
    search!(
        "nodes",
        "`go nodes` ends after approximately the given number of nodes",
        "go nodes",
        "search this many nodes only",
        "search the given number of nodes",
        Must,
        "check the node count every few thousand nodes",
        nodes
    ),
    rule!(
        MoveTimeExceeded,
        Profile::ALL,
        &[],
        "check the clock every few thousand nodes",
        Test::Interactive(move_time_ends),
    ),
    search!(
        "movetime.uses",
        "`go movetime` uses its time",
        "go movetime",
        "search exactly this many milliseconds",
        "search for exactly this many milliseconds",
        Should,
        "continue the search until the time is up",
        move_time_uses
    ),
    rule!(
        ClockExceeded,
        Profile::ALL,
        &[],
        "read the clock of the side to move, and reserve time for communication delays",
        Test::Interactive(clock_times),
    ),
    search!(
        "clock-over",
        "the engine does not search forever with a clock at or below zero",
        "go wtime and btime",
        "the side has this many milliseconds left",
        "the remaining time of the side",
        Should,
        Profile::UCI,
        &[],
        "treat zero and negative times as the minimum, not as a missing clock",
        clock_over
    ),
    search!(
        "moves-to-go",
        "the engine respects `movestogo`: it does not lose on time before the time control",
        "go movestogo",
        "the number of moves to the next time control",
        "the number of moves to the next control; without it the time is for the rest of the game",
        Should,
        Profile::OLDER,
        &[],
        "keep a time reserve on the last move before the control",
        moves_to_go
    ),
    search!(
        "any-order",
        "arguments of `go` have any order; the first limit reached ends the search",
        "go",
        "a number of commands can follow in the same string",
        "several arguments may follow in one line",
        Should,
        "read all arguments before the search starts, and check every limit",
        any_order
    ),
    search!(
        "infinite",
        "`go infinite` does not end before `stop`, even with a mate or a forced move",
        "go infinite",
        "do not exit the search without a command",
        "search until `stop`",
        Must,
        "wait for `stop` before sending `bestmove`, even if the search is complete",
        stop::infinite
    ),
    search!(
        "stop",
        "the engine sends `bestmove` immediately after `stop`",
        "stop",
        "stop calculating as soon as possible",
        "end the search as soon as possible",
        Must,
        "check for `stop` every few thousand nodes",
        stop::stop
    ),
    search!(
        "immediate-stop",
        "`stop` immediately after `go` ends the search",
        "stop",
        "stop calculating as soon as possible",
        "end the search as soon as possible",
        Must,
        "remember a `stop` received before the search starts, and send a move",
        stop::immediate_stop
    ),
    search!(
        "ready",
        "the engine replies to `isready` during a search immediately, and continues the search",
        "isready",
        "the engine must also reply while calculating, without stopping the search",
        "the reply is immediate, also during a search, which continues",
        Must,
        "read input in a separate thread",
        stop::ready
    ),
    search!(
        "ponder.holds-bestmove",
        "`go ponder` does not end before `ponderhit` or `stop`, regardless of limits",
        "go ponder",
        "do not exit the search in ponder mode, even if it is mate",
        "the engine does not exit the search while pondering, even with a mate",
        Must,
        Profile::ALL,
        &[Need::Ponder],
        "defer `bestmove` until `ponderhit` or `stop`",
        ponder::holds_bestmove
    ),
    search!(
        "ponder.hit",
        "after `ponderhit` the search ends within its limits",
        "ponderhit",
        "the engine continues the search in normal mode",
        "the expected move was played, and the search continues normally",
        Must,
        Profile::ALL,
        &[Need::Ponder],
        "start the clock at `ponderhit`, and reply immediately if the search is complete",
        ponder::hit
    ),
    search!(
        "ponder.stop",
        "`stop` ends `go ponder` with `bestmove`, and the next search works as usual",
        "stop",
        "`bestmove` also follows a ponder miss",
        "each `go`, also `go ponder`, is followed by `bestmove`",
        Must,
        Profile::ALL,
        &[Need::Ponder],
        "treat `stop` while pondering as in a normal search",
        ponder::stop
    ),
    search!(
        "ponder.no-legal-move",
        "`go ponder` in a position without a legal move ends at `stop`",
        "go ponder",
        "`bestmove` also follows a ponder miss",
        "each `go`, also `go ponder`, is followed by `bestmove`",
        Should,
        Profile::ALL,
        &[Need::Ponder],
        "reply without a move; clients ponder on a move that ends the game (lichess-bot#702)",
        ponder::no_legal_move
    ),
    search!(
        "searchmoves",
        "`searchmoves` restricts the search to its moves",
        "go searchmoves",
        "restrict the search to these moves only",
        "only these moves are searched",
        Must,
        "search only these moves at the root",
        searchmoves::restricts
    ),
    search!(
        "searchmoves-lines",
        "with `MultiPV` all PVs begin with moves of `searchmoves`",
        "go searchmoves",
        "restrict the search to these moves only",
        "only these moves are searched",
        Must,
        Profile::ALL,
        &[Need::Option("MultiPV")],
        "restrict the root moves first; the number of lines cannot exceed them",
        searchmoves::lines
    ),
    search!(
        "searchmoves-first",
        "the engine reads arguments of `go` after the `searchmoves` list",
        "go searchmoves",
        "several arguments can follow in any order",
        "several arguments may follow in one line",
        May,
        "end the move list at the next keyword of `go`",
        searchmoves::first
    ),
    search!(
        "limits-reset",
        "a limit of `go` does not affect the next search",
        "go",
        "a command that is not sent does not influence the search",
        "a command that is not sent does not influence the search",
        Must,
        "reset all limits at each `go`",
        limits_reset
    ),
    search!(
        "mate",
        "`go mate` finds a mate in one and ends",
        "go mate",
        "search for a mate in this many moves",
        "search for a mate; in deployed USI the number is a time",
        Should,
        Profile::UCI,
        &[],
        "end the search at a mate of this length",
        mate
    ),
    search!(
        "new-game",
        "the engine works with repeated and with missing new-game commands",
        "ucinewgame and usinewgame",
        "not all clients send it",
        "clients may omit it, and the engine must not wait for it",
        Must,
        "initialize for a game at startup, and again at each new-game command",
        new_game
    ),
    check!(
        "search.without-position",
        "the engine survives `go` without `position`",
        [
            "UCI 2006, general rules" => "the engine ignores input that it does not expect",
            "USI draft 1 §5.1" => "the engine ignores input that it does not expect",
        ],
        Should,
        Profile::ALL,
        &[],
        "start with the initial position",
        Test::Interactive(without_position),
    ),
    search!(
        "debug",
        "the engine accepts `debug on` and `debug off` at any time",
        "debug",
        "it can be sent at any time, also during a search",
        "the client may switch the mode at any time",
        Should,
        Profile::OLDER,
        &[],
        "accept `debug` during and between searches; it may have no effect",
        stop::debug
    ),
    search!(
        "register",
        "the engine accepts `register`",
        "register",
        "the user wants to register later",
        "it postpones the registration",
        Should,
        Profile::OLDER,
        &[],
        "ignore `register` if the engine needs no registration",
        register
    ),
    search!(
        "every-thread-count",
        "searches with a small hash table and with several threads end normally",
        "option and setoption",
        "values in the declared range are allowed",
        "the value is one of the declared ones",
        Should,
        Profile::ALL,
        &[Need::Option("Threads")],
        "accept every declared number of threads",
        threads
    ),
    search!(
        "interleavings",
        "any sequence of valid commands during a search yields one `bestmove` per `go`",
        "bestmove",
        "for each `go` a `bestmove` is needed",
        "the reply to each `go` is `bestmove`",
        Must,
        "keep the search state and its transitions in one place",
        interleavings
    ),
];

fn plays(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let probe = assertions::test_positions(context.game());
    if context.option("UCI_ShowWDL").is_some() {
        session.send(&context.set("UCI_ShowWDL", "true"));
    }
    let mut texts: Vec<&str> = probe.middle.into_iter().chain(probe.ahead).collect();
    texts.extend(probe.mate_in_one);
    if context.game() == Game::Chess {
        texts.extend([assertions::CHESS_MATE_IN_TWO, assertions::CHESS_FORCED]);
    }
    session.search("position startpos", "go depth 5").or_fail(message!("search.no-reply"))?;
    for text in &texts {
        session
            .search(&context.position(text), "go depth 4")
            .or_fail(message!("search.no-reply"))?;
    }
    if context.option("MultiPV").is_some() {
        session.send(&context.set("MultiPV", "3"));
        session.ready()?;
        for text in texts {
            session
                .search(&context.position(text), "go depth 3")
                .or_fail(message!("multipv.no-reply"))?;
        }
        // A passive check counts the lines.
        session.send(&context.set("MultiPV", "1"));
        session.ready()?;
        session.search(&middle(context), "go depth 3").or_fail(message!("search.no-reply"))?;
    }
    Ok(())
}

fn depth(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let mut reported = false;
    for depth in [1, 4] {
        let found = session
            .search(&middle(context), &format!("go depth {depth}"))
            .or_fail(message!("depth.no-reply", depth))?;
        let exact = |info: &&readyok_protocol::Info<'_>| {
            info.bound == Bound::Exact && info.score.is_some() && info.pv.is_some()
        };
        let deepest = found.infos.iter().filter(exact).filter_map(|info| info.depth).max();
        if !found.complete {
            // The engine ended the search only at `stop`: it is slow, or ignores the limit.
            return Err(match deepest {
                Some(reached) if reached <= depth => Stop::Slow,
                _ => Stop::Fail(message!("depth.only-stopped", depth)),
            });
        }
        match deepest {
            None => (),
            Some(reached) if depth < reached => {
                return Err(Stop::Fail(message!("depth.exceeded", depth, reached)));
            }
            Some(reached) if reached < depth => {
                return Err(Stop::Fail(message!("depth.not-reached", depth, reached)));
            }
            Some(_) => reported = true,
        }
    }
    if reported { Ok(()) } else { Err(Stop::Inconclusive(message!("depth.not-reported"))) }
}

fn nodes(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let found = session
        .search(&middle(context), &format!("go nodes {NODES}"))
        .or_fail(message!("nodes.no-reply", nodes = NODES))?;
    let reported = found.infos.iter().filter_map(|info| info.nodes).max();
    if !found.complete {
        return Err(match reported {
            Some(reported)
                if reported <= NODES + NODES_MISSED
                    && context.engine_info.capabilities.is_slow() =>
            {
                Stop::Slow
            }
            _ => Stop::Fail(message!("nodes.only-stopped", nodes = NODES)),
        });
    }
    match reported {
        Some(reported) if NODES + NODES_MISSED < reported => {
            Err(Stop::Fail(message!("nodes.exceeded", nodes = NODES, reported = reported)))
        }
        _ => Ok(()),
    }
}

/// Tolerance of `movetime`: engines check the clock every few thousand nodes.
const MOVE_TIME_TOLERANCE: Duration = Duration::from_millis(100);

fn move_time_ends(context: &TestContext<'_>) -> TestResult {
    let go = format!("go movetime {}", MOVE_TIME.as_millis());
    let limit = MOVE_TIME + MOVE_TIME_TOLERANCE;
    let mut times = clocks::repeated(context, &go, limit, 3)?;
    context.remark(format!("`{go}` took {}", percentiles(&mut times)));
    Ok(())
}

fn move_time_uses(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let go = format!("go movetime {}", MOVE_TIME.as_millis());
    // A busy host may delay an early reply.
    for _ in 0..3 {
        session.send(&middle(context));
        let (_, timing) = session.timed(&go, MOVE_TIME + context.timeouts.answer())?;
        if timing.time < MOVE_TIME / 2 {
            return Err(Stop::Fail(message!("search.ended-after", ms = timing.time.as_millis())));
        }
    }
    Ok(())
}

fn clock_over(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    for go in ["go wtime 0 btime 0", "go wtime -50 btime 1000"] {
        session.send(&middle(context));
        session.send(go);
        session.best(context.timeouts.answer()).or_fail(message!("go.no-reply", go))?;
    }
    Ok(())
}

fn any_order(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    for go in [
        "go nodes 100000000000 depth 2",
        "go depth 2 nodes 100000000000",
        "go movetime 100000000 depth 2",
        "go depth 60 movetime 50",
    ] {
        let found = session.search(&middle(context), go).or_fail(message!("go.no-reply", go))?;
        // A slow engine has not reached the depth.
        found.if_complete()?;
    }
    Ok(())
}

fn limits_reset(context: &TestContext<'_>) -> TestResult {
    context.depends_on(Feature::Stop)?;
    // Excluded from passive checks, which would report the same reply again.
    let mut session = context.ready_unchecked()?;
    let continues = |session: &mut EngineSession| -> Result<bool, Stop> {
        session.send(&middle(context));
        session.send("go infinite");
        if session.ends_by_itself()? {
            return Ok(false);
        }
        session.send("stop");
        session.best(context.timeouts.answer())?;
        Ok(true)
    };
    if !continues(&mut session)? {
        return Err(Stop::Inconclusive(message!("infinite.ended")));
    }
    for (feature, go) in [
        (Feature::Depth, "go depth 1"),
        (Feature::Nodes, "go nodes 100"),
        (Feature::MoveTime, "go movetime 20"),
    ] {
        if session.lacks(feature) {
            continue;
        }
        session.search(&middle(context), go)?;
        // A second `bestmove` would end the next search.
        session.until_ready()?;
        if !continues(&mut session)? {
            return Err(Stop::Fail(message!("limit.kept", go)));
        }
    }
    if session.lacks(Feature::Depth) || session.lacks(Feature::SearchMoves) {
        return Ok(());
    }
    // An engine does not choose both moves by itself.
    for mv in searchmoves::unusual_moves(context) {
        session.search("position startpos", &format!("go depth 1 searchmoves {mv}"))?;
        let found = session.search("position startpos", "go depth 1")?;
        if !matches!(&found.best.best, Best::Move(it) if it.as_str() == mv) {
            return Ok(());
        }
    }
    Err(Stop::Fail(message!("limit.kept", go = "go searchmoves")))
}

fn mate(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let text = assertions::test_positions(context.game()).mate_in_one[0];
    let found =
        session.search(&context.position(text), "go mate 1").or_fail(message!("mate.no-reply"))?;
    let position = Position::from_text(context.game(), text)
        .map_err(|error| Stop::invalid_position(&error))?;
    let Best::Move(mv) = &found.best.best else {
        return Err(Stop::Fail(message!("mate.no-move")));
    };
    let mated = position.after([mv.as_str()]).is_ok_and(|next| next.legal_moves().is_empty());
    if !mated {
        return Err(Stop::Fail(message!("mate.not-mate", mv)));
    }
    let text = assertions::CHESS_MATE_IN_TWO;
    let found =
        session.search(&context.position(text), "go mate 2").or_fail(message!("mate.no-reply"))?;
    let position = read(context, text)?;
    if let Best::Move(mv) = &found.best.best
        && let Ok(next) = position.after([mv.as_str()])
    {
        let allows_mate = |reply: readyok_rules::Move| {
            let mut after = next.clone();
            after.play(reply).is_ok()
                && after.legal_moves().into_iter().any(|mv| searchmoves::is_mate(&after, mv))
        };
        if !next.legal_moves().into_iter().all(allows_mate) {
            return Err(Stop::Fail(message!("mate.not-in-two", mv)));
        }
    }
    Ok(())
}

fn new_game(context: &TestContext<'_>) -> TestResult {
    let token = context.dialect.new_game();
    let mut session = context.ready()?;
    session.search(&middle(context), "go depth 1").or_fail(message!("new-game.not-sent"))?;
    for _ in 0..3 {
        session.send(token);
        session.ready().or_fail(message!("new-game.no-readyok", command = token))?;
        session
            .search(&middle(context), "go depth 1")
            .or_fail(message!("new-game.no-reply", command = token))?;
    }
    Ok(())
}

fn without_position(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send("go depth 2");
    // The engine may search the initial position or ignore the command.
    session.underway();
    session.listen(context.timeouts.quiet());
    if session.is_searching() {
        session.send("stop");
        session.listen(context.timeouts.quiet());
    }
    session.until_ready().or_fail(message!("without-position.no-readyok"))?;
    session
        .search(&middle(context), "go depth 1")
        .or_fail(message!("without-position.no-reply"))?;
    Ok(())
}

fn register(context: &TestContext<'_>) -> TestResult {
    let mut session = context.after_handshake()?;
    session.send("register later");
    session.ready().or_fail(message!("register.no-readyok"))?;
    session.search(&middle(context), "go depth 1").or_fail(message!("register.no-reply"))?;
    // The example of the specification.
    session.send("register name Stefan MK code 4359874324");
    session.ready().or_fail(message!("register.no-readyok"))?;
    Ok(())
}

fn threads(context: &TestContext<'_>) -> TestResult {
    let limit = context.option("Threads").and_then(largest).unwrap_or(1).min(4);
    let mut session = context.ready()?;
    for threads in [limit, 1] {
        session.send(&context.set("Threads", &threads.to_string()));
        session.ready().or_fail(message!("threads.no-readyok", threads))?;
        session
            .search(&middle(context), "go depth 4")
            .or_fail(message!("threads.no-reply", threads))?;
        session.send(&middle(context));
        session.send("go infinite");
        session.underway();
        session.send("stop");
        session
            .best(context.timeouts.answer())
            .or_fail(message!("threads.no-reply-to-stop", threads))?;
    }
    Ok(())
}
