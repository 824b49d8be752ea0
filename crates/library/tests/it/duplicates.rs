//! Duplicates and labels.

use readyok_library::{
    Column, Date, Decision, DuplicateGroup, Duplicates, ImportOptions, Imported, Library, NewGame,
    Outcome,
};
use readyok_rules::record::{Condition, Format, Source, read};
use tempfile::TempDir;

use crate::generate::{Random, game, indexer, reaches};

/// Makes a file of version 6 one of version 5.
pub(crate) const WITHOUT_ONLINE_GAMES: &str =
    "DROP INDEX game_by_online; ALTER TABLE game DROP COLUMN online;";

fn open(dir: &TempDir) -> Library {
    Library::open_with(&dir.path().join("library.sqlite"), indexer, 1 << 12).expect("it opens")
}

fn long_game(seed: u64) -> NewGame {
    let mut random = Random(seed);
    loop {
        let game = game(&mut random);
        if game.summary.plies >= 20 {
            return game;
        }
    }
}

fn add(library: &Library, duplicates: Duplicates, games: Vec<NewGame>) -> Imported {
    let mut importer = library.importer(ImportOptions { duplicates, ..Default::default() });
    for game in games {
        importer.add_game(game).expect("added");
    }
    importer.finish().expect("added")
}

#[test]
fn imports_skip_duplicates() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let mut first = long_game(1);
    first.players[0] = "Carlsen, Magnus".to_owned();
    let mut same = first.clone();
    same.players[0] = "CARLSEN,M.".to_owned();
    same.summary.date = Date::parse("2020");
    let mut other_player = first.clone();
    other_player.players[1] = "Other player".to_owned();
    let mut other_moves = first.clone();
    other_moves.moves[0] ^= 1;
    let import = |duplicates, games| {
        let imported = add(&library, duplicates, games);
        (imported.added, imported.duplicates, imported.known)
    };
    let imported = import(Duplicates::Skip, vec![first.clone(), same.clone(), other_player]);
    assert_eq!(imported, (vec![1..3], 1, vec![(2, 1)]));
    let imported = import(Duplicates::Skip, vec![same.clone(), other_moves, first.clone()]);
    assert_eq!(imported, (vec![3..4], 2, vec![(1, 1), (3, 1)]));
    assert_eq!(import(Duplicates::Keep, vec![same.clone()]), (vec![4..5], 0, vec![]));
    let group = DuplicateGroup { kept: 1, others: vec![4], prefixes: vec![] };
    assert_eq!(library.duplicates().expect("found"), [group]);
    same.summary.date = Date::parse("2021.01.01");
    let mut dated = first;
    dated.summary.date = Date::parse("2020.01.01");
    library.delete(vec![1, 4]).expect("deleted");
    let imported = import(Duplicates::Skip, vec![same, dated]);
    assert_eq!(imported, (vec![5..7], 0, vec![]), "dates contradict each other");
}

#[test]
fn annotated_duplicates_replace_known_games() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let plain = long_game(1);
    let annotated = NewGame { annotations: vec![4, 1, 1, 1], ..plain.clone() };
    let imported = add(&library, Duplicates::Replace, vec![plain.clone(), annotated.clone()]);
    assert_eq!((imported.added_count(), imported.replaced, imported.duplicates), (1, 1, 0));
    let imported = add(&library, Duplicates::Replace, vec![plain]);
    assert_eq!((imported.added_count(), imported.replaced, imported.duplicates), (0, 0, 1));
    let stored = library.game(1).expect("read").expect("a game");
    assert_eq!((&stored.annotations, stored.revision), (&annotated.annotations, 1));
}

