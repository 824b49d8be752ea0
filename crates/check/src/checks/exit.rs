//! Exit of the engine.

use super::{clause, test_positions};
use crate::context::{Test, TestCase, TestContext};
use crate::message::{Message, message};
use crate::result::{Stop, TestResult};
use crate::session::{EngineSession, OrFail};
use crate::spec::{Clause, Need, Profile, Severity};

const QUIT: &[Clause] = &[
    clause("UCI 2006, quit", "quit the program as soon as possible"),
    clause("USI draft 1 §5.3, quit", "the engine must exit immediately"),
];

const EOF: &[Clause] = &[clause(
    "practice",
    "a crashed client only closes the input; an engine that continues becomes an orphan",
)];

/// Maximum number of requests before the engine sends a line.
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
            Test::Interactive($run)
        )
    };
}

pub(super) const CHECKS: &[TestCase] = &[
    exit!(
        "quit.after-handshake",
        "the engine exits on `quit` after the handshake",
        QUIT,
        Must,
        &[],
        "obey `quit` before `isready`",
        quit_after_handshake
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

fn leaves(context: &TestContext<'_>, mut session: EngineSession, what: Message) -> TestResult {
    session.ended(context.timeouts.answer()).or_fail(message!("exit.timeout", what))?;
    Ok(())
}

fn begin(context: &TestContext<'_>, go: &str) -> Result<EngineSession, Stop> {
    let mut session = context.ready()?;
    session.send(&context.position(test_positions::of(context.game()).middle[0]));
    session.send(go);
    session.listen(context.timeouts.quiet() / 4);
    Ok(session)
}

fn quit_after_handshake(context: &TestContext<'_>) -> TestResult {
    let mut session = context.after_handshake()?;
    session.send("quit");
    leaves(context, session, message!("exit.quit"))
}

fn quit_idle(context: &TestContext<'_>) -> TestResult {
    let mut session = begin(context, "go depth 1")?;
    if session.is_searching() {
        session.best(context.timeouts.answer())?;
    }
    session.send("quit");
    leaves(context, session, message!("exit.quit-after-search"))
}

fn quit_searching(context: &TestContext<'_>) -> TestResult {
    let mut session = begin(context, "go infinite")?;
    session.send("quit");
    leaves(context, session, message!("exit.quit-in-search"))
}

fn quit_pondering(context: &TestContext<'_>) -> TestResult {
    let mut session = begin(context, "go ponder wtime 60000 btime 60000")?;
    session.send("quit");
    leaves(context, session, message!("exit.quit-pondering"))
}

fn status(context: &TestContext<'_>) -> TestResult {
    for go in ["go depth 1", "go infinite"] {
        let mut session = begin(context, go)?;
        session.send("quit");
        let status = session.ended(context.timeouts.answer())?;
        if let Some(status) = status.filter(|it| !it.success()) {
            return Err(Stop::Fail(message!("exit.status", go, status)));
        }
    }
    Ok(())
}

fn eof_idle(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.close_input();
    leaves(context, session, message!("exit.eof"))
}

fn eof_searching(context: &TestContext<'_>) -> TestResult {
    let mut session = begin(context, "go infinite")?;
    session.close_input();
    leaves(context, session, message!("exit.eof-in-search"))
}

fn quit_loading(context: &TestContext<'_>) -> TestResult {
    let mut session = context.after_handshake()?;
    session.write(b"isready\nquit\n");
    leaves(context, session, message!("exit.quit-loading"))
}

fn closed_output(context: &TestContext<'_>) -> TestResult {
    let mut session = begin(context, "go infinite")?;
    session.close_output();
    // A received line closes the pipe; the next write fails.
    for _ in 0..LINES {
        session.send("isready");
        session.listen(context.timeouts.quiet() / 4);
        if session.is_closed() {
            break;
        }
    }
    for _ in 0..2 {
        session.send("isready");
        session.listen(context.timeouts.quiet() / 4);
    }
    leaves(context, session, message!("exit.closed-output"))
}

fn terminate(context: &TestContext<'_>) -> TestResult {
    let mut session = begin(context, "go infinite")?;
    session.terminate();
    leaves(context, session, message!("exit.terminate"))
}
