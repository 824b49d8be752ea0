//! Starting, greeting, getting ready.

use readyok_protocol::{NoteKind, Reply, Rule, Status};

use super::clause;
use crate::bench::{Bench, greet};
use crate::check::{Check, Heard, Outcome, Profile, Severity, Stop, Test};
use crate::conversation::Conversation;
use crate::message::said;
use crate::talk::Blame;
use crate::words;

/// How fast an engine is that has nothing to load before it greets.
const QUICK: std::time::Duration = std::time::Duration::from_secs(1);

/// So many `isready`s at once.
const PINGS: usize = 8;

pub(super) const CHECKS: &[Check] = &[
    check!(
        "handshake.waits",
        "an engine that was started says nothing of the protocol before it is greeted",
        [
            "UCI 2006, general rules and uci" => "the engine waits for `uci` and tells who it is after it",
            "USI draft 1 §5.1" => "the engine waits for commands",
        ],
        Must,
        Profile::ALL,
        &[],
        "print nothing but a banner before `uci` or `usi` is read",
        Test::Ask(waits),
    ),
    check!(
        "handshake.name",
        "the engine tells its name once, before the end of the greeting",
        [
            "UCI 2006, id name" => "it must be sent after `uci`",
            "USI draft 1 §5.3, id" => "it must be sent after `usi`",
        ],
        Must,
        Profile::ALL,
        &[],
        "answer the greeting with one line `id name <name and version>`",
        Test::Ask(name),
    ),
    check!(
        "handshake.author",
        "the engine tells who wrote it",
        [
            "UCI 2006, id author" => "it must be sent after `uci`",
            "USI draft 1 §5.3, id" => "it must be sent after `usi`",
        ],
        Must,
        Profile::ALL,
        &[],
        "answer the greeting with one line `id author <names>`",
        Test::Ask(author),
    ),
    check!(
        "handshake.late-declaration",
        Rule::LateDeclaration.text(),
        [Rule::LateDeclaration.clause() => Rule::LateDeclaration.text()],
        Must,
        Profile::ALL,
        &[],
        "send all `id` and `option` lines before `uciok` or `usiok`",
        Test::Order(Rule::LateDeclaration),
    ),
    check!(
        "handshake.ok-once",
        Rule::HelloOkWithoutHello.text(),
        [Rule::HelloOkWithoutHello.clause() => Rule::HelloOkWithoutHello.text()],
        Must,
        Profile::ALL,
        &[],
        "say `uciok` or `usiok` once for each greeting",
        Test::Order(Rule::HelloOkWithoutHello),
    ),
    check!(
        "handshake.early-status",
        Rule::EarlyStatus.text(),
        [Rule::EarlyStatus.clause() => Rule::EarlyStatus.text()],
        Must,
        Profile::OLDER,
        &[],
        "tell about copy protection and registration after `uciok` or `usiok`",
        Test::Order(Rule::EarlyStatus),
    ),
    check!(
        "handshake.quick",
        "the greeting takes less than a second; heavy work waits for `isready`",
        [
            "UCI 2006, general rules" => "the engine should boot quickly and set itself up at the first `isready` or `setoption`",
            "USI as deployed" => "GUIs give up on an engine that does not answer `usi` in some seconds",
        ],
        Should,
        Profile::ALL,
        &[],
        "load networks, books and tables when `isready` comes, not before `uciok` or `usiok`",
        Test::Ask(quick),
    ),
    check!(
        "handshake.second-hello",
        "a second `uci` or `usi` does no harm",
        ["practice" => "GUIs that lost track of an engine greet it again"],
        May,
        Profile::ALL,
        &[],
        "answer another greeting as the first one, or ignore it",
        Test::Ask(second_hello),
    ),
    check!(
        "handshake.ready",
        "`isready` is answered with one `readyok`",
        [
            "UCI 2006, isready" => "it must always be answered with `readyok`",
            "USI draft 1 §5.3, isready" => "`readyok` is said when the engine is ready",
        ],
        Must,
        Profile::ALL,
        &[],
        "answer each `isready` with one `readyok` when all before it is done",
        Test::Ask(ready),
    ),
    check!(
        "handshake.ready-each",
        "several `isready` in a row get as many `readyok`",
        [
            "UCI 2006, isready" => "each is answered",
            "USI draft 1 §5.3, isready" => "each is answered",
        ],
        Must,
        Profile::ALL,
        &[],
        "read all lines that have arrived, not only the first one of a read",
        Test::Ask(ready_each),
    ),
    check!(
        "handshake.ready-once",
        Rule::ReadyOkWithoutIsReady.text(),
        [Rule::ReadyOkWithoutIsReady.clause() => Rule::ReadyOkWithoutIsReady.text()],
        Must,
        Profile::ALL,
        &[],
        "say `readyok` only to answer `isready`",
        Test::Order(Rule::ReadyOkWithoutIsReady),
    ),
    check!(
        "handshake.copy-protection",
        "`copyprotection ok` or `error` follows `copyprotection checking`",
        [
            "UCI 2006, copyprotection" => "the engine tells that it checks, and then whether all is well",
            "USI draft 1 §5.3, copyprotection" => "first that the check goes on, then what came of it",
        ],
        Must,
        Profile::OLDER,
        &[],
        "send `copyprotection checking` first",
        Test::Hear(copy_protection),
    ),
    check!(
        "handshake.registration",
        "`registration ok` or `error` follows `registration checking`",
        [
            "UCI 2006, registration" => "the engine tells that it checks, and then whether it is registered",
            "USI draft 1 §5.3, registration" => "first that the check goes on, then what came of it",
        ],
        Must,
        Profile::OLDER,
        &[],
        "send `registration checking` first",
        Test::Hear(registration),
    ),
    check!(
        "handshake.known-words",
        "every line after the greeting is a message of the protocol; other text is sent as `info string`",
        [
            "UCI 2006, info string" => "any text that is to be displayed is sent so",
            "USI draft 1 §5.3, info string" => "text for the user is sent with it",
        ],
        Should,
        Profile::ALL,
        &[],
        "put `info string` before text for people",
        Test::Hear(known_words),
    ),
    check!(
        "handshake.ascii",
        "all output is 7-bit ASCII",
        [
            "USI draft 1 §2" => "all communication is in 7-bit ASCII; texts in other scripts belong into a translation file",
        ],
        Should,
        &[Profile::UsiDraft1],
        &[],
        "write names and texts in ASCII",
        Test::Hear(ascii),
    ),
    check!(
        "handshake.text",
        "output is valid UTF-8 without control characters",
        [
            "UCI 2006, general rules" => "lines of text, words divided by white space",
            "practice" => "clients read UTF-8, and show lines in windows and terminals",
        ],
        Should,
        Profile::ALL,
        &[],
        "write no other encodings, escape sequences, NULs or byte order marks",
        Test::Hear(text),
    ),
];

