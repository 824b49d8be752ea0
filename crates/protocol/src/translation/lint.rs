//! Compares a translation file with the declared options.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{EngineTexts, LanguageTag, OptionTexts, Translation};
use crate::{Dialect, KnownOption, Language, OptionDecl, OptionKind, OptionSet};

/// A problem in a translation file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The language of the texts.
    pub language: LanguageTag,
    /// The problem.
    pub problem: Problem,
}

/// The kinds of problems.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// The default language is missing in the file.
    MissingDefault,
    /// The engine declares no such option.
    UnknownOption {
        /// The name in the file.
        option: String,
    },
    /// Two entries denote the same option. Which one is used is unspecified.
    RepeatedOption {
        /// The name of the second entry.
        option: String,
        /// The name of the first entry.
        first: String,
    },
    /// The engine declares no such choice.
    UnknownValue {
        /// The name of the option.
        option: String,
        /// The choice in the file.
        value: String,
    },
    /// An option of the user has no label in this language or a parent of it.
    UntranslatedOption {
        /// The name of the option.
        option: String,
    },
    /// Other choices of the option are translated; this one is not.
    UntranslatedValue {
        /// The name of the option.
        option: String,
        /// The choice.
        value: String,
    },
    /// A label, a choice or a help text is too long for a dialog.
    LongText {
        /// The name of the option.
        option: String,
        /// Number of characters.
        length: usize,
        /// Recommended maximum.
        limit: usize,
    },
    /// Two options have the same label.
    SameLabel {
        /// The name of the second option.
        option: String,
        /// The name of the first.
        first: String,
    },
}

/// Longer labels and choices do not fit in a dialog.
const LONG_LABEL: usize = 40;
/// Longer help texts do not fit in a tooltip.
const LONG_HELP: usize = 400;

impl Translation {
    /// Compares the file with the declared options.
    pub fn lint(&self, declared: &OptionSet) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(default) = &self.default
            && !self.languages.contains_key(default)
        {
            let problem = Problem::MissingDefault;
            findings.push(Finding { language: default.clone(), problem });
        }
        for (language, texts) in &self.languages {
            let mut problems = Vec::new();
            check_entries(texts, declared, &mut problems);
            self.check_completeness(language, declared, &mut problems);
            let finding = |problem| Finding { language: language.clone(), problem };
            findings.extend(problems.into_iter().map(finding));
        }
        findings
    }

    fn check_completeness(
        &self,
        language: &LanguageTag,
        declared: &OptionSet,
        problems: &mut Vec<Problem>,
    ) {
        let dialect = declared.dialect();
        for decl in declared {
            let mut entries =
                self.texts(language).filter_map(|texts| texts.option(dialect, &decl.name));
            let is_labelled = entries.any(|entry| !entry.label.is_empty())
                || has_known_label(&decl.name, language, dialect)
                || dialect.hides_option(&decl.name);
            if !is_labelled {
                problems.push(Problem::UntranslatedOption { option: name(decl) });
            }
        }
    }
}

fn has_known_label(name: &str, language: &LanguageTag, dialect: Dialect) -> bool {
    KnownOption::find(name, dialect).is_some()
        && Language::ALL.iter().any(|known| language.ranges().any(|range| range == known.tag()))
}

fn check_entries(texts: &EngineTexts, declared: &OptionSet, problems: &mut Vec<Problem>) {
    let mut names = BTreeMap::new();
    let mut labels = BTreeMap::new();
    for (option, entry) in &texts.options {
        let Some((index, decl)) = declared.index(option).zip(declared.find(option)) else {
            problems.push(Problem::UnknownOption { option: option.clone() });
            continue;
        };
        if let Some(first) = names.insert(index, option) {
            let first = first.clone();
            problems.push(Problem::RepeatedOption { option: option.clone(), first });
        } else if !entry.label.is_empty()
            && let Some(first) = labels.insert(&entry.label, option)
        {
            let first = first.clone();
            problems.push(Problem::SameLabel { option: option.clone(), first });
        }
        check_lengths(option, entry, problems);
        check_values(decl, entry, problems);
    }
}

fn check_lengths(option: &str, entry: &OptionTexts, problems: &mut Vec<Problem>) {
    let labels = entry.values.values().chain([&entry.label]).map(|text| (text, LONG_LABEL));
    for (text, limit) in labels.chain([(&entry.help, LONG_HELP)]) {
        let length = text.chars().count();
        if limit < length {
            problems.push(Problem::LongText { option: option.to_owned(), length, limit });
        }
    }
}

fn check_values(decl: &OptionDecl<'_>, entry: &OptionTexts, problems: &mut Vec<Problem>) {
    let choices = match &decl.kind {
        OptionKind::Combo { vars, .. } => vars.as_slice(),
        _ => &[],
    };
    for value in entry.values.keys() {
        if !choices.iter().any(|choice| choice.eq_ignore_ascii_case(value)) {
            problems.push(Problem::UnknownValue { option: name(decl), value: value.clone() });
        }
    }
    if entry.values.is_empty() {
        return;
    }
    for choice in choices {
        if entry.value(choice).is_none_or(str::is_empty) {
            let value = choice.clone().into_owned();
            problems.push(Problem::UntranslatedValue { option: name(decl), value });
        }
    }
}

fn name(decl: &OptionDecl<'_>) -> String {
    decl.name.clone().into_owned()
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.language, self.problem)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &String| alloc::format!("`{}`", text.escape_debug());
        match self {
            Self::MissingDefault => f.write_str("the default language is missing"),
            Self::UnknownOption { option } => {
                write!(f, "the engine has no option {}", quoted(option))
            }
            Self::RepeatedOption { option, first } => {
                write!(f, "{} is the same option as {}", quoted(option), quoted(first))
            }
            Self::UnknownValue { option, value } => {
                write!(f, "option {} has no choice {}", quoted(option), quoted(value))
            }
            Self::UntranslatedOption { option } => write!(f, "{} has no label", quoted(option)),
            Self::UntranslatedValue { option, value } => {
                write!(f, "{} of option {} is not translated", quoted(value), quoted(option))
            }
            Self::LongText { option, length, limit } => write!(
                f,
                "a text of option {} has {length} characters, better at most {limit}",
                quoted(option)
            ),
            Self::SameLabel { option, first } => {
                write!(f, "{} has the same label as {}", quoted(option), quoted(first))
            }
        }
    }
}
