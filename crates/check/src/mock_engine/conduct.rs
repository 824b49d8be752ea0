//! Checks of the conduct of clients: passive checks of all their commands.

use std::time::Duration;

use readyok_protocol::{
    Command, DiagnosticKind, Dialect, MateLimit, OptionDecl, Party, Reply, Root, Rule,
};
use readyok_rules::{Game, Position};

use crate::context::{Test, TestCase};
use crate::message::message;
use crate::spec::Observation;
use crate::spec::{Check, Clause, Profile, Severity};
use crate::transcript::{GameOf, Transcript, TranscriptEntry, resolve};

macro_rules! conduct {
    ($id:literal, $severity:ident, $rule:expr, $clauses:expr, $advice:literal, $test:expr) => {
        TestCase {
            check: Check {
                id: concat!("gui.conduct.", $id),
                rule: $rule,
                clauses: &$clauses,
                severity: Severity::$severity,
                profiles: Profile::ALL,
                needs: &[],
                advice: $advice,
                passive: $test.is_passive(),
                order: $test.order(),
            },
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
            [Clause { source: Rule::$rule.clause(), text: Rule::$rule.text() }],
            $advice,
            Test::Ordering(Rule::$rule)
        )
    };
}

macro_rules! syntax {
    ($id:literal, $rule:literal, $keyword:literal, $source:literal, $text:literal, $advice:literal, $notes:expr) => {
        conduct!(
            $id,
            Must,
            $rule,
            [Clause { source: $source, text: $text }],
            $advice,
            Test::Syntax { keyword: $keyword, notes: $notes }
        )
    };
}

