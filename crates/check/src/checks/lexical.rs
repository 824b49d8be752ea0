//! How lines are taken apart, and what an engine does with those that it does not know.

use std::fmt::Write as _;

use readyok_protocol::{Reply, Rule};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Outcome, Profile, Severity, Stop, Test};
use crate::message::{Message, said};
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
        "spaces may stand before, after and repeatedly between words",
        "arbitrary white space between words is allowed",
        "any amount of white space may divide words",
        Must,
        "split lines at runs of white space and ignore empty words",
        spaces
    ),
    lexical!(
        "tabs",
        "tabs divide words as spaces do",
        "white space is spaces and tabs",
        "white space may be tabs",
        Must,
        "split lines at any white space, not only at spaces",
        tabs
    ),
    lexical!(
        "crlf",
        "lines may end with carriage return and line feed",
        "the line end is that of the system, `0x0d`, `0x0a` or both",
        "lines end as is usual on the system",
        Should,
        "take a carriage return for white space",
        crlf
    ),
    lexical!(
        "empty-lines",
        "empty lines are ignored",
        "what is not known is ignored",
        "a line without a command is no command",
        Should,
        "skip a line without words",
        empty_lines
    ),
    lexical!(
        "unknown-command",
        "an unknown command is ignored, and the next one is obeyed",
        "an unknown command is ignored",
        "commands that are not known are ignored",
        Must,
        "ignore lines that start with no known word",
        unknown_command
    ),
    lexical!(
        "unknown-first-word",
        "an unknown word before a command is skipped",
        "the engine tries to read the rest of the line: `joho debug on` means `debug on`",
        "words that are not known are passed over, and the rest is read",
        May,
        "skip words until one is a command",
        unknown_first_word
    ),
    lexical!(
        "unknown-word-in-go",
        "an unknown word in `go` is skipped",
        "an unknown word is ignored, and the rest of the line is read",
        "words that are not known are passed over, and the rest is read",
        Should,
        "skip words of `go` that are not known",
        unknown_word_in_go
    ),
    lexical!(
        "idle-stop",
        "`stop` without a search is ignored",
        "a command that comes when it is not supposed to is ignored",
        "what the engine does not expect now is left aside",
        Must,
        "answer `stop` only while there is a search",
        idle_stop
    ),
    lexical!(
        "idle-ponderhit",
        "`ponderhit` without a search is ignored",
        "a command that comes when it is not supposed to is ignored",
        "what the engine does not expect now is left aside",
        Must,
        "obey `ponderhit` only in `go ponder`",
        idle_ponderhit
    ),
    lexical!(
        "long-line",
        "a line with the moves of a long game is read as a whole",
        "no line has a largest length",
        "a command is one line, however long",
        Must,
        "read lines of any length",
        long_line
    ),
    lexical!(
        "trailing-words",
        "unknown words after a command are skipped",
        "an unknown word is ignored, and the rest of the line is read",
        "words that are not known do not keep the others from being obeyed",
        Should,
        "look at the words that a command has, and not at the whole line",
        trailing_words
    ),
    lexical!(
        "pieces",
        "a line that arrives in pieces is one line",
        "a command ends with a line end, and nowhere else",
        "each command is one line",
        Must,
        "collect bytes until a line end comes; a read may return less than a line",
        pieces
    ),
    lexical!(
        "lone-cr",
        "a carriage return alone ends a line, too",
        "the line end is `0x0a`, `0x0d`, or both, as the system has it",
        "lines end as is usual on the system",
        May,
        "split lines at carriage returns, too, and ignore the empty ones",
        lone_cr
    ),
    check!(
        "lexical.batch",
        "a whole conversation in one write is obeyed, line by line",
        [
            "practice" => "scripts pipe a file of commands into an engine, from the greeting to `go`",
        ],
        Should,
        Profile::ALL,
        &[],
        "throw no input away, whatever the engine is busy with",
        Test::Ask(batch),
    ),
    check!(
        "lexical.bad-bytes",
        "bytes that are no text do no harm",
        [
            "practice" => "paths and names in other encodings reach engines; UCI and USI have unknown words ignored",
        ],
        Should,
        Profile::ALL,
        &[],
        "read bytes, and take what cannot be understood for unknown words",
        Test::Ask(bad_bytes),
    ),
    check!(
        "lexical.last-line",
        "a last line without line end is read when the input ends",
        ["practice" => "scripts pipe commands into engines, the last one often without line end"],
        May,
        Profile::ALL,
        &[],
        "treat the end of input as the end of a line",
        Test::Ask(last_line),
    ),
    check!(
        "lexical.idle-info",
        Rule::InfoWithoutSearch.text(),
        [Rule::InfoWithoutSearch.clause() => Rule::InfoWithoutSearch.text()],
        Should,
        Profile::ALL,
        &[],
        "send what a search has found before its `bestmove`",
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
        .or_fail(said!("`isready` {what} was not answered", what))?;
    talk.write(form(&format!("position startpos moves {opening}")).as_bytes());
    talk.until_ready()
        .or_fail(said!("after `position` {what} `isready` was not answered", what))?;
    talk.write(form("go depth 2").as_bytes());
    let found = talk.best(limit).or_fail(said!("`go depth 2` {what} was not answered", what))?;
    let position = readyok_rules::Position::start(bench.game()).after(opening.split(' '));
    if let (Ok(position), readyok_protocol::Best::Move(mv)) = (position, &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(said!(
            "`position` {what} was misread: `{mv}` is no move there",
            what,
            mv
        )));
    }
    Ok(())
}

