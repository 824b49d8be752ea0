//! The engines as `engines.toml` and as players of a match.

use std::collections::{BTreeMap, BTreeSet};

use super::Engines;
use crate::engine::BUILT_IN;
use crate::matches::Entrant;
use crate::wire::{ApiError, EngineSource, MatchPlan, Protocol, ValuesFor};

impl Engines {
    /// The engines of the user in the form of `engines.toml`, which the command line reads.
    ///
    /// It knows one set of values for each engine: that for everything.
    pub(in crate::app) fn to_toml(&self) -> Result<String, toml::ser::Error> {
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
            match &engine.entry.source {
                EngineSource::BuiltIn => continue,
                EngineSource::Tcp { address } => {
                    table.insert("command".to_owned(), text(&format!("tcp://{address}")));
                }
                EngineSource::Program { path, args, dir, env } => {
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
                let name = match protocol {
                    Protocol::Uci => "uci",
                    Protocol::Usi => "usi",
                };
                table.insert("protocol".to_owned(), text(name));
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

    /// The engines of a plan as the arena starts them.
    pub(in crate::app) fn entrants(&self, plan: &MatchPlan) -> Result<Vec<Entrant>, ApiError> {
        let entrant = |id| {
            let engine = self.registry.get(id)?;
            let dialect = engine.dialect(Some(plan.variant));
            let entrant = Entrant {
                name: engine.name().to_owned(),
                protocol: dialect.map(Protocol::from),
                options: engine.fitting(engine.values(ValuesFor::Play), dialect),
                ..Entrant::default()
            };
            Ok(match engine.entry.source.clone() {
                EngineSource::BuiltIn => {
                    let (program, args) = self.setup.built_in.clone();
                    let command = program.to_string_lossy().into_owned();
                    Entrant { command, args, ..entrant }
                }
                EngineSource::Program { path, args, dir, env } => {
                    Entrant { command: path, args, dir, env, ..entrant }
                }
                EngineSource::Tcp { address } => {
                    Entrant { command: format!("tcp://{address}"), ..entrant }
                }
            })
        };
        plan.engines.iter().map(|engine| entrant(engine.engine)).collect()
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
    fn names_are_made_distinct() {
        let mut taken = BTreeSet::new();
        let names = ["a", "a (2)", "a", "a (2)", "a", "b"];
        let distinct = names.map(|name| distinct(name, &mut taken));
        assert_eq!(distinct, ["a", "a (2)", "a (3)", "a (2) (2)", "a (4)", "b"]);
    }
}
