//! Output of a match in the format of fastchess. The expected texts are the output of fastchess for the
//! same games, except for names of programs and the sign of `nan` and of zero.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use readyok_arena::event::{End, Event};
use readyok_arena::fastchess::{Invocation, Printer, Request, parse};
use readyok_arena::listener::Listener;
use readyok_arena::match_state::MatchState;
use readyok_arena::pairing::{Opening, PairResult};
use readyok_arena::plan::{EngineId, GamesPerPairing};
use readyok_arena::queue::{Stop, WorkerId};
use readyok_arena::result::{EngineFailure, GameEnd, MatchGame};
use readyok_arena::stats::Verdict;
use readyok_arena::store::ContentHash;
use readyok_client::unstable::split_command_line;
use readyok_rules::{Game, IllegalReason, Side, Termination};

use crate::sample;

fn invocation(line: &str) -> Invocation {
    match parse(&split_command_line(line).expect("closed quotes"), 1) {
        Ok(Request::Play(invocation)) => *invocation,
        other => panic!("{line}: {other:?}"),
    }
}

const NEW: EngineId = EngineId(0);
const BASE: EngineId = EngineId(1);

/// The winner and the end of a game.
type Ending = (Option<EngineId>, GameEnd);

fn wins(engine: EngineId) -> Ending {
    (Some(engine), Termination::Checkmate.into())
}

fn draw() -> Ending {
    (None, Termination::Repetition.into())
}

fn crash(engine: EngineId) -> Ending {
    let winner = if engine == NEW { BASE } else { NEW };
    (Some(winner), sample::crash())
}

fn finished(first: EngineId, second: EngineId, winner: Option<Side>, end: GameEnd) -> MatchGame {
    MatchGame {
        first,
        second,
        winner,
        end,
        moves: Vec::new(),
        started_ms: 0,
        duration_ms: 5,
        warnings: Vec::new(),
        engines: Default::default(),
    }
}

/// The event after a pair.
fn score(state: &MatchState) -> Event {
    Event::Score(state.score(NEW, BASE).expect("a pair"))
}

