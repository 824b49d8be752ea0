//! The results file of a match, which permits resuming it after any exit.
//!
//! Each line is a JSON record with a checksum of its own text. The first record has the version of the
//! format, the plan and its hash:
//!
//! ```text
//! {"crc":"5d1f7a02","head":{"format":"readyok-match","version":3,"plan_hash":"…","plan":{…}}}
//! {"crc":"90b4c11e","pair":{"pairing":{"index":0,…},"games":[…]}}
//! {"crc":"03ef9a55","rounds":200}
//! ```
//!
//! The first line also has the hashes of executables and openings, so that a match is not resumed with
//! others unnoticed. Values of environment variables are stored as salted hashes: such a match is
//! resumed with the plan, and its file is readable by the owner only.
//!
//! Invariants:
//! - A pair is stored completely or not at all, and once.
//! - A line is written by one call. If the process is killed, at most the last line is partial; it is
//!   removed when the file is opened again.
//! - [`Store::sync`] flushes the lines to the disk. The runner calls it at most one second after a
//!   line was written, and at the end.
//! - A file lock excludes a second writer. A child process that starts while the process is killed may
//!   hold it for a moment.
//! - Reading requires as much memory as the longest pair.

mod format;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{io, thread};

pub use crate::contents::{ChangedFile, ContentHash, Difference, NoHash};
pub use crate::store::format::{ExportStart, IndexSet, Origin, Reader};
use serde::{Deserialize, Serialize};

use crate::contents::{self, Contents};
use crate::durable::{directory_of, private_in, sync_directory, unnamed_in};
use crate::pairing::PairResult;
use crate::plan::{EngineId, Format, Plan};
use crate::spec::MatchSpec;
use crate::store::format::{Head, Record, Scan};
use crate::time::now;

/// The results file of a match, open for exclusive writing.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// The end of the file.
    end: u64,
    head: Head,
    /// The stored plan, with the known values of environment variables.
    plan: Plan,
    stored: IndexSet,
    exports: Vec<ExportStart>,
    synced: bool,
}

