//! Checks of USI as used by shogi programs today.

use std::time::Duration;

use readyok_protocol::translation::{Finding, Problem, Translation, TranslationError};
use readyok_protocol::{Best, Checkmate, Dialect, OptionSet, Reply};
use readyok_rules::session::MATE_TOLERANCE;
use readyok_rules::{Game, Position};

use crate::checks::{assertions, clause, clocks};
use crate::context::{Test, TestCase, TestContext, percentiles};
use crate::format;
use crate::message::{Message, message, values};
use crate::session::{EngineSession, OrFail, WaitError};
use crate::spec::rule;
use crate::spec::{Need, Profile, Severity};
use crate::spec::{Stop, TestResult};

const DEPLOYED: &[Profile] = &[Profile::UsiDeployed];

pub(super) const CHECKS: &[TestCase] = &[
    check!(
        "usi.undeclared-options",
        "the engine accepts undeclared `USI_Hash` and `USI_Ponder`",
        [
            "USI as deployed (Shogidokoro, ShogiHome)" => "both options are sent to every engine before a game",
        ],
        Must,
        DEPLOYED,
        &[],
        "ignore unknown options without printing an unknown message",
        Test::Interactive(undeclared_options),
    ),
    check!(
        "usi.byoyomi",
        "`go btime wtime byoyomi` ends in time",
        [
            "USI as deployed (Shogidokoro)" => "byoyomi is the time per move after the main time",
        ],
        Must,
        DEPLOYED,
        &[],
        "use at most the sum of main time and byoyomi",
        Test::Interactive(clocks::byoyomi),
    ),
    check!(
        "usi.game-over",
        "the engine accepts `gameover` after a search and while pondering, and then another game",
        [
            "USI as deployed (Shogidokoro, YaneuraOu)" => "it ends the game; `isready` and another game may follow",
        ],
        Must,
        DEPLOYED,
        &[],
        "end a running search, and wait for `isready`",
        Test::Interactive(game_over),
    ),
    check!(
        "usi.game-over-stops",
        "`gameover` ends pondering like `stop`",
        [
            "practice (YaneuraOu)" => "`gameover` during a search acts like `stop`; whether `bestmove` follows is undocumented",
        ],
        May,
        DEPLOYED,
        &[Need::Ponder],
        "treat `gameover` during a search as `stop`",
        Test::Interactive(game_over_stops),
    ),
    check!(
        "usi.mate",
        "the reply to `go mate` is `checkmate`",
        [
            "USI as deployed (Shogidokoro, YaneuraOu)" => "`checkmate` with the moves, `nomate`, `timeout` or `notimplemented`, and no `bestmove`",
            "USI draft 1 §5.3, go mate" => "the number is in plies, and the reply is `bestmove`",
        ],
        May,
        DEPLOYED,
        &[],
        "send `checkmate notimplemented` without a mate search",
        Test::Interactive(mate),
    ),
    check!(
        "usi.mate-alone",
        "no `bestmove` follows `checkmate`",
        ["USI as deployed (Shogidokoro, YaneuraOu)" => "the reply to `go mate` is `checkmate`, and no `bestmove`"],
        Must,
        DEPLOYED,
        &[],
        "end `go mate` with `checkmate` alone",
        Test::Interactive(mate_alone),
    ),
    rule!(
        CheckmateWithoutMateSearch,
        DEPLOYED,
        &[],
        "send `checkmate` only once for each `go mate`",
    ),
];

fn undeclared_options(context: &TestContext<'_>) -> TestResult {
    let mut session = context.after_handshake()?;
    session.send("setoption name USI_Hash value 16");
    session.send("setoption name USI_Ponder value true");
    session.ready().or_fail(message!("usi-options.no-readyok"))?;
    session.send("usinewgame");
    session.search("position startpos", "go depth 1").or_fail(message!("usi-options.no-reply"))?;
    Ok(())
}

/// Pondering with long clocks.
const PONDER: &str = "go ponder btime 60000 wtime 60000";

