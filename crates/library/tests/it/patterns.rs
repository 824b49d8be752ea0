//! Patterns of material and pieces in many games: by the index of material, and by replaying moves.

use std::cell::Cell;
use std::ops::ControlFlow;

use readyok_library::{Error, Filter, Library, NewGame, Source};
use readyok_rules::record::{Condition, GameRecord};
use readyok_rules::{Game, Position, shakmaty};
use tempfile::TempDir;

use crate::generate::Random;

/// More games than are replayed without the index.
const GAMES: usize = 1100;

/// A game of random moves, with more captures than quiet moves.
fn random_game(random: &mut Random) -> GameRecord {
    let game = if random.below(5) == 0 { Game::Shogi } else { Game::Chess };
    let mut record = GameRecord::new(Position::start(game));
    let mut position = record.start().clone();
    for _ in 0..30 + random.below(40) {
        let moves = position.legal_moves();
        let captures: Vec<_> = moves
            .iter()
            .filter(|mv| match mv {
                readyok_rules::Move::Chess(mv) => shakmaty::Move::is_capture(*mv),
                readyok_rules::Move::Shogi(mv) => {
                    mv.is_drop() || position.to_string().len().is_multiple_of(3)
                }
            })
            .collect();
        let mv = if !captures.is_empty() && random.below(2) == 0 {
            *captures[random.index(captures.len())]
        } else if let Some(mv) = moves.get(random.index(moves.len().max(1))) {
            *mv
        } else {
            break;
        };
        record.add_at(record.last(), &mut position, mv).expect("a legal move");
    }
    record
}

const PATTERNS: &[&str] = &[
    "material=KQ*vK*",
    "R=1 r=2",
    "R=1 r=2 for=3",
    "Q=0 q=0 for=20",
    "balance=5..",
    "balance=..-4 for=10",
    "balance=3..4 flip=sides ply=10..30",
    "bishops=opposite",
    "bishops=same flip=files",
    "P=0..5 on=Ke1",
    "N=2 n=0 turn=w",
    "on=qd8 q=1 Q=0",
    "on=Ra1,-b1,-c1",
    "B*=1.. b*=1..",
    "P*=3.. p*=2",
    "R*=1 for=4",
    "G=1 game=shogi",
    "balance=10.. game=shogi",
    "S*=1 on=[KG]5i",
];

#[test]
fn the_index_of_material_and_the_moves_agree() {
    let mut random = Random(5);
    let records: Vec<GameRecord> = (0..GAMES).map(|_| random_game(&mut random)).collect();
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("library.sqlite");
    let mut conditions: Vec<Condition> = Vec::new();
    for pattern in PATTERNS {
        conditions.push(Condition::Pattern(pattern.parse().expect("a pattern")));
    }
    conditions.push(Condition::Material("KRvK*".parse().expect("material")));
    conditions.push(Condition::Material("KQRB*vKQRN*".parse().expect("material")));
    let expected: Vec<Vec<u32>> = conditions
        .iter()
        .map(|condition| {
            let matching = (1..).zip(&records).filter(|(_, record)| condition.matches(record));
            matching.map(|(id, _)| id).collect()
        })
        .collect();
    assert!(expected.iter().filter(|found| (1..GAMES).contains(&found.len())).count() > 15);
    let check = |library: &Library, deleted: u32, case: &str| {
        for (condition, expected) in conditions.iter().zip(&expected) {
            let found = library.find_all(condition).expect("found");
            let expected: Vec<u32> = expected.iter().copied().filter(|id| *id > deleted).collect();
            assert_eq!(found, expected, "{case}: {condition:?}");
        }
    };
    let library = Library::open(&path).expect("it opens");
    let games = |range: std::ops::Range<usize>| {
        let records = records[range].iter();
        records.map(|record| NewGame::from_record(record, Source::Import, 0)).collect::<Vec<_>>()
    };
    library.add(games(0..500)).expect("added");
    library.flush(false).expect("flushed");
    // The last games are only in memory.
    library.add(games(500..GAMES)).expect("added");
    check(&library, 0, "new");
    check(&library, 0, "cached");
    drop(library);
    let library = Library::open(&path).expect("it opens");
    library.flush(true).expect("merged");
    check(&library, 0, "merged");
    // A changed game has other material, which neither index nor cache may hide.
    let last = u32::try_from(GAMES).expect("small");
    let changed = NewGame::from_record(&records[0], Source::Import, 0);
    assert!(library.replace(last, changed).expect("replaced"));
    for (condition, expected) in conditions.iter().zip(&expected) {
        let found = library.find_all(condition).expect("found");
        assert_eq!(found.contains(&last), expected.contains(&1), "{condition:?}");
    }
    let original = NewGame::from_record(&records[GAMES - 1], Source::Import, 0);
    assert!(library.replace(last, original).expect("replaced"));
    library.delete(vec![1, 2, 3]).expect("deleted");
    check(&library, 3, "deleted");
}