/// An import does not replace what it does not have: changes of an open game, clocks and players of the app, notes of
/// engines.
#[test]
fn games_that_would_lose_something_wait_for_a_decision() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let plain = long_game(1);
    let annotated = NewGame { annotations: vec![4, 1, 1, 1], ..plain.clone() };
    let played = NewGame { play: Some("{}".to_owned()), ..long_game(2) };
    let noted = NewGame { layer: vec![9, 0], ..long_game(3) };
    library.add(vec![plain, played.clone(), noted.clone()]).expect("added");
    library.set_open(1, true);
    let with_annotations = |game: &NewGame| {
        let (annotations, layer, play) = (vec![4, 1, 1, 1], Vec::new(), None);
        NewGame { annotations, layer, play, ..game.clone() }
    };
    let games = vec![annotated.clone(), with_annotations(&played), with_annotations(&noted)];
    let imported = add(&library, Duplicates::Replace, games);
    assert_eq!((imported.replaced, imported.undecided, imported.added_count()), (0, 3, 0));
    assert_eq!(library.game(1).expect("read").expect("a game").annotations, [0; 0]);
    // The open game is not replaced by a decision either.
    let decided = library.decide(None, Decision::Replace).expect("decided");
    assert_eq!((decided.decided, decided.open), (2, 1));
    assert_eq!(library.undecided(9).expect("read").total, 1);
    library.set_open(1, false);
    assert_eq!(library.decide(None, Decision::Replace).expect("decided").decided, 1);
    let stored = library.game(1).expect("read").expect("a game");
    assert_eq!(stored.annotations, annotated.annotations);
}

/// Of duplicates, the game with most annotations is never left out.
#[test]
fn imports_do_not_skip_games_with_more_annotations() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let plain = long_game(1);
    let annotated = NewGame { annotations: vec![4, 1, 1, 1], ..plain.clone() };
    let all = || vec![plain.clone(), annotated.clone(), plain.clone(), annotated.clone()];
    let imported = add(&library, Duplicates::Skip, all());
    assert_eq!((imported.added, imported.duplicates), (vec![1..3], 2));
    // Repeated imports add nothing.
    let imported = add(&library, Duplicates::Skip, all());
    assert_eq!((imported.added, imported.duplicates), (vec![], 4));
}

/// Games that a PGN file adds to an empty library, and duplicates.
fn imported(pgn: &str) -> (u64, u64) {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let imported = library
        .import(pgn.as_bytes(), ImportOptions::default(), |_| std::ops::ControlFlow::Continue(()));
    let imported = imported.expect("imported");
    assert_eq!((imported.failed, imported.noticed), (0, 0));
    (imported.added_count(), imported.duplicates)
}

const LINE: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 \
                    Na5 10. Bc2 c5 11. d4";

/// Two chapters of a study have the same main line, and one has a variation.
#[test]
fn chapters_of_a_study_are_different_games() {
    let chapter = |headers: &str, end: &str| format!("{headers}\n\n{LINE} {end} *\n\n");
    let varied = "( 11. d3 Re8 ) 11... Qc7";
    for [first, second] in [
        [
            "[Event \"Endings: chapter 1\"]\n[Site \"https://example.org/study/1\"]\n[White \"?\"]\n[Black \"?\"]",
            "[Event \"Endings: chapter 2\"]\n[Site \"https://example.org/study/2\"]\n[White \"?\"]\n[Black \"?\"]",
        ],
        [
            "[Event \"Study\"]\n[White \"A\"]\n[Black \"B\"]\n[ChapterName \"1\"]",
            "[Event \"Study\"]\n[White \"A\"]\n[Black \"B\"]\n[ChapterName \"2\"]",
        ],
    ] {
        let [plain, other] = [chapter(first, "Qc7"), chapter(second, varied)];
        assert_eq!(imported(&format!("{plain}{other}")), (2, 0));
        assert_eq!(imported(&format!("{other}{plain}")), (2, 0));
        assert_eq!(imported(&format!("{other}{plain}{other}{plain}")), (2, 2));
    }
}

#[test]
fn unknown_players_are_equal_only_at_one_event_and_site() {
    let game = |event: &str, site: &str, white: &str| {
        format!(
            "[Event \"{event}\"]\n[Site \"{site}\"]\n[White \"{white}\"]\n[Black \"Caruana\"]\n\n{LINE} *\n\n"
        )
    };
    for (first, second, duplicates) in [
        (("?", "?", "?"), ("?", "?", "? 3"), 0),
        (("Open", "?", "? 1"), ("Open", "?", "? 2"), 0),
        // Equal in everything, as when a file is imported again.
        (("?", "?", "?"), ("?", "?", "?"), 1),
        (("?", "Oslo", "? 3"), ("?", "Oslo", "N.N."), 0),
        (("Open", "Oslo", "?"), ("Open", "oslo", "Carlsen"), 1),
        (("Open", "Oslo", "?"), ("Club", "Oslo", "Carlsen"), 0),
        (("Open", "Oslo", "Anand"), ("Open", "Oslo", "Carlsen"), 0),
        (("Open", "Oslo", "Carlsen"), ("?", "?", "Carlsen, M"), 1),
        (("?", "https://example.org/1", "?"), ("?", "https://example.org/2", "?"), 0),
        (("Live", "https://example.org/1", "?"), ("Live", "https://example.org/1", "?"), 1),
    ] {
        let (a, b) = (game(first.0, first.1, first.2), game(second.0, second.1, second.2));
        assert_eq!(imported(&format!("{a}{b}")), (2 - duplicates, duplicates), "{a}{b}");
    }
}

