//! What only USI has, as shogi programs speak it today.

use readyok_protocol::{Checkmate, Reply, Rule};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, message};
use crate::talk::{Blame, Talk};

const DEPLOYED: &[Profile] = &[Profile::UsiDeployed];

pub(super) const CHECKS: &[Check] = &[
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
        Test::Ask(undeclared_options),
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
        Test::Ask(byoyomi),
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
        Test::Ask(game_over),
    ),
    check!(
        "usi.game-over-stops",
        "`gameover` ends pondering like `stop`",
        [
            "practice (YaneuraOu)" => "`gameover` during a search acts like `stop`; whether `bestmove` follows is undocumented",
        ],
        May,
        DEPLOYED,
        &[],
        "treat `gameover` during a search as `stop`",
        Test::Ask(game_over_stops),
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
        Test::Ask(mate),
    ),
    check!(
        "usi.mate-once",
        Rule::CheckmateWithoutMateSearch.text(),
        [Rule::CheckmateWithoutMateSearch.clause() => Rule::CheckmateWithoutMateSearch.text()],
        Must,
        DEPLOYED,
        &[],
        "send `checkmate` only once for each `go mate`",
        Test::Order(Rule::CheckmateWithoutMateSearch),
    ),
];

fn undeclared_options(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.greeted()?;
    talk.say("setoption name USI_Hash value 16");
    talk.say("setoption name USI_Ponder value true");
    talk.ready().or_fail(message!("usi-options.no-readyok"))?;
    talk.say("usinewgame");
    talk.search("position startpos", "go depth 1").or_fail(message!("usi-options.no-reply"))?;
    Ok(())
}

fn byoyomi(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for go in ["go btime 0 wtime 0 byoyomi 200", "go btime 500 wtime 500 byoyomi 100"] {
        talk.search("position startpos", go).or_fail(message!("go.no-reply", go))?;
    }
    Ok(())
}

/// A search that nothing but its own end, or the game's, ends soon.
const PONDER: &str = "go ponder btime 60000 wtime 60000";

fn game_over(bench: &Bench<'_>) -> Outcome {
    let next = |talk: &mut Talk, when: &Message| -> Outcome {
        talk.ready().or_fail(message!("gameover.no-readyok", when))?;
        talk.say("usinewgame");
        talk.search("position startpos", "go depth 1")
            .or_fail(message!("gameover.no-reply", when))?;
        Ok(())
    };
    let mut talk = bench.ready()?;
    talk.say("usinewgame");
    talk.search("position startpos", "go depth 1")?;
    for result in ["lose", "draw"] {
        talk.say(&format!("gameover {result}"));
        next(&mut talk, &message!("when.after-search"))?;
    }
    // Whether pondering has an answer then is not settled: who listens shall not count it.
    let mut talk = bench.provoked()?;
    talk.say("usinewgame");
    talk.say("position startpos");
    talk.say(PONDER);
    talk.underway();
    talk.say("gameover win");
    next(&mut talk, &message!("when.pondering"))?;
    let late = talk.until_ready().or_fail(message!("gameover.pondering-no-readyok"))?;
    // The first answer may have been that of the search before.
    if 1 < late.iter().filter(|line| matches!(line.reply, Reply::BestMove(_))).count() {
        return Err(Stop::Fail(message!("gameover.extra-replies")));
    }
    Ok(())
}

fn game_over_stops(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say("usinewgame");
    talk.say("position startpos");
    talk.say(PONDER);
    talk.say("gameover win");
    talk.best(bench.pace.answer()).or_fail(message!("gameover.no-bestmove", go = PONDER))?;
    Ok(())
}

fn mate(bench: &Bench<'_>) -> Outcome {
    // Some engines answer `bestmove`, which other checks shall not judge again.
    let mut talk = bench.provoked()?;
    let text = probe::of(bench.game()).mate_in_one[0];
    talk.say(&bench.position(text));
    talk.say("go mate 2000");
    let answer = talk
        .hear(bench.pace.answer(), |line| {
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
