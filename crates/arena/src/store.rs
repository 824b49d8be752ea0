//! The result file of a match: what was played, kept so that a match can go on after anything.
//!
//! One line of JSON for each record, the first with the version of the format, the plan and its
//! hash, each with a checksum of its own text:
//!
//! ```text
//! {"crc":"5d1f7a02","head":{"format":"readyok-match","version":3,"plan_hash":"…","plan":{…}}}
//! {"crc":"90b4c11e","pair":{"pairing":{"index":0,…},"games":[…]}}
//! {"crc":"03ef9a55","rounds":200}
//! ```
//!
//! The first line has the hashes of programs and openings as well, so that a match does not go on with
//! others unnoticed. Of the variables in engines' environments it has the names, and only salted hashes
//! of the values: a match with some goes on with the plan that has them, and nobody else reads its file.
//!
//! What always holds:
//! - A pair stands in the file as a whole or not at all, and once.
//! - A line is written by one call, after those before it. If the program is killed, nothing that
//!   was written is lost, and at most the last line is torn; it is cut off at the next opening.
//! - [`Store::sync`] brings the lines to the disk. The runner calls it at most a second after a
//!   line was written, and at the end: that much a failing machine can lose.
//! - A lock on the file keeps a second writer away, and ends with the program. A program that was
//!   killed while it started another one may leave it to that one for a moment.
//! - Reading takes as much memory as the longest pair.

mod contents;
mod difference;
mod error;
mod hash;
mod indices;
mod line;
mod read;
mod secrets;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

pub use contents::ChangedFile;
pub(crate) use contents::named_by;
pub use difference::Difference;
pub use error::StoreError;
pub use hash::{ContentHash, NoHash};
pub use indices::IndexSet;
pub use line::ExportStart;
pub use read::Reader;
use tempfile::NamedTempFile;

use crate::pairing::PairResult;
use crate::plan::{EngineId, Format, Plan};
use crate::time::now;
use contents::Contents;
use error::At as _;
use line::{Head, Record};
use read::Scan;

/// The result file of a match, open for writing by this program alone.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// Where the next line goes.
    end: u64,
    head: Head,
    /// That of the first line, with the values that are not in it as far as they are known.
    plan: Plan,
    stored: IndexSet,
    exports: Vec<ExportStart>,
    synced: bool,
}

impl Store {
    /// Makes the file of a new match.
    ///
    /// # Errors
    /// There is a file of that name, or it cannot be written.
    pub fn create(path: &Path, plan: &Plan) -> Result<Self, StoreError> {
        let head = Head::new(plan).at(path, "cannot be written")?;
        let line = line::write(&Record::Head(Box::new(Cow::Borrowed(&head))))
            .at(path, "cannot be written")?;
        let folder = folder_of(path);
        // The file gets its name when its first line is complete.
        let file = if head.sealed { private_in(folder) } else { unnamed_in(folder) };
        let mut file = file.at(path, "cannot be made")?;
        file.write_all(&line).at(path, "cannot be written")?;
        file.as_file().sync_all().at(path, "cannot be written")?;
        lock(file.as_file(), path)?;
        let file =
            file.persist_noclobber(path).map_err(|error| StoreError::made(path, error.error))?;
        sync_folder(folder).at(path, "cannot be written")?;
        Ok(Self {
            path: path.to_owned(),
            file,
            end: line.len() as u64,
            head,
            plan: plan.clone(),
            stored: IndexSet::default(),
            exports: Vec::new(),
            synced: true,
        })
    }

