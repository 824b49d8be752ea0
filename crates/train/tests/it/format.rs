//! Files: round trips, and detection of damage.

use std::fs;

use narikin_train::data::{DataError, End, Header, MAX_PLIES, Ply, Reader, Record, Winner, Writer};
use narikin_train::games::GameKind;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{bytes, header, read, records};

fn record() -> impl Strategy<Value = Record> {
    let winner = prop_oneof![Just(Winner::First), Just(Winner::None), Just(Winner::Second)];
    let end = prop_oneof![Just(End::Board), Just(End::Rule), Just(End::Scores), Just(End::Length)];
    let ply = any::<(u16, i16)>().prop_map(|(mv, score)| Ply { mv, score });
    let moves = (vec(any::<u16>(), 0..12), vec(ply, 0..40));
    (any::<u16>(), moves, winner, end).prop_map(|(start, (opening, plies), winner, end)| Record {
        start,
        opening,
        plies,
        winner,
        end,
    })
}

fn any_header() -> impl Strategy<Value = Header> {
    let game = prop_oneof![Just(GameKind::Chess), Just(GameKind::Shogi)];
    let name = "\\PC{0,80}";
    let numbers = any::<(u64, u32, u8, u8)>();
    (game, numbers, name).prop_map(|(game, (seed, nodes, random_plies, chess960), name)| Header {
        game,
        seed,
        nodes,
        random_plies,
        chess960,
        engine: Header::name(&name),
    })
}

proptest! {
    #[test]
    fn files_survive_a_round_trip(header in any_header(), games in vec(record(), 0..6)) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("games");
        let mut writer = Writer::open(&path, &header, |_| ()).expect("a new file");
        for game in &games {
            writer.append(game).expect("free disk space");
        }
        drop(writer);
        let reader = Reader::open(&path).expect("a file of games");
        prop_assert_eq!(reader.header(), &header);
        prop_assert_eq!(&records(&path), &games);
    }

    #[test]
    fn damage_is_never_read_as_a_game(
        games in vec(record(), 1..5),
        place in any::<prop::sample::Index>(),
        bits in 1_u8..,
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("games");
        let mut writer = Writer::open(&path, &header(GameKind::Chess), |_| ()).expect("a new file");
        for game in &games {
            writer.append(game).expect("free disk space");
        }
        drop(writer);
        let mut damaged = bytes(&path);
        let place = place.index(damaged.len());
        damaged[place] ^= bits;
        fs::write(&path, damaged).expect("free disk space");
        if let Ok((found, _)) = read(&path) {
            prop_assert!(found.len() < games.len());
            prop_assert_eq!(&found[..], &games[..found.len()]);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(noise in vec(any::<u8>(), 0..300)) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("games");
        drop(Writer::open(&path, &header(GameKind::Shogi), |_| ()).expect("a new file"));
        let mut content = bytes(&path);
        content.extend(&noise);
        fs::write(&path, &content).expect("free disk space");
        prop_assert!(read(&path).is_ok());
        fs::write(&path, &noise).expect("free disk space");
        prop_assert!(read(&path).is_err());
    }
}

fn short_game(mv: u16) -> Record {
    let plies = vec![Ply { mv, score: -3 }, Ply { mv: 5, score: 4 }];
    Record { start: 518, opening: vec![1, 2], plies, winner: Winner::None, end: End::Rule }
}

#[test]
fn reads_the_complete_games_of_a_truncated_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    let mut ends = Vec::new();
    let mut writer = Writer::open(&path, &header, |_| ()).expect("a new file");
    ends.push(bytes(&path).len());
    for mv in 0..3 {
        writer.append(&short_game(mv)).expect("free disk space");
        ends.push(bytes(&path).len());
    }
    drop(writer);
    let whole = bytes(&path);
    for length in ends[0]..=whole.len() {
        fs::write(&path, &whole[..length]).expect("free disk space");
        let complete = ends.iter().filter(|&&end| end <= length).count() - 1;
        assert_eq!(records(&path).len(), complete, "{length}");
        let mut received = 0;
        let mut writer = Writer::open(&path, &header, |_| received += 1).expect("a valid file");
        assert_eq!(received, complete);
        for mv in (0..3).skip(complete) {
            writer.append(&short_game(mv)).expect("free disk space");
        }
        assert_eq!(bytes(&path), whole, "{length}");
    }
}

#[test]
fn damage_in_the_middle_is_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    let mut writer = Writer::open(&path, &header, |_| ()).expect("a new file");
    let first = bytes(&path).len();
    for mv in 0..3 {
        writer.append(&short_game(mv)).expect("free disk space");
    }
    drop(writer);
    let mut content = bytes(&path);
    content[first + 10] ^= 1;
    fs::write(&path, &content).expect("free disk space");
    let error = Writer::open(&path, &header, |_| ()).expect_err("damage");
    assert!(
        matches!(error, DataError::Damaged { offset, .. } if offset == first as u64),
        "{error}"
    );
    assert_eq!(bytes(&path), content);
}

#[test]
fn locks_the_file_against_other_writers() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    let writer = Writer::open(&path, &header, |_| ()).expect("a new file");
    let error = Writer::open(&path, &header, |_| ()).expect_err("another writer");
    assert!(matches!(error, DataError::Locked(_)), "{error}");
    drop(writer);
    assert!(Writer::open(&path, &header, |_| ()).is_ok());
}

#[test]
fn rejects_other_settings_for_an_existing_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    drop(Writer::open(&path, &header, |_| ()).expect("a new file"));
    let other = Header { nodes: header.nodes + 1, ..header };
    let error = Writer::open(&path, &other, |_| ()).expect_err("other settings");
    assert!(error.to_string().ends_with("was begun with another number of nodes"), "{error}");
}

#[test]
fn rejects_a_game_that_is_too_long() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    let mut writer = Writer::open(&path, &header(GameKind::Chess), |_| ()).expect("a new file");
    let before = bytes(&path);
    let endless = Record { plies: vec![Ply { mv: 1, score: 0 }; MAX_PLIES + 1], ..short_game(1) };
    assert!(writer.append(&endless).is_err());
    assert_eq!(bytes(&path), before);
}
