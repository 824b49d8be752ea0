//! Parsing of lines, and tolerance of unknown ones.

use readyok_protocol::Reply;
use readyok_rules::Position;

use crate::capabilities::Feature;
use crate::checks::{assertions, clause};
use crate::context::{Test, TestCase, TestContext};
use crate::message::{Message, message};
use crate::session::{EngineSession, OrFail, WaitError};
use crate::spec::rule;
use crate::spec::{Observation, Profile, Severity, Stop, TestResult};
use crate::transcript::Transcript;

/// Plies of a long game.
const LONG: usize = 400;

/// Bytes of a very long line.
const VERY_LONG: usize = 10_000;

/// Plies of a short game with moves of every kind.
const SHORT: usize = 60;

macro_rules! lexical {
    ($id:literal, $rule:literal, $uci:literal, $usi:literal, $severity:ident, $advice:literal, $run:ident) => {
        lexical!(@ $id, $rule, $uci, $usi, $severity, $advice, Test::Interactive($run))
    };
    ($id:literal, $rule:literal, $uci:literal, $usi:literal, $severity:ident, $advice:literal, passive $judge:ident) => {
        lexical!(@ $id, $rule, $uci, $usi, $severity, $advice, Test::Passive($judge))
    };
    (@ $id:literal, $rule:literal, $uci:literal, $usi:literal, $severity:ident, $advice:literal, $test:expr) => {
        check!(
            concat!("lexical.", $id),
            $rule,
            ["UCI 2006, general rules" => $uci, "USI draft 1 §5.1" => $usi],
            $severity,
            Profile::ALL,
            &[],
            $advice,
            $test
        )
    };
}

pub(super) const CHECKS: &[TestCase] = &[
    lexical!(
        "spaces",
        "the engine accepts leading, trailing and repeated spaces",
        "arbitrary white space between tokens is allowed",
        "any amount of white space may separate tokens",
        Must,
        "split lines at runs of white space and ignore empty tokens",
        spaces
    ),
    lexical!(
        "tabs",
        "the engine accepts tabs as separators",
        "white space is spaces and tabs",
        "white space includes tabs",
        Must,
        "split lines at any white space, not only at spaces",
        tabs
    ),
    lexical!(
        "crlf",
        "lines may end with CR LF",
        "the line terminator is that of the system: `0x0d`, `0x0a` or both",
        "lines end as usual on the system",
        Should,
        "treat a carriage return as white space",
        crlf
    ),
    lexical!(
        "empty-lines",
        "empty lines are ignored",
        "unknown input is ignored",
        "a line without tokens is not a command",
        Should,
        "skip lines without tokens",
        empty_lines
    ),
    lexical!(
        "unknown-command",
        "the engine ignores an unknown command and obeys the next one",
        "an unknown command is ignored",
        "unknown commands are ignored",
        Must,
        "ignore lines that start with an unknown token",
        unknown_command
    ),
    lexical!(
        "before-handshake",
        "the engine ignores an unknown line before `uci` or `usi`",
        "an unknown command is ignored",
        "unknown commands are ignored",
        Should,
        "ignore unknown lines in every state",
        before_handshake
    ),
    lexical!(
        "leading-token",
        "the engine skips an unknown token before a command",
        "the engine tries to read the rest of the line: `joho debug on` means `debug on`",
        "unknown tokens are skipped, and the rest is read",
        May,
        "skip tokens until one is a command",
        leading_token
    ),
    lexical!(
        "unknown-token-in-go",
        "the engine skips an unknown token in `go`",
        "an unknown token is ignored, and the rest of the line is read",
        "unknown tokens are skipped, and the rest is read",
        Should,
        "skip unknown tokens in `go`",
        unknown_token_in_go
    ),
    lexical!(
        "idle-stop",
        "the engine ignores `stop` when idle",
        "an unexpected command is ignored",
        "an unexpected command is ignored",
        Must,
        "reply to `stop` only during a search",
        idle_stop
    ),
    lexical!(
        "idle-ponderhit",
        "the engine ignores `ponderhit` when idle",
        "an unexpected command is ignored",
        "an unexpected command is ignored",
        Must,
        "obey `ponderhit` only during `go ponder`",
        idle_ponderhit
    ),
    lexical!(
        "long-line",
        "the engine reads a line with the moves of a long game completely",
        "there is no maximum line length",
        "a command is one line of any length",
        Must,
        "read lines of any length",
        long_line
    ),
    lexical!(
        "trailing-tokens",
        "the engine ignores unknown tokens after a command",
        "an unknown token is ignored, and the rest of the line is read",
        "unknown tokens do not affect the others",
        Should,
        "compare tokens, not the whole line",
        trailing_tokens
    ),
    lexical!(
        "fragments",
        "the engine reassembles a line that arrives in fragments",
        "only a line terminator ends a command",
        "each command is one line",
        Must,
        "buffer bytes until the line terminator; a read may return a partial line",
        pieces
    ),
    lexical!(
        "lone-cr",
        "a lone carriage return ends a line",
        "the line terminator is `0x0a`, `0x0d` or both, depending on the system",
        "lines end as usual on the system",
        May,
        "also split lines at carriage returns, and ignore empty lines",
        lone_cr
    ),
    check!(
        "lexical.batch",
        "the engine processes a complete session that arrives in one write",
        [
            "practice" => "scripts pipe a file of commands into an engine, from `uci` to `go`",
        ],
        Should,
        Profile::ALL,
        &[],
        "never discard input",
        Test::Interactive(batch),
    ),
    check!(
        "lexical.undecodable",
        "the reader tolerates undecodable bytes",
        [
            "practice" => "paths and names in other encodings reach engines; unknown tokens are ignored",
        ],
        Should,
        Profile::ALL,
        &[],
        "read bytes, and treat undecodable ones as unknown tokens",
        Test::Interactive(bad_bytes),
    ),
    check!(
        "lexical.last-line",
        "the engine reads an unterminated last line at the end of input",
        ["practice" => "scripts pipe commands into engines, often without a final line terminator"],
        May,
        Profile::ALL,
        &[],
        "treat the end of input as a line terminator",
        Test::Interactive(last_line),
    ),
    rule!(
        InfoWithoutSearch,
        Profile::ALL,
        &[],
        "send the results of a search before its `bestmove`",
    ),
    rule!(
        ReplyForm,
        Profile::ALL,
        &[],
        "send the message alone; other text is sent as `info string`",
    ),
    lexical!(
        "line-feed",
        "each line of the engine ends with a line feed",
        "lines should end with `\\n`",
        "lines end as usual on the system",
        Should,
        "end lines with a line feed, or with CR LF on Windows",
        passive line_feed
    ),
];

