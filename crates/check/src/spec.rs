//! Declarations of checks: id, rule, clauses, severity, advice.

use std::borrow::Cow;
use std::fmt;

use readyok_protocol::{Dialect, Language, Rule};

use crate::catalog;
use crate::message::{Message, message};

/// One rule of the protocols, and its test.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name: what it is about, a dot, and what is asked for.
    pub id: &'static str,
    /// The rule in one line of English.
    pub rule: &'static str,
    /// Where it stands.
    pub clauses: &'static [Clause],
    /// How much it matters.
    pub severity: Severity,
    /// The editions of the protocols that have it.
    pub profiles: &'static [Profile],
    /// What an engine has to have for it.
    pub needs: &'static [Need],
    /// What to change in an engine that fails.
    pub advice: &'static str,
    /// Whether it only observes the sessions of other checks.
    pub passive: bool,
    /// The order rule of the protocol that it verifies.
    pub(crate) order: Option<Rule>,
}

/// Where a rule stands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Clause {
    /// The document and the place in it.
    pub source: &'static str,
    /// A paraphrase of the text.
    pub text: &'static str,
}

/// How much a rule matters.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Clients and match runners depend on it.
    Must,
    /// Some clients have trouble with an engine that violates it.
    Should,
    /// A courtesy, or something that documents or practice do not agree on.
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
    /// USI as shogi GUIs and engines speak it today.
    UsiDeployed,
}

/// What an engine has to have for a check to make sense.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Need {
    /// A process of its own.
    Process,
    /// This option, by its UCI name.
    Option(&'static str),
    /// Another option than those that cost memory, of this type.
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
    /// What older documents have, and the modern one leaves out.
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
    /// The document and the place in it, for a reader of a language. Documents are cited by their own
    /// names.
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

    /// The rule in one line of a language.
    pub fn rule_in(&self, language: Language) -> &'static str {
        match (language, self.order) {
            (Language::English, _) => self.rule,
            (Language::Japanese, Some(rule)) => rule.text_in(language),
            (Language::Japanese, None) => catalog::japanese_rule(self.id).unwrap_or(self.rule),
        }
    }

    /// Whether the rule is one of this protocol.
    pub fn is_for(&self, dialect: Dialect) -> bool {
        self.profiles.iter().any(|profile| profile.dialect() == dialect)
    }

    /// How much the rule matters in an edition. Without one, what only one of the editions of the
    /// protocol has is no must; but of USI the deployed one counts. `None` where it is no rule.
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
