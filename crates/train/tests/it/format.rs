//! Files: what is written is read again, and no damage is taken for a game.

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
    fn what_is_written_is_read_again(header in any_header(), games in vec(record(), 0..6)) {
        let directory = tempfile::tempdir().expect("a folder");
        let path = directory.path().join("games");
        let mut writer = Writer::open(&path, &header, |_| ()).expect("a new file");
        for game in &games {
            writer.append(game).expect("room");
        }
        drop(writer);
        let reader = Reader::open(&path).expect("a file of games");
        prop_assert_eq!(reader.header(), &header);
        prop_assert_eq!(&records(&path), &games);
    }

    #[test]
    fn damage_is_never_taken_for_a_game(
        games in vec(record(), 1..5),
        place in any::<prop::sample::Index>(),
        bits in 1_u8..,
    ) {
        let directory = tempfile::tempdir().expect("a folder");
        let path = directory.path().join("games");
        let mut writer = Writer::open(&path, &header(GameKind::Chess), |_| ()).expect("a new file");
        for game in &games {
            writer.append(game).expect("room");
        }
        drop(writer);
        let mut damaged = bytes(&path);
        let place = place.index(damaged.len());
        damaged[place] ^= bits;
        fs::write(&path, damaged).expect("room");
        if let Ok((found, _)) = read(&path) {
            prop_assert!(found.len() < games.len());
            prop_assert_eq!(&found[..], &games[..found.len()]);
        }
    }

    #[test]
    fn any_bytes_are_read_to_some_end(noise in vec(any::<u8>(), 0..300)) {
        let directory = tempfile::tempdir().expect("a folder");
        let path = directory.path().join("games");
        drop(Writer::open(&path, &header(GameKind::Shogi), |_| ()).expect("a new file"));
        let mut content = bytes(&path);
        content.extend(&noise);
        fs::write(&path, &content).expect("room");
        prop_assert!(read(&path).is_ok());
        fs::write(&path, &noise).expect("room");
        prop_assert!(read(&path).is_err());
    }
}

fn short_game(mv: u16) -> Record {
    let plies = vec![Ply { mv, score: -3 }, Ply { mv: 5, score: 4 }];
    Record { start: 518, opening: vec![1, 2], plies, winner: Winner::None, end: End::Rule }
}

#[test]
fn a_file_that_breaks_off_has_the_games_before() {
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    let mut ends = Vec::new();
    let mut writer = Writer::open(&path, &header, |_| ()).expect("a new file");
    ends.push(bytes(&path).len());
    for mv in 0..3 {
        writer.append(&short_game(mv)).expect("room");
        ends.push(bytes(&path).len());
    }
    drop(writer);
    let whole = bytes(&path);
    for length in ends[0]..=whole.len() {
        fs::write(&path, &whole[..length]).expect("room");
        let complete = ends.iter().filter(|&&end| end <= length).count() - 1;
        assert_eq!(records(&path).len(), complete, "{length}");
        let mut received = 0;
        let mut writer =
            Writer::open(&path, &header, |_| received += 1).expect("a file to go on with");
        assert_eq!(received, complete);
        for mv in (0..3).skip(complete) {
            writer.append(&short_game(mv)).expect("room");
        }
        assert_eq!(bytes(&path), whole, "{length}");
    }
}

#[test]
fn damage_in_the_middle_is_not_cut_off() {
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    let mut writer = Writer::open(&path, &header, |_| ()).expect("a new file");
    let first = bytes(&path).len();
    for mv in 0..3 {
        writer.append(&short_game(mv)).expect("room");
    }
    drop(writer);
    let mut content = bytes(&path);
    content[first + 10] ^= 1;
    fs::write(&path, &content).expect("room");
    let error = Writer::open(&path, &header, |_| ()).expect_err("damage");
    assert!(
        matches!(error, DataError::Damaged { offset, .. } if offset == first as u64),
        "{error}"
    );
    assert_eq!(bytes(&path), content);
}

#[test]
fn two_programs_do_not_write_one_file() {
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    let writer = Writer::open(&path, &header, |_| ()).expect("a new file");
    let error = Writer::open(&path, &header, |_| ()).expect_err("another writer");
    assert!(matches!(error, DataError::Locked(_)), "{error}");
    drop(writer);
    assert!(Writer::open(&path, &header, |_| ()).is_ok());
}

#[test]
fn a_file_goes_on_only_as_it_began() {
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    drop(Writer::open(&path, &header, |_| ()).expect("a new file"));
    let other = Header { nodes: header.nodes + 1, ..header };
    let error = Writer::open(&path, &other, |_| ()).expect_err("other settings");
    assert!(error.to_string().ends_with("was begun with another number of nodes"), "{error}");
}

#[test]
fn a_game_that_is_too_long_is_rejected_and_leaves_no_trace() {
    let directory = tempfile::tempdir().expect("a folder");
    let path = directory.path().join("games");
    let mut writer = Writer::open(&path, &header(GameKind::Chess), |_| ()).expect("a new file");
    let before = bytes(&path);
    let endless = Record { plies: vec![Ply { mv: 1, score: 0 }; MAX_PLIES + 1], ..short_game(1) };
    assert!(writer.append(&endless).is_err());
    assert_eq!(bytes(&path), before);
}