fn waits(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.start(true)?;
    let early = talk.listen(bench.pace.quiet());
    // Even what comes late was said before the greeting if it comes before its answer.
    match early.iter().find(|line| !matches!(line.reply, Reply::Unknown(_) | Reply::Info(_))) {
        Some(line) => {
            let line = words::line(&line.reply, bench.dialect);
            Err(Stop::Fail(said!("it said something before it was greeted: `{line}`", line)))
        }
        None => Ok(()),
    }
}

fn name(bench: &Bench<'_>) -> Outcome {
    match bench.facts.names.as_slice() {
        [name] if !name.trim().is_empty() => Ok(()),
        [] | [_] => {
            shown(bench)?;
            Err(Stop::Fail(said!("there was no `id name`")))
        }
        names => {
            shown(bench)?;
            Err(Stop::Fail(said!("there were {count} lines `id name`", count = names.len())))
        }
    }
}

fn author(bench: &Bench<'_>) -> Outcome {
    if bench.facts.authors.iter().any(|author| !author.trim().is_empty()) {
        return Ok(());
    }
    shown(bench)?;
    Err(Stop::Fail(said!("there was no `id author`")))
}

/// Has the greeting again, for the report.
fn shown(bench: &Bench<'_>) -> Outcome {
    bench.greeted().map(drop)
}

