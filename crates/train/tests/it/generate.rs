//! Generation of games, which does not depend on interruptions and threads.

use std::fs;

use narikin_train::data::{End, Header};
use narikin_train::games::{GameKind, TrainGame};
use narikin_train::generate::{GenerateError, Until, run};

use crate::{bytes, header, play, records};

fn check_resuming(game: GameKind) {
    let directory = tempfile::tempdir().expect("a directory");
    let (whole, truncated) = (directory.path().join("whole"), directory.path().join("truncated"));
    play(&whole, game, 20, 1);
    let expected = bytes(&whole);
    for cut in [expected.len() / 3, expected.len() / 2, expected.len() - 1] {
        fs::write(&truncated, &expected[..cut]).expect("free disk space");
        let progress = play(&truncated, game, 20, 2);
        assert_eq!(progress.games, 20);
        assert!(bytes(&truncated) == expected, "other games after {cut} bytes");
    }
}

#[test]
fn an_interrupted_run_of_chess_resumes_to_the_same_file() {
    check_resuming(GameKind::Chess);
}

#[test]
fn an_interrupted_run_of_shogi_resumes_to_the_same_file() {
    check_resuming(GameKind::Shogi);
}

#[test]
fn games_differ_and_start_as_requested() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    play(&path, GameKind::Chess, 20, 1);
    let games = records(&path);
    assert_eq!(games.len(), 20);
    let mut openings: Vec<_> = games.iter().map(|game| (game.start, &game.opening)).collect();
    openings.sort();
    openings.dedup();
    assert!(openings.len() > 15, "{openings:?}");
    assert!(games.iter().all(|game| matches!(game.opening.len(), 4 | 5)));
    let usual = games.iter().filter(|game| game.start == 518).count();
    assert!((1..20).contains(&usual), "{usual} of 20, where half are asked for");
    assert!(games.iter().any(|game| game.winner.is_some()));
    // The first score is that of a balanced position.
    assert!(games.iter().all(|game| game.plies.first().is_some_and(|ply| ply.score.abs() < 1000)));
}

#[test]
fn games_follow_the_rules() {
    use narikin_train::games::{Chess, Shogi};
    fn check<G: TrainGame>() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("games");
        play(&path, G::KIND, 5, 1);
        for game in records(&path) {
            let mut board = G::start(game.start).expect("a start");
            let (last, plies) = game.plies.split_last().expect("a move");
            let moves = game.opening.iter().copied().chain(plies.iter().map(|ply| ply.mv));
            for mv in moves.chain([last.mv]) {
                assert!(G::play(&mut board, mv));
            }
            if game.end == End::Board {
                assert!(last.score > 20_000, "a mate without a mate score: {}", last.score);
            }
        }
    }
    check::<Chess>();
    check::<Shogi>();
}

#[test]
fn a_run_ends_at_the_requested_positions() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    let header = header(GameKind::Chess);
    let until = Until::Positions(300);
    let progress = run(&path, &header, until, 2, None, |_| ()).expect("games");
    let games = records(&path);
    let count = |games: &[narikin_train::data::Record]| -> usize {
        games.iter().map(|game| game.plies.len()).sum()
    };
    assert_eq!(progress.positions, count(&games) as u64);
    assert!(count(&games) >= 300 && count(&games[..games.len() - 1]) < 300);
    let before = bytes(&path);
    run(&path, &header, until, 2, None, |_| ()).expect("nothing to do");
    assert_eq!(bytes(&path), before);
}

#[test]
fn reports_a_file_that_cannot_be_written() {
    let directory = tempfile::tempdir().expect("a directory");
    let header = Header { seed: 1, ..header(GameKind::Chess) };
    let missing = directory.path().join("no directory").join("games");
    let error = run(&missing, &header, Until::Games(1), 1, None, |_| ()).expect_err("no directory");
    assert!(matches!(error, GenerateError::Data(_)), "{error}");
}
