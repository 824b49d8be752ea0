//! The progress file: a line per evaluated position, so that a run continues after it was killed.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use readyok_rules::record::ScoredLine;
use serde::{Deserialize, Serialize};

use crate::progress_file::ProgressFile;

/// The version of the file format.
const VERSION: u32 = 1;

/// The first line: what the evaluations depend on.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Settings {
    #[serde(rename = "readyok_annotate")]
    version: u32,
    engine: String,
    options: Vec<String>,
    limit: String,
    lines: u32,
}

impl Settings {
    pub(super) fn new(engine: &str, options: &[String], limit: String, lines: u32) -> Self {
        let (engine, options) = (engine.to_owned(), options.to_owned());
        Self { version: VERSION, engine, options, limit, lines }
    }
}

/// The evaluation of a position.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct Evaluated {
    pub(super) depth: Option<u32>,
    /// The lines of the engine, the best first. The last position of a game has a score without moves.
    pub(super) lines: Vec<ScoredLine>,
}

#[derive(Deserialize, Serialize)]
struct Entry {
    game: u64,
    ply: usize,
    /// The position, so that the evaluations of another game are not used.
    key: u64,
    #[serde(flatten)]
    evaluated: Evaluated,
}

/// The evaluations of a run, in memory and, if the output has a path, in a file.
pub(super) struct Journal {
    file: Mutex<Option<ProgressFile>>,
    known: HashMap<(u64, usize), (u64, Evaluated)>,
}

impl Journal {
    /// A journal that is not stored.
    pub(super) fn temporary() -> Self {
        Self { file: Mutex::new(None), known: HashMap::new() }
    }

    /// Opens or creates a file. `restart` discards the evaluations in it.
    pub(super) fn open(path: &Path, settings: &Settings, restart: bool) -> io::Result<Self> {
        let mut known = HashMap::new();
        let file = ProgressFile::open(path, settings, restart, |line| {
            let entry = serde_json::from_str(line);
            entry.is_ok_and(|Entry { game, ply, key, evaluated }| {
                known.insert((game, ply), (key, evaluated));
                true
            })
        })?;
        Ok(Self { file: Mutex::new(Some(file)), known })
    }

    /// The number of evaluations of earlier runs.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn get(&self, game: u64, ply: usize, key: u64) -> Option<&Evaluated> {
        self.known
            .get(&(game, ply))
            .filter(|(known, _)| *known == key)
            .map(|(_, evaluated)| evaluated)
    }

    pub(super) fn add(
        &self,
        game: u64,
        ply: usize,
        key: u64,
        evaluated: &Evaluated,
    ) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = file.as_mut() else { return Ok(()) };
        file.add(&Entry { game, ply, key, evaluated: evaluated.clone() })
    }

    /// Removes the file of a complete run.
    pub(super) fn remove(self) -> io::Result<()> {
        let file = self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        file.map_or(Ok(()), ProgressFile::remove)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use readyok_protocol::Score;

    use super::*;

    #[test]
    fn evaluations_survive_a_kill() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("progress");
        let settings = Settings::new("engine", &[], "nodes 1".to_owned(), 1);
        let line = ScoredLine { score: Score::Cp(7), moves: vec!["e2e4".to_owned()] };
        let evaluated = Evaluated { depth: Some(3), lines: vec![line] };
        let journal = Journal::open(&path, &settings, false).expect("a file");
        journal.add(2, 5, 99, &evaluated).expect("a file");
        assert!(Journal::open(&path, &settings, false).is_err(), "the file is in use");
        drop(journal);
        let mut file = OpenOptions::new().append(true).open(&path).expect("the file");
        file.write_all(b"{\"game\":2,\"ply\":6,\"ke").expect("the file");
        drop(file);
        let journal = Journal::open(&path, &settings, false).expect("the file");
        assert_eq!(journal.get(2, 5, 99), Some(&evaluated));
        assert_eq!(journal.get(2, 5, 98), None);
        assert_eq!(journal.len(), 1);
        journal.add(2, 6, 1, &evaluated).expect("the file");
        drop(journal);
        let other = Settings::new("engine", &[], "nodes 2".to_owned(), 1);
        assert!(Journal::open(&path, &other, false).is_err());
        assert_eq!(Journal::open(&path, &settings, false).expect("the file").len(), 2);
        let journal = Journal::open(&path, &other, true).expect("the file");
        assert_eq!(journal.len(), 0);
        journal.remove().expect("the file");
        assert!(!path.exists());
    }
}
