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
        "
        Results of dev vs base (8+0.08, 1t, 16MB, UHO.epd):
        Elo: -1.06 +/- 4.05, nElo: -1.67 +/- 6.37
        LOS: 30.33 %, DrawRatio: 44.07 %, PairsRatio: 0.98
        Games: 11440, Wins: 3025, Losses: 3060, Draws: 5355, Points: 5702.5 (49.85 %)
        Ptnml(0-2): [235, 1384, 2521, 1341, 239], WL/DD Ratio: 0.92
        LLR: 1.69 (58.3%) (-2.25, 2.89) [-5.00, 0.00]
        ",
    );
}

#[test]
fn a_test_that_accepts_h0() {
    let sprt = Sprt::new(Model::Normalized, -10.0, 10.0, 0.05, 0.05).unwrap();
    let counts = pairs(16, 25, 18, 24, 12, 3);
    check(
        &Block { first: setup("dev"), second: setup("base"), book: None, counts, sprt: Some(sprt) },
        "
        Results of dev vs base (8+0.08, 1t, 16MB):
        Elo: -70.07 +/- 35.86, nElo: -98.03 +/- 48.64
        LOS: 0.00 %, DrawRatio: 42.86 %, PairsRatio: 0.37
        Games: 196, Wins: 36, Losses: 75, Draws: 85, Points: 78.5 (40.05 %)
        Ptnml(0-2): [16, 25, 42, 12, 3], WL/DD Ratio: 0.75
        LLR: -2.95 (-100.3%) (-2.94, 2.94) [-10.00, 10.00]
        ",
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
        "
        Results of random vs base (1+0.01 - 5 plies, NULL - 1t, NULL - 16MB, a b.pgn):
        Elo: -inf +/- nan, nElo: -inf +/- nan
        LOS: 0.00 %, DrawRatio: 0.00 %, PairsRatio: 0.00
        Games: 142, Wins: 0, Losses: 142, Draws: 0, Points: 0.0 (0.00 %)
        Ptnml(0-2): [71, 0, 0, 0, 0], WL/DD Ratio: nan
        LLR: -2.95 (-100.1%) (-2.94, 2.94) [0.00, 10.00]
        ",
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
        "
        Results of dev vs base (8+0.08, 1t, 16MB):
        Elo: 401.92 +/- 128.33, nElo: 524.36 +/- 68.10
        LOS: 100.00 %, DrawRatio: 18.00 %, PairsRatio: inf
        Games: 100, Wins: 91, Losses: 9, Draws: 0, Points: 91.0 (91.00 %)
        Ptnml(0-2): [0, 0, 9, 0, 41], WL/DD Ratio: inf
        ",
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
        "
        Results of dev vs base (8+0.08, 1t, 16MB):
        Elo: -15.69 +/- 30.46, nElo: -20.76 +/- 40.13
        LOS: 15.53 %, DrawRatio: 42.71 %
        Games: 288, Wins: 76, Losses: 89, Draws: 123, Points: 137.5 (47.74 %)
        LLR: -0.38 (-12.9%) (-2.94, 2.94) [0.00, 5.00]
        ",
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
        "
        Results of dev Games: 9 vs base (8+0.08, 1t, 16MB):
        Elo: nan +/- nan, nElo: nan +/- nan
        LOS: nan %, DrawRatio: nan %, PairsRatio: nan
        Games: 0, Wins: 0, Losses: 0, Draws: 0, Points: 0.0 (nan %)
        Ptnml(0-2): [0, 0, 0, 0, 0], WL/DD Ratio: nan
        LLR: 0.00 (0.0%) (-2.94, 2.94) [0.00, 5.00]
        ",
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
    let expected = "\
Rank Name                             Elo        +/-       nElo        +/-      Games      Score       Draw           Ptnml(0-2)
   1 Higher                        161.21     108.94     222.52     124.33         30      71.7%      33.3%      [0, 1, 5, 4, 5]
   2 Lower                        -161.21     108.94    -222.52     124.33         30      28.3%      33.3%      [5, 4, 5, 1, 0]
   3 Whitewashed                     -inf        nan       -inf        nan          6       0.0%       0.0%      [3, 0, 0, 0, 0]
   4 Idle                             nan        nan        nan        nan          0       nan%       nan%      [0, 0, 0, 0, 0]
";
    assert_eq!(table, expected);
}
