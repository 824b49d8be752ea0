//! Games of shogi as GUIs play them: clocks with byoyomi, the end of games, mates, declarations.

use std::time::Duration;

use readyok_protocol::translation::{Problem, Translation};
use readyok_protocol::{Best, Checkmate, Dialect, OptionSet, Reply};
use readyok_rules::{Game, Position};

use super::{clause, probe, translated};
use crate::bench::{Bench, percentiles};
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, said};
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
        "usi.order",
        "`usinewgame` comes after `readyok`, and the game begins without another `isready`",
        [GUIS => "before each game there is `isready`; after `readyok` come `usinewgame`, `position` and `go`"],
        Must,
        DEPLOYED,
        &[],
        "prepare for a game at `isready`, and be ready at once after `usinewgame`",
        Test::Ask(order),
    ),
    check!(
        "usi.byoyomi-time",
        "with nothing but byoyomi left the engine moves within it, in every search",
        [GUIS => "who thinks longer than the byoyomi when the time is used up has lost"],
        Must,
        DEPLOYED,
        &[],
        "take the byoyomi less a reserve for what gets lost on the way",
        Test::Ask(byoyomi_time),
    ),
    check!(
        "usi.clocks",
        "clocks with `byoyomi 0`, and with increments from an empty clock, are answered",
        [GUIS => "`byoyomi` is sent even if it is 0, and a game of increments begins with an empty clock"],
        Must,
        DEPLOYED,
        &[],
        "take what is left, the increment and the byoyomi together for the time of this move",
        Test::Ask(clocks),
    ),
    check!(
        "usi.ponder-byoyomi",
        "after `ponderhit` the engine moves within its byoyomi",
        [GUIS => "the clock of the side begins with `ponderhit`"],
        Must,
        DEPLOYED,
        &[],
        "start the clock at `ponderhit`, with the times of `go ponder`",
        Test::Ask(ponder_byoyomi),
    ),
    check!(
        "usi.ponderhit-clocks",
        "`ponderhit` with clocks after it is taken for `ponderhit`",
        ["USI as deployed (YaneuraOu, ShogiHome)" => "clocks may follow `ponderhit`, and are those of this moment"],
        May,
        DEPLOYED,
        &[],
        "read words after `ponderhit`, or ignore them",
        Test::Ask(ponderhit_clocks),
    ),
    check!(
        "usi.idle-game-over",
        "`gameover` without a search, at any time between games, is taken and not answered",
        [GUIS => "a game may end before its first move, and its end may be told twice"],
        Must,
        DEPLOYED,
        &[],
        "treat `gameover` as `stop` only if there is a search",
        Test::Ask(idle_game_over),
    ),
    check!(
        "usi.resign",
        "who has no legal move answers `bestmove resign`",
        [GUIS => "`resign` is the answer of an engine that gives up; no other word stands for no move"],
        Should,
        DEPLOYED,
        &[],
        "answer `bestmove resign` where no move is legal",
        Test::Ask(resign),
    ),
    check!(
        "usi.declaration",
        "where a declaration wins, the engine declares",
        [GUIS => "`bestmove win` declares the win of who has entered with enough points"],
        May,
        DEPLOYED,
        &[],
        "count points when the king is among the last three rows, and answer `bestmove win`",
        Test::Ask(declaration),
    ),
    check!(
        "usi.false-declaration",
        "the engine declares nothing without the points for it",
        ["rules of computer shogi (CSA)" => "who declares without meeting the conditions has lost"],
        Must,
        DEPLOYED,
        &[],
        "look at all conditions: the king's place, ten other pieces, the points, no check",
        Test::Ask(false_declaration),
    ),
    check!(
        "usi.mate-time",
        "`go mate` with a time ends in that time",
        ["USI as deployed (Shogidokoro, YaneuraOu)" => "the number is the time for the search in milliseconds"],
        Should,
        DEPLOYED,
        &[],
        "answer `checkmate timeout` when the time is over",
        Test::Ask(mate_time),
    ),
    check!(
        "usi.mate-infinite",
        "`go mate infinite` ends at `stop`, if not before, with `checkmate`",
        ["USI as deployed (Shogidokoro, YaneuraOu)" => "with `infinite` the search goes on until `stop`"],
        Should,
        DEPLOYED,
        &[],
        "look for `stop` in the search for mates",
        Test::Ask(mate_infinite),
    ),
    check!(
        "usi.mate-moves",
        "the moves of `checkmate` are legal and end in mate",
        ["USI as deployed (Shogidokoro, YaneuraOu)" => "the moves of the mate, from the first to the last"],
        Must,
        DEPLOYED,
        &[],
        "answer with the whole line, and with `nomate` or `timeout` where there is none",
        Test::Ask(mate_moves),
    ),
    check!(
        "usi.translation",
        "the translation file beside the engine can be read, and speaks of its options",
        ["USI draft 1 §2" => "a text file that comes with the engine has the names of its options in other languages"],
        Should,
        Profile::USI,
        &[Need::Process],
        "write the file in the form of docs/translation.md, with the names and choices that are declared",
        Test::Ask(translation),
    ),
];

