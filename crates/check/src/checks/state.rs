//! What may come when: commands in searches, in other orders than usual, and what stays between them.

use std::time::Duration;

use readyok_protocol::{Best, Bound, Dialect, Reply};
use readyok_rules::Position;

use super::{clause, probe};
use crate::bench::{Bench, largest};
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, said};
use crate::talk::{Blame, Talk};
use crate::words;

/// A search that is interrupted, and ends by itself.
const WHILE: Duration = Duration::from_millis(350);

/// Plies of searches that are compared.
const SAME_DEPTH: u32 = 6;

const NOT_NOW: &str = "a command that comes when it is not supposed to is ignored";
const WHEN_WAITING: &str = "the client sends it only while the engine waits";

pub(super) const CHECKS: &[Check] = &[
    check!(
        "state.second-stop",
        "a second `stop` after the one that ended the search is ignored",
        [
            "UCI 2006, general rules and bestmove" => "each `go` has one `bestmove`; a `stop` without a search is ignored",
            "USI draft 1 §5.1 and §5.3" => "each `go` has one `bestmove`; a command out of turn is ignored",
        ],
        Must,
        Profile::ALL,
        &[],
        "forget a `stop` that finds no search",
        Test::Ask(second_stop),
    ),
    check!(
        "state.position-in-search",
        "`position` during a search does not disturb it",
        [
            "UCI 2006, general rules" => NOT_NOW,
            "USI draft 1 §5.1" => "what the engine does not expect now is left aside",
        ],
        Should,
        Profile::ALL,
        &[],
        "search a copy of the position, or ignore `position` until `bestmove` is said",
        Test::Ask(position_in_search),
    ),
    check!(
        "state.option-in-search",
        "`setoption` during a search does not disturb it",
        [
            "UCI 2006, setoption" => WHEN_WAITING,
            "USI draft 1 §5.3, setoption" => "options are set while the engine is waiting",
        ],
        Should,
        Profile::ALL,
        &[],
        "keep the value until the search is over, or ignore it",
        Test::Ask(option_in_search),
    ),
    check!(
        "state.new-game-in-search",
        "`ucinewgame` or `usinewgame` during a search does not disturb it",
        [
            "UCI 2006, general rules" => NOT_NOW,
            "USI draft 1 §5.1" => "what the engine does not expect now is left aside",
        ],
        Should,
        Profile::ALL,
        &[],
        "clear tables only when no search uses them",
        Test::Ask(new_game_in_search),
    ),
    check!(
        "state.second-go",
        "a second `go` during a search leaves an engine that can be used",
        [
            "UCI 2006, general rules" => NOT_NOW,
            "practice" => "engines ignore the second `go`, or search after the first one has ended",
        ],
        May,
        Profile::ALL,
        &[],
        "ignore `go` while there is a search",
        Test::Ask(second_go),
    ),
    check!(
        "state.go-stop-go",
        "`go`, `stop` and another `go` in one write get two answers",
        [
            "UCI 2006, stop and bestmove" => "`stop` ends the search, and each `go` is answered",
            "USI draft 1 §5.3, stop and bestmove" => "`stop` ends the search with its move; the next `go` has its own",
        ],
        Should,
        Profile::ALL,
        &[],
        "read on after `stop` only when `bestmove` is said, and lose no line",
        Test::Ask(go_stop_go),
    ),
    check!(
        "state.same-position",
        "a second `go` without `position` searches the same position again",
        [
            "UCI 2006, go" => "the search is of the position that was set up by `position`; clients say it before each search",
            "USI draft 1 §5.3, go" => "what was set up with `position` is what is searched",
        ],
        May,
        Profile::ALL,
        &[],
        "play nothing on the board but what `position` says",
        Test::Ask(same_position),
    ),
    check!(
        "state.hit-and-stop",
        "`ponderhit` and `stop` directly after it have one `bestmove`",
        [
            "UCI 2006, ponderhit and stop" => "after `ponderhit` the search is an ordinary one, and `stop` ends it",
            "USI draft 1 §5.3, ponderhit and stop" => "the search goes on as an ordinary one, which `stop` ends",
        ],
        Must,
        Profile::ALL,
        &[],
        "look for `stop` after `ponderhit` as in any search",
        Test::Ask(hit_and_stop),
    ),
    check!(
        "state.ready-while-pondering",
        "`isready` is answered while the engine ponders, and the engine ponders on",
        [
            "UCI 2006, isready" => "it is answered also while the engine calculates",
            "USI draft 1 §5.3, isready" => "it is answered at once also during a search",
        ],
        Must,
        Profile::ALL,
        &[],
        "read input in a thread of its own",
        Test::Ask(ready_while_pondering),
    ),
    check!(
        "state.options-stay",
        "options keep their values when a new game is announced",
        [
            "UCI 2006, setoption and ucinewgame" => "`setoption` changes parameters of the engine; a new game says only what is searched next",
            "USI draft 1 §5.3, setoption and usinewgame" => "parameters are set once; the announcement of a game does not touch them",
        ],
        Should,
        Profile::ALL,
        &[Need::Option("MultiPV")],
        "clear what was learned at a new game, and no options",
        Test::Ask(options_stay),
    ),
    check!(
        "state.new-game-forgets",
        "the same search has the same result before a game and after the next one is announced",
        [
            "The UCI Protocol, ucinewgame" => "the engine should forget what it knows from the game before",
            "USI draft 1 §5.3, usinewgame" => "the next positions are from another game",
        ],
        May,
        &[Profile::UciModern, Profile::UsiDraft1, Profile::UsiDeployed],
        &[],
        "clear the hash table and all experience with moves at a new game",
        Test::Ask(new_game_forgets),
    ),
];

