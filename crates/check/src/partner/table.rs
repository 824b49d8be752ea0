//! The checks of clients, by area.

use std::time::Duration;

use readyok_protocol::{DiagnosticKind, Rule};

use super::hear;
use super::probe::{Act, Expect, Form, Moment, Probe};
use crate::check::{Check, Clause, Profile, Severity, Test};

pub(super) const AREAS: [&[Check]; 9] =
    [START, OPTIONS, MORE_OPTIONS, STATUS, READY, SEARCH, LINES, QUIT, CONDUCT];

/// Later than any client should be in a hurry for.
const LATE: Duration = Duration::from_millis(1500);

/// Most systems hold so much in a pipe, and many times less.
const FLOOD: usize = 1 << 20;

const UNKNOWN_LINES: Clause = Clause {
    place: "UCI 2006, general rules",
    says: "unknown tokens are ignored, and the rest of the line is read",
};
const IN_PRACTICE: Clause = Clause {
    place: "practice",
    says: "engines crash, hang and send invalid output; a client that fails with them loses its user's work",
};
const OPTION: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, option",
    says: "an option has a name, a type, and what belongs to the type",
};
const BESTMOVE: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, bestmove",
    says: "the engine ends each search with the move to play",
};
const ISREADY: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, isready",
    says: "`readyok` follows when the engine has processed all commands, which can take time",
};
const INFO: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, info",
    says: "the engine sends any of the fields at any time",
};
const HELLO: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, uci and usi",
    says: "without `uciok` or `usiok` in time, the client can kill the engine",
};
const CRASHES: &str = "detect the end of the output and of the process in every wait";
const GIVES_UP: &str = "give every wait a timeout, and treat a late engine as failed";
const EACH_BY_ITSELF: &str = "parse each option separately, skip unusable ones, and continue";
const IGNORES: &str = "skip unknown or unexpected lines and tokens";

/// Checks that have an engine do one thing: name, severity and rule; whether engines may do so, when it
/// does so, and what the client has to make of it; the clause, what to change, and the editions.
macro_rules! probes {
    (@may fair) => { true };
    (@may foul) => { false };
    (@for) => { Profile::ALL };
    (@for $profiles:expr) => { $profiles };
    ($($id:literal $severity:ident $rule:literal:
        $may:ident at $when:ident, $act:expr => $expect:ident;
        $clause:expr, $advice:expr $(, for $profiles:expr)?;)+) => {
        &[$(Check {
            id: concat!("gui.", $id),
            rule: $rule,
            clauses: &[$clause],
            severity: Severity::$severity,
            profiles: probes!(@for $($profiles)?),
            needs: &[],
            advice: $advice,
            test: Test::Provoke(Probe {
                when: Moment::$when,
                act: $act,
                expect: Expect::$expect,
                fair: probes!(@may $may),
            }),
        }),+]
    };
}

/// Checks that have an engine declare something: name, severity, whether engines may do so, rule, and
/// the lines.
macro_rules! declarations {
    ($($id:literal $severity:ident $may:ident $rule:literal:
        $($line:literal),+ $(, for $profiles:expr)?;)+) => {
        probes![$(
            $id $severity $rule:
                $may at Declared, Act::Before(&[$($line),+]) => Works;
                OPTION, EACH_BY_ITSELF $(, for $profiles)?;
        )+]
    };
}

const START: &[Check] = probes![
    "start.exits" Must "the client detects an engine that exits at startup":
        foul at Start, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "start.silent" Should "the client drops an engine that never replies to `uci` or `usi`":
        foul at Greeting, Act::Silence => Copes;
        HELLO, GIVES_UP;
    "start.exits-in-handshake" Must "the client detects an engine that exits during the handshake":
        foul at Declared, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "start.no-uciok" Should "the client drops an engine that never sends `uciok` or `usiok`":
        foul at Declared, Act::Silence => Copes;
        HELLO, GIVES_UP;
    "start.banner" Must "the client ignores text before the handshake":
        fair at Start, Act::Before(&[
            "Scripted partner 1.0 by the Readyok authors", "type help for help",
        ]) => Works;
        UNKNOWN_LINES, IGNORES;
    "start.slow" Must "the client waits for a slow handshake":
        fair at Declared, Act::Late(LATE) => Works;
        HELLO, "wait several seconds for `uciok` or `usiok`";
    "start.no-options" Must "the client accepts an engine without options":
        fair at Greeting, Act::Instead(&[
            "id name Scripted partner 1.0", "id author the Readyok authors",
        ]) => Works;
        OPTION, "do not depend on any option";
    "start.no-name" Should "the client accepts an engine without a name":
        foul at Greeting, Act::Instead(&[]) => Works;
        IN_PRACTICE, "fall back to the name of the executable";
    "start.repeated-uciok" Should "the client ignores a second `uciok` or `usiok`":
        foul at Declared, Act::Twice => Works;
        UNKNOWN_LINES, IGNORES;
    "start.early-info" Should "the client ignores `info` during the handshake":
        foul at Greeting, Act::Before(&[
            "info string loading", "info depth 3 score cp 17",
        ]) => Works;
        UNKNOWN_LINES, IGNORES;
];

