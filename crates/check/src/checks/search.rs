//! Searches: what begins and ends them, and what may be said meanwhile.

use std::time::Duration;

use readyok_protocol::{Best, Bound, Dialect, Reply, Rule};
use readyok_rules::{Game, Position};

use super::{clause, limits, probe};
use crate::bench::{Bench, largest, percentiles};
use crate::check::{Check, Heard, Need, Outcome, Profile, Severity, Stop, Test};
use crate::conversation::Conversation;
use crate::message::{Message, message};
use crate::talk::{Blame, Found, Lost, Talk};
use crate::time::now;
use crate::words;

/// A node count that each engine reaches in no time, and by how much it may be missed: engines look
/// at limits once in some thousands of nodes.
const NODES: u64 = 3000;
const NODES_MISSED: u64 = 60_000;

/// How long a search with `movetime` is.
const MOVE_TIME: Duration = Duration::from_millis(300);

/// So many searches are stopped to see how long that takes.
const STOPS: usize = 20;

macro_rules! search {
    ($id:literal, $rule:literal, $place:literal, $says:literal, $usi:literal, $severity:ident, $advice:literal, $run:ident) => {
        search!($id, $rule, $place, $says, $usi, $severity, Profile::ALL, &[], $advice, $run)
    };
    ($id:literal, $rule:literal, $place:literal, $says:literal, $usi:literal, $severity:ident, $profiles:expr, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            concat!("search.", $id),
            $rule,
            [
                concat!("UCI 2006, ", $place) => $says,
                concat!("USI draft 1 §5.3, ", $place) => $usi,
            ],
            $severity,
            $profiles,
            $needs,
            $advice,
            Test::Ask($run)
        )
    };
}

pub(super) const PLAYS: Check = search!(
    "completes",
    "every search ends with `bestmove`, also with `MultiPV`",
    "go and bestmove",
    "for each `go` a `bestmove` is needed",
    "the reply to each `go` is `bestmove`",
    Must,
    "send one `bestmove` for each `go`",
    plays
);

