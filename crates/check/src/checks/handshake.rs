//! Startup, handshake, readiness, and exit.

use readyok_protocol::{DiagnosticKind, Party, Reply, Status};

use crate::checks::{assertions, clause};
use crate::context::{Test, TestCase, TestContext, handshake};
use crate::format;
use crate::message::{Message, message};
use crate::session::{EngineSession, OrFail};
use crate::spec::rule;
use crate::spec::{Clause, Need, Observation, Profile, Severity, Stop, TestResult};
use crate::transcript::Transcript;

/// Maximum duration of the handshake.
const QUICK: std::time::Duration = std::time::Duration::from_secs(1);

/// Number of consecutive `isready` commands.
const PINGS: usize = 8;

pub(super) const CHECKS: &[TestCase] = &[
    check!(
        "handshake.waits",
        "the engine sends no protocol message before it receives `uci` or `usi`",
        [
            "UCI 2006, general rules and uci" => "the engine waits for `uci` and identifies itself after it",
            "USI draft 1 §5.1" => "the engine waits for commands",
        ],
        Must,
        Profile::ALL,
        &[],
        "print at most a banner before reading `uci` or `usi`",
        Test::Interactive(waits),
    ),
    check!(
        "handshake.name",
        "the engine sends its name once, before `uciok` or `usiok`",
        [
            "UCI 2006, id name" => "it must be sent after `uci`",
            "USI draft 1 §5.3, id" => "it must be sent after `usi`",
        ],
        Must,
        Profile::ALL,
        &[],
        "reply to `uci` or `usi` with one line `id name <name and version>`",
        Test::Interactive(name),
    ),
    check!(
        "handshake.author",
        "the engine sends its author",
        [
            "UCI 2006, id author" => "it must be sent after `uci`",
            "USI draft 1 §5.3, id" => "it must be sent after `usi`",
        ],
        Must,
        Profile::ALL,
        &[],
        "reply to `uci` or `usi` with one line `id author <names>`",
        Test::Interactive(author),
    ),
    check!(
        "handshake.id-first",
        "`id` comes before `option`",
        [
            "UCI 2006, option" => "options are sent after `uci` and `id`",
            "USI draft 1 §5.3, option" => "options are sent after `usi` and `id`",
        ],
        May,
        Profile::ALL,
        &[],
        "send `id name` and `id author` first",
        Test::Passive(id_first),
    ),
    rule!(
        LateDeclaration,
        Profile::ALL,
        &[],
        "send all `id` and `option` lines before `uciok` or `usiok`",
    ),
    rule!(
        UciOkWithoutUci,
        Profile::ALL,
        &[],
        "send `uciok` or `usiok` once for each `uci` or `usi`",
    ),
    rule!(
        EarlyStatus,
        Profile::OLDER,
        &[],
        "send the copy protection and registration status after `uciok` or `usiok`",
    ),
    check!(
        "handshake.quick",
        "the handshake takes less than a second; expensive initialization waits for `isready`",
        [
            "UCI 2006, general rules" => "the engine should boot quickly and set itself up at the first `isready` or `setoption`",
            "USI as deployed" => "GUIs drop an engine that does not reply to `usi` within seconds",
        ],
        Should,
        Profile::ALL,
        &[],
        "load networks, books and tables at `isready`, not before `uciok` or `usiok`",
        Test::Interactive(quick),
    ),
    check!(
        "handshake.second-uci",
        "the engine tolerates a second `uci` or `usi`",
        ["practice" => "GUIs repeat the handshake when they lose track of an engine"],
        May,
        Profile::ALL,
        &[],
        "repeat the handshake, or ignore the command",
        Test::Interactive(second_uci),
    ),
    check!(
        "handshake.ready",
        "the engine replies to `isready` with one `readyok`",
        [
            "UCI 2006, isready" => "the reply is always `readyok`",
            "USI draft 1 §5.3, isready" => "the engine sends `readyok` when it is ready",
        ],
        Must,
        Profile::ALL,
        &[],
        "send one `readyok` for each `isready`, after processing everything before it",
        Test::Interactive(ready),
    ),
    check!(
        "handshake.ready-each",
        "each of several consecutive `isready` gets a `readyok`",
        [
            "UCI 2006, isready" => "each one gets a reply",
            "USI draft 1 §5.3, isready" => "each one gets a reply",
        ],
        Must,
        Profile::ALL,
        &[],
        "process all lines of a read, not only the first one",
        Test::Interactive(ready_each),
    ),
    rule!(ReadyOkWithoutIsReady, Profile::ALL, &[], "send `readyok` only in reply to `isready`",),
    check!(
        "handshake.copy-protection",
        "`copyprotection ok` or `error` follows `copyprotection checking`",
        [
            "UCI 2006, copyprotection" => "the engine reports the start of the check, then its result",
            "USI draft 1 §5.3, copyprotection" => "first the running check, then its result",
        ],
        Must,
        Profile::OLDER,
        &[],
        "send `copyprotection checking` first",
        Test::Passive(copy_protection),
    ),
    check!(
        "handshake.registration",
        "`registration ok` or `error` follows `registration checking`",
        [
            "UCI 2006, registration" => "the engine reports the start of the check, then whether it is registered",
            "USI draft 1 §5.3, registration" => "first the running check, then its result",
        ],
        Must,
        Profile::OLDER,
        &[],
        "send `registration checking` first",
        Test::Passive(registration),
    ),
    rule!(UnknownLine, Profile::ALL, &[], "prefix free text with `info string`",),
    check!(
        "handshake.ascii",
        "all output is 7-bit ASCII",
        [
            "USI draft 1 §2" => "all communication is 7-bit ASCII; other scripts belong in a translation file",
        ],
        Should,
        &[Profile::UsiDraft1],
        &[],
        "write names and texts in ASCII",
        Test::Passive(ascii),
    ),
    check!(
        "handshake.text",
        "output is valid UTF-8 without control characters",
        [
            "UCI 2006, general rules" => "lines of text, with tokens separated by white space",
            "practice" => "clients read UTF-8, and show lines in windows and terminals",
        ],
        Should,
        Profile::ALL,
        &[],
        "write no other encodings, escape sequences, NULs or byte order marks",
        Test::Passive(text),
    ),
];

