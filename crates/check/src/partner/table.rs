//! The checks of clients, by area.

use std::time::Duration;

use readyok_protocol::{NoteKind, Rule};

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
    says: "what is not known is ignored, and the rest of the line is read",
};
const IN_PRACTICE: Clause = Clause {
    place: "practice",
    says: "engines crash, hang and say what they should not; a client that does not survive it takes \
           its user's work with it",
};
const OPTION: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, option",
    says: "an option has a name, a type, and what belongs to the type",
};
const BESTMOVE: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, bestmove",
    says: "the engine ends each search with one move that it wants to play",
};
const ISREADY: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, isready",
    says: "`readyok` comes when the engine has done what it was told, which can take time",
};
const INFO: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, info",
    says: "the engine tells what it wants, when it wants, with any of the fields",
};
const HELLO: Clause = Clause {
    place: "UCI 2006 and USI draft 1 §5.3, uci and usi",
    says: "if `uciok` or `usiok` does not come in time, the client can kill the engine",
};
const CRASHES: &str = "watch for the end of the engine's output and of its process at every wait";
const GIVES_UP: &str = "give every wait an end, and treat an engine that is late as broken";
const EACH_BY_ITSELF: &str = "read each option by itself; leave out what cannot be used, and go on";
const IGNORES: &str = "skip lines and words that are not known, or that come out of turn";

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
            japanese: crate::japanese::rule($rule),
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
    "start.dies" Must "an engine that ends at once is noticed":
        foul at Start, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "start.silent" Should "an engine that never greets is given up":
        foul at Greeting, Act::Silence => Copes;
        HELLO, GIVES_UP;
    "start.dies-greeting" Must "an engine that ends while it greets is noticed":
        foul at Declared, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "start.no-ok" Should "an engine that never ends its greeting is given up":
        foul at Declared, Act::Silence => Copes;
        HELLO, GIVES_UP;
    "start.banner" Must "text before the greeting is ignored":
        fair at Start, Act::Before(&[
            "Scripted partner 1.0 by the Readyok authors", "type help for help",
        ]) => Works;
        UNKNOWN_LINES, IGNORES;
    "start.slow" Must "an engine may take its time to greet":
        fair at Declared, Act::Late(LATE) => Works;
        HELLO, "wait for `uciok` or `usiok` for some seconds";
    "start.no-options" Must "an engine may have no options":
        fair at Greeting, Act::Instead(&[
            "id name Scripted partner 1.0", "id author the Readyok authors",
        ]) => Works;
        OPTION, "do not depend on any option";
    "start.nameless" Should "an engine without a name is used all the same":
        foul at Greeting, Act::Instead(&[]) => Works;
        IN_PRACTICE, "fall back to the name of the program";
    "start.ok-twice" Should "a second `uciok` or `usiok` is ignored":
        foul at Declared, Act::Twice => Works;
        UNKNOWN_LINES, IGNORES;
    "start.search-talk" Should "`info` during the greeting is ignored":
        foul at Greeting, Act::Before(&[
            "info string loading", "info depth 3 score cp 17",
        ]) => Works;
        UNKNOWN_LINES, IGNORES;
];

const OPTIONS: &[Check] = declarations![
    "options.spaces" Must fair "names and choices of options may contain spaces":
        "option name Book Depth Limit type spin default 3 min 0 max 40",
        "option name Playing Style type combo default Very Solid var Very Solid var Normal", for Profile::UCI;
    "options.button" Must fair "a button has no value":
        "option name Reset type button";
    "options.empty-string" Must fair "a string may be empty":
        "option name Learning type string default <empty>";
    "options.bare-default" Should foul "a `default` without a value is an empty string":
        "option name Learning type string default",
        "option name Logging type string";
    "options.filename" Must fair "there is a type `filename`":
        "option name Learning type filename default <empty>", for Profile::USI;
    "options.unknown-type" Should foul "an option of an unknown type is passed over":
        "option name Slide type slider default 3 min 1 max 5";
    "options.no-type" Should foul "an option without a type is passed over":
        "option name Slide",
        "option name",
        "option";
    "options.spin-without-bounds" Should foul "a spin without bounds does no harm":
        "option name Slide type spin default 3",
        "option name Glide type spin";
    "options.spin-huge" Should foul "bounds that no integer holds do no harm":
        "option name Slide type spin default 0 min -99999999999999999999 max 99999999999999999999",
        "option name Glide type spin default 18446744073709551615 min 0 max 18446744073709551615";
    "options.spin-no-number" Should foul "bounds that are no numbers do no harm":
        "option name Slide type spin default many min few max more",
        "option name Glide type spin default 1.5 min 0.5 max 2.5";
    "options.spin-reversed" Should foul "a default out of bounds, and bounds that are reversed, do no harm":
        "option name Slide type spin default 500 min 1 max 100",
        "option name Glide type spin default 50 min 100 max 1";
    "options.combo-without-choices" Should foul "a combo without choices does no harm":
        "option name Slide type combo default Fast",
        "option name Glide type combo";
    "options.combo-odd-default" Should foul "a default that is no choice does no harm":
        "option name Slide type combo default Faster var Fast var Slow";
    "options.check-odd-default" Should foul "a check that is neither true nor false does no harm":
        "option name Slide type check default maybe",
        "option name Glide type check";
    "options.button-with-default" Should foul "a button with a value does no harm":
        "option name Slide type button default true min 1 max 2 var 3";
    "options.twice" Should foul "the same option twice does no harm":
        "option name Slide type spin default 3 min 1 max 5",
        "option name slide type check default true";
    "options.foreign" Should foul "names in any script do no harm":
        "option name 思考 type combo default 速い var 速い var 遅い",
        "option name Größe type spin default 1 min 1 max 9";
    "options.markup" Should foul "names that are markup, formats or paths do no harm":
        "option name <b>%s%n</b> type string default ${HOME}",
        "option name ../../x;y type string default a\\nb";
];

