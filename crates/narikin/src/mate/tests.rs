//! The solver compared with an exhaustive search.

use readyok_rules::rsshogi::board::{Move32List, Position};
use readyok_rules::rsshogi::movegen::generate_legal_all_move32;
use readyok_rules::rsshogi::types::Move32;
use readyok_rules::{BoardRef, Game};

use super::table::mix;
use super::{Solution, Solver, SolverLimits};

fn shogi(sfen: &str) -> Option<Position> {
    let position = readyok_rules::Position::from_text(Game::Shogi, sfen).ok()?;
    match position.board() {
        BoardRef::Shogi(board) => Some(board.position().clone()),
        BoardRef::Chess(_) | BoardRef::Diagram(_) => None,
    }
}

fn moves(position: &Position) -> Vec<Move32> {
    let mut list = Move32List::new();
    generate_legal_all_move32(position, &mut list);
    list.iter().copied().collect()
}

/// The exhaustive search takes too long.
struct TooLong;

/// Whether the side to move mates by checks within `plies`.
fn mates_within(position: &mut Position, plies: usize, left: &mut u32) -> Result<bool, TooLong> {
    if plies == 0 {
        return Ok(false);
    }
    for mv in moves(position) {
        *left = left.checked_sub(1).ok_or(TooLong)?;
        position.apply_move32(mv);
        let mates = if position.is_in_check() {
            is_mated_within(position, plies - 1, left)
        } else {
            Ok(false)
        };
        position.undo_move32(mv).expect("the last move");
        if mates? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_mated_within(position: &mut Position, plies: usize, left: &mut u32) -> Result<bool, TooLong> {
    let evasions = moves(position);
    if plies == 0 {
        return Ok(evasions.is_empty());
    }
    for mv in evasions {
        *left = left.checked_sub(1).ok_or(TooLong)?;
        position.apply_move32(mv);
        let mates = mates_within(position, plies - 1, left);
        position.undo_move32(mv).expect("the last move");
        if !mates? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The length of the shortest mate of up to five plies.
fn shortest(position: &Position) -> Result<Option<usize>, TooLong> {
    let (mut copy, mut left) = (position.clone(), 30_000);
    for plies in [1, 3, 5] {
        if mates_within(&mut copy, plies, &mut left)? {
            return Ok(Some(plies));
        }
    }
    Ok(None)
}

/// A deterministic random number generator.
struct TestRng(u64);

impl TestRng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        usize::try_from(mix(self.0) % end as u64).expect("small")
    }
}

/// A position with a few attackers around a king in its camp.
fn random_position(seed: u64) -> Option<Position> {
    let mut seed = TestRng(mix(seed));
    let mut squares = vec![String::new(); 81];
    let king = seed.below(3) * 9 + seed.below(9);
    squares[king] = "k".to_owned();
    let own_king = 72 + seed.below(9);
    if seed.below(3) > 0 {
        squares[own_king] = "K".to_owned();
    }
    let mut left = [("P", 18), ("L", 4), ("N", 4), ("S", 4), ("G", 4), ("B", 2), ("R", 2)];
    let mut hand = String::new();
    for _ in 0..9 + seed.below(8) {
        let kind = seed.below(7);
        let (letter, count) = &mut left[kind];
        if *count == 0 {
            continue;
        }
        *count -= 1;
        let ours = seed.below(3) > 0;
        let piece = if ours { (*letter).to_owned() } else { letter.to_lowercase() };
        if ours && seed.below(2) == 0 {
            hand.push_str(&piece);
            continue;
        }
        let square = seed.below(5) * 9 + (king % 9 + 7 + seed.below(5)) % 9;
        if squares[square].is_empty() {
            let promoted = *letter != "G" && seed.below(4) == 0;
            squares[square] = if promoted { format!("+{piece}") } else { piece };
        } else {
            *count += 1;
        }
    }
    for (letter, count) in left {
        for _ in 0..count {
            // The defender has some of the remaining pieces in hand; the others are not in play.
            if seed.below(3) == 0 {
                hand.push_str(&letter.to_lowercase());
            }
        }
    }
    let mut sorted: Vec<char> = hand.chars().collect();
    sorted.sort_unstable();
    let rows: Vec<String> = squares
        .chunks(9)
        .map(|row| {
            row.iter()
                .map(|cell| if cell.is_empty() { "1" } else { cell.as_str() })
                .collect::<String>()
        })
        .collect();
    let counted = sorted.chunk_by(|a, b| a == b).fold(String::new(), |text, run| {
        let letter = run.first().map_or(' ', |&letter| letter);
        format!("{text}{}{letter}", run.len())
    });
    let hand = if counted.is_empty() { "-".to_owned() } else { counted };
    shogi(&format!("{} b {hand} 1", rows.join("/")))
}

fn solve(position: &Position, limits: &SolverLimits) -> Solution {
    Solver::new(1).expect("a megabyte").solve(position, limits, &mut |_| false)
}

/// Checks that a line is legal, gives check with every move of the attacker, and ends in mate.
fn check_line(position: &Position, line: &[Move32]) {
    let sfen = position.to_sfen(None);
    let mut end = position.clone();
    for (ply, &mv) in line.iter().enumerate() {
        assert!(moves(&end).contains(&mv), "{sfen} {line:?}");
        end.apply_move32(mv);
        assert!(ply % 2 == 1 || end.is_in_check(), "{sfen} {line:?}");
        assert!(!end.is_repetition(1), "{sfen} {line:?}");
    }
    assert!(line.len() % 2 == 1 && moves(&end).is_empty(), "{sfen} {line:?}");
}

#[test]
fn agrees_with_exhaustive_search() {
    let mut counts = [0; 4];
    for (seed, position) in (0..250).filter_map(|seed| Some((seed, random_position(seed)?))) {
        let sfen = position.to_sfen(None);
        let limits = SolverLimits { nodes: Some(2_000), shorten: 2_000, ..SolverLimits::default() };
        let found = solve(&position, &limits);
        let length = if let Solution::Mate(line) = &found {
            check_line(&position, line);
            Some(line.len())
        } else {
            None
        };
        // Exhaustive search takes longest without a mate.
        if length.is_none() && seed % 16 != 0 {
            continue;
        }
        let Ok(truth) = shortest(&position) else { continue };
        counts[truth.map_or(0, |plies| plies / 2 + 1)] += 1;
        assert_eq!(length.filter(|&plies| plies < 7), truth, "{sfen} {found:?}");
        for plies in [1, 3, 5] {
            let limits = SolverLimits { plies: Some(plies), ..SolverLimits::default() };
            let plies = usize::from(plies);
            match solve(&position, &limits) {
                Solution::Mate(line) => {
                    check_line(&position, &line);
                    let allowed = truth.expect("a mate")..=plies;
                    assert!(allowed.contains(&line.len()), "{sfen} {line:?} {truth:?}");
                }
                Solution::NoMate => {
                    assert!(truth.is_none_or(|length| plies < length), "{sfen} {truth:?}");
                }
                Solution::Unknown => panic!("{sfen}: there was no limit"),
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
}

#[track_caller]
fn check(sfen: &str, expected: &str) {
    let position = shogi(sfen).expect("a position");
    let limits = SolverLimits { nodes: Some(100_000), shorten: 10_000, ..SolverLimits::default() };
    let found = match solve(&position, &limits) {
        Solution::Mate(line) => {
            check_line(&position, &line);
            line.iter().map(|mv| mv.to_usi()).collect::<Vec<_>>().join(" ")
        }
        Solution::NoMate => "no mate".to_owned(),
        Solution::Unknown => "unknown".to_owned(),
    };
    assert_eq!(found, expected, "{sfen}");
}

#[test]
fn mates_in_one() {
    check("4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "G*5b");
    check("4k4/9/9/9/9/9/4p4/9/4K4 w g 1", "G*5h");
}

#[test]
fn pawn_drop_mate_is_illegal() {
    check("4lkl2/4p1p2/5G3/9/9/9/9/9/4K4 b P 1", "no mate");
    // The same mate by a pawn on the board is legal.
    check("4lkl2/4p1p2/5GP2/5P3/9/9/9/9/4K4 b - 1", "no mate");
}

#[test]
fn endless_checks_are_no_mate() {
    check("7lk/9/8p/9/6+B2/9/9/9/4K4 b - 1", "no mate");
}

#[test]
fn no_mate_without_the_opponents_king() {
    check("9/9/4P4/9/9/9/9/9/4K4 b G 1", "no mate");
}

#[test]
fn an_evasion_can_give_mate() {
    // The king is in check, and captures the checking piece with a discovered check.
    check("4k4/9/4P4/9/9/9/9/4r4/4K3R b G 1", "no mate");
}

#[test]
fn respects_limits() {
    let position = shogi("4k4/9/3+R5/9/9/9/9/9/4K4 b P 1").expect("a position");
    let mut solver = Solver::new(1).expect("a megabyte");
    let nodes = SolverLimits { nodes: Some(1), ..SolverLimits::default() };
    assert_eq!(solver.solve(&position, &nodes, &mut |_| false), Solution::Unknown);
    assert!(solver.nodes() <= 2);
    let mut asked = 0;
    let stop = &mut |_| {
        asked += 1;
        true
    };
    let _ = solver.solve(&position, &SolverLimits::default(), stop);
    assert!(asked <= 1);
}