fn waits(context: &TestContext<'_>) -> TestResult {
    let mut session = context.start(true)?;
    // An engine may load files before its unprompted output.
    let early = session.listen(context.timeouts.quiet() + context.engine_info.startup * 2);
    if let Some(line) =
        early.iter().find(|line| !matches!(line.reply, Reply::Unknown(_) | Reply::Info(_)))
    {
        let line = format::line(&line.reply, context.dialect);
        return Err(Stop::Fail(message!("handshake.early-output", line)));
    }
    // Unprompted output that arrives later is repeated after `uci`.
    let engine_info = handshake(&mut session, context.dialect)?;
    let late = session.until_ready()?;
    let again = late.iter().any(|line| line.reply == Reply::UciOk);
    if again || 1 < engine_info.names.len() && 1 < engine_info.authors.len() {
        return Err(Stop::Fail(message!("handshake.unprompted")));
    }
    Ok(())
}

fn name(context: &TestContext<'_>) -> TestResult {
    match context.engine_info.names.as_slice() {
        [name] if !name.trim().is_empty() => Ok(()),
        [] | [_] => {
            shown(context)?;
            Err(Stop::Fail(message!("handshake.no-name")))
        }
        names => {
            shown(context)?;
            Err(Stop::Fail(message!("handshake.several-names", count = names.len())))
        }
    }
}

fn author(context: &TestContext<'_>) -> TestResult {
    if context.engine_info.authors.iter().any(|author| !author.trim().is_empty()) {
        return Ok(());
    }
    shown(context)?;
    Err(Stop::Fail(message!("handshake.no-author")))
}

/// Verifies that no option is declared between the command and the identification.
fn id_first(transcript: &Transcript) -> Observation {
    let (mut has_begun, mut option, mut seen) = (false, None, 0);
    for (at, entry) in transcript.entries.iter().enumerate() {
        match Reply::read(&entry.text, transcript.dialect).value {
            _ if entry.side == Party::Client => {
                has_begun |= entry.text.trim() == transcript.dialect.handshake();
            }
            Reply::Option(decl) if has_begun && option.is_none() => option = Some((at, decl.name)),
            Reply::Id(_) if has_begun => {
                if let Some((at, name)) = option {
                    return Err((at, message!("handshake.option-before-id", name = &*name)));
                }
                seen += 1;
            }
            Reply::UciOk => break,
            _ => (),
        }
    }
    Ok(seen)
}