const MORE_OPTIONS: &[Check] = probes![
    "options.many" Should "any number of options is taken":
        fair at Declared, Act::Often("option name Slide{n} type spin default 1 min 1 max {n}", 600) => Works;
        OPTION, "grow as needed, and show what fits";
    "options.late" Should "an option after the greeting does no harm":
        foul at Greeted, Act::Before(&[
            "option name Slide type spin default 3 min 1 max 5",
        ]) => Works;
        OPTION, IGNORES;
];

const STATUS: &[Check] = probes![
    "status.copyprotection-ok" Must "a program that is protected against copies works when it says so":
        fair at Greeted, Act::Before(&["copyprotection checking", "copyprotection ok"]) => Works;
        Clause { place: "UCI 2006, copyprotection", says: "after `copyprotection ok` all is well" },
        "ignore `copyprotection checking` and `copyprotection ok`";
    "status.copyprotection-error" Should "a program that was copied is refused, or goes on":
        fair at Greeted, Act::Before(&["copyprotection checking", "copyprotection error"]) => Copes;
        Clause {
            place: "UCI 2006, copyprotection",
            says: "after `copyprotection error` the client tells its user, and the engine does not work",
        },
        "tell the user, and end or go on";
    "status.registration-ok" Must "an engine that is registered works":
        fair at Greeted, Act::Before(&["registration checking", "registration ok"]) => Works;
        Clause { place: "UCI 2006, registration", says: "after `registration ok` all is well" },
        "ignore `registration checking` and `registration ok`";
    "status.registration-error" Should "an engine that wants to be registered is told to wait, or given up":
        fair at Greeted, Act::Before(&["registration checking", "registration error"]) => Copes;
        Clause {
            place: "UCI 2006, registration",
            says: "after `registration error` the client can let its user register, now or later",
        },
        "answer `register later`";
];

const READY: &[Check] = probes![
    "ready.late" Must "an engine may take its time to get ready":
        fair at Ready, Act::Late(LATE) => Works;
        ISREADY, "wait for `readyok` before anything else is sent";
    "ready.never" Should "an engine that never gets ready is given up":
        foul at Ready, Act::Silence => Copes;
        IN_PRACTICE, GIVES_UP;
    "ready.dies" Must "an engine that ends while it gets ready is noticed":
        foul at Ready, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "ready.tells" Must "an engine may tell what it loads before `readyok`":
        fair at Ready, Act::Before(&[
            "info string loading weights: 100 %", "info string done",
        ]) => Works;
        INFO, IGNORES;
    "ready.twice" Should "a second `readyok` is ignored":
        foul at Ready, Act::Twice => Works;
        ISREADY, "count what was asked, and drop what was not";
    "ready.unsolicited-move" Should "a `bestmove` without a search is ignored":
        foul at Ready, Act::Before(&["bestmove {illegal}"]) => Works;
        BESTMOVE, "take `bestmove` only while there is a search";
];

