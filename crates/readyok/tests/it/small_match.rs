//! A short match of two engines with deterministic games.

use std::path::Path;

use readyok_arena::game::GameSettings;
use readyok_arena::plan::Plan;
use readyok_arena::runner::{EnginePlayer, Match, Settings, Summary};
use readyok_arena::store::Store;
use readyok_client::Timeouts;

/// The plan, with a number of nodes per move for each engine and TOML fields of `adjudication`.
pub(crate) fn plan(
    engines: &[String; 2],
    rounds: u64,
    nodes: [u32; 2],
    adjudication: &str,
) -> Plan {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/openings/chess.epd");
    let ([one, two], [first, second]) = (engines, nodes);
    let text = format!(
        "game = 'chess'
rounds = {rounds}
openings = {{ source = {{ kind = 'file', path = '{}' }} }}
adjudication = {{ {adjudication} }}
engines = [
    {{ name = 'one', command = '{one}', limits = {{ nodes = {first} }} }},
    {{ name = 'two', command = '{two}', limits = {{ nodes = {second} }} }},
]
",
        book.display()
    );
    toml::from_str(&text).expect("a plan")
}

pub(crate) fn open(results: &Path, plan: &Plan) -> Match {
    let store = Store::create(results, plan).expect("a new file");
    Match::new(store, Settings::default()).expect("a match")
}

/// Plays a match in this process with `slots` concurrent pairings.
pub(crate) fn play_here(results: &Path, plan: &Plan, slots: usize) -> Summary {
    let player =
        |setting: &GameSettings| EnginePlayer::new(plan, setting.clone(), Timeouts::default());
    let setting = GameSettings::new(plan.game);
    open(results, plan).play_here(slots, None, |_| player(&setting)).expect("a match")
}
