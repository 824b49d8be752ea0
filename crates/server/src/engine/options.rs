//! The options of an engine: their description for the page, and their stored form.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use readyok_client::EngineFailureKind;
use readyok_protocol::translation::{LanguageTag, Lookup, Translation};
use readyok_protocol::{
    Dialect, KnownOption, OptionDecl, OptionError, OptionKind as Declared, OptionSet, OptionValue,
    SetBy,
};
use serde::{Deserialize, Deserializer, Serialize};

use super::log::printable;
use crate::wire::{
    Choice, EngineOption, ErrorCode, Identity, OptionKind, Protocol, StrengthRange, Variant,
};

/// The languages of the page.
const LANGUAGES: [&str; 2] = ["en", "ja"];

/// The translation file next to a program; an empty one if it is missing or unreadable.
pub(crate) fn translation_next_to(program: &Path) -> Translation {
    let mut name = program.file_stem().unwrap_or_default().to_owned();
    name.push(".");
    name.push(Translation::EXTENSION);
    let mut bytes = Vec::new();
    let limit = u64::try_from(Translation::MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let read = File::open(program.with_file_name(name))
        .and_then(|file| file.take(limit).read_to_end(&mut bytes));
    match read {
        Ok(_) => Translation::read(&bytes).unwrap_or_default(),
        Err(_) => Translation::default(),
    }
}

/// All options, in the engine's order.
pub(crate) fn options(
    declared: &OptionSet,
    dialect: Dialect,
    translation: &Translation,
) -> Vec<EngineOption> {
    let tags: Vec<(&str, Vec<LanguageTag>)> =
        LANGUAGES.iter().map(|tag| (*tag, tag.parse().into_iter().collect())).collect();
    let lookups: Vec<(&str, Lookup<'_>)> =
        tags.iter().map(|(name, tags)| (*name, translation.lookup(dialect, tags))).collect();
    declared.iter().map(|option| describe(option, dialect, &lookups)).collect()
}

fn describe(
    option: &OptionDecl<'static>,
    dialect: Dialect,
    lookups: &[(&str, Lookup<'_>)],
) -> EngineOption {
    let name: &str = &option.name;
    let known = KnownOption::find(name, dialect);
    let mut labels = BTreeMap::new();
    let mut help = BTreeMap::new();
    for (language, lookup) in lookups {
        let label = lookup.label(name);
        if label != name {
            labels.insert((*language).to_owned(), label.into_owned());
        }
        if let Some(text) = lookup.help(name) {
            help.insert((*language).to_owned(), text.into_owned());
        }
    }
    let text = |text: &Option<std::borrow::Cow<'static, str>>| text.as_deref().map(printable);
    let mut seen = BTreeSet::new();
    let kind = match &option.kind {
        Declared::Check { default } => OptionKind::Check { default: *default },
        Declared::Spin { default, min, max } => {
            OptionKind::Spin { default: *default, min: *min, max: *max }
        }
        Declared::Combo { default, vars } => OptionKind::Combo {
            default: text(default),
            choices: vars
                .iter()
                // The page finds a choice by its value.
                .filter(|&value| seen.insert(value.as_ref()))
                .map(|value| Choice {
                    value: value.clone().into_owned(),
                    labels: lookups
                        .iter()
                        .map(|(language, lookup)| (*language, lookup.value(name, value)))
                        .filter(|(_, label)| label != value)
                        .map(|(language, label)| (language.to_owned(), label.into_owned()))
                        .collect(),
                })
                .collect(),
        },
        Declared::Button => OptionKind::Button,
        Declared::String { default } => OptionKind::String {
            default: text(default),
            directories: name.to_ascii_lowercase().ends_with("path"),
        },
        Declared::Filename { default } => OptionKind::Filename { default: text(default) },
        other @ Declared::Other { .. } => OptionKind::Other { text: printable(other.keyword()) },
    };
    EngineOption {
        name: name.to_owned(),
        kind,
        labels,
        help,
        set_by_server: known.is_some_and(|known| known.set_by() == SetBy::Client),
    }
}

/// The default value of an option, if the engine reports one.
pub(crate) fn default_of(option: &EngineOption) -> Option<String> {
    match &option.kind {
        OptionKind::Check { default } => default.map(|value| value.to_string()),
        OptionKind::Spin { default, .. } => default.map(|value| value.to_string()),
        OptionKind::Combo { default, .. }
        | OptionKind::String { default, .. }
        | OptionKind::Filename { default } => default.clone(),
        OptionKind::Button | OptionKind::Other { .. } => None,
    }
}

/// The range of an engine's strength limit.
pub(crate) fn strength(options: &OptionSet) -> Option<StrengthRange> {
    let range = |name: &str| match options.find(name)?.kind {
        Declared::Spin { min: Some(min), max: Some(max), .. } if min <= max => Some((min, max)),
        _ => None,
    };
    if options.find("UCI_LimitStrength").is_some()
        && let Some((min, max)) = range("UCI_Elo")
    {
        return Some(StrengthRange::Elo { min, max });
    }
    let (option, (min, max)) = ["USI_Strength", "Skill Level", "SkillLevel"]
        .into_iter()
        .find_map(|name| Some((name, range(name)?)))?;
    Some(StrengthRange::Level { option: option.to_owned(), min, max })
}

/// The values that limit an engine to a strength.
pub(crate) fn strength_values(range: &StrengthRange, value: i64) -> Vec<(String, String)> {
    let pair = |name: &str, value: String| (name.to_owned(), value);
    let within = |min: i64, max: i64| value.min(max).max(min).to_string();
    match range {
        StrengthRange::Elo { min, max } => {
            vec![pair("UCI_LimitStrength", "true".to_owned()), pair("UCI_Elo", within(*min, *max))]
        }
        StrengthRange::Level { option, min, max } => {
            let mut values = Vec::new();
            if option == "USI_Strength" {
                values.push(pair("USI_LimitStrength", "true".to_owned()));
            }
            values.push(pair(option, within(*min, *max)));
            values
        }
    }
}

/// The variants of an engine, by its protocol and options.
pub(crate) fn variants(options: &OptionSet, dialect: Dialect) -> Vec<Variant> {
    if dialect == Dialect::Usi {
        return vec![Variant::Shogi];
    }
    let mut variants = vec![Variant::Chess];
    if options.find("UCI_Chess960").is_some() {
        variants.push(Variant::Chess960);
    }
    let plays = |name: &str| match options.find("UCI_Variant").map(|option| &option.kind) {
        Some(Declared::Combo { vars, .. }) => vars.iter().any(|var| var == name),
        _ => false,
    };
    if plays("shogi") {
        variants.push(Variant::Shogi);
    }
    variants
}

/// Why a value is invalid for an option; also for unknown options.
pub(crate) fn check_value(
    options: &[EngineOption],
    name: &str,
    value: &str,
) -> Result<(), ErrorCode> {
    let Some(option) = options.iter().find(|option| option.name == name) else {
        return Err(EngineFailureKind::UnknownOption { name: name.to_owned() }.into());
    };
    if option.set_by_server {
        return Err(EngineFailureKind::ManagedOption { name: name.to_owned() }.into());
    }
    let declared: OptionDecl<'static> = match &option.kind {
        OptionKind::Check { default } => {
            OptionDecl::check(name.to_owned(), default.unwrap_or(false))
        }
        OptionKind::Spin { default, min, max } => {
            let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
            OptionDecl::spin(name.to_owned(), default.unwrap_or(0), min, max)
        }
        OptionKind::Combo { choices, .. } => {
            let known = choices.iter().any(|choice| choice.value.eq_ignore_ascii_case(value));
            let error = || OptionError::UnknownChoice {
                option: name.to_owned(),
                value: value.to_owned(),
                choices: choices.iter().map(|choice| choice.value.clone()).collect(),
            };
            return known.then_some(()).ok_or_else(|| error().into());
        }
        OptionKind::Button => {
            let (option, value) = (name.to_owned(), value.to_owned());
            return Err(OptionError::OptionIsButton { option, value }.into());
        }
        OptionKind::String { .. } | OptionKind::Filename { .. } | OptionKind::Other { .. } => {
            OptionDecl::string(name.to_owned(), "")
        }
    };
    let read: Result<OptionValue, _> = declared.value(Some(value));
    read.map(|_| ()).map_err(ErrorCode::from)
}

/// Maximum size as JSON of a stored handshake; the engine is probed again instead. Engines with a hundred options
/// need a tenth of it.
const MAX_SIZE: usize = 1 << 18;

/// The result of the last handshake of an engine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Learned {
    pub(crate) identity: Identity,
    /// The protocol of the handshake.
    pub(crate) protocol: Protocol,
    pub(crate) options: Vec<EngineOption>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) strength: Option<StrengthRange>,
}

impl Learned {
    /// Whether it is short enough to be stored.
    pub(super) fn is_short(&self) -> bool {
        serde_json::to_string(self).is_ok_and(|text| text.len() <= MAX_SIZE)
    }
}

/// Reads a stored handshake. None if it has the form of another version, as the engine can be probed again.
pub(super) fn if_readable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Learned>, D::Error> {
    let kept = Option::<serde_json::Value>::deserialize(from)?;
    Ok(kept.and_then(|kept| serde_json::from_value(kept).ok()))
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Reply;
    use serde_json::{Value, json};

    use crate::engine::EngineConfig;

    use super::*;

    fn declared(dialect: Dialect, lines: &[&str]) -> OptionSet {
        let mut options = OptionSet::new(dialect);
        for line in lines {
            match Reply::read(&format!("option name {line}"), dialect).value {
                Reply::Option(option) => options.declare(option.into_owned()),
                other => panic!("{line}: {other:?}"),
            }
        }
        options
    }

    #[test]
    fn duplicate_choices_are_omitted() {
        let declared = declared(Dialect::Uci, &["Style type combo default A var A var B var A"]);
        let options = options(&declared, Dialect::Uci, &Translation::default());
        let [EngineOption { kind: OptionKind::Combo { choices, .. }, .. }] = options.as_slice()
        else {
            panic!("{options:?}")
        };
        let values: Vec<&str> = choices.iter().map(|choice| choice.value.as_str()).collect();
        assert_eq!(values, ["A", "B"]);
    }

    /// Checks the option values that set each strength.
    #[track_caller]
    fn check(dialect: Dialect, lines: &[&str], expected_values: &[(i64, &[(&str, &str)])]) {
        let range = strength(&declared(dialect, lines)).expect("it can be limited");
        for (value, expected) in expected_values {
            let values = strength_values(&range, *value);
            let values: Vec<_> =
                values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(values, *expected, "{value}");
        }
    }

    #[test]
    fn strength_is_preferably_set_by_elo() {
        let lines = [
            "Skill Level type spin default 20 min 0 max 20",
            "UCI_LimitStrength type check default false",
            "UCI_Elo type spin default 1320 min 1320 max 3190",
        ];
        let elo: &[(i64, &[(&str, &str)])] = &[
            (1400, &[("UCI_LimitStrength", "true"), ("UCI_Elo", "1400")]),
            (5, &[("UCI_LimitStrength", "true"), ("UCI_Elo", "1320")]),
            (9999, &[("UCI_LimitStrength", "true"), ("UCI_Elo", "3190")]),
        ];
        check(Dialect::Uci, &lines, elo);
        // `UCI_Elo` and `UCI_LimitStrength` are used together only.
        check(Dialect::Uci, &[lines[0], lines[2]], &[(3, &[("Skill Level", "3")])]);
        check(Dialect::Uci, &lines[..2], &[(3, &[("Skill Level", "3")])]);
    }

    #[test]
    fn usi_strength_sets_the_limit_and_the_level() {
        let lines = [
            "USI_LimitStrength type check default false",
            "USI_Strength type spin default 9 min -15 max 9",
        ];
        let expected_values: &[(i64, &[(&str, &str)])] = &[
            (-3, &[("USI_LimitStrength", "true"), ("USI_Strength", "-3")]),
            (1500, &[("USI_LimitStrength", "true"), ("USI_Strength", "9")]),
        ];
        check(Dialect::Usi, &lines, expected_values);
    }

    #[test]
    fn a_level_needs_no_other_option() {
        let lines = ["Skill Level type spin default 20 min 0 max 20"];
        check(
            Dialect::Uci,
            &lines,
            &[(0, &[("Skill Level", "0")]), (99, &[("Skill Level", "20")])],
        );
        let lines = ["SkillLevel type spin default 20 min 0 max 20"];
        check(Dialect::Usi, &lines, &[(7, &[("SkillLevel", "7")])]);
    }

    #[test]
    fn an_invalid_range_sets_nothing() {
        for lines in [
            [
                "UCI_LimitStrength type check default false",
                "UCI_Elo type spin default 1 min 9 max 1",
            ],
            ["UCI_LimitStrength type check default false", "UCI_Elo type spin default 1"],
            ["Skill Level type string default 20", "UCI_Elo type spin default 1 min 1 max 9"],
        ] {
            assert_eq!(strength(&declared(Dialect::Uci, &lines)), None, "{lines:?}");
        }
        // A stored range can be invalid as well.
        let range = StrengthRange::Elo { min: 9, max: 1 };
        assert_eq!(strength_values(&range, 5).len(), 2);
    }

    fn entry(learned: &Value) -> EngineConfig {
        let source = json!({ "kind": "tcp", "address": "host:1" });
        let entry = json!({ "name": "", "source": source, "protocol": null, "learned": learned });
        serde_json::from_value(entry).expect("an entry")
    }

    fn learned(names: usize) -> Value {
        let option = |number: usize| {
            let kind = json!({ "kind": "check", "default": true });
            let name = format!("{number:0200}");
            json!({ "name": name, "kind": kind, "labels": {}, "help": {}, "set_by_server": false })
        };
        json!({
            "identity": { "name": "Mine", "author": "Ada" },
            "protocol": "usi",
            "options": (0..names).map(option).collect::<Vec<_>>(),
            "variants": ["shogi"],
            "strength": { "kind": "level", "option": "USI_Strength", "min": 1, "max": 9 },
        })
    }

    #[test]
    fn a_stored_handshake_is_restored() {
        let kept = serde_json::to_value(entry(&learned(100)).to_keep()).expect("JSON");
        assert_eq!(kept["learned"], learned(100));
    }

    #[test]
    fn a_long_handshake_is_not_stored() {
        let entry = entry(&learned(2000));
        assert!(entry.learned.is_some());
        assert!(entry.to_keep().learned.is_none());
    }

    #[test]
    fn an_unreadable_handshake_is_ignored() {
        let mut later = learned(1);
        later["variants"] = json!(["xiangqi"]);
        for damaged in [later, json!(null), json!(7), json!({})] {
            assert!(entry(&damaged).learned.is_none(), "{damaged}");
        }
    }
}
