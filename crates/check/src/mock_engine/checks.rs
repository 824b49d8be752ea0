//! The checks of clients, by area.

use std::time::Duration;

use super::conduct;
use super::script::{Behavior, Expect, LineFormat, Probe, Trigger};
use crate::context::{Test, TestCase};
use crate::spec::{Check, Clause, Profile, Severity};

const AREAS: [&[TestCase]; 9] =
    [START, OPTIONS, MORE_OPTIONS, STATUS, READY, SEARCH, LINES, QUIT, conduct::CHECKS];

/// All checks with their tests, by area.
pub(super) fn test_cases() -> impl Iterator<Item = &'static TestCase> {
    AREAS.into_iter().flatten()
}

/// A delay that every client should tolerate.
const LATE: Duration = Duration::from_millis(1500);

/// At least the pipe capacity of most systems.
const FLOOD: usize = 1 << 20;

const UNKNOWN_LINES: Clause = Clause {
    source: "UCI 2006, general rules; USI draft 1 §5.1",
    text: "unknown tokens are ignored, and the rest of the line is read",
};
const IN_PRACTICE: Clause = Clause {
    source: "practice",
    text: "engines crash, hang and send invalid output; a client that fails with them loses its user's work",
};
const OPTION: Clause = Clause {
    source: "UCI 2006 and USI draft 1 §5.3, option",
    text: "an option has a name, a type, and what belongs to the type",
};
const BESTMOVE: Clause = Clause {
    source: "UCI 2006 and USI draft 1 §5.3, bestmove",
    text: "the engine ends each search with the move to play",
};
const ISREADY: Clause = Clause {
    source: "UCI 2006 and USI draft 1 §5.3, isready",
    text: "`readyok` follows when the engine has processed all commands, which can take time",
};
const INFO: Clause = Clause {
    source: "UCI 2006 and USI draft 1 §5.3, info",
    text: "the engine sends any of the fields at any time",
};
const UCI: Clause = Clause {
    source: "UCI 2006 and USI draft 1 §5.3, uci and usi",
    text: "without `uciok` or `usiok` in time, the client can kill the engine",
};
const CRASHES: &str = "detect the end of the output and of the process in every wait";
const TIMES_OUT: &str = "give every wait a timeout, and treat a late engine as failed";
const EACH_BY_ITSELF: &str = "parse each option separately, skip unusable ones, and continue";
const IGNORES: &str = "skip unknown or unexpected lines and tokens";

/// Checks with one behavior of the mock engine: name, severity and rule; whether the protocols permit the behavior, its
/// trigger, and the expected reaction of the client; the clause, the advice, and the editions.
macro_rules! probes {
    (@may conforming) => { true };
    (@may violating) => { false };
    (@for) => { Profile::ALL };
    (@for $profiles:expr) => { $profiles };
    ($($id:literal $severity:ident $rule:literal:
        $may:ident at $when:ident, $behavior:expr => $expect:ident;
        $clause:expr, $advice:expr $(, for $profiles:expr)?;)+) => {
        &[$(TestCase {
            check: Check {
                id: concat!("gui.", $id),
                rule: $rule,
                clauses: &[$clause],
                severity: Severity::$severity,
                profiles: probes!(@for $($profiles)?),
                needs: &[],
                advice: $advice,
                passive: false,
                order: None,
            },
            test: Test::Mock(Probe {
                when: Trigger::$when,
                behavior: $behavior,
                expect: Expect::$expect,
                conforming: probes!(@may $may),
            }),
        }),+]
    };
}

/// Checks with declarations of the mock engine: name, severity, whether the protocols permit them, rule, and lines.
macro_rules! declarations {
    ($($id:literal $severity:ident $may:ident $rule:literal:
        $($line:literal),+ $(, for $profiles:expr)?;)+) => {
        probes![$(
            $id $severity $rule:
                $may at HandshakeOk, Behavior::Before(&[$($line),+]) => Works;
                OPTION, EACH_BY_ITSELF $(, for $profiles)?;
        )+]
    };
}

