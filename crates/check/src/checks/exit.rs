//! How an engine leaves.

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Clause, Need, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, message};
use crate::talk::{Blame, Talk};

const QUIT: &[Clause] = &[
    clause("UCI 2006, quit", "quit the program as soon as possible"),
    clause("USI draft 1 §5.3, quit", "the engine must exit immediately"),
];

const EOF: &[Clause] = &[clause(
    "practice",
    "a crashed client only closes the input; an engine that continues becomes an orphan",
)];

/// So many lines are asked for until one is heard.
const LINES: usize = 20;

macro_rules! exit {
    ($id:literal, $rule:literal, $clauses:expr, $severity:ident, $needs:expr, $advice:literal, $run:ident) => {
        check!(
            concat!("exit.", $id),
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
    exit!(
        "quit.after-handshake",
        "the engine exits on `quit` after the handshake",
        QUIT,
        Must,
        &[],
        "obey `quit` before `isready`",
        quit_greeted
    ),
    exit!(
        "quit.idle",
        "the engine exits on `quit` after a search",
        QUIT,
        Must,
        &[],
        "exit the main loop on `quit`",
        quit_idle
    ),
    exit!(
        "quit.searching",
        "the engine exits on `quit` during a search",
        QUIT,
        Must,
        &[],
        "abort the search on `quit`",
        quit_searching
    ),
    exit!(
        "quit.pondering",
        "the engine exits on `quit` while pondering",
        QUIT,
        Must,
        &[],
        "abort the search on `quit`, also while pondering",
        quit_pondering
    ),
    exit!(
        "status",
        "the exit status after `quit` is 0",
        QUIT,
        Should,
        &[Need::Process],
        "return 0 from `main`, and join threads before freeing their data",
        status
    ),
    exit!(
        "eof.idle",
        "the engine exits at the end of input",
        EOF,
        Should,
        &[],
        "treat the end of input as `quit`",
        eof_idle
    ),
    exit!(
        "eof.searching",
        "the engine exits at the end of input during a search",
        EOF,
        Should,
        &[],
        "treat the end of input as `quit`",
        eof_searching
    ),
    exit!(
        "quit.loading",
        "the engine exits on `isready` and `quit` in one write",
        QUIT,
        Must,
        &[],
        "obey `quit` during or after loading",
        quit_loading
    ),
    exit!(
        "closed-output",
        "the engine exits when its output is closed",
        EOF,
        May,
        &[Need::Process],
        "treat a failed write as the end of input",
        closed_output
    ),
    exit!(
        "terminate",
        "the engine exits on SIGTERM",
        EOF,
        May,
        &[Need::Process],
        "keep the default action of SIGTERM",
        terminate
    ),
];

fn leaves(bench: &Bench<'_>, mut talk: Talk, what: Message) -> Outcome {
    talk.ended(bench.pace.answer()).or_fail(message!("exit.timeout", what))?;
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
    leaves(bench, talk, message!("exit.quit"))
}

fn quit_idle(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go depth 1")?;
    if talk.is_searching() {
        talk.best(bench.pace.answer())?;
    }
    talk.say("quit");
    leaves(bench, talk, message!("exit.quit-after-search"))
}

fn quit_searching(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go infinite")?;
    talk.say("quit");
    leaves(bench, talk, message!("exit.quit-in-search"))
}

fn quit_pondering(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go ponder wtime 60000 btime 60000")?;
    talk.say("quit");
    leaves(bench, talk, message!("exit.quit-pondering"))
}

fn status(bench: &Bench<'_>) -> Outcome {
    for go in ["go depth 1", "go infinite"] {
        let mut talk = begin(bench, go)?;
        talk.say("quit");
        let status = talk.ended(bench.pace.answer())?;
        if let Some(status) = status.filter(|it| !it.success()) {
            return Err(Stop::Fail(message!("exit.status", go, status)));
        }
    }
    Ok(())
}

fn eof_idle(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.close_input();
    leaves(bench, talk, message!("exit.eof"))
}

fn eof_searching(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go infinite")?;
    talk.close_input();
    leaves(bench, talk, message!("exit.eof-in-search"))
}

fn quit_loading(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.greeted()?;
    talk.write(b"isready\nquit\n");
    leaves(bench, talk, message!("exit.quit-loading"))
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
    leaves(bench, talk, message!("exit.closed-output"))
}

fn terminate(bench: &Bench<'_>) -> Outcome {
    let mut talk = begin(bench, "go infinite")?;
    talk.terminate();
    leaves(bench, talk, message!("exit.terminate"))
}