    /// Opens the file of a match that is to go on. Each pair in it is handed to `on_pair`, in the
    /// order of the file. Tells how many bytes of a torn end were cut off.
    ///
    /// # Errors
    /// The file cannot be read or written, another program writes it, it is no result file, or it
    /// is damaged other than at its end.
    pub fn resume(
        path: &Path,
        mut on_pair: impl FnMut(PairResult),
    ) -> Result<(Self, u64), StoreError> {
        let file =
            OpenOptions::new().read(true).append(true).open(path).at(path, "cannot be opened")?;
        lock(&file, path)?;
        let mut scan = Scan::start(path, BufReader::new(&file))?;
        let mut exports = Vec::new();
        while let Some(record) = scan.next()? {
            match record {
                Record::Pair(pair) => on_pair(pair.into_owned()),
                Record::Export(start) => exports.push(start.into_owned()),
                Record::Head(_) | Record::Rounds(_) | Record::Contents(_) => (),
            }
        }
        let (head, stored, end) = scan.finish();
        let length = file.metadata().at(path, "cannot be read")?.len();
        if length > end {
            file.set_len(end).at(path, "cannot be cut")?;
            file.sync_all().at(path, "cannot be cut")?;
        }
        let (path, plan) = (path.to_owned(), head.plan.clone());
        let store = Self { path, file, end, head, plan, stored, exports, synced: true };
        Ok((store, length.saturating_sub(end)))
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The plan of the match. After [`Store::resume`], [`Store::check_values`] tells whether it is whole.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The name of the match: the hash of its plan, whatever its rounds.
    pub fn plan_hash(&self) -> ContentHash {
        self.head.plan_hash
    }

    /// Which pairs are in the file.
    pub fn stored(&self) -> &IndexSet {
        &self.stored
    }

    /// Where the records of this match start in files that had something in them before.
    pub fn exports(&self) -> &[ExportStart] {
        &self.exports
    }

    /// Goes on with a plan that may differ in one thing: it has more rounds.
    ///
    /// # Errors
    /// It differs in anything else. The rounds of a knockout cannot grow, as each match of it has
    /// decided who plays the next.
    pub fn accept(&mut self, plan: &Plan) -> Result<(), StoreError> {
        let grown = self.may_grow(plan.rounds);
        let mut wanted = self.head.plan.clone();
        if grown {
            wanted.rounds = plan.rounds;
        }
        let differences = if self.head.sealed {
            difference::between(&wanted, &secrets::sealed_as(&wanted, plan))
        } else {
            difference::between(&wanted, plan)
        };
        if !differences.is_empty() {
            return Err(StoreError::OtherPlan { path: self.path.clone(), differences });
        }
        if grown {
            self.write(&Record::Rounds(plan.rounds))?;
            self.head.plan.rounds = plan.rounds;
        }
        self.plan = plan.clone();
        Ok(())
    }

    /// Goes on with the same plan and more rounds.
    ///
    /// # Errors
    /// They are fewer, or the match is a knockout.
    pub fn accept_rounds(&mut self, rounds: u32) -> Result<(), StoreError> {
        if rounds == self.head.plan.rounds {
            return Ok(());
        }
        if !self.may_grow(rounds) {
            let wanted = Plan { rounds, ..self.head.plan.clone() };
            let differences = difference::between(&self.head.plan, &wanted);
            return Err(StoreError::OtherPlan { path: self.path.clone(), differences });
        }
        self.write(&Record::Rounds(rounds))?;
        self.head.plan.rounds = rounds;
        self.plan.rounds = rounds;
        Ok(())
    }

    fn may_grow(&self, rounds: u32) -> bool {
        let old = &self.head.plan;
        let grows = match old.format {
            Format::RoundRobin | Format::Gauntlet { .. } | Format::Pyramid | Format::Swiss => true,
            Format::Knockout { .. } => false,
        };
        grows && rounds > old.rounds
    }

    /// Takes the values of an engine's environment, which are not in the file, for those variables that
    /// the match has.
    ///
    /// # Errors
    /// A value is not the one that the match was begun with.
    pub fn take_values(
        &mut self,
        engine: EngineId,
        env: &BTreeMap<String, String>,
    ) -> Result<(), StoreError> {
        let at = usize::try_from(engine.0).unwrap_or(usize::MAX);
        let stored = self.head.plan.engines.get(at).filter(|_| self.head.sealed);
        let (Some(stored), Some(known)) = (stored, self.plan.engines.get_mut(at)) else {
            return Ok(());
        };
        let mut differences = Vec::new();
        for (name, stored) in &stored.env {
            match env.get(name) {
                Some(value) if secrets::is_of(stored, name, value) => {
                    known.env.insert(name.clone(), value.clone());
                }
                value => differences.push(Difference::hidden(at, name, true, value.is_some())),
            }
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(StoreError::OtherPlan { path: self.path.clone(), differences })
    }

    /// Looks whether all values are known that engines need and the file does not hold.
    ///
    /// # Errors
    /// Some are not: [`Store::accept`] takes them with the plan, or [`Store::take_values`] for an engine.
    pub fn check_values(&self) -> Result<(), StoreError> {
        if !self.head.sealed {
            return Ok(());
        }
        let engines = self.head.plan.engines.iter().zip(&self.plan.engines);
        let missing = engines.enumerate().flat_map(|(index, (stored, known))| {
            let is_missing =
                |(name, value): &(&String, &String)| known.env.get(*name) == Some(*value);
            let names = stored.env.iter().filter(is_missing);
            names.map(move |(name, _)| difference::variable(index, name))
        });
        let variables: Vec<String> = missing.collect();
        if variables.is_empty() {
            return Ok(());
        }
        Err(StoreError::NoValues { path: self.path.clone(), variables })
    }

    /// Looks whether the engines and openings are those that the match was begun with.
    ///
    /// # Errors
    /// Some are not: what was played does not go together with what would be.
    pub fn check_files(&self) -> Result<(), StoreError> {
        let files = self.head.contents.changed(&Contents::of(&self.head.plan));
        if files.is_empty() {
            return Ok(());
        }
        Err(StoreError::OtherFiles { path: self.path.clone(), files })
    }

    /// Goes on with the engines and openings that there are now.
    ///
    /// # Errors
    /// It cannot be written that they are others.
    pub fn accept_files(&mut self) -> Result<(), StoreError> {
        let contents = Contents::of(&self.head.plan);
        if !self.head.contents.changed(&contents).is_empty() {
            self.write(&Record::Contents(Cow::Borrowed(&contents)))?;
            self.head.contents = contents;
        }
        Ok(())
    }

    /// Writes a pair. Tells whether it is new: one that is there already is left as it is.
    ///
    /// # Errors
    /// It cannot be written, for want of space or since it is longer than any sensible pair; the
    /// file is then as it was.
    pub fn append(&mut self, pair: &PairResult) -> Result<bool, StoreError> {
        if self.stored.contains(pair.pairing.index) {
            return Ok(false);
        }
        self.write(&Record::Pair(Cow::Borrowed(pair)))?;
        self.stored.insert(pair.pairing.index);
        Ok(true)
    }

    /// Notes where the records of this match start in a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_export(&mut self, start: ExportStart) -> Result<(), StoreError> {
        self.write(&Record::Export(Cow::Borrowed(&start)))?;
        self.exports.push(start);
        Ok(())
    }

    /// Whether everything that was written has reached the disk.
    pub fn is_synced(&self) -> bool {
        self.synced
    }

    /// Brings everything that was written to the disk.
    ///
    /// # Errors
    /// The disk does not take it.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if !self.synced {
            self.file.sync_data().at(&self.path, "cannot be written")?;
            self.synced = true;
        }
        Ok(())
    }

    fn write(&mut self, record: &Record<'_>) -> Result<(), StoreError> {
        let line = line::write(record).at(&self.path, "cannot be written")?;
        self.synced = false;
        if let Err(error) = self.file.write_all(&line) {
            // Half a line in the middle of the file would be damage.
            self.file.set_len(self.end).at(&self.path, "cannot be mended")?;
            self.file.seek(std::io::SeekFrom::End(0)).at(&self.path, "cannot be mended")?;
            return Err(error).at(&self.path, "cannot be written");
        }
        self.end += line.len() as u64;
        Ok(())
    }
}

/// A file that gets its name later, with the permissions of any new file.
pub(crate) fn unnamed_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// A file that gets its name later, and that nobody else may read.
fn private_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    tempfile::Builder::new().tempfile_in(folder)
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Makes a new name in a folder survive a failing machine, where folders can be opened.
pub(crate) fn sync_folder(folder: &Path) -> std::io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// How long a lock may outlive its owner: until the program that it was starting runs.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

fn lock(file: &File, path: &Path) -> Result<(), StoreError> {
    let until = now().checked_add(LOCK_PATIENCE);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if until.is_some_and(|until| now() < until) => {
                // No system tells when a lock is free and takes a deadline.
                thread::park_timeout(LOCK_PATIENCE / 50);
            }
            Err(TryLockError::WouldBlock) => return Err(StoreError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(error).at(path, "cannot be locked"),
        }
    }
}
