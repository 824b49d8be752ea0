//! How lines are taken apart, and what an engine does with those that it does not know.

use std::fmt::Write as _;

use readyok_protocol::{Reply, Rule};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, message};
use crate::talk::{Blame, Talk};

/// Plies of a game that makes a long line.
const LONG: usize = 400;

/// Plies of a game that makes a short one, with moves of every kind.
const SHORT: usize = 60;

macro_rules! lexical {
    ($id:literal, $rule:literal, $uci:literal, $usi:literal, $severity:ident, $advice:literal, $run:ident) => {
        check!(
            concat!("lexical.", $id),
            $rule,
            ["UCI 2006, general rules" => $uci, "USI draft 1 §5.1" => $usi],
            $severity,
            Profile::ALL,
            &[],
            $advice,
            Test::Ask($run)
        )
    };
}

pub(super) const CHECKS: &[Check] = &[
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
        "leading-token",
        "the engine skips an unknown token before a command",
        "the engine tries to read the rest of the line: `joho debug on` means `debug on`",
        "unknown tokens are skipped, and the rest is read",
        May,
        "skip tokens until one is a command",
        unknown_first_word
    ),
    lexical!(
        "unknown-token-in-go",
        "the engine skips an unknown token in `go`",
        "an unknown token is ignored, and the rest of the line is read",
        "unknown tokens are skipped, and the rest is read",
        Should,
        "skip unknown tokens in `go`",
        unknown_word_in_go
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
        trailing_words
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
        Test::Ask(batch),
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
        Test::Ask(bad_bytes),
    ),
    check!(
        "lexical.last-line",
        "the engine reads an unterminated last line at the end of input",
        ["practice" => "scripts pipe commands into engines, often without a final line terminator"],
        May,
        Profile::ALL,
        &[],
        "treat the end of input as a line terminator",
        Test::Ask(last_line),
    ),
    check!(
        "lexical.idle-info",
        Rule::InfoWithoutSearch.text(),
        [Rule::InfoWithoutSearch.clause() => Rule::InfoWithoutSearch.text()],
        Should,
        Profile::ALL,
        &[],
        "send the results of a search before its `bestmove`",
        Test::Order(Rule::InfoWithoutSearch),
    ),
];

/// Searches with a line for the position and one for `go`, each in an unusual form.
fn plays(bench: &Bench<'_>, form: impl Fn(&str) -> String, what: &Message) -> Outcome {
    let mut talk = bench.ready()?;
    let opening = probe::of(bench.game()).opening;
    talk.write(form("isready").as_bytes());
    let limit = bench.pace.answer();
    talk.hear(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
        .or_fail(message!("lexical.no-readyok", what))?;
    talk.write(form(&format!("position startpos moves {opening}")).as_bytes());
    talk.until_ready().or_fail(message!("lexical.no-readyok-after-position", what))?;
    talk.write(form("go depth 2").as_bytes());
    let found = talk.best(limit).or_fail(message!("lexical.no-bestmove", what))?;
    let position = readyok_rules::Position::start(bench.game()).after(opening.split(' '));
    if let (Ok(position), readyok_protocol::Best::Move(mv)) = (position, &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(message!("lexical.misread", what, mv)));
    }
    Ok(())
}

fn spaces(bench: &Bench<'_>) -> Outcome {
    plays(
        bench,
        |line| format!("  {}   \n", line.replace(' ', "   ")),
        &message!("lexical.extra-spaces"),
    )
}

fn tabs(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("\t{}\t\n", line.replace(' ', "\t")), &message!("lexical.tabs"))
}

fn crlf(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("{line}\r\n"), &message!("lexical.crlf"))
}

fn empty_lines(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("\n\n   \n{line}\n"), &message!("lexical.empty-lines"))
}

fn unknown_command(bench: &Bench<'_>) -> Outcome {
    plays(
        bench,
        |line| format!("xyzzy\nsetup board 7\n{line}\n"),
        &message!("lexical.unknown-command"),
    )
}

fn unknown_first_word(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("joho {line}\n"), &message!("lexical.leading-token"))
}

fn unknown_word_in_go(bench: &Bench<'_>) -> Outcome {
    let form = |line: &str| format!("{}\n", line.replace("go ", "go joho "));
    plays(bench, form, &message!("lexical.unknown-token"))
}

fn idle_stop(bench: &Bench<'_>) -> Outcome {
    ignored(bench, "stop")
}

fn idle_ponderhit(bench: &Bench<'_>) -> Outcome {
    // Our own dialogue is against it, as every client's is.
    ignored(bench, "ponderhit")
}

fn ignored(bench: &Bench<'_>, command: &str) -> Outcome {
    let mut talk = bench.provoked()?;
    ignored_now(&mut talk, command, &message!("when.before-search"))?;
    let position = bench.position(probe::of(bench.game()).middle[0]);
    talk.search(&position, "go depth 1")?;
    ignored_now(&mut talk, command, &message!("when.after-search"))
}

