//! Translation files: reading, errors, display and lint.

use proptest::prelude::*;
use readyok_protocol::translation::{
    LanguageTag, Lookup, Problem, Translation, TranslationError, display_text,
};
use readyok_protocol::{Dialect, OptionDecl, OptionSet};
use serde_json::{Value, json};

use crate::laws;

const PAGE: &str = include_str!("../../../../docs/translation.md");
const SCHEMA: &str = include_str!("../../../../docs/translation.schema.json");

/// The example of the documentation.
fn example() -> &'static str {
    let (_, rest) = PAGE.split_once("```json\n").unwrap();
    rest.split_once("```").unwrap().0
}

fn read(value: &Value) -> Result<Translation, TranslationError> {
    Translation::read(value.to_string().as_bytes())
}

fn tag(text: &str) -> LanguageTag {
    text.parse().unwrap()
}

fn lookup<'a>(translation: &'a Translation, wanted: &[&str]) -> Lookup<'a> {
    let wanted: Vec<_> = wanted.iter().copied().map(tag).collect();
    translation.lookup(Dialect::Usi, &wanted)
}

/// A file with one option in one language.
fn file_of(option: &Value) -> Value {
    json!({ "usi-translation": 1, "languages": { "en": { "options": { "Style": option } } } })
}

/// An object whose keys are also language tags.
fn numbered(count: usize, value: &Value) -> Value {
    (0..count).map(|index| (format!("a-{index}"), value.clone())).collect()
}

#[track_caller]
fn check_shape(file: &Value, place: &str) {
    match read(file) {
        Err(TranslationError::Shape { at, .. }) => assert_eq!(at, place, "{file}"),
        other => panic!("{file} is read as {other:?}"),
    }
}

#[track_caller]
fn check_problems(file: &Value, problems: &[(&str, Problem)]) {
    let mut declared = OptionSet::new(Dialect::Usi);
    declared.declare(OptionDecl::combo("Style", "Solid", ["Solid", "Risky"]));
    declared.declare(OptionDecl::spin("NULL_MOVE_R", 2, 0, 4));
    declared.declare(OptionDecl::spin("USI_Hash", 16, 1, 1024));
    declared.declare(OptionDecl::check("USI_Unheard", false));
    let found = read(file).unwrap().lint(&declared);
    let found: Vec<_> =
        found.iter().map(|found| (found.language.as_str(), found.problem.clone())).collect();
    assert_eq!(found, problems);
}

#[test]
fn the_example_of_the_documentation_is_read_and_valid() {
    let translation = Translation::read(example().as_bytes()).unwrap();
    let japanese = lookup(&translation, &["ja-JP"]);
    assert_eq!(japanese.engine_name("Hayabusa 1.0"), "はやぶさ");
    assert_eq!(japanese.author("Hanako Yamada"), "山田花子");
    assert_eq!(japanese.label("null_move_r"), "ヌルムーブの深さ");
    assert_eq!(japanese.value("Style", "risky"), "攻撃的");
    let english = lookup(&translation, &["en"]);
    assert_eq!(english.engine_name("Hayabusa 1.0"), "Hayabusa 1.0");
    assert_eq!(english.label("NULL_MOVE_R"), "Null move reduction factor");
    assert_eq!(english.value("Style", "Risky"), "Risky");
    assert!(is_valid(&serde_json::from_str(example()).unwrap()));
}

#[test]
fn each_text_has_its_own_fallback() {
    let translation = read(&json!({
        "usi-translation": 1,
        "default": "fr-CA",
        "languages": {
            "zh-Hant": { "options": { "A": { "label": "繁" } } },
            "zh": { "options": { "A": { "label": "中", "help": "助" }, "B": { "label": "乙" } } },
            "de": { "options": { "C": { "label": "Drei" } } },
            "fr": { "options": { "B": { "label": "Deux" }, "D": { "label": "Quatre" } } },
        },
    }))
    .unwrap();
    let texts = lookup(&translation, &["zh-Hant-TW", "de-AT"]);
    assert_eq!(texts.label("A"), "繁");
    assert_eq!(texts.help("A").as_deref(), Some("助"));
    assert_eq!(texts.label("B"), "乙");
    assert_eq!(texts.label("C"), "Drei");
    assert_eq!(texts.label("D"), "Quatre");
    assert_eq!(texts.label("USI_Hash"), "Hash size (MB)");
    assert_eq!(texts.label("E"), "E");
    assert_eq!(texts.help("E"), None);
}

#[test]
fn without_a_file_known_options_have_texts_in_english_and_japanese() {
    let none = Translation::default();
    assert_eq!(lookup(&none, &["ja-JP"]).label("USI_Hash"), "ハッシュサイズ (MB)");
    assert_eq!(lookup(&none, &["fr", "ja"]).label("Hash"), "ハッシュサイズ (MB)");
    assert_eq!(lookup(&none, &["fr"]).label("Hash"), "Hash size (MB)");
    assert!(lookup(&none, &[]).help("Hash").is_some());
}

