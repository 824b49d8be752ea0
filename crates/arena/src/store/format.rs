//! The format of results files: lines with a checksum and a record, and reading them in order.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::contents;
use crate::contents::{ContentHash, Contents};
use crate::pairing::PairResult;
use crate::plan::Plan;
use crate::spec::MatchSpec;
use crate::store::{FileOperation, IoContext as _, StoreDefect, StoreError};

/// Maximum length of a line. Game pairs with all PVs have a few megabytes at most.
const MAX_LINE: usize = 64 << 20;

/// The name of the format.
const FORMAT: &str = "readyok-match";

/// The version of the format.
const VERSION: u32 = 3;

/// The content of a line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Record<'a> {
    /// The first line.
    Head(Box<Cow<'a, Head>>),
    /// The result of a game pair.
    Pair(Cow<'a, PairResult>),
    /// The plan has this number of rounds from here on.
    Rounds(u32),
    /// The start of the match in an export file.
    Export(Cow<'a, ExportStart>),
    /// The files of the plan have these hashes from here on.
    Contents(Cow<'a, Contents>),
}

/// The content of the first line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) plan_hash: ContentHash,
    pub(super) plan: Plan,
    /// The plan has hashes instead of the values of environment variables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) sealed: bool,
    #[serde(default, skip_serializing_if = "Contents::is_empty")]
    pub(super) contents: Contents,
    #[serde(default)]
    pub(super) host: Host,
}

/// The program and the machine that created a results file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Host {
    version: String,
    os: String,
    cpu: String,
    cpus: usize,
}

/// The origin of a results file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The version of Readyok.
    pub version: String,
    /// The operating system and the architecture.
    pub os: String,
    /// The model of the CPU; empty if it is unknown.
    pub cpu: String,
    /// The number of CPUs.
    pub cpus: usize,
    /// The hashes of the programs by their commands.
    pub programs: BTreeMap<String, ContentHash>,
}

impl Origin {
    /// The machine in one line.
    pub fn machine(&self) -> String {
        let cpu = if self.cpu.is_empty() { "unknown CPU" } else { &self.cpu };
        format!("{cpu}, {} CPUs, {}", self.cpus, self.os)
    }
}

impl Host {
    fn current() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name"));
        let cpu = model.and_then(|line| line.split_once(':')).map_or("", |(_, name)| name.trim());
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            os: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            cpu: cpu.chars().take(100).collect(),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// The start of the match in an export file with earlier content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportStart {
    /// The file.
    pub path: String,
    /// The size of the earlier content in bytes.
    pub from: u64,
}

impl Head {
    pub(super) fn new(plan: &Plan) -> io::Result<Self> {
        let sealed = contents::has_values(plan);
        let shown = if sealed { contents::sealed(plan)? } else { plan.clone() };
        Ok(Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            // An unsalted hash of the values would permit guessing them.
            plan_hash: ContentHash::of_plan(&shown),
            plan: shown,
            sealed,
            contents: Contents::of(plan),
            host: Host::current(),
        })
    }
}

impl Head {
    /// The head of a match of another host, whose programs may not be on this one. `openings` is the copy of its opening
    /// file on this host.
    pub(super) fn adopted(spec: &MatchSpec, openings: Option<&Path>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            plan_hash: spec.plan_hash,
            plan: spec.sealed.as_deref().unwrap_or(&spec.plan).clone(),
            sealed: spec.sealed.is_some(),
            contents: spec.contents(openings),
            host: Host::current(),
        }
    }
}

/// Length of the checksum, which replaces the opening brace of a record.
const PREFIX: usize = "{\"crc\":\"01234567\"".len();

/// Serializes a line including its line feed.
pub(super) fn serialize(record: &Record<'_>) -> io::Result<Vec<u8>> {
    // Lines can be long, so the record is serialized directly after the space for its checksum.
    let mut line = vec![0; PREFIX];
    serde_json::to_writer(&mut line, record)?;
    let (start, record) = line.split_at_mut(PREFIX);
    let Some((between, text)) = record.split_first_mut() else { return Ok(Vec::new()) };
    if text.len() > MAX_LINE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the record is too long"));
    }
    *between = b',';
    start.copy_from_slice(format!("{{\"crc\":\"{:08x}\"", crc32fast::hash(text)).as_bytes());
    line.push(b'\n');
    Ok(line)
}

