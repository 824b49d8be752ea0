//! One line of a result file: a record and the checksum of its text.

use std::borrow::Cow;
use std::io;

use serde::{Deserialize, Serialize};

use super::contents::Contents;
use super::{ContentHash, secrets};
use crate::pairing::PairResult;
use crate::plan::Plan;

/// The longest line. The games of a pair with all their variations take a few megabytes at most.
pub(super) const MAX_LINE: usize = 64 << 20;

/// The name of the format.
pub(super) const FORMAT: &str = "readyok-match";

/// The version of the format.
pub(super) const VERSION: u32 = 3;

/// What a line holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Record<'a> {
    /// The first line.
    Head(Box<Cow<'a, Head>>),
    /// A pair that was played.
    Pair(Cow<'a, PairResult>),
    /// From here on the plan has so many rounds.
    Rounds(u32),
    /// Where records start.
    Export(Cow<'a, ExportStart>),
    /// From here on the files of the plan hold this.
    Contents(Cow<'a, Contents>),
}

/// What the first line says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) plan_hash: ContentHash,
    pub(super) plan: Plan,
    /// The plan has hashes in the place of the values of environments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) sealed: bool,
    #[serde(default, skip_serializing_if = "Contents::is_empty")]
    pub(super) contents: Contents,
}

/// Where the records of a match start in a file that had something in it before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportStart {
    /// The file.
    pub path: String,
    /// How many bytes stood in it before.
    pub from: u64,
}

impl Head {
    pub(super) fn new(plan: &Plan) -> io::Result<Self> {
        let sealed = secrets::has_values(plan);
        let shown = if sealed { secrets::sealed(plan)? } else { plan.clone() };
        Ok(Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            // A hash without salt over the values themselves would help to guess them.
            plan_hash: ContentHash::of_plan(&shown),
            plan: shown,
            sealed,
            contents: Contents::of(plan),
        })
    }
}

/// How long the checksum is that stands in the place of a record's opening brace.
const START: usize = "{\"crc\":\"01234567\"".len();

/// Writes a line, with its end.
pub(super) fn write(record: &Record<'_>) -> io::Result<Vec<u8>> {
    // Lines can be long: the record is written once, behind the place of its checksum.
    let mut line = vec![0; START];
    serde_json::to_writer(&mut line, record)?;
    let (start, record) = line.split_at_mut(START);
    let Some((between, text)) = record.split_first_mut() else { return Ok(Vec::new()) };
    if text.len() > MAX_LINE {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "a pair is too long"));
    }
    *between = b',';
    start.copy_from_slice(format!("{{\"crc\":\"{:08x}\"", crc32fast::hash(text)).as_bytes());
    line.push(b'\n');
    Ok(line)
}

/// Reads a line without its end. The bytes are used up.
pub(super) fn read(line: &mut [u8]) -> Result<Record<'static>, String> {
    let crc = line.strip_prefix(b"{\"crc\":\"").and_then(|rest| rest.get(..8));
    let crc = crc.and_then(|digits| std::str::from_utf8(digits).ok());
    let crc = crc.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let Some(crc) = crc else { return Err("it has no checksum".to_owned()) };
    let Some((between, text)) = line.get_mut(START..).and_then(<[u8]>::split_first_mut) else {
        return Err("it has nothing but a checksum".to_owned());
    };
    let found = crc32fast::hash(text);
    if found != crc {
        return Err(format!("its checksum is {found:08x}, not {crc:08x}"));
    }
    // What was checked is the record without its opening brace.
    *between = b'{';
    let record = line.get(START..).unwrap_or_default();
    serde_json::from_slice(record).map_err(|error| error.to_string())
}
