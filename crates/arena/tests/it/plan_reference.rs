//! The reference in `docs/match.md` lists exactly the keys of a plan and their values. The files in the book are valid.

use std::collections::{BTreeMap, BTreeSet};

use readyok_arena::plan::{
    Adjudication, BookFormat, Colors, DrawAdjudication, EnginePlan, EngineTimeouts, Format,
    GamesPerPairing, GitSource, Impasse, KnockoutTie, Limits, OpeningOrder, OpeningPolicy,
    OpeningSource, Openings, PairingOrder, Plan, Protocol, PvCheck, ResignAdjudication, SprtPlan,
    TablebaseAdjudication, TablebaseScope,
};
use readyok_arena::stats::Model;
use readyok_arena::tune::{Parameter, TuneFile, TunePlan};
use readyok_rules::Game;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const PAGE: &str = include_str!("../../../../docs/match.md");

/// The names that a type expects instead of `?`, from its error message.
fn expected<T: DeserializeOwned>(value: Value) -> Vec<String> {
    let error = serde_json::from_value::<T>(value).err().expect("an error").to_string();
    let (_, names) = error.split_once("expected").expect(&error);
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn fields<T: DeserializeOwned>() -> Vec<String> {
    expected::<T>(json!({ "?": 0 }))
}

fn values<T: DeserializeOwned>() -> Vec<String> {
    expected::<T>(json!("?"))
}

/// The kinds of a table, and the keys of the kinds in `with_keys`.
fn kinds<T: DeserializeOwned>(with_keys: &[&str]) -> (Vec<String>, BTreeSet<String>) {
    let of = |kind: &&str| expected::<T>(json!({ "kind": kind, "?": 0 }));
    let mut keys: BTreeSet<String> = with_keys.iter().flat_map(of).collect();
    keys.insert("kind".to_owned());
    (expected::<T>(json!({ "kind": "?" })), keys)
}

/// The rows of the reference: the cells by key.
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
fn lists_every_key_and_value() {
    let (formats, format_keys) = kinds::<Format>(&["gauntlet", "knockout"]);
    let with_keys = ["file", "positions", "chess960", "double-chess960", "handicap"];
    let (sources, source_keys) = kinds::<OpeningSource>(&with_keys);
    let tables: Vec<(&str, Vec<String>)> = vec![
        ("engines", fields::<EnginePlan>()),
        ("engines.limits", fields::<Limits>()),
        ("engines.source", fields::<GitSource>()),
        ("engines.timeouts", fields::<EngineTimeouts>()),
        ("format", format_keys.into_iter().collect()),
        ("colors", fields::<Colors>()),
        ("openings", fields::<Openings>()),
        ("openings.source", source_keys.into_iter().collect()),
        ("adjudication", fields::<Adjudication>()),
        ("adjudication.draw", fields::<DrawAdjudication>()),
        ("adjudication.resign", fields::<ResignAdjudication>()),
        ("adjudication.tablebases", fields::<TablebaseAdjudication>()),
        ("sprt", fields::<SprtPlan>()),
        ("tune", fields::<TunePlan>()),
        ("tune.parameters", fields::<Parameter>()),
    ];
    let mut keys: BTreeSet<String> = fields::<Plan>().into_iter().collect();
    for (table, fields) in &tables {
        keys.extend(fields.iter().map(|field| format!("{table}.{field}")));
    }
    let rows = rows();
    let documented: BTreeSet<String> = rows.keys().map(|&key| key.to_owned()).collect();
    assert_eq!(documented.difference(&keys).collect::<Vec<_>>(), [""; 0], "rows without a key");
    assert_eq!(keys.difference(&documented).collect::<Vec<_>>(), [""; 0], "keys without a row");
    // The keys of every table are compared.
    let is_table = |cells: &Vec<&str>| cells.first().is_some_and(|value| value.contains("table"));
    let nested: BTreeSet<&str> =
        rows.iter().filter(|(_, cells)| is_table(cells)).map(|(&key, _)| key).collect();
    assert_eq!(nested, tables.iter().map(|(table, _)| *table).collect());

    let unknown = "?".parse::<Model>().expect_err("no model").to_string();
    let (_, models) = unknown.split_once("expected one of ").expect(&unknown);
    let models: Vec<String> = models.split(", ").map(str::to_owned).collect();
    for (key, expected) in [
        ("game", values::<Game>()),
        ("engines.protocol", values::<Protocol>()),
        ("format.kind", formats),
        ("format.tie", values::<KnockoutTie>()),
        ("pairing_order", values::<PairingOrder>()),
        ("games", values::<GamesPerPairing>()),
        ("pv_check", values::<PvCheck>()),
        ("openings.source.kind", sources),
        ("openings.source.format", values::<BookFormat>()),
        ("openings.order", values::<OpeningOrder>()),
        ("openings.policy", values::<OpeningPolicy>()),
        ("adjudication.tablebases.scope", values::<TablebaseScope>()),
        ("adjudication.impasse", values::<Impasse>()),
        ("sprt.model", models),
    ] {
        let value = rows.get(key).and_then(|cells| cells.first()).expect(key);
        let found: Vec<&str> = value.split('`').skip(1).step_by(2).collect();
        assert_eq!(found, expected, "{key}");
    }
}

#[test]
fn the_files_in_the_book_are_valid() {
    let strength = include_str!("../../../narikin/docs/strength.md");
    let tune = include_str!("../../../../docs/tune.md");
    let tutorial = include_str!("../../../../docs/tutorials/tune-an-engine.md");
    let (mut plans, mut tunes) = (0, 0);
    for page in [PAGE, strength, tune, tutorial] {
        let blocks = page.split("```toml\n").skip(1);
        for file in blocks.filter_map(|rest| rest.split("```").next()) {
            let plan = if file.contains("[[parameters]]") {
                tunes += 1;
                toml::from_str::<TuneFile>(file).expect(file).into_plan(1)
            } else {
                plans += 1;
                toml::from_str(file).expect(file)
            };
            plan.check().expect(file);
        }
    }
    assert_eq!((plans, tunes), (2, 2));
}