fn order(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.greeted()?;
    let opening = probe::of(bench.game()).opening;
    for game in [said!("first"), said!("second")] {
        talk.ready().or_fail(said!("`isready` before a game was not answered"))?;
        talk.write(
            format!(
                "usinewgame\nposition startpos moves {opening}\ngo btime 900 wtime 900 byoyomi 50\n"
            )
            .as_bytes(),
        );
        talk.best(bench.pace.answer())
            .or_fail(said!("the {game} game's first `go` was not answered", game))?;
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
            .or_fail(said!("`{go}` was not answered", go = &go))?;
        if BYOYOMI + bench.pace.margin() < found.time {
            return Err(Stop::Fail(said!(
                "`{go}` took {ms} ms",
                go = &go,
                ms = found.time.as_millis()
            )));
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
        talk.search("position startpos", go).or_fail(said!("`{go}` was not answered", go = &go))?;
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
        return Err(Stop::Inconclusive(said!("`go ponder` ended by itself")));
    }
    talk.say(hit);
    talk.best(bench.pace.answer()).or_fail(said!("`{hit}` was not followed by `bestmove`", hit))?;
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
        let mut said = talk
            .until_ready()
            .or_fail(said!("after `gameover` {when} `isready` was not answered", when))?;
        said.extend(talk.listen(talk.pace().quiet() / 4));
        match said.iter().find(|line| matches!(line.reply, Reply::BestMove(_))) {
            Some(_) => {
                Err(Stop::Fail(said!("`gameover` {when} was answered with `bestmove`", when)))
            }
            None => Ok(()),
        }
    };
    talk.say("gameover draw");
    quiet(&mut talk, &said!("before the first game"))?;
    talk.say("usinewgame");
    talk.say("gameover lose");
    quiet(&mut talk, &said!("before the first position"))?;
    talk.say("usinewgame");
    talk.say("position startpos");
    talk.say("gameover win");
    quiet(&mut talk, &said!("before the first search"))?;
    talk.say("usinewgame");
    talk.search("position startpos", "go depth 1")
        .or_fail(said!("in a game after `gameover` a search was not answered"))?;
    talk.say("gameover win");
    talk.say("gameover win");
    quiet(&mut talk, &said!("said twice"))
}

/// The answer to a short search of a position.
fn answer(bench: &Bench<'_>, text: &str, unanswered: Message) -> Result<Best<'static>, Stop> {
    let mut talk = bench.provoked()?;
    let found = talk.search(&bench.position(text), "go depth 3").or_fail(unanswered)?;
    Ok(found.best.best)
}

fn resign(bench: &Bench<'_>) -> Outcome {
    match answer(
        bench,
        probe::of(bench.game()).mated,
        said!("a search by who is mated was not answered"),
    )? {
        Best::Resign => Ok(()),
        other => Err(Stop::Fail(said!(
            "who is mated answers `{answer}`",
            answer = words::answer(&other)
        ))),
    }
}

fn declaration(bench: &Bench<'_>) -> Outcome {
    match answer(bench, DECLARED, said!("a search where a declaration wins was not answered"))? {
        Best::Win => Ok(()),
        other => Err(Stop::Fail(said!("it answers `{answer}`", answer = words::answer(&other)))),
    }
}

fn false_declaration(bench: &Bench<'_>) -> Outcome {
    match answer(bench, UNDECLARED, said!("a search where no declaration wins was not answered"))? {
        Best::Win => Err(Stop::Fail(said!("it declares a win with 2 points"))),
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
        .or_fail(said!("`go mate` was not answered"))?;
    answer.ok_or_else(|| Stop::Skip(said!("it answers `go mate` with `bestmove`")))
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
            return Err(Stop::Skip(said!("it answers `go mate` with `bestmove`")));
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
            .map_err(|error| {
                Stop::Fail(said!("the mate cannot be played: {error}", error = &error))
            })?;
        if !mated.legal_moves().is_empty() {
            return Err(Stop::Fail(said!("after the moves of `checkmate` there are legal moves")));
        }
    }
    Ok(())
}

fn translation(bench: &Bench<'_>) -> Outcome {
    let Some(path) = bench.subject.beside(Translation::EXTENSION) else {
        return Err(Stop::Skip(said!("the place of the program is not known")));
    };
    let Ok(bytes) = std::fs::read(&path) else {
        return Err(Stop::Skip(said!("there is no `{path}`", path = path.display().to_string())));
    };
    let translation = Translation::read(&bytes).map_err(|error| {
        Stop::Fail(said!(
            "`{path}` cannot be read: {error}",
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
