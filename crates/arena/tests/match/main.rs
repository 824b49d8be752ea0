//! Plays or resumes a match: `play-match STORE PLAN PGN SLOTS`. The plan is JSON. Events are written to stdout as JSON
//! lines, and each line of stdin is an interrupt.

use std::error::Error;
use std::io::{self, BufRead};
use std::path::Path;
use std::time::Duration;
use std::{env, fs, thread};

use readyok_arena::export::{Existing, Export, Form, PgnStyle};
use readyok_arena::game::GameSettings;
use readyok_arena::listener::JsonLines;
use readyok_arena::plan::Plan;
use readyok_arena::runner::{EnginePlayer, Match, Settings};
use readyok_arena::store::Store;
use readyok_client::{Timeouts, WaitLimit};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [store, plan, pgn, slots] = arguments.as_slice() else {
        return Err("usage: play-match STORE PLAN PGN SLOTS".into());
    };
    let plan: Plan = serde_json::from_str(&fs::read_to_string(plan)?)?;
    let store = Path::new(store);
    let store = if store.exists() {
        let (mut store, _) = Store::resume(store, |_| ())?;
        store.accept(&plan)?;
        store
    } else {
        Store::create(store, &plan)?
    };
    let mut game = Match::new(store, Settings::default())?;
    game.export(Export {
        path: pgn.into(),
        form: Form::Pgn(PgnStyle::default()),
        existing: Existing::Replace,
    });
    game.listen(JsonLines::new(io::stdout()));
    let stop = game.stop_handle();
    thread::spawn(move || {
        for _ in io::stdin().lock().lines().map_while(Result::ok) {
            stop.interrupt();
        }
    });
    let stall = WaitLimit::fixed(Duration::from_mins(1));
    let setting = GameSettings { stall, ..GameSettings::new(plan.game) };
    game.play_here(slots.parse()?, None, |order| {
        EnginePlayer::new(&order.plan, setting.clone(), Timeouts::default())
    })?;
    Ok(())
}
