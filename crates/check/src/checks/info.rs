//! Contents of `info`.

use readyok_protocol::{Best, Bound, Dialect, Info, Move, MoveList, Reply, Score};
use readyok_rules::session::LineBoard;
use readyok_rules::{Game, MoveCodec, Position};

use super::assertions::each;
use crate::checks::{assertions, clause};
use crate::context::{Test, TestCase, TestContext};
use crate::format;
use crate::message::{Message, message};
use crate::session::OrFail;
use crate::spec::rule;
use crate::spec::{Need, Profile, Severity};
use crate::spec::{Observation, Stop, TestResult};
use crate::transcript::{Search, Transcript};

pub(super) const CHECKS: &[TestCase] = &[
    rule!(InfoNumbers, Profile::ALL, &[], "print counts and times as integers",),
    rule!(InfoComplete, Profile::ALL, &[], "omit fields without a value",),
    rule!(InfoOnce, Profile::ALL, &[], "print each field once, and either `cp` or `mate`",),
    rule!(InfoMoves, Profile::ALL, &[], "write the moves of a PV like `bestmove`",),
    rule!(InfoSeldepth, Profile::ALL, &[], "send `depth` in each line with `seldepth`",),
    rule!(
        IllegalPv,
        Profile::ALL,
        &[],
        "collect the PV in the search, and truncate it at invalid hash moves",
    ),
    rule!(
        PvBeyondEnd,
        Profile::ALL,
        &[],
        "end the PV at mate, stalemate, repetition and the fifty-move rule",
    ),
    info!(
        "pv-bestmove",
        "`bestmove` is the first move of the last PV with an exact score",
        "pv is the best line found, of several lines the one with multipv 1",
        "the best line begins with the move that is played",
        Should,
        "send the final PV before `bestmove`, and play its first move",
        Test::Passive(pv_head)
    ),
    info!(
        "before-bestmove",
        "a search reports a score before `bestmove`",
        "directly before bestmove the engine should send a final info with all it has found",
        "the final state of the search is reported before `bestmove`",
        Should,
        "send at least one `info` with depth and score in each search",
        Test::Passive(before_bestmove)
    ),
    info!(
        "pv-with-score",
        "a PV is sent with its depth and score",
        "score, depth, nodes and time belong to the pv, and are sent together",
        "depth and score of a PV are in the same line",
        Should,
        "send `depth`, `score` and `pv` in one line",
        Test::Passive(pv_with_score)
    ),
    info!(
        "bound-with-score",
        "`lowerbound` and `upperbound` are sent with a score",
        "they belong to the score",
        "a bound qualifies a score",
        Should,
        "send the bound after its score",
        Test::Passive(bound_with_score)
    ),
    info!(
        "monotonic-counts",
        "time and nodes never decrease during a search",
        "time and nodes are counted from the beginning of the search",
        "the time and the nodes of this search",
        Should,
        "sum the counts of all threads, always in the same way",
        Test::Passive(counts_grow)
    ),
    info!(
        "permille",
        "`hashfull` and `cpuload` are between 0 and 1000",
        "both are in permille",
        "permille of the table and of CPU time",
        Must,
        "scale the value to permille",
        Test::Passive(permille)
    ),
    check!(
        "info.wdl",
        "the three numbers of `wdl` add up to 1000",
        ["practice (Stockfish, lc0), UCI_ShowWDL" => "wins, draws and losses in permille"],
        Should,
        Profile::UCI,
        &[],
        "compute draws as 1000 minus wins and losses",
        Test::Passive(wdl),
    ),
    info!(
        "current-move",
        "`currmove` is legal, and `currmovenumber` counts the legal moves from 1",
        "for the first move x is 1, not 0",
        "the move being searched, and its number from 1",
        Should,
        "number the moves at the root from 1",
        Test::Passive(current_move)
    ),
    check!(
        "info.mate-pv",
        "the PV of the last exact mate score has the announced length and ends in mate",
        [
            "UCI 2006, info" => "mate in y moves, not plies; pv is the best line found",
            "USI draft 1 §5.3, info" => "the number is in plies, and the PV is the best line",
            "practice (fastchess)" => "match runners warn about mate PVs that end before the mate",
        ],
        Should,
        Profile::ALL,
        &[],
        "count plies from the root, and keep the complete PV of a mate",
        Test::Passive(mate_pv),
    ),
    check!(
        "info.mate-score",
        "mate distances are correct for both sides: moves in UCI, plies in USI",
        [
            "UCI 2006, info score mate" => "mate in y moves; negative if the engine is mated",
            "USI draft 1 §4 and §5.3" => "the mate distance is in plies, with the same signs",
        ],
        Must,
        Profile::ALL,
        &[],
        "in UCI convert plies to moves, rounding up; in USI send plies",
        Test::Interactive(mate_score),
    ),
    check!(
        "info.score-side",
        "scores are from the side to move's point of view",
        [
            "UCI 2006, info score cp" => "from the engine's point of view",
            "USI draft 1 §5.3, info score cp" => "positive is good for the side to move",
        ],
        Must,
        Profile::ALL,
        &[],
        "send the score from the side to move's point of view",
        Test::Interactive(score_side),
    ),
    info!(
        "multipv",
        "with `MultiPV` each depth has lines 1 to k, with different first moves, best first",
        "in k-best mode k variants are always sent together",
        "all lines are sent, numbered from 1",
        Must,
        &[Need::Option("MultiPV")],
        "after each depth send all lines ordered by score, numbered from 1",
        Test::Interactive(multipv)
    ),
];