/// Repeats the handshake for the report.
fn shown(context: &TestContext<'_>) -> TestResult {
    context.after_handshake().map(drop)
}

fn quick(context: &TestContext<'_>) -> TestResult {
    // The files are cached by now.
    let mut session = context.start(true)?;
    let engine_info = handshake(&mut session, context.dialect)?;
    let took = engine_info.handshake.min(context.engine_info.handshake);
    context.remark(format!("the handshake took {:.0} ms", took.as_secs_f64() * 1000.0));
    if QUICK.mul_f64(context.timeouts.scale()) < took {
        return Err(Stop::Fail(message!(
            "handshake.duration",
            seconds = format!("{:.1}", took.as_secs_f64())
        )));
    }
    Ok(())
}

fn second_uci(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send(context.dialect.handshake());
    session.until_ready().or_fail(message!("handshake.second-no-readyok"))?;
    let probe = assertions::test_positions(context.game());
    let position = context.position(probe.middle[0]);
    session.search(&position, "go depth 1").or_fail(message!("handshake.second-no-bestmove"))?;
    Ok(())
}

fn ready(context: &TestContext<'_>) -> TestResult {
    let mut session = context.after_handshake()?;
    session.ready().or_fail(message!("ready.first"))?;
    let probe = assertions::test_positions(context.game());
    let position = context.position(probe.middle[0]);
    session.search(&position, "go depth 1")?;
    session.until_ready().or_fail(message!("ready.after-search"))?;
    Ok(())
}

fn ready_each(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    session.write("isready\n".repeat(PINGS).as_bytes());
    for number in 1..=PINGS {
        let limit = context.timeouts.answer();
        session
            .wait_for(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
            .or_fail(message!("ready.missing", number, count = PINGS))?;
    }
    Ok(())
}

/// Verifies that `checking` precedes each result.
fn statuses(transcript: &Transcript, of: impl Fn(&Reply<'_>) -> Option<Status>) -> Observation {
    let mut seen = 0;
    let mut checking = false;
    for (at, _, reply) in transcript.replies() {
        let Some(status) = of(&reply) else { continue };
        seen += 1;
        match status {
            Status::Checking => checking = true,
            Status::Ok | Status::Error if checking => checking = false,
            Status::Ok | Status::Error => {
                return Err((at, message!("status.not-preceded")));
            }
        }
    }
    Ok(seen)
}

fn copy_protection(transcript: &Transcript) -> Observation {
    statuses(transcript, |reply| match reply {
        Reply::CopyProtection(status) => Some(*status),
        _ => None,
    })
}

fn registration(transcript: &Transcript) -> Observation {
    statuses(transcript, |reply| match reply {
        Reply::Registration(status) => Some(*status),
        _ => None,
    })
}

fn ascii(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for (at, entry, _) in transcript.replies() {
        seen += 1;
        if !entry.text.is_ascii() {
            return Err((at, message!("line.not-ascii")));
        }
    }
    Ok(seen)
}

fn text(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for (at, entry, _) in transcript.replies() {
        seen += 1;
        let bad = [DiagnosticKind::ControlCharacter, DiagnosticKind::InvalidUtf8];
        if let Some(note) = entry.notes.iter().find(|note| bad.contains(note)) {
            return Err((at, message!("line.note", note)));
        }
    }
    Ok(seen)
}

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

pub(super) const EXIT_CHECKS: &[TestCase] = &[
    exit!(
        "quit.before-handshake",
        "the engine exits on `quit` before the handshake",
        QUIT,
        Should,
        &[],
        "obey `quit` before `uci` or `usi`",
        quit_before_handshake
    ),
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
        &[Need::Ponder],
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
    session.send(&context.position(assertions::test_positions(context.game()).middle[0]));
    session.send(go);
    session.if_searchable()?;
    session.listen(context.timeouts.quiet() / 4);
    Ok(session)
}

fn quit_before_handshake(context: &TestContext<'_>) -> TestResult {
    let mut session = context.start(false)?;
    session.send("quit");
    leaves(context, session, message!("exit.quit-before-handshake"))
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
        if let Some(status) = status.filter(|status| !status.success()) {
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
    if cfg!(windows) {
        // Without signals, the engine would be killed.
        return Err(Stop::Skip(message!("run.other-system")));
    }
    let mut session = begin(context, "go infinite")?;
    session.terminate();
    leaves(context, session, message!("exit.terminate"))
}
