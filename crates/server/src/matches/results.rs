//! The results file of a match: single games, and the files that readers download.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use readyok_arena::export::Form;
use readyok_arena::pairing::PairResult;
use readyok_arena::report::Report;
use readyok_arena::store::{Origin, Reader};
use readyok_rules::Game;

use super::bad_store;
use super::live::{Finished, finished, number_of};
use crate::wire::{ApiError, ErrorSubject};

/// A file of a match that readers download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchFile {
    /// The games: PGN, or CSA for shogi.
    Games,
    /// The results file, with which a match can be resumed.
    Results,
    /// The report, an HTML page.
    Report,
}

impl MatchFile {
    /// The file with this name in an address.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "games" => Some(Self::Games),
            "results" => Some(Self::Results),
            "report" => Some(Self::Report),
            _ => None,
        }
    }

    /// The extension and the content type.
    pub fn kind(self, game: Game) -> (&'static str, &'static str) {
        match (self, game) {
            (Self::Games, Game::Shogi) => ("csa", "text/plain; charset=utf-8"),
            (Self::Games, Game::Chess | Game::Chess960) => {
                ("pgn", "application/x-chess-pgn; charset=utf-8")
            }
            (Self::Results, _) => ("jsonl", "application/jsonl; charset=utf-8"),
            (Self::Report, _) => ("html", "text/html; charset=utf-8"),
        }
    }
}

/// Receives the parts of a file. An error ends the writing.
pub(super) type Parts<'a> = &'a mut dyn FnMut(Vec<u8>) -> io::Result<()>;

/// Minimum size of a part, except the last one, in bytes.
const PART: usize = 64 << 10;

/// The stored results of a match.
#[derive(Clone, Debug)]
pub struct Results(PathBuf);

impl Results {
    /// The results in a file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn reader(&self) -> Result<Reader, ApiError> {
        Reader::open(&self.0).map_err(|error| bad_store(&error))
    }

    /// The program and the machine that created the file, and the hashes of the files of the match.
    ///
    /// # Errors
    /// The results cannot be read.
    pub fn origin(&self) -> Result<Origin, ApiError> {
        Ok(self.reader()?.origin())
    }

    /// The game of chess or shogi.
    ///
    /// # Errors
    /// The results cannot be read.
    pub fn variant(&self) -> Result<Game, ApiError> {
        Ok(self.reader()?.plan().game)
    }

    /// The game with this number in the match.
    ///
    /// # Errors
    /// The game does not exist, or the results cannot be read.
    pub fn game(&self, number: u32) -> Result<Finished, ApiError> {
        let (plan, pair) = self.pair_of(number)?;
        let game = finished(&plan, &pair).into_iter().find(|game| game.number == number);
        game.ok_or_else(|| ApiError::not_found(ErrorSubject::Game, number))
    }

    /// The pair with the game of this number.
    fn pair_of(&self, number: u32) -> Result<(readyok_arena::plan::Plan, PairResult), ApiError> {
        let reader = self.reader()?;
        let plan = reader.plan().clone();
        for pair in reader {
            let pair = pair.map_err(|error| bad_store(&error))?;
            let mut numbers = (0..).zip(&pair.games).map(|(index, _)| number_of(&pair, index));
            if numbers.any(|known| known == number) {
                return Ok((plan, pair));
            }
        }
        Err(ApiError::not_found(ErrorSubject::Game, number))
    }

    /// The record of the game with this number.
    ///
    /// # Errors
    /// The game does not exist, or the results cannot be read.
    pub fn record(&self, number: u32) -> Result<Vec<u8>, ApiError> {
        let (plan, pair) = self.pair_of(number)?;
        let index = (0..).zip(&pair.games).position(|(index, _)| number_of(&pair, index) == number);
        let texts = form(plan.game).texts(&plan, &pair).unwrap_or_default();
        let text = index.and_then(|index| texts.into_iter().nth(index));
        text.map(String::into_bytes).ok_or_else(|| ApiError::not_found(ErrorSubject::Game, number))
    }

    /// The report as an HTML page.
    ///
    /// # Errors
    /// The results cannot be read.
    pub fn report(&self) -> Result<String, ApiError> {
        let mut reader = self.reader()?;
        let mut report = Report::new(reader.plan());
        for pair in reader.by_ref() {
            report.add(&pair.map_err(|error| bad_store(&error))?);
        }
        Ok(report.with_origin(reader.origin()).html())
    }

    /// Writes a file in parts. The match may be running: the file ends with its last complete pair.
    ///
    /// # Errors
    /// The results cannot be read, or a part is not received.
    pub fn write(&self, file: MatchFile, parts: Parts<'_>) -> io::Result<()> {
        match file {
            MatchFile::Games => self.write_games(parts),
            MatchFile::Results => self.write_lines(parts),
            MatchFile::Report => {
                let report = self.report();
                parts(report.map_err(|error| io::Error::other(error.error.to_string()))?.into())
            }
        }
    }

    fn write_games(&self, parts: Parts<'_>) -> io::Result<()> {
        let reader = Reader::open(&self.0).map_err(io::Error::other)?;
        let plan = reader.plan().clone();
        let mut part = Vec::new();
        for pair in reader {
            let pair = pair.map_err(io::Error::other)?;
            for text in form(plan.game).texts(&plan, &pair).map_err(io::Error::other)? {
                part.extend_from_slice(text.as_bytes());
            }
            if PART <= part.len() {
                parts(std::mem::take(&mut part))?;
            }
        }
        parts(part)
    }

    fn write_lines(&self, parts: Parts<'_>) -> io::Result<()> {
        let file = File::open(&self.0)?;
        let length = file.metadata()?.len();
        let mut reader = BufReader::new(file.take(length));
        let mut part = Vec::new();
        loop {
            let before = part.len();
            reader.read_until(b'\n', &mut part)?;
            if part.last() != Some(&b'\n') || part.len() == before {
                // The last line is being written.
                part.truncate(before);
                return parts(part);
            }
            if PART <= part.len() {
                parts(std::mem::take(&mut part))?;
            }
        }
    }
}

/// The format of the records of a game.
fn form(game: Game) -> Form {
    match game {
        Game::Shogi => Form::Csa,
        Game::Chess | Game::Chess960 => Form::Pgn(readyok_arena::export::PgnStyle::default()),
    }
}