impl Store {
    /// Creates the file of a new match.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn create(path: &Path, plan: &Plan) -> Result<Self, StoreError> {
        let head = Head::new(plan).at(path, FileOperation::Write)?;
        Self::create_with(path, head, plan)
    }

    fn create_with(path: &Path, head: Head, plan: &Plan) -> Result<Self, StoreError> {
        let line = format::serialize(&Record::Head(Box::new(Cow::Borrowed(&head))))
            .at(path, FileOperation::Write)?;
        let directory = directory_of(path);
        // The file gets its name when its first line is complete.
        let file = if head.sealed { private_in(directory) } else { unnamed_in(directory) };
        let mut file = file.at(path, FileOperation::Create)?;
        file.write_all(&line).at(path, FileOperation::Write)?;
        file.as_file().sync_all().at(path, FileOperation::Write)?;
        lock(file.as_file(), path)?;
        let file =
            file.persist_noclobber(path).map_err(|error| StoreError::create(path, &error.error))?;
        sync_directory(directory).at(path, FileOperation::Write)?;
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

    /// Creates the file of a match that another host has started, with its identifier and the hashes of its files.
    /// `openings` is the copy of its opening file on this host, if it differs from the plan.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn adopt(
        path: &Path,
        spec: &MatchSpec,
        openings: Option<&Path>,
    ) -> Result<Self, StoreError> {
        Self::create_with(path, Head::adopted(spec, openings), &spec.plan)
    }

    /// Opens the file of a match to resume. Calls `on_pair` with each stored pair, in the order of the
    /// file. Returns also the number of bytes of a partial last record that was removed.
    ///
    /// # Errors
    /// The file cannot be read or written, is locked, is not a results file, or is damaged before its
    /// last record.
    pub fn resume(
        path: &Path,
        mut on_pair: impl FnMut(PairResult),
    ) -> Result<(Self, u64), StoreError> {
        // Files that are opened for appending cannot be truncated on Windows.
        let mut file =
            OpenOptions::new().read(true).write(true).open(path).at(path, FileOperation::Open)?;
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
        let length = file.metadata().at(path, FileOperation::Read)?.len();
        if length > end {
            file.set_len(end).at(path, FileOperation::Truncate)?;
            file.sync_all().at(path, FileOperation::Truncate)?;
        }
        file.seek(io::SeekFrom::End(0)).at(path, FileOperation::Read)?;
        let (path, plan) = (path.to_owned(), head.plan.clone());
        let store = Self { path, file, end, head, plan, stored, exports, synced: true };
        Ok((store, length.saturating_sub(end)))
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The plan of the match. After [`Store::resume`], [`Store::check_values`] checks that it is complete.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The stored plan, if it has hashes instead of the values of environment variables.
    pub fn sealed_plan(&self) -> Option<&Plan> {
        self.head.sealed.then_some(&self.head.plan)
    }

    /// The identifier of the match: the hash of its plan without the number of rounds.
    pub fn plan_hash(&self) -> ContentHash {
        self.head.plan_hash
    }

    /// The stored pairs.
    pub fn stored(&self) -> &IndexSet {
        &self.stored
    }

    /// The starts of this match in export files with earlier content.
    pub fn exports(&self) -> &[ExportStart] {
        &self.exports
    }

    /// Resumes with a plan that may only have more rounds.
    ///
    /// # Errors
    /// The plan differs in another key, or is a knockout, whose rounds are fixed.
    pub fn accept(&mut self, plan: &Plan) -> Result<(), StoreError> {
        let grown = self.may_grow(plan.rounds);
        let mut wanted = self.head.plan.clone();
        if grown {
            wanted.rounds = plan.rounds;
        }
        let differences = if self.head.sealed {
            contents::between(&wanted, &contents::sealed_as(&wanted, plan))
        } else {
            contents::between(&wanted, plan)
        };
        if !differences.is_empty() {
            return Err(StoreError::other_plan(&self.path, &differences));
        }
        if grown {
            self.write(&Record::Rounds(plan.rounds))?;
            self.head.plan.rounds = plan.rounds;
        }
        self.plan = plan.clone();
        Ok(())
    }

    /// Resumes with the same plan and more rounds.
    ///
    /// # Errors
    /// There are fewer rounds, or the match is a knockout.
    pub fn accept_rounds(&mut self, rounds: u32) -> Result<(), StoreError> {
        if rounds == self.head.plan.rounds {
            return Ok(());
        }
        if !self.may_grow(rounds) {
            let wanted = Plan { rounds, ..self.head.plan.clone() };
            let differences = contents::between(&self.head.plan, &wanted);
            return Err(StoreError::other_plan(&self.path, &differences));
        }
        self.write(&Record::Rounds(rounds))?;
        self.head.plan.rounds = rounds;
        self.plan.rounds = rounds;
        Ok(())
    }

    fn may_grow(&self, rounds: u32) -> bool {
        let old = &self.head.plan;
        let grows = match old.format {
            Format::RoundRobin
            | Format::Gauntlet { .. }
            | Format::Pyramid
            | Format::Swiss
            | Format::Takes => true,
            Format::Knockout { .. } => false,
        };
        grows && rounds > old.rounds
    }

    /// Provides the values of the environment variables of an engine, which are not stored.
    ///
    /// # Errors
    /// A value differs from the one at the start of the match.
    pub fn set_values(
        &mut self,
        engine: EngineId,
        env: &BTreeMap<String, String>,
    ) -> Result<(), StoreError> {
        let at = engine.index();
        let stored = self.head.plan.engines.get(at).filter(|_| self.head.sealed);
        let (Some(stored), Some(known)) = (stored, self.plan.engines.get_mut(at)) else {
            return Ok(());
        };
        let mut differences = Vec::new();
        for (name, stored) in &stored.env {
            match env.get(name) {
                Some(value) if contents::is_of(stored, name, value) => {
                    known.env.insert(name.clone(), value.clone());
                }
                value => differences.push(Difference::hidden(at, name, true, value.is_some())),
            }
        }
        if differences.is_empty() {
            return Ok(());
        }
        Err(StoreError::other_plan(&self.path, &differences))
    }

    /// Checks that the values of all environment variables are known.
    ///
    /// # Errors
    /// Some are unknown: [`Store::accept`] provides them with the plan, or [`Store::set_values`] for an
    /// engine.
    pub fn check_values(&self) -> Result<(), StoreError> {
        if !self.head.sealed {
            return Ok(());
        }
        let engines = self.head.plan.engines.iter().zip(&self.plan.engines);
        let missing = engines.enumerate().flat_map(|(index, (stored, known))| {
            let is_missing =
                |(name, value): &(&String, &String)| known.env.get(*name) == Some(*value);
            let names = stored.env.iter().filter(is_missing);
            names.map(move |(name, _)| contents::variable(index, name))
        });
        let variables: Vec<String> = missing.collect();
        if variables.is_empty() {
            return Ok(());
        }
        Err(StoreError::new(&self.path, StoreDefect::MissingVariables { variables }))
    }

    /// Checks that engines and openings have not changed since the start of the match.
    ///
    /// # Errors
    /// Some have changed.
    pub fn check_files(&self) -> Result<(), StoreError> {
        let files = self.head.contents.changed(&Contents::of(&self.head.plan));
        let files: Vec<String> = files.iter().map(ChangedFile::to_string).collect();
        if files.is_empty() {
            return Ok(());
        }
        Err(StoreError::new(&self.path, StoreDefect::OtherFiles { files }))
    }

    /// Resumes with changed engines and openings.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn accept_files(&mut self) -> Result<(), StoreError> {
        let contents = Contents::of(&self.head.plan);
        if !self.head.contents.changed(&contents).is_empty() {
            self.write(&Record::Contents(Cow::Borrowed(&contents)))?;
            self.head.contents = contents;
        }
        Ok(())
    }

    /// Stores a pair. Returns false if it is already stored.
    ///
    /// # Errors
    /// The pair cannot be written or is too long; the file is unchanged.
    pub fn append(&mut self, pair: &PairResult) -> Result<bool, StoreError> {
        if self.stored.contains(pair.pairing.index) {
            return Ok(false);
        }
        self.write(&Record::Pair(Cow::Borrowed(pair)))?;
        self.stored.insert(pair.pairing.index);
        Ok(true)
    }

    /// Removes pairs from the file, which is replaced. Returns their indices.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn discard(
        &mut self,
        is_discarded: impl Fn(&PairResult) -> bool,
    ) -> Result<Vec<u64>, StoreError> {
        let file = File::open(&self.path).at(&self.path, FileOperation::Open)?;
        let mut scan = Scan::start(&self.path, BufReader::new(file))?;
        let directory = directory_of(&self.path);
        let new = if self.head.sealed { private_in(directory) } else { unnamed_in(directory) };
        let mut new = new.at(&self.path, FileOperation::Create)?;
        let line =
            |record: &Record<'_>| format::serialize(record).at(&self.path, FileOperation::Write);
        let head = line(&Record::Head(Box::new(Cow::Borrowed(scan.head()))))?;
        new.write_all(&head).at(&self.path, FileOperation::Write)?;
        let (mut end, mut stored) = (head.len() as u64, IndexSet::default());
        let mut discarded = Vec::new();
        while let Some(record) = scan.next()? {
            if let Record::Pair(pair) = &record {
                if is_discarded(pair) {
                    discarded.push(pair.pairing.index);
                    continue;
                }
                stored.insert(pair.pairing.index);
            }
            let line = line(&record)?;
            new.write_all(&line).at(&self.path, FileOperation::Write)?;
            end += line.len() as u64;
        }
        if discarded.is_empty() {
            return Ok(discarded);
        }
        new.as_file().sync_all().at(&self.path, FileOperation::Write)?;
        lock(new.as_file(), &self.path)?;
        if cfg!(windows) {
            // An open file cannot be replaced there.
            self.file = new.reopen().at(&self.path, FileOperation::Replace)?;
        }
        let file = new.persist(&self.path).map_err(|error| error.error);
        self.file = file.at(&self.path, FileOperation::Replace)?;
        sync_directory(directory).at(&self.path, FileOperation::Write)?;
        (self.end, self.stored, self.synced) = (end, stored, true);
        Ok(discarded)
    }

    /// Records the start of this match in an export file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record_export(&mut self, start: ExportStart) -> Result<(), StoreError> {
        self.write(&Record::Export(Cow::Borrowed(&start)))?;
        self.exports.push(start);
        Ok(())
    }

    /// Flushes all lines to the disk.
    ///
    /// # Errors
    /// Flushing fails.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        if !self.synced {
            self.file.sync_data().at(&self.path, FileOperation::Write)?;
            self.synced = true;
        }
        Ok(())
    }

    fn write(&mut self, record: &Record<'_>) -> Result<(), StoreError> {
        let line = format::serialize(record).at(&self.path, FileOperation::Write)?;
        self.synced = false;
        if let Err(error) = self.file.write_all(&line) {
            // A partial line in the middle of the file would be damage.
            self.file.set_len(self.end).at(&self.path, FileOperation::Truncate)?;
            self.file.seek(io::SeekFrom::End(0)).at(&self.path, FileOperation::Truncate)?;
            return Err(error).at(&self.path, FileOperation::Write);
        }
        self.end += line.len() as u64;
        Ok(())
    }
}

