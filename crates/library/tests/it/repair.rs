//! Backups, and the examination and repair of damaged files.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use readyok_library::{
    CollectionEdit, DefectKind, Duplicates, Examined, ImportOptions, Library, Repaired, StoredGame,
    examine, repair,
};
use readyok_rules::record::{Condition, GameRecord, PositionPattern, Tag};
use readyok_rules::{Game, Position, Side};
use tempfile::TempDir;

use crate::generate::Random;

const GAMES: u32 = 250;

fn record(random: &mut Random, number: u32) -> GameRecord {
    let game = if number.is_multiple_of(5) { Game::Shogi } else { Game::Chess };
    let mut record = GameRecord::new(Position::start(game));
    let mut position = record.start().clone();
    for _ in 0..20 + random.below(30) {
        let moves = position.legal_moves();
        let Some(mv) =
            moves.get(usize::try_from(random.below(moves.len().max(1) as u64)).expect("small"))
        else {
            break;
        };
        let id = record.add_at(record.last(), &mut position, *mv).expect("legal");
        if random.below(9) == 0 {
            record.annotations_mut(id).expect("a node").comments.push(format!("comment {number}"));
        }
    }
    record.set_header(Tag::Event, format!("Event {}", number % 40));
    for (side, other) in Side::BOTH.into_iter().zip([0, 7]) {
        record.set_player(side, format!("Player {}", (number + other) % 90));
    }
    record
}

/// A database with games, labels and a collection.
fn database(dir: &TempDir) -> std::path::PathBuf {
    let path = dir.path().join("library.sqlite");
    let library = Library::open(&path).expect("it opens");
    let mut random = Random(5);
    let options = ImportOptions { duplicates: Duplicates::Keep, ..Default::default() };
    let mut importer = library.importer(options);
    for number in 1..=GAMES {
        importer.add(&record(&mut random, number)).expect("added");
    }
    importer.finish().expect("added");
    library.delete(vec![33, 34]).expect("deleted");
    library.set_label(vec![3, 5, 8], "good".to_owned(), true).expect("set");
    let edit = CollectionEdit::Create { name: "Study".to_owned(), of: vec![9, 4] };
    library.edit_collection(edit, 1).expect("created");
    library.flush(true).expect("flushed");
    drop(library);
    path
}

fn examined(path: &Path) -> Examined {
    examine(path, |_| ControlFlow::Continue(())).expect("examined")
}

fn repaired(path: &Path, target: &Path) -> Repaired {
    repair(path, target, |_| ControlFlow::Continue(())).expect("repaired")
}

fn games(path: &Path) -> Vec<StoredGame> {
    let library = Library::open(path).expect("it opens");
    let all = library.find_all(&Condition::default()).expect("found");
    all.into_iter().filter_map(|id| library.game(id).expect("read")).collect()
}

/// What does not depend on the numbers of names.
fn content(game: &StoredGame) -> impl PartialEq + std::fmt::Debug {
    let record = game.record().expect("a record");
    (game.id, record, game.revision, game.added_ms, game.changed_ms, game.changed_before)
}

#[test]
fn a_sound_file_has_no_defects_and_is_copied_completely() {
    let dir = TempDir::new().expect("a directory");
    let path = database(&dir);
    let found = examined(&path);
    assert_eq!((found.games, &found.defects[..]), (u64::from(GAMES) - 2, &[][..]));
    let target = dir.path().join("new.sqlite");
    let report = repaired(&path, &target);
    assert_eq!((report.games, report.has_losses()), (u64::from(GAMES) - 2, false));
    let (old, new) = (games(&path), games(&target));
    assert_eq!(old.len(), new.len());
    for (old, new) in old.iter().zip(&new) {
        assert_eq!(content(old), content(new));
    }
    let library = Library::open(&target).expect("it opens");
    library.wait_until_indexed().expect("indexed");
    assert_eq!(library.labels().expect("read"), [("good".to_owned(), 3)]);
    let (study, chapters) = library.collection(1).expect("read");
    assert_eq!(study.name, "Study");
    assert_eq!(chapters.iter().map(|chapter| chapter.game).collect::<Vec<_>>(), [9, 4]);
    // Numbers are never used again.
    let last = library.find_all(&Condition::default()).expect("found").pop().expect("a game");
    assert_eq!(library.reserve().expect("a number"), last + 1);
    drop(library);
    assert_eq!(examined(&target).defects, []);
}

