//! The engines that the user has registered, with their values and presets.

use std::collections::BTreeMap;
use std::path::Path;

use readyok_protocol::translation::Translation;
use readyok_protocol::{Dialect, Register};
use serde::{Deserialize, Serialize};

use super::describe;
use super::learned::{self, Learned};
use super::log::printable;
use super::process::EngineInfo;
use crate::game::{api_error, no_such, odd_text, too_many};
use crate::wire::{
    ApiError, ApiErrorCode, CheckRun, EngineEntry, EngineId, EngineOption, EnginePlayer,
    EngineState, Failure, Identity, Preset, Problem, ProblemKind as Kind, Protocol, Reach,
    StrengthRange, Thing, ValuesFor, Variant,
};

/// The engine that comes with the program.
pub(crate) const BUILT_IN: EngineId = 1;
/// So many engines can be registered.
const MOST: usize = 500;
/// So many values, presets, arguments or variables can be set.
const MOST_VALUES: usize = 1000;
/// No text of an entry is longer.
const LONGEST: usize = 4096;

/// All engines.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    engines: BTreeMap<EngineId, RegisteredEngine>,
    /// The last number that an engine has got, whether it is still there or not.
    last: EngineId,
    /// The translation file of the built-in engine.
    translation: Translation,
}

/// One engine, with how it is just now.
#[derive(Debug)]
pub(crate) struct RegisteredEngine {
    pub(crate) entry: Entry,
    pub(crate) error: Option<Failure>,
    pub(crate) check: Option<CheckRun>,
    pub(crate) registration: Option<crate::wire::Approval>,
    pub(crate) copy_protection: Option<crate::wire::Approval>,
}

/// What is kept of an engine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) reach: Reach,
    pub(crate) protocol: Option<Protocol>,
    #[serde(default)]
    pub(crate) values: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) play_values: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) analyse_values: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) presets: Vec<Preset>,
    #[serde(default)]
    pub(crate) registered_as: Option<(String, String)>,
    /// What it said the last time; none if it never answered.
    #[serde(default, deserialize_with = "learned::if_readable")]
    pub(crate) learned: Option<Learned>,
    /// What the built-in engine said in USI, which it speaks about shogi.
    #[serde(default, deserialize_with = "learned::if_readable")]
    pub(crate) learned_in_usi: Option<Learned>,
}

impl Entry {
    /// The entry as the library has it.
    pub(crate) fn to_keep(&self) -> Self {
        let mut kept = self.clone();
        for learned in [&mut kept.learned, &mut kept.learned_in_usi] {
            learned.take_if(|learned| !learned.is_short());
        }
        kept
    }
}

impl From<Protocol> for Dialect {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Uci => Self::Uci,
            Protocol::Usi => Self::Usi,
        }
    }
}

impl From<Dialect> for Protocol {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Uci => Self::Uci,
            Dialect::Usi => Self::Usi,
        }
    }
}

impl RegisteredEngine {
    fn new(entry: Entry) -> Self {
        Self { entry, error: None, check: None, registration: None, copy_protection: None }
    }

    /// Whether nobody knows what it can do.
    pub(crate) fn is_unknown(&self) -> bool {
        self.entry.learned.is_none()
    }

    /// Whether it has to be asked when the server starts: the built-in engine may have become another one.
    pub(crate) fn is_to_be_asked(&self) -> bool {
        self.entry.reach == Reach::BuiltIn || self.is_unknown()
    }

