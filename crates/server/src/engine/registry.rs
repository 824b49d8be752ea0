//! The registered engines, with their values and presets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use readyok_client::unstable::is_executable;
use readyok_protocol::translation::Translation;
use readyok_protocol::{Dialect, Register};
use serde::{Deserialize, Serialize};

use super::log::printable;
use super::machine::{machine, recommended};
use super::options::{self, Learned};
use super::process::EngineInfo;
use crate::wire::{
    ApiError, CheckRun, EngineEntry, EngineId, EngineOption, EnginePlayer, EngineProgram,
    EngineSource, EngineState, EngineValues, ErrorCategory, ErrorCode, ErrorInfo, ErrorSubject,
    Identity, Preset, Protocol, StrengthRange, ValuesFor, Variant,
};

/// The built-in engine.
pub(crate) const BUILT_IN: EngineId = 1;
/// Maximum number of registered engines.
const MAX_ENGINES: usize = 500;
/// Maximum number of values, presets, arguments or variables.
const MAX_VALUES: usize = 1000;
/// Maximum length of a text of an entry, in bytes.
const MAX_TEXT: usize = 4096;

/// All engines.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    engines: BTreeMap<EngineId, RegisteredEngine>,
    /// The last assigned number, even if its engine was removed.
    last: EngineId,
    /// The translation file of the built-in engine.
    translation: Translation,
}

/// A registered engine with its current state.
#[derive(Debug)]
pub(crate) struct RegisteredEngine {
    pub(crate) config: EngineConfig,
    pub(crate) error: Option<ErrorInfo>,
    pub(crate) check: Option<CheckRun>,
    pub(crate) registration: Option<crate::wire::Approval>,
    pub(crate) copy_protection: Option<crate::wire::Approval>,
}

/// The stored part of an engine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct EngineConfig {
    #[serde(flatten)]
    pub(crate) entry: EngineEntry,
    #[serde(flatten)]
    pub(crate) values: EngineValues,
    #[serde(default)]
    pub(crate) registered_as: Option<(String, String)>,
    /// The last handshake, if any.
    #[serde(default, deserialize_with = "options::if_readable")]
    pub(crate) learned: Option<Learned>,
    /// The last USI handshake of the built-in engine, which uses USI for shogi.
    #[serde(default, deserialize_with = "options::if_readable")]
    pub(crate) learned_in_usi: Option<Learned>,
}

impl EngineConfig {
    /// The entry for the library.
    pub(crate) fn to_keep(&self) -> Self {
        let mut kept = self.clone();
        for learned in [&mut kept.learned, &mut kept.learned_in_usi] {
            learned.take_if(|learned| !learned.is_short());
        }
        kept
    }
}

impl RegisteredEngine {
    fn new(config: EngineConfig) -> Self {
        Self { config, error: None, check: None, registration: None, copy_protection: None }
    }

    /// Whether its options are unknown.
    pub(crate) fn is_unknown(&self) -> bool {
        self.config.learned.is_none()
    }

    /// Whether it must be probed at the start of the server: the built-in engine may have changed.
    pub(crate) fn needs_probe(&self) -> bool {
        self.config.entry.source == EngineSource::BuiltIn || self.is_unknown()
    }

