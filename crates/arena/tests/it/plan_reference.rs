//! The reference of a plan's keys in `docs/match.md` has a row for each key and for nothing else, and
//! tells all words that a key can have.

use std::collections::{BTreeMap, BTreeSet};

use readyok_arena::plan::{
    Adjudication, BookFormat, Colours, DrawAdjudication, EnginePatience, EnginePlan, Format,
    GamesPerPairing, Impasse, KnockoutTie, Limits, MeetingOrder, OpeningOrder, OpeningPolicy,
    OpeningSource, Openings, Plan, Protocol, ResignAdjudication, SprtPlan, TablebaseAdjudication,
    TablebaseScope, Variations,
};
use readyok_arena::stats::Model;
use readyok_rules::Game;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../docs/match.md");

/// What a type expects instead of `?`, as its error says.
fn expected<T: DeserializeOwned>(value: Value) -> Vec<String> {
    let error = serde_json::from_value::<T>(value).err().expect("an error").to_string();
    let (_, words) = error.split_once("expected").expect(&error);
    words.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn fields<T: DeserializeOwned>() -> Vec<String> {
    expected::<T>(json!({ "?": 0 }))
}

fn words<T: DeserializeOwned>() -> Vec<String> {
    expected::<T>(json!("?"))
}

/// The kinds of a table, and the keys that each of some kinds has beside `kind`.
fn kinds<T: DeserializeOwned>(with_keys: &[&str]) -> (Vec<String>, BTreeSet<String>) {
    let of = |kind: &&str| expected::<T>(json!({ "kind": kind, "?": 0 }));
    let mut keys: BTreeSet<String> = with_keys.iter().flat_map(of).collect();
    keys.insert("kind".to_owned());
    (expected::<T>(json!({ "kind": "?" })), keys)
}

/// The rows of the reference: what stands beside each key.
fn rows() -> BTreeMap<&'static str, Vec<&'static str>> {
    let (_, page) = PAGE.split_once("\n## The keys of a plan\n").expect("the reference");
    let page = page.split("\n## ").next().unwrap_or(page);
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        let (key, rest) = row.split_once("` | ").expect(row);
        (key, rest.trim_end_matches('|').split(" | ").map(str::trim).collect())
    })
    .collect()
}

#[test]
fn every_key_of_a_plan_has_a_row_and_every_row_is_a_key() {
    let (formats, format_keys) = kinds::<Format>(&["gauntlet", "knockout"]);
    let with_keys = ["file", "positions", "chess960", "double-chess960", "handicap"];
    let (sources, source_keys) = kinds::<OpeningSource>(&with_keys);
    let tables: Vec<(&str, Vec<String>)> = vec![
        ("engines", fields::<EnginePlan>()),
        ("engines.limits", fields::<Limits>()),
        ("engines.patience", fields::<EnginePatience>()),
        ("format", format_keys.into_iter().collect()),
        ("colours", fields::<Colours>()),
        ("openings", fields::<Openings>()),
        ("openings.source", source_keys.into_iter().collect()),
        ("adjudication", fields::<Adjudication>()),
        ("adjudication.draw", fields::<DrawAdjudication>()),
        ("adjudication.resign", fields::<ResignAdjudication>()),
        ("adjudication.tablebases", fields::<TablebaseAdjudication>()),
        ("sprt", fields::<SprtPlan>()),
    ];
    let mut keys: BTreeSet<String> = fields::<Plan>().into_iter().collect();
    for (table, fields) in &tables {
        keys.extend(fields.iter().map(|field| format!("{table}.{field}")));
    }
    let rows = rows();
    let told: BTreeSet<String> = rows.keys().map(|&key| key.to_owned()).collect();
    assert_eq!(told.difference(&keys).collect::<Vec<_>>(), [""; 0], "rows of no key");
    assert_eq!(keys.difference(&told).collect::<Vec<_>>(), [""; 0], "keys without a row");
    // A key whose value is a table has keys of its own, which were looked at here.
    let is_table = |cells: &Vec<&str>| cells.first().is_some_and(|value| value.contains("table"));
    let nested: BTreeSet<&str> =
        rows.iter().filter(|(_, cells)| is_table(cells)).map(|(&key, _)| key).collect();
    assert_eq!(nested, tables.iter().map(|(table, _)| *table).collect());

    let unknown = "?".parse::<Model>().expect_err("no model").to_string();
    let (_, models) = unknown.split_once("there are ").expect(&unknown);
    let models: Vec<String> = models.split(", ").map(str::to_owned).collect();
    for (key, words) in [
        ("game", words::<Game>()),
        ("engines.protocol", words::<Protocol>()),
        ("format.kind", formats),
        ("format.tie", words::<KnockoutTie>()),
        ("meetings", words::<MeetingOrder>()),
        ("games", words::<GamesPerPairing>()),
        ("variations", words::<Variations>()),
        ("openings.source.kind", sources),
        ("openings.source.format", words::<BookFormat>()),
        ("openings.order", words::<OpeningOrder>()),
        ("openings.policy", words::<OpeningPolicy>()),
        ("adjudication.tablebases.scope", words::<TablebaseScope>()),
        ("adjudication.impasse", words::<Impasse>()),
        ("sprt.model", models),
    ] {
        let value = rows.get(key).and_then(|cells| cells.first()).expect(key);
        let told: Vec<&str> = value.split('`').skip(1).step_by(2).collect();
        assert_eq!(told, words, "{key}");
    }
}
