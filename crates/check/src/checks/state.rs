//! What may come when: commands in searches, in other orders than usual, and what stays between them.

use std::time::Duration;

use readyok_protocol::{Best, Bound, Dialect, Reply};
use readyok_rules::Position;

use super::{clause, probe};
use crate::bench::{Bench, largest};
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, message};
use crate::talk::{Blame, Talk};
use crate::words;

/// A search that is interrupted, and ends by itself.
const WHILE: Duration = Duration::from_millis(350);

/// Plies of searches that are compared.
const SAME_DEPTH: u32 = 6;

const NOT_NOW: &str = "an unexpected command is ignored";
const WHEN_WAITING: &str = "the client sends it only while the engine is waiting";

pub(super) const CHECKS: &[Check] = &[
    check!(
        "state.second-stop",
        "the engine ignores a second `stop`",
        [
            "UCI 2006, general rules and bestmove" => "each `go` has one `bestmove`; a `stop` without a search is ignored",
            "USI draft 1 §5.1 and §5.3" => "each `go` has one `bestmove`; an unexpected command is ignored",
        ],
        Must,
        Profile::ALL,
        &[],
        "discard a `stop` without a search",
        Test::Ask(second_stop),
    ),
    check!(
        "state.position-in-search",
        "`position` during a search does not affect it",
        [
            "UCI 2006, general rules" => NOT_NOW,
            "USI draft 1 §5.1" => "an unexpected command is ignored",
        ],
        Should,
        Profile::ALL,
        &[],
        "search a copy of the position, or ignore `position` until `bestmove`",
        Test::Ask(position_in_search),
    ),
    check!(
        "state.option-in-search",
        "`setoption` during a search does not affect it",
        [
            "UCI 2006, setoption" => WHEN_WAITING,
            "USI draft 1 §5.3, setoption" => "options are set while the engine is waiting",
        ],
        Should,
        Profile::ALL,
        &[],
        "apply the value after the search, or ignore it",
        Test::Ask(option_in_search),
    ),
    check!(
        "state.new-game-in-search",
        "`ucinewgame` or `usinewgame` during a search does not affect it",
        [
            "UCI 2006, general rules" => NOT_NOW,
            "USI draft 1 §5.1" => "an unexpected command is ignored",
        ],
        Should,
        Profile::ALL,
        &[],
        "clear tables only between searches",
        Test::Ask(new_game_in_search),
    ),
    check!(
        "state.second-go",
        "the engine remains usable after a second `go` during a search",
        [
            "UCI 2006, general rules" => NOT_NOW,
            "practice" => "engines ignore the second `go`, or search after the first one has ended",
        ],
        May,
        Profile::ALL,
        &[],
        "ignore `go` during a search",
        Test::Ask(second_go),
    ),
    check!(
        "state.go-stop-go",
        "`go`, `stop` and another `go` in one write yield two `bestmove`",
        [
            "UCI 2006, stop and bestmove" => "`stop` ends the search, and each `go` gets a reply",
            "USI draft 1 §5.3, stop and bestmove" => "`stop` ends the search with its move; the next `go` has its own move",
        ],
        Should,
        Profile::ALL,
        &[],
        "process lines after `stop` when `bestmove` is sent, without losing any",
        Test::Ask(go_stop_go),
    ),
    check!(
        "state.same-position",
        "`go` without a new `position` searches the same position again",
        [
            "UCI 2006, go" => "the position set up by `position` is searched; clients send it before each search",
            "USI draft 1 §5.3, go" => "the position set up by `position` is searched",
        ],
        May,
        Profile::ALL,
        &[],
        "change the board only by `position`",
        Test::Ask(same_position),
    ),
    check!(
        "state.hit-and-stop",
        "`ponderhit` followed by `stop` yields one `bestmove`",
        [
            "UCI 2006, ponderhit and stop" => "after `ponderhit` the search is a normal one, and `stop` ends it",
            "USI draft 1 §5.3, ponderhit and stop" => "the search continues normally, and `stop` ends it",
        ],
        Must,
        Profile::ALL,
        &[],
        "check for `stop` after `ponderhit` as in a normal search",
        Test::Ask(hit_and_stop),
    ),
    check!(
        "state.ready-while-pondering",
        "the engine replies to `isready` while pondering, and continues to ponder",
        [
            "UCI 2006, isready" => "the engine also replies while calculating",
            "USI draft 1 §5.3, isready" => "the reply is immediate, also during a search",
        ],
        Must,
        Profile::ALL,
        &[],
        "read input in a separate thread",
        Test::Ask(ready_while_pondering),
    ),
    check!(
        "state.options-persist",
        "options keep their values after a new-game command",
        [
            "UCI 2006, setoption and ucinewgame" => "`setoption` changes engine parameters; a new game only affects the next search",
            "USI draft 1 §5.3, setoption and usinewgame" => "parameters are set once; a new-game command does not change them",
        ],
        Should,
        Profile::ALL,
        &[Need::Option("MultiPV")],
        "reset search state at a new game, but not options",
        Test::Ask(options_stay),
    ),
    check!(
        "state.new-game-clears",
        "a new-game command clears search state: the same search gives the same result",
        [
            "The UCI Protocol, ucinewgame" => "the engine should discard information from the previous game",
            "USI draft 1 §5.3, usinewgame" => "the next positions are from a different game",
        ],
        May,
        &[Profile::UciModern, Profile::UsiDraft1, Profile::UsiDeployed],
        &[],
        "clear the hash table and all history tables at a new game",
        Test::Ask(new_game_forgets),
    ),
];

