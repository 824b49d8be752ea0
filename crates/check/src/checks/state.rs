//! Commands during searches and in unusual order, and state between searches.

use std::time::Duration;

use readyok_protocol::{Best, Dialect, Reply};
use readyok_rules::Position;

use super::assertions::{middle, search_summary};
use crate::checks::{assertions, clause};
use crate::context::{Test, TestCase, TestContext, largest};
use crate::message::{Message, message};
use crate::session::{EngineSession, OrFail, WaitError};
use crate::spec::{Need, Profile, Severity};
use crate::spec::{Stop, TestResult};

/// A search that ends by itself if it is not interrupted.
const WHILE: Duration = Duration::from_millis(350);

const NOT_NOW: &str = "an unexpected command is ignored";
const WHEN_WAITING: &str = "the client sends it only while the engine is waiting";

pub(super) const CHECKS: &[TestCase] = &[
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
        Test::Interactive(second_stop),
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
        Test::Interactive(position_in_search),
    ),
    check!(
        "state.position-kept",
        "the position of `position` remains until `go`, also with `isready` and `setoption` between them",
        [
            "UCI 2006, position and go" => "`go` calculates on the position that was set up with `position`",
            "USI draft 1 §5.3, position and go" => "`go` searches the position of the last `position`",
        ],
        Must,
        Profile::ALL,
        &[],
        "change the position only at `position`",
        Test::Interactive(position_kept),
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
        Test::Interactive(option_in_search),
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
        Test::Interactive(new_game_in_search),
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
        Test::Interactive(second_go),
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
        Test::Interactive(go_stop_go),
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
        Test::Interactive(same_position),
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
        &[Need::Ponder],
        "check for `stop` after `ponderhit` as in a normal search",
        Test::Interactive(hit_and_stop),
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
        &[Need::Ponder],
        "read input in a separate thread",
        Test::Interactive(ready_while_pondering),
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
        Test::Interactive(options_stay),
    ),
    check!(
        "state.new-game-unready",
        "`position` and `go` directly after a new-game command are obeyed",
        [
            "UCI 2006, ucinewgame and isready" => "`isready` lets the client wait; commands are processed in order",
            "USI draft 1 §5.3, usinewgame" => "commands are processed in order",
        ],
        Should,
        Profile::ALL,
        &[],
        "process commands in order, and never discard input while tables are cleared",
        Test::Interactive(new_game_unready),
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
        Test::Interactive(new_game_forgets),
    ),
];

/// Verifies that no second `bestmove` follows.
fn no_more(session: &mut EngineSession, what: &Message) -> TestResult {
    let mut reported = session.until_ready().or_fail(message!("after.no-readyok", what))?;
    reported.extend(session.listen(session.timeouts().quiet()));
    if reported.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
        return Err(Stop::Fail(message!("after.extra-bestmove", what)));
    }
    Ok(())
}

fn second_stop(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send(&middle(context));
    session.send("go infinite");
    session.underway();
    session.write(b"stop\nstop\n");
    // Another check covers the first reply.
    session.best(context.timeouts.answer())?;
    no_more(&mut session, &message!("after.two-stops"))
}

/// Sends a command during a search, which must end normally; then runs another one.
fn undisturbed(context: &TestContext<'_>, command: &str) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let text = assertions::test_positions(context.game()).middle[0];
    session.send(&context.position(text));
    session.send(&format!("go movetime {}", WHILE.as_millis()));
    session.listen(WHILE / 6);
    if !session.is_searching() {
        return Err(Stop::Inconclusive(message!("movetime.early")));
    }
    session.send(command);
    let limit = WHILE + context.timeouts.answer();
    let found = session.best(limit).or_fail(message!("disturbed.no-bestmove", command))?;
    if let (Ok(position), Best::Move(mv)) =
        (Position::from_text(context.game(), text), &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(message!("disturbed.other-position", command, mv)));
    }
    session.until_ready().or_fail(message!("disturbed.no-readyok", command))?;
    session
        .search(&middle(context), "go depth 1")
        .or_fail(message!("disturbed.no-reply", command))?;
    Ok(())
}