pub(super) const CHECKS: &[Check] = &[
    PLAYS,
    check!(
        "search.legal-move",
        "`bestmove` and the ponder move after it are legal",
        [
            "UCI 2006, bestmove" => "the engine stops searching and found this move the best in this position",
            "USI draft 1 §5.3, bestmove" => "the move that the engine plays",
        ],
        Must,
        Profile::ALL,
        &[],
        "send a move of the searched position; omit an unknown ponder move",
        Test::Hear(legal_move),
    ),
    check!(
        "search.one-bestmove",
        Rule::BestMoveWithoutSearch.text(),
        [Rule::BestMoveWithoutSearch.clause() => Rule::BestMoveWithoutSearch.text()],
        Must,
        Profile::ALL,
        &[],
        "send `bestmove` exactly once for each `go`",
        Test::Order(Rule::BestMoveWithoutSearch),
    ),
    check!(
        "search.no-early-bestmove",
        Rule::BestMoveTooEarly.text(),
        [Rule::BestMoveTooEarly.clause() => Rule::BestMoveTooEarly.text()],
        Must,
        Profile::ALL,
        &[],
        "defer `bestmove` until `stop` or `ponderhit`",
        Test::Order(Rule::BestMoveTooEarly),
    ),
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
    search!(
        "movetime.ends",
        "`go movetime` ends in time",
        "go movetime",
        "search exactly this many milliseconds",
        "search for exactly this many milliseconds",
        Must,
        "check the clock every few thousand nodes",
        move_time_ends
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
    search!(
        "clock",
        "the engine moves in time with any clock, of one side or both",
        "go wtime and btime",
        "the side has this many milliseconds left",
        "the remaining time of the side",
        Must,
        "reserve time for communication delays",
        clock
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
        infinite
    ),
    search!(
        "stop",
        "the engine sends `bestmove` immediately after `stop`",
        "stop",
        "stop calculating as soon as possible",
        "end the search as soon as possible",
        Must,
        "check for `stop` every few thousand nodes",
        stop
    ),
    search!(
        "immediate-stop",
        "`stop` immediately after `go` ends the search",
        "stop",
        "stop calculating as soon as possible",
        "end the search as soon as possible",
        Must,
        "remember a `stop` received before the search starts, and send a move",
        stop_at_once
    ),
    search!(
        "ready",
        "the engine replies to `isready` during a search immediately, and continues the search",
        "isready",
        "the engine must also reply while calculating, without stopping the search",
        "the reply is immediate, also during a search, which continues",
        Must,
        "read input in a separate thread",
        ready
    ),
    search!(
        "ponder.holds-bestmove",
        "`go ponder` does not end before `ponderhit` or `stop`, regardless of limits",
        "go ponder",
        "do not exit the search in ponder mode, even if it is mate",
        "the engine does not exit the search while pondering, even with a mate",
        Must,
        "defer `bestmove` until `ponderhit` or `stop`",
        ponder_holds
    ),
    search!(
        "ponder.hit",
        "after `ponderhit` the search ends within its limits",
        "ponderhit",
        "the engine continues the search in normal mode",
        "the expected move was played, and the search continues normally",
        Must,
        "start the clock at `ponderhit`, and reply immediately if the search is complete",
        ponder_hit
    ),
    search!(
        "ponder.stop",
        "`stop` ends `go ponder` with `bestmove`, and the next search works as usual",
        "stop",
        "`bestmove` also follows a ponder miss",
        "each `go`, also `go ponder`, is followed by `bestmove`",
        Must,
        "treat `stop` while pondering as in a normal search",
        ponder_stop
    ),
    search!(
        "searchmoves",
        "`searchmoves` restricts the search to its moves",
        "go searchmoves",
        "restrict the search to these moves only",
        "only these moves are searched",
        Must,
        "search only these moves at the root",
        search_moves
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
        search_moves_lines
    ),
    search!(
        "searchmoves-first",
        "the engine reads arguments of `go` after the `searchmoves` list",
        "go searchmoves",
        "several arguments can follow in any order",
        "several arguments may follow in one line",
        May,
        "end the move list at the next keyword of `go`",
        search_moves_first
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
        debug
    ),
    search!(
        "register",
        "the engine accepts `register later`",
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

fn plays(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let probe = probe::of(bench.game());
    if bench.option("UCI_ShowWDL").is_some() {
        talk.say(&bench.set("UCI_ShowWDL", "true"));
    }
    let mut texts: Vec<&str> = probe.middle.into_iter().chain(probe.ahead).collect();
    texts.extend(probe.mate_in_one);
    if bench.game() == Game::Chess {
        texts.extend([probe::CHESS_MATE_IN_TWO, probe::CHESS_FORCED]);
    }
    talk.search("position startpos", "go depth 5").or_fail(message!("search.no-reply"))?;
    for text in &texts {
        talk.search(&bench.position(text), "go depth 4").or_fail(message!("search.no-reply"))?;
    }
    if bench.option("MultiPV").is_some() {
        talk.say(&bench.set("MultiPV", "3"));
        talk.ready()?;
        for text in texts {
            talk.search(&bench.position(text), "go depth 3")
                .or_fail(message!("multipv.no-reply"))?;
        }
    }
    Ok(())
}

fn legal_move(talk: &Conversation) -> Heard {
    let mut seen = 0;
    for search in talk.searches() {
        let (Some(position), Some((at, best))) = (&search.position, &search.best) else { continue };
        seen += 1;
        let mv = match &best.best {
            Best::Move(mv) => mv,
            // What is said without a legal move is for another check.
            _ if position.legal_moves().is_empty() => continue,
            Best::Resign if talk.dialect == Dialect::Usi => continue,
            Best::Win if position.can_declare() => continue,
            answer => {
                let answer = words::answer(answer);
                return Err((*at, message!("bestmove.none", answer)));
            }
        };
        if position.legal_moves().is_empty() {
            continue;
        }
        let next = match position.clone().after([mv.as_str()]) {
            Ok(next) => next,
            Err(error) => {
                return Err((*at, message!("bestmove.illegal", error = &error)));
            }
        };
        if let Some(ponder) = best.ponder
            && let Err(error) = next.parse_move(ponder.as_str())
        {
            return Err((*at, message!("bestmove.illegal-ponder", error = &error)));
        }
    }
    Ok(seen)
}

fn middle(bench: &Bench<'_>) -> String {
    bench.position(probe::of(bench.game()).middle[0])
}

fn depth(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let mut told = false;
    for depth in [1, 4] {
        talk.say(&middle(bench));
        talk.say(&format!("go depth {depth}"));
        let found = talk.best(bench.pace.answer()).or_fail(message!("depth.no-reply", depth))?;
        let exact = |info: &&readyok_protocol::Info<'_>| {
            info.bound == Bound::Exact && info.score.is_some() && info.pv.is_some()
        };
        let deepest = found.infos.iter().filter(exact).filter_map(|info| info.depth).max();
        match deepest {
            None => (),
            Some(reached) if depth < reached => {
                return Err(Stop::Fail(message!("depth.exceeded", depth, reached)));
            }
            Some(reached) if reached < depth => {
                return Err(Stop::Fail(message!("depth.not-reached", depth, reached)));
            }
            Some(_) => told = true,
        }
    }
    if told { Ok(()) } else { Err(Stop::Inconclusive(message!("depth.not-reported"))) }
}

fn nodes(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let found = talk
        .search(&middle(bench), &format!("go nodes {NODES}"))
        .or_fail(message!("nodes.no-reply", nodes = NODES))?;
    let told = found.infos.iter().filter_map(|info| info.nodes).max();
    match told {
        Some(told) if NODES + NODES_MISSED < told => {
            Err(Stop::Fail(message!("nodes.exceeded", nodes = NODES, reported = told)))
        }
        _ => Ok(()),
    }
}

fn move_time(bench: &Bench<'_>) -> Result<Result<Duration, Lost>, Stop> {
    let mut talk = bench.ready()?;
    talk.say(&middle(bench));
    talk.say(&format!("go movetime {}", MOVE_TIME.as_millis()));
    let limit = MOVE_TIME + bench.pace.margin() + bench.pace.answer();
    let took = talk.best(limit).map(|found| found.time);
    if let Ok(took) = took {
        let (asked, took) = (MOVE_TIME.as_millis(), took.as_secs_f64() * 1000.0);
        bench.remark(format!("`go movetime {asked}` took {took:.0} ms"));
    }
    Ok(took)
}

fn move_time_ends(bench: &Bench<'_>) -> Outcome {
    let took = move_time(bench)?.or_fail(message!("movetime.no-reply"))?;
    if MOVE_TIME + bench.pace.margin() < took {
        return Err(Stop::Fail(message!("search.took", ms = took.as_millis())));
    }
    Ok(())
}

fn move_time_uses(bench: &Bench<'_>) -> Outcome {
    let took = move_time(bench)??;
    if took < MOVE_TIME / 2 {
        return Err(Stop::Fail(message!("search.ended-after", ms = took.as_millis())));
    }
    Ok(())
}

/// A search with clocks ends in time, with a move.
fn with_clocks(bench: &Bench<'_>, goes: &[&str]) -> Outcome {
    let mut talk = bench.ready()?;
    for go in goes {
        talk.say(&middle(bench));
        talk.say(go);
        talk.best(bench.pace.answer()).or_fail(message!("go.no-reply", go))?;
    }
    Ok(())
}

fn clock(bench: &Bench<'_>) -> Outcome {
    with_clocks(
        bench,
        match bench.dialect {
            Dialect::Uci => &[
                "go wtime 1000 btime 1000",
                "go wtime 300 btime 300 winc 10 binc 10",
                "go wtime 1 btime 1",
                "go wtime 500",
                "go winc 10 wtime 200 binc 0 btime 100000",
                "go wtime 20 btime 20",
            ],
            Dialect::Usi => &[
                "go btime 1000 wtime 1000",
                "go btime 300 wtime 300 binc 10 winc 10",
                "go btime 1 wtime 1",
                "go btime 500 wtime 0",
            ],
        },
    )
}

fn clock_over(bench: &Bench<'_>) -> Outcome {
    with_clocks(bench, &["go wtime 0 btime 0", "go wtime -50 btime 1000"])
}

fn moves_to_go(bench: &Bench<'_>) -> Outcome {
    with_clocks(
        bench,
        &["go wtime 400 btime 400 movestogo 1", "go wtime 1000 btime 1000 movestogo 40"],
    )
}

fn any_order(bench: &Bench<'_>) -> Outcome {
    with_clocks(
        bench,
        &[
            "go nodes 100000000000 depth 2",
            "go depth 2 nodes 100000000000",
            "go movetime 100000000 depth 2",
            "go depth 60 movetime 50",
        ],
    )
}

/// Positions in which an engine is soon done.
pub(super) fn soon_done(bench: &Bench<'_>) -> Vec<String> {
    let probe = probe::of(bench.game());
    let mut texts = vec![probe.mate_in_one[0]];
    if bench.game() == Game::Chess {
        texts.extend([probe::CHESS_FORCED, probe::CHESS_MATE_IN_TWO]);
    }
    texts.into_iter().map(|text| bench.position(text)).collect()
}

/// Nothing ends the search now.
pub(super) fn goes_on(talk: &mut Talk, early: Message) -> Outcome {
    if talk.ends_by_itself()? {
        return Err(Stop::Fail(early));
    }
    Ok(())
}

fn infinite(bench: &Bench<'_>) -> Outcome {
    // Other checks shall not judge the same answer again.
    let mut talk = bench.provoked()?;
    for position in soon_done(bench) {
        talk.say(&position);
        talk.say("go infinite");
        goes_on(&mut talk, message!("infinite.early-bestmove"))?;
        talk.say("stop");
        talk.best(bench.pace.answer())?;
    }
    Ok(())
}

fn stop(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let mut times = Vec::new();
    for number in 0..STOPS {
        talk.say(&middle(bench));
        talk.say("go infinite");
        if number % 4 == 0 {
            // Some searches get far, others hardly begin.
            talk.listen(Duration::from_millis(20));
        } else {
            talk.underway();
        }
        if !talk.is_searching() {
            return Err(Stop::Inconclusive(message!("infinite.ended")));
        }
        let asked = now();
        talk.say("stop");
        talk.best(bench.pace.answer()).or_fail(message!("stop.no-bestmove"))?;
        times.push(now().saturating_duration_since(asked));
    }
    bench.remark(format!("`stop` was answered in {}", percentiles(&mut times)));
    let longest = times.last().copied().unwrap_or_default();
    if bench.pace.margin() < longest {
        return Err(Stop::Fail(message!("search.took", ms = longest.as_millis())));
    }
    Ok(())
}

fn stop_at_once(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for go in ["go infinite", "go depth 40", "go movetime 100000000"] {
        talk.write(format!("{}\n{go}\nstop\n", middle(bench)).as_bytes());
        talk.best(bench.pace.answer()).or_fail(message!("stop.one-write", go))?;
    }
    Ok(())
}

fn ready(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&middle(bench));
    talk.say("go infinite");
    // That `go` itself takes a while is nothing that this check is about.
    talk.underway();
    let mut longest = Duration::ZERO;
    for _ in 0..3 {
        let asked = now();
        let said = talk.until_ready().or_fail(message!("search.no-readyok"))?;
        longest = longest.max(now().saturating_duration_since(asked));
        if said.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
            return Err(Stop::Fail(message!("search.ended-by-isready")));
        }
    }
    bench.remark(format!("`readyok` in a search took {:.1} ms", longest.as_secs_f64() * 1000.0));
    talk.say("stop");
    talk.best(bench.pace.answer()).or_fail(message!("search.no-reply-to-stop"))?;
    Ok(())
}