/// How long a child process of a killed writer may hold the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

fn lock(file: &File, path: &Path) -> Result<(), StoreError> {
    let until = now().checked_add(LOCK_TIMEOUT);
    loop {
        match try_lock(file) {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if until.is_some_and(|until| now() < until) => {
                // There is no portable lock with a timeout.
                thread::park_timeout(LOCK_TIMEOUT / 50);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::new(path, StoreDefect::ResultsInUse));
            }
            Err(TryLockError::Error(error)) => return Err(error).at(path, FileOperation::Lock),
        }
    }
}

#[cfg(not(windows))]
fn try_lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Locks a byte after the end of any file: on Windows, other handles cannot read what is locked.
#[cfg(windows)]
#[expect(unsafe_code, reason = "the standard library locks the whole file")]
fn try_lock(file: &File) -> Result<(), TryLockError> {
    use std::os::windows::io::AsRawHandle;

    use windows_sys::Win32::Foundation::ERROR_LOCK_VIOLATION;
    use windows_sys::Win32::Storage::FileSystem::{
        LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
    };
    use windows_sys::Win32::System::IO::OVERLAPPED;

    let mut at = OVERLAPPED::default();
    at.Anonymous.Anonymous.OffsetHigh = i32::MAX.cast_unsigned();
    let flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the handle is open and not overlapped, so the call returns after it has used `at`.
    if unsafe { LockFileEx(file.as_raw_handle(), flags, 0, 1, 0, &raw mut at) } != 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error().map(i32::cast_unsigned) == Some(ERROR_LOCK_VIOLATION) {
        return Err(TryLockError::WouldBlock);
    }
    Err(TryLockError::Error(error))
}