const START: &[TestCase] = probes![
    "start.exits" Must "the client detects an engine that exits at startup":
        violating at Start, Behavior::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "start.silent" Should "the client drops an engine that never replies to `uci` or `usi`":
        violating at Identification, Behavior::Silence => Copes;
        UCI, TIMES_OUT;
    "start.exits-in-handshake" Must "the client detects an engine that exits during the handshake":
        violating at HandshakeOk, Behavior::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "start.no-uciok" Should "the client drops an engine that never sends `uciok` or `usiok`":
        violating at HandshakeOk, Behavior::Silence => Copes;
        UCI, TIMES_OUT;
    "start.banner" Must "the client ignores text before the handshake":
        conforming at Start, Behavior::Before(&[
            "Readyok mock engine 1.0 by the Readyok authors", "type help for help",
        ]) => Works;
        UNKNOWN_LINES, IGNORES;
    "start.slow" Must "the client waits for a slow handshake":
        conforming at HandshakeOk, Behavior::Late(LATE) => Works;
        UCI, "wait several seconds for `uciok` or `usiok`";
    "start.no-options" Must "the client accepts an engine without options":
        conforming at Identification, Behavior::Instead(&[
            "id name Readyok mock engine 1.0", "id author the Readyok authors",
        ]) => Works;
        OPTION, "do not depend on any option";
    "start.no-name" Should "the client accepts an engine without a name":
        violating at Identification, Behavior::Instead(&[]) => Works;
        IN_PRACTICE, "fall back to the name of the executable";
    "start.repeated-uciok" Should "the client ignores a second `uciok` or `usiok`":
        violating at HandshakeOk, Behavior::Twice => Works;
        UNKNOWN_LINES, IGNORES;
    "start.early-info" Should "the client ignores `info` during the handshake":
        violating at Identification, Behavior::Before(&[
            "info string loading", "info depth 3 score cp 17",
        ]) => Works;
        UNKNOWN_LINES, IGNORES;
];

const OPTIONS: &[TestCase] = declarations![
    "options.spaces" Must conforming "the client accepts spaces in option names and choices":
        "option name Book Depth Limit type spin default 3 min 0 max 40",
        "option name Playing Style type combo default Very Solid var Very Solid var Normal", for Profile::UCI;
    "options.button" Must conforming "the client accepts a button":
        "option name Reset type button";
    "options.empty-string" Must conforming "the client accepts an empty string":
        "option name Learning type string default <empty>";
    "options.default-without-value" Should violating "the client reads `default` without a value as an empty string":
        "option name Learning type string default",
        "option name Logging type string";
    "options.filename" Must conforming "the client accepts the type `filename`":
        "option name Learning type filename default <empty>", for Profile::USI;
    "options.unknown-type" Should violating "the client skips an option of an unknown type":
        "option name Slide type slider default 3 min 1 max 5";
    "options.no-type" Should violating "the client skips an option without a type":
        "option name Slide",
        "option name",
        "option";
    "options.spin-without-bounds" Should violating "the client tolerates a spin option without bounds":
        "option name Slide type spin default 3",
        "option name Glide type spin";
    "options.spin-huge" Should violating "the client tolerates bounds beyond 64-bit integers":
        "option name Slide type spin default 0 min -99999999999999999999 max 99999999999999999999",
        "option name Glide type spin default 18446744073709551615 min 0 max 18446744073709551615";
    "options.spin-no-number" Should violating "the client tolerates non-numeric bounds":
        "option name Slide type spin default many min few max more",
        "option name Glide type spin default 1.5 min 0.5 max 2.5";
    "options.spin-reversed" Should violating "the client tolerates a default out of range and reversed bounds":
        "option name Slide type spin default 500 min 1 max 100",
        "option name Glide type spin default 50 min 100 max 1";
    "options.combo-without-choices" Should violating "the client tolerates a combo option without choices":
        "option name Slide type combo default Fast",
        "option name Glide type combo";
    "options.combo-unknown-default" Should violating "the client tolerates a default that is not a choice":
        "option name Slide type combo default Faster var Fast var Slow";
    "options.check-invalid-default" Should violating "the client tolerates a check option that is neither true nor false":
        "option name Slide type check default maybe",
        "option name Glide type check";
    "options.button-with-default" Should violating "the client tolerates a button with a value":
        "option name Slide type button default true min 1 max 2 var 3";
    "options.repeated" Should violating "the client tolerates a repeated option":
        "option name Slide type spin default 3 min 1 max 5",
        "option name slide type check default true";
    "options.non-ascii" Should violating "the client accepts names in any script":
        "option name 思考 type combo default 速い var 速い var 遅い",
        "option name Größe type spin default 1 min 1 max 9";
    "options.markup" Should violating "the client does not interpret names as markup, formats or paths":
        "option name <b>%s%n</b> type string default ${HOME}",
        "option name ../../x;y type string default a\\nb";
];