fn game_over(context: &TestContext<'_>) -> TestResult {
    let next = |session: &mut EngineSession, when: &Message| -> TestResult {
        session.ready().or_fail(message!("gameover.no-readyok", when))?;
        session.send("usinewgame");
        session
            .search("position startpos", "go depth 1")
            .or_fail(message!("gameover.no-reply", when))?;
        Ok(())
    };
    let mut session = context.ready()?;
    session.send("usinewgame");
    session.search("position startpos", "go depth 1")?;
    for result in ["lose", "draw"] {
        session.send(&format!("gameover {result}"));
        next(&mut session, &message!("when.after-search"))?;
    }
    if !context.ponders() {
        return Ok(());
    }
    // A reply to pondering is optional here, so passive checks ignore the session.
    let mut session = context.ready_unchecked()?;
    session.send("usinewgame");
    session.send("position startpos");
    session.send(PONDER);
    session.underway();
    session.send("gameover win");
    next(&mut session, &message!("when.pondering"))?;
    let late = session.until_ready().or_fail(message!("gameover.pondering-no-readyok"))?;
    // The first reply may belong to the previous search.
    if 1 < late.iter().filter(|line| matches!(line.reply, Reply::BestMove(_))).count() {
        return Err(Stop::Fail(message!("gameover.extra-replies")));
    }
    Ok(())
}

fn game_over_stops(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send("usinewgame");
    session.send("position startpos");
    session.send(PONDER);
    session.send("gameover win");
    session
        .best(context.timeouts.answer())
        .or_fail(message!("gameover.no-bestmove", go = PONDER))?;
    Ok(())
}

fn mate(context: &TestContext<'_>) -> TestResult {
    // Some engines reply `bestmove`, which passive checks would report again.
    let mut session = context.ready_unchecked()?;
    let text = assertions::test_positions(context.game()).mate_in_one[0];
    session.send(&context.position(text));
    session.send("go mate 2000");
    let answer = session
        .wait_for(context.timeouts.answer(), |line| {
            matches!(line.reply, Reply::Checkmate(_) | Reply::BestMove(_))
                .then(|| line.reply.clone())
        })
        .or_fail(message!("usi-mate.no-reply"))?;
    match answer {
        Reply::BestMove(_) => Err(Stop::Fail(message!("usi-mate.bestmove"))),
        Reply::Checkmate(Checkmate::NoMate) => Err(Stop::Fail(message!("usi-mate.nomate"))),
        _ => Ok(()),
    }
}

fn mate_alone(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let probe = assertions::test_positions(context.game());
    for text in [probe.mate_in_one[0], probe.middle[0]] {
        session.send(&context.position(text));
        session.send("go mate 500");
        let limit = context.timeouts.answer();
        let answer = session.wait_for(limit, |line| match line.reply {
            Reply::Checkmate(_) => Some(true),
            Reply::BestMove(_) => Some(false),
            _ => None,
        });
        match answer {
            Ok(true) => (),
            // Another check covers the form of the reply.
            Ok(false) => return Err(Stop::Skip(message!("usi-mate.bestmove"))),
            Err(failure) => return Err(failure.into()),
        }
        let mut late = session.until_ready()?;
        late.extend(session.listen(context.timeouts.quiet()));
        if late.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
            return Err(Stop::Fail(message!("usi-mate.both")));
        }
    }
    Ok(())
}

const GUIS: &str = "USI as deployed (Shogidokoro, ShogiHome)";

/// Measured byoyomi, and the number of measurements.
const BYOYOMI: Duration = Duration::from_millis(300);
const MOVES: usize = 5;

/// Duration of the mate search.
const MATE_TIME: Duration = Duration::from_millis(300);

/// Black can declare a win: 12 pieces with 28 points, and the king in the promotion zone.
const DECLARED: &str = "+R+R+B+B1K3/GGGGSSSS1/9/9/9/9/9/9/4k4 b - 1";

/// The king of Black is in the promotion zone, with too few points for any rule.
const UNDECLARED: &str = "5K3/GG7/9/9/9/9/9/9/4k4 b - 1";