fn ponder_holds(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    let clocks = ponder_clocks(bench);
    let mut positions = soon_done(bench);
    positions.push(middle(bench));
    for position in positions {
        talk.say(&position);
        talk.say(&format!("go ponder {clocks}"));
        goes_on(&mut talk, message!("ponder.early-bestmove"))?;
        talk.say("stop");
        talk.best(bench.pace.answer())?;
    }
    Ok(())
}

/// So little time that it is over while the engine ponders.
fn ponder_clocks(bench: &Bench<'_>) -> &'static str {
    match bench.dialect {
        Dialect::Uci => "wtime 60 btime 60 winc 0 binc 0",
        Dialect::Usi => "btime 60 wtime 60",
    }
}

fn ponder_hit(bench: &Bench<'_>) -> Outcome {
    // That an answer came too early is for another check to judge.
    let mut talk = bench.provoked()?;
    let mut positions = soon_done(bench);
    positions.push(middle(bench));
    for position in positions {
        talk.say(&position);
        talk.say(&format!("go ponder {}", ponder_clocks(bench)));
        talk.listen(Duration::from_millis(30));
        if !talk.is_searching() {
            return Err(Stop::Inconclusive(message!("ponder.ended")));
        }
        talk.say("ponderhit");
        talk.best(bench.pace.answer()).or_fail(message!("ponderhit.no-bestmove"))?;
    }
    Ok(())
}

fn ponder_stop(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&middle(bench));
    talk.say(&format!("go ponder {}", ponder_clocks(bench)));
    if talk.ends_by_itself()? {
        return Err(Stop::Inconclusive(message!("ponder.ended")));
    }
    talk.say("stop");
    talk.best(bench.pace.answer()).or_fail(message!("ponder.no-reply-to-stop"))?;
    talk.search(&middle(bench), "go depth 2").or_fail(message!("ponder.miss"))?;
    Ok(())
}

