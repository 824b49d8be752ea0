//! Current and requested values of an engine's options.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::request::{NewGame, Purpose, SearchRequest, UsageError};
use crate::command::EmptyText;
use crate::{
    Command, Dialect, KnownOption, OptionDecl, OptionKind, OptionSet, OptionValue, SetBy,
    SetOption, WriteError,
};

/// Megabytes that shogi GUIs assign to an engine that did not declare `USI_Hash`.
const UNDECLARED_HASH: i64 = 32;

/// The options of an engine and their values.
#[derive(Debug)]
pub(super) struct Options {
    dialect: Dialect,
    pub(super) declared: OptionSet,
    /// Known options by index.
    known: BTreeMap<usize, KnownOption>,
    /// The engine's notation of the empty text by index.
    empty_texts: BTreeMap<usize, EmptyText>,
    /// The latest value sent, or the engine's default, by index.
    current: BTreeMap<usize, OptionValue>,
    /// Values requested for all searches.
    requested: BTreeMap<usize, OptionValue>,
    /// Requested values that were not sent yet.
    unsent: BTreeSet<usize>,
    /// Pressed buttons that were not sent yet.
    pressed: VecDeque<usize>,
    /// Whether pondering was enabled. The engine's time management depends on it.
    pub(super) ponder: bool,
    /// Values of `USI_Hash` and `USI_Ponder` in an engine that did not declare them.
    undeclared: BTreeMap<&'static str, OptionValue>,
    /// The needs of the latest search, if the engine has all of its values and no option was requested
    /// since. Most searches of a game need the same values.
    satisfied: Option<Needs>,
}

/// Everything that the options of a search depend on, besides `requested`.
#[derive(Debug)]
struct Needs {
    chess960: bool,
    variant: Option<String>,
    ponder: bool,
    purpose: Purpose,
    multipv: Option<u32>,
    options: Vec<(String, Option<String>)>,
}

impl Needs {
    fn are(&self, game: &NewGame, ponder: bool, request: &SearchRequest) -> bool {
        (self.chess960, self.ponder) == (game.chess960, ponder)
            && (self.purpose, self.multipv) == (request.purpose, request.multipv)
            && self.variant == game.variant
            && self.options == request.options
    }
}

/// A `setoption`, in the notation of the engine.
#[derive(Debug)]
pub(super) struct Change {
    set: SetOption<'static>,
    empty: EmptyText,
}

impl Change {
    pub(super) fn command(&self) -> Command<'_> {
        Command::SetOption(self.set.clone())
    }

    pub(super) fn write(&self, out: &mut String) -> Result<(), WriteError> {
        self.set.write_spelled(self.empty, out)
    }
}