    /// The last handshake in the protocol for a game.
    pub(crate) fn learned(&self, variant: Option<Variant>) -> Option<&Learned> {
        match (&self.config.entry.source, variant) {
            (EngineSource::BuiltIn, Some(Variant::Shogi)) => self.config.learned_in_usi.as_ref(),
            _ => self.config.learned.as_ref(),
        }
    }

    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.config.learned.as_ref().map(|learned| &learned.identity)
    }

    /// Its options, followed by those of its other protocol only.
    pub(crate) fn options(&self) -> Vec<EngineOption> {
        let of = |learned: &Option<Learned>| {
            learned.as_ref().map_or_else(Vec::new, |learned| learned.options.clone())
        };
        let mut options = of(&self.config.learned);
        let mut more = of(&self.config.learned_in_usi);
        let has =
            |name: &str| options.iter().any(|option| Dialect::Usi.same_option(&option.name, name));
        more.retain(|option| !has(&option.name));
        options.append(&mut more);
        options
    }

    fn variants(&self) -> &[Variant] {
        match &self.config.learned {
            // It supports all games, regardless of the protocol.
            _ if self.config.entry.source == EngineSource::BuiltIn => {
                &[Variant::Chess, Variant::Chess960, Variant::Shogi]
            }
            Some(learned) => &learned.variants,
            None => &[],
        }
    }

    fn strength(&self, variant: Option<Variant>) -> Option<&StrengthRange> {
        self.learned(variant)?.strength.as_ref()
    }

    /// The variants to probe it for.
    pub(crate) fn probe_variants(&self) -> &'static [Option<Variant>] {
        match self.config.entry.source {
            EngineSource::BuiltIn => &[None, Some(Variant::Shogi)],
            EngineSource::Program(_) | EngineSource::Tcp { .. } => &[None],
        }
    }

    /// The protocol for a probe; none to detect it: the program may have been replaced.
    pub(crate) fn probe_dialect(&self, variant: Option<Variant>) -> Option<Dialect> {
        match self.config.entry.source {
            EngineSource::BuiltIn => self.dialect(variant),
            EngineSource::Program(_) | EngineSource::Tcp { .. } => self.config.entry.protocol,
        }
    }

    /// The protocol for a game; none to detect it.
    pub(crate) fn dialect(&self, variant: Option<Variant>) -> Option<Dialect> {
        match (&self.config.entry.source, variant) {
            // The built-in engine supports both protocols.
            (EngineSource::BuiltIn, Some(Variant::Shogi)) => Some(Dialect::Usi),
            (EngineSource::BuiltIn, Some(Variant::Chess | Variant::Chess960) | None) => {
                Some(Dialect::Uci)
            }
            _ => {
                let detected = || self.config.learned.as_ref().map(|learned| learned.protocol);
                self.config.entry.protocol.or_else(detected)
            }
        }
    }

    /// The values for a purpose, which override the general ones.
    pub(crate) fn values(&self, of: ValuesFor) -> BTreeMap<String, String> {
        let mut values = self.config.values.all.clone();
        let special = match of {
            ValuesFor::All => None,
            ValuesFor::Play => Some(&self.config.values.play),
            ValuesFor::Analyse => Some(&self.config.values.analyse),
        };
        values.extend(special.into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
        values
    }

    /// The values of options that exist in the protocol.
    pub(crate) fn fitting(
        &self,
        mut values: BTreeMap<String, String>,
        dialect: Option<Dialect>,
    ) -> BTreeMap<String, String> {
        let learned = match dialect {
            Some(Dialect::Usi) => &self.config.learned_in_usi,
            Some(Dialect::Uci) | None => &self.config.learned,
        };
        if self.config.entry.source == EngineSource::BuiltIn
            && let (Some(dialect), Some(learned)) = (dialect, learned)
        {
            let has = |name: &str| {
                learned.options.iter().any(|option| dialect.same_option(&option.name, name))
            };
            values.retain(|name, _| has(name));
        }
        values
    }

    pub(crate) fn register(&self) -> Option<Register<'static>> {
        let (name, code) = self.config.registered_as.clone()?;
        let filled = |text: String| (!text.is_empty()).then(|| text.into());
        Some(Register::With { name: filled(name), code: filled(code) })
    }

    pub(crate) fn values_mut(&mut self, of: ValuesFor) -> &mut BTreeMap<String, String> {
        match of {
            ValuesFor::All => &mut self.config.values.all,
            ValuesFor::Play => &mut self.config.values.play,
            ValuesFor::Analyse => &mut self.config.values.analyse,
        }
    }

    /// The values that limit its strength in a variant.
    pub(crate) fn strength_values(&self, variant: Variant, value: i64) -> Vec<(String, String)> {
        let range = self.strength(Some(variant));
        range.map_or_else(Vec::new, |range| options::strength_values(range, value))
    }

    /// The values of a player that override those of the engine: its strength and options by name.
    pub(crate) fn values_for(
        &self,
        player: &EnginePlayer,
        variant: Option<Variant>,
    ) -> BTreeMap<String, String> {
        let strength = player.strength.zip(variant);
        let strength =
            strength.map(|(strength, variant)| self.strength_values(variant, strength.value));
        let mut values: BTreeMap<_, _> = strength.into_iter().flatten().collect();
        values.extend(player.options.clone());
        values
    }

    /// The name to show: the user's, the engine's, or the name of the program before the first handshake.
    pub(crate) fn name(&self) -> &str {
        if !self.config.entry.name.is_empty() {
            return &self.config.entry.name;
        }
        let reported = self.identity().map(|identity| identity.name.as_str());
        reported.filter(|name| !name.is_empty()).unwrap_or_else(|| {
            match &self.config.entry.source {
                EngineSource::Program(EngineProgram { path, .. }) => {
                    path.file_name().unwrap_or(path.as_os_str()).to_str().unwrap_or_default()
                }
                EngineSource::Tcp { address } => address,
                EngineSource::BuiltIn => "",
            }
        })
    }

    pub(crate) fn wire(&self, id: EngineId) -> EngineState {
        let EngineConfig { entry, values, registered_as, .. } = self.config.clone();
        let is_built_in = entry.source == EngineSource::BuiltIn;
        let options = self.options();
        let protocol = self.dialect(None).filter(|_| !is_built_in);
        EngineState {
            id,
            entry: EngineEntry { name: self.name().to_owned(), protocol, ..entry },
            values,
            built_in: id == BUILT_IN,
            identity: self.identity().cloned(),
            variants: self.variants().to_vec(),
            recommended: recommended(&options, machine()),
            options,
            strength: self.strength(None).cloned(),
            strength_in_shogi: self.strength(Some(Variant::Shogi)).cloned(),
            error: self.error.clone(),
            registration: self.registration,
            copy_protection: self.copy_protection,
            registered_as: registered_as.map(|(name, _)| name),
            check: self.check.clone(),
        }
    }
}