    /// What it said when it was spoken to as about a game.
    pub(crate) fn learned(&self, variant: Option<Variant>) -> Option<&Learned> {
        match (&self.entry.reach, variant) {
            (Reach::BuiltIn, Some(Variant::Shogi)) => self.entry.learned_in_usi.as_ref(),
            _ => self.entry.learned.as_ref(),
        }
    }

    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.entry.learned.as_ref().map(|learned| &learned.identity)
    }

    /// Its options, and after them those that it has in its other protocol alone.
    pub(crate) fn options(&self) -> Vec<EngineOption> {
        let of = |learned: &Option<Learned>| {
            learned.as_ref().map_or_else(Vec::new, |learned| learned.options.clone())
        };
        let mut options = of(&self.entry.learned);
        let mut more = of(&self.entry.learned_in_usi);
        let has = |name: &str| options.iter().any(|it| Dialect::Usi.same_option(&it.name, name));
        more.retain(|option| !has(&option.name));
        options.append(&mut more);
        options
    }

    fn variants(&self) -> &[Variant] {
        match &self.entry.learned {
            // It plays all of them, whatever one protocol has told.
            _ if self.entry.reach == Reach::BuiltIn => {
                &[Variant::Chess, Variant::Chess960, Variant::Shogi]
            }
            Some(learned) => &learned.variants,
            None => &[],
        }
    }

    fn strength(&self, variant: Option<Variant>) -> Option<&StrengthRange> {
        self.learned(variant)?.strength.as_ref()
    }

    /// The games to ask about to learn what it can do.
    pub(crate) fn to_ask_about(&self) -> &'static [Option<Variant>] {
        match self.entry.reach {
            Reach::BuiltIn => &[None, Some(Variant::Shogi)],
            Reach::Program { .. } | Reach::Tcp { .. } => &[None],
        }
    }

    /// What to speak with it to learn what it can do; none to try: it may have become another program.
    pub(crate) fn dialect_to_ask(&self, variant: Option<Variant>) -> Option<Dialect> {
        match self.entry.reach {
            Reach::BuiltIn => self.dialect(variant),
            Reach::Program { .. } | Reach::Tcp { .. } => self.entry.protocol.map(Dialect::from),
        }
    }

    /// What to speak with it about a game; none to try.
    pub(crate) fn dialect(&self, variant: Option<Variant>) -> Option<Dialect> {
        match (&self.entry.reach, variant) {
            // It speaks both.
            (Reach::BuiltIn, Some(Variant::Shogi)) => Some(Dialect::Usi),
            (Reach::BuiltIn, Some(Variant::Chess | Variant::Chess960) | None) => Some(Dialect::Uci),
            _ => {
                let heard = || self.entry.learned.as_ref().map(|learned| learned.protocol);
                self.entry.protocol.or_else(heard).map(Dialect::from)
            }
        }
    }

    /// The values for a use, the special ones over the general ones.
    pub(crate) fn values(&self, of: ValuesFor) -> BTreeMap<String, String> {
        let mut values = self.entry.values.clone();
        let special = match of {
            ValuesFor::All => None,
            ValuesFor::Play => Some(&self.entry.play_values),
            ValuesFor::Analyse => Some(&self.entry.analyse_values),
        };
        values.extend(special.into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
        values
    }

    /// Values without those that mean nothing in a protocol, where it has other options in another one.
    pub(crate) fn fitting(
        &self,
        mut values: BTreeMap<String, String>,
        dialect: Option<Dialect>,
    ) -> BTreeMap<String, String> {
        let learned = match dialect {
            Some(Dialect::Usi) => &self.entry.learned_in_usi,
            Some(Dialect::Uci) | None => &self.entry.learned,
        };
        if self.entry.reach == Reach::BuiltIn
            && let (Some(dialect), Some(learned)) = (dialect, learned)
        {
            let has =
                |name: &str| learned.options.iter().any(|it| dialect.same_option(&it.name, name));
            values.retain(|name, _| has(name));
        }
        values
    }

    pub(crate) fn register(&self) -> Option<Register<'static>> {
        let (name, code) = self.entry.registered_as.clone()?;
        let filled = |text: String| (!text.is_empty()).then(|| text.into());
        Some(Register::With { name: filled(name), code: filled(code) })
    }

    pub(crate) fn values_mut(&mut self, of: ValuesFor) -> &mut BTreeMap<String, String> {
        match of {
            ValuesFor::All => &mut self.entry.values,
            ValuesFor::Play => &mut self.entry.play_values,
            ValuesFor::Analyse => &mut self.entry.analyse_values,
        }
    }

    /// The values that make it play a game with a strength.
    pub(crate) fn strength_values(&self, variant: Variant, value: i64) -> Vec<(String, String)> {
        let range = self.strength(Some(variant));
        range.map_or_else(Vec::new, |range| describe::strength_values(range, value))
    }

    /// The values that a game has set for it, over its own: those of its strength, and options by name.
    pub(crate) fn values_for(
        &self,
        player: &EnginePlayer,
        variant: Option<Variant>,
    ) -> BTreeMap<String, String> {
        let strength = player.strength.zip(variant);
        let strength = strength.map(|(it, variant)| self.strength_values(variant, it.value));
        let mut values: BTreeMap<_, _> = strength.into_iter().flatten().collect();
        values.extend(player.options.clone());
        values
    }

    /// What to show as its name: the user's, its own, or that of its program until it has told one.
    pub(crate) fn name(&self) -> &str {
        if !self.entry.name.is_empty() {
            return &self.entry.name;
        }
        let told = self.identity().map(|identity| identity.name.as_str());
        told.filter(|name| !name.is_empty()).unwrap_or_else(|| match &self.entry.reach {
            Reach::Program { path, .. } => {
                let file = Path::new(path).file_name();
                file.and_then(|name| name.to_str()).unwrap_or(path)
            }
            Reach::Tcp { address } => address,
            Reach::BuiltIn => "",
        })
    }

    pub(crate) fn wire(&self, id: EngineId) -> EngineState {
        let entry = &self.entry;
        EngineState {
            id,
            name: self.name().to_owned(),
            reach: entry.reach.clone(),
            protocol: self
                .dialect(None)
                .map(Protocol::from)
                .filter(|_| entry.reach != Reach::BuiltIn),
            built_in: id == BUILT_IN,
            identity: self.identity().cloned(),
            variants: self.variants().to_vec(),
            options: self.options(),
            values: entry.values.clone(),
            play_values: entry.play_values.clone(),
            analyse_values: entry.analyse_values.clone(),
            presets: entry.presets.clone(),
            strength: self.strength(None).cloned(),
            strength_in_shogi: self.strength(Some(Variant::Shogi)).cloned(),
            error: self.error.clone(),
            registration: self.registration,
            copy_protection: self.copy_protection,
            registered_as: entry.registered_as.as_ref().map(|(name, _)| name.clone()),
            check: self.check.clone(),
        }
    }
}