const OPTIONS: &[Check] = declarations![
    "options.spaces" Must fair "the client accepts spaces in option names and choices":
        "option name Book Depth Limit type spin default 3 min 0 max 40",
        "option name Playing Style type combo default Very Solid var Very Solid var Normal", for Profile::UCI;
    "options.button" Must fair "the client accepts a button":
        "option name Reset type button";
    "options.empty-string" Must fair "the client accepts an empty string":
        "option name Learning type string default <empty>";
    "options.default-without-value" Should foul "the client reads `default` without a value as an empty string":
        "option name Learning type string default",
        "option name Logging type string";
    "options.filename" Must fair "the client accepts the type `filename`":
        "option name Learning type filename default <empty>", for Profile::USI;
    "options.unknown-type" Should foul "the client skips an option of an unknown type":
        "option name Slide type slider default 3 min 1 max 5";
    "options.no-type" Should foul "the client skips an option without a type":
        "option name Slide",
        "option name",
        "option";
    "options.spin-without-bounds" Should foul "the client tolerates a spin option without bounds":
        "option name Slide type spin default 3",
        "option name Glide type spin";
    "options.spin-huge" Should foul "the client tolerates bounds beyond 64-bit integers":
        "option name Slide type spin default 0 min -99999999999999999999 max 99999999999999999999",
        "option name Glide type spin default 18446744073709551615 min 0 max 18446744073709551615";
    "options.spin-no-number" Should foul "the client tolerates non-numeric bounds":
        "option name Slide type spin default many min few max more",
        "option name Glide type spin default 1.5 min 0.5 max 2.5";
    "options.spin-reversed" Should foul "the client tolerates a default out of range and reversed bounds":
        "option name Slide type spin default 500 min 1 max 100",
        "option name Glide type spin default 50 min 100 max 1";
    "options.combo-without-choices" Should foul "the client tolerates a combo option without choices":
        "option name Slide type combo default Fast",
        "option name Glide type combo";
    "options.combo-unknown-default" Should foul "the client tolerates a default that is not a choice":
        "option name Slide type combo default Faster var Fast var Slow";
    "options.check-invalid-default" Should foul "the client tolerates a check option that is neither true nor false":
        "option name Slide type check default maybe",
        "option name Glide type check";
    "options.button-with-default" Should foul "the client tolerates a button with a value":
        "option name Slide type button default true min 1 max 2 var 3";
    "options.repeated" Should foul "the client tolerates a repeated option":
        "option name Slide type spin default 3 min 1 max 5",
        "option name slide type check default true";
    "options.non-ascii" Should foul "the client accepts names in any script":
        "option name 思考 type combo default 速い var 速い var 遅い",
        "option name Größe type spin default 1 min 1 max 9";
    "options.markup" Should foul "the client does not interpret names as markup, formats or paths":
        "option name <b>%s%n</b> type string default ${HOME}",
        "option name ../../x;y type string default a\\nb";
];

const MORE_OPTIONS: &[Check] = probes![
    "options.many" Should "the client accepts any number of options":
        fair at Declared, Act::Often("option name Slide{n} type spin default 1 min 1 max {n}", 600) => Works;
        OPTION, "do not limit the number of options";
    "options.late" Should "the client tolerates an option after the handshake":
        foul at Greeted, Act::Before(&[
            "option name Slide type spin default 3 min 1 max 5",
        ]) => Works;
        OPTION, IGNORES;
];