fn quick(bench: &Bench<'_>) -> Outcome {
    // What is in memory by now is not read from a slow disk.
    let mut talk = bench.start(true)?;
    let facts = greet(&mut talk, bench.dialect)?;
    let took = facts.greeting.min(bench.facts.greeting);
    bench.remark(format!("the greeting took {:.0} ms", took.as_secs_f64() * 1000.0));
    if QUICK.mul_f64(bench.pace.scale()) < took {
        return Err(Stop::Fail(said!(
            "it took {seconds} s",
            seconds = format!("{:.1}", took.as_secs_f64())
        )));
    }
    Ok(())
}

fn second_hello(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.provoked()?;
    talk.say(bench.dialect.hello());
    talk.until_ready().or_fail(said!("after a second greeting `isready` was not answered"))?;
    let probe = super::probe::of(bench.game());
    let position = bench.position(probe.middle[0]);
    talk.search(&position, "go depth 1")
        .or_fail(said!("after a second greeting there was no `bestmove`"))?;
    Ok(())
}

fn ready(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.greeted()?;
    talk.ready().or_fail(said!("the first `isready` was not answered"))?;
    let probe = super::probe::of(bench.game());
    let position = bench.position(probe.middle[0]);
    talk.search(&position, "go depth 1")?;
    talk.until_ready().or_fail(said!("`isready` after a search was not answered"))?;
    Ok(())
}

fn ready_each(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    talk.write("isready\n".repeat(PINGS).as_bytes());
    for number in 1..=PINGS {
        let limit = bench.pace.answer();
        talk.hear(limit, |line| (line.reply == Reply::ReadyOk).then_some(())).or_fail(said!(
            "there was no `readyok` number {number} of {count}",
            number,
            count = PINGS
        ))?;
    }
    Ok(())
}

/// Each result of a check follows the word that it goes on.
fn statuses(talk: &Conversation, of: impl Fn(&Reply<'_>) -> Option<Status>) -> Heard {
    let mut seen = 0;
    let mut checking = false;
    for (at, _, reply) in talk.replies() {
        let Some(status) = of(&reply) else { continue };
        seen += 1;
        match status {
            Status::Checking => checking = true,
            Status::Ok | Status::Error if checking => checking = false,
            Status::Ok | Status::Error => {
                return Err((at, said!("nothing told before that there is a check")));
            }
        }
    }
    Ok(seen)
}

fn copy_protection(talk: &Conversation) -> Heard {
    statuses(talk, |reply| match reply {
        Reply::CopyProtection(status) => Some(*status),
        _ => None,
    })
}

fn registration(talk: &Conversation) -> Heard {
    statuses(talk, |reply| match reply {
        Reply::Registration(status) => Some(*status),
        _ => None,
    })
}

fn known_words(talk: &Conversation) -> Heard {
    let mut seen = 0;
    // A banner may come late, as the client says hello at once.
    let greeted = talk.replies().find(|(_, _, reply)| *reply == Reply::HelloOk).map(|(at, ..)| at);
    for (at, _, reply) in talk.replies().filter(|(at, ..)| greeted.is_some_and(|first| first < *at))
    {
        seen += 1;
        if let Reply::Unknown(text) = &reply
            && !text.is_empty()
        {
            return Err((
                at,
                said!("`{text}` is no message of the protocol", text = words::start(text)),
            ));
        }
    }
    Ok(seen)
}

fn ascii(talk: &Conversation) -> Heard {
    let mut seen = 0;
    for (at, entry, _) in talk.replies() {
        seen += 1;
        if !entry.text.is_ascii() {
            return Err((at, said!("this line is not in ASCII")));
        }
    }
    Ok(seen)
}

fn text(talk: &Conversation) -> Heard {
    let mut seen = 0;
    for (at, entry, _) in talk.replies() {
        seen += 1;
        let bad = [NoteKind::ControlCharacter, NoteKind::InvalidUtf8];
        if let Some(note) = entry.notes.iter().find(|note| bad.contains(note)) {
            return Err((at, said!("{note} in a line", note)));
        }
    }
    Ok(seen)
}