/// Prints a match of two engines with these outcomes. Returns the output and the number of requests to
/// stop the match.
fn play(line: &str, games: &[Ending], stopping: Option<End>, why: End) -> (String, u32) {
    let (mut printed, stops) = (Vec::new(), Arc::new(AtomicU32::new(0)));
    let Invocation { plan, options } = &invocation(line);
    let size = match plan.games {
        GamesPerPairing::One => 1,
        GamesPerPairing::Two => 2,
    };
    let pairings = u64::from(plan.rounds) * u64::from(plan.pairs_per_encounter);
    let count = Arc::clone(&stops);
    let mut state = MatchState::new(plan, pairings);
    let printer = Printer::new(plan, pairings, options, &mut printed);
    let mut printer = printer.on_stop(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    printer.on_event(
        &Event::MatchStart {
            plan_hash: ContentHash::of(b""),
            game: Game::Chess,
            engines: Vec::new(),
            resumed: 0,
        },
        &state,
    );
    let mut number = 0_u32;
    for (pair, endings) in (0_u64..).zip(games.chunks(size)) {
        let mut played = Vec::new();
        for (game, (winner, end)) in (0..).zip(endings) {
            let swaps = !options.noswap && number % 2 == 1;
            let (first, second) = if swaps { (BASE, NEW) } else { (NEW, BASE) };
            number += 1;
            let start = Event::GameStart {
                pair,
                game,
                round: 1,
                first,
                second,
                worker: WorkerId("1".to_owned()),
                opening: Opening::default(),
            };
            printer.on_event(&start, &state);
            let side = |winner| if winner == first { Side::First } else { Side::Second };
            let winner = winner.map(side);
            let over = Event::GameEnd {
                pair,
                game,
                first,
                second,
                winner,
                end: end.clone(),
                plies: 10,
                duration_ms: 5,
                engines: Box::default(),
            };
            printer.on_event(&over, &state);
            played.push(finished(first, second, winner, end.clone()));
        }
        if played.len() < size {
            // The pair is not complete.
            continue;
        }
        state.add(&PairResult { games: played, ..sample::pair(pair) });
        printer.on_event(&Event::PairEnd { pair, round: 1, complete: pair + 1 }, &state);
        printer.on_event(&score(&state), &state);
    }
    if let Some(why) = stopping {
        printer.on_event(&Event::Stopping { how: Stop::Abort, why }, &state);
        let after = Event::PairEnd { pair: 99, round: 1, complete: 99 };
        printer.on_event(&after, &state);
        if let Some(score) = state.score(NEW, BASE) {
            printer.on_event(&Event::Score(score), &state);
        }
    }
    printer.on_event(&Event::MatchEnd { why, complete: 0, games: 0 }, &state);
    drop(printer);
    let text = String::from_utf8(printed).expect("text");
    (text, stops.load(Ordering::Relaxed))
}

const LINE: &str = "-engine cmd=new option.Hash=16 option.Threads=1 -engine cmd=base \
                    option.Hash=16 option.Threads=1 -each tc=10+0.1 -openings file=a.epd";

/// Checks the output for these games, except the total time.
fn check(options: &str, games: &[Ending], why: End, expected: &str) {
    let stopping = Some(why.clone()).filter(|why| *why != End::Complete);
    let (text, _) = play(&format!("{LINE} {options}"), games, stopping, why);
    let (printed, time) = text.rsplit_once("Total Time: ").expect("the time");
    assert_eq!(printed, expected, "{options}");
    assert_eq!(time, "00:00:00 (hours:minutes:seconds)\n\n");
}

#[test]
fn reports_come_after_pairs() {
    let games = [wins(NEW), draw(), wins(NEW), wins(BASE), draw(), wins(NEW)];
    check(
        "-rounds 3 -ratinginterval 2",
        &games,
        End::Complete,
        include_str!("data/fastchess_printer/reports_come_after_pairs.txt"),
    );
}

/// Without swaps, the same engine has White in both games of a pair.
#[test]
fn without_swaps_there_are_pairs_as_well() {
    check(
        "-rounds 2 -noswap",
        &[wins(NEW), wins(NEW), wins(BASE), draw()],
        End::Complete,
        include_str!("data/fastchess_printer/without_swaps_there_are_pairs_as_well.txt"),
    );
}

#[test]
fn games_that_count_alone_are_reported_alone() {
    check(
        "-rounds 1 -report penta=false -ratinginterval 1",
        &[wins(NEW), draw()],
        End::Complete,
        include_str!("data/fastchess_printer/games_that_count_alone_are_reported_alone.txt"),
    );
}

#[test]
fn the_format_of_cutechess_has_a_score_after_each_game() {
    check(
        "-rounds 2 -output format=cutechess -ratinginterval 2",
        &[wins(NEW), draw(), wins(BASE), wins(NEW)],
        End::Complete,
        include_str!(
            "data/fastchess_printer/the_format_of_cutechess_has_a_score_after_each_game.txt"
        ),
    );
}

#[test]
fn a_finished_test_prints_the_complete_report_again() {
    let test = "-sprt elo0=0 elo1=40 alpha=0.4 beta=0.4";
    let verdict = End::Test { verdict: Verdict::AcceptH1 };
    check(
        &format!("-rounds 9 {test} -ratinginterval 3"),
        &[(); 6].map(|()| wins(NEW)),
        verdict.clone(),
        include_str!(
            "data/fastchess_printer/a_finished_test_prints_the_complete_report_again_2.txt"
        ),
    );
    check(
        &format!("-rounds 9 {test} -output format=cutechess"),
        &[(); 4].map(|()| wins(NEW)),
        verdict,
        include_str!("data/fastchess_printer/a_finished_test_prints_the_complete_report_again.txt"),
    );
}

#[test]
fn the_table_in_the_format_of_cutechess_has_no_pairs() {
    let line = format!("{LINE} -engine cmd=third name=third -rounds 1 -output format=cutechess");
    let games = [wins(NEW), draw()];
    let (text, _) = play(&line, &games, None, End::Complete);
    let table: Vec<_> = text.lines().skip_while(|line| !line.starts_with("Rank ")).collect();
    assert!(table[0].ends_with("     Score       Draw"), "{text}");
    assert!(table[1].ends_with("      75.0%      50.0%"), "{text}");
}

#[test]
fn scores_are_printed_at_the_interval_and_at_the_end() {
    let check = |interval: u32, rounds: u32, games: usize, expected: &[u64]| {
        let options = format!("-rounds {rounds} -output format=cutechess");
        let line = format!("{LINE} {options} -scoreinterval {interval}");
        let (text, _) = play(&line, &vec![draw(); games], None, End::Interrupted);
        let scores = text.lines().filter(|line| line.starts_with("Score of "));
        let games: Vec<u64> = scores
            .filter_map(|line| line.rsplit(' ').next().and_then(|games| games.parse().ok()))
            .collect();
        assert_eq!(games, expected, "{interval}: {text}");
    };
    check(1, 2, 3, &[1, 2, 3]);
    check(3, 4, 8, &[3, 6, 8]);
    check(4, 4, 8, &[4, 8]);
    check(100, 3, 3, &[]);
    check(0, 1, 2, &[2]);
}

#[test]
fn a_lost_engine_ends_the_match_without_recover() {
    let line = format!("{LINE} -rounds 2");
    let games = [crash(BASE), wins(NEW), wins(NEW), wins(NEW)];
    let stopping = || Some(End::Interrupted);
    let (text, stops) = play(&line, &games, stopping(), End::Interrupted);
    let expected =
        include_str!("data/fastchess_printer/a_lost_engine_ends_the_match_without_recover.txt");
    assert_eq!((text.as_str(), stops), (expected, 1));
    let line = format!("{line} -output format=cutechess");
    let (text, _) = play(&line, &games, stopping(), End::Interrupted);
    let scored = "Black disconnects}\nScore of new vs base: 1 - 0 - 0  [1.000] 1\nTournament was";
    assert!(text.contains(scored), "{text}");
    let line = format!("{LINE} -rounds 2 -recover");
    let (text, stops) = play(&line, &games, None, End::Complete);
    assert!(text.contains("(new vs base): 1-0 {Black disconnects}\nStarted game 2 of 4"), "{text}");
    assert!(text.contains("\n\nPlayer: base\n  Timeouts: 0\n  Crashed: 1\n\n"), "{text}");
    assert_eq!(stops, 0);
}

#[test]
fn a_start_failure_ends_the_match_immediately() {
    let no_start = GameEnd::no_start(EngineFailure::other("no program"));
    let line = format!("{LINE} -rounds 2 -recover");
    let games = [(Some(BASE), no_start)];
    let (text, stops) = play(&line, &games, Some(End::Interrupted), End::Interrupted);
    let expected = "\
Started game 1 of 4 (new vs base)
Fatal; new engine startup failure: \"failed: `no program`\"
Tournament was interrupted.";
    assert!(text.starts_with(expected), "{text}");
    assert!(!text.contains("Player:"), "{text}");
    assert_eq!(stops, 1);
}

#[test]
fn failures_are_printed_at_the_end_except_in_the_format_of_cutechess() {
    let late = GameEnd::time_forfeit(3_000);
    let games = [(Some(NEW), late.clone()), (Some(BASE), late.clone()), (Some(NEW), late)];
    let line = format!("{LINE} -rounds 2");
    let (text, _) = play(&line, &games, None, End::Interrupted);
    assert!(text.contains("1-0 {Black loses on time (3ms overrun)}\n"), "{text}");
    let expected = "
Player: new
  Timeouts: 1
  Crashed: 0
Player: base
  Timeouts: 2
  Crashed: 0

Tournament was interrupted.";
    assert!(text.contains(expected), "{text}");
    let line = format!("{line} -output format=cutechess");
    let (text, _) = play(&line, &games, None, End::Interrupted);
    assert!(!text.contains("Player: "), "{text}");
}

#[test]
fn a_strict_match_prints_no_result_after_a_warning() {
    let illegal = GameEnd::illegal_move("e7e5e7", "startpos", IllegalReason::InvalidMove);
    let games = [(Some(NEW), illegal), wins(NEW)];
    let started = "Started game 1 of 4 (new vs base)\n\
                Warning; Move does not match uci move format, lowercase and 4/5 chars. Move \
                e7e5e7 played by base\n\
                Warning; Illegal move e7e5e7 played by base\n";
    let line = format!("{LINE} -rounds 2");
    let (text, stops) = play(&line, &games, None, End::Interrupted);
    let end = "Finished game 1 (new vs base): 1-0 {Black makes an illegal move}\nStarted game 2";
    assert!(text.starts_with(&format!("{started}{end}")), "{text}");
    assert_eq!(stops, 0);
    let (text, stops) = play(&format!("{line} -strict"), &games, None, End::Interrupted);
    assert!(text.starts_with(&format!("{started}Tournament was interrupted.")), "{text}");
    assert_eq!(stops, 1);
}

#[test]
fn warnings_about_the_plan_are_printed_first() {
    let engines = "-engine cmd=new -engine cmd=base -each tc=1 -rounds 1";
    let begin = |options: &str| {
        let line = format!("{engines} {options}");
        play(&line, &[], None, End::Interrupted).0
    };
    let no_book = "Warning: No opening book specified! Consider using one, otherwise all games will \
                   be played from the starting position.\n\
                   Warning: Unknown opening format, 2. All games will be played from the starting \
                   position.\n";
    assert!(begin("").starts_with(&format!("{no_book}Tournament")));
    let random = begin("-openings file=a.epd order=random");
    assert!(random.starts_with("Indexing opening suite...\nTournament"), "{random}");
    assert!(begin("-openings file=a.epd").starts_with("Tournament"));
    let test = "-sprt elo0=0 elo1=5 alpha=0.05 beta=0.05 model=bayesian";
    let bayesian = "Warning; Bayesian SPRT model not available with pentanomial statistics. \
                    Disabling pentanomial reports...\n";
    assert!(begin(test).starts_with(&format!("{bayesian}{no_book}")));
    assert!(begin(&format!("{test} -games 1")).starts_with(no_book));
}

#[test]
fn a_resumed_match_has_the_statistics_of_its_plan() {
    let plan = invocation(&format!("{LINE} -rounds 1 -report penta=false")).plan;
    let options = invocation("-config file=a.json").options;
    let mut state = MatchState::new(&plan, 2);
    for index in 0..2 {
        let won = finished(NEW, BASE, Some(Side::First), Termination::Checkmate.into());
        state.add(&PairResult { games: vec![won], ..sample::pair(index) });
    }
    let mut printed = Vec::new();
    let mut printer = Printer::new(&plan, 2, &options, &mut printed);
    printer.on_event(&Event::PairEnd { pair: 1, round: 1, complete: 2 }, &state);
    printer.on_event(&score(&state), &state);
    drop(printer);
    let text = String::from_utf8(printed).expect("text");
    assert!(text.contains("\nGames: 2, Wins: 2, Losses: 0, Draws: 0, "), "{text}");
    assert!(!text.contains("Ptnml"), "{text}");
}