const STATUS: &[Check] = probes![
    "status.copyprotection-ok" Must "the client accepts `copyprotection ok`":
        fair at Greeted, Act::Before(&["copyprotection checking", "copyprotection ok"]) => Works;
        Clause { place: "UCI 2006, copyprotection", says: "after `copyprotection ok` the engine works" },
        "ignore `copyprotection checking` and `copyprotection ok`";
    "status.copyprotection-error" Should "the client rejects or continues to use an engine that sends `copyprotection error`":
        fair at Greeted, Act::Before(&["copyprotection checking", "copyprotection error"]) => Copes;
        Clause {
            place: "UCI 2006, copyprotection",
            says: "after `copyprotection error` the client informs the user, and the engine does not work",
        },
        "inform the user, and stop or continue";
    "status.registration-ok" Must "the client accepts `registration ok`":
        fair at Greeted, Act::Before(&["registration checking", "registration ok"]) => Works;
        Clause { place: "UCI 2006, registration", says: "after `registration ok` the engine works" },
        "ignore `registration checking` and `registration ok`";
    "status.registration-error" Should "the client replies to `registration error` or drops the engine":
        fair at Greeted, Act::Before(&["registration checking", "registration error"]) => Copes;
        Clause {
            place: "UCI 2006, registration",
            says: "after `registration error` the client can let its user register, now or later",
        },
        "reply with `register later`";
];

const READY: &[Check] = probes![
    "ready.late" Must "the client waits for a slow `readyok`":
        fair at Ready, Act::Late(LATE) => Works;
        ISREADY, "wait for `readyok` before sending other commands";
    "ready.never" Should "the client drops an engine that never sends `readyok`":
        foul at Ready, Act::Silence => Copes;
        IN_PRACTICE, GIVES_UP;
    "ready.exits" Must "the client detects an engine that exits before `readyok`":
        foul at Ready, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "ready.info" Must "the client accepts `info` before `readyok`":
        fair at Ready, Act::Before(&[
            "info string loading weights: 100 %", "info string done",
        ]) => Works;
        INFO, IGNORES;
    "ready.repeated" Should "the client ignores a second `readyok`":
        foul at Ready, Act::Twice => Works;
        ISREADY, "count `isready` commands, and drop unrequested replies";
    "ready.unsolicited-move" Should "the client ignores `bestmove` without a search":
        foul at Ready, Act::Before(&["bestmove {illegal}"]) => Works;
        BESTMOVE, "accept `bestmove` only during a search";
];

