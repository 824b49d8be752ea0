//! Options: declared once, then validated, set and read.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use readyok_protocol::{Dialect, KnownOption, OptionDecl, OptionKind, OptionSet, OptionValue};

/// The options of an engine.
///
/// Each declaration returns a handle that reads the current value from any thread. Names are those of
/// UCI; the runtime converts them to USI. Values change only between searches.
///
/// ```
/// let mut options = readyok_engine::Options::new();
/// let hash = options.spin("Hash", 16, 1..=1024);
/// let style = options.combo("Style", "Solid", ["Solid", "Risky"]);
/// options.button("Clear Hash", || println!("cleared"));
/// let (multipv, ponder, chess960) = (options.multipv(256), options.ponder(), options.chess960());
/// assert_eq!((hash.get(), style.get()), (16, "Solid"));
/// assert_eq!((multipv.get(), ponder.get(), chess960.get()), (1, false, false));
/// ```
#[derive(Debug, Default)]
pub struct Options {
    entries: Vec<RegisteredOption>,
}

struct RegisteredOption {
    decl: OptionDecl<'static>,
    /// The only dialect in which the option is declared.
    only: Option<Dialect>,
    set: Box<dyn FnMut(&OptionValue) + Send>,
}

/// A check option.
#[derive(Clone, Debug)]
pub struct Check(Arc<AtomicBool>);

/// A spin option.
#[derive(Clone, Debug)]
pub struct Spin {
    name: Arc<str>,
    value: Arc<AtomicI64>,
}

/// A combo option.
#[derive(Clone, Debug)]
pub struct Combo {
    choices: Arc<[String]>,
    index: Arc<AtomicUsize>,
}

/// A string or filename option.
#[derive(Clone, Debug)]
pub struct Text(Arc<Mutex<String>>);

impl Check {
    /// The current value.
    pub fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Spin {
    /// The current value.
    pub fn get(&self) -> i64 {
        self.value.load(Ordering::Relaxed)
    }

    /// Applies a value on the thread that has read it. Returns whether the option has this name.
    pub(crate) fn take(&self, name: &str, value: &OptionValue) -> bool {
        let OptionValue::Spin(new) = value else { return false };
        let is_own = *self.name == *name;
        if is_own {
            self.value.store(*new, Ordering::Relaxed);
        }
        is_own
    }
}

impl Combo {
    /// The current choice.
    pub fn get(&self) -> &str {
        self.choices.get(self.index()).map_or("", String::as_str)
    }

