//! What only USI has, as shogi programs speak it today.

use readyok_protocol::{Checkmate, Reply, Rule};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Outcome, Profile, Severity, Stop, Test};
use crate::talk::Blame;

const DEPLOYED: &[Profile] = &[Profile::UsiDeployed];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "usi.undeclared-options",
        rule: "`USI_Hash` and `USI_Ponder` are taken even if they were not declared",
        clauses: &[clause(
            "USI as deployed (Shogidokoro, ShogiHome)",
            "both options are sent to every engine before a game",
        )],
        severity: Severity::Must,
        profiles: DEPLOYED,
        needs: &[],
        advice: "ignore options that are not known, without a line that is no message",
        test: Test::Ask(undeclared_options),
    },
    Check {
        id: "usi.byoyomi",
        rule: "`go btime wtime byoyomi` ends in time",
        clauses: &[clause(
            "USI as deployed (Shogidokoro)",
            "byoyomi is the time for each move after the main time is used up",
        )],
        severity: Severity::Must,
        profiles: DEPLOYED,
        needs: &[],
        advice: "read `byoyomi`, and use up to the main time and the byoyomi together",
        test: Test::Ask(byoyomi),
    },
    Check {
        id: "usi.game-over",
        rule: "`gameover` is taken after a search and in the midst of pondering, and another game can follow",
        clauses: &[clause(
            "USI as deployed (Shogidokoro, YaneuraOu)",
            "it ends a game from the engine's view, and while pondering it counts as `stop`",
        )],
        severity: Severity::Must,
        profiles: DEPLOYED,
        needs: &[],
        advice: "treat `gameover` as `stop` if there is a search, and wait for `isready`",
        test: Test::Ask(game_over),
    },
    Check {
        id: "usi.mate",
        rule: "`go mate` is answered with `checkmate`",
        clauses: &[clause(
            "USI as deployed (Shogidokoro, YaneuraOu)",
            "`checkmate` with the moves, `nomate`, `timeout` or `notimplemented`, and no `bestmove`",
        )],
        severity: Severity::Should,
        profiles: DEPLOYED,
        needs: &[],
        advice: "answer `checkmate notimplemented` if there is no search for mates",
        test: Test::Ask(mate),
    },
    Check {
        id: "usi.mate-once",
        rule: Rule::CheckmateWithoutMateSearch.text(),
        clauses: &[clause(
            Rule::CheckmateWithoutMateSearch.clause(),
            Rule::CheckmateWithoutMateSearch.text(),
        )],
        severity: Severity::Must,
        profiles: DEPLOYED,
        needs: &[],
        advice: "say `checkmate` once for each `go mate`, and at no other time",
        test: Test::Order(Rule::CheckmateWithoutMateSearch),
    },
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
