//! A match as fastchess prints it.

use readyok_arena::event::{End, Event, Listener, Score};
use readyok_arena::fastchess::{Invocation, Printer, Request, parse};
use readyok_arena::pairing::Opening;
use readyok_arena::plan::EngineId;
use readyok_arena::queue::WorkerId;
use readyok_arena::result::Termination;
use readyok_arena::stats::Verdict;
use readyok_rules::Side;

fn invocation(line: &str) -> Option<Invocation> {
    match parse(&shlex::split(line)?, 1) {
        Ok(Request::Play(invocation)) => Some(*invocation),
        Ok(_) | Err(_) => None,
    }
}

/// Two games of a pair: the first engine wins with White and draws with Black.
fn pair(index: u64) -> Vec<Event> {
    let [new, base] = [EngineId(0), EngineId(1)];
    let start = |game, first, second| Event::GameStart {
        pair: index,
        game,
        round: 1,
        first,
        second,
        worker: WorkerId("1".to_owned()),
        opening: Opening::default(),
    };
    let end = |game, first, second, winner, termination| Event::GameEnd {
        pair: index,
        game,
        first,
        second,
        winner,
        termination,
        plies: 10,
        duration_ms: 5,
        engines: Box::default(),
    };
    let wins = index + 1;
    let pairs = [0, 0, 0, 0, wins, 0];
    let score = Score { engine: new, opponent: base, wins, draws: wins, losses: 0, pairs };
    vec![
        start(0, new, base),
        end(0, new, base, Some(Side::First), Termination::Checkmate),
        start(1, base, new),
        end(1, base, new, None, Termination::Repetition),
        Event::PairEnd { pair: index, round: 1, complete: index + 1 },
        Event::Score(score),
    ]
}

fn printed(line: &str, pairs: u64, why: End) -> String {
    let invocation = invocation(line).expect("a match");
    let mut out = Vec::new();
    let pairings = u64::from(invocation.plan.rounds);
    let mut printer = Printer::new(&invocation.plan, pairings, &invocation.options, &mut out);
    let end = Event::MatchEnd { why, complete: pairs, games: 2 * pairs };
    for event in (0..pairs).flat_map(pair).chain([end]) {
        printer.hear(&event);
    }
    String::from_utf8(out).expect("text")
}

const LINE: &str = "-engine cmd=new option.Hash=16 option.Threads=1 -engine cmd=base \
                    option.Hash=8 option.Threads=1 -each tc=10+0.1 -rounds 10";

#[test]
fn a_match_of_pairs() {
    let text = printed(&format!("{LINE} -ratinginterval 2"), 2, End::Complete);
    let expected = "\
Started game 1 of 20 (new vs base)
Finished game 1 (new vs base): 1-0 {White mates}
Started game 2 of 20 (base vs new)
Finished game 2 (base vs new): 1/2-1/2 {Draw by 3-fold repetition}
Started game 3 of 20 (new vs base)
Finished game 3 (new vs base): 1-0 {White mates}
Started game 4 of 20 (base vs new)
Finished game 4 (base vs new): 1/2-1/2 {Draw by 3-fold repetition}
--------------------------------------------------
Results of new vs base (10+0.1, 1t, 16MB - 8MB):
Elo: 190.85 +/- nan, nElo: inf +/- nan
LOS: 100.00 %, DrawRatio: 0.00 %, PairsRatio: inf
Games: 4, Wins: 2, Losses: 0, Draws: 2, Points: 3.0 (75.00 %)
Ptnml(0-2): [0, 0, 0, 2, 0], WL/DD Ratio: nan
--------------------------------------------------
Finished match
";
    let (said, time) = text.rsplit_once("Total Time: ").expect("the time");
    let same = |line: &str| line.replace("+/- 0.00", "+/- nan");
    assert_eq!(same(said), same(expected));
    assert_eq!(time, "00:00:00 (hours:minutes:seconds)\n\n");
}