/// The position after a line that is being searched. A null move ends the line.
pub(super) fn searched(position: &Position, line: &MoveList<'_>) -> Result<Position, Message> {
    reached(position, line.tokens().take_while(|token| *token != Move::NULL.as_str()))
}

fn reached<'a>(
    position: &Position,
    tokens: impl Iterator<Item = &'a str>,
) -> Result<Position, Message> {
    position.clone().after(tokens).map_err(|error| message!("pv.illegal", error = &error))
}

fn pv_head(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    // With limited strength an engine may report the best line and play another.
    for search in transcript.searches().iter().filter(|search| !search.settings.limited) {
        let Some((at, best)) = &search.best else { continue };
        let Best::Move(mv) = &best.best else { continue };
        let first_line = |info: &&Info<'_>| {
            info.multipv.is_none_or(|number| number == 1)
                && info.pv.as_ref().is_some_and(|pv| !pv.is_empty())
        };
        let infos = || search.infos.iter().map(|(_, info)| info).filter(first_line);
        let head = |info: &Info<'_>| Some(info.pv.as_ref()?.tokens().next()?.to_owned());
        let last = infos().rfind(|info| info.bound == Bound::Exact);
        let Some(exact) = last.and_then(head) else { continue };
        // A move that fails high can be played before it is searched again.
        if infos().next_back().and_then(head).as_deref() == Some(mv.as_str()) {
            seen += 1;
            continue;
        }
        // An interrupted search may have found a better move without reporting it.
        let go = &search.go;
        let is_timed = go.move_time.is_some() || go.random_time.is_some() || !go.clocks.is_empty();
        if search.stopped || go.nodes.is_some() || is_timed {
            continue;
        }
        seen += 1;
        if exact != mv.as_str() {
            return Err((*at, message!("pv.other-bestmove", mv, head = exact.escape_debug())));
        }
    }
    Ok(seen)
}

fn before_bestmove(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        let Some((at, best)) = &search.best else { continue };
        // A search without time may report nothing.
        let Some(depth) = search.go.depth else { continue };
        if search.stopped || !matches!(best.best, Best::Move(_)) {
            continue;
        }
        // Without a legal move there is no report either.
        if search.position.as_ref().is_some_and(|position| position.legal_moves().is_empty()) {
            continue;
        }
        seen += 1;
        if !search.infos.iter().any(|(_, info)| info.score.is_some()) {
            return Err((*at, message!("depth.nothing-reported", depth)));
        }
    }
    Ok(seen)
}

fn pv_with_score(transcript: &Transcript) -> Observation {
    each(transcript, |_, info| {
        info.pv.as_ref()?;
        Some(match (info.depth, info.score) {
            (Some(_), Some(_)) => Ok(()),
            (None, _) => Err(message!("pv.no-depth")),
            (_, None) => Err(message!("pv.no-score")),
        })
    })
}