/// Some moves that an engine would hardly choose by itself.
fn odd_moves(bench: &Bench<'_>) -> [&'static str; 2] {
    match bench.dialect {
        Dialect::Uci => ["a2a3", "h2h4"],
        Dialect::Usi => ["9g9f", "1i1h"],
    }
}

/// A search of these moves alone, which is answered with one of them.
fn restricted(talk: &mut Talk, depth: u32, moves: &[&str]) -> Result<Found, Stop> {
    let go = format!("go depth {depth} searchmoves {}", moves.join(" "));
    let found = talk.search("position startpos", &go).or_fail(message!("go.no-reply", go = &go))?;
    match &found.best.best {
        Best::Move(mv) if moves.contains(&mv.as_str()) => Ok(found),
        answer => {
            let answer = words::answer(answer);
            Err(Stop::Fail(message!("go.reply", go, answer)))
        }
    }
}

fn search_moves(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let moves = odd_moves(bench);
    restricted(&mut talk, 2, &moves)?;
    restricted(&mut talk, 2, &moves[1..]).map(drop)
}

fn search_moves_lines(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say(&bench.set("MultiPV", "3"));
    talk.ready()?;
    let moves = odd_moves(bench);
    let found = restricted(&mut talk, 4, &moves)?;
    let mut heads = found.infos.iter().filter_map(|info| info.pv.as_ref()?.words().next());
    match heads.find(|head| !moves.contains(head)) {
        Some(head) => Err(Stop::Fail(message!("searchmoves.other-head", head))),
        None => Ok(()),
    }
}

