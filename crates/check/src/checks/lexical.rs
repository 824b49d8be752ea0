//! How lines are taken apart, and what an engine does with those that it does not know.

use std::fmt::Write as _;

use readyok_protocol::{Reply, Rule};

use super::{clause, probe};
use crate::bench::Bench;
use crate::check::{Check, Outcome, Profile, Severity, Stop, Test};
use crate::talk::{Blame, Talk};

/// Plies of a game that makes a long line.
const LONG: usize = 400;

macro_rules! lexical {
    ($id:literal, $rule:literal, $uci:literal, $usi:literal, $severity:ident, $advice:literal, $run:ident) => {
        Check {
            id: concat!("lexical.", $id),
            rule: $rule,
            clauses: &[clause("UCI 2006, general rules", $uci), clause("USI draft 1 §5.1", $usi)],
            severity: Severity::$severity,
            profiles: Profile::ALL,
            needs: &[],
            advice: $advice,
            test: Test::Ask($run),
        }
    };
}

pub(super) const CHECKS: &[Check] = &[
    lexical!(
        "spaces",
        "spaces may stand before, after and repeatedly between words",
        "arbitrary white space between words is allowed",
        "the same",
        Must,
        "split lines at runs of white space and ignore empty words",
        spaces
    ),
    lexical!(
        "tabs",
        "tabs divide words as spaces do",
        "white space is spaces and tabs",
        "the same",
        Must,
        "split lines at any white space, not only at spaces",
        tabs
    ),
    lexical!(
        "crlf",
        "lines may end with carriage return and line feed",
        "the line end is that of the system, `0x0d`, `0x0a` or both",
        "the same",
        Must,
        "take a carriage return for white space",
        crlf
    ),
    lexical!(
        "empty-lines",
        "empty lines are ignored",
        "what is not known is ignored",
        "the same",
        Should,
        "skip a line without words",
        empty_lines
    ),
    lexical!(
        "unknown-command",
        "an unknown command is ignored, and the next one is obeyed",
        "an unknown command is ignored",
        "the same",
        Must,
        "ignore lines that start with no known word",
        unknown_command
    ),
    lexical!(
        "unknown-first-word",
        "an unknown word before a command is skipped",
        "the engine tries to read the rest of the line: `joho debug on` means `debug on`",
        "the same",
        May,
        "skip words until one is a command",
        unknown_first_word
    ),
    lexical!(
        "unknown-word-in-go",
        "an unknown word in `go` is skipped",
        "an unknown word is ignored, and the rest of the line is read",
        "the same",
        Should,
        "skip words of `go` that are not known",
        unknown_word_in_go
    ),
    lexical!(
        "idle-stop",
        "`stop` without a search is ignored",
        "a command that comes when it is not supposed to is ignored",
        "the same",
        Must,
        "answer `stop` only while there is a search",
        idle_stop
    ),
    lexical!(
        "idle-ponderhit",
        "`ponderhit` without a search is ignored",
        "a command that comes when it is not supposed to is ignored",
        "the same",
        Must,
        "obey `ponderhit` only in `go ponder`",
        idle_ponderhit
    ),
    lexical!(
        "long-line",
        "a line with the moves of a long game is read as a whole",
        "no line has a largest length",
        "the same",
        Must,
        "read lines of any length",
        long_line
    ),
    Check {
        id: "lexical.last-line",
        rule: "a last line without line end is read when the input ends",
        clauses: &[clause(
            "practice",
            "scripts pipe commands into engines, the last one often without line end",
        )],
        severity: Severity::May,
        profiles: Profile::ALL,
        needs: &[],
        advice: "treat the end of input as the end of a line",
        test: Test::Ask(last_line),
    },
    Check {
        id: "lexical.idle-info",
        rule: Rule::InfoWithoutSearch.text(),
        clauses: &[clause(Rule::InfoWithoutSearch.clause(), Rule::InfoWithoutSearch.text())],
        severity: Severity::Should,
        profiles: Profile::ALL,
        needs: &[],
        advice: "send what a search has found before its `bestmove`",
        test: Test::Order(Rule::InfoWithoutSearch),
    },
];

