//! Failures of the disk, and kills, at each write of open games and settings.

use std::env;
use std::path::Path;
use std::process::{Command, exit};

use readyok_faults::{Attempt, Call, Operation, sweep, this_test};
use readyok_library::Source;

use super::super::{Store, StoreError};
use super::{record, session};
use crate::online::Token;
use crate::wire::GameId;

const DIRECTORY: &str = "READYOK_STORE_FAULTS";
/// The versions of the game that are saved.
const VERSIONS: [&str; 4] = ["1. e4 *", "1. e4 e5 *", "1. e4 e5 2. Nf3 *", "1. e4 e5 2. Nf3 Nc6 *"];
const TOKEN: &str = "lip_0123456789";

#[expect(clippy::print_stdout, reason = "the test reads it")]
fn acknowledge(what: &str) {
    println!("\ndone: {what}");
}

/// The open game and its number of moves.
fn open_game(store: &Store) -> Option<(GameId, usize)> {
    let game = store.open_games().next()?;
    let session = crate::game::GameSession::restored(game.0, game.1, 9);
    Some((game.0, session.tree().main_line().len()))
}

fn has_settings(store: &Store) -> Result<bool, StoreError> {
    let has_theme = store.settings()?.page.get("theme").is_some_and(|theme| theme == "dark");
    Ok(has_theme && store.lichess_token()?.is_some())
}

/// Does the steps that are missing.
fn work(directory: &Path) -> Result<(), StoreError> {
    let mut store = Store::open(directory)?;
    acknowledge("open");
    let open = open_game(&store);
    if open.is_none() && has_settings(&store)? {
        return Ok(());
    }
    let (id, moves) = match open {
        Some(open) => open,
        None => (store.new_game(&record(VERSIONS[0]), Source::Play, 5)?, 1),
    };
    acknowledge("game 1");
    for (number, version) in (1..).zip(VERSIONS).skip(moves) {
        store
            .save(vec![(id, session(id, version).stored())], 7)
            .into_iter()
            .collect::<Result<(), _>>()?;
        acknowledge(&format!("game {number}"));
    }
    let mut settings = store.settings()?;
    settings.page.insert("theme".to_owned(), "dark".to_owned());
    store.save_settings(&settings)?;
    acknowledge("theme");
    store.save_lichess_token(Token::new(TOKEN).as_ref())?;
    acknowledge("settings");
    store.close_game(id)?;
    acknowledge("closed");
    Ok(())
}

/// The process whose writes fail.
#[test]
#[expect(clippy::print_stderr, clippy::exit, reason = "the test reads it")]
fn child() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    if let Err(error) = work(Path::new(&directory)) {
        eprintln!("error: {error}");
        exit(1);
    }
}

struct Saved;

impl Operation for Saved {
    fn prepare(&self, _: &Path) {}

    fn command(&self, directory: &Path) -> Command {
        let mut command = this_test("store::tests::faults::child");
        command.env(DIRECTORY, directory);
        command
    }

    fn check(&self, directory: &Path, attempt: &Attempt) {
        let output = attempt.stdout();
        let is_done = |what: &str| output.contains(&format!("done: {what}\n"));
        let store = Store::open(directory).expect("it opens");
        assert_eq!(store.damaged(), [], "{attempt}");
        let acknowledged = (1..=VERSIONS.len()).rfind(|number| is_done(&format!("game {number}")));
        if let Some(moves) = acknowledged {
            // A version that is saved may not be acknowledged. A game is closed when it is in the library.
            let found = match open_game(&store) {
                Some((_, found)) => found,
                None => longest(&store),
            };
            assert!(moves <= found && found <= VERSIONS.len(), "{found} moves: {attempt}");
        }
        let page = store.settings().expect("it is read").page;
        assert!(!is_done("theme") || page.contains_key("theme"), "{attempt}");
        assert!(!is_done("settings") || has_settings(&store).expect("it is read"), "{attempt}");
        assert!(!is_done("closed") || open_game(&store).is_none(), "{attempt}");
    }

    fn check_complete(&self, directory: &Path) {
        let store = Store::open(directory).expect("it opens");
        assert_eq!((open_game(&store), longest(&store)), (None, VERSIONS.len()));
        assert!(has_settings(&store).expect("it is read"));
        assert_eq!(store.lichess_token().expect("it is read").expect("a token").text(), TOKEN);
    }

    /// Checkpoints and merges are repeated later. No step is lost, see `check_complete`.
    fn is_optional(&self, _: &Call) -> bool {
        true
    }

    fn name(&self, call: &Call) -> String {
        let path = call.path.to_string_lossy();
        if path.contains("app.sqlite") { "app.sqlite" } else { "library.sqlite" }.to_owned()
    }
}

/// The largest number of moves of a game in the library. A creation that failed can leave a shorter game.
fn longest(store: &Store) -> usize {
    let plies = (1..=9).filter_map(|id| store.library().summary(id)).map(|summary| summary.plies);
    plies.max().unwrap_or_default().into()
}

#[test]
fn open_games_and_settings_survive_faults() {
    sweep(&Saved);
}
