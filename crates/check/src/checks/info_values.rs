//! Values in `info`: scores of known positions, accuracy of times and counts, amount and frequency.

use std::time::Duration;

use readyok_protocol::{Bound, Dialect, Info, Reply, Score};
use readyok_rules::Game;

use crate::capabilities::Feature;
use crate::checks::assertions::{each, soon_done};
use crate::checks::{assertions, clause};
use crate::context::{Test, TestCase, TestContext};
use crate::format;
use crate::message::message;
use crate::session::OrFail;
use crate::spec::rule;
use crate::spec::{Observation, Profile, Severity, Stop, TestResult};
use crate::timeouts::now;
use crate::transcript::Transcript;

/// Tolerance of a reported time: engines round, and start their clock while reading.
const AHEAD: Duration = Duration::from_millis(30);

/// Minimum milliseconds for a comparison of `nodes`, `time` and `nps`.
const SHORT: u64 = 50;

/// Duration of the search, and the divisor of its time that must be reported.
const TIMED: Duration = Duration::from_millis(400);
const REPORTED_PART: u32 = 5;

/// Maximum interval between reports in a long search, and the extra observation time.
const LONGER: Duration = Duration::from_secs(1);
const SILENT: Duration = Duration::from_secs(2);

/// Observation time, and the maximum number of `info` lines in it.
const FLOOD_TIME: Duration = Duration::from_millis(400);
const FLOOD: usize = 1000;

pub(super) const CHECKS: &[TestCase] = &[
    info!(
        "one-bound",
        "a score is either a lower or an upper bound",
        "lowerbound and upperbound are alternatives",
        "a score is a lower bound, an upper bound, or exact",
        Should,
        "send at most one of `lowerbound` and `upperbound`",
        Test::Passive(one_bound)
    ),
    info!(
        "monotonic-depth",
        "the depth of the best line never decreases during a search",
        "depth is the depth reached by the search",
        "the depth of the search",
        Should,
        "send the iteration depth, not the remaining depth",
        Test::Passive(depth_grows)
    ),
    info!(
        "nps",
        "`nps` is `nodes` divided by `time`",
        "nps are the nodes searched in a second",
        "the speed of this search",
        Should,
        "divide the node count of the line by its time",
        Test::Passive(nps)
    ),
    info!(
        "time-limit",
        "`time` does not exceed the time since `go`",
        "the time searched, in milliseconds",
        "the duration of the search",
        Should,
        "start the search clock at `go`",
        Test::Passive(time_ahead)
    ),
    info!(
        "time",
        "`time` is wall-clock time in milliseconds",
        "the time searched, in milliseconds",
        "the duration of the search in milliseconds",
        Should,
        "report wall-clock milliseconds, not centiseconds or CPU time",
        Test::Interactive(time)
    ),
    info!(
        "regular",
        "a long search reports nodes at least every two seconds",
        "nodes, nps and similar fields should be sent regularly",
        "the client displays them during the search",
        May,
        "send `info nodes … nps … hashfull … time …` once a second",
        Test::Interactive(regular)
    ),
    rule!(EarlyDetail, Profile::ALL, &[], "omit `currmove` and similar fields in the first second",),
    info!(
        "flood",
        "a short search does not flood the client",
        "there should not be too much traffic",
        "clients display each line, and fall behind",
        May,
        "do not report depths that repeat the same result",
        Test::Interactive(volume)
    ),
    info!(
        "string-last",
        "`string` is the last field of a line",
        "the rest of the line is displayed as text",
        "the rest is text for the user",
        Should,
        "send `string` and its text at the end of the line",
        Test::Passive(string_last)
    ),
];

fn one_bound(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        for (at, info) in search.infos.iter().filter(|(_, info)| info.score.is_some()) {
            seen += 1;
            if info.bound == Bound::Exact {
                continue;
            }
            let text = transcript.entries.get(*at).map_or("", |entry| &entry.text);
            let fields = text.split_ascii_whitespace().take_while(|token| *token != "string");
            let bounds = fields.filter(|field| matches!(*field, "lowerbound" | "upperbound"));
            if 1 < bounds.count() {
                return Err((*at, message!("score.two-bounds")));
            }
        }
    }
    Ok(seen)
}

fn is_best_line(info: &Info<'_>) -> bool {
    info.bound == Bound::Exact
        && info.pv.is_some()
        && info.multipv.is_none_or(|multipv| multipv == 1)
}

