//! Reads a result file from its beginning, one line at a time.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::error::At as _;
use super::line::{self, FORMAT, Head, MAX_LINE, Record, VERSION};
use super::{ContentHash, IndexSet, StoreError};
use crate::pairing::PairResult;
use crate::plan::Plan;

/// Reads the pairs of a result file in their order, which may be one that a running match writes.
#[derive(Debug)]
pub struct Reader {
    scan: Scan<BufReader<File>>,
}

impl Reader {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be read, or is no result file.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).at(path, "cannot be opened")?;
        Ok(Self { scan: Scan::start(path, BufReader::new(file))? })
    }

    /// The plan of the match, with as many rounds as were known up to the last pair that was read. It has
    /// no values of environments but those that an older file holds.
    pub fn plan(&self) -> &Plan {
        &self.scan.head.plan
    }

    /// The name of the match.
    pub fn plan_hash(&self) -> ContentHash {
        self.scan.head.plan_hash
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

/// Goes through the lines, up to the end of the good ones.
#[derive(Debug)]
pub(super) struct Scan<R> {
    path: PathBuf,
    reader: R,
    line: Vec<u8>,
    number: u64,
    /// Where the good lines end.
    end: u64,
    over: bool,
    head: Head,
    seen: IndexSet,
}

impl<R: BufRead> Scan<R> {
    pub(super) fn start(path: &Path, mut reader: R) -> Result<Self, StoreError> {
        let no_head = |why: String| StoreError::NoHead { path: path.to_owned(), why };
        let mut line = Vec::new();
        let complete = next_line(&mut reader, &mut line).at(path, "cannot be read")?;
        let end = line.len() as u64 + 1;
        if !complete {
            return Err(no_head(
                if line.is_empty() { "it is empty" } else { "its first line has no end" }
                    .to_owned(),
            ));
        }
        // Checked first, because the plan of another version may have other keys.
        if let Some(version) = version(&line).filter(|version| *version != VERSION) {
            return Err(StoreError::Version { path: path.to_owned(), version });
        }
        let head = match line::read(&mut line).map_err(no_head)? {
            Record::Head(head) if head.format == FORMAT => head.into_owned(),
            _ => return Err(no_head("its first line says something else".to_owned())),
        };
        if head.plan_hash != ContentHash::of_plan(&head.plan) {
            return Err(no_head("the hash in it is that of another plan".to_owned()));
        }
        let path = path.to_owned();
        let seen = IndexSet::default();
        Ok(Self { path, reader, line, number: 1, end, over: false, head, seen })
    }

    /// The next record; none at the end of the good lines.
    pub(super) fn next(&mut self) -> Result<Option<Record<'static>>, StoreError> {
        if self.over || !self.advance()? {
            self.over = true;
            return Ok(None);
        }
        let length = self.line.len() as u64 + 1;
        let record = match line::read(&mut self.line) {
            Ok(record) => record,
            Err(why) => return self.end_at(why),
        };
        self.end += length;
        match &record {
            Record::Head(_) => return Err(self.damaged("it is a second first line".to_owned())),
            Record::Rounds(rounds) => self.head.plan.rounds = *rounds,
            Record::Export(_) => (),
            Record::Contents(contents) => self.head.contents.clone_from(contents),
            Record::Pair(pair) => {
                let index = pair.pairing.index;
                if !self.seen.insert(index) {
                    return Err(self.damaged(format!("pair {index} stands there twice")));
                }
            }
        }
        Ok(Some(record))
    }

    /// What was in the first line and after it: the plan, the pairs, the end of the good lines.
    pub(super) fn finish(self) -> (Head, IndexSet, u64) {
        (self.head, self.seen, self.end)
    }

    /// Reads a line. Tells whether there was a complete one.
    fn advance(&mut self) -> Result<bool, StoreError> {
        self.number += 1;
        next_line(&mut self.reader, &mut self.line).at(&self.path, "cannot be read")
    }

    /// The end of the file is torn, unless good lines follow: then something else has happened.
    fn end_at(&mut self, why: String) -> Result<Option<Record<'static>>, StoreError> {
        self.over = true;
        let damaged = self.damaged(why);
        while self.advance()? {
            if line::read(&mut self.line).is_ok() {
                return Err(damaged);
            }
        }
        Ok(None)
    }

    fn damaged(&self, why: String) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), line: self.number, why }
    }
}

/// Reads a line without its end into the buffer. Tells whether it has an end.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    // Room for the checksum around the record, and to tell too long a line from one that fits.
    let limit = MAX_LINE as u64 + 64;
    reader.take(limit).read_until(b'\n', line)?;
    let complete = line.pop_if(|byte| *byte == b'\n').is_some();
    Ok(complete || line.len() as u64 == limit)
}

/// The version in a first line that may be of a later version.
fn version(line: &[u8]) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let head =
        value.get("head").filter(|head| head.get("format").is_some_and(|it| it == FORMAT))?;
    u32::try_from(head.get("version")?.as_u64()?).ok()
}