fn spaces(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("  {}   \n", line.replace(' ', "   ")), &said!("with more spaces"))
}

fn tabs(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("\t{}\t\n", line.replace(' ', "\t")), &said!("with tabs"))
}

fn crlf(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("{line}\r\n"), &said!("with a carriage return"))
}

fn empty_lines(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("\n\n   \n{line}\n"), &said!("after empty lines"))
}

fn unknown_command(bench: &Bench<'_>) -> Outcome {
    plays(
        bench,
        |line| format!("xyzzy\nsetup board 7\n{line}\n"),
        &said!("after an unknown command"),
    )
}

fn unknown_first_word(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("joho {line}\n"), &said!("after an unknown word"))
}

fn unknown_word_in_go(bench: &Bench<'_>) -> Outcome {
    let form = |line: &str| format!("{}\n", line.replace("go ", "go joho "));
    plays(bench, form, &said!("with an unknown word"))
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
    ignored_now(&mut talk, command, &said!("before the first search"))?;
    let position = bench.position(probe::of(bench.game()).middle[0]);
    talk.search(&position, "go depth 1")?;
    ignored_now(&mut talk, command, &said!("after a search"))
}

fn ignored_now(talk: &mut Talk, command: &str, when: &Message) -> Outcome {
    talk.say(command);
    let said = talk.until_ready().or_fail(said!(
        "after `{command}` {when} `isready` was not answered",
        command,
        when
    ))?;
    let late = talk.listen(talk.pace().quiet());
    let answer = said.iter().chain(&late).find(|line| matches!(line.reply, Reply::BestMove(_)));
    match answer {
        Some(_) => {
            Err(Stop::Fail(said!("`{command}` {when} was answered with `bestmove`", command, when)))
        }
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
        return Err(Stop::Inconclusive(said!("`{mv}` is no legal move after a short line", mv)));
    }
    let found = talk.search(&position, "go depth 1").or_fail(said!(
        "a `position` of {bytes} bytes was not followed by `bestmove`",
        bytes = position.len()
    ))?;
    let mut remark = String::new();
    // Writing into a `String` cannot fail.
    let _ = write!(remark, "a line of {} bytes was read", position.len());
    bench.remark(remark);
    match &found.best.best {
        readyok_protocol::Best::Move(mv) if reached.parse_move(mv.as_str()).is_err() => {
            Err(Stop::Fail(said!(
                "after a `position` of {bytes} bytes `{mv}` is no legal move",
                bytes = position.len(),
                mv
            )))
        }
        _ => Ok(()),
    }
}

fn trailing_words(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say("isready joho");
    let limit = bench.pace.answer();
    talk.hear(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
        .or_fail(said!("`isready joho` was not answered"))?;
    talk.say(&bench.position(probe::of(bench.game()).middle[0]));
    talk.say("go infinite");
    talk.say("stop joho");
    talk.best(limit).or_fail(said!("`stop joho` did not end the search"))?;
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
            .or_fail(said!("`isready` before the beginning of a line was not answered"))?;
    }
    talk.write(b"th 2\n");
    let found = talk
        .best(bench.pace.answer())
        .or_fail(said!("`position` and `go depth 2` in pieces were not answered"))?;
    let position = readyok_rules::Position::from_text(bench.game(), text);
    if let (Ok(position), readyok_protocol::Best::Move(mv)) = (position, &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::Fail(said!(
            "`position` in pieces was misread: `{mv}` is no move there",
            mv
        )));
    }
    Ok(())
}

fn lone_cr(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("{line}\r"), &said!("with a carriage return alone"))
}

fn batch(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.start(false)?;
    let (hello, new_game) = (bench.dialect.hello(), bench.dialect.new_game());
    let position = bench.position(probe::of(bench.game()).middle[0]);
    talk.write(format!("{hello}\nisready\n{new_game}\n{position}\ngo depth 2\n").as_bytes());
    talk.hear(bench.pace.start(), |line| (line.reply == Reply::HelloOk).then_some(()))
        .or_fail(said!("the greeting in one write with more was not answered"))?;
    // It was ready before, so that its time for `isready` is known.
    talk.best(bench.pace.answer() * 2)
        .or_fail(said!("of a conversation in one write `go` was not answered"))?;
    Ok(())
}

fn bad_bytes(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    for bytes in [&b"\xff\xfe\x80 joho\n"[..], b"\0\0\0\n", b"\x1b[2J\x07\n"] {
        talk.write(bytes);
        talk.until_ready()
            .or_fail(said!("after bytes that are no text `isready` was not answered"))?;
    }
    talk.search(&bench.position(probe::of(bench.game()).middle[0]), "go depth 1")
        .or_fail(said!("after bytes that are no text a search was not answered"))?;
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
    Err(lost.blame(said!("`isready` without line end, at the end of the input, was not answered")))
}