#[test]
fn a_test_says_what_it_has_decided() {
    let line = format!("{LINE} -sprt elo0=0 elo1=5 alpha=0.05 beta=0.05");
    let text = printed(&line, 3, End::Test { verdict: Verdict::AcceptH1 });
    assert!(text.contains("\nLLR: ") && text.contains("(-2.94, 2.94) [0.00, 5.00]\n"), "{text}");
    assert!(text.contains("SPRT ([0.00, 5.00]) completed - H1 was accepted\n"), "{text}");
}

#[test]
fn in_the_form_of_cutechess_there_are_scores_of_games() {
    let text = printed(&format!("{LINE} -output format=cutechess"), 2, End::Complete);
    assert!(text.contains("Score of new vs base: 1 - 0 - 1  [0.750] 2\n"), "{text}");
    assert!(text.contains("Score of new vs base: 2 - 0 - 2  [0.750] 4\n"), "{text}");
    assert!(text.contains("Elo difference: 190.85 +/- "), "{text}");
    assert!(!text.contains("Tournament finished\n") && !text.contains("Ptnml"), "{text}");
    let line = format!("{LINE} -output format=cutechess -sprt elo0=0 elo1=5 alpha=0.05 beta=0.05");
    let text = printed(&line, 2, End::Test { verdict: Verdict::AcceptH1 });
    assert!(text.contains("Tournament finished\n"), "{text}");
}

#[test]
fn in_the_form_of_cutechess_the_table_has_no_pairs() {
    let line = format!("{LINE} -engine cmd=third name=third -output format=cutechess");
    let text = printed(&line, 2, End::Complete);
    let table: Vec<_> = text.lines().skip_while(|line| !line.starts_with("Rank ")).collect();
    assert!(table[0].ends_with("     Score       Draw"), "{text}");
    assert!(table[1].ends_with("      75.0%      50.0%"), "{text}");
}

#[test]
fn scores_are_told_as_often_as_is_wanted_and_at_the_end() {
    let check = |interval: u32, pairs: u64, why: End, told: &[u64]| {
        let line = format!("{LINE} -output format=cutechess -scoreinterval {interval}");
        let text = printed(&line, pairs, why);
        let scores = text.lines().filter(|line| line.starts_with("Score of "));
        let games: Vec<u64> = scores
            .filter_map(|line| line.rsplit(' ').next().and_then(|games| games.parse().ok()))
            .collect();
        assert_eq!(games, told, "{interval}: {text}");
    };
    check(1, 3, End::Complete, &[2, 4, 6]);
    check(4, 5, End::Complete, &[4, 8, 10]);
    check(4, 4, End::Complete, &[4, 8]);
    check(100, 3, End::Interrupted, &[]);
    check(0, 2, End::Complete, &[4]);
}

#[test]
fn failures_and_interrupts_are_told_at_the_end() {
    let invocation = invocation(LINE).expect("a match");
    let mut out = Vec::new();
    let pairings = u64::from(invocation.plan.rounds);
    let mut printer = Printer::new(&invocation.plan, pairings, &invocation.options, &mut out);
    let [new, base] = [EngineId(0), EngineId(1)];
    printer.hear(&Event::GameEnd {
        pair: 0,
        game: 0,
        first: new,
        second: base,
        winner: Some(Side::First),
        termination: Termination::TimeForfeit { late_us: 3_000 },
        plies: 1,
        duration_ms: 1,
        engines: Box::default(),
    });
    printer.hear(&Event::MatchEnd { why: End::Interrupted, complete: 0, games: 0 });
    let text = String::from_utf8(out).expect("text");
    assert!(text.contains("1-0 {Black loses on time (3ms overrun)}\n"), "{text}");
    assert!(text.contains("\nPlayer: base\n  Timeouts: 1\n  Crashed: 0\n"), "{text}");
    assert!(text.contains("Tournament was interrupted."), "{text}");
}
