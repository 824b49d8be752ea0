//! Game records of a match in files that follow the store.
//!
//! Records depend only on stored pairs, in the order of the store, so the files can always be
//! recreated. On resume, [`Exports::check`] compares the files with the store: missing records are
//! appended and a partial end is truncated. A file with other content is rewritten, and the old one is
//! renamed to the next free name with the ending `.old`. In a directory with one file per game, only
//! differing files are rewritten.

mod error;
mod files;
mod pgn;
mod record;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use readyok_rules::Game;
use readyok_rules::record::Format;

pub use error::ExportError;
pub use pgn::{PgnFields, PgnMoves, PgnStyle};
pub use record::{add_move, game_record, opening_record};

use crate::pairing::{PairResult, Pairing};
use crate::plan::Plan;
use crate::result::MatchGame;
use crate::store::{ExportStart, Store};
use files::{Directory, Follower};

/// An export file and its format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The file, or the directory for KIF.
    pub path: PathBuf,
    /// The format.
    pub form: Form,
    /// The handling of an existing file.
    pub existing: Existing,
}

/// The format of game records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// PGN, for chess and Chess960.
    Pgn(PgnStyle),
    /// The final position of each game: EPD for chess, SFEN for shogi.
    Positions,
    /// CSA for shogi, all games in one file.
    Csa,
    /// KIF for shogi, one file per game in a directory.
    Kif,
}

/// The handling of an existing file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Replace the file; it is renamed if it is of another match.
    #[default]
    Replace,
    /// Replace the file; for a new match it is not kept.
    Overwrite,
    /// Append to the file.
    Append,
}

/// Formats the games of pairs. It can be used by any thread.
#[derive(Clone, Debug)]
pub struct Recorder {
    plan: Arc<Plan>,
    forms: Arc<[Form]>,
}

/// The formatted games of a pair for each export file, or an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records(Vec<Result<Vec<String>, String>>);

impl Recorder {
    /// A recorder for the formats of these files.
    pub fn new(plan: &Plan, exports: &[Export]) -> Self {
        let forms = exports.iter().map(|export| export.form.clone()).collect();
        Self { plan: Arc::new(plan.clone()), forms }
    }

    /// Formats the games of a pair.
    pub fn records(&self, pair: &PairResult) -> Records {
        Records(self.forms.iter().map(|form| form.texts(&self.plan, pair)).collect())
    }
}

/// The export files of a match.
#[derive(Debug, Default)]
pub struct Exports {
    wanted: Vec<Export>,
    recorder: Option<Recorder>,
    targets: Vec<Target>,
}

#[derive(Debug)]
enum Target {
    File(Box<Follower>),
    Directory(Directory),
}

impl Exports {
    /// Export files. They are not opened yet.
    pub fn new(wanted: Vec<Export>) -> Self {
        Self { wanted, recorder: None, targets: Vec::new() }
    }

    /// Opens the files for the match of a store.
    ///
    /// # Errors
    /// A file cannot be read, the game has no such records, or the store cannot be written.
    pub fn begin(&mut self, store: &mut Store) -> Result<(), ExportError> {
        self.recorder = Some(Recorder::new(store.plan(), &self.wanted));
        for export in &self.wanted {
            export.form.check(&export.path, store.plan().game)?;
            let target = match export.form {
                Form::Kif => Target::Directory(Directory::open(&export.path)?),
                Form::Pgn(_) | Form::Positions | Form::Csa => {
                    let from = start_of(export, store)?;
                    // The file of a resumed match may have content worth keeping.
                    let is_new = store.stored().is_empty();
                    let keep_old = !(is_new && export.existing == Existing::Overwrite);
                    Target::File(Box::new(Follower::open(&export.path, from, keep_old)?))
                }
            };
            self.targets.push(target);
        }
        Ok(())
    }

    /// Compares the files with the next pair of the store.
    ///
    /// # Errors
    /// A file cannot be read or written, or a game has an illegal move.
    pub fn check(&mut self, pair: &PairResult) -> Result<(), ExportError> {
        self.each(pair, None, Target::check)
    }