fn position_in_search(context: &TestContext<'_>) -> TestResult {
    let command = context.position(assertions::test_positions(context.game()).mate_in_one[1]);
    let mut session = context.ready_unchecked()?;
    session.send(&middle(context));
    session.send("go infinite");
    session.underway();
    if session.ends_by_itself()? {
        return Err(Stop::Inconclusive(message!("infinite.ended")));
    }
    session.send(&command);
    // The search may end immediately or a little later.
    let late = session.listen(context.timeouts.quiet() * 2);
    let is_end = |line: &crate::session::Line| matches!(line.reply, Reply::BestMove(_));
    let ends =
        session.ends_by_itself().or_fail(message!("disturbed.no-readyok", command = &command))?;
    if late.iter().any(is_end) || ends {
        return Err(Stop::Fail(message!("disturbed.ended", command)));
    }
    session.send("stop");
    session.best(context.timeouts.answer())?;
    // Moves of the searched position are illegal in this one.
    undisturbed(
        context,
        &context.position(assertions::test_positions(context.game()).mate_in_one[1]),
    )
}

fn option_in_search(context: &TestContext<'_>) -> TestResult {
    let (name, value) = match context.option("Hash") {
        Some(decl) => ("Hash", largest(decl).unwrap_or(1).min(8).to_string()),
        None => ("MultiPV", "1".to_owned()),
    };
    undisturbed(context, &context.set(name, &value))
}

fn new_game_in_search(context: &TestContext<'_>) -> TestResult {
    undisturbed(context, context.dialect.new_game())
}

fn second_go(context: &TestContext<'_>) -> TestResult {
    undisturbed(context, "go depth 1")
}

fn go_stop_go(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let position = middle(context);
    session.write(format!("{position}\ngo infinite\nstop\n{position}\ngo depth 1\n").as_bytes());
    for what in [message!("ordinal.first"), message!("ordinal.second")] {
        session.best(context.timeouts.answer()).or_fail(message!("go.nth-no-reply", what))?;
    }
    Ok(())
}

/// A position with numbers that no other position has.
fn numbered(context: &TestContext<'_>) -> String {
    let text = assertions::test_positions(context.game()).middle[1];
    let (fields, numbers) = match context.dialect {
        Dialect::Uci => (4, "7 9"),
        Dialect::Usi => (3, "41"),
    };
    let mut fields: Vec<&str> = text.split(' ').take(fields).collect();
    fields.push(numbers);
    fields.join(" ")
}

fn position_kept(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let text = numbered(context);
    let position = Position::from_text(context.game(), &text)
        .map_err(|error| Stop::invalid_position(&error))?;
    // The other side is to move.
    session.search("position startpos", "go depth 1")?;
    session.send(&context.position(&text));
    session.until_ready()?;
    if context.option("MultiPV").is_some() {
        session.send(&context.set("MultiPV", "1"));
        session.until_ready()?;
    }
    let found = session.search_again("go depth 2").or_fail(message!("go.no-position-no-reply"))?;
    match &found.best.best {
        Best::Move(mv) if position.parse_move(mv.as_str()).is_err() => {
            Err(Stop::Fail(message!("position.not-kept", mv)))
        }
        _ => Ok(()),
    }
}

fn same_position(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let text = assertions::test_positions(context.game()).middle[0];
    let position = Position::from_text(context.game(), text)
        .map_err(|error| Stop::invalid_position(&error))?;
    session.search(&context.position(text), "go depth 2")?;
    for _ in 0..2 {
        let found =
            session.search_again("go depth 2").or_fail(message!("go.no-position-no-reply"))?;
        if let Best::Move(mv) = &found.best.best
            && position.parse_move(mv.as_str()).is_err()
        {
            return Err(Stop::Fail(message!("go.other-position", mv)));
        }
    }
    Ok(())
}

fn hit_and_stop(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send(&middle(context));
    session.send("go ponder movetime 100000000");
    session.underway();
    if !session.is_searching() {
        return Err(Stop::Inconclusive(message!("ponder.ended")));
    }
    session.write(b"ponderhit\nstop\n");
    session.best(context.timeouts.answer()).or_fail(message!("ponderhit.stop-no-reply"))?;
    no_more(&mut session, &message!("after.ponderhit-stop"))
}

