//! Checks of the conduct of clients: passive checks of all their commands.

use readyok_protocol::{Command, Party, Root};

use crate::context::{Test, TestCase};
use crate::message::message;
use crate::spec::Observation;
use crate::spec::rule;
use crate::spec::{Check, Clause, Profile, Severity};
use crate::transcript::{Transcript, TranscriptEntry};

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

pub(super) const CHECKS: &[TestCase] = &[
    rule!(BeforeUciOk, Profile::ALL, &[], "wait for `uciok` or `usiok`"),
    rule!(RepeatedUci, Profile::ALL, &[], "send `uci` or `usi` once per process"),
    rule!(
        BusyEngine,
        Profile::ALL,
        &[],
        "after `stop` wait for `bestmove` before sending other commands"
    ),
    rule!(
        SearchBeforeReady,
        Profile::ALL,
        &[],
        "send `isready` before the first search, and wait for `readyok`"
    ),
    rule!(SearchWithoutPosition, Profile::ALL, &[], "send `position` before `go`"),
    rule!(
        PonderHitWithoutPonder,
        Profile::ALL,
        &[],
        "send `ponderhit` only while the engine ponders"
    ),
    rule!(
        PonderHitAfterOtherMove,
        Profile::ALL,
        &[],
        "send `stop` if another move than the expected one was played"
    ),
    rule!(
        PonderAfterEnd,
        Profile::ALL,
        &[],
        "end the game at its last move, also if the engine has expected it"
    ),
    rule!(RegistrationUnanswered, Profile::ALL, &[], "reply with `register later`"),
    rule!(AfterQuit, Profile::ALL, &[], "send nothing after `quit`"),
    rule!(UnknownCommand, Profile::ALL, &[], "send only commands of the protocol of the handshake"),
    rule!(IllegalPosition, Profile::ALL, &[], "check the legality of moves before playing them"),
    rule!(IllegalSearchMove, Profile::ALL, &[], "use legal moves of the position that was sent"),
    rule!(UndeclaredOption, Profile::ALL, &[], "look up options in the engine's declarations"),
    rule!(InvalidOptionValue, Profile::ALL, &[], "compare values with the engine's declarations"),
    rule!(NoOwnClock, Profile::ALL, &[], "send `wtime` and `btime` together"),
    rule!(
        InvalidClock,
        Profile::ALL,
        &[],
        "end the game of a side without time; omit an increment that does not apply"
    ),
    rule!(SearchWithoutLimit, Profile::ALL, &[], "send `go infinite` for a search without a limit"),
    rule!(ZeroLimit, Profile::ALL, &[], "omit a limit that does not apply"),
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
    rule!(
        PositionForm,
        Profile::ALL,
        &[],
        "send a complete FEN or SFEN, and moves in protocol notation"
    ),
    rule!(
        GoForm,
        Profile::ALL,
        &[],
        "send milliseconds as non-negative integers, and each limit once"
    ),
    rule!(SetOptionForm, Profile::ALL, &[], "send `setoption name <name> value <value>`"),
];

/// The commands with the indexes of their entries.
fn commands(
    transcript: &Transcript,
) -> impl Iterator<Item = (usize, &TranscriptEntry, Command<'_>)> {
    let of_client =
        transcript.entries.iter().enumerate().filter(|(_, entry)| entry.side == Party::Client);
    of_client.map(|(at, entry)| (at, entry, Command::read(&entry.text, transcript.dialect).value))
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
    let (mut sent, mut seen, mut ponders) = (false, 0, false);
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
                    // The expected move of `go ponder` may not have been played.
                    let moves = if ponders {
                        moves.split_last().map_or(&[][..], |(_, moves)| moves)
                    } else {
                        moves
                    };
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
                ponders = go.ponder;
                last = Some(line.clone());
            }
            _ => (),
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use readyok_protocol::Dialect;

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