const MORE_OPTIONS: &[TestCase] = probes![
    "options.many" Should "the client accepts any number of options":
        conforming at HandshakeOk, Behavior::Often("option name Slide{n} type spin default 1 min 1 max {n}", 600) => Works;
        OPTION, "do not limit the number of options";
    "options.late" Should "the client tolerates an option after the handshake":
        violating at AfterHandshake, Behavior::Before(&[
            "option name Slide type spin default 3 min 1 max 5",
        ]) => Works;
        OPTION, IGNORES;
];

const STATUS: &[TestCase] = probes![
    "status.copyprotection-ok" Must "the client accepts `copyprotection ok`":
        conforming at AfterHandshake, Behavior::Before(&["copyprotection checking", "copyprotection ok"]) => Works;
        Clause { source: "UCI 2006 and USI draft 1 §5.3, copyprotection", text: "after `copyprotection ok` the engine works" },
        "ignore `copyprotection checking` and `copyprotection ok`";
    "status.copyprotection-error" Should "the client rejects or continues to use an engine that sends `copyprotection error`":
        conforming at AfterHandshake, Behavior::Before(&["copyprotection checking", "copyprotection error"]) => Copes;
        Clause {
            source: "UCI 2006 and USI draft 1 §5.3, copyprotection",
            text: "after `copyprotection error` the client informs the user, and the engine does not work",
        },
        "inform the user, and stop or continue";
    "status.registration-ok" Must "the client accepts `registration ok`":
        conforming at AfterHandshake, Behavior::Before(&["registration checking", "registration ok"]) => Works;
        Clause { source: "UCI 2006 and USI draft 1 §5.3, registration", text: "after `registration ok` the engine works" },
        "ignore `registration checking` and `registration ok`";
    "status.registration-error" Should "the client replies to `registration error` or drops the engine":
        conforming at AfterHandshake, Behavior::Before(&["registration checking", "registration error"]) => Copes;
        Clause {
            source: "UCI 2006 and USI draft 1 §5.3, registration",
            text: "after `registration error` the client can let its user register, now or later",
        },
        "reply with `register later`";
];

const READY: &[TestCase] = probes![
    "ready.late" Must "the client waits for a slow `readyok`":
        conforming at Ready, Behavior::Late(LATE) => Works;
        ISREADY, "wait for `readyok` before sending other commands";
    "ready.never" Should "the client drops an engine that never sends `readyok`":
        violating at Ready, Behavior::Silence => Copes;
        IN_PRACTICE, TIMES_OUT;
    "ready.exits" Must "the client detects an engine that exits before `readyok`":
        violating at Ready, Behavior::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "ready.info" Must "the client accepts `info` before `readyok`":
        conforming at Ready, Behavior::Before(&[
            "info string loading weights: 100 %", "info string done",
        ]) => Works;
        INFO, IGNORES;
    "ready.repeated" Should "the client ignores a second `readyok`":
        violating at Ready, Behavior::Twice => Works;
        ISREADY, "count `isready` commands, and drop unrequested replies";
    "ready.unsolicited-move" Should "the client ignores `bestmove` without a search":
        violating at Ready, Behavior::Before(&["bestmove {illegal}"]) => Works;
        BESTMOVE, "accept `bestmove` only during a search";
];