fn ready_while_pondering(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send(&middle(context));
    session.send(match context.dialect {
        Dialect::Uci => "go ponder wtime 61000 btime 61000",
        Dialect::Usi => "go ponder btime 61000 wtime 61000",
    });
    session.underway();
    for _ in 0..2 {
        let reported = session.until_ready().or_fail(message!("ponder.no-readyok"))?;
        if reported.iter().any(|line| matches!(line.reply, Reply::BestMove(_))) {
            return Err(Stop::Fail(message!("ponder.ended-by-isready")));
        }
    }
    session.send("stop");
    session.best(context.timeouts.answer()).or_fail(message!("ponder.no-reply-to-stop-later"))?;
    Ok(())
}

fn options_stay(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.send(&context.set("MultiPV", "2"));
    let mut lines = || -> Result<u32, Stop> {
        session.send(context.dialect.new_game());
        session.ready()?;
        let found = session.search(&middle(context), "go depth 3")?;
        Ok(found.infos.iter().filter_map(|info| info.multipv).max().unwrap_or(1))
    };
    let (first, second) = (lines()?, lines()?);
    if first.min(second) == 2 {
        return Ok(());
    }
    let mut session = context.ready()?;
    session.send(&context.set("MultiPV", "2"));
    session.ready()?;
    let found = session.search(&middle(context), "go depth 3")?;
    if found.infos.iter().any(|info| info.multipv == Some(2)) {
        Err(Stop::Fail(message!("new-game.multipv-reset")))
    } else {
        Err(Stop::Inconclusive(message!("multipv.not-visible")))
    }
}

fn new_game_unready(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    let text = assertions::test_positions(context.game()).middle[1];
    let position = Position::from_text(context.game(), text)
        .map_err(|error| Stop::invalid_position(&error))?;
    let command = context.dialect.new_game();
    for _ in 0..2 {
        session.send(command);
        let found = session
            .search(&context.position(text), "go depth 1")
            .or_fail(message!("new-game.no-reply", command))?;
        if let Best::Move(mv) = &found.best.best
            && position.parse_move(mv.as_str()).is_err()
        {
            return Err(Stop::Fail(message!("go.other-position", mv)));
        }
    }
    Ok(())
}

fn new_game_forgets(context: &TestContext<'_>) -> TestResult {
    let prepared = || -> Result<EngineSession, Stop> {
        let mut session = context.ready()?;
        session.send(context.dialect.new_game());
        session.ready()?;
        Ok(session)
    };
    if search_summary(&mut prepared()?, context)? != search_summary(&mut prepared()?, context)? {
        return Err(Stop::Skip(message!("search.not-reproducible")));
    }
    let mut session = prepared()?;
    let before = search_summary(&mut session, context)?;
    session.send(context.dialect.new_game());
    session.ready()?;
    let after = search_summary(&mut session, context)?;
    if before != after {
        return Err(Stop::Fail(message!("search.result-changed", before, after)));
    }
    Ok(())
}

pub(super) fn interleavings(context: &TestContext<'_>) -> TestResult {
    let mut random = fastrand::Rng::with_seed(context.seed);
    let mut session = context.ready()?;
    let positions = [
        middle(context),
        format!("position startpos moves {}", assertions::test_positions(context.game()).opening),
    ];
    let count = context.effort.searches;
    let mut asks_ready = true;
    for number in 0..count {
        if random.u8(..20) == 0 {
            session.send(context.dialect.new_game());
            session.ready()?;
        }
        if random.bool() {
            session.send(
                positions.get(number % positions.len()).map_or("position startpos", String::as_str),
            );
        } else {
            session.send("position startpos");
        }
        let pondering = random.u8(..3) == 0 && context.ponders();
        let endless = pondering || random.u8(..3) == 0;
        session.send(match (pondering, endless, random.bool()) {
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
                    session.send("isready");
                    pings += 1;
                }
                1 => session.send("debug off"),
                2 if pondering && !hit => {
                    session.send("ponderhit");
                    hit = true;
                }
                _ => (),
            }
        }
        // If the search ends by itself, `stop` may cross its reply.
        if endless && !hit || random.bool() {
            session.send("stop");
        }
        let mut answered = false;
        let limit = context.timeouts.answer();
        let received = session.wait_for(limit, |line| {
            match line.reply {
                Reply::BestMove(_) => answered = true,
                Reply::ReadyOk => pings = (pings - 1).max(0),
                _ => (),
            }
            (answered && pings == 0).then_some(())
        });
        match received {
            // Another check covers `isready` during a search.
            Err(WaitError::Late(_)) if answered => {
                asks_ready = false;
                session.ready().or_fail(message!(
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