fn search_moves_first(bench: &Bench<'_>) -> Outcome {
    // An engine that misreads this order shall not be judged by what it makes of it.
    let mut talk = bench.provoked()?;
    let go = format!("go searchmoves {} depth 2", odd_moves(bench).join(" "));
    talk.say("position startpos");
    talk.say(&go);
    talk.best(bench.pace.answer()).or_fail(message!("go.no-reply", go))?;
    Ok(())
}

fn mate(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let text = probe::of(bench.game()).mate_in_one[0];
    let found =
        talk.search(&bench.position(text), "go mate 1").or_fail(message!("mate.no-reply"))?;
    let position =
        Position::from_text(bench.game(), text).map_err(|error| Stop::unplayable(&error))?;
    let Best::Move(mv) = &found.best.best else {
        return Err(Stop::Fail(message!("mate.no-move")));
    };
    let mated = position.after([mv.as_str()]).is_ok_and(|it| it.legal_moves().is_empty());
    if mated { Ok(()) } else { Err(Stop::Fail(message!("mate.not-mate", mv))) }
}

fn new_game(bench: &Bench<'_>) -> Outcome {
    let word = bench.dialect.new_game();
    let mut talk = bench.ready()?;
    talk.search(&middle(bench), "go depth 1").or_fail(message!("new-game.not-sent"))?;
    for _ in 0..3 {
        talk.say(word);
        talk.ready().or_fail(message!("new-game.no-readyok", command = word))?;
        talk.search(&middle(bench), "go depth 1")
            .or_fail(message!("new-game.no-reply", command = word))?;
    }
    Ok(())
}

