//! Game records of a match in files that follow the store.
//!
//! Records depend only on stored pairs, in the order of the store, so the files can always be
//! recreated. On resume, [`Exports::check`] compares the files with the store: missing records are
//! appended and a partial end is truncated. A file with other content is rewritten, and the old one is
//! renamed to the next free name with the ending `.old`. In a directory with one file per game, only
//! differing files are rewritten.

mod record;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use readyok_rules::Game;
use readyok_rules::record::Format;
use tempfile::NamedTempFile;

pub use crate::export::record::{
    PgnFields, PgnMoves, PgnStyle, add_move, game_record, opening_record,
};

use crate::durable::{directory_of, sync_directory, unnamed_in};
use crate::pairing::{PairResult, Pairing};
use crate::plan::Plan;
use crate::result::MatchGame;
use crate::store::{ExportStart, Store, StoreError};

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

    /// Forgets the files, before [`Exports::begin`] opens them again.
    pub fn clear(&mut self) {
        self.targets.clear();
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

    /// The games of a pair as texts, which can follow each other in a file.
    ///
    /// # Errors
    /// A game cannot be written, or the format is for another game.
    pub fn texts(&self, plan: &Plan, pair: &PairResult) -> Result<Vec<String>, String> {
        (0..pair.games.len()).map(|number| self.text(plan, pair, number)).collect()
    }

    /// A game of a pair as text.
    fn text(&self, plan: &Plan, pair: &PairResult, number: usize) -> Result<String, String> {
        let Some(game) = pair.games.get(number) else { return Ok(String::new()) };
        match self {
            Self::Pgn(style) => record::text(style, plan, &pair.pairing, number, game),
            Self::Positions => record::final_position(plan, &pair.pairing, game),
            Self::Csa => {
                let text = record_text(Format::CSA, plan, &pair.pairing, number, game)?;
                // Separates the games of a file.
                Ok(text + "/\n")
            }
            Self::Kif => record_text(Format::KIF, plan, &pair.pairing, number, game),
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
    let length = match fs::metadata(&export.path) {
        Ok(metadata) if !metadata.is_file() => return Ok(0),
        Ok(metadata) => metadata.len(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
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

/// An error of an export file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// An I/O error.
    #[error("`{}` {what}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The failed operation.
        what: &'static str,
        /// The cause.
        #[source]
        error: io::Error,
    },
    /// The format does not support the game of the match.
    #[error("`{}` cannot be written: PGN is for chess, CSA and KIF are for shogi", path.display())]
    Form {
        /// The file.
        path: PathBuf,
    },
    /// A game cannot be written.
    #[error("pair {pair} cannot be written to `{}`: {why}", path.display())]
    Game {
        /// The file.
        path: PathBuf,
        /// The pair.
        pair: u64,
        /// The reason.
        why: String,
    },
    /// The start of the records cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ExportError {
    fn io(path: &Path, what: &'static str, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), what, error }
    }

    fn game(path: &Path, pair: &PairResult, why: String) -> Self {
        Self::Game { path: path.to_owned(), pair: pair.pairing.index, why }
    }
}

/// Adds the path and the failed operation to an I/O error.
trait IoContext<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, ExportError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, ExportError> {
        self.map_err(|error| ExportError::io(path, what, error))
    }
}

/// An export file that follows the store.
#[derive(Debug)]
struct Follower {
    path: PathBuf,
    /// Rename the old file if its content differs.
    keep_old: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The file equals the store up to `good`.
    Checking { file: BufReader<File>, good: u64 },
    /// The file differs from `agreed` on and is being rewritten.
    Rewriting { file: NamedTempFile, agreed: u64 },
    /// The file is complete and ends at `end`.
    Appending { file: File, end: u64 },
    /// Not a regular file, such as `/dev/null` or a pipe: it cannot be compared or truncated.
    Streaming { file: File },
}

impl Follower {
    /// Opens a file in which the match starts at `from`.
    fn open(path: &Path, from: u64, keep_old: bool) -> Result<Self, ExportError> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
            let file = OpenOptions::new().write(true).open(path).at(path, "cannot be opened")?;
            return Ok(Self { path: path.to_owned(), keep_old, state: State::Streaming { file } });
        }
        let file = OpenOptions::new().read(true).append(true).create(true).open(path);
        let mut file = BufReader::new(file.at(path, "cannot be opened")?);
        file.seek(SeekFrom::Start(from)).at(path, "cannot be read")?;
        Ok(Self { path: path.to_owned(), keep_old, state: State::Checking { file, good: from } })
    }

    fn path(&self) -> &Path {
        &self.path
    }

    /// Compares the file with the next record and corrects it.
    fn check(&mut self, text: &str) -> Result<(), ExportError> {
        let State::Checking { file, good } = &mut self.state else { return self.append(text) };
        let (path, good_end) = (&self.path, *good);
        let mut found = Vec::with_capacity(text.len());
        file.take(text.len() as u64).read_to_end(&mut found).at(path, "cannot be read")?;
        if found == text.as_bytes() {
            *good += text.len() as u64;
            return Ok(());
        }
        if text.as_bytes().starts_with(&found) {
            // The record is partial or missing.
            self.append_from(good_end)?;
        } else {
            self.rewrite_from(good_end)?;
        }
        self.append(text)
    }

    /// Ends the comparison at the end of the store. Returns a message if the file was rewritten.
    fn end_check(&mut self) -> Result<Option<String>, ExportError> {
        if let State::Checking { file, good } = &mut self.state {
            let (good, rest) = (*good, file.fill_buf().at(&self.path, "cannot be read")?);
            if rest.is_empty() { self.append_from(good)? } else { self.rewrite_from(good)? }
        }
        let State::Rewriting { agreed, .. } = self.state else { return Ok(None) };
        let message = if self.keep_old { Some(self.rename_old(agreed)?) } else { None };
        self.replace()?;
        Ok(message)
    }

    /// Appends a record.
    fn append(&mut self, text: &str) -> Result<(), ExportError> {
        match &mut self.state {
            State::Checking { .. } => self.check(text),
            State::Rewriting { file, .. } => {
                file.write_all(text.as_bytes()).at(&self.path, "cannot be written")
            }
            State::Streaming { file } => {
                file.write_all(text.as_bytes()).at(&self.path, "cannot be written")
            }
            State::Appending { file, end } => {
                if let Err(error) = file.write_all(text.as_bytes()) {
                    // A partial game would make the file invalid.
                    file.set_len(*end).at(&self.path, "cannot be truncated")?;
                    file.seek(SeekFrom::End(0)).at(&self.path, "cannot be truncated")?;
                    return Err(error).at(&self.path, "cannot be written");
                }
                *end += text.len() as u64;
                Ok(())
            }
        }
    }

    /// Flushes the file to the disk.
    fn sync(&mut self) -> Result<(), ExportError> {
        match &self.state {
            State::Appending { file, .. } => file.sync_data().at(&self.path, "cannot be written"),
            State::Checking { .. } | State::Rewriting { .. } | State::Streaming { .. } => Ok(()),
        }
    }

    /// Truncates the file and appends to it.
    fn append_from(&mut self, end: u64) -> Result<(), ExportError> {
        // Files that are opened for appending cannot be truncated on Windows.
        let file = OpenOptions::new().write(true).open(&self.path);
        let mut file = file.at(&self.path, "cannot be opened")?;
        file.set_len(end).at(&self.path, "cannot be truncated")?;
        file.seek(SeekFrom::End(0)).at(&self.path, "cannot be truncated")?;
        self.state = State::Appending { file, end };
        Ok(())
    }

    /// Starts a new file with the matching part of the old one.
    fn rewrite_from(&mut self, agreed: u64) -> Result<(), ExportError> {
        let path = &self.path;
        let mut old = File::open(path).at(path, "cannot be opened")?.take(agreed);
        let mut file = NamedTempFile::new_in(directory_of(path)).at(path, "cannot be rewritten")?;
        let permissions = fs::metadata(path).at(path, "cannot be read")?.permissions();
        file.as_file().set_permissions(permissions).at(path, "cannot be rewritten")?;
        io::copy(&mut old, &mut file).at(path, "cannot be rewritten")?;
        self.state = State::Rewriting { file, agreed };
        Ok(())
    }

    /// Links the old file to another name.
    fn rename_old(&self, agreed: u64) -> Result<String, ExportError> {
        let path = &self.path;
        let old = link_old(path).at(path, "cannot be renamed")?;
        Ok(format!(
            "`{}` differed from the results from byte {agreed} on and was rewritten; the old file is \
             `{}`",
            path.display(),
            old.display()
        ))
    }

    /// Replaces the old file by the new one.
    fn replace(&mut self) -> Result<(), ExportError> {
        let path = &self.path;
        let State::Rewriting { file, .. } = &self.state else { return Ok(()) };
        // The old file is closed here, because Windows does not replace open files.
        let between = file.as_file().try_clone().at(path, "cannot be replaced")?;
        let between = State::Streaming { file: between };
        let State::Rewriting { file, .. } = std::mem::replace(&mut self.state, between) else {
            return Ok(());
        };
        file.as_file().sync_all().at(path, "cannot be written")?;
        let end = file.as_file().metadata().at(path, "cannot be read")?.len();
        file.persist(path).map_err(|error| error.error).at(path, "cannot be replaced")?;
        sync_directory(directory_of(path)).at(path, "cannot be replaced")?;
        self.append_from(end)
    }
}