/// Searches with a line for the position and one for `go`, each in an unusual form.
fn plays(bench: &Bench<'_>, form: impl Fn(&str) -> String, what: &str) -> Outcome {
    let mut talk = bench.ready()?;
    let opening = probe::of(bench.game()).opening;
    talk.write(form("isready").as_bytes());
    let limit = bench.pace.answer();
    talk.hear(limit, |line| (line.reply == Reply::ReadyOk).then_some(()))
        .or_fail(&format!("`isready` {what} was not answered"))?;
    talk.write(form(&format!("position startpos moves {opening}")).as_bytes());
    talk.write(form("go depth 2").as_bytes());
    let found = talk.best(limit).or_fail(&format!("`go depth 2` {what} was not answered"))?;
    let position = readyok_rules::Position::start(bench.game()).after(opening.split(' '));
    if let (Ok(position), readyok_protocol::Best::Move(mv)) = (position, &found.best.best)
        && position.parse_move(mv.as_str()).is_err()
    {
        return Err(Stop::fail(format!("`position` {what} was misread: `{mv}` is no move there")));
    }
    Ok(())
}

fn spaces(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("  {}   \n", line.replace(' ', "   ")), "with more spaces")
}

fn tabs(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("\t{}\t\n", line.replace(' ', "\t")), "with tabs")
}

fn crlf(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("{line}\r\n"), "with a carriage return")
}

fn empty_lines(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("\n\n   \n{line}\n"), "after empty lines")
}

fn unknown_command(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("xyzzy\nsetup board 7\n{line}\n"), "after an unknown command")
}

fn unknown_first_word(bench: &Bench<'_>) -> Outcome {
    plays(bench, |line| format!("joho {line}\n"), "after an unknown word")
}

fn unknown_word_in_go(bench: &Bench<'_>) -> Outcome {
    let form = |line: &str| format!("{}\n", line.replace("go ", "go joho "));
    plays(bench, form, "with an unknown word")
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
    ignored_now(&mut talk, command, "before the first search")?;
    let position = bench.position(probe::of(bench.game()).middle[0]);
    talk.search(&position, "go depth 1")?;
    ignored_now(&mut talk, command, "after a search")
}

fn ignored_now(talk: &mut Talk, command: &str, when: &str) -> Outcome {
    talk.say(command);
    let said = talk
        .until_ready()
        .or_fail(&format!("after `{command}` {when} `isready` was not answered"))?;
    let late = talk.listen(talk.pace().quiet());
    let answer = said.iter().chain(&late).find(|line| matches!(line.reply, Reply::BestMove(_)));
    match answer {
        Some(_) => Err(Stop::fail(format!("`{command}` {when} was answered with `bestmove`"))),
        None => Ok(()),
    }
}

fn long_line(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.ready()?;
    let (position, reached) = bench.random_game(LONG);
    let found = talk.search(&position, "go depth 1").or_fail(&format!(
        "a `position` of {} bytes was not followed by `bestmove`",
        position.len()
    ))?;
    let mut remark = String::new();
    // Writing into a `String` cannot fail.
    let _ = write!(remark, "a line of {} bytes was read", position.len());
    bench.remark(remark);
    match &found.best.best {
        readyok_protocol::Best::Move(mv) if reached.parse_move(mv.as_str()).is_err() => {
            Err(Stop::fail(format!(
                "after a `position` of {} bytes `{mv}` is no legal move",
                position.len()
            )))
        }
        _ => Ok(()),
    }
}

fn last_line(bench: &Bench<'_>) -> Outcome {
    let mut talk = bench.start(true)?;
    talk.write(bench.dialect.hello().as_bytes());
    talk.close_input();
    talk.hear(bench.pace.answer(), |line| (line.reply == Reply::HelloOk).then_some(()))
        .or_fail("a greeting without line end was not answered")
}
