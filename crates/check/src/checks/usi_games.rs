//! Games of shogi as GUIs play them: clocks with byoyomi, the end of games, mates, declarations.

use std::time::Duration;

use readyok_protocol::translation::{Problem, Translation};
use readyok_protocol::{Best, Checkmate, Dialect, OptionSet, Reply};
use readyok_rules::{Game, Position};

use super::{clause, probe, translated};
use crate::bench::{Bench, percentiles};
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, message};
use crate::talk::{Blame, Talk};
use crate::words;

const DEPLOYED: &[Profile] = &[Profile::UsiDeployed];

const GUIS: &str = "USI as deployed (Shogidokoro, ShogiHome)";

/// Byoyomi that is measured, and how often.
const BYOYOMI: Duration = Duration::from_millis(300);
const MOVES: usize = 5;

/// The longest mate search.
const MATE_TIME: Duration = Duration::from_millis(300);

/// Black may declare a win: 12 pieces with 28 points, and the king among the rows of the opponent.
const DECLARED: &str = "+R+R+B+B1K3/GGGGSSSS1/9/9/9/9/9/9/4k4 b - 1";

/// Black has the king there, and far too few points for any rule.
const UNDECLARED: &str = "5K3/GG7/9/9/9/9/9/9/4k4 b - 1";

pub(super) const CHECKS: &[Check] = &[
    check!(
        "usi.new-game-order",
        "the engine accepts `usinewgame` after `readyok`, without another `isready`",
        [GUIS => "`isready` precedes each game; `usinewgame`, `position` and `go` follow `readyok`"],
        Must,
        DEPLOYED,
        &[],
        "prepare a game at `isready`, and be ready immediately after `usinewgame`",
        Test::Ask(order),
    ),
    check!(
        "usi.byoyomi-time",
        "with only byoyomi left the engine moves within it in every search",
        [GUIS => "exceeding the byoyomi without main time loses the game"],
        Must,
        DEPLOYED,
        &[],
        "use the byoyomi minus a reserve for communication delays",
        Test::Ask(byoyomi_time),
    ),
    check!(
        "usi.clocks",
        "the engine replies to `byoyomi 0` and to increments with an empty clock",
        [GUIS => "`byoyomi` is sent even if it is 0; increments may start from an empty clock"],
        Must,
        DEPLOYED,
        &[],
        "add remaining time, increment and byoyomi to the time of this move",
        Test::Ask(clocks),
    ),
    check!(
        "usi.ponder-byoyomi",
        "the engine moves within byoyomi after `ponderhit`",
        [GUIS => "the clock starts at `ponderhit`"],
        Must,
        DEPLOYED,
        &[],
        "start the clock at `ponderhit`, with the times of `go ponder`",
        Test::Ask(ponder_byoyomi),
    ),
    check!(
        "usi.ponderhit-clocks",
        "the engine accepts `ponderhit` with clock arguments",
        ["USI as deployed (YaneuraOu, ShogiHome)" => "clock arguments may follow `ponderhit`"],
        May,
        DEPLOYED,
        &[],
        "read or ignore arguments of `ponderhit`",
        Test::Ask(ponderhit_clocks),
    ),
    check!(
        "usi.idle-game-over",
        "the engine accepts `gameover` at any time without a search, and sends no reply",
        [GUIS => "a game may end before its first move, and `gameover` may be repeated"],
        Must,
        DEPLOYED,
        &[],
        "treat `gameover` as `stop` only during a search",
        Test::Ask(idle_game_over),
    ),
    check!(
        "usi.resign",
        "the reply without a legal move is `bestmove resign`",
        [GUIS => "`resign` is the only reply without a move"],
        Should,
        DEPLOYED,
        &[],
        "send `bestmove resign` without a legal move",
        Test::Ask(resign),
    ),
    check!(
        "usi.declaration",
        "the engine declares a win in an entering-king position",
        [GUIS => "`bestmove win` declares an entering-king win with enough points"],
        May,
        DEPLOYED,
        &[],
        "count points when the king is in the promotion zone, and send `bestmove win`",
        Test::Ask(declaration),
    ),
    check!(
        "usi.false-declaration",
        "the engine does not declare a win without enough points",
        ["rules of computer shogi (CSA)" => "a false declaration loses the game"],
        Must,
        DEPLOYED,
        &[],
        "check all conditions: king position, ten other pieces, points, no check",
        Test::Ask(false_declaration),
    ),
    check!(
        "usi.mate-time",
        "`go mate` with a time ends within that time",
        ["USI as deployed (Shogidokoro, YaneuraOu)" => "the number is the search time in milliseconds"],
        Should,
        DEPLOYED,
        &[],
        "send `checkmate timeout` when the time is up",
        Test::Ask(mate_time),
    ),
    check!(
        "usi.mate-infinite",
        "`go mate infinite` ends with `checkmate`, at the latest at `stop`",
        ["USI as deployed (Shogidokoro, YaneuraOu)" => "with `infinite` the search continues until `stop`"],
        Should,
        DEPLOYED,
        &[],
        "check for `stop` in the mate search",
        Test::Ask(mate_infinite),
    ),
    check!(
        "usi.mate-moves",
        "the moves of `checkmate` are legal and end in mate",
        ["USI as deployed (Shogidokoro, YaneuraOu)" => "all moves of the mating line"],
        Must,
        DEPLOYED,
        &[],
        "send the complete line, otherwise `nomate` or `timeout`",
        Test::Ask(mate_moves),
    ),
    check!(
        "usi.translation",
        "the translation file next to the engine is valid and matches its options",
        ["USI draft 1 §2" => "a text file shipped with the engine translates its option names"],
        Should,
        Profile::USI,
        &[Need::Process],
        "use the format of docs/translation.md, with the declared names and choices",
        Test::Ask(translation),
    ),
];