const SEARCH: &[Check] = probes![
    "search.no-info" Must "the client accepts a search without `info`":
        fair at Go, Act::Instead(&[]) => Works;
        INFO, "do not depend on any `info`";
    "search.late" Must "the client waits for a late move, or drops the engine":
        fair at Answer, Act::Late(LATE) => Copes;
        BESTMOVE, "wait for `bestmove`, and send only `stop` before it";
    "search.no-reply" Should "the client drops an engine that never replies":
        foul at Answer, Act::Silence => Copes;
        IN_PRACTICE, GIVES_UP;
    "search.exits-at-go" Must "the client detects an engine that exits at `go`":
        foul at Go, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "search.exits" Must "the client detects an engine that exits during a search":
        foul at Answer, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "search.aborts" Must "the client detects an engine that is killed by a signal":
        foul at Answer, Act::Abort => Copes;
        IN_PRACTICE, CRASHES;
    "search.half-line" Must "the client detects an engine that exits in the middle of a line":
        foul at Answer, Act::HalfLine("bestmo") => Copes;
        IN_PRACTICE,
        "discard or parse the partial line, then handle the exit";
    "search.closes-output" Should "the client detects an engine that closes its output":
        foul at Answer, Act::CloseOutput => Copes;
        IN_PRACTICE, CRASHES;
    "search.exits-after" Must "the client detects an engine that exits after its reply":
        foul at Answered, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "search.null-move" Should "the client treats `bestmove 0000` as no move":
        foul at Answer, Act::Instead(&["bestmove 0000"]) => Copes;
        BESTMOVE, "treat it as a reply without a move", for Profile::UCI;
    "search.none" Should "the client treats `bestmove (none)` as no move":
        foul at Answer, Act::Instead(&["bestmove (none)"]) => Copes;
        BESTMOVE, "treat it as a reply without a move", for Profile::UCI;
    "search.resigns" Must "`bestmove resign` ends the game":
        fair at Answer, Act::Instead(&["bestmove resign"]) => Copes;
        Clause {
            place: "USI as deployed, bestmove",
            says: "an engine can resign, or claim the win",
        },
        "treat it as the end of the game", for &[Profile::UsiDeployed];
    "search.declares-win" Should "`bestmove win` ends the game or is rejected":
        fair at Answer, Act::Instead(&["bestmove win"]) => Copes;
        Clause {
            place: "USI as deployed, bestmove",
            says: "an engine can resign, or claim the win",
        },
        "verify the declaration", for &[Profile::UsiDeployed];
    "search.empty-move" Should "the client tolerates `bestmove` without a move":
        foul at Answer, Act::Instead(&["bestmove"]) => Copes;
        BESTMOVE, "treat it as a reply without a move";
    "search.invalid-move" Must "the client tolerates an invalid move":
        foul at Answer, Act::Instead(&["bestmove xyzzy"]) => Copes;
        BESTMOVE, "validate each reply before playing it";
    "search.illegal-move" Must "the client never sends an illegal move in a position":
        foul at Answer, Act::Instead(&["bestmove {illegal}"]) => Copes;
        BESTMOVE, "check the legality of each reply before playing it";
    "search.illegal-ponder" Must "the client does not ponder on an illegal move":
        foul at Answer, Act::Instead(&["bestmove {best} ponder {illegal}"]) => Copes;
        BESTMOVE, "check the legality of the ponder move, and drop an illegal one";
    "search.unusable-ponder" Should "the client drops `ponder` without a usable move":
        foul at Answer, Act::Instead(&["bestmove {best} ponder (none)"]) => Works;
        BESTMOVE, "drop an invalid ponder move";
    "search.repeated-bestmove" Should "the client ignores a second `bestmove`":
        foul at Answer, Act::Twice => Works;
        BESTMOVE, "accept one reply for each `go`";
    "search.two-moves" Should "the client uses only one of two different replies":
        foul at Answer, Act::Instead(&["bestmove {best}", "bestmove {other}"]) => Works;
        BESTMOVE, "accept one reply for each `go`";
    "search.ends-early" Should "the client tolerates an infinite search that ends by itself":
        foul at Endless, Act::Instead(&["bestmove {best}"]) => Copes;
        Clause { place: "UCI 2006, go infinite and go ponder", says: "the search does not end before `stop` or `ponderhit`" },
        "treat the reply as the end, and do not wait for another one";
    "search.info-after" Should "the client ignores `info` after the reply":
        foul at Answered, Act::Before(&[
            "info depth 2 score cp 3 pv {illegal}", "info string bye",
        ]) => Works;
        INFO, IGNORES;
    "search.flood" Must "the client processes thousands of `info` lines":
        fair at Go, Act::Often("info depth 1 currmove {best} currmovenumber 1 nodes {n}", 8000) => Works;
        INFO, "read faster than the engine writes, and limit the display rate";
    "search.long-line" Should "the client processes or skips a very long line":
        fair at Go, Act::Long(FLOOD) => Works;
        INFO, "limit the stored length of a line, and continue after its end";
    "search.malformed-info" Should "the client skips malformed `info` fields":
        foul at Go, Act::Before(&[
            "info", "info depth", "info depth x", "info depth -3 nodes -5 time -1",
            "info nodes 99999999999999999999999", "info score", "info score cp",
            "info score cp 0.35", "info score mate 0", "info score mate x", "info score upperbound",
            "info multipv 0", "info multipv 99", "info hashfull 5000", "info pv",
            "info depth 1 depth 2", "info wdl 1 2", "info string", "info plugh 3 xyzzy",
            "info currline 1", "info refutation",
        ]) => Works;
        INFO, IGNORES;
    "search.illegal-pv" Should "the client truncates or skips an illegal PV":
        foul at Go, Act::Before(&[
            "info depth 5 multipv 1 score cp 99 pv {illegal} {illegal}",
            "info depth 5 multipv 1 score cp 98 pv {best} {illegal}",
            "info depth 5 multipv 1 score cp 97 pv (none)",
        ]) => Works;
        INFO, "play the PV on a board, and stop at the first illegal move";
    "search.extreme-scores" Should "the client tolerates scores of any size":
        foul at Go, Act::Before(&[
            "info depth 1 score cp 2147483648", "info depth 1 score cp -99999999999",
            "info depth 1 score mate 32768", "info depth 1 score mate -2147483648",
            "info depth 4294967296 seldepth 1",
        ]) => Works;
        INFO, "limit displayed values";
    "search.stderr-flood" Must "the client reads or discards stderr, so the engine does not block":
        fair at Go, Act::Complain(FLOOD) => Works;
        IN_PRACTICE, "read or discard stderr";
];

