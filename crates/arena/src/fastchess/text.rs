//! Lines that scripts parse: starts and results of games, terminations, and warnings.

use std::fmt::Write;

use readyok_protocol::OptionError;
use readyok_rules::{Game, Side, Termination};

use crate::queue::WarningContext;
use crate::result::{EndSentence, EngineFailure, EngineFailureKind, GameEnd, WarningKind};

/// The line at the start of a game. `number` starts at 1.
pub fn started(number: u64, total: u64, first: &str, second: &str) -> String {
    format!("Started game {number} of {total} ({first} vs {second})")
}

/// The line at the end of a game.
pub fn finished(number: u64, first: &str, second: &str, end: &GameOver<'_>) -> String {
    let (score, why) = (end.score(), end.reason());
    format!("Finished game {number} ({first} vs {second}): {score} {{{why}}}")
}

/// A warning about an engine, in four lines, or in one line with `-testEnv`.
pub fn warning(engine: &str, context: &WarningContext, one_line: bool) -> String {
    let played = context.played.as_deref().unwrap_or("<none>");
    let text = match &context.kind {
        WarningKind::IllegalPv { text: token } => {
            format!("Illegal PV move - move {token} from {engine}")
        }
        WarningKind::PvBeyondEnd { text: token, termination: end } => {
            let end = match end.general() {
                Termination::Repetition => "threefold repetition".to_owned(),
                Termination::FiftyMoveRule => "fifty-move rule".to_owned(),
                // fastchess has no text for the ends of shogi.
                other => other.name().replace('-', " "),
            };
            format!("PV continues after {end} - move {token} from {engine}")
        }
        WarningKind::MatePvLength { plies, found } if found < plies => {
            format!("Incomplete mating PV - from {engine}")
        }
        WarningKind::MatePvLength { .. } => format!("Too long mating PV - from {engine}"),
        WarningKind::MatePvWithoutMate => {
            format!("Mating PV does not end with checkmate - from {engine}")
        }
        WarningKind::OtherPv { .. } => {
            format!("Bestmove does not match beginning of last PV - move {played} from {engine}")
        }
        WarningKind::MoveWithoutScore => {
            return format!(
                "Warning; No info line available to extract score from engine {engine}"
            );
        }
        WarningKind::UnsettableOption { name } => {
            return format!("Warning; {engine} doesn't have option {name}");
        }
        WarningKind::UnreadableScore => {
            let line = context.line.as_deref().unwrap_or("");
            let why = score_error(line);
            return format!("Warning; Could not extract score from engine {engine}: {why}");
        }
        WarningKind::OptionNotSet { name, value, cause: OptionError::NotAnInteger { .. } } => {
            return format!(
                "Warning; Failed to set option {name} with value {value} for engine {engine}: stoi"
            );
        }
        WarningKind::OptionNotSet { name, value, .. } => {
            return format!("Warning; Invalid value for option {name}; {value}");
        }
        // fastchess has no such warnings. Texts of engines and clauses could contain terms that parsers count.
        WarningKind::Unregistered { .. } => return format!("Warning; {engine}: is not registered"),
        WarningKind::Restarted { .. } => return format!("Warning; {engine}: was restarted"),
        WarningKind::ProtocolViolation { cause } => {
            return format!("Warning; {engine}: protocol violation: {}", cause.text());
        }
        kind @ (WarningKind::MateScoreConflict { .. }
        | WarningKind::WrongMateSign
        | WarningKind::HostOverloaded { .. }) => return format!("Warning; {engine}: {kind}"),
    };
    let line = context.line.as_deref().unwrap_or("");
    four_parts(&text, &format!("Info; {line}"), context, &context.moves, one_line)
}

/// A warning about the mate scores of two engines: of the opponent, which moved before, and of the
/// mover, each with its color.
pub(super) fn mate_score_conflict(
    [opponent, mover]: [(&str, &str, i64); 2],
    context: &WarningContext,
    one_line: bool,
) -> String {
    let ((name, color, mate), (mover, mover_color, own)) = (opponent, mover);
    let text = format!(
        "Sign mismatch in mate scores {mate} and {own} from {name} ({color}) and {mover} ({mover_color})"
    );
    let infos = format!("Infos; {}", context.line.as_deref().unwrap_or(" ; "));
    let mut moves = context.moves.clone();
    moves.extend(context.played.clone());
    four_parts(&text, &infos, context, &moves, one_line)
}

/// The four lines of a warning.
fn four_parts(
    text: &str,
    infos: &str,
    context: &WarningContext,
    moves: &[String],
    one_line: bool,
) -> String {
    let position = match &context.position {
        None => "startpos".to_owned(),
        Some(fen) => format!("fen {fen}"),
    };
    let parts = [
        format!("Warning; {text}"),
        infos.to_owned(),
        format!("Position; {position}"),
        format!("Moves; {}", moves.join(" ")),
    ];
    parts.join(if one_line { " :: " } else { "\n" })
}

/// The reason why fastchess cannot parse the score of an `info` line.
fn score_error(line: &str) -> String {
    let mut tokens = line.split_ascii_whitespace().skip_while(|token| *token != "score").skip(1);
    match (tokens.next(), tokens.next()) {
        (Some("cp" | "mate"), Some(value)) => format!("Invalid score value: {value}"),
        (Some(_), Some(_)) => format!("Unexpected score type: {line}"),
        _ => "Element 'score' has no type or value".to_owned(),
    }
}

