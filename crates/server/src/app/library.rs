//! What HTTP asks of the state: games for files, logs and engines as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::PoisonError;

use readyok_protocol::Language;

use super::games::storage;
use super::{App, AppState};
use crate::engine::BUILT_IN;
use crate::game::{GameSession, Tree};
use crate::store::{Row, StoreError};
use crate::time::{Moment, now};
use crate::wire::{ApiError, GameId, LibraryGame, NodeId, ProcessId, Protocol, Reach, Speaker};

/// Maximum number of imported games in one transaction, and of bytes after which there is no further game in it:
/// moves that are played meanwhile are written between two of them.
const MAX_BATCH: usize = 64;
const MAX_BATCH_BYTES: usize = 1 << 20;

/// Games that were read and wait to be written in one transaction.
#[derive(Default)]
pub(crate) struct Batch {
    rows: Vec<Row>,
    bytes: usize,
}

impl Batch {
    /// Adds a game. Returns whether the batch is to be written.
    pub(crate) fn push(&mut self, row: Row) -> bool {
        self.bytes += row.size();
        self.rows.push(row);
        MAX_BATCH <= self.rows.len() || MAX_BATCH_BYTES <= self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn take(&mut self) -> Vec<Row> {
        self.bytes = 0;
        std::mem::take(&mut self.rows)
    }
}

/// The row of a game that was read. It is found by searches even without a result.
pub(crate) fn row_of(tree: Tree, at: Moment) -> Result<Row, ApiError> {
    Row::of(&GameSession::new(0, tree, at).snapshot(), true).map_err(storage)
}

impl App {
    /// Adds games that were read. It waits for the library, so it is not for threads of the runtime. If one
    /// cannot be added, neither are those after it.
    pub(crate) fn import(&self, rows: Vec<Row>) -> (Vec<LibraryGame>, Option<ApiError>) {
        let at = now();
        let added = self.writer.call_blocking(move |store| {
            let (ids, error) = store.import(&rows, at);
            let games = rows.into_iter().zip(ids);
            let games: Vec<_> = games.map(|(row, id)| row.into_found(id, "import", at)).collect();
            Ok((games, error))
        });
        match added {
            Ok((games, error)) => (games, error.map(storage)),
            Err(error) => (Vec::new(), Some(storage(error))),
        }
    }

    /// Adds a game that was read, and opens it. It waits as [`Self::import`] does.
    pub(crate) fn import_open(&self, tree: Tree) -> Result<LibraryGame, ApiError> {
        let at = now();
        // What cannot be opened is not added.
        self.state().make_room()?;
        let row = row_of(tree.clone(), at)?;
        let added = self.writer.call_blocking(move |store| {
            let ids = store.add_games(std::slice::from_ref(&row), "import", true, at)?;
            Ok(ids.first().map(|id| row.into_found(*id, "import", at)))
        });
        let closed = || storage(StoreError::Closed);
        let game = added.map_err(storage)?.ok_or_else(closed)?;
        // What was read is looked at from its beginning.
        let mut room = GameSession::new(game.id, tree, at);
        room.take_unsaved();
        let mut state = self.state();
        if let Err(error) = state.make_room() {
            drop(state.set_open(game.id, false));
            return Err(error);
        }
        state.add_room(room, at);
        Ok(game)
    }

    /// The tree of a game, open or not, with the node that is looked at.
    pub(crate) async fn tree_of(&self, id: GameId) -> Result<(Tree, NodeId), ApiError> {
        let shown = |room: &GameSession| (room.tree().clone(), room.cursor());
        let open = self.state().rooms.get(&id).map(shown);
        if let Some(found) = open {
            return Ok(found);
        }
        let found = self.load(id, |state, loaded| match state.rooms.get(&id) {
            Some(room) => Ok(shown(room)),
            None => loaded.map(|loaded| shown(&loaded.room)),
        });
        found.await
    }
}

impl AppState {
    /// The log of a process as a file: `<time in ms> > line`. What lines break is told in a language.
    pub(crate) fn log_text(&self, id: ProcessId, language: Language) -> Option<String> {
        let log = self.processes.get(&id)?.log.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for line in log.lines() {
            let sign = match line.by {
                Speaker::Client => '>',
                Speaker::User => '!',
                Speaker::Engine => '<',
                Speaker::Stderr => 'E',
            };
            // Writing into a `String` cannot fail.
            let _ = writeln!(text, "{} {sign} {}", line.at, line.text);
            for breach in &line.breaches {
                let (why, [note, must]) = match language {
                    Language::English => (&breach.english, ["note", "must"]),
                    Language::Japanese => (&breach.japanese, ["注意", "必須"]),
                };
                let level = if breach.serious { must } else { note };
                let _ = writeln!(text, "{} # {level}: {} [{}]", line.at, why.text, why.clause);
            }
        }
        Some(text)
    }

    /// The engines of the user in the form of `engines.toml`, which the command line reads.
    ///
    /// It knows one set of values for each engine: that for everything.
    pub(crate) fn engines_toml(&self) -> Result<String, toml::ser::Error> {
        let mut engines = Vec::new();
        let mut names = BTreeSet::new();
        let texts = |texts: &BTreeMap<String, String>| {
            let pairs = texts.iter().map(|(name, text)| (name.clone(), text.clone().into()));
            toml::Value::Table(pairs.collect())
        };
        for (id, engine) in self.registry.iter().filter(|(id, _)| *id != BUILT_IN) {
            let mut table = toml::Table::new();
            let text = |text: &str| toml::Value::String(text.to_owned());
            let name = engine.name();
            let name = if name.is_empty() { format!("engine {id}") } else { name.to_owned() };
            let name = distinct(&name, &mut names);
            table.insert("name".to_owned(), text(&name));
            match &engine.entry.reach {
                Reach::BuiltIn => continue,
                Reach::Tcp { address } => {
                    table.insert("command".to_owned(), text(&format!("tcp://{address}")));
                }
                Reach::Program { path, args, dir, env } => {
                    table.insert("command".to_owned(), text(path));
                    if !args.is_empty() {
                        let args = args.iter().map(|arg| text(arg)).collect();
                        table.insert("args".to_owned(), toml::Value::Array(args));
                    }
                    if let Some(dir) = dir {
                        table.insert("cwd".to_owned(), text(dir));
                    }
                    if !env.is_empty() {
                        table.insert("env".to_owned(), texts(env));
                    }
                }
            }
            if let Some(protocol) = engine.entry.protocol {
                let word = match protocol {
                    Protocol::Uci => "uci",
                    Protocol::Usi => "usi",
                };
                table.insert("protocol".to_owned(), text(word));
            }
            if !engine.entry.values.is_empty() {
                table.insert("options".to_owned(), texts(&engine.entry.values));
            }
            engines.push(toml::Value::Table(table));
        }
        let mut file = toml::Table::new();
        file.insert("engine".to_owned(), toml::Value::Array(engines));
        toml::to_string(&file)
    }
}

/// A name that no other engine of the list has: the command line finds engines by it.
pub(super) fn distinct(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut found = name.to_owned();
    let mut count = 1;
    while !taken.insert(found.clone()) {
        count += 1;
        found = format!("{name} ({count})");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_whatever_they_are() {
        let mut taken = BTreeSet::new();
        let names = ["a", "a (2)", "a", "a (2)", "a", "b"];
        let distinct = names.map(|name| distinct(name, &mut taken));
        assert_eq!(distinct, ["a", "a (2)", "a (3)", "a (2) (2)", "a (4)", "b"]);
    }
}
