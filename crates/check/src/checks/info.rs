//! What is told about searches.

use readyok_protocol::{Best, Bound, DiagnosticKind, Dialect, Info, Move, MoveList, Score};
use readyok_rules::{Game, Position};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Heard, Need, Outcome, Profile, Severity, Stop, Test};
use crate::conversation::{Conversation, Search};
use crate::message::{Message, message};
use crate::words;

/// So many variations are played out in each conversation.
const MOST_VARIATIONS: usize = 3000;

pub(super) const CHECKS: &[Check] = &[
    info!(
        "numbers",
        "numbers in `info` are non-negative integers within range",
        "<x> is an integer",
        "the values are integers",
        Must,
        "print counts and times as integers",
        Test::Form {
            word: "info",
            notes: &[
                DiagnosticKind::NotANumber,
                DiagnosticKind::NumberTooLarge,
                DiagnosticKind::NegativeNumber
            ],
        }
    ),
    info!(
        "complete",
        "each field of `info` has a value",
        "each keyword is followed by its value",
        "a value follows each keyword",
        Must,
        "omit fields without a value",
        Test::Form {
            word: "info",
            notes: &[DiagnosticKind::Missing, DiagnosticKind::MissingKeyword]
        }
    ),
    info!(
        "once",
        "each field occurs once in an `info` line",
        "each line reports one state of the search",
        "a line is one report of the search",
        Should,
        "print each field once, and either `cp` or `mate`",
        Test::Form { word: "info", notes: &[DiagnosticKind::Repeated, DiagnosticKind::Conflict] }
    ),
    info!(
        "moves",
        "move lists contain only moves in protocol notation",
        "the line is a list of moves",
        "the PV is a list of moves",
        Must,
        "write the moves of a PV like `bestmove`",
        Test::Form {
            word: "info",
            notes: &[DiagnosticKind::NotAMove, DiagnosticKind::MoveRepaired]
        }
    ),
    info!(
        "seldepth",
        "`seldepth` comes with `depth`",
        "if seldepth is sent there must be a depth in the same line",
        "seldepth is sent only together with depth",
        Must,
        "send `depth` in each line with `seldepth`",
        Test::Form { word: "info", notes: &[DiagnosticKind::SeldepthWithoutDepth] }
    ),
    info!(
        "legal-pv",
        "every PV is legal in the searched position",
        "pv is the best line found",
        "the moves of the best line",
        Must,
        "collect the PV in the search, and truncate it at invalid hash moves",
        Test::Hear(legal_pv)
    ),
    info!(
        "pv-bestmove",
        "`bestmove` is the first move of the last PV with an exact score",
        "pv is the best line found, of several lines the one with multipv 1",
        "the best line begins with the move that is played",
        Should,
        "send the final PV before `bestmove`, and play its first move",
        Test::Hear(pv_head)
    ),
    info!(
        "before-bestmove",
        "a search reports a score before `bestmove`",
        "directly before bestmove the engine should send a final info with all it has found",
        "the final state of the search is reported before `bestmove`",
        Should,
        "send at least one `info` with depth and score in each search",
        Test::Hear(before_bestmove)
    ),
    info!(
        "pv-with-score",
        "a PV is sent with its depth and score",
        "score, depth, nodes and time belong to the pv, and are sent together",
        "depth and score of a PV are in the same line",
        Should,
        "send `depth`, `score` and `pv` in one line",
        Test::Hear(pv_with_score)
    ),
    info!(
        "bound-with-score",
        "`lowerbound` and `upperbound` are sent with a score",
        "they belong to the score",
        "a bound qualifies a score",
        Should,
        "send the bound after its score",
        Test::Hear(bound_with_score)
    ),
    info!(
        "monotonic-counts",
        "time and nodes never decrease during a search",
        "time and nodes are counted from the beginning of the search",
        "the time and the nodes of this search",
        Should,
        "sum the counts of all threads, always in the same way",
        Test::Hear(counts_grow)
    ),
    info!(
        "permille",
        "`hashfull` and `cpuload` are between 0 and 1000",
        "both are in permille",
        "permille of the table and of CPU time",
        Must,
        "scale the value to permille",
        Test::Hear(permille)
    ),
    check!(
        "info.wdl",
        "the three numbers of `wdl` add up to 1000",
        ["practice (Stockfish, lc0), UCI_ShowWDL" => "wins, draws and losses in permille"],
        Should,
        Profile::UCI,
        &[],
        "compute draws as 1000 minus wins and losses",
        Test::Hear(wdl),
    ),
    info!(
        "current-move",
        "`currmove` is legal, and `currmovenumber` counts from 1",
        "for the first move x is 1, not 0",
        "the move being searched, and its number from 1",
        Should,
        "number the moves at the root from 1",
        Test::Hear(current_move)
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
        Test::Hear(mate_pv),
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
        Test::Ask(mate_score),
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
        Test::Ask(score_side),
    ),
    info!(
        "multipv",
        "with `MultiPV` each depth has lines 1 to k, with different first moves, best first",
        "in k-best mode k variants are always sent together",
        "all lines are sent, numbered from 1",
        Must,
        &[Need::Option("MultiPV")],
        "after each depth send all lines ordered by score, numbered from 1",
        Test::Ask(multipv)
    ),
];