pub(super) const GAME_CHECKS: &[TestCase] = &[
    check!(
        "usi.new-game-order",
        "the engine accepts `usinewgame` after `readyok`, without another `isready`",
        [GUIS => "`isready` precedes each game; `usinewgame`, `position` and `go` follow `readyok`"],
        Must,
        DEPLOYED,
        &[],
        "prepare a game at `isready`, and be ready immediately after `usinewgame`",
        Test::Interactive(order),
    ),
    check!(
        "usi.byoyomi-time",
        "with only byoyomi left the engine moves within it in every search",
        [GUIS => "exceeding the byoyomi without main time loses the game"],
        Must,
        DEPLOYED,
        &[],
        "use the byoyomi minus a reserve for communication delays",
        Test::Interactive(byoyomi_time),
    ),
    check!(
        "usi.clocks",
        "the engine replies to `byoyomi 0` and to increments with an empty clock",
        [GUIS => "`byoyomi` is sent even if it is 0; increments may start from an empty clock"],
        Must,
        DEPLOYED,
        &[],
        "add remaining time, increment and byoyomi to the time of this move",
        Test::Interactive(clocks::usi_clocks),
    ),
    check!(
        "usi.ponder-byoyomi",
        "the engine moves within byoyomi after `ponderhit`",
        [GUIS => "the clock starts at `ponderhit`"],
        Must,
        DEPLOYED,
        &[Need::Ponder],
        "start the clock at `ponderhit`, with the times of `go ponder`",
        Test::Interactive(ponder_byoyomi),
    ),
    check!(
        "usi.ponderhit-clocks",
        "the engine accepts `ponderhit` with clock arguments",
        ["USI as deployed (YaneuraOu, ShogiHome)" => "clock arguments may follow `ponderhit`"],
        May,
        DEPLOYED,
        &[Need::Ponder],
        "read or ignore arguments of `ponderhit`",
        Test::Interactive(ponderhit_clocks),
    ),
    check!(
        "usi.idle-game-over",
        "the engine accepts `gameover` at any time without a search, and sends no reply",
        [GUIS => "a game may end before its first move, and `gameover` may be repeated"],
        Must,
        DEPLOYED,
        &[],
        "treat `gameover` as `stop` only during a search",
        Test::Interactive(idle_game_over),
    ),
    check!(
        "usi.resign",
        "the reply without a legal move is `bestmove resign`",
        [GUIS => "`resign` is the only reply without a move"],
        Should,
        DEPLOYED,
        &[],
        "send `bestmove resign` without a legal move",
        Test::Interactive(resign),
    ),
    check!(
        "usi.declaration",
        "the engine declares a win in an entering-king position",
        [GUIS => "`bestmove win` declares an entering-king win with enough points"],
        May,
        DEPLOYED,
        &[],
        "count points when the king is in the promotion zone, and send `bestmove win`",
        Test::Interactive(declaration),
    ),
    check!(
        "usi.false-declaration",
        "the engine does not declare a win without enough points",
        ["rules of computer shogi (CSA)" => "a false declaration loses the game"],
        Must,
        DEPLOYED,
        &[],
        "check all conditions: king position, ten other pieces, points, no check",
        Test::Interactive(false_declaration),
    ),
    rule!(
        MateTimeExceeded,
        DEPLOYED,
        &[],
        "send `checkmate timeout` when the time is up",
        Test::Interactive(mate_time),
    ),
    check!(
        "usi.mate-infinite",
        "`go mate infinite` ends with `checkmate`, at the latest at `stop`",
        ["USI as deployed (Shogidokoro, YaneuraOu)" => "with `infinite` the search continues until `stop`"],
        Should,
        DEPLOYED,
        &[],
        "check for `stop` in the mate search",
        Test::Interactive(mate_infinite),
    ),
    check!(
        "usi.mate-moves",
        "the moves of `checkmate` are legal and end in mate",
        ["USI as deployed (Shogidokoro, YaneuraOu)" => "all moves of the mating line"],
        Must,
        DEPLOYED,
        &[],
        "send the complete line, otherwise `nomate` or `timeout`",
        Test::Interactive(mate_moves),
    ),
    check!(
        "usi.translation",
        "the translation file next to the engine is valid and matches its options",
        ["USI draft 1 §2" => "a text file shipped with the engine translates its option names"],
        Should,
        Profile::USI,
        &[Need::Process],
        "use the format of docs/translation.md, with the declared names and choices",
        Test::Interactive(translation),
    ),
];