/// An error of a results file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{}{}: {defect}", path.display(), line.map(|line| format!(", line {line}")).unwrap_or_default())]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// The line of the error, from 1.
    pub line: Option<u64>,
    /// What is wrong.
    pub defect: StoreDefect,
}

readyok_protocol::errors! {
    /// Why a results file cannot be used.
    #[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    #[serde(tag = "code", rename_all = "snake_case")]
    pub enum StoreDefect {
        ResultsUnusable {
            operation: FileOperation,
            /// The message of the system.
            error: String,
        } => "{operation}: {error}",
        ResultsExist => "already exists",
        ResultsInUse => "is in use by another process",
        /// By its first line.
        NoResults { why: String } => "is not a results file: {why}",
        ResultsVersion { version: u32, supported: u32 } =>
            "has version {version} of the results format; only version {supported} is supported",
        /// Valid lines follow.
        ResultsDamaged { why: String } => "is damaged: {why}",
        OtherPlan {
            /// [`Difference`] as text.
            differences: Vec<String> = differences.join(", "),
        } => "has another plan: {differences}",
        MissingVariables {
            /// `engines[1].env.NAME`.
            variables: Vec<String> = variables.join(", "),
        } => "does not contain the values of environment variables; specify the plan again for {variables}",
        /// Engines or openings have changed since the start of the match.
        OtherFiles {
            /// [`ChangedFile`] as text.
            files: Vec<String> = files.join(", "),
        } => "has other engines or openings: {files}",
    }
}

readyok_protocol::texts! {
    /// An operation on a file that failed.
    #[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    #[serde(rename_all = "snake_case")]
    pub enum FileOperation {
        Create => "cannot be created",
        Lock => "cannot be locked",
        Open => "cannot be opened",
        Read => "cannot be read",
        Rename => "cannot be renamed",
        Replace => "cannot be replaced",
        Rewrite => "cannot be rewritten",
        Truncate => "cannot be truncated",
        Write => "cannot be written",
    }
}

impl StoreError {
    pub(crate) fn new(path: &Path, defect: StoreDefect) -> Self {
        Self { path: path.to_owned(), line: None, defect }
    }

    fn io(path: &Path, operation: FileOperation, error: &io::Error) -> Self {
        Self::new(path, StoreDefect::ResultsUnusable { operation, error: error.to_string() })
    }

    fn create(path: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::new(path, StoreDefect::ResultsExist),
            _ => Self::io(path, FileOperation::Create, error),
        }
    }

    fn other_plan(path: &Path, differences: &[Difference]) -> Self {
        let differences = differences.iter().map(Difference::to_string).collect();
        Self::new(path, StoreDefect::OtherPlan { differences })
    }
}

/// Adds the path and the failed operation to an I/O error.
pub(crate) trait IoContext<T> {
    fn at(self, path: &Path, operation: FileOperation) -> Result<T, StoreError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, path: &Path, operation: FileOperation) -> Result<T, StoreError> {
        self.map_err(|error| StoreError::io(path, operation, &error))
    }
}