const SEARCH: &[TestCase] = probes![
    "search.no-info" Must "the client accepts a search without `info`":
        conforming at Go, Behavior::Instead(&[]) => Works;
        INFO, "do not depend on any `info`";
    "search.late" Must "the client waits for a late move, or drops the engine":
        conforming at BestMove, Behavior::Late(LATE) => Copes;
        BESTMOVE, "wait for `bestmove`, and send only `stop` before it";
    "search.no-reply" Should "the client drops an engine that never replies":
        violating at BestMove, Behavior::Silence => Copes;
        IN_PRACTICE, TIMES_OUT;
    "search.exits-at-go" Must "the client detects an engine that exits at `go`":
        violating at Go, Behavior::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "search.exits" Must "the client detects an engine that exits during a search":
        violating at BestMove, Behavior::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "search.aborts" Must "the client detects an engine that is killed by a signal":
        violating at BestMove, Behavior::Abort => Copes;
        IN_PRACTICE, CRASHES;
    "search.half-line" Must "the client detects an engine that exits in the middle of a line":
        violating at BestMove, Behavior::HalfLine("bestmo") => Copes;
        IN_PRACTICE,
        "discard or parse the partial line, then handle the exit";
    "search.closes-output" Should "the client detects an engine that closes its output":
        violating at BestMove, Behavior::CloseOutput => Copes;
        IN_PRACTICE, CRASHES;
    "search.exits-after" Must "the client detects an engine that exits after its reply":
        violating at AfterBestMove, Behavior::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "search.null-move" Should "the client treats `bestmove 0000` as no move":
        violating at BestMove, Behavior::Instead(&["bestmove 0000"]) => Copes;
        BESTMOVE, "treat it as a reply without a move", for Profile::UCI;
    "search.none" Should "the client treats `bestmove (none)` as no move":
        violating at BestMove, Behavior::Instead(&["bestmove (none)"]) => Copes;
        BESTMOVE, "treat it as a reply without a move", for Profile::UCI;
    "search.resigns" Must "`bestmove resign` ends the game":
        conforming at BestMove, Behavior::Instead(&["bestmove resign"]) => Copes;
        Clause {
            source: "USI as deployed, bestmove",
            text: "an engine can resign, or claim the win",
        },
        "treat it as the end of the game", for &[Profile::UsiDeployed];
    "search.declares-win" Should "`bestmove win` ends the game or is rejected":
        conforming at BestMove, Behavior::Instead(&["bestmove win"]) => Copes;
        Clause {
            source: "USI as deployed, bestmove",
            text: "an engine can resign, or claim the win",
        },
        "verify the declaration", for &[Profile::UsiDeployed];
    "search.empty-move" Should "the client tolerates `bestmove` without a move":
        violating at BestMove, Behavior::Instead(&["bestmove"]) => Copes;
        BESTMOVE, "treat it as a reply without a move";
    "search.invalid-move" Must "the client tolerates an invalid move":
        violating at BestMove, Behavior::Instead(&["bestmove xyzzy"]) => Copes;
        BESTMOVE, "validate each reply before playing it";
    "search.illegal-move" Must "the client never sends an illegal move in a position":
        violating at BestMove, Behavior::Instead(&["bestmove {illegal}"]) => Copes;
        BESTMOVE, "check the legality of each reply before playing it";
    "search.illegal-ponder" Must "the client does not ponder on an illegal move":
        violating at BestMove, Behavior::Instead(&["bestmove {best} ponder {illegal}"]) => Copes;
        BESTMOVE, "check the legality of the ponder move, and drop an illegal one";
    "search.unusable-ponder" Should "the client drops `ponder` without a usable move":
        violating at BestMove, Behavior::Instead(&["bestmove {best} ponder (none)"]) => Works;
        BESTMOVE, "drop an invalid ponder move";
    "search.repeated-bestmove" Should "the client ignores a second `bestmove`":
        violating at BestMove, Behavior::Twice => Works;
        BESTMOVE, "accept one reply for each `go`";
    "search.two-moves" Should "the client uses only one of two different replies":
        violating at BestMove, Behavior::Instead(&["bestmove {best}", "bestmove {other}"]) => Works;
        BESTMOVE, "accept one reply for each `go`";
    "search.ends-early" Should "the client tolerates an infinite search that ends by itself":
        violating at Infinite, Behavior::Instead(&["bestmove {best}"]) => Copes;
        Clause { source: "UCI 2006 and USI draft 1 §5.3, go infinite and go ponder", text: "the search does not end before `stop` or `ponderhit`" },
        "treat the reply as the end, and do not wait for another one";
    "search.info-after" Should "the client ignores `info` after the reply":
        violating at AfterBestMove, Behavior::Before(&[
            "info depth 2 score cp 3 pv {illegal}", "info string bye",
        ]) => Works;
        INFO, IGNORES;
    "search.flood" Must "the client processes thousands of `info` lines":
        conforming at Go, Behavior::Often("info depth 1 currmove {best} currmovenumber 1 nodes {n}", 8000) => Works;
        INFO, "read faster than the engine writes, and limit the display rate";
    "search.long-line" Should "the client processes or skips a very long line":
        conforming at Go, Behavior::Long(FLOOD) => Works;
        INFO, "limit the stored length of a line, and continue after its end";
    "search.malformed-info" Should "the client skips malformed `info` fields":
        violating at Go, Behavior::Before(&[
            "info", "info depth", "info depth x", "info depth -3 nodes -5 time -1",
            "info nodes 99999999999999999999999", "info score", "info score cp",
            "info score cp 0.35", "info score mate 0", "info score mate x", "info score upperbound",
            "info multipv 0", "info multipv 99", "info hashfull 5000", "info pv",
            "info depth 1 depth 2", "info wdl 1 2", "info string", "info plugh 3 xyzzy",
            "info currline 1", "info refutation",
        ]) => Works;
        INFO, IGNORES;
    "search.illegal-pv" Should "the client truncates or skips an illegal PV":
        violating at Go, Behavior::Before(&[
            "info depth 5 multipv 1 score cp 99 pv {illegal} {illegal}",
            "info depth 5 multipv 1 score cp 98 pv {best} {illegal}",
            "info depth 5 multipv 1 score cp 97 pv (none)",
        ]) => Works;
        INFO, "play the PV on a board, and stop at the first illegal move";
    "search.extreme-scores" Should "the client tolerates scores of any size":
        violating at Go, Behavior::Before(&[
            "info depth 1 score cp 2147483648", "info depth 1 score cp -99999999999",
            "info depth 1 score mate 32768", "info depth 1 score mate -2147483648",
            "info depth 4294967296 seldepth 1",
        ]) => Works;
        INFO, "limit displayed values";
    "search.stderr-flood" Must "the client reads or discards stderr, so the engine does not block":
        conforming at Go, Behavior::WriteStderr(FLOOD) => Works;
        IN_PRACTICE, "read or discard stderr";
];