fn bound_with_score(transcript: &Transcript) -> Observation {
    each(transcript, |_, info| match (info.score, info.bound) {
        (None, Bound::Lower | Bound::Upper) => Some(Err(message!("score.bound-alone"))),
        (Some(_), _) => Some(Ok(())),
        (None, Bound::Exact) => None,
    })
}

fn counts_grow(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    // With MultiPV each line may have the counts of its own search.
    let single = |search: &&Search| {
        search.infos.iter().all(|(_, info)| info.multipv.is_none_or(|line| line < 2))
    };
    for search in transcript.searches().iter().filter(single) {
        let (mut time, mut nodes) = (0, 0);
        for (at, info) in &search.infos {
            for (what, now, before) in
                [("time", info.time_ms(), &mut time), ("nodes", info.nodes, &mut nodes)]
            {
                let Some(now) = now else { continue };
                seen += 1;
                if now < *before {
                    return Err((
                        *at,
                        message!("info.decreased", field = what, before = *before, now),
                    ));
                }
                *before = now;
            }
        }
    }
    Ok(seen)
}

fn permille(transcript: &Transcript) -> Observation {
    each(transcript, |_, info| {
        let value = info.hashfull.max(info.cpuload)?;
        Some(if value <= 1000 { Ok(()) } else { Err(message!("info.permille", value)) })
    })
}

fn wdl(transcript: &Transcript) -> Observation {
    each(transcript, |_, info| {
        let wdl = info.wdl?;
        let sum = u32::from(wdl.win) + u32::from(wdl.draw) + u32::from(wdl.loss);
        Some(if sum == 1000 { Ok(()) } else { Err(message!("wdl.sum", sum)) })
    })
}

fn current_move(transcript: &Transcript) -> Observation {
    each(transcript, |search, info| {
        let mv = info.currmove?;
        if info.currmovenumber == Some(0) {
            return Some(Err(message!("currmovenumber.zero")));
        }
        let position = search.position.as_ref()?;
        let moves = position.legal_moves().len();
        if let Some(number) = info.currmovenumber
            && moves < usize::try_from(number).unwrap_or(usize::MAX)
        {
            return Some(Err(message!("currmovenumber.large", number, moves)));
        }
        Some(position.parse_move(mv.as_str()).map(drop).map_err(|error| Message::from(&error)))
    })
}

fn mate_pv(transcript: &Transcript) -> Observation {
    each(transcript, |search, info| {
        // Earlier lines may be truncated; the last one is the result.
        let last = search.infos.iter().rfind(|(_, other)| {
            other.multipv == info.multipv && other.bound == Bound::Exact && other.score.is_some()
        });
        if !last.is_some_and(|(_, last_info)| std::ptr::eq(last_info, info)) {
            return None;
        }
        let plies = match info.score? {
            Score::MateIn { plies } | Score::MatedIn { plies } if info.bound == Bound::Exact => {
                plies
            }
            _ => return None,
        };
        let position = search.position.as_ref()?;
        let pv = info.pv.as_ref()?;
        let mut board = LineBoard::new(position.clone(), MoveCodec::usual(position.game()));
        let length = u32::try_from(board.play(pv.tokens()).ok()?).unwrap_or(u32::MAX);
        Some(if length != plies {
            Err(message!("mate.pv-length", plies, length))
        } else if !board.position().legal_moves().is_empty() {
            Err(message!("mate.pv-not-mate", plies))
        } else {
            Ok(())
        })
    })
}

/// The last exact score of a search, and whether the search reached the depth.
fn score(context: &TestContext<'_>, text: &str, depth: u32) -> Result<(Score, TestResult), Stop> {
    let mut session = context.ready()?;
    let found = session.search(&context.position(text), &format!("go depth {depth}"))?;
    let exact = |info: &&Info<'_>| info.bound == Bound::Exact;
    let last = found.infos.iter().filter(exact).filter_map(|info| info.score).next_back();
    let Some(last) = last else {
        found.if_complete()?;
        return Err(Stop::Inconclusive(message!("score.none")));
    };
    Ok((last, found.if_complete().map(drop)))
}

