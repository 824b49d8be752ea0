//! Blocks as scripts read them. The figures are those that fastchess prints for these counts.

use readyok_arena::stats::fastchess::{Block, Setup, ranking, verdict_line};
use readyok_arena::stats::{Counts, Model, Pentanomial, Sprt, Trinomial, Verdict};

fn setup(name: &str) -> Setup<'_> {
    Setup { name, time: "8+0.08", threads: Some("1"), hash: Some("16") }
}

fn pairs(ll: u64, ld: u64, wl: u64, dd: u64, wd: u64, ww: u64) -> Counts {
    Counts::Pairs(Pentanomial::new(ll, ld, wl, dd, wd, ww).unwrap())
}

#[track_caller]
fn check(block: &Block<'_>, written: &str) {
    let expected: Vec<&str> = written.trim().lines().map(str::trim).collect();
    let block = block.to_string();
    assert!(block.ends_with('\n'));
    assert_eq!(block.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_running_test() {
    check(
        &Block {
            first: setup("dev"),
            second: setup("base"),
            book: Some("books/UHO.epd"),
            counts: pairs(235, 1384, 1206, 1315, 1341, 239),
            sprt: Some(Sprt::new(Model::Logistic, -5.0, 0.0, 0.05, 0.1).unwrap()),
        },
        include_str!("../data/stats_fastchess/a_running_test.txt"),
    );
}

#[test]
fn a_test_that_accepts_h0() {
    let sprt = Sprt::new(Model::Normalized, -10.0, 10.0, 0.05, 0.05).unwrap();
    let counts = pairs(16, 25, 18, 24, 12, 3);
    check(
        &Block { first: setup("dev"), second: setup("base"), book: None, counts, sprt: Some(sprt) },
        include_str!("../data/stats_fastchess/a_test_that_accepts_h0.txt"),
    );
    let verdict = sprt.status(&counts).unwrap().verdict;
    let line = verdict_line(&sprt, verdict);
    assert_eq!(line.unwrap(), "SPRT ([-10.00, 10.00]) completed - H0 was accepted");
    assert_eq!(verdict_line(&sprt, Verdict::Continue), None);
}

#[test]
fn nothing_but_losses() {
    check(
        &Block {
            first: Setup { name: "random", time: "1+0.01", threads: None, hash: None },
            second: Setup { time: "5 plies", ..setup("base") },
            book: Some("C:\\books\\a b.pgn"),
            counts: pairs(71, 0, 0, 0, 0, 0),
            sprt: Some(Sprt::new(Model::Normalized, 0.0, 10.0, 0.05, 0.05).unwrap()),
        },
        include_str!("../data/stats_fastchess/nothing_but_losses.txt"),
    );
}

#[test]
fn ratios_without_a_divisor() {
    check(
        &Block {
            first: setup("dev"),
            second: setup("base"),
            book: None,
            counts: pairs(0, 0, 9, 0, 0, 41),
            sprt: None,
        },
        include_str!("../data/stats_fastchess/ratios_without_a_divisor.txt"),
    );
}

#[test]
fn single_games_have_no_figures_of_pairs() {
    check(
        &Block {
            first: setup("dev"),
            second: setup("base"),
            book: None,
            counts: Counts::Games(Trinomial::new(89, 123, 76).unwrap()),
            sprt: Some(Sprt::new(Model::Logistic, 0.0, 5.0, 0.05, 0.05).unwrap()),
        },
        include_str!("../data/stats_fastchess/single_games_have_no_figures_of_pairs.txt"),
    );
}

#[test]
fn nothing_played_yet() {
    check(
        &Block {
            first: setup("dev\nGames: 9"),
            second: setup("base"),
            book: None,
            counts: Counts::Pairs(Pentanomial::default()),
            sprt: Some(Sprt::new(Model::FastchessBayesian, 0.0, 5.0, 0.05, 0.05).unwrap()),
        },
        include_str!("../data/stats_fastchess/nothing_played_yet.txt"),
    );
}

#[test]
fn more_than_two_engines_are_ranked() {
    let table = ranking(&[
        ("Lower", pairs(5, 4, 2, 3, 1, 0)),
        ("Idle", pairs(0, 0, 0, 0, 0, 0)),
        ("Higher", pairs(0, 1, 2, 3, 4, 5)),
        ("Whitewashed", pairs(3, 0, 0, 0, 0, 0)),
    ]);
    let expected = include_str!("../data/stats_fastchess/more_than_two_engines_are_ranked.txt");
    assert_eq!(table, expected);
}