    /// Ends the comparison; further pairs are appended. Returns messages about rewritten files.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn open(&mut self) -> Result<Vec<String>, ExportError> {
        let mut messages = Vec::new();
        for target in &mut self.targets {
            if let Target::File(file) = target {
                messages.extend(file.end_check()?);
            }
        }
        Ok(messages)
    }

    /// Appends a stored pair.
    ///
    /// # Errors
    /// A file cannot be written, or a game has an illegal move.
    pub fn append(&mut self, pair: &PairResult) -> Result<(), ExportError> {
        self.each(pair, None, Target::append)
    }

    /// Appends a stored pair with the records of a [`Recorder`].
    ///
    /// # Errors
    /// A file cannot be written, or a game has an illegal move.
    pub fn append_records(
        &mut self,
        pair: &PairResult,
        records: Records,
    ) -> Result<(), ExportError> {
        self.each(pair, Some(records), Target::append)
    }

    /// Flushes all files to the disk.
    ///
    /// # Errors
    /// Flushing fails.
    pub fn close(&mut self) -> Result<(), ExportError> {
        for target in &mut self.targets {
            if let Target::File(file) = target {
                file.sync()?;
            }
        }
        Ok(())
    }

    fn each(
        &mut self,
        pair: &PairResult,
        records: Option<Records>,
        act: impl Fn(&mut Target, &PairResult, &[String]) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let Some(recorder) = &self.recorder else { return Ok(()) };
        let Records(records) = records.unwrap_or_else(|| recorder.records(pair));
        for (target, games) in self.targets.iter_mut().zip(records) {
            let games = games.map_err(|why| ExportError::game(target.path(), pair, why))?;
            act(target, pair, &games)?;
        }
        Ok(())
    }
}

impl Target {
    fn check(&mut self, pair: &PairResult, games: &[String]) -> Result<(), ExportError> {
        match self {
            Self::File(file) => file.check(&games.concat()),
            Self::Directory(directory) => directory.put(pair, games),
        }
    }

    fn append(&mut self, pair: &PairResult, games: &[String]) -> Result<(), ExportError> {
        match self {
            Self::File(file) => file.append(&games.concat()),
            Self::Directory(directory) => directory.put(pair, games),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::File(file) => file.path(),
            Self::Directory(directory) => directory.path(),
        }
    }
}

impl Export {
    /// Checks that the format supports a game.
    ///
    /// # Errors
    /// The format is for another game.
    pub fn check_game(&self, game: Game) -> Result<(), ExportError> {
        self.form.check(&self.path, game)
    }
}

impl Form {
    /// Checks that the format supports a game.
    fn check(&self, path: &Path, game: Game) -> Result<(), ExportError> {
        let fits = match (self, game) {
            (Self::Positions, _)
            | (Self::Pgn(_), Game::Chess | Game::Chess960)
            | (Self::Csa | Self::Kif, Game::Shogi) => true,
            (Self::Pgn(_), Game::Shogi) | (Self::Csa | Self::Kif, Game::Chess | Game::Chess960) => {
                false
            }
        };
        if fits { Ok(()) } else { Err(ExportError::Form { path: path.to_owned() }) }
    }

    /// The games of a pair as texts.
    fn texts(&self, plan: &Plan, pair: &PairResult) -> Result<Vec<String>, String> {
        (0..pair.games.len()).map(|number| self.text(plan, pair, number)).collect()
    }

    /// A game of a pair as text.
    fn text(&self, plan: &Plan, pair: &PairResult, number: usize) -> Result<String, String> {
        let Some(game) = pair.games.get(number) else { return Ok(String::new()) };
        match self {
            Self::Pgn(style) => pgn::text(style, plan, &pair.pairing, number, game),
            Self::Positions => record::final_position(plan, &pair.pairing, game),
            Self::Csa => {
                let text = record_text(Format::Csa, plan, &pair.pairing, number, game)?;
                // Separates the games of a file.
                Ok(text + "/\n")
            }
            Self::Kif => record_text(Format::Kif, plan, &pair.pairing, number, game),
        }
    }
}

fn record_text(
    format: Format,
    plan: &Plan,
    pairing: &Pairing,
    index: usize,
    game: &MatchGame,
) -> Result<String, String> {
    let record = game_record(plan, pairing, index, game)?;
    let mut out = Vec::new();
    readyok_rules::record::write(&record, format, &mut out).map_err(|error| error.to_string())?;
    String::from_utf8(out).map_err(|error| error.to_string())
}

/// The start of the match in a file.
fn start_of(export: &Export, store: &mut Store) -> Result<u64, ExportError> {
    if export.existing != Existing::Append {
        return Ok(0);
    }
    let path = export.path.to_string_lossy().into_owned();
    let length = match std::fs::metadata(&export.path) {
        Ok(metadata) if !metadata.is_file() => return Ok(0),
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
        Err(error) => return Err(ExportError::io(&export.path, "cannot be read", error)),
    };
    let recorded = store.exports().iter().rev().find(|start| start.path == path);
    match recorded {
        Some(start) if start.from <= length => Ok(start.from),
        // The file is new, or its earlier content was removed.
        None | Some(_) => {
            store.record_export(ExportStart { path, from: length })?;
            Ok(length)
        }
    }
}