fn mate_score(context: &TestContext<'_>) -> TestResult {
    let mut texts: Vec<(&str, u32)> = assertions::test_positions(context.game())
        .mate_in_one
        .into_iter()
        .map(|text| (text, 1))
        .collect();
    if context.game() == Game::Chess {
        texts.push((assertions::CHESS_MATE_IN_TWO, 3));
    }
    for (text, plies) in texts {
        let (mut reported, mut complete) = score(context, text, 6)?;
        if matches!(reported, Score::Cp(_)) {
            // An engine with aggressive pruning finds the mate later.
            (reported, complete) = score(context, text, 20)?;
        }
        if matches!(reported, Score::Cp(_)) {
            complete?;
        }
        match reported {
            Score::MateIn { plies: reported } if reported == plies => (),
            Score::MateInUnknown | Score::Cp(_) if context.dialect == Dialect::Usi => (),
            reported @ Score::Cp(cp) if 0 < cp => {
                return Err(Stop::Inconclusive(message!(
                    "mate.score",
                    text,
                    score = format::score(reported, context.dialect)
                )));
            }
            reported => {
                let score = format::score(reported, context.dialect);
                return Err(Stop::Fail(match context.dialect {
                    Dialect::Usi | Dialect::Uci => message!("mate.score-plies", plies, text, score),
                }));
            }
        }
    }
    Ok(())
}

fn score_side(context: &TestContext<'_>) -> TestResult {
    for text in assertions::test_positions(context.game()).ahead {
        let (reported, _) = score(context, text, 3)?;
        if reported < Score::Cp(0) {
            return Err(Stop::Fail(message!(
                "score.wrong-side",
                text,
                score = format::score(reported, context.dialect)
            )));
        }
    }
    Ok(())
}

fn multipv(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let position = context.position(assertions::test_positions(context.game()).middle[0]);
    // An option can be set again, also after a search.
    session.send(&context.set("MultiPV", "2"));
    session.search(&position, "go depth 1")?;
    session.send(&context.set("MultiPV", "3"));
    session.ready()?;
    let found = session.search(&position, "go depth 4")?;
    let found = found.if_complete()?;
    let exact: Vec<&Info<'_>> = found
        .infos
        .iter()
        .filter(|info| info.bound == Bound::Exact && info.pv.is_some() && info.score.is_some())
        .collect();
    let Some(depth) = exact.iter().filter_map(|info| info.depth).max() else {
        return Err(Stop::Inconclusive(message!("pv.none")));
    };
    // A client displays the last lines of the last depth.
    let mut last: Vec<&Info<'_>> = Vec::new();
    for number in 1..=3 {
        let line =
            exact.iter().rfind(|info| info.depth == Some(depth) && info.multipv == Some(number));
        match line {
            Some(line) => last.push(line),
            None => {
                return Err(Stop::Fail(message!("multipv.missing", depth, number)));
            }
        }
    }
    let heads: Vec<_> = last.iter().filter_map(|info| info.pv.as_ref()?.tokens().next()).collect();
    let mut distinct = heads.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < heads.len() {
        return Err(Stop::Fail(message!("multipv.same-head", depth, heads = heads.join(", "))));
    }
    if !last.iter().is_sorted_by(|a, b| b.score <= a.score) {
        return Err(Stop::Fail(message!("multipv.unordered", depth)));
    }
    Ok(())
}

pub(super) const MULTIPV_CHECKS: &[TestCase] = &[
    info!(
        "multipv-limit",
        "the number of lines does not exceed `MultiPV`",
        "`multipv` is for the k best lines, and k is 1 by default",
        "the client requests the number of lines",
        Must,
        &[],
        "number lines from 1 to the value of `MultiPV`",
        Test::Passive(multipv_limit)
    ),
    info!(
        "multipv-order",
        "lines are sent in order: 1, 2, 3",
        "all k variants are sent together, in k strings",
        "all lines are sent, numbered from 1",
        Should,
        &[Need::Option("MultiPV")],
        "send line 1 first, then the others in order",
        Test::Passive(multipv_together)
    ),
    info!(
        "multipv-forced",
        "the number of lines does not exceed the number of legal moves",
        "the k variants differ",
        "each line begins with a different move",
        Should,
        &[Need::Option("MultiPV")],
        "use the minimum of `MultiPV` and the number of legal moves",
        Test::Interactive(multipv_few)
    ),
    info!(
        "currline-requested",
        "`currline` is sent only while `UCI_ShowCurrLine` is true",
        "the engine should only send this if the option is set to true",
        "the line is sent only on request",
        Must,
        &[],
        "check the option before sending `currline`",
        Test::Passive(current_line_requested)
    ),
    info!(
        "refutation-requested",
        "`refutation` is sent only while `UCI_ShowRefutations` is true",
        "the engine should only send this if the option is set to true",
        "refutations are sent only on request",
        Must,
        &[],
        "check the option before sending `refutation`",
        Test::Passive(refutation_requested)
    ),
    info!(
        "currline",
        "`currline` and `refutation` are legal in the searched position",
        "the current line, and moves with their refutations",
        "both are lists of moves of this position",
        Should,
        &[Need::Option("UCI_ShowCurrLine")],
        "copy the line while no thread modifies it",
        Test::Interactive(current_line)
    ),
    rule!(
        IllegalPonderPv,
        Profile::ALL,
        &[],
        "search the position of the last `position`, including its last move",
    ),
];

