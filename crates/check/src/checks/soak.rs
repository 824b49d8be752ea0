//! Long runs: many games in a row in one process.

use readyok_protocol::Rule;

use super::{clause, resources::usage};
use crate::bench::Bench;
use crate::check::{Check, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::message;
use crate::talk::{Blame, Talk};
use crate::usage::Usage;

/// Moves of a game, of which every other one is searched.
const PLIES: usize = 40;

/// What memory may grow by from the second quarter of the games to the last one.
const GROWTH: u64 = 8 << 20;

const LONG_RUNS: &str = "practice (matches, servers)";

macro_rules! soak {
    ($id:literal, $rule:literal, $says:literal, $severity:ident, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            $id, $rule, [LONG_RUNS => $says], $severity, Profile::ALL, $needs, $advice,
            Test::Ask($run)
        )
    };
}

pub(super) const CHECKS: &[Check] = &[
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

/// Plays games of random moves, and looks at the engine after each.
fn play<T>(
    bench: &Bench<'_>,
    talk: &mut Talk,
    mut look: impl FnMut(&Talk) -> Result<T, Stop>,
) -> Result<Vec<T>, Stop> {
    let Some(games) = bench.effort.soak else {
        return Err(Stop::Skip(message!("soak.disabled")));
    };
    let mut random = fastrand::Rng::with_seed(bench.seed);
    let mut seen = Vec::new();
    let mut searches = 0;
    for game in 1..=games {
        talk.say(bench.dialect.new_game());
        talk.ready().or_fail(message!("soak.no-readyok", game))?;
        let (command, _) = bench.random_line(&mut random, PLIES);
        let words: Vec<&str> = command.split(' ').collect();
        for count in (2..=words.len()).step_by(2) {
            searches += 1;
            let position = words.get(..count).unwrap_or(&words).join(" ");
            talk.search(&position, "go depth 1").or_fail(message!(
                "soak.no-reply",
                searches,
                game
            ))?;
        }
        seen.push(look(talk)?);
    }
    bench.remark(format!("{games} games with {searches} searches"));
    Ok(seen)
}

/// The last quarter of the games takes more than the second one ever did.
fn grows(bench: &Bench<'_>, of: impl Fn(&Usage) -> u64) -> Result<Option<(u64, u64)>, Stop> {
    let mut talk = bench.ready()?;
    if bench.option("Hash").is_some() {
        // A small table is full soon.
        talk.say(&bench.set("Hash", "1"));
    }
    let seen = play(bench, &mut talk, usage).map_err(|stop| match stop {
        // That is for another check to judge.
        Stop::Fail(text) => Stop::Inconclusive(text),
        other => other,
    })?;
    let quarter = seen.len() / 4;
    let taken = |games: &[Usage]| games.iter().map(&of).collect::<Vec<_>>();
    let early = taken(seen.get(quarter..quarter * 2).unwrap_or_default()).into_iter().max();
    let late = taken(seen.get(quarter * 3..).unwrap_or_default()).into_iter().min();
    Ok(early.zip(late).filter(|(early, late)| early < late))
}

fn answers(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    play(bench, &mut talk, |_| Ok(()))?;
    if talk.has_broken(Rule::BestMoveWithoutSearch) {
        return Err(Stop::Fail(message!("soak.extra-bestmove")));
    }
    Ok(())
}

fn memory(bench: &Bench<'_>) -> Outcome {
    match grows(bench, |usage| usage.resident)? {
        Some((early, late)) if early + GROWTH < late => {
            Err(Stop::Fail(message!("soak.memory", before = early >> 20, now = late >> 20)))
        }
        _ => Ok(()),
    }
}

fn threads(bench: &Bench<'_>) -> Outcome {
    match grows(bench, |usage| usage.threads + usage.files)? {
        Some((early, late)) => Err(Stop::Fail(message!("soak.threads", early, late))),
        None => Ok(()),
    }
}
