//! Texts made into openings, and checked by the rules.

use readyok_client::Dialect;
use readyok_protocol::{Command, DiagnosticKind, Root};
use readyok_rules::record::{self, Format, GameRecord, Node};
use readyok_rules::{EndRules, Epd, Game, Position};

use super::OpeningFault;
use crate::pairing::Opening;

/// How far openings are played, and by which rules a game would be over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) plies: Option<u32>,
    pub(super) rules: EndRules,
}

/// A start and the moves that were played from it.
pub(super) struct Line {
    start: Position,
    moves: Vec<String>,
    name: Option<String>,
}

impl Line {
    pub(super) fn from(start: Position, name: Option<String>) -> Self {
        Self { start, moves: Vec::new(), name }
    }

    pub(super) fn with_moves(start: Position, moves: Vec<String>) -> Self {
        Self { start, moves, name: None }
    }

    /// The opening of this number in its source, if it can be played.
    pub(super) fn opening(self, index: u64, bounds: &Bounds) -> Result<Opening, OpeningFault> {
        let Self { start, mut moves, name } = self;
        if let Some(plies) = bounds.plies {
            moves.truncate(usize::try_from(plies).unwrap_or(usize::MAX));
        }
        let usual = Position::start(start.game()).to_string();
        let position = Some(start.to_string()).filter(|position| *position != usual);
        let end = start.after(&moves)?;
        if let Some(ending) = end.outcome_under(&bounds.rules) {
            return Err(OpeningFault::Over(ending.termination));
        }
        Ok(Opening { position, moves, name, index })
    }
}

/// An EPD or FEN, an SFEN, or what follows `position` in UCI and USI, with or without that word.
pub(super) fn position(game: Game, bytes: &[u8]) -> Result<Line, OpeningFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| OpeningFault::NotText)?.trim();
    match text.split_ascii_whitespace().next() {
        Some("position") => command(game, text),
        Some("startpos" | "fen" | "sfen") => command(game, &format!("position {text}")),
        _ if game == Game::Shogi => Ok(Line::from(Position::from_text(game, text)?, None)),
        _ => {
            let epd = Epd::read(game, text)?;
            let name = epd.id().map(str::to_owned);
            Ok(Line::from(epd.position, name))
        }
    }
}

fn command(game: Game, line: &str) -> Result<Line, OpeningFault> {
    let dialect = match game {
        Game::Chess | Game::Chess960 => Dialect::Uci,
        Game::Shogi => Dialect::Usi,
    };
    let reading = Command::read(line, dialect);
    let strange = reading.diagnostics.iter().find(|note| match note.kind {
        DiagnosticKind::MissingKeyword
        | DiagnosticKind::WrongCase
        | DiagnosticKind::UnusualPosition
        | DiagnosticKind::MoveRepaired
        // The rules say better what is wrong with a move.
        | DiagnosticKind::NotAMove => false,
        _ => true,
    });
    if let Some(note) = strange {
        let text = line.get(note.span.clone()).unwrap_or(line);
        return Err(OpeningFault::Unexpected(shortened(text)));
    }
    let Command::Position(position) = reading.value else {
        return Err(OpeningFault::Unexpected(shortened(line)));
    };
    let start = match &position.root {
        Root::StartPos => Position::start(game),
        Root::Fen(fen) => Position::from_text(game, fen.as_str())?,
        Root::Sfen(sfen) => Position::from_text(game, sfen.as_str())?,
    };
    let moves = position.moves.tokens().map(str::to_owned).collect();
    Ok(Line::with_moves(start, moves))
}

/// The main line of a game as PGN has it.
///
/// An error has its line in the text, from 1 on.
pub(super) fn pgn(game: Game, bytes: &[u8]) -> Result<Line, (u64, OpeningFault)> {
    match record::read(bytes, Format::Pgn).next() {
        Some(Ok(record)) => main_line(game, &record).map_err(|fault| (1, fault)),
        Some(Err(error)) => Err((error.line, OpeningFault::Record(error.kind))),
        None => Err((1, OpeningFault::Empty)),
    }
}

/// The main line of a record.
pub(super) fn main_line(game: Game, record: &GameRecord) -> Result<Line, OpeningFault> {
    if record.game() != game {
        return Err(OpeningFault::OtherGame { game });
    }
    let form = game.castling_form();
    let moves: Vec<String> =
        record.mainline().filter_map(Node::mv).map(|mv| mv.to_uci(form)).collect();
    // Their readers pass over lines that they do not know, so that what is no record has no moves.
    let is_nothing =
        moves.is_empty() && record.start().to_string() == Position::start(game).to_string();
    if is_nothing && game == Game::Shogi {
        return Err(OpeningFault::NoMoves);
    }
    Ok(Line::with_moves(record.start().clone(), moves))
}

pub(super) fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}
