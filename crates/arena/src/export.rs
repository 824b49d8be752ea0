//! Records of the games of a match, in files that follow the store.
//!
//! A record is made of a stored pair and of nothing else, in the order of the store: whatever
//! happens, the files can be made again, and always say the same as the store. When a match goes
//! on, [`Exports::check`] compares them with it: what is missing at the end is added, a torn end is
//! cut, and a file that says anything else is written anew beside the old one, which then gets the
//! ending `.old`, or the next one that is free. Of a folder with a file for each game those are
//! written that are not as they should be.

mod epd;
mod error;
mod file;
mod folder;
mod old;
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
use file::Follower;
use folder::Folder;

/// Where records go, and how they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// The file, or for KIF the folder.
    pub path: PathBuf,
    /// How games are written.
    pub form: Form,
    /// What becomes of what is there already.
    pub existing: Existing,
}

/// How games are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// PGN, for chess and Chess960.
    Pgn(PgnStyle),
    /// The last position of each game: EPD for chess, SFEN for shogi.
    Positions,
    /// CSA, one game after the other, for shogi.
    Csa,
    /// KIF, for shogi: a file for each game, in a folder.
    Kif,
}

/// What becomes of a file that is there already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// The records take its place, and it is kept under another name if it is not of this match.
    #[default]
    Replace,
    /// The same, but of a new match's file nothing is kept.
    Overwrite,
    /// The records are put at its end.
    Append,
}

/// Writes the games of pairs as texts, in any thread: a match has one that waits for nothing else.
#[derive(Clone, Debug)]
pub struct Recorder {
    plan: Arc<Plan>,
    forms: Arc<[Form]>,
}

/// The games of a pair as texts: for each file of the match, or why there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Records(Vec<Result<Vec<String>, String>>);

impl Recorder {
    /// Writes what a match with these files needs.
    pub fn new(plan: &Plan, exports: &[Export]) -> Self {
        let forms = exports.iter().map(|export| export.form.clone()).collect();
        Self { plan: Arc::new(plan.clone()), forms }
    }

    /// The games of a pair.
    pub fn records(&self, pair: &PairResult) -> Records {
        Records(self.forms.iter().map(|form| form.texts(&self.plan, pair)).collect())
    }
}

/// The files of a match.
#[derive(Debug, Default)]
pub struct Exports {
    wanted: Vec<Export>,
    recorder: Option<Recorder>,
    targets: Vec<Target>,
}

#[derive(Debug)]
enum Target {
    File(Box<Follower>),
    Folder(Folder),
}

impl Exports {
    /// The files that are wanted. Nothing is touched yet.
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
                Form::Kif => Target::Folder(Folder::open(&export.path)?),
                Form::Pgn(_) | Form::Positions | Form::Csa => {
                    let from = start_of(export, store)?;
                    // Of a match that goes on, it may hold what somebody wants to have.
                    let is_new = store.stored().is_empty();
                    let keeps = !(is_new && export.existing == Existing::Overwrite);
                    Target::File(Box::new(Follower::open(&export.path, from, keeps)?))
                }
            };
            self.targets.push(target);
        }
        Ok(())
    }

    /// Compares the files with the next pair of the store.
    ///
    /// # Errors
    /// A file cannot be read or written, or a game has a move that is not legal.
    pub fn check(&mut self, pair: &PairResult) -> Result<(), ExportError> {
        self.each(pair, None, Target::check)
    }

    /// Ends the comparison: from now on pairs are appended. Tells what did not agree.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn open(&mut self) -> Result<Vec<String>, ExportError> {
        let mut told = Vec::new();
        for target in &mut self.targets {
            if let Target::File(file) = target {
                told.extend(file.end_check()?);
            }
        }
        Ok(told)
    }

    /// Writes a pair that was stored.
    ///
    /// # Errors
    /// A file cannot be written, or a game has a move that is not legal.
    pub fn append(&mut self, pair: &PairResult) -> Result<(), ExportError> {
        self.each(pair, None, Target::append)
    }

    /// The same with records that a [`Recorder`] of the match has made of the pair.
    ///
    /// # Errors
    /// As with [`Exports::append`].
    pub fn append_records(
        &mut self,
        pair: &PairResult,
        records: Records,
    ) -> Result<(), ExportError> {
        self.each(pair, Some(records), Target::append)
    }

    /// Brings everything to the disk.
    ///
    /// # Errors
    /// The disk does not take it.
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
            Self::Folder(folder) => folder.put(pair, games),
        }
    }

    fn append(&mut self, pair: &PairResult, games: &[String]) -> Result<(), ExportError> {
        match self {
            Self::File(file) => file.append(&games.concat()),
            Self::Folder(folder) => folder.put(pair, games),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::File(file) => file.path(),
            Self::Folder(folder) => folder.path(),
        }
    }
}

impl Export {
    /// Looks whether the records of a game can be written so.
    ///
    /// # Errors
    /// They cannot: their form is for another game.
    pub fn check_game(&self, game: Game) -> Result<(), ExportError> {
        self.form.check(&self.path, game)
    }
}

impl Form {
    /// Whether the records of a game can be written so.
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
            Self::Positions => epd::text(plan, &pair.pairing, game),
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

/// Where the records of the match start in a file.
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
    let noted = store.exports().iter().rev().find(|start| start.path == path);
    match noted {
        Some(start) if start.from <= length => Ok(start.from),
        // It is new, or what stood before the match was taken away.
        None | Some(_) => {
            store.note_export(ExportStart { path, from: length })?;
            Ok(length)
        }
    }
}