pub(super) const CHECKS: &[TestCase] = &[
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
        [Clause {
            source: "UCI 2006, “GUI to engine”; USI draft 1 §5.3",
            text: "these are all the commands"
        }],
        "send only commands of the protocol of the handshake",
        Test::Passive(known_commands)
    ),
    conduct!(
        "legal-positions",
        Must,
        "positions and the moves in them are legal",
        [Clause {
            source: "UCI 2006 and USI draft 1 §5.3, position",
            text: "the moves lead from one legal position to the next"
        }],
        "check the legality of moves before playing them",
        Test::Passive(legal_positions)
    ),
    conduct!(
        "legal-searchmoves",
        Must,
        "`searchmoves` lists legal moves",
        [Clause {
            source: "UCI 2006 and USI draft 1 §5.3, go searchmoves",
            text: "the search is restricted to these moves"
        }],
        "use legal moves of the position that was sent",
        Test::Passive(legal_search_moves)
    ),
    conduct!(
        "declared-options",
        Should,
        "only declared options are set, to valid values",
        [Clause {
            source: "UCI 2006 and USI draft 1 §5.3, setoption",
            text: "it is for the options that were declared"
        }],
        "look up options in the engine's declarations",
        Test::Passive(declared_options)
    ),
    conduct!(
        "own-clock",
        Must,
        "clocks include the clock of the side to move",
        [Clause {
            source: "UCI 2006 and USI draft 1 §5.3, go wtime and btime",
            text: "the remaining time of each side"
        }],
        "send `wtime` and `btime` together",
        Test::Passive(own_clock)
    ),
    conduct!(
        "valid-clocks",
        Should,
        Rule::InvalidClock.text(),
        [Clause { source: Rule::InvalidClock.clause(), text: Rule::InvalidClock.text() }],
        "end the game of a side without time; omit an increment that does not apply",
        Test::Passive(valid_clocks)
    ),
    conduct!(
        "positive-limits",
        Should,
        Rule::ZeroLimit.text(),
        [Clause { source: Rule::ZeroLimit.clause(), text: Rule::ZeroLimit.text() }],
        "omit a limit that does not apply",
        Test::Passive(positive_limits)
    ),
    conduct!(
        "new-game",
        Should,
        "a game begins with `ucinewgame` or `usinewgame`",
        [Clause {
            source: "UCI 2006, ucinewgame; USI draft 1 §5.3, usinewgame",
            text: "it is sent before a search of a different game"
        }],
        "send it before the first search of each game",
        Test::Passive(new_game)
    ),
    conduct!(
        "quit",
        May,
        "the client sends `quit` to an engine that is no longer needed",
        [Clause {
            source: "UCI 2006 and USI draft 1 §5.3, quit",
            text: "quit the program as soon as possible"
        }],
        "send `quit` before the engine's input is closed",
        Test::Passive(sends_quit)
    ),
    syntax!(
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
    syntax!(
        "go-form",
        "`go` is well-formed",
        "go",
        "UCI 2006 and USI draft 1 §5.3, go",
        "each limit has a keyword and usually an integer",
        "send milliseconds as non-negative integers, and each limit once",
        &[
            DiagnosticKind::NotANumber,
            DiagnosticKind::PartialNumber,
            DiagnosticKind::NumberTooLarge,
            DiagnosticKind::NegativeNumber,
            DiagnosticKind::Missing,
            DiagnosticKind::EmptyList,
            DiagnosticKind::NotAMove,
            DiagnosticKind::UnknownToken,
            DiagnosticKind::Repeated,
            DiagnosticKind::Conflict,
            DiagnosticKind::WrongCase
        ]
    ),
    syntax!(
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

/// The commands with the indexes of their entries.
fn commands(
    transcript: &Transcript,
) -> impl Iterator<Item = (usize, &TranscriptEntry, Command<'_>)> {
    let of_client =
        transcript.entries.iter().enumerate().filter(|(_, entry)| entry.side == Party::Client);
    of_client.map(|(at, entry)| (at, entry, Command::read(&entry.text, transcript.dialect).value))
}

/// Verifies that every line is a command.
fn known_commands(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for (at, entry, command) in commands(transcript) {
        match command {
            Command::Unknown(text) if !text.is_empty() => {
                return Err((at, message!("client.unknown-command", text = &entry.text)));
            }
            Command::Uci
            | Command::IsReady
            | Command::NewGame
            | Command::Stop
            | Command::PonderHit(_)
            | Command::Quit
                if entry.notes.iter().any(|note| {
                    matches!(note, DiagnosticKind::TrailingText | DiagnosticKind::UnknownToken)
                }) =>
            {
                return Err((at, message!("client.unknown-command", text = &entry.text)));
            }
            // Parsers of engines distinguish upper and lower case.
            _ if entry.text.trim_start().starts_with(|c: char| c.is_ascii_uppercase()) => {
                return Err((at, message!("client.unknown-command", text = &entry.text)));
            }
            _ => seen += 1,
        }
    }
    Ok(seen)
}

/// Verifies that positions and their moves are legal.
pub(super) fn legal_positions(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    let mut game = transcript.dialect.game();
    for (at, _, command) in commands(transcript) {
        match command {
            Command::SetOption(set) if set.name.eq_ignore_ascii_case("UCI_Chess960") => {
                let on =
                    set.value.as_deref().is_some_and(|value| value.eq_ignore_ascii_case("true"));
                game = if on { Game::Chess960 } else { Game::Chess };
            }
            Command::Position(position) => {
                if resolve(&position, game).is_none() {
                    return Err((at, message!("client.invalid-position")));
                }
                seen += 1;
            }
            _ => (),
        }
    }
    Ok(seen)
}

/// Verifies that `searchmoves` lists legal moves.
fn legal_search_moves(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    let mut position = Some(Position::start(transcript.dialect.game()));
    for (at, _, command) in commands(transcript) {
        match command {
            Command::Position(it) => position = resolve(&it, transcript.dialect.game()),
            Command::Go(go) => {
                let (Some(position), Some(only)) = (&position, &go.search_moves) else { continue };
                if let Some(token) = only.tokens().find(|token| position.parse_move(token).is_err())
                {
                    return Err((at, message!("client.illegal-move", mv = token)));
                }
                seen += 1;
            }
            _ => (),
        }
    }
    Ok(seen)
}

/// Verifies that only declared options are set, to valid values.
fn declared_options(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    let mut declared: Vec<OptionDecl<'_>> = Vec::new();
    for (at, entry) in transcript.entries.iter().enumerate() {
        match entry.side {
            Party::Engine => {
                if let Reply::Option(decl) = Reply::read(&entry.text, transcript.dialect).value {
                    declared.push(decl);
                }
            }
            Party::Client => {
                let Command::SetOption(set) = Command::read(&entry.text, transcript.dialect).value
                else {
                    continue;
                };
                let same =
                    |decl: &&OptionDecl<'_>| transcript.dialect.same_option(&decl.name, &set.name);
                match declared.iter().find(same) {
                    Some(decl) if decl.value(set.value.as_deref()).is_ok() => seen += 1,
                    Some(_) => {
                        return Err((at, message!("client.invalid-value", option = &set.name)));
                    }
                    None if transcript.dialect.sends_undeclared(&set.name) => (),
                    None => {
                        return Err((at, message!("client.undeclared-option", option = &set.name)));
                    }
                }
            }
        }
    }
    Ok(seen)
}

/// Verifies that `go` has a clock of the side to move.
fn own_clock(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    let mut first_moves = Some(true);
    for (at, _, command) in commands(transcript) {
        match command {
            Command::Position(it) => {
                let position = resolve(&it, transcript.dialect.game());
                first_moves =
                    position.map(|position| position.turn() == readyok_rules::Side::First);
            }
            Command::Go(go) => {
                let clocks = &go.clocks;
                // In shogi Black moves first.
                let white_first = transcript.dialect == Dialect::Uci;
                let sent = clocks.white_time.is_some() || clocks.black_time.is_some();
                let (Some(first), true) = (first_moves, sent) else { continue };
                let own = if first == white_first { clocks.white_time } else { clocks.black_time };
                if own.is_none() {
                    return Err((at, message!("client.no-own-clock")));
                }
                seen += 1;
            }
            _ => (),
        }
    }
    Ok(seen)
}

/// Verifies that clocks are not negative, and in UCI not zero.
fn valid_clocks(transcript: &Transcript) -> Observation {
    let least = i64::from(transcript.dialect == Dialect::Uci);
    let mut seen = 0;
    for (at, _, command) in commands(transcript) {
        let Command::Go(go) = command else { continue };
        let clocks = &go.clocks;
        let left = [clocks.white_time, clocks.black_time];
        let added = [clocks.white_increment, clocks.black_increment, clocks.byoyomi];
        let is_over = left.into_iter().flatten().any(|time| time < least);
        if is_over || added.into_iter().flatten().any(|time| time < 0) {
            return Err((at, message!("client.invalid-clock")));
        }
        seen += usize::from(!clocks.is_empty());
    }
    Ok(seen)
}

/// Verifies that limits are not zero.
fn positive_limits(transcript: &Transcript) -> Observation {
    let mut seen = 0;
    for (at, _, command) in commands(transcript) {
        let Command::Go(go) = command else { continue };
        let is_zero = go.depth == Some(0)
            || go.nodes == Some(0)
            || go.move_time == Some(Duration::ZERO)
            || go.mate == Some(MateLimit::Moves(0))
            || go.clocks.moves_to_go == Some(0);
        if is_zero {
            return Err((at, message!("client.zero-limit")));
        }
        seen += 1;
    }
    Ok(seen)
}

/// Verifies that the client sends `quit`.
fn sends_quit(transcript: &Transcript) -> Observation {
    let Some((at, ..)) = commands(transcript).last() else { return Ok(0) };
    // A client without a search is not checked.
    if !transcript.complete
        || !commands(transcript).any(|(.., command)| matches!(command, Command::Go(_)))
    {
        return Ok(0);
    }
    if commands(transcript).any(|(.., command)| command == Command::Quit) {
        return Ok(1);
    }
    Err((at, message!("client.no-quit")))
}

/// Maximum number of plies that a takeback removes.
const TAKEBACK: usize = 4;

/// Verifies that a game, a search with clocks, begins with `ucinewgame` or `usinewgame`. A later game begins where the
/// moves do not continue those of the last search.
pub(super) fn new_game(transcript: &Transcript) -> Observation {
    let (mut sent, mut seen) = (false, 0);
    let mut line: (String, Vec<String>) = Default::default();
    let mut last: Option<(String, Vec<String>)> = None;
    for (at, _, command) in commands(transcript) {
        match command {
            Command::NewGame => sent = true,
            Command::Position(position) => {
                let root = match &position.root {
                    Root::StartPos => String::new(),
                    Root::Fen(fen) => fen.as_str().to_owned(),
                    Root::Sfen(sfen) => sfen.as_str().to_owned(),
                };
                line = (root, position.moves.tokens().map(str::to_owned).collect());
            }
            Command::Go(go) if go.clocks.black_time.is_some() || go.clocks.white_time.is_some() => {
                let continues = last.as_ref().is_some_and(|(root, moves)| {
                    let is_takeback =
                        moves.starts_with(&line.1) && moves.len() - line.1.len() <= TAKEBACK;
                    *root == line.0 && (line.1.starts_with(moves) || is_takeback)
                });
                if !continues && !sent {
                    return Err((
                        at,
                        message!("client.not-preceded", command = transcript.dialect.new_game()),
                    ));
                }
                seen += usize::from(!continues);
                sent = false;
                last = Some(line.clone());
            }
            _ => (),
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(lines: &[&str]) -> Transcript {
        let mut transcript = Transcript::new(Dialect::Uci, true);
        for line in lines {
            transcript.add(TranscriptEntry::new(Duration::ZERO, Party::Client, (*line).into()));
        }
        transcript
    }

    #[test]
    fn every_game_begins_with_a_new_game_command() {
        let go = "go wtime 1000 btime 1000";
        let game = ["ucinewgame", "position startpos", go, "position startpos moves e2e4 e7e5", go];
        assert_eq!(new_game(&session(&game)).ok(), Some(1));
        let second = ["position startpos moves d2d4", go];
        let twice = [&game[..], &second[..]].concat();
        assert_eq!(new_game(&session(&twice)).err().map(|(at, _)| at), Some(6));
        let repeated = [&game[..], &["ucinewgame"], &second[..]].concat();
        assert_eq!(new_game(&session(&repeated)).ok(), Some(2));
        assert!(new_game(&session(&second)).is_err());
        // An analysis is not a game.
        assert_eq!(new_game(&session(&["position startpos", "go depth 3"])).ok(), Some(0));
    }
}