#[test]
fn a_long_search_reports_progress_and_can_be_cancelled() {
    let mut random = Random(6);
    let dir = TempDir::new().expect("a directory");
    let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
    let games = (0..50).map(|_| NewGame::from_record(&random_game(&mut random), Source::Import, 0));
    library.add(games.collect()).expect("added");
    let condition = Condition::Pattern("on=Nf3".parse().expect("a pattern"));
    let last = Cell::new((0, 0));
    let watch = |done, all| {
        last.set((done, all));
        ControlFlow::Continue(())
    };
    let found = library.find_all(Filter::watched(&condition, &watch)).expect("found");
    assert!(!found.is_empty());
    let (done, all) = last.get();
    assert!(all > 0 && done == all, "{done} of {all}");
    let other = Condition::Pattern("on=Nc3".parse().expect("a pattern"));
    let cancelled = library.find_all(Filter::watched(&other, &|_, _| ControlFlow::Break(())));
    assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
    // A cancelled search leaves nothing behind.
    let expected: Vec<u32> = (1..=50)
        .filter(|id| {
            let game = library.game(*id).expect("read").expect("a game");
            other.matches(&game.record().expect("a record"))
        })
        .collect();
    assert_eq!(library.find_all(&other).expect("found"), expected);
}

/// Several threads replay many games.
#[test]
fn several_threads_find_all_games() {
    let dir = TempDir::new().expect("a directory");
    let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
    let of = |text: &str| NewGame::from_record(&pgn(text), Source::Import, 0);
    let (open, closed) = (of("1. e4 e5 *"), of("1. d4 *"));
    let games = (1..=41_000).map(|id| if id % 7 == 0 { &open } else { &closed });
    library.add(games.cloned().collect()).expect("added");
    for (pattern, is_open) in [("on=Pe4", true), ("on=Pd4", false)] {
        let condition = Condition::Pattern(pattern.parse().expect("a pattern"));
        let done = Cell::new(0);
        let watch = |games, all| {
            assert!(games >= done.get() && games <= all);
            done.set(games);
            ControlFlow::Continue(())
        };
        let found = library.find_all(Filter::watched(&condition, &watch)).expect("found");
        let expected: Vec<u32> = (1..=41_000).filter(|id| (id % 7 == 0) == is_open).collect();
        assert!(found == expected, "{} of {}", found.len(), expected.len());
        assert!(done.get() > 20_000, "{}", done.get());
    }
    let condition = Condition::Pattern("on=Pe5".parse().expect("a pattern"));
    let stop =
        |games, _| if games > 10_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let cancelled = library.find_all(Filter::watched(&condition, &stop));
    assert!(matches!(cancelled, Err(Error::Cancelled)), "{cancelled:?}");
}

fn pgn(text: &str) -> GameRecord {
    let format = readyok_rules::record::Format::PGN;
    readyok_rules::record::read(text.as_bytes(), format).next().expect("a game").expect("read")
}

/// A tree of moves finds the games that reach it, and where each leaves it.
#[test]
fn a_repertoire_finds_its_games() {
    let game = pgn;
    let tree = game("1. e4 e5 (1... c5 2. Nf3 d6 3. d4) 2. Nf3 Nc6 3. Bb5 *");
    let games = [
        "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 *",
        "1. d4 d5 *",
        "1. e4 e5 2. Nf3 Nf6 *",
        // By transposition, and back after another move.
        "1. Nf3 e5 2. e4 Nc6 3. Bc4 *",
        "1. e4 c5 2. Nf3 d6 3. d4 *",
        "1. e4 e6 *",
        "1. e4 *",
    ];
    for source in [Source::Import, Source::Play] {
        let dir = TempDir::new().expect("a directory");
        let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
        let games = games.iter().map(|text| NewGame::from_record(&game(text), source, 0));
        library.add(games.collect()).expect("added");
        let found = library.repertoire(&tree, &Condition::default()).expect("found");
        let shown: Vec<(u32, String, String)> = found
            .iter()
            .map(|exit| {
                let position = tree.position_after(exit.node).expect("a node");
                let mv = readyok_library::move_of(&position, exit.mv);
                let mv = mv.map(|mv| position.notation(mv, readyok_rules::Notation::Western));
                let last = tree.node(exit.node).and_then(|node| node.mv()?.legal());
                let last = last.map(|mv| mv.to_uci(readyok_rules::CastlingForm::KingMove));
                (exit.game, last.unwrap_or_default(), mv.unwrap_or_default())
            })
            .collect();
        let shown: Vec<(u32, &str, &str)> =
            shown.iter().map(|(game, last, mv)| (*game, last.as_str(), mv.as_str())).collect();
        assert_eq!(
            shown,
            [
                (1, "f1b5", "a6"),
                (3, "g1f3", "Nf6"),
                (4, "b8c6", "Bc4"),
                (5, "d2d4", ""),
                (6, "e2e4", "e6"),
                (7, "e2e4", ""),
            ],
            "{source:?}"
        );
        let filter = Condition::Plies("..1".parse().expect("a range"));
        let found = library.repertoire(&tree, &filter).expect("found");
        assert_eq!(found.iter().map(|exit| exit.game).collect::<Vec<_>>(), [7]);
    }
}
