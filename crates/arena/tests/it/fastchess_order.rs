//! The order of pairings and openings, as in fastchess alpha 1.8.2.

use readyok_arena::fastchess::{Request, parse};
use readyok_arena::schedule::{Next, Schedule};
use readyok_client::unstable::split_command_line;
use tempfile::TempDir;

use crate::openings::{file, polyglot};

/// Writes a book whose openings differ in their number of moves.
fn book(openings: usize) -> (TempDir, String) {
    let lines = (1..=openings).map(|number| format!("4k3/8/8/8/8/8/8/4K2R w K - 0 {number}\n"));
    file("book.epd", lines.collect::<String>().as_bytes())
}

/// The games of a command line, as white, black and the number of the opening.
fn games(line: &str) -> Vec<String> {
    let args = split_command_line(line).expect("closed quotes");
    let Request::Play(invocation) = parse(&args, 1).expect(line) else { panic!("{line}") };
    let plan = &invocation.plan;
    let name = |id: readyok_arena::plan::EngineId| {
        plan.engines.get(id.0 as usize).map_or("?", |engine| engine.name.as_str())
    };
    let mut schedule = Schedule::open(plan).expect(line);
    let mut games = Vec::new();
    while let Next::Pairing(pairing) = schedule.next().expect(line) {
        for game in 0..pairing.games {
            let (white, black) = pairing.sides(game);
            games.push(format!("{}{}{}", name(white), name(black), pairing.opening.index + 1));
        }
    }
    games
}

fn check(engines: &str, openings: usize, options: &str, expected: &str) {
    let (_dir, path) = book(openings);
    let engines: Vec<String> = engines.chars().map(|name| format!("-engine cmd={name}")).collect();
    let engines = engines.join(" ");
    let line = format!("{engines} -each tc=1 -openings file={path} format=epd {options}");
    assert_eq!(games(&line).join(" "), expected, "{options}");
}

#[test]
fn pairings_follow_the_order_of_engines() {
    check("abc", 5, "-rounds 2", "ab1 ba1 ac2 ca2 bc1 cb1 ab2 ba2 ac1 ca1 bc2 cb2");
    check("abcd", 9, "-rounds 1", "ab1 ba1 ac1 ca1 ad1 da1 bc1 cb1 bd1 db1 cd1 dc1");
    check("ab", 9, "-rounds 3", "ab1 ba1 ab2 ba2 ab3 ba3");
}

#[test]
fn colors_of_single_games_alternate() {
    check("abc", 2, "-rounds 3 -games 1", "ab1 ca2 bc1 ba2 ac1 cb2 ab1 ca2 bc1");
    check("ab", 9, "-rounds 4 -games 1", "ab1 ba2 ab3 ba4");
    check("abc", 9, "-rounds 2 -games 1 -reverse", "ba1 ac2 cb1 ab2 ca1 bc2");
}

#[test]
fn without_swaps_the_first_engine_has_white() {
    check("abc", 9, "-rounds 2 -games 1 -noswap", "ab1 ac2 bc1 ab2 ac1 bc2");
    check("abc", 9, "-rounds 2 -noswap", "ab1 ab1 ac2 ac2 bc1 bc1 ab2 ab2 ac1 ac1 bc2 bc2");
    check("abc", 9, "-rounds 1 -noswap -reverse", "ba1 ba1 ca1 ca1 cb1 cb1");
    check("ab", 9, "-rounds 2 -noswap -report penta=false", "ab1 ab1 ab2 ab2");
}

#[test]
fn games_that_count_alone_are_played_in_the_same_order() {
    let alone = "-output format=cutechess";
    check("ab", 9, &format!("-rounds 3 {alone}"), "ab1 ba1 ab2 ba2 ab3 ba3");
    check("ab", 2, &format!("-rounds 3 -reverse {alone}"), "ba1 ab1 ba2 ab2 ba1 ab1");
    let three = "ab1 ba1 ac2 ca2 bc1 cb1 ab2 ba2 ac1 ca1 bc2 cb2";
    check("abc", 5, &format!("-rounds 2 {alone}"), three);
}

#[test]
fn the_seeds_of_a_gauntlet_play_all_other_engines() {
    let gauntlet = "-tournament gauntlet";
    check("abcd", 9, &format!("{gauntlet} -rounds 1"), "ab1 ba1 ac1 ca1 ad1 da1");
    let two = format!("{gauntlet} -seeds 2 -rounds 2 -games 1");
    check("abcd", 9, &two, "ab1 ca2 ad1 cb2 bd1 ba2 ac1 da2 bc1 db2");
    let all = format!("{gauntlet} -seeds 9 -rounds 1 -noswap -games 1");
    check("abc", 9, &all, "ab1 ac1 bc1");
}

/// Only as many openings as rounds are used, and a shorter book is repeated.
#[test]
fn openings_repeat_after_the_number_of_rounds() {
    check(
        "abc",
        3,
        "-rounds 5 -games 1 -noswap",
        "ab1 ac2 bc3 ab1 ac2 bc3 ab1 ac2 bc3 ab1 ac2 bc3 ab1 ac2 bc3",
    );
    check("abc", 4, "start=4 -rounds 2", "ab4 ba4 ac1 ca1 bc4 cb4 ab1 ba1 ac4 ca4 bc1 cb1");
    check("ab", 3, "start=2 -rounds 4 -games 1 -noswap", "ab2 ab3 ab1 ab2");
}

/// The expected order comes from `std::mt19937_64` of libstdc++.
#[test]
fn a_book_is_shuffled_like_in_fastchess_with_the_same_seed() {
    let white = "-games 1 -noswap";
    check(
        "ab",
        10,
        &format!("order=random -srand 7 -rounds 12 {white}"),
        "ab6 ab8 ab9 ab1 ab4 ab3 ab2 ab5 ab10 ab7 ab6 ab8",
    );
    check(
        "ab",
        1000,
        &format!("order=random start=3 -srand 1234567890123 -rounds 4 {white}"),
        "ab796 ab975 ab109 ab821",
    );
    check(
        "abc",
        10,
        &format!("order=random -srand 7 -rounds 2 {white}"),
        "ab6 ac8 bc6 ab8 ac6 bc8",
    );
}

#[test]
fn the_lines_of_a_polyglot_book_repeat() {
    let (_dir, path) = file("book.bin", &polyglot());
    let line = format!(
        "-engine cmd=a -engine cmd=b -engine cmd=c -each tc=1 -rounds 2 -games 1 -noswap \
         -openings file={path} format=polyglot plies=2 order=random"
    );
    assert_eq!(games(&line), ["ab1", "ac2", "bc1", "ab2", "ac1", "bc2"]);
}