/// Judges the lines of all searches.
pub(super) fn each(
    talk: &Conversation,
    judge: impl Fn(&Search, &Info<'_>) -> Option<Result<(), Message>>,
) -> Heard {
    let mut seen = 0;
    for search in talk.searches() {
        for (at, info) in &search.infos {
            match judge(search, info) {
                Some(Ok(())) => seen += 1,
                Some(Err(why)) => return Err((*at, why)),
                None => (),
            }
        }
    }
    Ok(seen)
}

/// Where a variation leads to. Words that end a variation in shogi end it here.
pub(super) fn played(position: &Position, pv: &MoveList<'_>) -> Result<Position, Message> {
    let ends = |word: &&str| matches!(*word, "resign" | "win") || word.starts_with("rep_");
    reached(position, pv.words().take_while(|word| !ends(word)))
}

/// The same for a line that is being searched: there a side may pass, and what follows is not known.
pub(super) fn searched(position: &Position, line: &MoveList<'_>) -> Result<Position, Message> {
    reached(position, line.words().take_while(|word| *word != Move::NULL.as_str()))
}

fn reached<'a>(
    position: &Position,
    words: impl Iterator<Item = &'a str>,
) -> Result<Position, Message> {
    position.clone().after(words).map_err(|error| message!("pv.illegal", error = &error))
}

fn legal_pv(talk: &Conversation) -> Heard {
    let mut seen = 0;
    for search in talk.searches() {
        let Some(position) = &search.position else { continue };
        for (at, info) in &search.infos {
            let Some(pv) = &info.pv else { continue };
            if search.go.ponder {
                continue;
            }
            if MOST_VARIATIONS < seen {
                return Ok(seen);
            }
            seen += 1;
            played(position, pv).map_err(|why| (*at, why))?;
        }
    }
    Ok(seen)
}