fn line_feed(transcript: &Transcript) -> Observation {
    match transcript.lone_return {
        Some(at) => Err((at, message!("line.lone-return"))),
        None => Ok(transcript.replies().count()),
    }
}

/// Runs a search with unusually formatted `position` and `go` lines.
fn plays(context: &TestContext<'_>, form: impl Fn(&str) -> String, what: &Message) -> TestResult {
    let mut session = context.ready()?;
    let opening = assertions::test_positions(context.game()).opening;
    session.write(form("isready").as_bytes());
    let limit = context.timeouts.answer();
    session
        .wait_for(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
        .or_fail(message!("lexical.no-readyok", what))?;
    session.write(form(&format!("position startpos moves {opening}")).as_bytes());
    session.until_ready().or_fail(message!("lexical.no-readyok-after-position", what))?;
    let found = session
        .search_with("go depth 2", |session, go| session.write(form(go).as_bytes()))
        .or_fail(message!("lexical.no-bestmove", what))?;
    let position = Position::start(context.game()).after(opening.split(' '));
    if let (Ok(position), readyok_protocol::Best::Move(mv)) = (position, &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(message!("lexical.misread", what, mv)));
    }
    Ok(())
}

fn spaces(context: &TestContext<'_>) -> TestResult {
    plays(
        context,
        |line| format!("  {}   \n", line.replace(' ', "   ")),
        &message!("lexical.extra-spaces"),
    )
}

fn tabs(context: &TestContext<'_>) -> TestResult {
    plays(context, |line| format!("\t{}\t\n", line.replace(' ', "\t")), &message!("lexical.tabs"))
}

fn crlf(context: &TestContext<'_>) -> TestResult {
    plays(context, |line| format!("{line}\r\n"), &message!("lexical.crlf"))
}

fn empty_lines(context: &TestContext<'_>) -> TestResult {
    plays(context, |line| format!("\n\n   \n{line}\n"), &message!("lexical.empty-lines"))
}

fn unknown_command(context: &TestContext<'_>) -> TestResult {
    plays(
        context,
        |line| format!("xyzzy\nsetup board 7\n{line}\n"),
        &message!("lexical.unknown-command"),
    )
}