const SEARCH: &[Check] = probes![
    "search.no-info" Must "a search may tell nothing but its move":
        fair at Go, Act::Instead(&[]) => Works;
        INFO, "do not depend on any `info`";
    "search.late" Must "a move that comes late is waited for, or its engine given up":
        fair at Answer, Act::Late(LATE) => Copes;
        BESTMOVE, "wait for `bestmove`; send no other command but `stop` before it";
    "search.no-move" Should "an engine that never answers is given up":
        foul at Answer, Act::Silence => Copes;
        IN_PRACTICE, GIVES_UP;
    "search.dies" Must "an engine that ends when it shall search is noticed":
        foul at Go, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "search.dies-later" Must "an engine that ends in the middle of a search is noticed":
        foul at Answer, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "search.aborts" Must "an engine that is ended by a signal is noticed":
        foul at Answer, Act::Abort => Copes;
        IN_PRACTICE, CRASHES;
    "search.half-line" Must "an engine that ends in the middle of a line is noticed":
        foul at Answer, Act::HalfLine("bestmo") => Copes;
        IN_PRACTICE,
        "a line without its end is none, or is read as it is; then the engine has ended";
    "search.closes-output" Should "an engine that closes its output is noticed":
        foul at Answer, Act::CloseOutput => Copes;
        IN_PRACTICE, CRASHES;
    "search.dies-after" Must "an engine that ends after its answer is noticed":
        foul at Answered, Act::Exit => Copes;
        IN_PRACTICE, CRASHES;
    "search.null-move" Should "`bestmove 0000` is no move, and does no harm":
        foul at Answer, Act::Instead(&["bestmove 0000"]) => Copes;
        BESTMOVE, "take it for an engine that has no move", for Profile::UCI;
    "search.none" Should "`bestmove (none)` is no move, and does no harm":
        foul at Answer, Act::Instead(&["bestmove (none)"]) => Copes;
        BESTMOVE, "take it for an engine that has no move", for Profile::UCI;
    "search.resigns" Must "`bestmove resign` ends the game":
        fair at Answer, Act::Instead(&["bestmove resign"]) => Copes;
        Clause {
            place: "USI as deployed, bestmove",
            says: "an engine can resign, or claim the win",
        },
        "take it for the end of the game", for &[Profile::UsiDeployed];
    "search.claims-win" Should "`bestmove win` ends the game, or is refused":
        fair at Answer, Act::Instead(&["bestmove win"]) => Copes;
        Clause {
            place: "USI as deployed, bestmove",
            says: "an engine can resign, or claim the win",
        },
        "look whether the position allows the claim", for &[Profile::UsiDeployed];
    "search.empty-move" Should "`bestmove` without a move does no harm":
        foul at Answer, Act::Instead(&["bestmove"]) => Copes;
        BESTMOVE, "take it for an engine that has no move";
    "search.no-such-move" Must "a word that is no move does no harm":
        foul at Answer, Act::Instead(&["bestmove xyzzy"]) => Copes;
        BESTMOVE, "check each answer before it is played";
    "search.illegal-move" Must "a move that cannot be played does no harm, and is never part of a position":
        foul at Answer, Act::Instead(&["bestmove {illegal}"]) => Copes;
        BESTMOVE, "check each answer against the rules before it is played";
    "search.illegal-ponder" Must "an expected move that cannot be played is not pondered on":
        foul at Answer, Act::Instead(&["bestmove {best} ponder {illegal}"]) => Copes;
        BESTMOVE, "check the word after `ponder`, and drop what cannot be played";
    "search.odd-ponder" Should "`ponder` without a usable move is dropped":
        foul at Answer, Act::Instead(&["bestmove {best} ponder (none)"]) => Works;
        BESTMOVE, "drop what is no move";
    "search.move-twice" Should "a second `bestmove` is ignored":
        foul at Answer, Act::Twice => Works;
        BESTMOVE, "take one answer for each `go`";
    "search.two-moves" Should "two different answers are no more than one":
        foul at Answer, Act::Instead(&["bestmove {best}", "bestmove {other}"]) => Works;
        BESTMOVE, "take one answer for each `go`";
    "search.ends-early" Should "an endless search that ends by itself does no harm":
        foul at Endless, Act::Instead(&["bestmove {best}"]) => Copes;
        Clause { place: "UCI 2006, go infinite and go ponder", says: "the search does not end before `stop` or `ponderhit`" },
        "take the answer as the end, and wait for no other";
    "search.info-after" Should "`info` after the answer is ignored":
        foul at Answered, Act::Before(&[
            "info depth 2 score cp 3 pv {illegal}", "info string bye",
        ]) => Works;
        INFO, IGNORES;
    "search.flood" Must "thousands of lines of `info` are taken":
        fair at Go, Act::Often("info depth 1 currmove {best} currmovenumber 1 nodes {n}", 8000) => Works;
        INFO, "read faster than engines write, and show only what can be seen";
    "search.long-line" Should "a very long line is taken, or passed over":
        fair at Go, Act::Long(FLOOD) => Works;
        INFO, "bound what is kept of a line, and go on behind its end";
    "search.info-odd" Should "fields of `info` that are not understood are passed over":
        foul at Go, Act::Before(&[
            "info", "info depth", "info depth x", "info depth -3 nodes -5 time -1",
            "info nodes 99999999999999999999999", "info score", "info score cp",
            "info score cp 0.35", "info score mate 0", "info score mate x", "info score upperbound",
            "info multipv 0", "info multipv 99", "info hashfull 5000", "info pv",
            "info depth 1 depth 2", "info wdl 1 2", "info string", "info plugh 3 xyzzy",
            "info currline 1", "info refutation",
        ]) => Works;
        INFO, IGNORES;
    "search.illegal-pv" Should "a variation that cannot be played is cut, or passed over":
        foul at Go, Act::Before(&[
            "info depth 5 multipv 1 score cp 99 pv {illegal} {illegal}",
            "info depth 5 multipv 1 score cp 98 pv {best} {illegal}",
            "info depth 5 multipv 1 score cp 97 pv (none)",
        ]) => Works;
        INFO, "play variations through on a board of your own, and stop where they cannot go on";
    "search.odd-scores" Should "scores of any size do no harm":
        foul at Go, Act::Before(&[
            "info depth 1 score cp 2147483648", "info depth 1 score cp -99999999999",
            "info depth 1 score mate 32768", "info depth 1 score mate -2147483648",
            "info depth 4294967296 seldepth 1",
        ]) => Works;
        INFO, "bound what is shown";
    "search.complains" Must "what an engine says to its error output does not block it":
        fair at Go, Act::Complain(FLOOD) => Works;
        IN_PRACTICE, "read the error output, or let it go nowhere";
];

