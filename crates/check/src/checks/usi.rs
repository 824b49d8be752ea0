//! What only USI has, as shogi programs speak it today.

use readyok_protocol::{Checkmate, Reply, Rule};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, said};
use crate::talk::{Blame, Talk};

const DEPLOYED: &[Profile] = &[Profile::UsiDeployed];

pub(super) const CHECKS: &[Check] = &[
    check!(
        "usi.undeclared-options",
        "`USI_Hash` and `USI_Ponder` are taken even if they were not declared",
        [
            "USI as deployed (Shogidokoro, ShogiHome)" => "both options are sent to every engine before a game",
        ],
        Must,
        DEPLOYED,
        &[],
        "ignore options that are not known, without a line that is no message",
        Test::Ask(undeclared_options),
    ),
    check!(
        "usi.byoyomi",
        "`go btime wtime byoyomi` ends in time",
        [
            "USI as deployed (Shogidokoro)" => "byoyomi is the time for each move after the main time is used up",
        ],
        Must,
        DEPLOYED,
        &[],
        "read `byoyomi`, and use up to the main time and the byoyomi together",
        Test::Ask(byoyomi),
    ),
    check!(
        "usi.game-over",
        "`gameover` is taken after a search and in the midst of pondering, and another game can follow",
        [
            "USI as deployed (Shogidokoro, YaneuraOu)" => "it ends a game from the engine's view; `isready` and another game follow",
        ],
        Must,
        DEPLOYED,
        &[],
        "end the search, if there is one, and wait for `isready`",
        Test::Ask(game_over),
    ),
    check!(
        "usi.game-over-stops",
        "`gameover` ends pondering as `stop` does",
        [
            "practice (YaneuraOu)" => "`gameover` in a search is treated as `stop`; documents do not say whether `bestmove` follows",
        ],
        May,
        DEPLOYED,
        &[],
        "treat `gameover` as `stop` if there is a search",
        Test::Ask(game_over_stops),
    ),
    check!(
        "usi.mate",
        "`go mate` is answered with `checkmate`",
        [
            "USI as deployed (Shogidokoro, YaneuraOu)" => "`checkmate` with the moves, `nomate`, `timeout` or `notimplemented`, and no `bestmove`",
            "USI draft 1 §5.3, go mate" => "the number is one of plies, and the answer `bestmove`",
        ],
        May,
        DEPLOYED,
        &[],
        "answer `checkmate notimplemented` if there is no search for mates",
        Test::Ask(mate),
    ),
    check!(
        "usi.mate-once",
        Rule::CheckmateWithoutMateSearch.text(),
        [Rule::CheckmateWithoutMateSearch.clause() => Rule::CheckmateWithoutMateSearch.text()],
        Must,
        DEPLOYED,
        &[],
        "say `checkmate` once for each `go mate`, and at no other time",
        Test::Order(Rule::CheckmateWithoutMateSearch),
    ),
];

fn undeclared_options(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.greeted()?;
    talk.say("setoption name USI_Hash value 16");
    talk.say("setoption name USI_Ponder value true");
    talk.ready().or_fail(said!("after `USI_Hash` and `USI_Ponder` `isready` was not answered"))?;
    talk.say("usinewgame");
    talk.search("position startpos", "go depth 1")
        .or_fail(said!("after `USI_Hash` and `USI_Ponder` a search was not answered"))?;
    Ok(())
}

fn byoyomi(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for go in ["go btime 0 wtime 0 byoyomi 200", "go btime 500 wtime 500 byoyomi 100"] {
        talk.search("position startpos", go).or_fail(said!("`{go}` was not answered", go))?;
    }
    Ok(())
}

/// A search that nothing but its own end, or the game's, ends soon.
const PONDER: &str = "go ponder btime 60000 wtime 60000";

fn game_over(bench: &Bench<'_>) -> Outcome {
    let next = |talk: &mut Talk, when: &Message| -> Outcome {
        talk.ready().or_fail(said!("after `gameover` {when} `isready` was not answered", when))?;
        talk.say("usinewgame");
        talk.search("position startpos", "go depth 1")
            .or_fail(said!("in a game after `gameover` {when} a search was not answered", when))?;
        Ok(())
    };
    let mut talk = bench.ready()?;
    talk.say("usinewgame");
    talk.search("position startpos", "go depth 1")?;
    for result in ["lose", "draw"] {
        talk.say(&format!("gameover {result}"));
        next(&mut talk, &said!("behind a search"))?;
    }
    // Whether pondering has an answer then is not settled: who listens shall not count it.
    let mut talk = bench.provoked()?;
    talk.say("usinewgame");
    talk.say("position startpos");
    talk.say(PONDER);
    talk.underway();
    talk.say("gameover win");
    next(&mut talk, &said!("while pondering"))?;
    let late = talk.until_ready().or_fail(said!(
        "in the game after `gameover` while pondering `isready` was not answered"
    ))?;
    // The first answer may have been that of the search before.
    if 1 < late.iter().filter(|line| matches!(line.reply, Reply::BestMove(_))).count() {
        return Err(Stop::Fail(said!(
            "after `gameover` while pondering there were more answers than searches"
        )));
    }
    Ok(())
}

fn game_over_stops(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.say("usinewgame");
    talk.say("position startpos");
    talk.say(PONDER);
    talk.say("gameover win");
    talk.best(bench.pace.answer())
        .or_fail(said!("`gameover win` in `{go}` was not answered with `bestmove`", go = PONDER))?;
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
        .or_fail(said!("`go mate` was not answered"))?;
    match answer {
        Reply::BestMove(_) => Err(Stop::Fail(said!("`go mate` was answered with `bestmove`"))),
        Reply::Checkmate(Checkmate::NoMate) => {
            Err(Stop::Fail(said!("a mate in one was answered with `checkmate nomate`")))
        }
        _ => Ok(()),
    }
}