impl From<EngineEntry> for EngineConfig {
    /// An engine without values.
    fn from(entry: EngineEntry) -> Self {
        let values = EngineValues::default();
        Self { entry, values, registered_as: None, learned: None, learned_in_usi: None }
    }
}

impl Registry {
    /// The built-in engine and the stored ones. New engines are numbered after `last`.
    pub(crate) fn new(
        translation: Translation,
        kept: Vec<(EngineId, EngineConfig)>,
        last: EngineId,
    ) -> Self {
        let built_in = EngineEntry {
            name: "Narikin".to_owned(),
            source: EngineSource::BuiltIn,
            protocol: None,
        };
        let mut engines = BTreeMap::from([(BUILT_IN, RegisteredEngine::new(built_in.into()))]);
        for (id, config) in kept {
            if id == BUILT_IN && config.entry.source != EngineSource::BuiltIn {
                continue;
            }
            engines.insert(id, RegisteredEngine::new(config));
        }
        let last = engines.keys().next_back().copied().unwrap_or(BUILT_IN).max(last);
        Self { engines, last, translation }
    }

    pub(crate) fn get(&self, id: EngineId) -> Result<&RegisteredEngine, ApiError> {
        self.engines.get(&id).ok_or_else(|| no_engine(id))
    }

    pub(crate) fn get_mut(&mut self, id: EngineId) -> Result<&mut RegisteredEngine, ApiError> {
        self.engines.get_mut(&id).ok_or_else(|| no_engine(id))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (EngineId, &RegisteredEngine)> {
        self.engines.iter().map(|(id, engine)| (*id, engine))
    }

    /// Registers an engine, with values of an engine list. Its number is never reused, as games, reports and matches refer to it.
    pub(crate) fn add(
        &mut self,
        entry: EngineEntry,
        values: BTreeMap<String, String>,
    ) -> Result<EngineId, ApiError> {
        check_entry(&entry)?;
        let is_wrong =
            |(name, value): (&String, &String)| is_malformed(name) || is_malformed(value);
        if MAX_VALUES < values.len() || values.iter().any(is_wrong) {
            return Err(ApiError::invalid_text(ErrorSubject::Option));
        }
        let values = EngineValues { all: values, ..EngineValues::default() };
        self.insert(EngineConfig { values, ..entry.into() })
    }

    /// Registers an engine again under another name, with its values and presets.
    pub(crate) fn copy(&mut self, id: EngineId) -> Result<EngineId, ApiError> {
        let mut taken = self.engines.values().map(|engine| engine.name().to_owned()).collect();
        let engine = self.get(id)?;
        let mut config = engine.config.clone();
        config.entry.name = distinct(engine.name(), &mut taken);
        self.insert(config)
    }

    fn insert(&mut self, config: EngineConfig) -> Result<EngineId, ApiError> {
        if MAX_ENGINES <= self.engines.len() {
            return Err(ApiError::too_many(ErrorSubject::Engine));
        }
        let id = self.last.checked_add(1);
        let id = id.ok_or_else(|| ApiError::too_many(ErrorSubject::Engine))?;
        self.last = id;
        self.engines.insert(id, RegisteredEngine::new(config));
        Ok(id)
    }

    /// Changes the source of an engine.
    pub(crate) fn change(&mut self, id: EngineId, entry: EngineEntry) -> Result<(), ApiError> {
        if id == BUILT_IN {
            return Err(built_in_stays());
        }
        let engine = self.get_mut(id)?;
        if engine.config.entry.source == EngineSource::BuiltIn
            && entry.source == EngineSource::BuiltIn
        {
            // Only the name of a copy of the built-in engine can change.
            check_name(&entry.name)?;
        } else {
            check_entry(&entry)?;
        }
        let old = &engine.config.entry;
        if (&old.source, old.protocol) != (&entry.source, entry.protocol) {
            // The handshake of another program is obsolete.
            (engine.config.learned, engine.config.learned_in_usi) = (None, None);
        }
        engine.config.entry = entry;
        Ok(())
    }

    pub(crate) fn remove(&mut self, id: EngineId) -> Result<(), ApiError> {
        if id == BUILT_IN {
            return Err(built_in_stays());
        }
        self.engines.remove(&id).map(|_| ()).ok_or_else(|| no_engine(id))
    }

    /// Sets or resets values, all or none.
    pub(crate) fn set_values(
        &mut self,
        id: EngineId,
        of: ValuesFor,
        values: &BTreeMap<String, Option<String>>,
    ) -> Result<(), ApiError> {
        let engine = self.get_mut(id)?;
        let options = engine.options();
        for (name, value) in values {
            let Some(value) = value else { continue };
            options::check_value(&options, name, value).map_err(ApiError::engine)?;
        }
        let all = engine.values_mut(of);
        for (name, value) in values {
            match value {
                Some(value) => drop(all.insert(name.clone(), value.clone())),
                None => drop(all.remove(name)),
            }
        }
        Ok(())
    }

    /// Saves a set of values.
    pub(crate) fn save_preset(&mut self, id: EngineId, preset: Preset) -> Result<(), ApiError> {
        let engine = self.get_mut(id)?;
        let presets = &mut engine.config.values.presets;
        let too_long = MAX_TEXT < preset.name.len() || MAX_VALUES < preset.values.len();
        if preset.name.trim().is_empty() || too_long || MAX_VALUES <= presets.len() {
            return Err(ApiError::invalid_text(ErrorSubject::Preset));
        }
        presets.retain(|known| known.name != preset.name);
        presets.push(preset);
        Ok(())
    }

    /// The engines of the user in the form of `engines.toml`, the file of the command line. It has one set of values
    /// for each engine: the values for all purposes.
    pub(crate) fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let mut engines = Vec::new();
        let mut names = BTreeSet::new();
        let texts = |texts: &BTreeMap<String, String>| {
            let pairs = texts.iter().map(|(name, text)| (name.clone(), text.clone().into()));
            toml::Value::Table(pairs.collect())
        };
        for (id, engine) in self.iter().filter(|(id, _)| *id != BUILT_IN) {
            let mut table = toml::Table::new();
            let text = |text: &str| toml::Value::String(text.to_owned());
            let name = engine.name();
            let name = if name.is_empty() { format!("engine {id}") } else { name.to_owned() };
            let name = distinct(&name, &mut names);
            table.insert("name".to_owned(), text(&name));
            match &engine.config.entry.source {
                EngineSource::BuiltIn => continue,
                EngineSource::Tcp { address } => {
                    table.insert("command".to_owned(), text(&format!("tcp://{address}")));
                }
                EngineSource::Program(EngineProgram { path, args, dir, env }) => {
                    table.insert("command".to_owned(), text(&path.to_string_lossy()));
                    if !args.is_empty() {
                        let args = args.iter().map(|arg| text(arg)).collect();
                        table.insert("args".to_owned(), toml::Value::Array(args));
                    }
                    if let Some(dir) = dir {
                        table.insert("cwd".to_owned(), text(&dir.to_string_lossy()));
                    }
                    if !env.is_empty() {
                        table.insert("env".to_owned(), texts(env));
                    }
                }
            }
            if let Some(protocol) = engine.config.entry.protocol {
                let name = match protocol {
                    Protocol::Uci => "uci",
                    Protocol::Usi => "usi",
                };
                table.insert("protocol".to_owned(), text(name));
            }
            if !engine.config.values.all.is_empty() {
                table.insert("options".to_owned(), texts(&engine.config.values.all));
            }
            engines.push(toml::Value::Table(table));
        }
        let mut file = toml::Table::new();
        file.insert("engine".to_owned(), toml::Value::Array(engines));
        toml::to_string(&file)
    }

