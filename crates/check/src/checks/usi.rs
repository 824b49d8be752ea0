//! What only USI has, as shogi programs speak it today.

use readyok_protocol::{Checkmate, Reply, Rule};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Outcome, Profile, Severity, Stop, Test};
use crate::talk::Blame;

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
            "USI as deployed (Shogidokoro, YaneuraOu)" => "it ends a game from the engine's view, and while pondering it counts as `stop`",
        ],
        Must,
        DEPLOYED,
        &[],
        "treat `gameover` as `stop` if there is a search, and wait for `isready`",
        Test::Ask(game_over),
    ),
    check!(
        "usi.mate",
        "`go mate` is answered with `checkmate`",
        [
            "USI as deployed (Shogidokoro, YaneuraOu)" => "`checkmate` with the moves, `nomate`, `timeout` or `notimplemented`, and no `bestmove`",
        ],
        Should,
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
    talk.ready().or_fail("after `USI_Hash` and `USI_Ponder` `isready` was not answered")?;
    talk.say("usinewgame");
    talk.search("position startpos", "go depth 1")
        .or_fail("after `USI_Hash` and `USI_Ponder` a search was not answered")?;
    Ok(())
}

fn byoyomi(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for go in ["go btime 0 wtime 0 byoyomi 200", "go btime 500 wtime 500 byoyomi 100"] {
        talk.search("position startpos", go).or_fail(&format!("`{go}` was not answered"))?;
    }
    Ok(())
}

fn game_over(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    for (result, go) in [
        ("lose", "go depth 1"),
        ("win", "go ponder btime 60000 wtime 60000"),
        ("draw", "go infinite"),
    ] {
        talk.say("usinewgame");
        talk.say("position startpos");
        talk.say(go);
        if go == "go depth 1" {
            talk.best(bench.pace.answer())?;
            talk.say(&format!("gameover {result}"));
        } else {
            talk.say(&format!("gameover {result}"));
            talk.best(bench.pace.answer()).or_fail(&format!(
                "`gameover {result}` in `{go}` was not answered with `bestmove`"
            ))?;
        }
        talk.ready().or_fail(&format!("after `gameover {result}` `isready` was not answered"))?;
    }
    talk.search("position startpos", "go depth 1")
        .or_fail("in a game after `gameover` a search was not answered")?;
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
        .or_fail("`go mate` was not answered")?;
    match answer {
        Reply::BestMove(_) => Err(Stop::fail("`go mate` was answered with `bestmove`")),
        Reply::Checkmate(Checkmate::NoMate) => {
            Err(Stop::fail("a mate in one was answered with `checkmate nomate`"))
        }
        _ => Ok(()),
    }
}