fn before_handshake(context: &TestContext<'_>) -> TestResult {
    let mut session = context.start(false)?;
    session.send("joho is unknown");
    crate::context::handshake(&mut session, context.dialect)
        .or_fail(message!("before-handshake.no-reply"))?;
    session.ready().or_fail(message!("before-handshake.no-readyok"))?;
    Ok(())
}

fn leading_token(context: &TestContext<'_>) -> TestResult {
    plays(context, |line| format!("joho {line}\n"), &message!("lexical.leading-token"))
}

fn unknown_token_in_go(context: &TestContext<'_>) -> TestResult {
    let form = |line: &str| format!("{}\n", line.replace("go ", "go joho "));
    plays(context, form, &message!("lexical.unknown-token"))
}

fn idle_stop(context: &TestContext<'_>) -> TestResult {
    ignored(context, "stop")
}

fn idle_ponderhit(context: &TestContext<'_>) -> TestResult {
    // The command violates a rule for clients, so `ignored` uses an unchecked session.
    ignored(context, "ponderhit")
}

fn ignored(context: &TestContext<'_>, command: &str) -> TestResult {
    let mut session = context.ready_unchecked()?;
    ignored_now(&mut session, command, &message!("when.before-search"))?;
    let position = context.position(assertions::test_positions(context.game()).middle[0]);
    session.search(&position, "go depth 1")?;
    ignored_now(&mut session, command, &message!("when.after-search"))?;
    if session.lacks(Feature::Stop) {
        return Ok(());
    }
    let mut goes = vec!["go infinite"];
    let ponders = command == "ponderhit" && context.ponders() && !session.lacks(Feature::Ponder);
    goes.extend(ponders.then_some("go ponder movetime 1"));
    for go in goes {
        ignored_in_next_search(&mut session, &position, command, go)?;
    }
    Ok(())
}

/// Verifies that an ignored command does not end the next search.
fn ignored_in_next_search(
    session: &mut EngineSession,
    position: &str,
    command: &str,
    go: &str,
) -> TestResult {
    let mut continues = |first: Option<&str>| -> Result<bool, Stop> {
        if let Some(first) = first {
            session.send(first);
            session.until_ready()?;
        }
        session.send(position);
        session.send(go);
        if session.ends_by_itself()? {
            return Ok(false);
        }
        session.send("stop");
        let limit = session.timeouts().answer();
        session.best(limit)?;
        Ok(true)
    };
    // Another check covers searches that end too early in any case.
    if continues(Some(command))? || !continues(None)? {
        return Ok(());
    }
    Err(Stop::Fail(message!("idle.ends-search", command, go)))
}

fn ignored_now(session: &mut EngineSession, command: &str, when: &Message) -> TestResult {
    session.send(command);
    let reported = session.until_ready().or_fail(message!("idle.no-readyok", command, when))?;
    let late = session.listen(session.timeouts().quiet());
    let answer = reported.iter().chain(&late).find(|line| matches!(line.reply, Reply::BestMove(_)));
    match answer {
        Some(_) => Err(Stop::Fail(message!("idle.bestmove", command, when))),
        None => Ok(()),
    }
}

fn long_line(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready()?;
    let (position, reached) = context.random_game(LONG);
    // A failure with a short line is independent of the length.
    let (short, in_short) = context.random_game(SHORT);
    let read = context.start_separate()?.search(&short, "go depth 1")?;
    if let readyok_protocol::Best::Move(mv) = &read.best.best
        && in_short.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Inconclusive(message!("long-line.short-illegal", mv)));
    }
    let found = session
        .search(&position, "go depth 1")
        .or_fail(message!("long-line.no-bestmove", bytes = position.len()))?;
    if let readyok_protocol::Best::Move(mv) = &found.best.best
        && reached.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(message!("long-line.illegal", bytes = position.len(), mv)));
    }
    drop(session);
    padded_line(context, &position, &reached)
}