    /// Stores the handshake of an engine.
    pub(crate) fn on_handshake(&mut self, id: EngineId, info: &EngineInfo) {
        let translation = match self.engines.get(&id).map(|engine| &engine.config.entry.source) {
            Some(EngineSource::BuiltIn) => self.translation.clone(),
            Some(EngineSource::Program(program)) => options::translation_next_to(&program.path),
            Some(EngineSource::Tcp { .. }) | None => Translation::default(),
        };
        let Some(engine) = self.engines.get_mut(&id) else { return };
        let learned = Learned {
            identity: Identity { name: printable(&info.name), author: printable(&info.author) },
            protocol: info.dialect,
            options: options::options(&info.options, info.dialect, &translation),
            variants: options::variants(&info.options, info.dialect),
            strength: options::strength(&info.options),
        };
        match (&engine.config.entry.source, info.dialect) {
            (EngineSource::BuiltIn, Dialect::Usi) => engine.config.learned_in_usi = Some(learned),
            _ => engine.config.learned = Some(learned),
        }
        engine.error = None;
    }
}

/// A name that is not taken yet: the command line finds engines by their names.
fn distinct(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut found = name.to_owned();
    let mut count = 1;
    while !taken.insert(found.clone()) {
        count += 1;
        found = format!("{name} ({count})");
    }
    found
}

