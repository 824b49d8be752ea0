//! What the files of a plan hold, so that a match does not go on with other engines or openings.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ContentHash;
use crate::plan::{EnginePlan, OpeningSource, Plan};
use crate::queue::find;

/// Openings longer than this are known by so much of them, evenly spread, and by their length: a book
/// of any size starts at once.
const MOST_OF_BOOK: u64 = 64 << 20;
const SAMPLES: u64 = 64;

/// The files of a plan with the hashes of what they hold: programs, files that their arguments and
/// options name by a path, openings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Contents(BTreeMap<String, ContentHash>);

/// A file that a match was begun with, and that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// As the plan names it; of an argument or option, its path.
    pub path: String,
    /// It cannot be read any more.
    pub is_gone: bool,
}

impl Contents {
    /// What the files hold now. Those that cannot be read are left out: whoever needs them will say so.
    pub(super) fn of(plan: &Plan) -> Self {
        let mut files = BTreeMap::new();
        // Engines often share a program or a network, of a hundred megabytes maybe.
        let mut keep = |name: String, path: &Path| {
            if !files.contains_key(&name)
                && let Ok(hash) = ContentHash::of_file(path)
            {
                files.insert(name, hash);
            }
        };
        for engine in plan.engines.iter().filter(|engine| !engine.command.contains("://")) {
            let program = find(&engine.command).ok();
            if let Some(path) = &program {
                keep(engine.command.clone(), path);
            }
            let named = named_by(engine, program.as_deref()).into_iter();
            for (_, path) in named.filter(|(_, path)| path.is_file()) {
                keep(path.display().to_string(), &path);
            }
        }
        if let OpeningSource::File { path, .. } = &plan.openings.source
            && let Ok(hash) = of_openings(Path::new(path))
        {
            files.insert(path.clone(), hash);
        }
        Self(files)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What of this is not so any more.
    pub(super) fn changed(&self, now: &Self) -> Vec<ChangedFile> {
        let changed = self.0.iter().filter(|(path, hash)| now.0.get(*path) != Some(hash));
        let file = |(path, _): (&String, _)| ChangedFile {
            path: path.clone(),
            is_gone: !now.0.contains_key(path),
        };
        changed.map(file).collect()
    }
}

/// The files and folders that arguments and options of an engine name, with the words that do.
pub(crate) fn named_by(engine: &EnginePlan, program: Option<&Path>) -> BTreeMap<String, PathBuf> {
    let beside = program.filter(|path| path.is_absolute()).and_then(Path::parent);
    let folder = engine.dir.as_deref().map(Path::new).or(beside).unwrap_or_else(|| Path::new(""));
    let words = engine.args.iter().chain(engine.options.values());
    // A word that is no path may be the name of a file by chance.
    let paths = words.filter(|word| word.contains(MAIN_SEPARATOR));
    let paths = paths.map(|word| (word.clone(), folder.join(word)));
    paths.filter(|(_, path)| path.is_file() || path.is_dir()).collect()
}

/// The hash of a file of openings, or of a folder of them with their names.
fn of_openings(path: &Path) -> io::Result<ContentHash> {
    if !path.is_dir() {
        return of_book(path);
    }
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.insert(entry.file_name(), of_book(&entry.path())?.to_string());
        }
    }
    Ok(ContentHash::of(format!("{files:?}").as_bytes()))
}

fn of_book(path: &Path) -> io::Result<ContentHash> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    if length <= MOST_OF_BOOK {
        return ContentHash::of_file(path);
    }
    let mut hash = Sha256::new();
    hash.update(length.to_le_bytes());
    let sample = MOST_OF_BOOK / SAMPLES;
    let mut buffer = Vec::new();
    for number in 0..SAMPLES {
        file.seek(SeekFrom::Start((length - sample) / (SAMPLES - 1) * number))?;
        buffer.clear();
        (&mut file).take(sample).read_to_end(&mut buffer)?;
        hash.update(&buffer);
    }
    Ok(ContentHash::from_digest(hash))
}