#[test]
fn short_games_are_duplicates_only_of_the_same_event() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let mut short = long_game(2);
    short.summary.plies = 8;
    let mut other = short.clone();
    other.event = "Other event".to_owned();
    let imported = add(&library, Duplicates::Skip, vec![short.clone(), other, short]);
    assert_eq!((imported.added_count(), imported.duplicates), (2, 1));
}

#[test]
fn labels_are_set_searched_and_removed() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    library.add((1..=5).map(long_game).collect()).expect("added");
    library.set_label(vec![2, 4, 99], "to study".to_owned(), true).expect("set");
    library.set_label(vec![4], "won".to_owned(), true).expect("set");
    let counts = vec![("to study".to_owned(), 2), ("won".to_owned(), 1)];
    assert_eq!(library.labels().expect("read"), counts);
    let filter = Condition::Label("to study".to_owned());
    let page = library.search(&filter, (Column::Added, true), 0, 10).expect("a page");
    let found: Vec<_> = page.games.iter().map(|game| (game.id, game.labels.len())).collect();
    assert_eq!(found, [(4, 2), (2, 1)]);
    library.set_label(vec![4], "to study".to_owned(), false).expect("removed");
    library.delete(vec![2]).expect("deleted");
    assert_eq!(library.labels().expect("read"), [("won".to_owned(), 1)]);
}

/// All visible games.
fn games(library: &Library) -> Vec<u32> {
    let all = library.find_all(&Condition::default()).expect("found");
    assert_eq!(library.find_all(&reaches(&[])).expect("found"), all, "all are in the index");
    all
}

#[test]
fn undecided_duplicates_are_invisible_until_the_decision() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let all: Vec<NewGame> = (1..=4).map(long_game).collect();
    add(&library, Duplicates::Skip, all[..3].to_vec());
    let annotated = |game: &NewGame| NewGame { annotations: vec![4, 1, 1, 1], ..game.clone() };
    let imported = add(&library, Duplicates::Ask, all.iter().map(annotated).collect());
    assert_eq!((imported.added_count(), imported.undecided, imported.duplicates), (1, 3, 0));
    assert_eq!(imported.known, [(1, 1), (2, 2), (3, 3)]);
    // They survive a restart.
    drop(library);
    let library = open(&dir);
    assert_eq!(games(&library), [1, 2, 3, 7]);
    assert_eq!(library.game(4).expect("read"), None);
    let undecided = library.undecided(2).expect("read");
    let pairs: Vec<_> = undecided
        .games
        .iter()
        .map(|(new, known)| (new.id, known.as_ref().map(|summary| summary.id), new.players.clone()))
        .collect();
    let expected = [(4, Some(1), all[0].players.clone()), (5, Some(2), all[1].players.clone())];
    assert_eq!((pairs, undecided.total), (expected.to_vec(), 3));
    assert_eq!(library.decide(Some(vec![4, 99]), Decision::Keep).expect("decided").decided, 1);
    assert_eq!(games(&library), [1, 2, 3, 4, 7]);
    assert_eq!(library.decide(Some(vec![5]), Decision::Replace).expect("decided").decided, 1);
    let replaced = library.game(2).expect("read").expect("a game");
    assert_eq!(replaced.annotations, [4, 1, 1, 1]);
    // The known game can be gone.
    library.delete(vec![3]).expect("deleted");
    assert_eq!(library.decide(None, Decision::Replace).expect("decided").decided, 1);
    assert_eq!(games(&library), [1, 2, 4, 6, 7]);
    assert_eq!(library.undecided(9).expect("read").total, 0);
    let imported = add(&library, Duplicates::Ask, vec![all[3].clone()]);
    assert_eq!(imported.undecided, 1);
    assert_eq!(library.decide(None, Decision::Skip).expect("decided").decided, 1);
    drop(library);
    assert_eq!(games(&open(&dir)), [1, 2, 4, 6, 7]);
}

