//! Many games in one process.

use readyok_protocol::Rule;

use super::clause;
use super::resources::usage;
use crate::context::{Test, TestCase, TestContext};
use crate::message::message;
use crate::session::{EngineSession, OrFail};
use crate::spec::{Need, Profile, Severity, Stop, TestResult};
use crate::target::Usage;

/// Moves of a game, of which every other one is searched.
const PLIES: usize = 40;

/// Tolerated growth of memory from the second to the last quarter of the games.
const GROWTH: u64 = 8 << 20;

const LONG_RUNS: &str = "practice (matches, servers)";

macro_rules! soak {
    ($id:literal, $rule:literal, $text:literal, $severity:ident, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            $id, $rule, [LONG_RUNS => $text], $severity, Profile::ALL, $needs, $advice,
            Test::Interactive($run)
        )
    };
}

pub(super) const CHECKS: &[TestCase] = &[
    soak!(
        "soak.replies",
        "each `go` of many games yields one `bestmove`",
        "an engine plays thousands of searches in one process",
        Must,
        &[],
        "look for state that persists between searches: flags, counters, unjoined threads",
        answers
    ),
    soak!(
        "soak.memory",
        "memory usage does not grow from game to game",
        "an overnight match plays thousands of games in one process",
        Should,
        &[Need::Process],
        "free the data of a game when the next one starts",
        memory
    ),
    soak!(
        "soak.threads",
        "the number of threads and open files does not grow from game to game",
        "systems limit both per process",
        Should,
        &[Need::Process],
        "join threads and close files after the search or game",
        threads
    ),
];

/// Plays games of random moves, and measures the engine after each.
fn play<T>(
    context: &TestContext<'_>,
    session: &mut EngineSession,
    mut look: impl FnMut(&EngineSession) -> Result<T, Stop>,
) -> Result<Vec<T>, Stop> {
    let Some(games) = context.effort.soak else {
        return Err(Stop::Skip(message!("soak.disabled")));
    };
    let mut random = fastrand::Rng::with_seed(context.seed);
    let mut seen = Vec::new();
    let mut searches = 0;
    for game in 1..=games {
        session.send(context.dialect.new_game());
        session.ready().or_fail(message!("soak.no-readyok", game))?;
        let (command, _) = context.random_line(&mut random, PLIES);
        let tokens: Vec<&str> = command.split(' ').collect();
        for count in (2..=tokens.len()).step_by(2) {
            searches += 1;
            let position = tokens.get(..count).unwrap_or(&tokens).join(" ");
            session.search(&position, "go depth 1").or_fail(message!(
                "soak.no-reply",
                searches,
                game
            ))?;
        }
        seen.push(look(session)?);
    }
    context.remark(format!("{games} games with {searches} searches"));
    Ok(seen)
}

/// Whether the last quarter of the games uses more than the maximum of the second quarter.
fn grows(
    context: &TestContext<'_>,
    of: impl Fn(&Usage) -> u64,
) -> Result<Option<(u64, u64)>, Stop> {
    let mut session = context.ready()?;
    if context.option("Hash").is_some() {
        // A small table fills quickly.
        session.send(&context.set("Hash", "1"));
    }
    let seen = play(context, &mut session, usage).map_err(|stop| match stop {
        // Another check covers this.
        Stop::Fail(text) | Stop::NoReply(text) => Stop::Inconclusive(text),
        other => other,
    })?;
    let quarter = seen.len() / 4;
    let taken = |games: &[Usage]| games.iter().map(&of).collect::<Vec<_>>();
    let early = taken(seen.get(quarter..quarter * 2).unwrap_or_default()).into_iter().max();
    let late = taken(seen.get(quarter * 3..).unwrap_or_default()).into_iter().min();
    Ok(early.zip(late).filter(|(early, late)| early < late))
}

fn answers(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    play(context, &mut session, |_| Ok(()))?;
    if session.has_violated(Rule::BestMoveWithoutSearch) {
        return Err(Stop::Fail(message!("soak.extra-bestmove")));
    }
    Ok(())
}

fn memory(context: &TestContext<'_>) -> TestResult {
    match grows(context, |usage| usage.resident)? {
        Some((early, late)) if early + GROWTH < late => {
            Err(Stop::Fail(message!("soak.memory", before = early >> 20, now = late >> 20)))
        }
        _ => Ok(()),
    }
}

fn threads(context: &TestContext<'_>) -> TestResult {
    match grows(context, |usage| usage.threads + usage.files)? {
        Some((early, late)) => Err(Stop::Fail(message!("soak.threads", early, late))),
        None => Ok(()),
    }
}
