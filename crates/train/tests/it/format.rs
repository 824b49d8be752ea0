//! Files: round trips, and detection of damage.

use std::fs;

use narikin_train::data::{DataError, End, GameReader, Header, MAX_PLIES, Ply, Record, Writer};
use narikin_train::games::GameKind;
use proptest::collection::vec;
use proptest::prelude::*;
use readyok_rules::Side;

use crate::{bytes, header, read, records};

fn record() -> impl Strategy<Value = Record> {
    let winner = prop_oneof![Just(Some(Side::First)), Just(None), Just(Some(Side::Second))];
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
    let numbers = any::<(u64, u32, [u8; 4])>();
    (game, numbers, name).prop_map(|(game, (seed, nodes, bytes), name)| {
        let [random_plies, extra_plies, chess960, syzygy] = bytes;
        let engine = Header::name(&name);
        Header { game, seed, nodes, random_plies, extra_plies, chess960, syzygy, engine }
    })
}

proptest! {
    #[test]
    fn files_survive_a_round_trip(header in any_header(), games in vec(record(), 0..6)) {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("games");
        let mut writer = Writer::open(&path, &header, |_| ()).expect("a new file");
        for game in &games {
            writer.append(game.clone()).expect("free disk space");
        }
        writer.finish().expect("free disk space");
        let reader = GameReader::open(&path).expect("a file of games");
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
            writer.append(game.clone()).expect("free disk space");
        }
        writer.finish().expect("free disk space");
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
    Record { start: 518, opening: vec![1, 2], plies, winner: None, end: End::Rule }
}

/// More than two groups.
const MANY: u16 = 150;

#[test]
fn reads_the_complete_groups_of_a_truncated_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    let mut writer = Writer::open(&path, &header, |_| ()).expect("a new file");
    let first = bytes(&path).len();
    for mv in 0..MANY {
        writer.append(short_game(mv)).expect("free disk space");
    }
    writer.finish().expect("free disk space");
    let whole = bytes(&path);
    let mut counts = Vec::new();
    for length in (first..whole.len()).step_by(17).chain([whole.len()]) {
        fs::write(&path, &whole[..length]).expect("free disk space");
        let complete = records(&path).len();
        counts.push(complete);
        let mut received = 0;
        let mut writer = Writer::open(&path, &header, |_| received += 1).expect("a valid file");
        assert_eq!(received, complete);
        for mv in (0..MANY).skip(complete) {
            writer.append(short_game(mv)).expect("free disk space");
        }
        writer.finish().expect("free disk space");
        assert_eq!(bytes(&path), whole, "{length}");
    }
    counts.dedup();
    assert_eq!(counts, [0, 64, 128, 150]);
}

#[test]
fn damage_in_the_middle_is_an_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    let mut writer = Writer::open(&path, &header, |_| ()).expect("a new file");
    let first = bytes(&path).len();
    for mv in 0..MANY {
        writer.append(short_game(mv)).expect("free disk space");
    }
    writer.finish().expect("free disk space");
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

fn block(content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).expect("a short block");
    [&length.to_le_bytes(), &crc32fast::hash(content).to_le_bytes(), content].concat()
}

#[test]
fn reads_but_does_not_write_version_1() {
    let mut content = block(b"narigame\x01\0\x01\x0a\0\x2c\x01\0\0\x07\0\0\0\0\0\0\0\x07Narikin");
    content.extend(block(b"\0\0\x02\x01\x01\x34\x12\x01\x80\xfd\xff\x05\0\x04\0"));
    content.extend(block(b"\0\0\x00\x00\0"));
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    fs::write(&path, content).expect("free disk space");
    let header = Header {
        game: GameKind::Shogi,
        seed: 7,
        nodes: 300,
        random_plies: 10,
        extra_plies: 1,
        chess960: 0,
        syzygy: 0,
        engine: "Narikin".to_owned(),
    };
    assert_eq!(GameReader::open(&path).expect("a file of games").header(), &header);
    let games = records(&path);
    let plies = vec![Ply { mv: 0x8001, score: -3 }, Ply { mv: 5, score: 4 }];
    let (winner, end) = (Some(Side::First), End::Rule);
    assert_eq!(games[0], Record { start: 0, opening: vec![0x1234], plies, winner, end });
    assert_eq!((games.len(), games[1].winner), (2, Some(Side::Second)));
    let error = Writer::open(&path, &header, |_| ()).expect_err("an old version");
    assert!(error.to_string().ends_with("another version of the format"), "{error}");
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
    assert!(writer.append(endless).is_err());
    assert_eq!(bytes(&path), before);
}