const LINES: &[Check] = probes![
    "lines.crlf" Must "lines may end with carriage return and line feed":
        fair at Start, Act::Form(Form::Crlf) => Works;
        Clause { place: "UCI 2006, general rules", says: "the line end is that of the system" },
        "take a carriage return for white space";
    "lines.spaces" Must "any white space may stand around and between words":
        fair at Start, Act::Form(Form::Spaced) => Works;
        Clause {
            place: "UCI 2006, general rules",
            says: "arbitrary white space between words is allowed",
        },
        "split lines at runs of spaces and tabs";
    "lines.unknown" Must "unknown lines are ignored, wherever they stand":
        fair at Start, Act::Form(Form::Noisy) => Works;
        UNKNOWN_LINES, "ignore lines that start with no known word";
    "lines.empty" Should "empty lines are ignored":
        fair at Start, Act::Form(Form::Loose) => Works;
        UNKNOWN_LINES, "skip a line without words";
    "lines.pieces" Must "a line may come in pieces":
        fair at Start, Act::Form(Form::Pieces) => Works;
        IN_PRACTICE, "keep what came until its line is complete";
    "lines.not-utf8" Should "bytes that are no text do no harm":
        foul at Greeted, Act::Bytes(b"info string \xff\xfe\x80\n\x00\x01\x02\n") => Works;
        UNKNOWN_LINES, "read bytes, and replace what cannot be decoded";
    "lines.unsolicited" Should "answers that nobody has asked for are ignored":
        foul at Answered, Act::Before(&["uciok", "usiok", "bestmove {illegal}"]) => Works;
        UNKNOWN_LINES, IGNORES;
];

const QUIT: &[Check] = probes![
    "quit.slow" Should "an engine may take its time to leave":
        fair at Quit, Act::Late(LATE) => Works;
        IN_PRACTICE, "wait a moment after `quit` before the engine is killed";
    "quit.deaf" Must "an engine that does not leave is ended":
        foul at Quit, Act::Deaf => Copes;
        IN_PRACTICE, "wait a moment after `quit`, then kill the process";
    "quit.fails" Should "an engine that leaves with an error does no harm":
        foul at Quit, Act::Exit => Works;
        IN_PRACTICE, "what an engine does after `quit` has no meaning";
];

