//! Scores of positions with a known evaluation.

use readyok_protocol::{Bound, Dialect, Info, Score};
use readyok_rules::Game;

use super::assertions::each;
use super::{clause, test_positions};
use crate::context::{Test, TestCase, TestContext};
use crate::format;
use crate::message::message;
use crate::result::{Observation, Stop, TestResult};
use crate::session::OrFail;
use crate::spec::{Profile, Severity};
use crate::transcript::Transcript;

/// Centipawns from which a score encodes a mate.
const MATE_IN_DISGUISE: i32 = 9000;

/// Centipawns below which the engine has missed the draw.
const LOST: Score = Score::Cp(-200);

/// Centipawns from which a side is clearly better.
const CLEAR: i32 = 300;

const WDL: &str = "practice (Stockfish, lc0), UCI_ShowWDL";

pub(super) const CHECKS: &[TestCase] = &[
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
    let mut session = context.ready_unchecked()?;
    let found = session.search(position, go).or_fail(message!("go.no-reply", go))?;
    let exact = |info: &&Info<'_>| {
        info.bound == Bound::Exact && info.multipv.is_none_or(|number| number == 1)
    };
    let scores: Vec<Score> =
        found.infos.iter().filter(exact).filter_map(|info| info.score).collect();
    if scores.is_empty() {
        return Err(Stop::Skip(message!("score.none")));
    }
    Ok(scores)
}

fn last(scores: &[Score]) -> Score {
    scores.last().copied().unwrap_or(Score::Cp(0))
}

fn mated(context: &TestContext<'_>) -> TestResult {
    for text in test_positions::of(context.game()).mated_next {
        match last(&scores(context, &context.position(text), "go depth 6")?) {
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
    for (text, plies) in test_positions::of(context.game()).mates {
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
    for text in test_positions::of(context.game()).mate_in_one {
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
