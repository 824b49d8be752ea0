//! What HTTP asks of the world: games for files, logs and engines as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::PoisonError;

use readyok_protocol::Language;

use super::World;
use super::games::storage;
use crate::engine::BUILT_IN;
use crate::game::{Room, Tree, no_such};
use crate::time::{Moment, date};
use crate::wire::{
    GameId, LibraryGame, NodeId, ProcessId, Protocol, Reach, Refusal, Speaker, Thing,
};

impl World {
    /// Keeps a game that was read, and opens it if that is wanted.
    pub(crate) fn import(
        &mut self,
        tree: &Tree,
        open: bool,
        at: Moment,
    ) -> Result<(LibraryGame, Option<GameId>), Refusal> {
        let id = if open {
            self.add_room(tree.clone(), "import", at)?
        } else {
            let id = self.store.new_game("import", at).map_err(storage)?;
            let room = Room::new(id, tree.clone(), at);
            self.store
                .save(id, &room.keep(), &room.line(), room.outcome(), tree, at)
                .map_err(storage)?;
            self.store.set_open(id, false).map_err(storage)?;
            id
        };
        // A game without a result is searched for as well.
        self.store.index(id, tree).map_err(storage)?;
        let room = Room::new(id, tree.clone(), at);
        let line = room.line();
        let game = LibraryGame {
            id,
            variant: line.variant,
            names: line.names,
            result: line.result,
            reason: room.outcome().map(|outcome| outcome.reason.word().to_owned()),
            date: tree
                .headers
                .get("Date")
                .or_else(|| tree.headers.get("開始日時"))
                .map(str::to_owned),
            event: tree
                .headers
                .get("Event")
                .or_else(|| tree.headers.get("棋戦"))
                .map(str::to_owned),
            plies: line.plies,
            added: date(at),
            source: "import".to_owned(),
        };
        Ok((game, open.then_some(id)))
    }

    /// The tree of a game, open or not, with the node that is looked at.
    pub(crate) fn tree_of(&self, id: GameId) -> Result<(Tree, NodeId), Refusal> {
        let missing = || no_such(Thing::Game, &id, format!("there is no game {id}"));
        if let Some(room) = self.rooms.get(&id) {
            return Ok((room.tree().clone(), room.cursor()));
        }
        let kept = self.store.game(id).map_err(storage)?.ok_or_else(missing)?;
        let room = Room::restore(id, kept, 0).ok_or_else(missing)?;
        Ok((room.tree().clone(), room.cursor()))
    }

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