const LINES: &[Check] = probes![
    "lines.crlf" Must "lines may end with CR LF":
        fair at Start, Act::Form(Form::Crlf) => Works;
        Clause { place: "UCI 2006, general rules", says: "the line end is that of the system" },
        "treat a carriage return as white space";
    "lines.spaces" Must "the client accepts any white space around and between tokens":
        fair at Start, Act::Form(Form::Spaced) => Works;
        Clause {
            place: "UCI 2006, general rules",
            says: "arbitrary white space between tokens is allowed",
        },
        "split lines at runs of spaces and tabs";
    "lines.unknown" Must "the client ignores unknown lines":
        fair at Start, Act::Form(Form::Noisy) => Works;
        UNKNOWN_LINES, "ignore lines that start with an unknown token";
    "lines.empty" Should "empty lines are ignored":
        fair at Start, Act::Form(Form::Loose) => Works;
        UNKNOWN_LINES, "skip lines without tokens";
    "lines.fragments" Must "the client reassembles a line that arrives in fragments":
        fair at Start, Act::Form(Form::Pieces) => Works;
        IN_PRACTICE, "buffer input until the line is complete";
    "lines.not-utf8" Should "the reader tolerates undecodable bytes":
        foul at Greeted, Act::Bytes(b"info string \xff\xfe\x80\n\x00\x01\x02\n") => Works;
        UNKNOWN_LINES, "read bytes, and replace undecodable ones";
    "lines.unsolicited" Should "the client ignores unrequested replies":
        foul at Answered, Act::Before(&["uciok", "usiok", "bestmove {illegal}"]) => Works;
        UNKNOWN_LINES, IGNORES;
];

const QUIT: &[Check] = probes![
    "quit.slow" Should "the client waits for a slow exit":
        fair at Quit, Act::Late(LATE) => Works;
        IN_PRACTICE, "wait after `quit` before killing the engine";
    "quit.ignored" Must "the client kills an engine that does not exit":
        foul at Quit, Act::Deaf => Copes;
        IN_PRACTICE, "wait after `quit`, then kill the process";
    "quit.error" Should "the client tolerates an exit with an error":
        foul at Quit, Act::Exit => Works;
        IN_PRACTICE, "ignore the exit status after `quit`";
];

macro_rules! conduct {
    ($id:literal, $severity:ident, $rule:expr, $clauses:expr, $advice:literal, $test:expr) => {
        Check {
            id: concat!("gui.conduct.", $id),
            rule: $rule,
            clauses: &$clauses,
            severity: Severity::$severity,
            profiles: Profile::ALL,
            needs: &[],
            advice: $advice,
            test: $test,
        }
    };
}

macro_rules! order {
    ($id:literal, $rule:ident, $severity:ident, $advice:literal) => {
        conduct!(
            $id,
            $severity,
            Rule::$rule.text(),
            [Clause { place: Rule::$rule.clause(), says: Rule::$rule.text() }],
            $advice,
            Test::Order(Rule::$rule)
        )
    };
}

macro_rules! written {
    ($id:literal, $rule:literal, $word:literal, $place:literal, $says:literal, $advice:literal, $notes:expr) => {
        conduct!(
            $id,
            Must,
            $rule,
            [Clause { place: $place, says: $says }],
            $advice,
            Test::Form { word: $word, notes: $notes }
        )
    };
}