fn multipv_limit(transcript: &Transcript) -> Observation {
    each(transcript, |search, info| {
        let number = info.multipv?;
        let limit = search.settings.lines;
        Some(if number <= limit {
            Ok(())
        } else {
            Err(message!("multipv.exceeded", number, limit = limit))
        })
    })
}

fn multipv_together(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches().iter().filter(|search| 1 < search.settings.lines) {
        let mut before = 0;
        for (at, info) in &search.infos {
            let (Some(number), Some(_)) = (info.multipv, &info.pv) else { continue };
            seen += 1;
            // A line may be repeated after a bound.
            if 1 < number && number != before && number != before + 1 {
                return Err((*at, message!("multipv.order", number, before)));
            }
            before = number;
        }
    }
    Ok(seen)
}

fn multipv_few(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send(&context.set("MultiPV", "3"));
    session.ready()?;
    let text = match context.game() {
        Game::Chess | Game::Chess960 => assertions::CHESS_FORCED,
        Game::Shogi => assertions::test_positions(Game::Shogi).mated_next[0],
    };
    let found = session
        .search(&context.position(text), "go depth 2")
        .or_fail(message!("multipv.forced-no-bestmove"))?;
    match found.infos.iter().filter(|info| info.pv.is_some()).filter_map(|info| info.multipv).max()
    {
        Some(lines) if 1 < lines => Err(Stop::Fail(message!("multipv.forced", lines))),
        _ => Ok(()),
    }
}

fn current_line_requested(transcript: &Transcript) -> Observation {
    each(transcript, |search, info| {
        let requested = search.settings.current_line || info.currline.is_none();
        Some(if requested { Ok(()) } else { Err(message!("currline.unrequested")) })
    })
}

fn refutation_requested(transcript: &Transcript) -> Observation {
    each(transcript, |search, info| {
        let requested = search.settings.refutations || info.refutation.is_none();
        Some(if requested { Ok(()) } else { Err(message!("refutation.unrequested")) })
    })
}

fn current_line(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    for name in ["UCI_ShowCurrLine", "UCI_ShowRefutations"] {
        if context.option(name).is_some() {
            session.send(&context.set(name, "true"));
        }
    }
    session.ready()?;
    let text = assertions::test_positions(context.game()).middle[0];
    let position = Position::from_text(context.game(), text)
        .map_err(|error| Stop::invalid_position(&error))?;
    session.send(&context.position(text));
    session.send("go infinite");
    let mut reported = Vec::new();
    let mut counts_from_zero = false;
    let enough = session.wait_for(std::time::Duration::from_millis(1800), |line| {
        if let Reply::Info(info) = &line.reply {
            counts_from_zero |=
                info.currline.as_ref().is_some_and(|currline| currline.cpu == Some(0));
            reported.extend(info.currline.as_ref().map(|currline| currline.moves.clone()));
            reported.extend(info.refutation.clone());
        }
        (8 < reported.len()).then_some(())
    });
    if enough.is_err() && !session.is_searching() {
        return Err(Stop::Inconclusive(message!("infinite.ended")));
    }
    if reported.is_empty() {
        return Err(Stop::Skip(message!("currline.none")));
    }
    if counts_from_zero {
        return Err(Stop::Fail(message!("currline.cpu-zero")));
    }
    for moves in reported {
        searched(&position, &moves).map_err(Stop::Fail)?;
    }
    session.send("stop");
    session.best(context.timeouts.answer())?;
    Ok(())
}