/// Parses a line without its line feed, in place.
fn parse(line: &mut [u8]) -> Result<Record<'static>, String> {
    let crc = line.strip_prefix(b"{\"crc\":\"").and_then(|rest| rest.get(..8));
    let crc = crc.and_then(|digits| std::str::from_utf8(digits).ok());
    let crc = crc.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(crc) = crc else { return Err("no checksum".to_owned()) };
    let Some((between, text)) = line.get_mut(PREFIX..).and_then(<[u8]>::split_first_mut) else {
        return Err("no record after the checksum".to_owned());
    };
    let found = crc32fast::hash(text);
    if found != crc {
        return Err(format!("checksum {found:08x} instead of {crc:08x}"));
    }
    // The checksum covers the record without its opening brace.
    *between = b'{';
    let record = line.get(PREFIX..).unwrap_or_default();
    serde_json::from_slice(record).map_err(|error| error.to_string())
}

/// Reads the pairs of a results file in order. The match may be running.
#[derive(Debug)]
pub struct Reader {
    scan: Scan<BufReader<File>>,
}

impl Reader {
    /// Opens a results file.
    ///
    /// # Errors
    /// The file cannot be read or is not a results file.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).at(path, FileOperation::Open)?;
        Ok(Self { scan: Scan::start(path, BufReader::new(file))? })
    }

    /// The plan of the match, with the number of rounds at the last pair that was read. It has hashes
    /// instead of the values of environment variables.
    pub fn plan(&self) -> &Plan {
        &self.scan.head.plan
    }

    /// The identifier of the match.
    pub fn plan_hash(&self) -> ContentHash {
        self.scan.head.plan_hash
    }

    /// The program and the machine that created the file, and the hashes of the engines at the last pair that was
    /// read.
    pub fn origin(&self) -> Origin {
        let Host { version, os, cpu, cpus } = self.scan.head.host.clone();
        Origin { version, os, cpu, cpus, programs: self.scan.head.contents.hashes().clone() }
    }
}

impl Iterator for Reader {
    type Item = Result<PairResult, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.scan.next() {
                Ok(Some(Record::Pair(pair))) => return Some(Ok(pair.into_owned())),
                Ok(Some(
                    Record::Head(_) | Record::Rounds(_) | Record::Export(_) | Record::Contents(_),
                )) => (),
                Ok(None) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Reads lines up to the last valid one.
#[derive(Debug)]
pub(super) struct Scan<R> {
    path: PathBuf,
    reader: R,
    line: Vec<u8>,
    number: u64,
    /// The end of the valid lines.
    end: u64,
    finished: bool,
    head: Head,
    seen: IndexSet,
}

impl<R: BufRead> Scan<R> {
    pub(super) fn start(path: &Path, mut reader: R) -> Result<Self, StoreError> {
        let no_head = |why: String| StoreError::new(path, StoreDefect::NoResults { why });
        let mut line = Vec::new();
        let complete = next_line(&mut reader, &mut line).at(path, FileOperation::Read)?;
        let end = line.len() as u64 + 1;
        if !complete {
            return Err(no_head(
                if line.is_empty() { "the file is empty" } else { "the first line is incomplete" }
                    .to_owned(),
            ));
        }
        // Checked first, because the plan of another version may have other keys.
        if let Some(version) = version(&line).filter(|version| *version != VERSION) {
            let defect = StoreDefect::ResultsVersion { version, supported: VERSION };
            return Err(StoreError::new(path, defect));
        }
        let head = match parse(&mut line).map_err(no_head)? {
            Record::Head(head) if head.format == FORMAT => head.into_owned(),
            _ => return Err(no_head("the first line is not a head record".to_owned())),
        };
        if head.plan_hash != ContentHash::of_plan(&head.plan) {
            return Err(no_head("the hash does not match the plan".to_owned()));
        }
        let path = path.to_owned();
        let seen = IndexSet::default();
        Ok(Self { path, reader, line, number: 1, end, finished: false, head, seen })
    }

    /// The first line, with the number of rounds at the last record that was read.
    pub(super) fn head(&self) -> &Head {
        &self.head
    }

    /// The next record; none at the end of the valid lines.
    pub(super) fn next(&mut self) -> Result<Option<Record<'static>>, StoreError> {
        if self.finished || !self.advance()? {
            self.finished = true;
            return Ok(None);
        }
        let length = self.line.len() as u64 + 1;
        let record = match parse(&mut self.line) {
            Ok(record) => record,
            Err(why) => return self.end_at(why),
        };
        self.end += length;
        match &record {
            Record::Head(_) => return Err(self.damaged("second head record".to_owned())),
            Record::Rounds(rounds) => self.head.plan.rounds = *rounds,
            Record::Export(_) => (),
            Record::Contents(contents) => self.head.contents.clone_from(contents),
            Record::Pair(pair) => {
                let index = pair.pairing.index;
                if !self.seen.insert(index) {
                    return Err(self.damaged(format!("pair {index} is duplicated")));
                }
            }
        }
        Ok(Some(record))
    }

    /// The head, the stored pairs, and the end of the valid lines.
    pub(super) fn finish(self) -> (Head, IndexSet, u64) {
        (self.head, self.seen, self.end)
    }

    /// Reads a line. Returns whether it was complete.
    fn advance(&mut self) -> Result<bool, StoreError> {
        self.number += 1;
        next_line(&mut self.reader, &mut self.line).at(&self.path, FileOperation::Read)
    }

    /// Ends at a partial last record. The file is damaged if valid lines follow.
    fn end_at(&mut self, why: String) -> Result<Option<Record<'static>>, StoreError> {
        self.finished = true;
        let damaged = self.damaged(why);
        while self.advance()? {
            if parse(&mut self.line).is_ok() {
                return Err(damaged);
            }
        }
        Ok(None)
    }