const CONDUCT: &[Check] = &[
    order!("handshake-first", BeforeUciOk, Must, "wait for `uciok` or `usiok`"),
    order!("handshake-once", RepeatedUci, Should, "send `uci` or `usi` once per process"),
    order!(
        "waits-for-bestmove",
        BusyEngine,
        Should,
        "after `stop` wait for `bestmove` before sending other commands"
    ),
    order!(
        "waits-for-ready",
        SearchBeforeReady,
        Should,
        "send `isready` before the first search, and wait for `readyok`"
    ),
    order!("sends-position", SearchWithoutPosition, Must, "send `position` before `go`"),
    order!(
        "ponderhit",
        PonderHitWithoutPonder,
        Must,
        "send `ponderhit` only while the engine ponders"
    ),
    order!("registers", RegistrationUnanswered, Should, "reply with `register later`"),
    order!("after-quit", AfterQuit, Must, "send nothing after `quit`"),
    conduct!(
        "known-commands",
        Must,
        "each line is a command",
        [Clause { place: "UCI 2006, “GUI to engine”", says: "these are all the commands" }],
        "send only commands of the protocol of the handshake",
        Test::Hear(hear::known_commands)
    ),
    conduct!(
        "legal-positions",
        Must,
        "positions and the moves in them are legal",
        [Clause {
            place: "UCI 2006 and USI draft 1 §5.3, position",
            says: "the moves lead from one legal position to the next"
        }],
        "check the legality of moves before playing them",
        Test::Hear(hear::legal_positions)
    ),
    conduct!(
        "legal-searchmoves",
        Must,
        "`searchmoves` lists legal moves",
        [Clause {
            place: "UCI 2006, go searchmoves",
            says: "the search is restricted to these moves"
        }],
        "use legal moves of the position that was sent",
        Test::Hear(hear::legal_search_moves)
    ),
    conduct!(
        "declared-options",
        Should,
        "only declared options are set, to valid values",
        [Clause { place: "UCI 2006, setoption", says: "it is for the options that were declared" }],
        "look up options in the engine's declarations",
        Test::Hear(hear::declared_options)
    ),
    conduct!(
        "own-clock",
        Must,
        "clocks include the clock of the side to move",
        [Clause { place: "UCI 2006, go wtime and btime", says: "the remaining time of each side" }],
        "send `wtime` and `btime` together",
        Test::Hear(hear::own_clock)
    ),
    conduct!(
        "new-game",
        Should,
        "a game begins with `ucinewgame` or `usinewgame`",
        [Clause {
            place: "UCI 2006, ucinewgame; USI draft 1 §5.3, usinewgame",
            says: "it is sent before a search of a different game"
        }],
        "send it before the first search of each game",
        Test::Hear(hear::new_game)
    ),
    conduct!(
        "quit",
        May,
        "the client sends `quit` to an engine that is no longer needed",
        [Clause { place: "UCI 2006, quit", says: "quit the program as soon as possible" }],
        "send `quit` before the engine's input is closed",
        Test::Hear(hear::says_quit)
    ),
    written!(
        "position-form",
        "`position` is well-formed",
        "position",
        "UCI 2006 and USI draft 1 §5.3, position",
        "`startpos`, or a FEN or SFEN, and then the moves",
        "send a complete FEN or SFEN, and moves in protocol notation",
        &[
            DiagnosticKind::BadPosition,
            DiagnosticKind::NotAMove,
            DiagnosticKind::MoveRepaired,
            DiagnosticKind::MissingKeyword,
            DiagnosticKind::WrongOrder,
            DiagnosticKind::Missing,
            DiagnosticKind::TrailingText,
            DiagnosticKind::UnknownToken,
            DiagnosticKind::Repeated,
            DiagnosticKind::WrongCase
        ]
    ),
    written!(
        "go-form",
        "`go` is well-formed",
        "go",
        "UCI 2006 and USI draft 1 §5.3, go",
        "each limit has a keyword and usually an integer",
        "send milliseconds as non-negative integers, and each limit once",
        &[
            DiagnosticKind::NotANumber,
            DiagnosticKind::NumberTooLarge,
            DiagnosticKind::NegativeNumber,
            DiagnosticKind::Missing,
            DiagnosticKind::NotAMove,
            DiagnosticKind::UnknownToken,
            DiagnosticKind::Repeated,
            DiagnosticKind::Conflict,
            DiagnosticKind::WrongCase
        ]
    ),
    written!(
        "setoption-form",
        "`setoption` is well-formed",
        "setoption",
        "UCI 2006 and USI draft 1 §5.3, setoption",
        "`name`, a name, and usually `value` and a value",
        "send `setoption name <name> value <value>`",
        &[
            DiagnosticKind::Missing,
            DiagnosticKind::MissingKeyword,
            DiagnosticKind::WrongOrder,
            DiagnosticKind::UnknownToken,
            DiagnosticKind::WrongCase
        ]
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use readyok_protocol::Party;

    use super::*;

    #[test]
    fn names_are_unique_and_of_one_form() {
        let mut seen = BTreeSet::new();
        for check in AREAS.into_iter().flatten() {
            assert!(seen.insert(check.id), "{} is there twice", check.id);
            let form = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
            assert!(check.id.chars().all(form) && check.id.starts_with("gui."), "{}", check.id);
        }
    }

    #[test]
    fn there_is_a_check_for_each_order_rule_that_binds_the_client() {
        let of_client = |rule: &Rule| rule.is_ordering() && rule.binds() == Party::Client;
        for rule in Rule::ALL.into_iter().filter(of_client) {
            let is = |check: &&Check| matches!(check.test, Test::Order(it) if it == rule);
            assert_eq!(AREAS.into_iter().flatten().filter(is).count(), 1, "{rule:?}");
        }
    }
}
