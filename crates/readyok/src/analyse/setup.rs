//! The position to analyse: checked by the rules of its game before any engine hears of it, since
//! engines crash on what is illegal.

use std::error::Error;
use std::fmt;

use readyok_client as client;
use readyok_protocol::{Dialect, MoveList};
use readyok_rules::{Game, LineError, Notation, Position, PositionError};

/// A position that an engine can be told, and that can be shown.
#[derive(Clone, Debug)]
pub struct Setup {
    /// As an engine is told.
    pub game: client::Game,
    /// As the rules know it.
    pub position: Position,
}

/// Where a game starts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Start {
    /// Where games usually do.
    #[default]
    Usual,
    /// At a position of chess.
    Fen(String),
    /// At a position of shogi.
    Sfen(String),
}

impl Setup {
    /// The position after these moves, which are words of UCI or USI.
    ///
    /// # Errors
    /// The position or a move is illegal, or the position belongs to another game.
    pub fn new(game: Game, start: &Start, moves: &[String]) -> Result<Self, SetupError> {
        let (mut position, mut told) = match (start, game) {
            (Start::Usual, _) => (Position::start(game), client::Game::startpos()),
            (Start::Fen(fen), Game::Chess | Game::Chess960) => {
                let position = read(game, fen)?;
                let told = client::Game::from_fen(&position.to_string());
                (position, told.map_err(SetupError::Untold)?)
            }
            (Start::Sfen(sfen), Game::Shogi) => {
                let position = read(game, sfen)?;
                let told = client::Game::from_sfen(&position.to_string());
                (position, told.map_err(SetupError::Untold)?)
            }
            (Start::Fen(_), Game::Shogi) | (Start::Sfen(_), Game::Chess | Game::Chess960) => {
                return Err(SetupError::OtherGame { game });
            }
        };
        if game == Game::Chess960 {
            told = told.chess960();
        }
        for (index, word) in moves.iter().enumerate() {
            let failed = |error| LineError { index, error };
            let mv = position.parse_move(word).map_err(failed)?;
            position.play(mv).map_err(failed)?;
            // Castling is told as the protocol wants it in this game, however it was written.
            told.extend(client::Move::read(&mv.to_uci(game.castling_form()), dialect(game)));
        }
        Ok(Self { game: told, position })
    }

    /// Moves to restrict a search to, in the engine's notation; `None` if there are none.
    ///
    /// # Errors
    /// A move is illegal.
    pub fn search_moves<'m>(
        &self,
        moves: impl IntoIterator<Item = &'m str>,
    ) -> Result<Option<MoveList<'static>>, SetupError> {
        let form = self.position.game().castling_form();
        let mut list = None;
        for (index, text) in moves.into_iter().enumerate() {
            let failed = |error| SetupError::SearchMoves(LineError { index, error });
            let mv = self.position.parse_move(text).map_err(failed)?;
            let list: &mut MoveList<'_> = list.get_or_insert_default();
            list.extend(client::Move::read(&mv.to_uci(form), self.dialect()));
        }
        Ok(list)
    }

    /// The protocol that speaks of this game.
    pub fn dialect(&self) -> Dialect {
        dialect(self.position.game())
    }
}

fn read(game: Game, text: &str) -> Result<Position, SetupError> {
    let refused = |error| SetupError::Position { text: text.chars().take(100).collect(), error };
    Position::from_text(game, text).map_err(refused)
}

/// The protocol that speaks of a game.
pub fn dialect(game: Game) -> Dialect {
    match game {
        Game::Chess | Game::Chess960 => Dialect::Uci,
        Game::Shogi => Dialect::Usi,
    }
}

/// Writes moves for people to read, from one position on.
#[derive(Clone, Debug)]
pub struct Scribe {
    position: Position,
    notation: Notation,
}

impl Scribe {
    /// Writes moves from this position on.
    pub fn new(position: Position, notation: Notation) -> Self {
        Self { position, notation }
    }

    /// Writes a line; from the first word on that is no legal move, the words as they stand.
    pub fn line<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Vec<String> {
        self.position.notate(words, self.notation)
    }

    /// Writes a move. `None` if it is illegal.
    pub fn one(&self, word: &str) -> Option<String> {
        let mv = self.position.parse_move(word).ok()?;
        Some(self.position.notation(mv, self.notation))
    }

    /// Writes the answer to a move. `None` if one of them is illegal.
    pub fn answer(&self, word: &str, answer: &str) -> Option<String> {
        let position = self.position.clone().after([word]).ok()?;
        Self { position, notation: self.notation }.one(answer)
    }
}

/// Why there is nothing to analyse.
#[derive(Clone, Debug)]
pub enum SetupError {
    /// The position cannot be read, or is illegal.
    Position {
        /// As it was given, shortened.
        text: String,
        /// Why.
        error: PositionError,
    },
    /// A move is illegal.
    Line(LineError),
    /// A move to restrict the search to is illegal.
    SearchMoves(LineError),
    /// A FEN for shogi, or an SFEN for chess.
    OtherGame {
        /// The game that was asked for.
        game: Game,
    },
    /// The position is legal, and the protocol cannot tell it.
    Untold(readyok_protocol::PositionError),
}

impl From<LineError> for SetupError {
    fn from(error: LineError) -> Self {
        Self::Line(error)
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Position { text, error } => {
                write!(f, "no position `{}`: {error}", text.escape_debug())
            }
            Self::Line(error) => error.fmt(f),
            Self::SearchMoves(error) => write!(f, "--searchmoves, {error}"),
            Self::OtherGame { game: Game::Shogi } => {
                f.write_str("a position of shogi is given as SFEN, not as FEN")
            }
            Self::OtherGame { game: Game::Chess | Game::Chess960 } => {
                f.write_str("a position of chess is given as FEN, not as SFEN")
            }
            Self::Untold(error) => error.fmt(f),
        }
    }
}

impl Error for SetupError {}