fn depth_grows(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        let mut deepest = 0;
        for (at, info) in search.infos.iter().filter(|(_, info)| is_best_line(info)) {
            let Some(depth) = info.depth else { continue };
            seen += 1;
            if depth < deepest {
                return Err((*at, message!("depth.decreased", depth, deepest)));
            }
            deepest = depth;
        }
    }
    Ok(seen)
}

fn nps(transcript: &Transcript) -> Observation {
    each(transcript, |_, info| {
        let (nodes, nps, time) = (info.nodes?, info.nps?, info.time_ms()?);
        if time < SHORT {
            return None;
        }
        // Counts and times of several threads are not simultaneous.
        let usual = nodes.saturating_mul(1000) / time;
        let (least, limit) = (usual / 2, usual.saturating_mul(2).saturating_add(1));
        Some(if (least..=limit).contains(&nps) {
            Ok(())
        } else {
            Err(message!("nps.wrong", nodes, time, usual, nps))
        })
    })
}

fn time_ahead(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        for (at, info) in &search.infos {
            let (Some(time), Some(entry)) = (info.time, transcript.entries.get(*at)) else {
                continue;
            };
            seen += 1;
            let passed = entry.at.saturating_sub(search.begin);
            if passed + AHEAD < time {
                let passed = passed.as_millis();
                return Err((*at, message!("time.wrong", reported = time.as_millis(), passed)));
            }
        }
    }
    Ok(seen)
}

fn time(context: &TestContext<'_>) -> TestResult {
    let mut least = None;
    // A busy machine may delay one report.
    for _ in 0..3 {
        let mut session = context.ready()?;
        session.send(&context.position(assertions::test_positions(context.game()).middle[0]));
        let begin = now();
        session.send(&format!("go movetime {}", TIMED.as_millis()));
        let mut last = None;
        session.wait_for(TIMED + context.timeouts.answer(), |line| match &line.reply {
            Reply::Info(info) => {
                last = info
                    .time
                    .map(|reported| (reported, line.at.saturating_duration_since(begin)))
                    .or(last);
                None
            }
            Reply::BestMove(_) => Some(()),
            _ => None,
        })?;
        let Some((reported, passed)) = last else {
            return Err(Stop::Skip(message!("time.none")));
        };
        if passed < TIMED * 3 / 4 {
            // The last report is too early for a comparison.
            continue;
        }
        if passed / REPORTED_PART <= reported {
            return Ok(());
        }
        least = Some((reported, passed));
    }
    let Some((reported, passed)) = least else {
        return Err(Stop::Inconclusive(message!("time.early")));
    };
    let (reported, passed) = (reported.as_millis(), passed.as_millis());
    Err(Stop::Fail(message!("time.wrong", reported = reported, passed)))
}

fn regular(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.position(assertions::test_positions(context.game()).middle[0]));
    let begin = now();
    session.send("go infinite");
    let silent = SILENT + context.timeouts.margin() / 4;
    let long = silent + LONGER;
    let reported = session.listen(long);
    let counts = reported
        .iter()
        .filter(|line| matches!(&line.reply, Reply::Info(info) if info.nodes.is_some()));
    let mut times: Vec<Duration> =
        counts.map(|line| line.at.saturating_duration_since(begin)).collect();
    times.push(long);
    let mut before = Duration::ZERO;
    let mut longest = Duration::ZERO;
    for time in times {
        longest = longest.max(time.saturating_sub(before));
        before = time;
    }
    context.remark(format!("{} ms were the longest without `nodes`", longest.as_millis()));
    session.send("stop");
    session.best(context.timeouts.answer())?;
    if silent < longest {
        return Err(Stop::Fail(message!("nodes.rare", ms = longest.as_millis())));
    }
    Ok(())
}

fn volume(context: &TestContext<'_>) -> TestResult {
    let mut limit = 0;
    for position in soon_done(context) {
        let mut session = context.ready_unchecked()?;
        session.send(&position);
        session.send("go infinite");
        let lines = session.listen(FLOOD_TIME).len();
        limit = limit.max(lines);
        if FLOOD < lines {
            let time = FLOOD_TIME.as_millis();
            return Err(Stop::Fail(message!("info.flood", lines, time)));
        }
    }
    context.remark(format!("at most {limit} lines came in {} ms", FLOOD_TIME.as_millis()));
    Ok(())
}

