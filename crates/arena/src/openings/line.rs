//! Parsing and validation of single openings, and random lines of a Polyglot book.

use std::fs::File;
use std::io;

use readyok_client::Dialect;
use readyok_protocol::{Command, DiagnosticKind, Root};
use readyok_rules::record::{self, Format, GameRecord};
use readyok_rules::{EndRules, Epd, Game, Position};

use super::OpeningFault;
use crate::pairing::Opening;
use crate::rng;

/// Limits of all openings of a source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Maximum number of moves.
    pub(super) plies: Option<u32>,
    /// The rules that end a game.
    pub(super) rules: EndRules,
}

/// A start position and moves.
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

    /// Validates the opening, which has this index in its source.
    pub(super) fn opening(self, index: u64, bounds: &Bounds) -> Result<Opening, OpeningFault> {
        let Self { start, mut moves, name } = self;
        if let Some(plies) = bounds.plies {
            moves.truncate(usize::try_from(plies).unwrap_or(usize::MAX));
        }
        let default = Position::start(start.game()).to_string();
        let position = Some(start.to_string()).filter(|position| *position != default);
        let end = start.after(&moves)?;
        if let Some(ending) = end.outcome_under(&bounds.rules) {
            return Err(OpeningFault::Over(ending.termination));
        }
        Ok(Opening { position, moves, name, index })
    }
}

/// Parses EPD, FEN, SFEN, or the arguments of the UCI and USI command `position`, with or without the command name.
pub(super) fn position(game: Game, bytes: &[u8]) -> Result<Line, OpeningFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| OpeningFault::NotText)?.trim();
    match text.split_ascii_whitespace().next() {
        Some("position") => position_command(game, text),
        Some("startpos" | "fen" | "sfen") => position_command(game, &format!("position {text}")),
        _ if game == Game::Shogi => Ok(Line::from(Position::from_text(game, text)?, None)),
        _ => {
            let epd = Epd::read(game, text)?;
            let name = epd.id().map(str::to_owned);
            Ok(Line::from(epd.position, name))
        }
    }
}

fn position_command(game: Game, line: &str) -> Result<Line, OpeningFault> {
    let dialect = match game {
        Game::Chess | Game::Chess960 => Dialect::Uci,
        Game::Shogi => Dialect::Usi,
    };
    let reading = Command::read(line, dialect);
    let unexpected = reading.diagnostics.iter().find(|note| match note.kind {
        DiagnosticKind::MissingKeyword
        | DiagnosticKind::WrongCase
        | DiagnosticKind::UnusualPosition
        | DiagnosticKind::MoveRepaired
        // The error of the move itself is more specific.
        | DiagnosticKind::NotAMove => false,
        _ => true,
    });
    if let Some(note) = unexpected {
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

/// The main line of a PGN game. An error has its line number, counted from 1.
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
    // After a null move or an illegal one there is no game to play.
    let moves = record.mainline().map_while(|node| node.mv()?.legal());
    let moves: Vec<String> = moves.map(|mv| mv.to_uci(form)).collect();
    // The parsers of shogi records ignore unknown lines: other files are records without moves.
    let is_empty =
        moves.is_empty() && record.start().to_string() == Position::start(game).to_string();
    if is_empty && game == Game::Shogi {
        return Err(OpeningFault::NoMoves);
    }
    Ok(Line::with_moves(record.start().clone(), moves))
}

pub(super) fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 40;
    let mut chars = text.chars();
    let mut short: String = chars.by_ref().take(MAX_CHARS).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}

/// A Polyglot book, which is not loaded into memory.
#[derive(Debug)]
pub(super) struct Polyglot {
    book: readyok_rules::PolyglotBook<File>,
    seed: u64,
    plies: u32,
}

/// Lines of books are far shorter, but a book may contain cycles.
const MAX_PLIES: u32 = 400;

impl Polyglot {
    pub(super) fn open(file: File, plies: Option<u32>, seed: u64) -> Result<Self, OpeningFault> {
        let plies = plies.ok_or(OpeningFault::NoPlies)?.min(MAX_PLIES);
        let bytes = file.metadata()?.len();
        let mut book =
            readyok_rules::PolyglotBook::new(file).map_err(|error| match error.kind() {
                io::ErrorKind::InvalidData => OpeningFault::NotPolyglot { bytes },
                _ => error.into(),
            })?;
        if book.moves(&Position::start(Game::Chess))?.is_empty() {
            return Err(OpeningFault::Empty);
        }
        Ok(Self { book, seed, plies })
    }

    /// A random line of the book. Moves are chosen in proportion to their weights.
    pub(super) fn line(&mut self, game: Game, index: u64) -> Result<Line, OpeningFault> {
        let seed = rng::number(self.seed, index);
        let start = Position::start(game);
        let (mut position, mut line) = (start.clone(), Vec::new());
        for ply in 0..self.plies {
            let moves = self.book.moves(&position)?;
            let total: u64 = moves.iter().map(|&(_, weight)| u64::from(weight)).sum();
            if total == 0 {
                break;
            }
            let mut rest = rng::number(seed, ply.into()) % total;
            let chosen = moves.into_iter().find(|&(_, weight)| {
                let is_chosen = rest < weight.into();
                rest = rest.saturating_sub(weight.into());
                is_chosen
            });
            let Some((mv, _)) = chosen else { break };
            line.push(mv.to_uci(game.castling_form()));
            if position.play(mv).is_err() || position.outcome().is_some() {
                break;
            }
        }
        Ok(Line::with_moves(start, line))
    }
}