#[test]
fn parts_that_do_not_agree_are_found() {
    let dir = TempDir::new().expect("a directory");
    let path = database(&dir);
    let change = |sql: &str| {
        rusqlite::Connection::open(&path).expect("it opens").execute_batch(sql).expect("changed");
    };
    change(
        "UPDATE game SET moves = x'0102' WHERE id = 6;
         UPDATE game SET moves = (SELECT moves FROM game WHERE id = 8), annotations = NULL
         WHERE id = 7;
         UPDATE game SET annotations = x'ff' WHERE id = 11;
         DELETE FROM name WHERE id = (SELECT id FROM name WHERE text = 'Player 12');
         UPDATE run SET dead = x'010d';",
    );
    let found = examined(&path);
    let of = |is: fn(&DefectKind) -> bool| -> BTreeSet<u32> {
        let defects = found.defects.iter().filter(|defect| is(&defect.kind));
        defects.filter_map(|defect| defect.game).collect()
    };
    let unreadable = of(|kind| matches!(kind, DefectKind::Unreadable(_)));
    assert!(unreadable.contains(&6) && unreadable.contains(&11), "{found:?}");
    let index = of(|kind| *kind == DefectKind::Index);
    assert!(index.contains(&13), "{found:?}");
    let changed = of(|kind| *kind == DefectKind::Summary);
    assert!(changed.contains(&7), "{found:?}");
    let target = dir.path().join("new.sqlite");
    let report = repaired(&path, &target);
    assert_eq!(report.lost.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [6]);
    let damaged: BTreeSet<u32> = report.damaged.iter().map(|(id, _)| *id).collect();
    assert!([7, 11, 12, 5, 95].iter().all(|id| damaged.contains(id)), "{report:?}");
    assert_eq!(examined(&target).defects, []);
    let library = Library::open(&target).expect("it opens");
    library.wait_until_indexed().expect("indexed");
    let start = PositionPattern::with_key(Game::Chess, Position::start(Game::Chess).key());
    let found = library.find_all(&Condition::Position(start)).expect("found");
    assert!(found.contains(&13) && found.contains(&7));
    // The game has lost its comments only.
    let game = library.game(11).expect("read").expect("a game").record().expect("a record");
    assert_eq!(game.player(Side::First), Some("Player 11"));
}

/// All games are lost, listed as damaged, or equal, whichever pages are damaged.
#[test]
fn damaged_pages_cost_only_their_games() {
    let dir = TempDir::new().expect("a directory");
    let path = database(&dir);
    let whole = games(&path);
    let bytes = fs::read(&path).expect("read");
    let pages = bytes.len() / 4096;
    let mut random = Random(77);
    let mut saved = 0;
    for round in 0..9_u64 {
        let copy = dir.path().join(format!("damaged-{round}.sqlite"));
        let mut damaged = bytes.clone();
        for _ in 0..=(round % 3) {
            // The first page has the schema.
            let page = 1 + usize::try_from(random.below(pages as u64 - 1)).expect("small");
            damaged[page * 4096..(page + 1) * 4096].fill([0, 0xFF, 0x5A][(round % 3) as usize]);
        }
        fs::write(&copy, &damaged).expect("written");
        let examined = examine(&copy, |_| ControlFlow::Continue(()));
        let target = dir.path().join(format!("repaired-{round}.sqlite"));
        let Ok(report) = repair(&copy, &target, |_| ControlFlow::Continue(())) else {
            // A table of SQLite itself.
            assert!(examined.is_err() || examined.is_ok_and(|found| found.total > 0));
            continue;
        };
        saved += 1;
        assert!(examined.is_err() || examined.is_ok_and(|found| found.total > 0), "{round}");
        let listed: BTreeSet<u32> = report.lost.iter().map(|(id, _)| *id).collect();
        let changed: BTreeSet<u32> = report.damaged.iter().map(|(id, _)| *id).collect();
        let new = games(&target);
        for old in &whole {
            match new.iter().find(|new| new.id == old.id) {
                Some(new) if changed.contains(&old.id) => drop(content(new)),
                Some(new) => assert_eq!(content(old), content(new), "{round}"),
                None => assert!(listed.contains(&old.id), "{round}: {} is not listed", old.id),
            }
        }
        let again = self::examined(&target);
        assert_eq!(again.defects, [], "{round}");
    }
    assert!(saved > 4, "{saved}");
}

#[test]
fn flipped_bits_cause_no_panic() {
    let dir = TempDir::new().expect("a directory");
    let path = database(&dir);
    let bytes = fs::read(&path).expect("read");
    let mut random = Random(3);
    for round in 0..20 {
        let mut damaged = bytes.clone();
        for _ in 0..20 {
            let at = 100 + random.below(bytes.len() as u64 - 100);
            damaged[usize::try_from(at).expect("small")] ^= 1 << random.below(8);
        }
        let copy = dir.path().join(format!("damaged-{round}.sqlite"));
        fs::write(&copy, &damaged).expect("written");
        let _ = examine(&copy, |_| ControlFlow::Continue(()));
        let target = dir.path().join(format!("repaired-{round}.sqlite"));
        if repair(&copy, &target, |_| ControlFlow::Continue(())).is_ok() {
            assert_eq!(examined(&target).defects, [], "{round}");
        }
    }
}

#[test]
fn a_copy_is_made_while_games_are_added() {
    let dir = TempDir::new().expect("a directory");
    let path = database(&dir);
    let library = Library::open(&path).expect("it opens");
    let copy = dir.path().join("copy.sqlite");
    let count = std::thread::scope(|scope| {
        let adding = scope.spawn(|| {
            let mut random = Random(9);
            for number in 0..30 {
                let options = ImportOptions { duplicates: Duplicates::Keep, ..Default::default() };
                let mut importer = library.importer(options);
                importer.add(&record(&mut random, number)).expect("added");
                importer.finish().expect("added");
            }
        });
        let count = library.back_up(&copy).expect("copied");
        adding.join().expect("no panic");
        count
    });
    assert!(count >= GAMES as usize - 2);
    let new = games(&copy);
    assert_eq!(new.len(), count);
    for (old, new) in games(&path).iter().zip(&new) {
        assert_eq!(content(old), content(new));
    }
    assert_eq!(examined(&copy).defects, []);
    // An existing file is not replaced.
    assert!(library.back_up(&copy).is_err());
}
