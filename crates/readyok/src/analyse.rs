//! `readyok analyse`: searches a position and prints the information of the engine, or analyses the positions of files.

mod input;
mod line;
mod record;
mod run;
mod search;
mod suite;
mod summary;
mod tablebase;
mod view;

use std::io;
use std::time::Duration;

use readyok_client::{self as client, Engine, EngineError, Search};
use readyok_protocol::{Dialect, MoveList};
use readyok_rules::record::MoveLine;
use readyok_rules::{Game, LineError, Notation, Position, PositionError};

pub(crate) use input::PlyChoice;
pub(crate) use record::Form;
pub(crate) use run::{Batch, run};
pub(crate) use search::{BatchEngine, SearchSettings};
pub(crate) use summary::SummaryForm;
pub use tablebase::TablebaseReport;
pub use view::{Json, Lines, Screen, View, line, table};

use crate::clock::now;
use crate::exit::{Code, Interrupts};

/// Interval between two frames of the table.
const FRAME_INTERVAL: Duration = Duration::from_millis(100);

/// Runs a search and prints its information and its result.
///
/// The first interrupt stops the search and prints its result. The second one aborts it.
///
/// # Errors
/// The engine fails, or writing fails.
pub fn analyse(
    engine: &mut Engine,
    setup: &AnalysisPosition,
    search: Search,
    view: &mut dyn View,
    interrupts: &Interrupts,
) -> Result<Code, AnalyseError> {
    let analysis = engine.analyse(&setup.game, search)?;
    interrupts.stop_with(analysis.stopper());
    let mut next_frame = now();
    loop {
        if 1 < interrupts.count() {
            return Ok(Code::Interrupted);
        }
        // Checked first, so that all information before `bestmove` is printed.
        let is_over = analysis.is_over();
        match analysis.next_within(next_frame.saturating_duration_since(now())) {
            Some(update) => view.update(&update.info)?,
            None if is_over => break,
            None => (),
        }
        if next_frame <= now() {
            view.frame(&analysis.so_far().iter().collect::<Vec<_>>())?;
            next_frame = now() + FRAME_INTERVAL;
        }
    }
    let result = analysis.wait()?;
    view.frame(&result.lines.iter().collect::<Vec<_>>())?;
    view.end(&result)?;
    Ok(Code::Done)
}

/// An analysis without a result.
#[derive(Debug, thiserror::Error)]
pub enum AnalyseError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Writing failed.
    #[error("cannot write the analysis: {0}")]
    Output(#[from] io::Error),
}

/// A legal position. Checked before the engine receives it, because engines crash on illegal positions.
#[derive(Clone, Debug)]
pub struct AnalysisPosition {
    /// The position for the engine.
    pub game: client::Game,
    /// The position after all moves.
    pub position: Position,
}

/// The start position of a game.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Start {
    /// The initial position.
    #[default]
    Initial,
    /// A chess position.
    Fen(String),
    /// A shogi position.
    Sfen(String),
}

impl AnalysisPosition {
    /// Plays moves in any notation from a start position.
    ///
    /// # Errors
    /// The position or a move is illegal, or the position belongs to another game.
    pub fn new(game: Game, start: &Start, moves: &str) -> Result<Self, AnalysisPositionError> {
        let (position, mut sent) = match (start, game) {
            (Start::Initial, _) => (Position::start(game), client::Game::startpos()),
            (Start::Fen(fen), Game::Chess | Game::Chess960) => {
                let position = read(game, fen)?;
                let sent = client::Game::from_fen(&position.to_string());
                (position, sent.map_err(AnalysisPositionError::Unsupported)?)
            }
            (Start::Sfen(sfen), Game::Shogi) => {
                let position = read(game, sfen)?;
                let sent = client::Game::from_sfen(&position.to_string());
                (position, sent.map_err(AnalysisPositionError::Unsupported)?)
            }
            (Start::Fen(_), Game::Shogi) | (Start::Sfen(_), Game::Chess | Game::Chess960) => {
                return Err(AnalysisPositionError::OtherGame { game });
            }
        };
        if game == Game::Chess960 {
            sent = sent.chess960();
        }
        let line = MoveLine::after(position, moves)?;
        // Normalizes the notation of castling.
        sent.extend(line.moves().iter().map(|mv| mv.uci(game.castling_form())));
        Ok(Self { game: sent, position: line.end().clone() })
    }

    /// The root moves of `go searchmoves`, in the engine's notation. `None` without moves.
    ///
    /// # Errors
    /// A move is illegal.
    pub fn search_moves<'m>(
        &self,
        moves: impl IntoIterator<Item = &'m str>,
    ) -> Result<Option<MoveList<'static>>, AnalysisPositionError> {
        let form = self.position.game().castling_form();
        let mut list = None;
        for (index, text) in moves.into_iter().enumerate() {
            let failed = |error| AnalysisPositionError::SearchMoves(LineError { index, error });
            let mv = self.position.parse_any(text).map_err(failed)?;
            let list: &mut MoveList<'_> = list.get_or_insert_default();
            list.extend([mv.uci(form)]);
        }
        Ok(list)
    }

    /// The protocol of the game.
    pub fn dialect(&self) -> Dialect {
        dialect(self.position.game())
    }
}

fn read(game: Game, text: &str) -> Result<Position, AnalysisPositionError> {
    let invalid =
        |error| AnalysisPositionError::Position { text: text.chars().take(100).collect(), error };
    Position::from_text(game, text).map_err(invalid)
}

/// The protocol of a game.
pub fn dialect(game: Game) -> Dialect {
    match game {
        Game::Chess | Game::Chess960 => Dialect::Uci,
        Game::Shogi => Dialect::Usi,
    }
}

/// Formats moves in a human-readable notation.
#[derive(Clone, Debug)]
pub struct MoveFormatter {
    position: Position,
    notation: Notation,
}

impl MoveFormatter {
    /// Creates a formatter for lines from a position.
    pub fn new(position: Position, notation: Notation) -> Self {
        Self { position, notation }
    }

    /// Formats a line. The first illegal move and the moves after it are not converted.
    pub fn line<'m>(&self, moves: impl IntoIterator<Item = &'m str>) -> Vec<String> {
        self.position.notate(moves, self.notation)
    }

    /// Formats a move. `None` if it is illegal.
    pub fn one(&self, mv: &str) -> Option<String> {
        let mv = self.position.parse_move(mv).ok()?;
        Some(self.position.notation(mv, self.notation))
    }

    /// Formats the reply to a move. `None` if one of them is illegal.
    pub fn reply(&self, mv: &str, reply: &str) -> Option<String> {
        let position = self.position.clone().after([mv]).ok()?;
        Self { position, notation: self.notation }.one(reply)
    }
}

/// An invalid position or move.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AnalysisPositionError {
    /// The position is malformed or illegal.
    #[error("invalid position `{}`: {error}", text.escape_debug())]
    Position {
        /// The position, truncated.
        text: String,
        error: PositionError,
    },
    /// A move is illegal.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A root move of `--searchmoves` is illegal.
    #[error("--searchmoves: {0}")]
    SearchMoves(LineError),
    /// A FEN for shogi, or an SFEN for chess.
    #[error("{} positions need {}", if *game == Game::Shogi { "shogi" } else { "chess" }, if *game == Game::Shogi { "--sfen, not --fen" } else { "--fen, not --sfen" })]
    OtherGame {
        /// The game of the analysis.
        game: Game,
    },
    /// The protocol cannot represent the legal position.
    #[error(transparent)]
    Unsupported(readyok_protocol::PositionError),
}
