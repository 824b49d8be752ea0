//! The names of values in Python and TypeScript, from the lists of the rules.

use std::fmt::Write as _;

use readyok_rules::record::Format;
use readyok_rules::{FenForm, Game, GameResult, Handicap, Notation, Side, Termination};

/// The types, with their descriptions and names.
fn types() -> [(&'static str, &'static str, Vec<&'static str>); 8] {
    let notations = "A notation of moves. `usi`, `western` and `long` are other names of `uci`, `san` and `lan`.";
    let sides = "A player: the first is White in chess and Black (sente) in shogi.";
    let results = "A result of a game; `*` is an unfinished or unknown one.";
    [
        ("GameName", "A game.", Game::ALL.map(Game::name).to_vec()),
        ("Side", sides, Side::BOTH.map(Side::name).to_vec()),
        ("Notation", notations, Notation::NAMES.iter().map(|(name, _)| *name).collect()),
        ("FenForm", "A form of FEN.", FenForm::ALL.map(FenForm::name).to_vec()),
        ("Format", "A format of game records.", Format::ALL.iter().map(|it| it.name()).collect()),
        ("Result", results, GameResult::ALL.map(GameResult::as_str).to_vec()),
        (
            "Termination",
            "What ended a game.",
            Termination::ALL.iter().map(|it| it.name()).collect(),
        ),
        ("Handicap", "A handicap of shogi.", Handicap::ALL.map(Handicap::name).to_vec()),
    ]
}

const ORIGIN: &str = "Generated from the lists of `readyok-rules` by `cargo xtask docs`.";

/// The module of Python, for 3.9 or newer.
pub(super) fn python() -> String {
    let mut text = format!("\"\"\"Names of values. {ORIGIN}\"\"\"\n\nfrom typing import Literal\n");
    for (name, description, values) in types() {
        // Writing to a string never fails.
        let _ = writeln!(text, "\n{name} = Literal[");
        for value in values {
            let _ = writeln!(text, "    {value:?},");
        }
        let _ = writeln!(text, "]\n\"\"\"{description}\"\"\"");
    }
    text
}

/// The declarations of TypeScript.
pub(super) fn typescript() -> String {
    let mut text = format!("// Names of values. {ORIGIN}\n");
    for (name, description, values) in types() {
        let values: Vec<String> = values.iter().map(|value| format!("  | {value:?}")).collect();
        let values = values.join("\n");
        let _ = writeln!(text, "\n/** {description} */\nexport type {name} =\n{values};");
    }
    text
}