/// A directory with one file per game that follows the store.
#[derive(Debug)]
struct Directory(PathBuf);

impl Directory {
    fn open(path: &Path) -> Result<Self, ExportError> {
        fs::create_dir_all(path).at(path, "cannot be created")?;
        Ok(Self(path.to_owned()))
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// Writes the files of a pair, whose names have the numbers of pair and game from 1. Existing files
    /// with other content are renamed.
    fn put(&self, pair: &PairResult, games: &[String]) -> Result<(), ExportError> {
        for (number, text) in (1..).zip(games) {
            let path = self.0.join(format!("{:06}-{number}.kif", pair.pairing.index + 1));
            match fs::read(&path) {
                Ok(found) if found == text.as_bytes() => continue,
                Ok(_) => {
                    link_old(&path).at(&path, "cannot be renamed")?;
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => return Err(error).at(&path, "cannot be read"),
            }
            let mut file = unnamed_in(&self.0).at(&self.0, "cannot be written")?;
            file.write_all(text.as_bytes()).at(&path, "cannot be written")?;
            file.persist(&path).map_err(|error| error.error).at(&path, "cannot be written")?;
        }
        Ok(())
    }
}

/// Maximum number of old files of one name.
const MAX_OLD_FILES: u32 = 1000;

/// Links a file to an unused name: `games.pgn.old`, `games.pgn.old2` and so on.
fn link_old(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=MAX_OLD_FILES {
        let mut old = path.as_os_str().to_owned();
        old.push(if number == 1 { ".old".to_owned() } else { format!(".old{number}") });
        match fs::hard_link(path, &old) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            result => return result.map(|()| old.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