fn order(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.greeted()?;
    let opening = probe::of(bench.game()).opening;
    for game in [message!("ordinal.first"), message!("ordinal.second")] {
        talk.ready().or_fail(message!("usi-game.no-readyok"))?;
        talk.write(
            format!(
                "usinewgame\nposition startpos moves {opening}\ngo btime 900 wtime 900 byoyomi 50\n"
            )
            .as_bytes(),
        );
        talk.best(bench.pace.answer()).or_fail(message!("usi-game.no-reply", game))?;
        talk.say("gameover draw");
    }
    Ok(())
}

fn byoyomi_time(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let position = bench.position(probe::of(bench.game()).middle[0]);
    let go = format!("go btime 0 wtime 0 byoyomi {}", BYOYOMI.as_millis());
    let mut times = Vec::new();
    for _ in 0..MOVES {
        talk.say(&position);
        talk.say(&go);
        let found = talk
            .best(BYOYOMI + bench.pace.margin() + bench.pace.answer())
            .or_fail(message!("go.no-reply", go = &go))?;
        if BYOYOMI + bench.pace.margin() < found.time {
            return Err(Stop::Fail(message!("go.took", go = &go, ms = found.time.as_millis())));
        }
        times.push(found.time);
    }
    bench.remark(format!(
        "with {} ms of byoyomi a move took {}",
        BYOYOMI.as_millis(),
        percentiles(&mut times)
    ));
    Ok(())
}

fn clocks(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for go in [
        "go btime 1000 wtime 1000 byoyomi 0",
        "go btime 0 wtime 0 binc 150 winc 150",
        "go btime 0 wtime 0 byoyomi 60",
    ] {
        talk.search("position startpos", go).or_fail(message!("go.no-reply", go = &go))?;
    }
    Ok(())
}

/// A `go ponder` whose move is played.
fn hits(bench: &Bench<'_>, hit: &str) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say(&bench.position(probe::of(bench.game()).middle[0]));
    talk.say("go ponder btime 0 wtime 0 byoyomi 250");
    talk.underway();
    if !talk.is_searching() {
        return Err(Stop::Inconclusive(message!("ponder.ended")));
    }
    talk.say(hit);
    talk.best(bench.pace.answer()).or_fail(message!("usi-ponderhit.no-bestmove", command = hit))?;
    Ok(())
}

fn ponder_byoyomi(bench: &Bench<'_>) -> Outcome {
    hits(bench, "ponderhit")
}

fn ponderhit_clocks(bench: &Bench<'_>) -> Outcome {
    hits(bench, "ponderhit btime 0 wtime 0 byoyomi 200")
}

fn idle_game_over(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    let quiet = |talk: &mut Talk, when: &Message| -> Outcome {
        let mut said = talk.until_ready().or_fail(message!("gameover.no-readyok", when))?;
        said.extend(talk.listen(talk.pace().quiet() / 4));
        match said.iter().find(|line| matches!(line.reply, Reply::BestMove(_))) {
            Some(_) => Err(Stop::Fail(message!("gameover.bestmove", when))),
            None => Ok(()),
        }
    };
    talk.say("gameover draw");
    quiet(&mut talk, &message!("when.before-game"))?;
    talk.say("usinewgame");
    talk.say("gameover lose");
    quiet(&mut talk, &message!("when.before-position"))?;
    talk.say("usinewgame");
    talk.say("position startpos");
    talk.say("gameover win");
    quiet(&mut talk, &message!("when.before-search"))?;
    talk.say("usinewgame");
    talk.search("position startpos", "go depth 1").or_fail(message!("gameover.next-no-reply"))?;
    talk.say("gameover win");
    talk.say("gameover win");
    quiet(&mut talk, &message!("when.repeated"))
}