fn order(context: &TestContext<'_>) -> TestResult {
    let mut session = context.after_handshake()?;
    let opening = assertions::test_positions(context.game()).opening;
    for game in [message!("ordinal.first"), message!("ordinal.second")] {
        session.ready().or_fail(message!("usi-game.no-readyok"))?;
        session.write(
            format!(
                "usinewgame\nposition startpos moves {opening}\ngo btime 900 wtime 900 byoyomi 50\n"
            )
            .as_bytes(),
        );
        session.best(context.timeouts.answer()).or_fail(message!("usi-game.no-reply", game))?;
        session.send("gameover draw");
    }
    Ok(())
}

fn byoyomi_time(context: &TestContext<'_>) -> TestResult {
    let go = format!("go btime 0 wtime 0 byoyomi {}", BYOYOMI.as_millis());
    let mut times = clocks::repeated(context, &go, BYOYOMI, MOVES)?;
    context.remark(format!(
        "with {} ms of byoyomi a move took {}",
        BYOYOMI.as_millis(),
        percentiles(&mut times)
    ));
    Ok(())
}

/// A `go ponder` whose move is played.
fn hits(context: &TestContext<'_>, hit: &str) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send(&context.position(assertions::test_positions(context.game()).middle[0]));
    session.send("go ponder btime 0 wtime 0 byoyomi 250");
    session.underway();
    if !session.is_searching() {
        return Err(Stop::Inconclusive(message!("ponder.ended")));
    }
    session.send(hit);
    session
        .best(context.timeouts.answer())
        .or_fail(message!("usi-ponderhit.no-bestmove", command = hit))?;
    Ok(())
}

fn ponder_byoyomi(context: &TestContext<'_>) -> TestResult {
    clocks::hit_in_time(
        context,
        &context.position(assertions::test_positions(context.game()).middle[0]),
        "go ponder btime 0 wtime 0 byoyomi 250",
        Duration::from_millis(250),
        || message!("usi-ponderhit.no-bestmove", command = "ponderhit"),
    )
}

fn ponderhit_clocks(context: &TestContext<'_>) -> TestResult {
    hits(context, "ponderhit btime 0 wtime 0 byoyomi 200")
}

fn idle_game_over(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let quiet = |session: &mut EngineSession, when: &Message| -> TestResult {
        let mut reported = session.until_ready().or_fail(message!("gameover.no-readyok", when))?;
        let late = session.listen(session.timeouts().quiet() / 4);
        // The first `readyok` was a reply to `gameover`.
        if late.iter().any(|line| line.reply == Reply::ReadyOk) {
            return Err(Stop::Fail(message!("gameover.readyok", when)));
        }
        reported.extend(late);
        match reported.iter().find(|line| matches!(line.reply, Reply::BestMove(_))) {
            Some(_) => Err(Stop::Fail(message!("gameover.bestmove", when))),
            None => Ok(()),
        }
    };
    session.send("gameover draw");
    quiet(&mut session, &message!("when.before-game"))?;
    session.send("usinewgame");
    session.send("gameover lose");
    quiet(&mut session, &message!("when.before-position"))?;
    session.send("usinewgame");
    session.send("position startpos");
    session.send("gameover win");
    quiet(&mut session, &message!("when.before-search"))?;
    session.send("usinewgame");
    session
        .search("position startpos", "go depth 1")
        .or_fail(message!("gameover.next-no-reply"))?;
    session.send("gameover win");
    session.send("gameover win");
    quiet(&mut session, &message!("when.repeated"))
}

/// The reply to a short search of a position.
fn answer(
    context: &TestContext<'_>,
    text: &str,
    unanswered: Message,
) -> Result<Best<'static>, Stop> {
    let mut session = context.ready_unchecked()?;
    let found = session.search(&context.position(text), "go depth 3").or_fail(unanswered)?;
    Ok(found.best.best)
}

fn resign(context: &TestContext<'_>) -> TestResult {
    match answer(
        context,
        assertions::test_positions(context.game()).mated,
        message!("resign.no-reply"),
    )? {
        Best::Resign => Ok(()),
        other => Err(Stop::Fail(message!("resign.reply", answer = format::answer(&other)))),
    }
}

fn declaration(context: &TestContext<'_>) -> TestResult {
    match answer(context, DECLARED, message!("declaration.no-reply"))? {
        Best::Win => Ok(()),
        other => Err(Stop::Fail(message!("search.reply", answer = format::answer(&other)))),
    }
}