fn pv_head(talk: &Conversation) -> Heard {
    let mut seen = 0;
    // With its strength limited an engine may tell the best line and play another.
    for search in talk.searches().iter().filter(|it| !it.settings.limited) {
        let Some((at, best)) = &search.best else { continue };
        let Best::Move(mv) = &best.best else { continue };
        let first_line = |info: &&Info<'_>| {
            info.multipv.is_none_or(|number| number == 1)
                && info.pv.as_ref().is_some_and(|pv| !pv.is_empty())
        };
        let infos = || search.infos.iter().map(|(_, info)| info).filter(first_line);
        let head = |info: &Info<'_>| Some(info.pv.as_ref()?.words().next()?.to_owned());
        let last = infos().rfind(|info| info.bound == Bound::Exact);
        let Some(exact) = last.and_then(head) else { continue };
        // A move that was better than hoped for can be played before it is searched again.
        if infos().next_back().and_then(head).as_deref() == Some(mv.as_str()) {
            seen += 1;
            continue;
        }
        // A search that is interrupted may have found a better move that it had no time to tell of.
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

fn before_bestmove(talk: &Conversation) -> Heard {
    let mut seen = 0;
    for search in talk.searches() {
        let Some((at, best)) = &search.best else { continue };
        // With no time at all there may be nothing to tell.
        let Some(depth) = search.go.depth else { continue };
        if search.stopped || !matches!(best.best, Best::Move(_)) {
            continue;
        }
        // Nor without a legal move, whatever is answered then.
        if search.position.as_ref().is_some_and(|it| it.legal_moves().is_empty()) {
            continue;
        }
        seen += 1;
        if !search.infos.iter().any(|(_, info)| info.score.is_some()) {
            return Err((*at, message!("depth.nothing-reported", depth)));
        }
    }
    Ok(seen)
}

fn pv_with_score(talk: &Conversation) -> Heard {
    each(talk, |_, info| {
        info.pv.as_ref()?;
        Some(match (info.depth, info.score) {
            (Some(_), Some(_)) => Ok(()),
            (None, _) => Err(message!("pv.no-depth")),
            (_, None) => Err(message!("pv.no-score")),
        })
    })
}

fn bound_with_score(talk: &Conversation) -> Heard {
    each(talk, |_, info| match (info.score, info.bound) {
        (None, Bound::Lower | Bound::Upper) => Some(Err(message!("score.bound-alone"))),
        (Some(_), _) => Some(Ok(())),
        (None, Bound::Exact) => None,
    })
}

fn counts_grow(talk: &Conversation) -> Heard {
    let mut seen = 0;
    // Of several lines each may come with what was counted when it was found.
    let single =
        |it: &&Search| it.infos.iter().all(|(_, info)| info.multipv.is_none_or(|line| line < 2));
    for search in talk.searches().iter().filter(single) {
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

fn permille(talk: &Conversation) -> Heard {
    each(talk, |_, info| {
        let value = info.hashfull.max(info.cpuload)?;
        Some(if value <= 1000 { Ok(()) } else { Err(message!("info.permille", value)) })
    })
}

fn wdl(talk: &Conversation) -> Heard {
    each(talk, |_, info| {
        let wdl = info.wdl?;
        let sum = u32::from(wdl.win) + u32::from(wdl.draw) + u32::from(wdl.loss);
        Some(if sum == 1000 { Ok(()) } else { Err(message!("wdl.sum", sum)) })
    })
}

fn current_move(talk: &Conversation) -> Heard {
    each(talk, |search, info| {
        let mv = info.currmove?;
        if info.currmovenumber == Some(0) {
            return Some(Err(message!("currmovenumber.zero")));
        }
        let position = search.position.as_ref()?;
        Some(position.parse_move(mv.as_str()).map(drop).map_err(|error| Message::from(&error)))
    })
}

fn mate_pv(talk: &Conversation) -> Heard {
    each(talk, |search, info| {
        // What came before may have been cut short; the last one is what the search has found.
        let last = search.infos.iter().rfind(|(_, it)| {
            it.multipv == info.multipv && it.bound == Bound::Exact && it.score.is_some()
        });
        if !last.is_some_and(|(_, it)| std::ptr::eq(it, info)) {
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
        let reached = played(position, pv).ok()?;
        let length = u32::try_from(pv.words().count()).unwrap_or(u32::MAX);
        Some(if length != plies {
            Err(message!("mate.pv-length", plies, length))
        } else if !reached.legal_moves().is_empty() {
            Err(message!("mate.pv-not-mate", plies))
        } else {
            Ok(())
        })
    })
}

/// The last exact score of a search.
fn score(bench: &Bench<'_>, text: &str, depth: u32) -> Result<Score, Stop> {
    let mut talk = bench.ready()?;
    let found = talk.search(&bench.position(text), &format!("go depth {depth}"))?;
    let exact = |info: &&Info<'_>| info.bound == Bound::Exact;
    let last = found.infos.iter().filter(exact).filter_map(|info| info.score).next_back();
    last.ok_or_else(|| Stop::Inconclusive(message!("score.none")))
}

fn mate_score(bench: &Bench<'_>) -> Outcome {
    let mut texts: Vec<(&str, u32)> =
        probe::of(bench.game()).mate_in_one.into_iter().map(|text| (text, 1)).collect();
    if bench.game() == Game::Chess {
        texts.push((probe::CHESS_MATE_IN_TWO, 3));
    }
    for (text, plies) in texts {
        let mut told = score(bench, text, 6)?;
        if matches!(told, Score::Cp(_)) {
            // An engine that prunes much sees it later.
            told = score(bench, text, 20)?;
        }
        match told {
            Score::MateIn { plies: told } if told == plies => (),
            Score::MateSomeday | Score::Cp(_) if bench.dialect == Dialect::Usi => (),
            told @ Score::Cp(cp) if 0 < cp => {
                return Err(Stop::Inconclusive(message!(
                    "mate.score",
                    text,
                    score = words::score(told, bench.dialect)
                )));
            }
            told => {
                let score = words::score(told, bench.dialect);
                return Err(Stop::Fail(match bench.dialect {
                    Dialect::Usi => message!("mate.score-plies", plies, text, score),
                    Dialect::Uci => message!("mate.score-plies", plies, text, score),
                }));
            }
        }
    }
    Ok(())
}

fn score_side(bench: &Bench<'_>) -> Outcome {
    for text in probe::of(bench.game()).ahead {
        let told = score(bench, text, 3)?;
        if told < Score::Cp(0) {
            return Err(Stop::Fail(message!(
                "score.wrong-side",
                text,
                score = words::score(told, bench.dialect)
            )));
        }
    }
    Ok(())
}

fn multipv(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&bench.set("MultiPV", "3"));
    talk.ready()?;
    let found = talk.search(&bench.position(probe::of(bench.game()).middle[0]), "go depth 4")?;
    let exact: Vec<&Info<'_>> = found
        .infos
        .iter()
        .filter(|info| info.bound == Bound::Exact && info.pv.is_some() && info.score.is_some())
        .collect();
    let Some(depth) = exact.iter().filter_map(|info| info.depth).max() else {
        return Err(Stop::Inconclusive(message!("pv.none")));
    };
    // The last ones of the last depth are what a client shows at the end.
    let mut last: Vec<&Info<'_>> = Vec::new();
    for number in 1..=3 {
        let line = exact.iter().rfind(|it| it.depth == Some(depth) && it.multipv == Some(number));
        match line {
            Some(line) => last.push(line),
            None => {
                return Err(Stop::Fail(message!("multipv.missing", depth, number)));
            }
        }
    }
    let heads: Vec<_> = last.iter().filter_map(|it| it.pv.as_ref()?.words().next()).collect();
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