fn middle(bench: &Bench<'_>) -> String {
    bench.position(probe::of(bench.game()).middle[0])
}

/// One `bestmove` has been said; more are too many.
fn no_more(talk: &mut Talk, what: &Message) -> Outcome {
    let mut said =
        talk.until_ready().or_fail(said!("after {what} `isready` was not answered", what))?;
    said.extend(talk.listen(talk.pace().quiet()));
    if said.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
        return Err(Stop::Fail(said!("after {what} there was another `bestmove`", what)));
    }
    Ok(())
}

fn second_stop(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say(&middle(bench));
    talk.say("go infinite");
    talk.underway();
    talk.write(b"stop\nstop\n");
    // Whether the first one is answered is for another check to judge.
    talk.best(bench.pace.answer())?;
    no_more(&mut talk, &said!("two `stop`s"))
}

/// Something is said during a search that ends by itself; it ends so, and another one can follow.
fn undisturbed(bench: &Bench<'_>, command: &str) -> Outcome {
    let mut talk = bench.provoked()?;
    let text = probe::of(bench.game()).middle[0];
    talk.say(&bench.position(text));
    talk.say(&format!("go movetime {}", WHILE.as_millis()));
    talk.listen(WHILE / 6);
    if !talk.is_searching() {
        return Err(Stop::Inconclusive(said!("`go movetime` ended too early")));
    }
    talk.say(command);
    let limit = WHILE + bench.pace.answer();
    let found = talk
        .best(limit)
        .or_fail(said!("after `{command}` in a search there was no `bestmove`", command))?;
    if let (Ok(position), Best::Move(mv)) =
        (Position::from_text(bench.game(), text), &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(said!(
            "after `{command}` in a search the answer is no move of the position: `{mv}`",
            command,
            mv
        )));
    }
    talk.until_ready()
        .or_fail(said!("after `{command}` in a search `isready` was not answered", command))?;
    talk.search(&middle(bench), "go depth 1")
        .or_fail(said!("after `{command}` in a search the next one was not answered", command))?;
    Ok(())
}

fn position_in_search(bench: &Bench<'_>) -> Outcome {
    // Moves of the position that is searched are none in this one.
    undisturbed(bench, &bench.position(probe::of(bench.game()).mate_in_one[1]))
}

fn option_in_search(bench: &Bench<'_>) -> Outcome {
    let (name, value) = match bench.option("Hash") {
        Some(decl) => ("Hash", largest(decl).unwrap_or(1).min(8).to_string()),
        None => ("MultiPV", "1".to_owned()),
    };
    undisturbed(bench, &bench.set(name, &value))
}

fn new_game_in_search(bench: &Bench<'_>) -> Outcome {
    undisturbed(bench, bench.dialect.new_game())
}

fn second_go(bench: &Bench<'_>) -> Outcome {
    undisturbed(bench, "go depth 1")
}