fn false_declaration(context: &TestContext<'_>) -> TestResult {
    match answer(context, UNDECLARED, message!("declaration.other-no-reply"))? {
        Best::Win => Err(Stop::Fail(message!("declaration.false-win"))),
        _ => Ok(()),
    }
}

/// The reply to `go mate`.
fn checkmate(session: &mut EngineSession, limit: Duration) -> Result<Checkmate<'static>, Stop> {
    let answer = session
        .wait_for(limit, |line| match &line.reply {
            Reply::Checkmate(it) => Some(Some(it.clone())),
            Reply::BestMove(_) => Some(None),
            _ => None,
        })
        .or_fail(message!("usi-mate.no-reply"))?;
    answer.ok_or_else(|| Stop::Skip(message!("usi-mate.bestmove")))
}

fn mate_time(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let position = context.position(assertions::test_positions(context.game()).middle[0]);
    let go = format!("go mate {}", MATE_TIME.as_millis());
    let limit = MATE_TIME + MATE_TOLERANCE + context.timeouts.margin();
    clocks::judge_within(MATE_TIME, MATE_TOLERANCE, &go, || {
        session.send(&position);
        session.ready()?;
        let (answer, timing) = session.measured_mate(&go, limit);
        match answer {
            Ok(Some(_)) => return Ok(Ok(timing)),
            Ok(None) => return Err(Stop::Skip(message!("usi-mate.bestmove"))),
            Err(WaitError::Late(_)) => (),
            Err(other) => return Ok(Err(other)),
        }
        // In the first draft the number is in plies, and the reply is `bestmove`.
        session.send("stop");
        checkmate(&mut session, context.timeouts.answer())?;
        Ok(Ok(timing))
    })
    .map(drop)
}

fn mate_infinite(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send(&context.position(assertions::test_positions(context.game()).middle[0]));
    session.send("go mate infinite");
    session.listen(context.timeouts.quiet() / 2);
    if session.is_searching() {
        session.send("stop");
        checkmate(&mut session, context.timeouts.answer())?;
    }
    Ok(())
}

fn mate_moves(context: &TestContext<'_>) -> TestResult {
    let probe = assertions::test_positions(context.game());
    for text in probe.mate_in_one.into_iter().chain([probe.middle[0]]) {
        let mut session = context.ready_unchecked()?;
        session.send(&context.position(text));
        session.send("go mate 1000");
        let Checkmate::Moves(moves) = checkmate(&mut session, context.timeouts.answer())? else {
            continue;
        };
        let mated = Position::from_text(Game::Shogi, text)
            .map_err(|error| Stop::invalid_position(&error))?
            .after(moves.tokens())
            .map_err(|error| Stop::Fail(message!("usi-mate.illegal", error = &error)))?;
        if !mated.legal_moves().is_empty() {
            return Err(Stop::Fail(message!("usi-mate.not-mate")));
        }
    }
    Ok(())
}

fn translation(context: &TestContext<'_>) -> TestResult {
    let Some(path) = context.target.sibling(Translation::EXTENSION) else {
        return Err(Stop::Skip(message!("translation.no-path")));
    };
    let Ok(bytes) = std::fs::read(&path) else {
        return Err(Stop::Skip(message!("translation.missing", path = path.display().to_string())));
    };
    let translation = Translation::read(&bytes).map_err(|error| {
        Stop::Fail(message!(
            "translation.cannot-read",
            path = path.display().to_string(),
            error = translation_error(&error)
        ))
    })?;
    let mut declared = OptionSet::new(Dialect::Usi);
    for option in &context.engine_info.options {
        declared.declare(option.decl.clone());
    }
    let wrong = translation.lint(&declared).into_iter().find(|finding| {
        matches!(
            finding.problem,
            Problem::MissingDefault
                | Problem::UnknownOption { .. }
                | Problem::UnknownValue { .. }
                | Problem::RepeatedOption { .. }
        )
    });
    match wrong {
        Some(finding) => Err(Stop::Fail(finding_message(&finding))),
        None => Ok(()),
    }
}

