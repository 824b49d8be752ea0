//! The SHA-256 of a content: the name of a plan, and of a file wherever it lies.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;
use std::{error, fmt};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::plan::Plan;

/// The SHA-256 of a content. It is written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash([u8; 32]);

/// Why a text is no hash: it is not 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoHash(String);

impl ContentHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash of what a file holds.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Self::from_digest(hash)),
                length => hash.update(buffer.get(..length).unwrap_or_default()),
            }
        }
    }

    pub(crate) fn from_digest(hash: Sha256) -> Self {
        Self(hash.finalize().into())
    }

    /// The name of the match that a plan describes. More rounds are more of the same match.
    pub fn of_plan(plan: &Plan) -> Self {
        let plan = Plan { rounds: 0, ..plan.clone() };
        // A plan is always representable.
        Self::of(&serde_json::to_vec(&plan).unwrap_or_default())
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl FromStr for ContentHash {
    type Err = NoHash;

    fn from_str(text: &str) -> Result<Self, NoHash> {
        let error = || NoHash(text.chars().take(80).collect());
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(error());
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * at..2 * at + 2).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).map_err(|_| error())?;
        }
        Ok(Self(bytes))
    }
}

impl TryFrom<String> for ContentHash {
    type Error = NoHash;

    fn try_from(text: String) -> Result<Self, NoHash> {
        text.parse()
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.to_string()
    }
}

impl fmt::Display for NoHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no SHA-256", self.0)
    }
}

impl error::Error for NoHash {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_fips_180_4_does_and_reads_what_it_writes() {
        let hash = ContentHash::of(b"abc");
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash.to_string(), text);
        assert_eq!(text.parse(), Ok(hash));
        for wrong in ["", "ba", &text.replace('b', "g"), &format!("{text}0")] {
            assert!(wrong.parse::<ContentHash>().is_err(), "{wrong}");
        }
    }
}
