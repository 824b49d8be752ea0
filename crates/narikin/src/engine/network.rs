//! Evaluating with the network that the user has named.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use readyok_engine::Failure;
use readyok_rules::Game;

use crate::{NetworkError, Searcher};

/// More than the largest network has, in bytes.
const MOST_BYTES: u64 = 32 << 20;

/// The file of the network in use.
#[derive(Debug, Default)]
pub(super) struct NetworkFile {
    /// The path that was read last; empty for none.
    path: String,
}

impl NetworkFile {
    /// Has the searcher evaluate as is wanted now, and returns what there is to say of it.
    pub(super) fn prepare(&mut self, wanted: String, searcher: &mut Searcher) -> Option<String> {
        if wanted == self.path {
            return None;
        }
        self.path = wanted;
        let path = self.path.escape_debug();
        let loaded = take_back(searcher).and_then(|()| match self.path.as_str() {
            "" => Ok(None),
            path => load(Path::new(path), searcher).map(Some),
        });
        match loaded {
            Ok(game) => game.map(|game| format!("the network in `{path}` evaluates {game}")),
            Err(error) => Some(format!("no network in `{path}`: {error}")),
        }
    }
}

fn take_back(searcher: &mut Searcher) -> Result<(), Failure> {
    searcher.set_network(Game::Chess, None)?;
    Ok(searcher.set_network(Game::Shogi, None)?)
}

/// Loads a network for the game that it is for, and returns the game's name.
fn load(path: &Path, searcher: &mut Searcher) -> Result<&'static str, Failure> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    match searcher.set_network(Game::Chess, Some(&bytes)) {
        Ok(()) => Ok("chess"),
        Err(NetworkError::Features { .. }) => {
            searcher.set_network(Game::Shogi, Some(&bytes))?;
            Ok("shogi")
        }
        Err(error) => Err(error.into()),
    }
}