/// A problem of a parsed file.
fn finding_message(found: &Finding) -> Message {
    let (id, values) = match &found.problem {
        Problem::MissingDefault => ("translation.no-default", Vec::new()),
        Problem::UnknownOption { option } => {
            ("translation.unknown-option", values!(option = quoted(option)))
        }
        Problem::RepeatedOption { option, first } => {
            let values = values!(option = quoted(option), first = quoted(first));
            ("translation.repeated-option", values)
        }
        Problem::UnknownValue { option, value } => {
            let values = values!(option = quoted(option), value = quoted(value));
            ("translation.unknown-choice", values)
        }
        // Other problems are no failure.
        _ => ("translation.other", Vec::new()),
    };
    let problem = Message::of_library(found.problem.to_string(), id, values);
    message!("translation.language", language = found.language.to_string(), problem)
}

/// The message of a parse error.
fn translation_error(error: &TranslationError) -> Message {
    let (id, values) = match error {
        TranslationError::TooLarge { bytes } => {
            let values = values!(bytes = *bytes, limit = Translation::MAX_BYTES);
            ("translation.too-large", values)
        }
        TranslationError::NotUtf8 { at } => ("translation.not-utf8", values!(at = *at)),
        TranslationError::TooDeep { at } => ("translation.too-deep", values!(at = *at)),
        TranslationError::Syntax { .. } => ("translation.syntax", Vec::new()),
        TranslationError::Version { found } => ("translation.version", values!(found = *found)),
        TranslationError::Shape { at, .. } => ("translation.shape", values!(at = quoted(at))),
        TranslationError::TooMany { at, limit } => {
            ("translation.too-many", values!(at = quoted(at), limit = *limit))
        }
        TranslationError::TooLong { at, limit } => {
            ("translation.too-long", values!(at = quoted(at), limit = *limit))
        }
        _ => ("translation.other", Vec::new()),
    };
    Message::of_library(error.to_string(), id, values)
}

fn quoted(text: &str) -> String {
    text.escape_debug().to_string()
}

#[cfg(test)]
mod translation_tests {
    use readyok_protocol::{Dialect, Language, OptionSet};

    use super::*;

    #[test]
    fn parse_errors_have_a_japanese_text() {
        let file = |languages: &str| format!("{{\"usi-translation\":1,\"languages\":{languages}}}");
        let deep = "[".repeat(Translation::MAX_DEPTH + 1);
        let label = "x".repeat(Translation::MAX_LABEL + 1);
        let cases = [
            (vec![b' '; Translation::MAX_BYTES + 1], "バイト"),
            (vec![0xff], "UTF-8"),
            (deep.into_bytes(), "入れ子"),
            (b"{,".to_vec(), "JSON"),
            (b"{\"usi-translation\":9}".to_vec(), "バージョン"),
            (file("3").into_bytes(), "`/languages`"),
            (file(&format!("{{\"ja\":{{\"name\":\"{label}\"}}}}")).into_bytes(), "文字"),
        ];
        for (bytes, japanese) in cases {
            let it = Translation::read(&bytes).expect_err("a broken file");
            let message = translation_error(&it);
            assert_eq!(message.to_string(), it.to_string());
            let text = message.in_language(Language::Japanese);
            assert!(text.contains(japanese), "{text}");
        }
    }

    #[test]
    fn findings_have_the_english_text_of_the_library() {
        let file =
            r#"{"usi-translation":1,"default":"fr","languages":{"ja":{"options":{"A":{}}}}}"#;
        let file = Translation::read(file.as_bytes()).expect("a file");
        let found = file.lint(&OptionSet::new(Dialect::Usi));
        assert_eq!(found.len(), 2, "{found:?}");
        for it in found {
            assert_eq!(finding_message(&it).to_string(), it.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_what_they_are_called() {
        let can = |text| Position::from_text(Game::Shogi, text).expect(text).can_declare();
        assert!(can(DECLARED));
        assert!(!can(UNDECLARED));
    }

    #[test]
    fn who_gives_a_handicap_may_declare_with_what_was_left_out() {
        let can = |text| Position::from_text(Game::Shogi, text).expect(text).can_declare();
        assert!(can("4K4/9/9/9/9/9/9/ppppppppp/4kg3 w 2R3GN4L9Pb4s3n 1"));
        assert!(!can("4K4/9/9/9/9/9/9/ppppppppp/4kg3 w 2R3G2N4L9Pb4s2n 1"));
    }
}