#[test]
fn texts_cannot_reorder_or_hide_their_surroundings() {
    assert_eq!(display_text(" \u{202e}ab\tc\u{0}\u{2066}\r\nd\u{200f} \u{feff}"), "ab c  d");
    assert_eq!(display_text("می‌شود"), "می‌شود");
    let file = file_of(&json!({ "label": "\u{202e}\n", "values": { "a": "\u{7}b" } }));
    let translation = read(&file).unwrap();
    let texts = lookup(&translation, &["en"]);
    assert_eq!(texts.label("\u{202e}Style"), "Style");
    assert_eq!(texts.label("Style"), "Style", "an invisible label is ignored");
    assert_eq!(texts.value("Style", "a"), "b");
}

#[test]
fn a_byte_order_mark_and_unknown_keys_are_ignored() {
    let file = "\u{feff}{\"usi-translation\":1,\"new\":[{}],\"languages\":{\"en\":{\"x\":null}}}";
    assert_eq!(Translation::read(file.as_bytes()).unwrap().languages.len(), 1);
}

#[test]
fn language_tags_are_checked_syntactically() {
    for good in ["ja", "zh-Hant-TW", "es-419", "x-private", "de-CH-1996"] {
        assert_eq!(tag(good).to_string(), good.to_lowercase());
    }
    for bad in ["", "-", "ja-", "ja_JP", "4", "toolongatag", "日本", &"a-".repeat(40)] {
        assert!(bad.parse::<LanguageTag>().is_err(), "{bad}");
    }
}

#[test]
fn errors_in_translation_files_contain_the_location() {
    assert!(matches!(
        Translation::read(b"{\n  \"usi-translation\": 1,\n}"),
        Err(TranslationError::Syntax { line: 3, column: 1, .. })
    ));
    assert_eq!(Translation::read(b"{\"\xff"), Err(TranslationError::NotUtf8 { at: 2 }));
    assert_eq!(
        read(&json!({ "usi-translation": 2, "languages": [] })),
        Err(TranslationError::Version { found: 2 })
    );
    check_shape(&json!([]), "");
    check_shape(&json!({ "languages": {} }), "/usi-translation");
    check_shape(&json!({ "usi-translation": 1 }), "/languages");
    check_shape(&json!({ "usi-translation": 1, "languages": { "?": {} } }), "/languages/?");
    check_shape(
        &json!({ "usi-translation": 1, "languages": { "ja": {}, "JA": {} } }),
        "/languages/ja",
    );
    check_shape(&file_of(&json!([])), "/languages/en/options/Style");
    check_shape(&file_of(&json!({ "label": null })), "/languages/en/options/Style/label");
    check_shape(
        &file_of(&json!({ "values": { "a/b~": 1 } })),
        "/languages/en/options/Style/values/a~1b~0",
    );
}

#[test]
fn large_and_deep_files_are_rejected() {
    let large = vec![b' '; Translation::MAX_BYTES + 1];
    assert_eq!(
        Translation::read(&large),
        Err(TranslationError::TooLarge { bytes: Translation::MAX_BYTES + 1 })
    );
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth - 1), "]".repeat(depth - 1));
        format!("{{\"x[\\\"[\":{open}{close},\"usi-translation\":1,\"languages\":{{}}}}")
    };
    assert!(Translation::read(nested(Translation::MAX_DEPTH).as_bytes()).is_ok());
    let error = Translation::read(nested(Translation::MAX_DEPTH + 1).as_bytes()).unwrap_err();
    assert!(matches!(error, TranslationError::TooDeep { .. }), "{error}");
    let bottomless = "[".repeat(Translation::MAX_BYTES);
    assert!(Translation::read(bottomless.as_bytes()).is_err());
}

fn is_valid(file: &Value) -> bool {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    compiler.add_resource("schema.json", serde_json::from_str(SCHEMA).unwrap()).unwrap();
    let index = compiler.compile("schema.json", &mut schemas).unwrap();
    schemas.validate(file, index).is_ok()
}