impl From<EngineEntry> for Entry {
    /// An engine for which nothing is set yet.
    fn from(EngineEntry { name, reach, protocol }: EngineEntry) -> Self {
        Self {
            name,
            reach,
            protocol,
            values: BTreeMap::new(),
            play_values: BTreeMap::new(),
            analyse_values: BTreeMap::new(),
            presets: Vec::new(),
            registered_as: None,
            learned: None,
            learned_in_usi: None,
        }
    }
}

impl Registry {
    /// The built-in engine and those that were kept. New ones get numbers after the last that any has had.
    pub(crate) fn new(
        translation: Translation,
        kept: Vec<(EngineId, Entry)>,
        last: EngineId,
    ) -> Self {
        let built_in =
            EngineEntry { name: "Narikin".to_owned(), reach: Reach::BuiltIn, protocol: None };
        let mut engines = BTreeMap::from([(BUILT_IN, RegisteredEngine::new(built_in.into()))]);
        for (id, entry) in kept {
            if id == BUILT_IN && entry.reach != Reach::BuiltIn {
                continue;
            }
            engines.insert(id, RegisteredEngine::new(entry));
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

    /// Registers an engine. Its number is never used again: games, reports and matches name it.
    pub(crate) fn add(&mut self, entry: EngineEntry) -> Result<EngineId, ApiError> {
        check_entry(&entry)?;
        self.insert(entry.into())
    }

    /// Registers another engine like this one, with values and presets of its own.
    pub(crate) fn copy(&mut self, id: EngineId, name: String) -> Result<EngineId, ApiError> {
        let entry = Entry { name, ..self.get(id)?.entry.clone() };
        self.insert(entry)
    }

    fn insert(&mut self, entry: Entry) -> Result<EngineId, ApiError> {
        if MOST <= self.engines.len() {
            return Err(too_many(Thing::Engine, "there are too many engines"));
        }
        let id = self.last.checked_add(1);
        let id = id.ok_or_else(|| too_many(Thing::Engine, "all numbers are used up"))?;
        self.last = id;
        self.engines.insert(id, RegisteredEngine::new(entry));
        Ok(id)
    }

    /// Changes how an engine is reached.
    pub(crate) fn change(&mut self, id: EngineId, entry: EngineEntry) -> Result<(), ApiError> {
        if id == BUILT_IN {
            return Err(built_in_stays());
        }
        let engine = self.get_mut(id)?;
        if engine.entry.reach == Reach::BuiltIn && entry.reach == Reach::BuiltIn {
            // A copy of the built-in engine has nothing but its name.
            check_name(&entry.name)?;
        } else {
            check_entry(&entry)?;
        }
        let EngineEntry { name, reach, protocol } = entry;
        if (&engine.entry.reach, engine.entry.protocol) != (&reach, protocol) {
            // What another program has said holds no more.
            (engine.entry.learned, engine.entry.learned_in_usi) = (None, None);
        }
        (engine.entry.name, engine.entry.reach, engine.entry.protocol) = (name, reach, protocol);
        Ok(())
    }

    pub(crate) fn remove(&mut self, id: EngineId) -> Result<(), ApiError> {
        if id == BUILT_IN {
            return Err(built_in_stays());
        }
        self.engines.remove(&id).map(|_| ()).ok_or_else(|| no_engine(id))
    }

    /// Sets or takes back values, all or none.
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
            describe::check_value(&options, name, value)
                .map_err(|why| ApiError::because(ApiErrorCode::Engine, why))?;
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

    /// Keeps a set of values.
    pub(crate) fn save_preset(&mut self, id: EngineId, preset: Preset) -> Result<(), ApiError> {
        let engine = self.get_mut(id)?;
        let presets = &mut engine.entry.presets;
        let too_long = LONGEST < preset.name.len() || MOST_VALUES < preset.values.len();
        if preset.name.trim().is_empty() || too_long || MOST_VALUES <= presets.len() {
            return Err(odd_text(Thing::Preset, "the preset has no name, or is too large"));
        }
        presets.retain(|it| it.name != preset.name);
        presets.push(preset);
        Ok(())
    }

    /// Learns what an engine says of itself.
    pub(crate) fn on_handshake(&mut self, id: EngineId, info: &EngineInfo) {
        let translation = match self.engines.get(&id).map(|engine| &engine.entry.reach) {
            Some(Reach::BuiltIn) => self.translation.clone(),
            Some(Reach::Program { path, .. }) => describe::translation_beside(Path::new(path)),
            Some(Reach::Tcp { .. }) | None => Translation::default(),
        };
        let Some(engine) = self.engines.get_mut(&id) else { return };
        let learned = Learned {
            identity: Identity { name: printable(&info.name), author: printable(&info.author) },
            protocol: info.dialect.into(),
            options: describe::options(&info.options, info.dialect, &translation),
            variants: describe::variants(&info.options, info.dialect),
            strength: describe::strength(&info.options),
        };
        match (&engine.entry.reach, info.dialect) {
            (Reach::BuiltIn, Dialect::Usi) => engine.entry.learned_in_usi = Some(learned),
            _ => engine.entry.learned = Some(learned),
        }
        engine.error = None;
    }
}

fn no_engine(id: EngineId) -> ApiError {
    no_such(Thing::Engine, &id, format!("there is no engine {id}"))
}

fn built_in_stays() -> ApiError {
    api_error(ApiErrorCode::NotNow, Kind::BuiltInStays, "the built-in engine stays as it is")
}

/// What cannot be run.
pub(crate) fn not_a_program(path: &str) -> ApiError {
    let text = format!("`{}` is no program that may be run", path.escape_debug());
    api_error(ApiErrorCode::Path, Problem::new(Kind::NotAProgram).with("name", path), text)
}

fn is_odd(text: &str) -> bool {
    LONGEST < text.len() || text.chars().any(char::is_control)
}

fn check_name(name: &str) -> Result<(), ApiError> {
    if is_odd(name) {
        let text = "the name is too long, or holds control characters";
        return Err(odd_text(Thing::EngineName, text));
    }
    Ok(())
}

/// Refuses what cannot be run as it stands.
fn check_entry(entry: &EngineEntry) -> Result<(), ApiError> {
    check_name(&entry.name)?;
    match &entry.reach {
        Reach::BuiltIn => {
            let text = "the built-in engine is registered already";
            Err(api_error(ApiErrorCode::Malformed, Kind::BuiltInStays, text))
        }
        Reach::Tcp { address } => {
            let port = address.rsplit_once(':').filter(|(host, _)| !host.is_empty());
            let port = port.and_then(|(_, port)| port.parse::<u16>().ok());
            if is_odd(address) || port.is_none() {
                let text = "an address has the form host:port";
                return Err(api_error(ApiErrorCode::Malformed, Kind::AddressForm, text));
            }
            Ok(())
        }
        Reach::Program { path, args, dir, env } => {
            let texts = args.iter().chain(env.keys()).chain(env.values()).chain(dir);
            if texts.clone().any(|text| LONGEST < text.len() || text.contains('\0'))
                || MOST_VALUES < args.len()
                || MOST_VALUES < env.len()
                || env.keys().any(|name| name.is_empty() || name.contains('='))
            {
                let text = "an argument or variable is too long or odd, or there are too many";
                return Err(odd_text(Thing::Argument, text));
            }
            let is_absolute = |path: &str| Path::new(path).is_absolute();
            if !is_absolute(path) || dir.as_deref().is_some_and(|dir| !is_absolute(dir)) {
                let text = "a program is given by its absolute path";
                return Err(api_error(ApiErrorCode::Path, Kind::AbsolutePath, text));
            }
            if !is_program(Path::new(path)) {
                return Err(not_a_program(path));
            }
            Ok(())
        }
    }
}

/// Whether a file may be run.
pub(crate) fn is_program(file: &Path) -> bool {
    let Ok(about) = file.metadata() else { return false };
    #[cfg(unix)]
    let may_run = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = true;
    about.is_file() && may_run
}

#[cfg(test)]
mod tests {
    use readyok_protocol::{OptionDecl, OptionSet};

    use super::*;

    fn over_tcp(address: &str) -> EngineEntry {
        let reach = Reach::Tcp { address: address.to_owned() };
        EngineEntry { name: String::new(), reach, protocol: None }
    }

    #[test]
    fn there_is_a_bounded_number_of_engines() {
        let mut registry = Registry::new(Translation::default(), Vec::new(), 0);
        let refused = loop {
            match registry.add(over_tcp("host:1")) {
                Ok(id) => assert!(registry.iter().count() <= MOST, "{id}"),
                Err(refused) => break refused,
            }
        };
        assert_eq!(refused.code, ApiErrorCode::TooMuch);
        // The one that is built in counts as well.
        assert_eq!(registry.iter().count(), MOST);
        registry.remove(7).expect("it is there");
        let again = registry.add(over_tcp("host:1")).expect("there is room");
        assert!(registry.get(again).is_ok());
        assert_eq!(
            registry.add(over_tcp("host:1")).map_err(|it| it.code),
            Err(ApiErrorCode::TooMuch)
        );
    }

    #[test]
    fn an_engine_that_has_told_no_name_has_that_of_its_program() {
        let named = |name: &str, reach| {
            let name = name.to_owned();
            let entry = EngineEntry { name, reach, protocol: None };
            RegisteredEngine::new(entry.into()).name().to_owned()
        };
        let program = || Reach::Program {
            path: "/usr/games/gpsusi".to_owned(),
            args: Vec::new(),
            dir: None,
            env: BTreeMap::new(),
        };
        assert_eq!(named("", program()), "gpsusi");
        assert_eq!(named("Mine", program()), "Mine");
        assert_eq!(named("", Reach::Tcp { address: "host:1".to_owned() }), "host:1");
    }

    #[test]
    fn an_address_has_a_host_and_a_port() {
        let mut registry = Registry::new(Translation::default(), Vec::new(), 0);
        for address in ["host", ":1", "host:", "host:65536", "host:1\n", ""] {
            let refused = registry.add(over_tcp(address)).map_err(|it| it.code);
            assert_eq!(refused, Err(ApiErrorCode::Malformed), "{address:?}");
        }
        assert!(registry.add(over_tcp("[::1]:4711")).is_ok());
    }

    #[test]
    fn the_built_in_engine_stays_and_is_no_program_of_somebody_elses() {
        let kept = vec![(BUILT_IN, over_tcp("host:1").into())];
        let mut registry = Registry::new(Translation::default(), kept, 0);
        assert_eq!(registry.get(BUILT_IN).map(|it| &it.entry.reach), Ok(&Reach::BuiltIn));
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
    fn what_the_built_in_engine_has_in_one_protocol_is_not_what_it_has_in_the_other() {
        let mut registry = Registry::new(Translation::default(), Vec::new(), 0);
        let in_uci = ["Hash", "SyzygyProbeDepth", "UCI_LimitStrength", "UCI_Elo"];
        let in_usi = ["USI_Hash", "USI_LimitStrength", "USI_Strength"];
        // Whichever it spoke last.
        for info in
            [info(Dialect::Usi, &in_usi), info(Dialect::Uci, &in_uci), info(Dialect::Usi, &in_usi)]
        {
            registry.on_handshake(BUILT_IN, &info);
        }
        let engine = registry.get(BUILT_IN).expect("it is there");
        let names: Vec<String> = engine.options().into_iter().map(|it| it.name).collect();
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
}
