//! How an engine leaves.

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Clause, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, said};
use crate::talk::{Blame, Talk};

const QUIT: &[Clause] = &[
    clause("UCI 2006, quit", "quit the program as soon as possible"),
    clause("USI draft 1 §5.3, quit", "the engine is to end at once"),
];

const EOF: &[Clause] = &[clause(
    "practice",
    "when a client dies the input ends and nothing else is said; engines that go on are found days later",
)];

/// So many lines are asked for until one is heard.
const LINES: usize = 20;

macro_rules! ending {
    ($id:literal, $rule:literal, $clauses:expr, $severity:ident, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            concat!("ending.", $id),
            $rule,
            ($clauses),
            $severity,
            Profile::ALL,
            $needs,
            $advice,
            Test::Ask($run)
        )
    };
}

pub(super) const CHECKS: &[Check] = &[
    ending!(
        "quit.greeted",
        "`quit` directly after the greeting ends the engine",
        QUIT,
        Must,
        &[],
        "obey `quit` before `isready`, too",
        quit_greeted
    ),
    ending!(
        "quit.idle",
        "`quit` after a search ends the engine",
        QUIT,
        Must,
        &[],
        "leave the main loop at `quit`",
        quit_idle
    ),
    ending!(
        "quit.searching",
        "`quit` during a search ends the engine",
        QUIT,
        Must,
        &[],
        "stop the search at `quit`, and do not wait for its end",
        quit_searching
    ),
    ending!(
        "quit.pondering",
        "`quit` while pondering ends the engine",
        QUIT,
        Must,
        &[],
        "stop the search at `quit`, also while pondering",
        quit_pondering
    ),
    ending!(
        "status",
        "after `quit` the exit status is 0",
        QUIT,
        Should,
        &[Need::Process],
        "return 0 from `main` after `quit`, and end threads before what they use",
        status
    ),
    ending!(
        "eof.idle",
        "the end of the input ends the engine",
        EOF,
        Should,
        &[],
        "treat the end of the input as `quit`",
        eof_idle
    ),
    ending!(
        "eof.searching",
        "the end of the input ends the engine, even during a search",
        EOF,
        Should,
        &[],
        "treat the end of the input as `quit`",
        eof_searching
    ),
    ending!(
        "quit.loading",
        "`isready` and `quit` in one write end the engine",
        QUIT,
        Must,
        &[],
        "obey `quit` when loading is done, or while it goes on",
        quit_loading
    ),
    ending!(
        "closed-output",
        "the engine ends when nobody can hear it any more",
        EOF,
        May,
        &[Need::Process],
        "treat a failed write as the end of the input",
        closed_output
    ),
    ending!(
        "terminate",
        "the engine ends when the system asks it to",
        EOF,
        May,
        &[Need::Process],
        "leave SIGTERM to the system",
        terminate
    ),
];

fn leaves(bench: &Bench<'_>, mut talk: Talk, what: Message) -> Outcome {
    talk.ended(bench.pace.answer()).or_fail(said!("{what} did not end it", what))?;
    Ok(())
}

fn begin(bench: &Bench<'_>, go: &str) -> Result<Talk, Stop> {
    let mut talk = bench.ready()?;
    talk.say(&bench.position(probe::of(bench.game()).middle[0]));
    talk.say(go);
    talk.listen(bench.pace.quiet() / 4);
    Ok(talk)
}

fn quit_greeted(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.greeted()?;
    talk.say("quit");
    leaves(bench, talk, said!("`quit`"))
}

fn quit_idle(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go depth 1")?;
    if talk.is_searching() {
        talk.best(bench.pace.answer())?;
    }
    talk.say("quit");
    leaves(bench, talk, said!("`quit` after a search"))
}

fn quit_searching(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go infinite")?;
    talk.say("quit");
    leaves(bench, talk, said!("`quit` during a search"))
}

fn quit_pondering(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go ponder wtime 60000 btime 60000")?;
    talk.say("quit");
    leaves(bench, talk, said!("`quit` while pondering"))
}

fn status(bench: &Bench<'_>) -> Outcome {
    for go in ["go depth 1", "go infinite"] {
        let mut talk = begin(bench, go)?;
        talk.say("quit");
        let status = talk.ended(bench.pace.answer())?;
        if let Some(status) = status.filter(|it| !it.success()) {
            return Err(Stop::Fail(said!(
                "after `{go}` and `quit` it ended with {status}",
                go,
                status
            )));
        }
    }
    Ok(())
}

fn eof_idle(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.close_input();
    leaves(bench, talk, said!("the end of its input"))
}

fn eof_searching(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go infinite")?;
    talk.close_input();
    leaves(bench, talk, said!("the end of its input during a search"))
}

fn quit_loading(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.greeted()?;
    talk.write(b"isready\nquit\n");
    leaves(bench, talk, said!("`isready` and `quit`"))
}

fn closed_output(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go infinite")?;
    talk.close_output();
    // A line that is heard closes the pipe, and the next one meets it closed.
    for _ in 0..LINES {
        talk.say("isready");
        talk.listen(bench.pace.quiet() / 4);
        if talk.is_closed() {
            break;
        }
    }
    for _ in 0..2 {
        talk.say("isready");
        talk.listen(bench.pace.quiet() / 4);
    }
    leaves(bench, talk, said!("a closed output"))
}

fn terminate(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go infinite")?;
    talk.terminate();
    leaves(bench, talk, said!("a request of the system to terminate"))
}
