//! Searches and the explorer, compared with a scan of all games.

use std::collections::{BTreeMap, BTreeSet};

use readyok_library::{Column, Date, Library, NewGame, ResultCounts};
use readyok_rules::record::{
    Condition, NumberRange, PlayerColor, PlayerCondition, Tag, TextPattern,
};
use readyok_rules::{GameResult, Side};
use tempfile::TempDir;

use crate::generate::{Random, game, indexer, keys, moves_of, reaches};

fn library(count: usize) -> (TempDir, Library, Vec<NewGame>) {
    let dir = TempDir::new().expect("a directory");
    let library =
        Library::open_with(&dir.path().join("library.sqlite"), indexer, 1 << 12).expect("it opens");
    let mut random = Random(4);
    let games: Vec<_> = (0..count).map(|_| game(&mut random)).collect();
    // Several runs, merged ones, and postings in memory.
    for (at, batch) in games.chunks(count / 11).enumerate() {
        library.add(batch.to_vec()).expect("they are added");
        if at < 9 {
            library.flush(false).expect("flushed");
        }
    }
    (dir, library, games)
}

type Matches = fn(&NewGame) -> bool;

fn counts<'a>(games: impl Iterator<Item = &'a NewGame>) -> ResultCounts {
    let mut counts = ResultCounts::default();
    for game in games {
        match game.summary.result {
            GameResult::Win(Side::First) => counts.first += 1,
            GameResult::Win(Side::Second) => counts.second += 1,
            GameResult::Draw => counts.draws += 1,
            GameResult::Unknown => counts.unknown += 1,
        }
    }
    counts
}

#[test]
fn the_explorer_counts_what_was_played() {
    let (_dir, library, games) = library(2000);
    let filters: [(Condition, Matches); 3] = [
        (Condition::default(), |_| true),
        (Condition::Result(GameResult::Draw), |game| game.summary.result == GameResult::Draw),
        (Condition::ratings(NumberRange { min: 1500, max: 3000 }), |game| {
            game.summary.ratings.iter().all(|rating| *rating >= 1500)
        }),
    ];
    for (filter, matches) in filters {
        for line in [&[][..], &[0], &[0, 1], &[0, 0, 2], &[0, 1, 2, 3], &[0, 1, 2, 3, 4, 5]] {
            let key = *keys(line).last().expect("a key");
            let mut expected: BTreeMap<u16, BTreeSet<usize>> = BTreeMap::new();
            let mut reached = BTreeSet::new();
            for (at, game) in games.iter().enumerate().filter(|(_, game)| matches(game)) {
                let moves = moves_of(&game.moves);
                for (ply, it) in keys(&moves).into_iter().enumerate() {
                    if it == key {
                        reached.insert(at);
                        if let Some(mv) = moves.get(ply) {
                            expected.entry(*mv).or_default().insert(at);
                        }
                    }
                }
            }
            let explorer = library.explore(key, Side::First, &filter).expect("explored");
            assert_eq!(explorer.total, reached.len(), "{line:?}");
            assert_eq!(explorer.counts, counts(reached.iter().map(|index| &games[*index])));
            // The latest games are those of a search by date.
            let by_date = Condition::all(vec![reaches(line), filter.clone()]);
            let page = library.search(&by_date, (Column::Date, true), 0, 10).expect("a page");
            let latest: Vec<_> = page.games.iter().map(|game| game.id).collect();
            assert_eq!(explorer.latest, latest, "{line:?}");
            let found: BTreeMap<u16, ResultCounts> =
                explorer.moves.iter().map(|entry| (entry.mv, entry.counts)).collect();
            let expected: BTreeMap<u16, ResultCounts> = expected
                .into_iter()
                .map(|(mv, found)| (mv, counts(found.iter().map(|index| &games[*index]))))
                .collect();
            assert_eq!(found, expected, "{line:?}");
            assert!(
                explorer.moves.is_sorted_by_key(|entry| std::cmp::Reverse(entry.counts.total()))
            );
        }
    }
}

#[test]
fn the_explorer_computes_ratings() {
    let dir = TempDir::new().expect("a directory");
    let library =
        Library::open_with(&dir.path().join("library.sqlite"), indexer, 1 << 12).expect("it opens");
    let mut random = Random(5);
    let mut new = |ratings, result, date: &str| {
        let mut it = game(&mut random);
        (it.summary.ratings, it.summary.result) = (ratings, result);
        it.summary.date = Date::parse(date);
        it
    };
    let games = vec![
        new([2000, 2200], GameResult::Win(Side::First), "2020.01.01"),
        new([2100, 2400], GameResult::Draw, "2021.02.03"),
        new([0, 2300], GameResult::Win(Side::Second), ""),
        new([2300, 0], GameResult::Unknown, "2019"),
    ];
    library.add(games).expect("they are added");
    let [mv] =
        library.explore(keys(&[])[0], Side::First, &Condition::default()).expect("explored").moves
            [..]
    else {
        panic!("all games begin with the same move");
    };
    assert_eq!((mv.counts.total(), mv.game), (4, 4));
    assert_eq!(mv.rating, Some((2000.0 + 2100.0 + 2300.0) / 3.0));
    assert_eq!(mv.performance, Some((2200.0 + 2400.0 + 2300.0) / 3.0));
    assert_eq!(mv.last_played.to_string(), "2021.02.03");
}

