//! Declarations of checks: id, rule, clauses, severity, advice.

use std::borrow::Cow;
use std::fmt;

use readyok_protocol::{Dialect, Language, Rule};

use crate::catalog;
use crate::message::{Message, message};

/// A rule of the protocols with its test.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The id: area, dot, name.
    pub id: &'static str,
    /// The rule in one line of English.
    pub rule: &'static str,
    /// The sources.
    pub clauses: &'static [Clause],
    /// The severity.
    pub severity: Severity,
    /// The protocol editions with this rule.
    pub profiles: &'static [Profile],
    /// The requirements of the check.
    pub needs: &'static [Need],
    /// Advice after a failure.
    pub advice: &'static str,
    /// Whether it only observes the sessions of other checks.
    pub passive: bool,
    /// The ordering rule of the protocol.
    pub(crate) order: Option<Rule>,
}

/// The source of a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Clause {
    /// The document and the section.
    pub source: &'static str,
    /// A paraphrase of the text.
    pub text: &'static str,
}

/// The severity of a rule.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Clients and match runners depend on it.
    Must,
    /// Some clients have trouble with an engine that violates it.
    Should,
    /// A courtesy, or a rule on which documents or practice disagree.
    May,
}

/// An edition of a protocol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Profile {
    /// UCI of April 2006.
    Uci2006,
    /// The modern description of UCI.
    UciModern,
    /// The first draft of USI, 2007.
    UsiDraft1,
    /// USI as used by shogi GUIs and engines today.
    UsiDeployed,
}

/// A requirement of a check.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Need {
    /// A separate process.
    Process,
    /// This option, by its UCI name.
    Option(&'static str),
    /// An option of this type that does not use memory.
    Any(&'static str),
}

impl Severity {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
        }
    }
}

impl Profile {
    /// All editions.
    pub const ALL: &'static [Self] =
        &[Self::Uci2006, Self::UciModern, Self::UsiDraft1, Self::UsiDeployed];
    /// Both editions of UCI.
    pub const UCI: &'static [Self] = &[Self::Uci2006, Self::UciModern];
    /// Both editions of USI.
    pub const USI: &'static [Self] = &[Self::UsiDraft1, Self::UsiDeployed];
    /// All editions except the modern description of UCI.
    pub const OLDER: &'static [Self] = &[Self::Uci2006, Self::UsiDraft1, Self::UsiDeployed];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uci2006 => "uci-2006",
            Self::UciModern => "uci-modern",
            Self::UsiDraft1 => "usi-draft1",
            Self::UsiDeployed => "usi-deployed",
        }
    }

    /// The protocol.
    pub const fn dialect(self) -> Dialect {
        match self {
            Self::Uci2006 | Self::UciModern => Dialect::Uci,
            Self::UsiDraft1 | Self::UsiDeployed => Dialect::Usi,
        }
    }
}

impl Clause {
    /// The document and the section in a language. Documents keep their own names.
    pub fn source_in(&self, language: Language) -> Cow<'static, str> {
        catalog::source(self.source, language)
    }
}

impl Check {
    /// The area: the first part of the id.
    pub fn area(&self) -> &'static str {
        let own = self.id.strip_prefix("gui.").unwrap_or(self.id);
        own.split('.').next().unwrap_or_default()
    }

    /// The rule in one line, in a language.
    pub fn rule_in(&self, language: Language) -> &'static str {
        match (language, self.order) {
            (Language::English, _) => self.rule,
            (Language::Japanese, Some(rule)) => rule.text_in(language),
            (Language::Japanese, None) => catalog::japanese_rule(self.id).unwrap_or(self.rule),
        }
    }

    /// Whether the rule applies to this protocol.
    pub fn is_for(&self, dialect: Dialect) -> bool {
        self.profiles.iter().any(|profile| profile.dialect() == dialect)
    }

    /// The severity of the rule in an edition, or `None` if it does not apply. Without an edition, a must needs all
    /// editions of UCI, or the deployed edition of USI.
    pub fn severity_in(&self, dialect: Dialect, profile: Option<Profile>) -> Option<Severity> {
        let has = |profile| self.profiles.contains(&profile);
        match (profile, dialect) {
            (Some(profile), _) => has(profile).then_some(self.severity),
            (None, Dialect::Uci) if has(Profile::Uci2006) && has(Profile::UciModern) => {
                Some(self.severity)
            }
            (None, Dialect::Usi) if has(Profile::UsiDeployed) => Some(self.severity),
            (None, dialect) => self.is_for(dialect).then(|| self.severity.max(Severity::Should)),
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Need> for Message {
    fn from(need: Need) -> Self {
        match need {
            Need::Process => message!("need.process"),
            Need::Option(name) => message!("need.option", name),
            Need::Any(kind) => message!("need.option-type", kind),
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Message::from(*self).fmt(f)
    }
}