/// The answer to a short search of a position.
fn answer(bench: &Bench<'_>, text: &str, unanswered: Message) -> Result<Best<'static>, Stop> {
    let mut talk = bench.provoked()?;
    let found = talk.search(&bench.position(text), "go depth 3").or_fail(unanswered)?;
    Ok(found.best.best)
}

fn resign(bench: &Bench<'_>) -> Outcome {
    match answer(bench, probe::of(bench.game()).mated, message!("resign.no-reply"))? {
        Best::Resign => Ok(()),
        other => Err(Stop::Fail(message!("resign.reply", answer = words::answer(&other)))),
    }
}

fn declaration(bench: &Bench<'_>) -> Outcome {
    match answer(bench, DECLARED, message!("declaration.no-reply"))? {
        Best::Win => Ok(()),
        other => Err(Stop::Fail(message!("search.reply", answer = words::answer(&other)))),
    }
}

fn false_declaration(bench: &Bench<'_>) -> Outcome {
    match answer(bench, UNDECLARED, message!("declaration.other-no-reply"))? {
        Best::Win => Err(Stop::Fail(message!("declaration.false-win"))),
        _ => Ok(()),
    }
}

/// The answer to `go mate`, whatever it is.
fn checkmate(talk: &mut Talk, limit: Duration) -> Result<Checkmate<'static>, Stop> {
    let answer = talk
        .hear(limit, |line| match &line.reply {
            Reply::Checkmate(it) => Some(Some(it.clone())),
            Reply::BestMove(_) => Some(None),
            _ => None,
        })
        .or_fail(message!("usi-mate.no-reply"))?;
    answer.ok_or_else(|| Stop::Skip(message!("usi-mate.bestmove")))
}

fn mate_time(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say(&bench.position(probe::of(bench.game()).middle[0]));
    talk.say(&format!("go mate {}", MATE_TIME.as_millis()));
    let limit = MATE_TIME + bench.pace.margin() + bench.pace.answer();
    let answer = checkmate(&mut talk, limit);
    if answer.is_err() && talk.is_searching() {
        // In the first draft the number is one of plies, and the answer `bestmove`.
        talk.say("stop");
        if talk.best(bench.pace.answer()).is_ok() {
            return Err(Stop::Skip(message!("usi-mate.bestmove")));
        }
    }
    answer.map(drop)
}

fn mate_infinite(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say(&bench.position(probe::of(bench.game()).middle[0]));
    talk.say("go mate infinite");
    talk.listen(bench.pace.quiet() / 2);
    if talk.is_searching() {
        talk.say("stop");
        checkmate(&mut talk, bench.pace.answer())?;
    }
    Ok(())
}

fn mate_moves(bench: &Bench<'_>) -> Outcome {
    let probe = probe::of(bench.game());
    for text in probe.mate_in_one.into_iter().chain([probe.middle[0]]) {
        let mut talk = bench.provoked()?;
        talk.say(&bench.position(text));
        talk.say("go mate 1000");
        let Checkmate::Moves(moves) = checkmate(&mut talk, bench.pace.answer())? else { continue };
        let mated = Position::from_text(Game::Shogi, text)
            .map_err(|error| Stop::unplayable(&error))?
            .after(moves.words())
            .map_err(|error| Stop::Fail(message!("usi-mate.illegal", error = &error)))?;
        if !mated.legal_moves().is_empty() {
            return Err(Stop::Fail(message!("usi-mate.not-mate")));
        }
    }
    Ok(())
}

fn translation(bench: &Bench<'_>) -> Outcome {
    let Some(path) = bench.subject.beside(Translation::EXTENSION) else {
        return Err(Stop::Skip(message!("translation.no-path")));
    };
    let Ok(bytes) = std::fs::read(&path) else {
        return Err(Stop::Skip(message!("translation.missing", path = path.display().to_string())));
    };
    let translation = Translation::read(&bytes).map_err(|error| {
        Stop::Fail(message!(
            "translation.cannot-read",
            path = path.display().to_string(),
            error = translated::error(&error)
        ))
    })?;
    let mut declared = OptionSet::new(Dialect::Usi);
    for option in &bench.facts.options {
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
        Some(finding) => Err(Stop::Fail(translated::finding(&finding))),
        None => Ok(()),
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