    /// Index of the current choice, from 0, in the order of declaration.
    pub fn index(&self) -> usize {
        self.index.load(Ordering::Relaxed)
    }
}

impl Text {
    /// The current value.
    pub fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Options {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares a check option.
    pub fn check(&mut self, name: &str, default: bool) -> Check {
        let value = Arc::new(AtomicBool::new(default));
        let handle = Check(Arc::clone(&value));
        self.declare(OptionDecl::check(name.to_owned(), default), move |new| {
            if let OptionValue::Check(new) = new {
                value.store(*new, Ordering::Relaxed);
            }
        });
        handle
    }

    /// Declares a spin option.
    pub fn spin(&mut self, name: &str, default: i64, range: RangeInclusive<i64>) -> Spin {
        let value = Arc::new(AtomicI64::new(default));
        let handle = Spin { name: name.into(), value: Arc::clone(&value) };
        let decl = OptionDecl::spin(name.to_owned(), default, *range.start(), *range.end());
        self.declare(decl, move |new| {
            if let OptionValue::Spin(new) = new {
                value.store(*new, Ordering::Relaxed);
            }
        });
        handle
    }

    /// Declares a combo option. The choices may be computed at run time, such as the files of a directory.
    ///
    /// ```
    /// let mut options = readyok_engine::Options::new();
    /// let networks: Vec<String> = (1..4).map(|size| format!("net-{size}.bin")).collect();
    /// let network = options.combo("Network", &networks[0], &networks);
    /// assert_eq!(network.get(), "net-1.bin");
    /// ```
    pub fn combo(
        &mut self,
        name: &str,
        default: &str,
        choices: impl IntoIterator<Item = impl Into<String>>,
    ) -> Combo {
        let choices: Arc<[String]> = choices.into_iter().map(Into::into).collect();
        let decl = OptionDecl::combo(name.to_owned(), default.to_owned(), choices.iter().cloned());
        let find =
            |choices: &[String], choice: &str| choices.iter().position(|known| known == choice);
        let index = Arc::new(AtomicUsize::new(find(&choices, default).unwrap_or(0)));
        let handle = Combo { choices: Arc::clone(&choices), index: Arc::clone(&index) };
        self.declare(decl, move |new| {
            if let OptionValue::Text(new) = new
                && let Some(new) = find(&choices, new)
            {
                index.store(new, Ordering::Relaxed);
            }
        });
        handle
    }

    /// Declares a string option.
    pub fn string(&mut self, name: &str, default: &str) -> Text {
        self.text(OptionDecl::string(name.to_owned(), default.to_owned()), default)
    }

    /// Declares a string option whose every value is handled, not only the last one, such as the commands
    /// of `UCI_SetPositionValue`. `take` is called between searches, on the engine's thread.
    pub fn string_with(
        &mut self,
        name: &str,
        default: &str,
        mut take: impl FnMut(&str) + Send + 'static,
    ) {
        self.declare(OptionDecl::string(name.to_owned(), default.to_owned()), move |new| {
            if let OptionValue::Text(new) = new {
                take(new);
            }
        });
    }

    /// Declares a filename option. In UCI, which has no such type, it is a string.
    pub fn filename(&mut self, name: &str, default: &str) -> Text {
        self.text(OptionDecl::filename(name.to_owned(), default.to_owned()), default)
    }

    /// Declares a button. `press` is called between searches, on the engine's thread.
    pub fn button(&mut self, name: &str, mut press: impl FnMut() + Send + 'static) {
        self.declare(OptionDecl::button(name.to_owned()), move |_| press());
    }

    /// Declares `MultiPV`, the number of variations per depth, from 1.
    pub fn multipv(&mut self, max: i64) -> Spin {
        self.spin(KnownOption::MultiPv.name(), 1, 1..=max)
    }

    /// Declares `Ponder`, which permits `go ponder`. Its value is of use only for the time management.
    pub fn ponder(&mut self) -> Check {
        self.check(KnownOption::Ponder.name(), false)
    }

    /// Declares `UCI_Chess960` in UCI. A request has the value, too:
    /// [`SearchRequest::is_chess960`](crate::SearchRequest::is_chess960).
    pub fn chess960(&mut self) -> Check {
        let name = KnownOption::Chess960.name();
        let value = self.check(name, false);
        self.only_in(Dialect::Uci, name);
        value
    }

    /// Restricts an option to one dialect, such as `UCI_Chess960` to UCI.
    pub fn only_in(&mut self, dialect: Dialect, name: &str) {
        for entry in self.entries.iter_mut().filter(|entry| entry.decl.name == name) {
            entry.only = Some(dialect);
        }
    }

    fn text(&mut self, decl: OptionDecl<'static>, default: &str) -> Text {
        let value = Arc::new(Mutex::new(default.to_owned()));
        let handle = Text(Arc::clone(&value));
        self.declare(decl, move |new| {
            if let OptionValue::Text(new) = new {
                new.clone_into(&mut value.lock().unwrap_or_else(PoisonError::into_inner));
            }
        });
        handle
    }

    fn declare(
        &mut self,
        decl: OptionDecl<'static>,
        set: impl FnMut(&OptionValue) + Send + 'static,
    ) {
        self.entries.push(RegisteredOption { decl, only: None, set: Box::new(set) });
    }

    /// The options of a dialect.
    pub(crate) fn set_for(&self, dialect: Dialect) -> OptionSet {
        let mut set = OptionSet::new(dialect);
        for entry in self
            .entries
            .iter()
            .filter(|entry| entry.only.is_none_or(|dialect_only| dialect_only == dialect))
        {
            let mut decl = entry.decl.clone();
            if let (Dialect::Uci, OptionKind::Filename { default }) = (dialect, &decl.kind) {
                decl.kind = OptionKind::String { default: default.clone() };
            }
            set.declare(decl);
        }
        set
    }

    /// Sets the value of an option.
    pub(crate) fn apply(&mut self, name: &str, value: &OptionValue) {
        for entry in self.entries.iter_mut().filter(|entry| entry.decl.name == name) {
            (entry.set)(value);
        }
    }

    /// Checks that all defaults are valid values.
    pub(crate) fn check_defaults(&self) -> Result<(), readyok_protocol::OptionError> {
        for RegisteredOption { decl, .. } in &self.entries {
            if let Some(default) = decl.default_value() {
                decl.value(default.to_text().as_deref())?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for RegisteredOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.decl.fmt(f)
    }
}