fn string_last(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for search in transcript.searches() {
        for (at, info) in &search.infos {
            seen += 1;
            let Some(text) = &info.string else { continue };
            let line = format!("info {text}");
            let Reply::Info(hidden) = Reply::read(&line, transcript.dialect).value else {
                continue;
            };
            // Text for the user may contain keywords, but no score with a PV of this position.
            let (Some(position), Some(pv)) = (&search.position, &hidden.pv) else { continue };
            let is_pv = pv.tokens().next().is_some_and(|token| position.parse_move(token).is_ok());
            if is_pv && hidden.score.is_some() && info.score.is_none() && info.pv.is_none() {
                return Err((*at, message!("string.pv")));
            }
        }
    }
    Ok(seen)
}

/// Centipawns from which a score encodes a mate.
const MATE_IN_DISGUISE: i32 = 9000;

/// Centipawns below which the engine has missed the draw.
const LOST: Score = Score::Cp(-200);

/// Centipawns from which a side is clearly better.
const CLEAR: i32 = 300;

const WDL: &str = "practice (Stockfish, lc0), UCI_ShowWDL";

pub(super) const SCORES_CHECKS: &[TestCase] = &[
    check!(
        "scores.mated",
        "the side being mated has a negative mate score",
        [
            "UCI 2006, info score mate" => "if the engine is getting mated use negative values for y",
            "USI draft 1 §5.3, info score mate" => "negative if the engine is being mated; in plies",
        ],
        Must,
        Profile::ALL,
        &[],
        "report `mate -1` for a mate by the opponent's next move, in USI `mate -2`",
        Test::Interactive(mated),
    ),
    check!(
        "scores.mate-distance",
        "no announced mate is shorter than the shortest mate",
        [
            "UCI 2006, info score mate" => "mate in y moves",
            "USI draft 1 §5.3, info score mate" => "mate in y plies",
        ],
        Must,
        Profile::ALL,
        &[],
        "store mate distances relative to the position, and convert them to the root",
        Test::Interactive(mate_distance),
    ),
    check!(
        "scores.mate-not-cp",
        "a mate is reported as `mate`, not as a large `cp` value",
        [
            "UCI 2006, info score" => "`cp` is for centipawns, `mate` for mates",
            "The UCI Protocol, info score" => "no `cp` if a mate was found",
            "USI draft 1 §5.3, info score" => "mates are reported as `mate`",
        ],
        Should,
        Profile::ALL,
        &[],
        "convert scores beyond the maximum evaluation to `mate`",
        Test::Interactive(mate_not_cp),
    ),
    check!(
        "scores.repetition",
        "a move that draws by repetition has a draw score",
        [
            "UCI 2006, position" => "the moves of the game let the engine detect repetitions",
            "USI draft 1 §5.3, position" => "the complete game is sent",
        ],
        May,
        Profile::ALL,
        &[],
        "keep the hash keys of the game, and compare them in the search",
        Test::Interactive(repetition),
    ),
    check!(
        "scores.wdl-requested",
        "`wdl` is sent only while `UCI_ShowWDL` is true",
        [WDL => "the option enables it; other clients treat it as unknown tokens"],
        Should,
        Profile::UCI,
        &[],
        "declare `UCI_ShowWDL`, false by default, and check it before sending `wdl`",
        Test::Passive(wdl_requested),
    ),
    check!(
        "scores.wdl-side",
        "`wdl` and `cp` agree on the better side",
        [WDL => "wins and losses are from the side to move's point of view"],
        Should,
        Profile::UCI,
        &[],
        "report wins, draws and losses from the side to move's point of view",
        Test::Passive(wdl_side),
    ),
];

/// The exact scores of a search, in order. Passive checks ignore the session.
fn scores(context: &TestContext<'_>, position: &str, go: &str) -> Result<Vec<Score>, Stop> {
    complete_scores(context, position, go).map(|(scores, _)| scores)
}

/// The exact scores, and whether the search is the requested one.
fn complete_scores(
    context: &TestContext<'_>,
    position: &str,
    go: &str,
) -> Result<(Vec<Score>, TestResult), Stop> {
    let mut session = context.ready_unchecked()?;
    let found = session.search(position, go).or_fail(message!("go.no-reply", go))?;
    let exact = |info: &&Info<'_>| {
        info.bound == Bound::Exact && info.multipv.is_none_or(|number| number == 1)
    };
    let scores: Vec<Score> =
        found.infos.iter().filter(exact).filter_map(|info| info.score).collect();
    if scores.is_empty() {
        found.if_complete()?;
        return Err(Stop::Skip(message!("score.none")));
    }
    Ok((scores, found.if_complete().map(drop)))
}