#[test]
fn filters_and_columns_agree_with_a_scan() {
    let (_dir, library, games) = library(1500);
    let total = |filter: Condition| {
        library.search(&filter, (Column::Added, true), 0, 10).expect("a page").total
    };
    let count =
        |matches: &dyn Fn(&NewGame) -> bool| games.iter().filter(|game| matches(game)).count();
    let player = |name: &str, opponent: &str, color| {
        let [name, opponent] = [name, opponent].map(TextPattern::new);
        Condition::Player(PlayerCondition { name, opponent, color, ..Default::default() })
    };
    // All parts of a text are found, in any order and case.
    let is_of = |name: &str, number: char| name.starts_with("Player ") && name.contains(number);
    assert_eq!(
        total(player("7 PLAYER", "", None)),
        count(&|game| game.players.iter().any(|player| is_of(player, '7')))
    );
    assert_eq!(
        total(player("player 1", "", Some(PlayerColor::Side(Side::Second)))),
        count(&|game| is_of(&game.players[1], '1'))
    );
    assert_eq!(
        total(player("player 1", "player 2", None)),
        count(&|game| {
            let side =
                |at: usize| is_of(&game.players[at], '1') && is_of(&game.players[1 - at], '2');
            side(0) || side(1)
        })
    );
    assert_eq!(
        total(Condition::all(vec![
            Condition::Opening(TextPattern::new("opening 13")),
            Condition::Tag(Tag::Event, TextPattern::new("event 2")),
        ])),
        count(&|game| game.opening.as_ref().is_some_and(|(_, name)| name == "Opening 13")
            && game.event == "Event 2")
    );
    assert_eq!(
        total(Condition::Plies(NumberRange { min: 10, max: 20 })),
        count(&|game| (10..=20).contains(&game.summary.plies))
    );
    for (column, key) in [
        (Column::Plies, (|game| game.summary.plies.into()) as fn(&NewGame) -> u32),
        (Column::Rating, |game| {
            u32::from(game.summary.ratings[0]) + u32::from(game.summary.ratings[1])
        }),
    ] {
        for descending in [false, true] {
            let mut expected: Vec<u32> = games.iter().map(key).collect();
            expected.sort_unstable();
            if descending {
                expected.reverse();
            }
            let mut found = Vec::new();
            for offset in [0, 40, 80, 1490] {
                let page = library
                    .search(&Condition::default(), (column, descending), offset, 40)
                    .expect("a page");
                let ids = page.games.iter().map(|game| game.id as usize - 1);
                found.extend(ids.map(|index| key(&games[index])));
            }
            let pages = expected[..120].iter().chain(&expected[1490..]);
            assert!(found.iter().eq(pages), "{column:?}");
        }
    }
    let by_name =
        library.search(&Condition::default(), (Column::First, false), 0, 1500).expect("a page");
    assert!(by_name.games.is_sorted_by_key(|game| game.players[0].to_lowercase()));
}

#[test]
fn pages_follow_the_order_of_names() {
    let dir = TempDir::new().expect("a directory");
    let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
    let mut random = Random(6);
    let games: Vec<_> = (0..5000)
        .map(|_| {
            let mut it = game(&mut random);
            let name = random.below(4000);
            it.players[0] = if name < 40 { String::new() } else { format!("Name {name:04}") };
            it.postings.clear();
            it
        })
        .collect();
    library.add(games.clone()).expect("they are added");
    let filters: [(Condition, Matches); 2] = [
        (Condition::default(), |_| true),
        // Few names.
        (Condition::Plies(NumberRange { min: 10, max: 11 }), |game| {
            (10..=11).contains(&game.summary.plies)
        }),
    ];
    for (filter, matches) in filters {
        let found = (1..).zip(&games).filter(|(_, game)| matches(game));
        let mut expected: Vec<_> = found.map(|(id, game)| (game.players[0].clone(), id)).collect();
        for descending in [false, true] {
            // The latest game of a name is first in both directions.
            expected.sort_by(|a, b| {
                let names = a.0.cmp(&b.0);
                if descending { names.reverse() } else { names }.then(b.1.cmp(&a.1))
            });
            for offset in [0, 7, expected.len() / 2, expected.len() - 5, expected.len() + 1] {
                let page = library.search(&filter, (Column::First, descending), offset, 20);
                let page = page.expect("a page");
                let ids: Vec<u32> = page.games.iter().map(|game| game.id).collect();
                let wanted: Vec<u32> =
                    expected.iter().skip(offset).take(20).map(|entry| entry.1).collect();
                assert_eq!((ids, page.total), (wanted, expected.len()), "{offset}, {descending}");
            }
        }
    }
}

#[test]
fn preloading_runs_concurrently_with_searches_and_ends_with_the_library() {
    let (dir, library, games) = library(200);
    library.preload();
    let all = library.search(&Condition::default(), (Column::First, false), 0, 10);
    assert_eq!(all.expect("a page").total, games.len());
    drop(library);
    let again = Library::open(&dir.path().join("library.sqlite")).expect("no other connection");
    again.preload();
}