fn ignored_now(talk: &mut Talk, command: &str, when: &Message) -> Outcome {
    talk.say(command);
    let said = talk.until_ready().or_fail(message!("idle.no-readyok", command, when))?;
    let late = talk.listen(talk.pace().quiet());
    let answer = said.iter().chain(&late).find(|line| matches!(line.reply, Reply::BestMove(_)));
    match answer {
        Some(_) => Err(Stop::Fail(message!("idle.bestmove", command, when))),
        None => Ok(()),
    }
}

fn long_line(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let (position, reached) = bench.random_game(LONG);
    // What it does not do with a short line of this kind has nothing to do with the length.
    let (short, in_short) = bench.random_game(SHORT);
    let read = bench.aside()?.search(&short, "go depth 1")?;
    if let readyok_protocol::Best::Move(mv) = &read.best.best
        && in_short.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Inconclusive(message!("long-line.short-illegal", mv)));
    }
    let found = talk
        .search(&position, "go depth 1")
        .or_fail(message!("long-line.no-bestmove", bytes = position.len()))?;
    let mut remark = String::new();
    // Writing into a `String` cannot fail.
    let _ = write!(remark, "a line of {} bytes was read", position.len());
    bench.remark(remark);
    match &found.best.best {
        readyok_protocol::Best::Move(mv) if reached.parse_move(mv.as_str()).is_err() => {
            Err(Stop::Fail(message!("long-line.illegal", bytes = position.len(), mv)))
        }
        _ => Ok(()),
    }
}

fn trailing_words(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say("isready joho");
    let limit = bench.pace.answer();
    talk.hear(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
        .or_fail(message!("trailing.no-readyok"))?;
    talk.say(&bench.position(probe::of(bench.game()).middle[0]));
    talk.say("go infinite");
    talk.say("stop joho");
    talk.best(limit).or_fail(message!("trailing.not-stopped"))?;
    Ok(())
}

fn pieces(bench: &Bench<'_>) -> Outcome {
    // That an answer is for another position is for this check alone to judge.
    let mut talk = bench.provoked()?;
    let text = probe::of(bench.game()).middle[1];
    let line = bench.position(text);
    let (head, tail) = line.split_at(line.len() / 2);
    // With the answer to what stands before it in the same write, the beginning of a line is read, too.
    for piece in [format!("isready\n{head}"), format!("{tail}\nisready\ngo dep")] {
        talk.write(piece.as_bytes());
        let limit = bench.pace.answer();
        talk.hear(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
            .or_fail(message!("fragments.no-readyok"))?;
    }
    talk.write(b"th 2\n");
    let found = talk.best(bench.pace.answer()).or_fail(message!("fragments.no-bestmove"))?;
    let position = readyok_rules::Position::from_text(bench.game(), text);
    if let (Ok(position), readyok_protocol::Best::Move(mv)) = (position, &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(message!("fragments.misread", mv)));
    }
    Ok(())
}

fn lone_cr(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("{line}\r"), &message!("lexical.lone-cr"))
}

fn batch(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.start(false)?;
    let (hello, new_game) = (bench.dialect.handshake(), bench.dialect.new_game());
    let position = bench.position(probe::of(bench.game()).middle[0]);
    talk.write(format!("{hello}\nisready\n{new_game}\n{position}\ngo depth 2\n").as_bytes());
    talk.hear(bench.pace.start(), |line| (line.reply == Reply::UciOk).then_some(()))
        .or_fail(message!("batch.no-handshake"))?;
    // It was ready before, so that its time for `isready` is known.
    talk.best(bench.pace.answer() * 2).or_fail(message!("batch.no-bestmove"))?;
    Ok(())
}

fn bad_bytes(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    for bytes in [&b"\xff\xfe\x80 joho\n"[..], b"\0\0\0\n", b"\x1b[2J\x07\n"] {
        talk.write(bytes);
        talk.until_ready().or_fail(message!("bytes.no-readyok"))?;
    }
    talk.search(&bench.position(probe::of(bench.game()).middle[0]), "go depth 1")
        .or_fail(message!("bytes.no-bestmove"))?;
    Ok(())
}

fn last_line(bench: &Bench<'_>) -> Outcome {
    let last = |mut talk: Talk, line: &str| {
        talk.write(line.as_bytes());
        talk.close_input();
        talk.hear(bench.pace.answer(), |line| (line.reply == Reply::ReadyOk).then_some(()))
    };
    let Err(lost) = last(bench.ready()?, "isready") else { return Ok(()) };
    // An engine may end at the end of its input, whatever stands before it.
    last(bench.aside()?, "isready\n")?;
    Err(lost.blame(message!("last-line.no-readyok")))
}