fn last(scores: &[Score]) -> Score {
    scores.last().copied().unwrap_or(Score::Cp(0))
}

fn mated(context: &TestContext<'_>) -> TestResult {
    for text in assertions::test_positions(context.game()).mated_next {
        let (scores, complete) = complete_scores(context, &context.position(text), "go depth 6")?;
        if matches!(last(&scores), Score::Cp(_)) {
            complete?;
        }
        match last(&scores) {
            Score::MatedIn { plies: 2 } | Score::MatedInUnknown => (),
            Score::Cp(cp) if cp <= 0 => {
                return Err(Stop::Skip(message!("mate.not-found", text)));
            }
            reported => {
                return Err(Stop::Fail(message!(
                    "mate.mated-score",
                    text,
                    score = format::score(reported, context.dialect)
                )));
            }
        }
    }
    Ok(())
}

fn mate_distance(context: &TestContext<'_>) -> TestResult {
    for (text, plies) in assertions::test_positions(context.game()).mates {
        for reported in scores(context, &context.position(text), "go depth 7")? {
            match reported {
                Score::MateIn { plies: reported } if reported < plies => {
                    return Err(Stop::Fail(message!(
                        "mate.too-short",
                        text,
                        reported = reported,
                        plies
                    )));
                }
                Score::MatedIn { .. } | Score::Mated => {
                    return Err(Stop::Fail(message!(
                        "mate.mating-score",
                        text,
                        score = format::score(reported, context.dialect)
                    )));
                }
                _ => (),
            }
        }
    }
    Ok(())
}

fn mate_not_cp(context: &TestContext<'_>) -> TestResult {
    for text in assertions::test_positions(context.game()).mate_in_one {
        match last(&scores(context, &context.position(text), "go depth 4")?) {
            Score::Cp(cp) if MATE_IN_DISGUISE < cp.saturating_abs() => {
                return Err(Stop::Fail(message!("mate.centipawns", text, cp)));
            }
            _ => (),
        }
    }
    Ok(())
}

/// A position in which the side to move is lost, unless it repeats the position.
fn repeated(context: &TestContext<'_>) -> (String, &'static str) {
    let (text, round, times, before, token) = match context.game() {
        Game::Chess | Game::Chess960 => {
            ("7k/8/8/8/8/8/8/KR6 w - - 0 1", "b1c1 h8h7 c1b1 h7h8", 1, "b1c1 h8h7 c1b1", "h7h8")
        }
        Game::Shogi => {
            ("4k4/9/9/9/9/9/9/9/R3K4 b - 1", "9i9h 5a4a 9h9i 4a5a", 2, "9i9h 5a4a 9h9i", "4a5a")
        }
    };
    let rounds = vec![round; times].join(" ");
    (format!("{} moves {rounds} {before}", context.position(text)), token)
}

fn repetition(context: &TestContext<'_>) -> TestResult {
    context.depends_on(Feature::SearchMoves)?;
    let (position, token) = repeated(context);
    let reported = last(&scores(context, &position, &format!("go depth 6 searchmoves {token}"))?);
    let score = format::score(reported, context.dialect);
    context.remark(format!("a draw by repetition has `{score}`"));
    if reported < LOST {
        return Err(Stop::Fail(message!("repetition.score", mv = token, score)));
    }
    Ok(())
}

fn wdl_requested(transcript: &Transcript) -> Observation {
    // USI has no such option.
    each(transcript, |search, info| {
        let requested =
            search.settings.wdl || info.wdl.is_none() || transcript.dialect == Dialect::Usi;
        Some(if requested { Ok(()) } else { Err(message!("wdl.unrequested")) })
    })
}

fn wdl_side(transcript: &Transcript) -> Observation {
    each(transcript, |_, info| {
        let (Some(wdl), Some(Score::Cp(cp))) = (info.wdl, info.score) else { return None };
        let wrong = CLEAR < cp && wdl.win < wdl.loss || cp < -CLEAR && wdl.loss < wdl.win;
        Some(if wrong {
            Err(message!("wdl.contradiction", cp, wins = wdl.win, losses = wdl.loss))
        } else {
            Ok(())
        })
    })
}