    fn damaged(&self, why: String) -> StoreError {
        let defect = StoreDefect::ResultsDamaged { why };
        StoreError { path: self.path.clone(), line: Some(self.number), defect }
    }
}

/// Reads a line without its line feed. Returns whether it was complete.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    // Includes the checksum, and distinguishes a line of maximum length from a longer one.
    let limit = MAX_LINE as u64 + 64;
    reader.take(limit).read_until(b'\n', line)?;
    let complete = line.pop_if(|byte| *byte == b'\n').is_some();
    Ok(complete || line.len() as u64 == limit)
}

/// The version in a first line of any version.
fn version(line: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let head = value
        .get("head")
        .filter(|head| head.get("format").is_some_and(|format| format == FORMAT))?;
    u32::try_from(head.get("version")?.as_u64()?).ok()
}

/// A set of pair indices. It is compact because pairs end nearly in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexSet {
    /// All indices below are in the set.
    below: u64,
    /// Further indices of the set.
    above: BTreeSet<u64>,
}

impl IndexSet {
    /// Whether an index is in the set.
    pub fn contains(&self, index: u64) -> bool {
        index < self.below || self.above.contains(&index)
    }

    /// Inserts an index. Returns whether it is new.
    pub fn insert(&mut self, index: u64) -> bool {
        if self.contains(index) {
            return false;
        }
        self.above.insert(index);
        while self.above.remove(&self.below) {
            self.below += 1;
        }
        true
    }

    /// Removes an index.
    pub fn remove(&mut self, index: u64) {
        if index < self.below {
            self.above.extend(index + 1..self.below);
            self.below = index;
        } else {
            self.above.remove(&index);
        }
    }

    /// Number of indices.
    pub fn len(&self) -> u64 {
        self.below + self.above.len() as u64
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_indices_when_gaps_are_filled() {
        let mut set = IndexSet::default();
        for index in [3, 1, 0, 5, 2] {
            assert!(set.insert(index));
            assert!(!set.insert(index));
        }
        assert_eq!((set.below, set.above.len(), set.len()), (4, 1, 5));
        assert!(set.contains(2) && set.contains(5) && !set.contains(4));
        assert!(set.insert(4));
        assert_eq!(set, IndexSet { below: 6, above: BTreeSet::new() });
        set.remove(3);
        assert_eq!((set.below, set.len()), (3, 5));
        assert!(set.contains(5) && !set.contains(3));
        set.insert(3);
        assert_eq!(set, IndexSet { below: 6, above: BTreeSet::new() });
    }
}