fn no_engine(id: EngineId) -> ApiError {
    ApiError::not_found(ErrorSubject::Engine, id)
}

fn built_in_stays() -> ApiError {
    ApiError::conflict(ErrorCode::BuiltInEngine)
}

/// A path that is not an executable program.
pub(crate) fn not_a_program(path: &Path) -> ApiError {
    let name = path.to_string_lossy().into_owned();
    ApiError::new(ErrorCategory::InvalidPath, ErrorCode::NotExecutable { name })
}

fn is_malformed(text: &str) -> bool {
    MAX_TEXT < text.len() || text.chars().any(char::is_control)
}

fn check_name(name: &str) -> Result<(), ApiError> {
    if is_malformed(name) {
        return Err(ApiError::invalid_text(ErrorSubject::EngineName));
    }
    Ok(())
}

/// Validates the registration of an engine.
fn check_entry(entry: &EngineEntry) -> Result<(), ApiError> {
    check_name(&entry.name)?;
    match &entry.source {
        EngineSource::BuiltIn => Err(ApiError::invalid_request(ErrorCode::BuiltInEngine)),
        EngineSource::Tcp { address } => {
            let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty());
            let port = port.and_then(|(_, port)| port.parse::<u16>().ok());
            if is_malformed(address) || port.is_none() {
                return Err(ApiError::invalid_request(ErrorCode::InvalidAddress));
            }
            Ok(())
        }
        EngineSource::Program(EngineProgram { path, args, dir, env }) => {
            let dir_text = dir.as_ref().map(|dir| dir.to_string_lossy().into_owned());
            let texts = args.iter().chain(env.keys()).chain(env.values()).chain(&dir_text);
            if texts.clone().any(|text| MAX_TEXT < text.len() || text.contains('\0'))
                || MAX_VALUES < args.len()
                || MAX_VALUES < env.len()
                || env.keys().any(|name| name.is_empty() || name.contains('='))
            {
                return Err(ApiError::invalid_text(ErrorSubject::Argument));
            }
            if !path.is_absolute() || dir.as_deref().is_some_and(Path::is_relative) {
                return Err(ApiError::new(ErrorCategory::InvalidPath, ErrorCode::PathNotAbsolute));
            }
            if !is_executable(path) {
                return Err(not_a_program(path));
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use readyok_protocol::{OptionDecl, OptionSet};
    use serde_json::json;

    use super::*;

    fn over_tcp(address: &str) -> EngineEntry {
        let source = EngineSource::Tcp { address: address.to_owned() };
        EngineEntry { name: String::new(), source, protocol: None }
    }

    #[test]
    fn the_number_of_engines_is_bounded() {
        let mut registry = Registry::new(Translation::default(), Vec::new(), 0);
        let rejected = loop {
            match registry.add(over_tcp("host:1"), BTreeMap::new()) {
                Ok(id) => assert!(registry.iter().count() <= MAX_ENGINES, "{id}"),
                Err(rejected) => break rejected,
            }
        };
        assert_eq!(rejected.category, ErrorCategory::Limit);
        // The built-in engine is included.
        assert_eq!(registry.iter().count(), MAX_ENGINES);
        registry.remove(7).expect("it is there");
        let again = registry.add(over_tcp("host:1"), BTreeMap::new()).expect("there is room");
        assert!(registry.get(again).is_ok());
        assert_eq!(
            registry.add(over_tcp("host:1"), BTreeMap::new()).map_err(|error| error.category),
            Err(ErrorCategory::Limit)
        );
    }

    #[test]
    fn an_engine_without_a_name_has_that_of_its_program() {
        let named = |name: &str, source| {
            let name = name.to_owned();
            let entry = EngineEntry { name, source, protocol: None };
            RegisteredEngine::new(entry.into()).name().to_owned()
        };
        let program = || EngineSource::Program(EngineProgram::new("/usr/games/gpsusi", [""; 0]));
        assert_eq!(named("", program()), "gpsusi");
        assert_eq!(named("Mine", program()), "Mine");
        assert_eq!(named("", EngineSource::Tcp { address: "host:1".to_owned() }), "host:1");
    }

    #[test]
    fn the_stored_form_is_flat() {
        let stored = json!({
            "name": "Mine", "protocol": "usi", "values": { "Hash": "64" }, "play_values": { "A": "1" },
            "source": {
                "kind": "program", "path": "/opt/mine", "args": ["-x"], "dir": "/tmp", "env": { "B": "2" },
            },
            "analyse_values": {}, "presets": [{ "name": "Fast", "values": { "Hash": "1" } }],
            "registered_as": ["Ada", "7"], "learned": null, "learned_in_usi": null,
        });
        let config: EngineConfig = serde_json::from_value(stored.clone()).expect("an engine");
        assert_eq!(config.values.all["Hash"], "64");
        assert_eq!(serde_json::to_value(&config).expect("JSON"), stored);
        // Fields that the first version did not have.
        let short = json!({ "name": "", "source": { "kind": "built_in" } });
        let config: EngineConfig = serde_json::from_value(short).expect("an engine");
        assert_eq!((config.entry.protocol, config.values), (None, EngineValues::default()));
    }

    #[test]
    fn an_address_has_a_host_and_a_port() {
        let mut registry = Registry::new(Translation::default(), Vec::new(), 0);
        for address in ["host", ":1", "host:", "host:65536", "host:1\n", ""] {
            let rejected =
                registry.add(over_tcp(address), BTreeMap::new()).map_err(|error| error.category);
            assert_eq!(rejected, Err(ErrorCategory::InvalidRequest), "{address:?}");
        }
        assert!(registry.add(over_tcp("[::1]:4711"), BTreeMap::new()).is_ok());
    }

    #[test]
    fn the_built_in_engine_cannot_be_removed_or_replaced() {
        let kept = vec![(BUILT_IN, over_tcp("host:1").into())];
        let mut registry = Registry::new(Translation::default(), kept, 0);
        assert_eq!(
            registry.get(BUILT_IN).map(|value| &value.config.entry.source),
            Ok(&EngineSource::BuiltIn)
        );
        assert!(registry.change(BUILT_IN, over_tcp("host:1")).is_err());
        assert!(registry.remove(BUILT_IN).is_err());
    }

    /// An engine that speaks a protocol and has these options, spins from 1 to 9.
    fn info(dialect: Dialect, options: &[&'static str]) -> EngineInfo {
        let mut declared = OptionSet::new(dialect);
        for name in options {
            declared.declare(OptionDecl::spin(*name, 5, 1, 9));
        }
        let name = String::new();
        EngineInfo { author: name.clone(), name, dialect, options: declared, pid: None }
    }

    #[test]
    fn the_built_in_engine_has_options_for_each_protocol() {
        let mut registry = Registry::new(Translation::default(), Vec::new(), 0);
        let in_uci = ["Hash", "SyzygyProbeDepth", "UCI_LimitStrength", "UCI_Elo"];
        let in_usi = ["USI_Hash", "USI_LimitStrength", "USI_Strength"];
        // The protocol of the last handshake.
        for info in
            [info(Dialect::Usi, &in_usi), info(Dialect::Uci, &in_uci), info(Dialect::Usi, &in_usi)]
        {
            registry.on_handshake(BUILT_IN, &info);
        }
        let engine = registry.get(BUILT_IN).expect("it is there");
        let names: Vec<String> = engine.options().into_iter().map(|option| option.name).collect();
        assert_eq!(names, [&in_uci[..], &in_usi[2..]].concat());

        let names = |values: Vec<(String, String)>| {
            values.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        let strength = |variant| names(engine.strength_values(variant, 3));
        assert_eq!(strength(Variant::Chess), in_uci[2..]);
        assert_eq!(strength(Variant::Chess960), in_uci[2..]);
        assert_eq!(strength(Variant::Shogi), in_usi[1..]);
        let wire = engine.wire(BUILT_IN);
        assert!(matches!(wire.strength, Some(StrengthRange::Elo { .. })));
        assert!(matches!(wire.strength_in_shogi, Some(StrengthRange::Level { .. })));

        let all = || [&in_uci[..], &in_usi[2..]].concat().into_iter();
        let values: BTreeMap<_, _> = all().map(|name| (name.to_owned(), "7".to_owned())).collect();
        let fitting = |dialect| engine.fitting(values.clone(), dialect).into_keys();
        assert!(fitting(Some(Dialect::Uci)).eq([
            "Hash",
            "SyzygyProbeDepth",
            "UCI_Elo",
            "UCI_LimitStrength"
        ]));
        assert!(fitting(Some(Dialect::Usi)).eq(["Hash", "UCI_LimitStrength", "USI_Strength"]));
    }

    #[test]
    fn names_are_made_distinct() {
        let mut taken = BTreeSet::new();
        let names = ["a", "a (2)", "a", "a (2)", "a", "b"];
        let distinct = names.map(|name| distinct(name, &mut taken));
        assert_eq!(distinct, ["a", "a (2)", "a (3)", "a (2) (2)", "a (4)", "b"]);
    }
}