fn debug(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say("debug on");
    talk.ready().or_fail(message!("debug.no-readyok"))?;
    talk.say(&middle(bench));
    talk.say("go infinite");
    talk.say("debug off");
    goes_on(&mut talk, message!("debug.bestmove"))?;
    talk.say("stop");
    if let Err(lost) = talk.best(bench.pace.answer()) {
        limits::obeys_stop(bench)?;
        return Err(lost.blame(message!("debug.no-reply-to-stop")));
    }
    Ok(())
}

fn register(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.greeted()?;
    talk.say("register later");
    talk.ready().or_fail(message!("register.no-readyok"))?;
    talk.search(&middle(bench), "go depth 1").or_fail(message!("register.no-reply"))?;
    Ok(())
}

fn threads(bench: &Bench<'_>) -> Outcome {
    let most = bench.option("Threads").and_then(largest).unwrap_or(1).min(4);
    let mut talk = bench.ready()?;
    for threads in [most, 1] {
        talk.say(&bench.set("Threads", &threads.to_string()));
        talk.ready().or_fail(message!("threads.no-readyok", threads))?;
        talk.search(&middle(bench), "go depth 4").or_fail(message!("threads.no-reply", threads))?;
        talk.say(&middle(bench));
        talk.say("go infinite");
        talk.underway();
        talk.say("stop");
        talk.best(bench.pace.answer()).or_fail(message!("threads.no-reply-to-stop", threads))?;
    }
    Ok(())
}

fn interleavings(bench: &Bench<'_>) -> Outcome {
    let mut random = fastrand::Rng::with_seed(bench.seed);
    let mut talk = bench.ready()?;
    let positions =
        [middle(bench), format!("position startpos moves {}", probe::of(bench.game()).opening)];
    let count = bench.effort.searches;
    let mut asks_ready = true;
    for number in 0..count {
        if random.u8(..20) == 0 {
            talk.say(bench.dialect.new_game());
            talk.ready()?;
        }
        if random.bool() {
            talk.say(
                positions.get(number % positions.len()).map_or("position startpos", String::as_str),
            );
        } else {
            talk.say("position startpos");
        }
        let pondering = random.u8(..3) == 0;
        let endless = pondering || random.u8(..3) == 0;
        talk.say(match (pondering, endless, random.bool()) {
            (true, _, true) => "go ponder depth 1",
            (true, _, false) => "go ponder movetime 1",
            (false, true, _) => "go infinite",
            (false, false, true) => "go depth 1",
            (false, false, false) => "go movetime 1",
        });
        let mut pings = 0_i32;
        let mut hit = false;
        for _ in 0..random.u8(..4) {
            match random.u8(..4) {
                0 if asks_ready => {
                    talk.say("isready");
                    pings += 1;
                }
                1 => talk.say("debug off"),
                2 if pondering && !hit => {
                    talk.say("ponderhit");
                    hit = true;
                }
                _ => (),
            }
        }
        // Where the search ends by itself a `stop` may meet its answer on the way.
        if endless && !hit || random.bool() {
            talk.say("stop");
        }
        let mut answered = false;
        let limit = bench.pace.answer();
        let heard = talk.hear(limit, |line| {
            match line.reply {
                Reply::BestMove(_) => answered = true,
                Reply::ReadyOk => pings = (pings - 1).max(0),
                _ => (),
            }
            (answered && pings == 0).then_some(())
        });
        match heard {
            // That `isready` is lost in a search is for another check to judge.
            Err(Lost::Late(_)) if answered => {
                asks_ready = false;
                talk.ready().or_fail(message!(
                    "interleaved.no-readyok",
                    number = number + 1,
                    count
                ))?;
            }
            other => {
                other.or_fail(message!("interleaved.no-reply", number = number + 1, count))?;
            }
        }
    }
    Ok(())
}