#[test]
fn a_repeated_batch_is_added_once() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let batch: Vec<NewGame> = (1..=3).map(long_game).collect();
    let add = |library: &Library, number, games: &[NewGame]| {
        library.add_once(("job 1", number), games.to_vec(), Duplicates::Keep).expect("added")
    };
    let first = add(&library, 0, &batch);
    assert_eq!(first, [1, 2, 3].map(Outcome::Added));
    drop(library);
    let library = open(&dir);
    assert_eq!(add(&library, 0, &batch), first);
    assert_eq!(games(&library), [1, 2, 3]);
    // The next batch, another content, and another source.
    assert_eq!(add(&library, 1, &batch), [4, 5, 6].map(Outcome::Added));
    assert_eq!(add(&library, 1, &batch[1..]), [7, 8].map(Outcome::Added));
    let other = library.add_once(("job 2", 1), batch[1..].to_vec(), Duplicates::Keep);
    assert_eq!(other.expect("added"), [9, 10].map(Outcome::Added));
    let receipts = library.receipts().expect("read");
    let known: Vec<_> =
        receipts.iter().map(|receipt| (&receipt.source[..], receipt.batch)).collect();
    assert_eq!(known, [("job 1", 1), ("job 2", 1)]);
    library.forget_receipt("job 1").expect("forgotten");
    assert_eq!(library.receipts().expect("read").len(), 1);
}

#[test]
fn a_repeated_batch_replaces_games_with_fewer_annotations() {
    let dir = TempDir::new().expect("a directory");
    let library = open(&dir);
    let plain = long_game(1);
    add(&library, Duplicates::Keep, vec![plain.clone()]);
    let batch = vec![NewGame { annotations: vec![4, 1, 1, 1], ..plain }];
    let add = || library.add_once(("job", 0), batch.clone(), Duplicates::Replace).expect("added");
    assert_eq!(add(), [Outcome::Replaced(1)]);
    assert_eq!(add(), [Outcome::Duplicate(1)]);
    assert_eq!(games(&library), [1]);
}

/// A game with the headers of a server, and the moves of its record.
fn online(address: &str, moves: &str) -> NewGame {
    let pgn = format!("[Site \"{address}\"]\n[White \"a\"]\n[Black \"b\"]\n\n{moves} *\n");
    let record = read(pgn.as_bytes(), Some(Format::PGN)).next().expect("a game").expect("read");
    NewGame::from_record(&record, Source::Import, 0)
}

const LONG: &str = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 6. Ng1 Ng8 7. Nf3 Nf6";
const EDITED: &str = "1. Nf3 Nf6 2. g3 {better} *";

#[test]
fn a_game_with_the_address_of_an_edited_game_is_a_duplicate() {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("library.sqlite");
    let library = Library::open(&path).expect("it opens");
    let (first, second) = ("https://lichess.org/AbCdEfGh", "https://lichess.org/IjKlMnOp");
    let long = |address| online(address, &format!("{LONG} {{[%clk 0:01:00]}}"));
    add(&library, Duplicates::SkipOnline, vec![online(first, LONG)]);
    // The same moves of the same players with another address are another game, and more annotations count no more.
    let games = vec![long(second), long(first), long("https://lichess.org/IjKlMnOpBlak")];
    let imported = add(&library, Duplicates::SkipOnline, games);
    assert_eq!((imported.added_count(), &imported.known[..]), (1, &[(2, 1), (3, 2)][..]));
    library.replace(1, online(first, EDITED)).expect("replaced");
    let imported = add(&library, Duplicates::SkipOnline, vec![online(first, LONG)]);
    assert_eq!((imported.added_count(), imported.known), (0, vec![(1, 1)]));
    // Files can have several games with an address, such as positions of one.
    let imported = add(&library, Duplicates::Skip, vec![online(first, LONG)]);
    assert_eq!(imported.added_count(), 1);
    library.delete(vec![1, 3]).expect("deleted");
    let imported = add(&library, Duplicates::SkipOnline, vec![online(first, LONG)]);
    assert_eq!(imported.added_count(), 1, "a deleted game is no duplicate");
}