fn middle(bench: &Bench<'_>) -> String {
    bench.position(probe::of(bench.game()).middle[0])
}

/// One `bestmove` has been said; more are too many.
fn no_more(talk: &mut Talk, what: &Message) -> Outcome {
    let mut said = talk.until_ready().or_fail(message!("after.no-readyok", what))?;
    said.extend(talk.listen(talk.pace().quiet()));
    if said.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
        return Err(Stop::Fail(message!("after.extra-bestmove", what)));
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
    no_more(&mut talk, &message!("after.two-stops"))
}

/// Something is said during a search that ends by itself; it ends so, and another one can follow.
fn undisturbed(bench: &Bench<'_>, command: &str) -> Outcome {
    let mut talk = bench.provoked()?;
    let text = probe::of(bench.game()).middle[0];
    talk.say(&bench.position(text));
    talk.say(&format!("go movetime {}", WHILE.as_millis()));
    talk.listen(WHILE / 6);
    if !talk.is_searching() {
        return Err(Stop::Inconclusive(message!("movetime.early")));
    }
    talk.say(command);
    let limit = WHILE + bench.pace.answer();
    let found = talk.best(limit).or_fail(message!("disturbed.no-bestmove", command))?;
    if let (Ok(position), Best::Move(mv)) =
        (Position::from_text(bench.game(), text), &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(message!("disturbed.other-position", command, mv)));
    }
    talk.until_ready().or_fail(message!("disturbed.no-readyok", command))?;
    talk.search(&middle(bench), "go depth 1").or_fail(message!("disturbed.no-reply", command))?;
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
    for what in [message!("ordinal.first"), message!("ordinal.second")] {
        talk.best(bench.pace.answer()).or_fail(message!("go.nth-no-reply", what))?;
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
        let found = talk.best(bench.pace.answer()).or_fail(message!("go.no-position-no-reply"))?;
        if let Best::Move(mv) = &found.best.best
            && position.parse_move(mv.as_str()).is_err()
        {
            return Err(Stop::Fail(message!("go.other-position", mv)));
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
        return Err(Stop::Inconclusive(message!("ponder.ended")));
    }
    talk.write(b"ponderhit\nstop\n");
    talk.best(bench.pace.answer()).or_fail(message!("ponderhit.stop-no-reply"))?;
    no_more(&mut talk, &message!("after.ponderhit-stop"))
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
        let said = talk.until_ready().or_fail(message!("ponder.no-readyok"))?;
        if said.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
            return Err(Stop::Fail(message!("ponder.ended-by-isready")));
        }
    }
    talk.say("stop");
    talk.best(bench.pace.answer()).or_fail(message!("ponder.no-reply-to-stop-later"))?;
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
        Err(Stop::Fail(message!("new-game.multipv-reset")))
    } else {
        Err(Stop::Inconclusive(message!("multipv.not-visible")))
    }
}

/// What a search came to: its answer, and its last score.
pub(super) fn result(talk: &mut Talk, bench: &Bench<'_>) -> Result<Message, Stop> {
    let found = talk.search(&middle(bench), &format!("go depth {SAME_DEPTH}"))?;
    let exact = found.infos.iter().filter(|info| info.bound == Bound::Exact);
    let answer = words::answer(&found.best.best);
    let Some(score) = exact.filter_map(|info| info.score).next_back() else {
        return Ok(message!("search.unscored-reply", answer));
    };
    let score = words::score(score, bench.dialect);
    Ok(message!("search.scored-reply", answer, score))
}

fn new_game_forgets(bench: &Bench<'_>) -> Outcome {
    let prepared = || -> Result<Talk, Stop> {
        let mut talk = bench.ready()?;
        talk.say(bench.dialect.new_game());
        talk.ready()?;
        Ok(talk)
    };
    if result(&mut prepared()?, bench)? != result(&mut prepared()?, bench)? {
        return Err(Stop::Skip(message!("search.not-reproducible")));
    }
    let mut talk = prepared()?;
    let before = result(&mut talk, bench)?;
    talk.say(bench.dialect.new_game());
    talk.ready()?;
    let after = result(&mut talk, bench)?;
    if before != after {
        return Err(Stop::Fail(message!("search.result-changed", before, after)));
    }
    Ok(())
}