/// A line that is longer only because of its spaces: not every engine stores thousands of moves.
fn padded_line(context: &TestContext<'_>, line: &str, reached: &Position) -> TestResult {
    let padded = |line: &str, width: usize| line.replace(' ', &" ".repeat(width));
    let (short, in_short) = context.random_game(SHORT);
    let mut other = context.start_separate()?;
    other.shorten_timeouts();
    let read = match other.search(&padded(&short, 3), "go depth 1") {
        Err(WaitError::Late(_)) => return Err(Stop::Depends("lexical.spaces")),
        read => read?,
    };
    if let readyok_protocol::Best::Move(mv) = &read.best.best
        && in_short.parse_move(mv.as_str()).is_err()
    {
        // Another check covers repeated spaces.
        return Err(Stop::Depends("lexical.spaces"));
    }
    let width = VERY_LONG.saturating_sub(line.len()) / line.split(' ').count().max(1) + 2;
    let line = padded(line, width);
    let bytes = line.len();
    let mut session = context.ready()?;
    let found =
        session.search(&line, "go depth 1").or_fail(message!("long-line.no-bestmove", bytes))?;
    context.remark(format!("a line of {bytes} bytes was read"));
    match &found.best.best {
        readyok_protocol::Best::Move(mv) if reached.parse_move(mv.as_str()).is_err() => {
            Err(Stop::Fail(message!("long-line.illegal", bytes, mv)))
        }
        _ => Ok(()),
    }
}

fn trailing_tokens(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    session.send("isready joho");
    let limit = context.timeouts.answer();
    session
        .wait_for(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
        .or_fail(message!("trailing.no-readyok"))?;
    session.send(&context.position(assertions::test_positions(context.game()).middle[0]));
    session.send("go infinite");
    session.send("stop joho");
    session.best(limit).or_fail(message!("trailing.not-stopped"))?;
    Ok(())
}

fn pieces(context: &TestContext<'_>) -> TestResult {
    // Excluded from passive checks: only this check covers a reply for another position.
    let mut session = context.ready_unchecked()?;
    let text = assertions::test_positions(context.game()).middle[1];
    let line = context.position(text);
    let (head, tail) = line.split_at(line.len() / 2);
    // The reply to an earlier line of the same write shows that the partial line was read.
    for piece in [format!("isready\n{head}"), format!("{tail}\nisready\ngo dep")] {
        session.write(piece.as_bytes());
        let limit = context.timeouts.answer();
        session
            .wait_for(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
            .or_fail(message!("fragments.no-readyok"))?;
    }
    session.write(b"th 2\n");
    let found =
        session.best(context.timeouts.answer()).or_fail(message!("fragments.no-bestmove"))?;
    let position = Position::from_text(context.game(), text);
    if let (Ok(position), readyok_protocol::Best::Move(mv)) = (position, &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(message!("fragments.misread", mv)));
    }
    Ok(())
}

fn lone_cr(context: &TestContext<'_>) -> TestResult {
    plays(context, |line| format!("{line}\r"), &message!("lexical.lone-cr"))
}

fn batch(context: &TestContext<'_>) -> TestResult {
    let mut session = context.start(false)?;
    let (hello, new_game) = (context.dialect.handshake(), context.dialect.new_game());
    let position = context.position(assertions::test_positions(context.game()).middle[0]);
    // A depth that a slow engine reaches, too.
    session.write(format!("{hello}\nisready\n{new_game}\n{position}\ngo depth 1\n").as_bytes());
    session
        .wait_for(context.timeouts.start(), |line| (line.reply == Reply::UciOk).then_some(()))
        .or_fail(message!("batch.no-handshake"))?;
    // An earlier `isready` has measured the response time.
    session.best(context.timeouts.answer() * 2).or_fail(message!("batch.no-bestmove"))?;
    Ok(())
}

fn bad_bytes(context: &TestContext<'_>) -> TestResult {
    let mut session = context.ready_unchecked()?;
    for bytes in [&b"\xff\xfe\x80 joho\n"[..], b"\0\0\0\n", b"\x1b[2J\x07\n"] {
        session.write(bytes);
        session.until_ready().or_fail(message!("bytes.no-readyok"))?;
    }
    session
        .search(
            &context.position(assertions::test_positions(context.game()).middle[0]),
            "go depth 1",
        )
        .or_fail(message!("bytes.no-bestmove"))?;
    Ok(())
}

fn last_line(context: &TestContext<'_>) -> TestResult {
    let last = |mut session: EngineSession, line: &str| {
        session.write(line.as_bytes());
        session.close_input();
        session.wait_for(context.timeouts.answer(), |line| {
            (line.reply == Reply::ReadyOk).then_some(())
        })
    };
    let Err(failure) = last(context.ready()?, "isready") else { return Ok(()) };
    // An engine may exit at the end of input.
    last(context.start_separate()?, "isready\n")?;
    Err(failure.into_failure(message!("last-line.no-readyok")))
}