impl Options {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            declared: OptionSet::new(dialect),
            known: BTreeMap::new(),
            empty_texts: BTreeMap::new(),
            current: BTreeMap::new(),
            requested: BTreeMap::new(),
            unsent: BTreeSet::new(),
            pressed: VecDeque::new(),
            ponder: false,
            undeclared: BTreeMap::new(),
            satisfied: None,
        }
    }

    /// Adds the declaration of this line.
    pub(super) fn declare(&mut self, decl: OptionDecl<'static>, line: &str) {
        self.satisfied = None;
        let empty = decl.empty_text_in(line);
        let known = KnownOption::find(&decl.name, self.dialect);
        let name = decl.name.clone();
        self.declared.declare(decl);
        let Some(index) = self.declared.index(&name) else { return };
        if let Some(known) = known {
            self.known.insert(index, known);
        }
        if let Some(empty) = empty {
            self.empty_texts.insert(index, empty);
        }
    }

    /// The engine's notation of an empty value: as in the declaration of this option, or else, if they are
    /// consistent, in those of the other options.
    fn empty_text(&self, index: usize) -> EmptyText {
        let others = || {
            let mut others = self.empty_texts.values().copied();
            let first = others.next()?;
            others.all(|other| other == first).then_some(first)
        };
        let own = self.empty_texts.get(&index).copied();
        own.or_else(others).unwrap_or(EmptyText::Keyword)
    }

    /// Names are written as declared, even with a token `value`: engines know their own names.
    fn change(&self, index: usize, decl: &OptionDecl<'_>, value: &OptionValue) -> Change {
        let empty = self.empty_text(index);
        let name = decl.name.clone().into_owned().into();
        let value = value.to_text().map(|text| text.into_owned().into());
        Change { set: SetOption { name, value }.unresolved(empty), empty }
    }

    /// Stores a permanent value of [`checked`](Self::checked).
    pub(super) fn want(&mut self, index: usize, value: OptionValue) {
        self.satisfied = None;
        if value == OptionValue::Pressed {
            self.pressed.push_back(index);
        } else {
            self.requested.insert(index, value);
            self.unsent.insert(index);
        }
    }

    /// Whether the engine has another value, or a button is pushed.
    pub(super) fn changes(&self, index: usize, value: &OptionValue) -> bool {
        *value == OptionValue::Pressed || self.has(index).as_ref() != Some(value)
    }

    /// Whether requested values or pressed buttons were not sent yet.
    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty() || !self.pressed.is_empty()
    }

    /// Checks that the engine supports a game. An opponent that the engine has no option for is not
    /// sent.
    pub(super) fn check_game(&self, game: &NewGame) -> Result<(), UsageError> {
        if game.chess960 {
            self.declared.require("UCI_Chess960")?.value(Some("true"))?;
        }
        if let Some(variant) = &game.variant {
            self.declared.require("UCI_Variant")?.value(Some(variant))?;
        }
        if let (Some(opponent), Some(index)) =
            (game.opponent.as_deref(), self.declared.index("UCI_Opponent"))
        {
            let decl = self.declared.require("UCI_Opponent")?;
            let change = self.change(index, decl, &decl.value(Some(opponent))?);
            change.write(&mut String::new())?;
        }
        Ok(())
    }

    /// The option of a name and a valid value, if the caller may set it.
    pub(super) fn checked(
        &self,
        name: &str,
        text: Option<&str>,
    ) -> Result<(usize, OptionValue), UsageError> {
        let known = KnownOption::find(name, self.dialect);
        if known.is_some_and(|known| known.set_by() == SetBy::Client) {
            return Err(UsageError::ManagedOption { name: name.to_string() });
        }
        let decl = self.declared.require(name)?;
        let value = decl.value(text)?;
        let index = self.declared.index(name).unwrap_or(usize::MAX);
        // Reports an unwritable name or value now instead of when the queue is sent.
        let change = self.change(index, decl, &value);
        let understood = change.set.clone().resolved(|name| self.declared.find(name).is_some());
        if self.declared.index(&understood.name) != Some(index) {
            let error = WriteError::Keyword { field: "name of an option", keyword: "value" };
            return Err(UsageError::Unwritable(error));
        }
        change.write(&mut String::new())?;
        Ok((index, value))
    }

    /// Removes the requested changes that were not sent yet.
    pub(super) fn take_unsent(&mut self) -> Vec<Change> {
        let indices = core::mem::take(&mut self.unsent);
        let changes = indices
            .into_iter()
            .filter_map(|index| Some((index, self.requested.get(&index)?.clone())));
        let changes: Vec<_> = changes.collect();
        let mut sent = self.send(changes);
        for index in core::mem::take(&mut self.pressed) {
            let decl = self.declared.iter().nth(index);
            sent.extend(decl.map(|decl| self.change(index, decl, &OptionValue::Pressed)));
        }
        sent
    }

    /// The changes that a game or a search requires.
    pub(super) fn take_for(
        &mut self,
        game: &NewGame,
        request: Option<&mut SearchRequest>,
    ) -> Vec<Change> {
        let search = request.as_deref();
        self.ponder |= search.is_some_and(|request| request.go.ponder);
        let ponder = self.ponder;
        if let (Some(request), Some(satisfied)) = (search, &self.satisfied)
            && satisfied.are(game, ponder, request)
        {
            return Vec::new();
        }
        let changes: Vec<_> = self
            .declared
            .iter()
            .enumerate()
            .filter_map(|(index, decl)| Some((index, self.target(index, decl, game, search)?)))
            .collect();
        let mut sent = self.send(changes);
        // A search may wait for several answers before it starts; its buttons are pressed once.
        if let Some(request) = request {
            request.options.retain(|(name, _)| {
                let decl = self.declared.find(name).filter(|decl| decl.kind == OptionKind::Button);
                let button = decl.zip(self.declared.index(name));
                let press = |(decl, index)| self.change(index, decl, &OptionValue::Pressed);
                sent.extend(button.map(press));
                button.is_none()
            });
            self.satisfied = Some(Needs {
                chess960: game.chess960,
                variant: game.variant.clone(),
                ponder,
                purpose: request.purpose,
                multipv: request.multipv,
                options: request.options.clone(),
            });
        }
        sent.extend(self.take_undeclared());
        sent
    }

    /// Shogi GUIs set the hash and pondering of engines that declare neither.
    fn take_undeclared(&mut self) -> Vec<Change> {
        let values = [
            ("Hash", OptionValue::Spin(UNDECLARED_HASH)),
            ("Ponder", OptionValue::Check(self.ponder)),
        ];
        let mut sent = Vec::new();
        for (name, value) in values {
            let due = self.dialect.sends_undeclared(name) && self.declared.find(name).is_none();
            if due && self.undeclared.get(name) != Some(&value) {
                let wire_name = self.dialect.option_name(name).to_string().into();
                let text = value.to_text().map(|text| text.into_owned().into());
                let set = SetOption { name: wire_name, value: text };
                sent.push(Change { set, empty: EmptyText::Keyword });
                self.undeclared.insert(name, value);
            }
        }
        sent
    }

    /// The value of an option for a search. `None` if it does not matter.
    fn target(
        &self,
        index: usize,
        decl: &OptionDecl<'_>,
        game: &NewGame,
        request: Option<&SearchRequest>,
    ) -> Option<OptionValue> {
        let is = |name| self.dialect.same_option(&decl.name, name);
        let check = |on| decl.value(Some(if on { "true" } else { "false" })).ok();
        match self.known.get(&index) {
            Some(KnownOption::Chess960) => check(game.chess960),
            Some(KnownOption::Variant) => match game.variant.as_deref() {
                Some(variant) => decl.value(Some(variant)).ok(),
                None => decl.default_value(),
            },
            Some(KnownOption::Ponder) => check(self.ponder),
            // It is sent after the new-game command.
            Some(KnownOption::Opponent) => None,
            Some(KnownOption::AnalyseMode) => check(request?.purpose == Purpose::Analyse),
            Some(KnownOption::MultiPv) => multipv(decl, request?),
            _ if decl.kind == OptionKind::Button => None,
            _ => {
                let own = request?.options.iter().find(|(name, _)| is(name));
                let own = own.and_then(|(_, value)| decl.value(value.as_deref()).ok());
                own.or_else(|| self.requested.get(&index).cloned()).or_else(|| decl.default_value())
            }
        }
    }

    /// `UCI_Opponent`, which is sent after the new-game command. In a game without a known opponent the
    /// option is reset, because the value of an earlier game would be wrong.
    pub(super) fn take_opponent(&mut self, game: &NewGame) -> Option<Change> {
        let index = self.declared.index("UCI_Opponent")?;
        let decl = self.declared.iter().nth(index)?;
        let value = match game.opponent.as_deref() {
            Some(opponent) => decl.value(Some(opponent)).ok()?,
            None if self.current.contains_key(&index) => {
                decl.default_value().or_else(|| decl.value(Some("")).ok())?
            }
            None => return None,
        };
        self.send(Vec::from([(index, value)])).pop()
    }

    /// The messages for values that differ from the current ones. `Threads` comes first and the hash
    /// last, also repeated after a change of threads: an engine that allocates it in parallel needs the
    /// number of threads.
    fn send(&mut self, mut changes: Vec<(usize, OptionValue)>) -> Vec<Change> {
        // Fast path for nearly every move.
        if changes.is_empty() {
            return Vec::new();
        }
        let rank = |index: usize| match self.known.get(&index) {
            Some(KnownOption::Threads) => 0,
            Some(KnownOption::Hash) => 2,
            _ => 1,
        };
        let sets = |known| changes.iter().find(|(index, _)| self.known.get(index) == Some(&known));
        let new_threads = sets(KnownOption::Threads)
            .is_some_and(|(index, value)| self.has(*index).as_ref() != Some(value));
        // The default size needs no repetition.
        let hash = new_threads.then(|| self.declared.index("Hash")).flatten();
        let sent = hash.and_then(|index| Some((index, self.current.get(&index)?.clone())));
        let default = hash.and_then(|index| self.declared.iter().nth(index)?.default_value());
        let sent = sent.filter(|(_, value)| Some(value) != default.as_ref());
        let again = sent.as_ref().map(|(index, _)| *index);
        if sets(KnownOption::Hash).is_none() {
            changes.extend(sent);
        }
        changes.sort_by_key(|(index, _)| rank(*index));
        let mut sent = Vec::new();
        for (index, value) in changes {
            let Some(decl) = self.declared.iter().nth(index) else { continue };
            // Shogi GUIs send these two at the start to every engine.
            let always =
                self.dialect.sends_undeclared(&decl.name) && !self.current.contains_key(&index);
            if always || again == Some(index) || self.has(index).as_ref() != Some(&value) {
                sent.push(self.change(index, decl, &value));
            }
            self.current.insert(index, value);
        }
        sent
    }

    /// The current value, if known.
    pub(super) fn value(&self, name: &str) -> Option<OptionValue> {
        self.has(self.declared.index(name)?)
    }

    fn has(&self, index: usize) -> Option<OptionValue> {
        let sent = self.current.get(&index).cloned();
        sent.or_else(|| self.declared.iter().nth(index)?.default_value())
    }
}

/// The requested number of variations, limited by the engine's range.
fn multipv(decl: &OptionDecl<'_>, request: &SearchRequest) -> Option<OptionValue> {
    let OptionKind::Spin { min, max, .. } = decl.kind else { return None };
    let lines = i64::from(request.multipv.unwrap_or(1));
    Some(OptionValue::Spin(lines.min(max.unwrap_or(lines)).max(min.unwrap_or(1))))
}
