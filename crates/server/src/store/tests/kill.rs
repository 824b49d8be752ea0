//! A process that is killed while it saves edits.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use readyok_library::Source;
use readyok_rules::record::GameRecord;
use readyok_rules::{Game, Position};

use super::super::Store;
use crate::game::{GameSession, ROOT, Tree};
use crate::wire::{Edit, GameId};

const DIRECTORY: &str = "READYOK_KILL_TEST";
const KILLS: usize = 100;

/// The number of edits so far, which is the comment at the root.
fn count(session: &GameSession) -> usize {
    let comments = &session.tree().annotations(ROOT.into()).comments;
    comments.first().map_or(0, |comment| comment.parse().expect("a number"))
}

/// The edits of a step, which follow from the state, so that the parent knows them.
fn step(session: &mut GameSession) {
    let count = count(session);
    let ids: Vec<_> = session.tree().ids().collect();
    let node = ids[count * 7919 % ids.len()];
    let edit = match count % 9 {
        0 => Edit::Comment { node, before: Vec::new(), comments: vec![format!("comment {count}")] },
        1 if node != ROOT => Edit::Delete { node },
        2 => Edit::Promote { node, to_main: true },
        _ => {
            let position = session.tree().position(node).expect("a node");
            let moves = position.legal_moves();
            // A position without moves has none to add.
            let mv = moves.get(count % moves.len().max(1));
            let mv = mv.map(|mv| mv.to_uci(position.game().castling_form()));
            Edit::Insert { node, moves: mv.into_iter().collect(), evaluation: None }
        }
    };
    // An edit that is rejected changes nothing.
    let _ = session.edit(edit);
    let comments = vec![(count + 1).to_string()];
    let counted = Edit::Comment { node: ROOT, before: Vec::new(), comments };
    session.edit(counted).expect("the root exists");
}

fn open(directory: &Path) -> (Store, Option<GameSession>) {
    let store = Store::open(directory).expect("it opens");
    let open = store.open_games().next();
    let session = open.map(|(id, stored, _)| GameSession::restored(id, stored, 0));
    (store, session)
}

fn new_session(id: GameId) -> GameSession {
    GameSession::new(id, Tree::new(Position::start(Game::Chess)), 0)
}

/// The process that is killed: it saves edits, and answers each with its number.
#[test]
#[expect(clippy::print_stdout, reason = "the parent process reads it")]
fn child() {
    let Some(directory) = env::var_os(DIRECTORY) else { return };
    let (mut store, session) = open(Path::new(&directory));
    let mut session = session.unwrap_or_else(|| {
        let record = GameRecord::new(Position::start(Game::Chess));
        new_session(store.new_game(&record, Source::Play, 1).expect("added"))
    });
    loop {
        step(&mut session);
        let saved = store.save(vec![(session.id(), session.stored())], 2);
        assert!(saved.iter().all(Result::is_ok));
        println!("saved {}", count(&session));
    }
}

fn start(directory: &Path) -> Child {
    let child = Command::new(env::current_exe().expect("a path"))
        .args(["--exact", "store::tests::kill::child", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn();
    child.expect("it starts")
}

#[test]
fn a_killed_process_loses_no_answered_edit() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut expected = new_session(1);
    let mut saved = 0;
    for kill in 0..KILLS {
        let mut child = start(directory.path());
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        // The kill interrupts saves at different moments.
        let wanted = saved + 1 + kill % 13;
        while saved < wanted {
            let line = lines.next().expect("a line").expect("text");
            if let Some((_, number)) = line.split_once("saved ") {
                saved = number.parse().expect("a number");
            }
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        let (store, session) = open(directory.path());
        let session = session.expect("the game is open");
        let found = count(&session);
        assert!(saved <= found, "{found} of {saved} edits after kill {kill}");
        assert_eq!(store.damaged(), []);
        saved = found;
        while count(&expected) < found {
            step(&mut expected);
        }
        assert_eq!(session.tree().wire_all(), expected.tree().wire_all(), "kill {kill}");
        assert_eq!(session.tree().next_id(), expected.tree().next_id());
    }
}