/// The reason of a failed start: fastchess distinguishes only engines that cannot be executed.
pub(super) fn start_failure(failure: &EngineFailure) -> String {
    match failure.kind {
        EngineFailureKind::HandshakeTimeout | EngineFailureKind::OutputClosed => {
            "Engine didn't respond to uciok after startup".to_owned()
        }
        _ => failure.to_string(),
    }
}

/// The log line of an engine failure.
pub(super) fn failure(engine: &str, end: &GameEnd) -> Option<String> {
    match end.termination {
        Termination::TimeForfeit => {
            Some(format!("Engine {engine} loses on time by {}ms", end.overrun_us() / 1000))
        }
        Termination::EngineCrash | Termination::EngineStartFailure => {
            Some(format!("Engine {engine} disconnects"))
        }
        Termination::EngineStall => Some(format!("Engine {engine} stalls")),
        _ => None,
    }
}

/// A text in which other characters than those of ASCII are `?`: the worker of OpenBench ends at them.
pub(super) fn ascii(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii() { letter } else { '?' }).collect()
}

/// Whether a text has the format of a UCI move.
pub(super) fn is_uci_move(text: &str) -> bool {
    let square = |square: &[u8]| matches!(square, [b'a'..=b'h', b'1'..=b'8']);
    let (from, to) = match text.as_bytes() {
        [a, b, c, d] | [a, b, c, d, b'n' | b'b' | b'r' | b'q'] => ([*a, *b], [*c, *d]),
        _ => return false,
    };
    square(&from) && square(&to)
}

/// The result of a game.
#[derive(Clone, Copy, Debug)]
pub struct GameOver<'a> {
    /// The game of the match.
    pub game: Game,
    /// The winner; none is a draw.
    pub winner: Option<Side>,
    /// The termination.
    pub end: &'a GameEnd,
}

impl GameOver<'_> {
    /// `1-0`, `0-1`, `1/2-1/2`, or `*` for an unfinished game.
    pub fn score(&self) -> &'static str {
        let Self { game, winner, end } = *self;
        EndSentence { game, winner, end, max_moves: None }.score()
    }

    /// The termination as fastchess prints it, if it has such a text. The first player is White in
    /// chess and Black in shogi.
    pub fn reason(&self) -> String {
        let game = self.game;
        let color = |side| match (game, side) {
            (Game::Shogi, Side::First) | (Game::Chess | Game::Chess960, Side::Second) => "Black",
            (Game::Shogi, Side::Second) | (Game::Chess | Game::Chess960, Side::First) => "White",
        };
        let winner = self.winner.map_or("No side", color);
        let loser = self.winner.map_or("No side", |side| color(side.other()));
        let drawn = self.winner.is_none();
        let mut text = String::new();
        // Writing into a string cannot fail.
        let _ = match self.end.termination {
            Termination::Checkmate => write!(text, "{winner} mates"),
            Termination::Stalemate if drawn => write!(text, "Draw by stalemate"),
            Termination::Stalemate => write!(text, "{loser} has no move"),
            Termination::Repetition if game == Game::Shogi => {
                write!(text, "Draw by 4-fold repetition")
            }
            Termination::Repetition => write!(text, "Draw by 3-fold repetition"),
            Termination::FiftyMoveRule => write!(text, "Draw by fifty moves rule"),
            Termination::InsufficientMaterial => {
                write!(text, "Draw by insufficient mating material")
            }
            Termination::PerpetualCheck => write!(text, "{loser} gives perpetual check"),
            Termination::Declaration => write!(text, "{winner} wins by declaration"),
            Termination::FailedDeclaration => {
                write!(text, "{loser} makes an invalid win declaration")
            }
            Termination::TryRule => write!(text, "{winner} wins by the try rule"),
            Termination::Impasse => write!(text, "Draw by impasse"),
            Termination::Resignation => write!(text, "{loser} resigns"),
            Termination::DrawAdjudication | Termination::MoveLimit => {
                write!(text, "Draw by adjudication")
            }
            Termination::MateAdjudication => {
                write!(text, "{winner} wins by adjudication: trusted mate score")
            }
            Termination::ResignAdjudication => write!(text, "{winner} wins by adjudication"),
            Termination::TablebaseAdjudication if drawn => {
                write!(text, "Draw by adjudication: SyzygyTB")
            }
            Termination::TablebaseAdjudication => {
                write!(text, "{winner} wins by adjudication: SyzygyTB")
            }
            Termination::TimeForfeit => {
                write!(text, "{loser} loses on time ({}ms overrun)", self.end.overrun_us() / 1000)
            }
            Termination::IllegalMove => write!(text, "{loser} makes an illegal move"),
            Termination::EngineCrash | Termination::EngineStartFailure => {
                write!(text, "{loser} disconnects")
            }
            Termination::EngineStall => write!(text, "{loser}'s connection stalls"),
            Termination::Aborted => write!(text, "Game interrupted"),
            _ => write!(text, "{}", self.end),
        };
        text
    }
}