fn go_stop_go(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    let position = middle(bench);
    talk.write(format!("{position}\ngo infinite\nstop\n{position}\ngo depth 1\n").as_bytes());
    for what in [said!("first"), said!("second")] {
        talk.best(bench.pace.answer()).or_fail(said!("the {what} `go` was not answered", what))?;
    }
    Ok(())
}

fn same_position(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    let text = probe::of(bench.game()).middle[0];
    let position =
        Position::from_text(bench.game(), text).map_err(|error| Stop::unplayable(&error))?;
    talk.search(&bench.position(text), "go depth 2")?;
    for _ in 0..2 {
        talk.say("go depth 2");
        let found = talk
            .best(bench.pace.answer())
            .or_fail(said!("`go` without another `position` was not answered"))?;
        if let Best::Move(mv) = &found.best.best
            && position.parse_move(mv.as_str()).is_err()
        {
            return Err(Stop::Fail(said!("`{mv}` is no move of the position that was set up", mv)));
        }
    }
    Ok(())
}

fn hit_and_stop(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say(&middle(bench));
    talk.say("go ponder movetime 100000000");
    talk.underway();
    if !talk.is_searching() {
        return Err(Stop::Inconclusive(said!("`go ponder` ended by itself")));
    }
    talk.write(b"ponderhit\nstop\n");
    talk.best(bench.pace.answer()).or_fail(said!("`ponderhit` and `stop` were not answered"))?;
    no_more(&mut talk, &said!("`ponderhit` and `stop`"))
}

fn ready_while_pondering(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say(&middle(bench));
    talk.say(match bench.dialect {
        Dialect::Uci => "go ponder wtime 61000 btime 61000",
        Dialect::Usi => "go ponder btime 61000 wtime 61000",
    });
    talk.underway();
    for _ in 0..2 {
        let said =
            talk.until_ready().or_fail(said!("`isready` while pondering was not answered"))?;
        if said.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
            return Err(Stop::Fail(said!("`isready` ended pondering")));
        }
    }
    talk.say("stop");
    talk.best(bench.pace.answer()).or_fail(said!("after `isready` `stop` was not answered"))?;
    Ok(())
}

fn options_stay(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say(&bench.set("MultiPV", "2"));
    let mut lines = || -> Result<u32, Stop> {
        talk.say(bench.dialect.new_game());
        talk.ready()?;
        let found = talk.search(&middle(bench), "go depth 3")?;
        Ok(found.infos.iter().filter_map(|info| info.multipv).max().unwrap_or(1))
    };
    let (first, second) = (lines()?, lines()?);
    if first.min(second) == 2 {
        return Ok(());
    }
    let mut talk = bench.ready()?;
    talk.say(&bench.set("MultiPV", "2"));
    talk.ready()?;
    let found = talk.search(&middle(bench), "go depth 3")?;
    if found.infos.iter().any(|info| info.multipv == Some(2)) {
        Err(Stop::Fail(said!("after a new game `MultiPV` is 1 again")))
    } else {
        Err(Stop::Inconclusive(said!("`MultiPV` has no effect that can be seen")))
    }
}

/// What a search came to: its answer, and its last score.
pub(super) fn result(talk: &mut Talk, bench: &Bench<'_>) -> Result<Message, Stop> {
    let found = talk.search(&middle(bench), &format!("go depth {SAME_DEPTH}"))?;
    let exact = found.infos.iter().filter(|info| info.bound == Bound::Exact);
    let answer = words::answer(&found.best.best);
    let Some(score) = exact.filter_map(|info| info.score).next_back() else {
        return Ok(said!("`{answer}` without a score", answer));
    };
    let score = words::score(score, bench.dialect);
    Ok(said!("`{answer}` with `{score}`", answer, score))
}

fn new_game_forgets(bench: &Bench<'_>) -> Outcome {
    let prepared = || -> Result<Talk, Stop> {
        let mut talk = bench.ready()?;
        talk.say(bench.dialect.new_game());
        talk.ready()?;
        Ok(talk)
    };
    if result(&mut prepared()?, bench)? != result(&mut prepared()?, bench)? {
        return Err(Stop::Skip(said!("searches of this engine are never quite the same")));
    }
    let mut talk = prepared()?;
    let before = result(&mut talk, bench)?;
    talk.say(bench.dialect.new_game());
    talk.ready()?;
    let after = result(&mut talk, bench)?;
    if before != after {
        return Err(Stop::Fail(said!("it was {before} and is {after}", before, after)));
    }
    Ok(())
}
