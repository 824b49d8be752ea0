//! Tests of training.
#![expect(clippy::expect_used, reason = "a test that cannot continue has failed")]

mod format;
mod games;
mod generate;
mod nnue;
mod program;
mod samples;

use std::fs;
use std::path::Path;

use narikin_train::data::{DataError, GameReader, Header, Record};
use narikin_train::games::GameKind;
use narikin_train::generate::{Progress, Until, run};

/// Settings for fast games.
fn header(game: GameKind) -> Header {
    Header {
        game,
        seed: 7,
        nodes: 40,
        random_plies: 4,
        extra_plies: 1,
        syzygy: 0,
        chess960: 50,
        engine: "Narikin of the tests".to_owned(),
    }
}

fn play(path: &Path, game: GameKind, games: u64, threads: usize) -> Progress {
    run(path, &header(game), Until::Games(games), threads, None, |_| ()).expect("games")
}

/// The readable games of a file, and the error after them.
fn read(path: &Path) -> Result<(Vec<Record>, Option<DataError>), DataError> {
    let mut games = Vec::new();
    for game in GameReader::open(path)? {
        match game {
            Ok(game) => games.push(game),
            Err(error) => return Ok((games, Some(error))),
        }
    }
    Ok((games, None))
}

/// The games of a valid file.
fn records(path: &Path) -> Vec<Record> {
    let (games, wrong) = read(path).expect("a file of games");
    assert!(wrong.is_none(), "{wrong:?}");
    games
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).expect("a file")
}