#[test]
fn online_games_of_a_file_of_version_5_are_known() {
    let dir = TempDir::new().expect("a directory");
    let path = dir.path().join("library.sqlite");
    let library = Library::open(&path).expect("it opens");
    let address = "https://www.chess.com/game/live/1";
    let site = format!("Chess.com\"]\n[Link \"{address}");
    add(&library, Duplicates::Keep, vec![online("?", LONG), online(&site, LONG)]);
    drop(library);
    let connection = rusqlite::Connection::open(&path).expect("it opens");
    connection.execute_batch(WITHOUT_ONLINE_GAMES).expect("changed");
    connection.pragma_update(None, "user_version", 5).expect("set");
    drop(connection);
    let library = Library::open(&path).expect("it opens");
    let imported = add(&library, Duplicates::SkipOnline, vec![online(&site, EDITED)]);
    assert_eq!((imported.added_count(), imported.known), (0, vec![(1, 2)]));
}

const LONG_LINE: &str = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O \
                    9. h3 Nb8 10. d4 Nbd7 11. c4 c6 12. Nc3 Bb7";

/// A game with the first moves of a line.
fn played(headers: &[(&str, &str)], tokens: usize, annotations: &str, result: &str) -> String {
    let mut all = vec![
        ("Event", "Open"),
        ("White", "Adams, M"),
        ("Black", "Bird, H"),
        ("Date", "2020.05.06"),
    ];
    for header in headers {
        match all.iter_mut().find(|known| known.0 == header.0) {
            Some(known) => known.1 = header.1,
            None => all.push(*header),
        }
    }
    all.push(("Result", result));
    let headers = all
        .iter()
        .fold(String::new(), |headers, (name, value)| headers + &format!("[{name} \"{value}\"]\n"));
    let moves: Vec<&str> = LONG_LINE.split(' ').take(tokens).collect();
    format!("{headers}\n{} {annotations} {result}\n\n", moves.join(" "))
}

fn groups_of(games: &[String]) -> Vec<DuplicateGroup> {
    let dir = TempDir::new().expect("a directory");
    let library = Library::open(&dir.path().join("library.sqlite")).expect("it opens");
    let options = ImportOptions { duplicates: Duplicates::Keep, ..Default::default() };
    let imported = library
        .import(games.concat().as_bytes(), options, |_| std::ops::ControlFlow::Continue(()))
        .expect("imported");
    assert_eq!(imported.added_count(), games.len() as u64);
    library.duplicates().expect("found")
}

/// A broadcast that was read before its end.
#[test]
fn the_beginning_of_a_game_is_a_duplicate() {
    let whole = played(&[], 36, "", "1-0");
    let begin = played(&[], 30, "", "*");
    let group = |kept, others: &[u32], prefixes: &[u32]| DuplicateGroup {
        kept,
        others: others.to_vec(),
        prefixes: prefixes.to_vec(),
    };
    assert_eq!(groups_of(&[begin.clone(), whole.clone()]), [group(2, &[1], &[1])]);
    // Several beginnings and an equal game form one group.
    let first = played(&[("White", "Adams")], 24, "", "*");
    let games = [whole.clone(), begin, whole.clone(), first];
    assert_eq!(groups_of(&games), [group(1, &[2, 3, 4], &[2, 4])]);
    // Comments count more than moves, and times count less.
    let commented = played(&[], 30, "{Bird was late.}", "*");
    assert_eq!(groups_of(&[whole.clone(), commented]), [group(2, &[1], &[2])]);
    let timed = played(&[], 30, "{[%clk 0:01:00]}", "*");
    assert_eq!(groups_of(&[timed, whole]), [group(2, &[1], &[1])]);
    for other in [
        // Another result, day, round, player, or only the opening.
        played(&[], 30, "", "0-1"),
        played(&[("Date", "2020.05.07")], 30, "", "*"),
        played(&[("Round", "2")], 30, "", "*"),
        played(&[("White", "Steinitz")], 30, "", "*"),
        played(&[], 9, "", "*"),
        // The same players begin several games alike.
        played(&[("Date", "2020")], 30, "", "*"),
    ] {
        let whole = played(&[("Round", "1")], 36, "", "1-0");
        assert_eq!(groups_of(&[whole, other.clone()]), [], "{other}");
    }
    // Unknown players at a known event and site.
    let unknown = |tokens, result| {
        played(&[("White", "?"), ("Black", "?"), ("Site", "Hastings")], tokens, "", result)
    };
    assert_eq!(groups_of(&[unknown(36, "1-0"), unknown(33, "*")]), [group(1, &[2], &[2])]);
}