/// Each limit of the schema, satisfied and exceeded, and wrong types of values.
#[test]
fn the_schema_and_the_reader_agree() {
    let long = |length: usize| "字".repeat(length);
    let languages = |languages: Value| json!({ "usi-translation": 1, "languages": languages });
    let with = |key: &str, value: Value| {
        let mut file = languages(json!({}));
        file.as_object_mut().unwrap().insert(key.to_owned(), value);
        file
    };
    let options = |options: Value| languages(json!({ "en": { "options": options } }));
    let named = |name: String, option: Value| options(Value::from_iter([(name, option)]));
    let good = [
        serde_json::from_str(example()).unwrap(),
        languages(json!({})),
        with("default", json!("zh-Hant")),
        with("more", json!(null)),
        languages(json!({ "en": { "name": "", "author": long(200), "more": 1 } })),
        languages(numbered(64, &json!({}))),
        options(numbered(1024, &json!({}))),
        named(long(200), json!({ "label": long(200), "help": long(2000) })),
        file_of(&json!({ "values": numbered(256, &json!(long(1))) })),
    ];
    let bad = [
        json!([1, "en", {}]),
        json!({ "languages": {} }),
        json!({ "usi-translation": 1 }),
        json!({ "usi-translation": "1", "languages": {} }),
        json!({ "usi-translation": 2, "languages": {} }),
        with("default", json!(null)),
        with("default", json!("en_GB")),
        with("languages", json!([])),
        languages(json!({ "": {} })),
        languages(json!({ "en": [] })),
        languages(json!({ "en": { "name": 1 } })),
        languages(json!({ "en": { "name": null } })),
        languages(json!({ "en": { "author": long(201) } })),
        languages(numbered(65, &json!({}))),
        options(json!([])),
        options(numbered(1025, &json!({}))),
        named(long(201), json!({})),
        file_of(&json!({ "label": long(201) })),
        file_of(&json!({ "help": long(2001) })),
        file_of(&json!({ "values": { "a": true } })),
        file_of(&json!({ "values": { "a": long(201) } })),
        file_of(&json!({ "values": numbered(257, &json!("a")) })),
    ];
    for (files, expected) in [(&good[..], true), (&bad[..], false)] {
        for file in files {
            assert_eq!(read(file).is_ok(), expected, "the reader: {file}");
            assert_eq!(is_valid(file), expected, "the schema: {file}");
        }
    }
}

#[test]
fn the_lint_accepts_a_complete_file() {
    check_problems(
        &json!({
            "usi-translation": 1,
            "default": "en",
            "languages": {
                "en": { "options": {
                    "STYLE": { "label": "Style", "values": { "solid": "Solid", "Risky": "Wild" } },
                    "NULL_MOVE_R": { "label": "Reduction" },
                } },
                "en-GB": {},
            },
        }),
        &[],
    );
}

#[test]
fn the_lint_reports_mismatches() {
    let name = str::to_owned;
    check_problems(
        &json!({
            "usi-translation": 1,
            "default": "en",
            "languages": { "de": { "options": {
                "NULL_MOVE_R": { "label": "Stil", "help": "x".repeat(401) },
                "Null Move R": { "label": "Stil" },
                "Stile": {},
                "Style": { "label": "Stil", "values": { "Solid": "x".repeat(41), "Bold": "b" } },
            } } },
        }),
        &[
            ("en", Problem::MissingDefault),
            ("de", Problem::LongText { option: name("NULL_MOVE_R"), length: 401, limit: 400 }),
            (
                "de",
                Problem::RepeatedOption { option: name("Null Move R"), first: name("NULL_MOVE_R") },
            ),
            ("de", Problem::UnknownOption { option: name("Stile") }),
            ("de", Problem::SameLabel { option: name("Style"), first: name("NULL_MOVE_R") }),
            ("de", Problem::LongText { option: name("Style"), length: 41, limit: 40 }),
            ("de", Problem::UnknownValue { option: name("Style"), value: name("Bold") }),
            ("de", Problem::UntranslatedValue { option: name("Style"), value: name("Risky") }),
            ("de", Problem::UntranslatedOption { option: name("USI_Hash") }),
        ],
    );
}

#[test]
fn the_lint_reports_missing_texts() {
    check_problems(
        &json!({ "usi-translation": 1, "languages": { "ja": {} } }),
        &[
            ("ja", Problem::UntranslatedOption { option: "Style".to_owned() }),
            ("ja", Problem::UntranslatedOption { option: "NULL_MOVE_R".to_owned() }),
        ],
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,9}".prop_map(Value::from),
    ];
    let key = prop_oneof![
        "[a-z]{2}",
        Just("label".to_owned()),
        Just("options".to_owned()),
        Just("values".to_owned()),
        "\\PC{0,9}",
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            proptest::collection::btree_map(key.clone(), inner, 0..5).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_do_not_panic(bytes: Vec<u8>) {
        laws::translation(&bytes);
    }

    #[test]
    fn any_json_does_not_panic(languages in any_json(), version in 0u8..3) {
        let file = json!({ "usi-translation": version, "languages": languages });
        laws::translation(file.to_string().as_bytes());
        prop_assert_eq!(read(&file).is_ok(), is_valid(&file));
    }

    #[test]
    fn mutated_files_do_not_panic(at in 0..example().len(), byte: u8) {
        let mut bytes = example().as_bytes().to_vec();
        bytes[at] = byte;
        laws::translation(&bytes);
    }

    #[test]
    fn sanitizing_yields_one_line_and_is_idempotent(text: String) {
        let shown = display_text(&text);
        prop_assert!(!shown.contains(char::is_control));
        prop_assert_eq!(display_text(&shown), shown.clone());
    }
}