const LINES: &[TestCase] = probes![
    "lines.crlf" Must "lines may end with CR LF":
        conforming at Start, Behavior::LineFormat(LineFormat::Crlf) => Works;
        Clause { source: "UCI 2006, general rules; USI draft 1 §5.1", text: "the line end is that of the system" },
        "treat a carriage return as white space";
    "lines.spaces" Must "the client accepts any white space around and between tokens":
        conforming at Start, Behavior::LineFormat(LineFormat::Spaced) => Works;
        Clause {
            source: "UCI 2006, general rules; USI draft 1 §5.1",
            text: "arbitrary white space between tokens is allowed",
        },
        "split lines at runs of spaces and tabs";
    "lines.unknown" Must "the client ignores unknown lines":
        conforming at Start, Behavior::LineFormat(LineFormat::UnknownLines) => Works;
        UNKNOWN_LINES, "ignore lines that start with an unknown token";
    "lines.empty" Should "empty lines are ignored":
        conforming at Start, Behavior::LineFormat(LineFormat::EmptyLines) => Works;
        UNKNOWN_LINES, "skip lines without tokens";
    "lines.fragments" Must "the client reassembles a line that arrives in fragments":
        conforming at Start, Behavior::LineFormat(LineFormat::Fragments) => Works;
        IN_PRACTICE, "buffer input until the line is complete";
    "lines.not-utf8" Should "the reader tolerates undecodable bytes":
        violating at AfterHandshake, Behavior::Bytes(b"info string \xff\xfe\x80\n\x00\x01\x02\n") => Works;
        UNKNOWN_LINES, "read bytes, and replace undecodable ones";
    "lines.unsolicited" Should "the client ignores unrequested replies":
        violating at AfterBestMove, Behavior::Before(&["uciok", "usiok", "bestmove {illegal}"]) => Works;
        UNKNOWN_LINES, IGNORES;
];

const QUIT: &[TestCase] = probes![
    "quit.slow" Should "the client waits for a slow exit":
        conforming at Quit, Behavior::Late(LATE) => Works;
        IN_PRACTICE, "wait after `quit` before killing the engine";
    "quit.ignored" Must "the client kills an engine that does not exit":
        violating at Quit, Behavior::IgnoreInput => Copes;
        IN_PRACTICE, "wait after `quit`, then kill the process";
    "quit.error" Should "the client tolerates an exit with an error":
        violating at Quit, Behavior::Exit => Works;
        IN_PRACTICE, "ignore the exit status after `quit`";
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use readyok_protocol::{Party, Rule};

    use super::*;

    #[test]
    fn names_are_unique_and_of_one_form() {
        let mut seen = BTreeSet::new();
        for TestCase { check, .. } in test_cases() {
            assert!(seen.insert(check.id), "{} is there twice", check.id);
            let form = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
            assert!(check.id.chars().all(form) && check.id.starts_with("gui."), "{}", check.id);
        }
    }

    #[test]
    fn there_is_a_check_for_each_order_rule_that_binds_the_client() {
        let of_client = |rule: &Rule| rule.is_ordering() && rule.binds() == Party::Client;
        for rule in Rule::ALL.into_iter().filter(of_client) {
            let is = |case: &&TestCase| case.check.order == Some(rule);
            assert_eq!(test_cases().filter(is).count(), 1, "{rule:?}");
        }
    }
}