macro_rules! conduct {
    ($id:literal, $severity:ident, $rule:expr, $clauses:expr, $advice:literal, $test:expr) => {
        Check {
            id: concat!("gui.conduct.", $id),
            rule: $rule,
            japanese: crate::japanese::rule($rule),
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
    order!("greets-first", NotGreeted, Must, "wait for `uciok` or `usiok`"),
    order!("greets-once", GreetedAlready, Should, "greet each process once"),
    order!(
        "waits-for-answer",
        BusyEngine,
        Should,
        "after `stop` wait for `bestmove` before anything else is sent"
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
    order!("registers", RegistrationUnanswered, Should, "answer `register later`"),
    order!("after-quit", AfterQuit, Must, "send nothing after `quit`"),
    conduct!(
        "known-commands",
        Must,
        "each line is a command",
        [Clause { place: "UCI 2006, “GUI to engine”", says: "these are all the commands" }],
        "send only commands of the protocol that the engine was greeted in",
        Test::Hear(hear::known_commands)
    ),
    conduct!(
        "legal-positions",
        Must,
        "positions are legal, and so are the moves in them",
        [Clause {
            place: "UCI 2006 and USI draft 1 §5.3, position",
            says: "the moves lead from one \
            legal position to the next"
        }],
        "check moves against the rules before they are played",
        Test::Hear(hear::legal_positions)
    ),
    conduct!(
        "legal-searchmoves",
        Must,
        "`searchmoves` names moves that can be played",
        [Clause {
            place: "UCI 2006, go searchmoves",
            says: "the search is restricted to these moves"
        }],
        "take the moves from the position that was sent",
        Test::Hear(hear::legal_search_moves)
    ),
    conduct!(
        "declared-options",
        Should,
        "only options that the engine has are set, to what they can be",
        [Clause { place: "UCI 2006, setoption", says: "it is for the options that were declared" }],
        "look options up in what the engine has declared",
        Test::Hear(hear::declared_options)
    ),
    conduct!(
        "own-clock",
        Must,
        "the clock of the side to move is told, if any is",
        [Clause { place: "UCI 2006, go wtime and btime", says: "each side has so much time left" }],
        "send `wtime` and `btime` together",
        Test::Hear(hear::own_clock)
    ),
    conduct!(
        "new-game",
        Should,
        "a game begins with `ucinewgame` or `usinewgame`",
        [Clause {
            place: "UCI 2006, ucinewgame; USI draft 1 §5.3, usinewgame",
            says: "it is sent \
            before a search that belongs to another game"
        }],
        "send it before the first search of each game",
        Test::Hear(hear::new_game)
    ),
    conduct!(
        "says-quit",
        May,
        "an engine that is no longer needed is told to quit",
        [Clause { place: "UCI 2006, quit", says: "the program shall end as soon as possible" }],
        "send `quit` before the engine's input is closed",
        Test::Hear(hear::says_quit)
    ),
    written!(
        "position-form",
        "`position` is written as it should be",
        "position",
        "UCI 2006 and USI draft 1 §5.3, position",
        "`startpos`, or a FEN or SFEN, and then the moves",
        "write FEN or SFEN in full, and moves as words of the protocol",
        &[
            NoteKind::BadPosition,
            NoteKind::NotAMove,
            NoteKind::MoveRepaired,
            NoteKind::MissingKeyword,
            NoteKind::WrongOrder,
            NoteKind::Missing,
            NoteKind::TrailingText,
            NoteKind::UnknownWord,
            NoteKind::Repeated,
            NoteKind::WrongCase
        ]
    ),
    written!(
        "go-form",
        "`go` is written as it should be",
        "go",
        "UCI 2006 and USI draft 1 §5.3, go",
        "each limit has its word and, mostly, a whole number",
        "write milliseconds as whole numbers that are not negative, and each limit once",
        &[
            NoteKind::NotANumber,
            NoteKind::NumberTooLarge,
            NoteKind::NegativeNumber,
            NoteKind::Missing,
            NoteKind::NotAMove,
            NoteKind::UnknownWord,
            NoteKind::Repeated,
            NoteKind::Conflict,
            NoteKind::WrongCase
        ]
    ),
    written!(
        "setoption-form",
        "`setoption` is written as it should be",
        "setoption",
        "UCI 2006 and USI draft 1 §5.3, setoption",
        "`name`, a name, and mostly `value` and a value",
        "write `setoption name <name> value <value>`",
        &[
            NoteKind::Missing,
            NoteKind::MissingKeyword,
            NoteKind::WrongOrder,
            NoteKind::UnknownWord,
            NoteKind::WrongCase
        ]
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use readyok_protocol::Side;

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
        let of_client = |rule: &Rule| rule.is_about_order() && rule.binds() == Side::Client;
        for rule in Rule::ALL.into_iter().filter(of_client) {
            let is = |check: &&Check| matches!(check.test, Test::Order(it) if it == rule);
            assert_eq!(AREAS.into_iter().flatten().filter(is).count(), 1, "{rule:?}");
        }
    }
}
