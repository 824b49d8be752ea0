//! Several lines, chosen first moves, and the moves being searched.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::time::Duration;

use narikin::{Control, Limits, Report, Searcher};
use readyok_rules::{Game, Move, Position};

use crate::{Probe, depth, position, probe::Line, search, tokens};

const SHARP: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const DROPS: &str = "lnsgk1snl/1r4gb1/p1pppp2p/6pR1/1p7/2P6/PP1PPPP1P/1BG6/LNS1KGSNL b Pp 1";

fn value(line: &Line) -> i64 {
    match line.score {
        narikin::Score::Centipawns(value) => value.into(),
        narikin::Score::Wins { plies } => 100_000 - i64::from(plies),
        narikin::Score::Loses { plies } => i64::from(plies) - 100_000,
    }
}

#[track_caller]
fn check_lines(position: &Position, limits: &Limits, probe: &Probe, expected: usize) {
    let outcome = search(position, limits, probe);
    let lines = probe.last_lines();
    let ranks: Vec<usize> = lines.iter().map(|line| line.multipv).collect();
    assert_eq!(ranks, (1..=expected).collect::<Vec<_>>());
    assert!(lines.is_sorted_by_key(|line| -value(line)), "{lines:?}");
    let first: HashSet<Move> = lines.iter().filter_map(|line| line.pv.first().copied()).collect();
    assert_eq!(first.len(), expected, "{lines:?}");
    assert_eq!(lines.first().map(|line| &line.pv), Some(&outcome.pv));
    for line in &lines {
        let tokens = tokens(position.game(), &line.pv);
        assert!(position.clone().after(&tokens).is_ok(), "{tokens:?}");
    }
}

#[test]
fn reports_several_lines_in_order() {
    for (game, text) in [(Game::Chess, SHARP), (Game::Shogi, DROPS)] {
        let limits = Limits { multipv: 4, ..depth(3) };
        check_lines(&position(game, text), &limits, &Probe::default(), 4);
    }
}

/// `lowerbound` and `upperbound` of the UCI document: the score is just a bound.
#[test]
fn reports_bounds_before_a_line_is_searched_again() {
    let position = position(Game::Chess, SHARP);
    let probe = Probe::with_window_bounds();
    let outcome = search(&position, &depth(10), &probe);
    let bounds = probe.window_bounds.as_ref().map(RefCell::take).unwrap_or_default();
    assert!(!bounds.is_empty());
    for (bound, line) in &bounds {
        assert_eq!(line.multipv, 1, "{bound:?} {line:?}");
        assert!((4..=10).contains(&line.depth), "{bound:?} {line:?}");
        assert!(position.clone().after(tokens(Game::Chess, &line.pv)).is_ok(), "{line:?}");
    }
    assert_eq!(search(&position, &depth(10), &Probe::default()), outcome);
}

#[test]
fn reports_at_most_one_line_per_move() {
    let position = position(Game::Chess, "7k/8/8/8/8/8/6r1/7K w - - 0 1");
    let moves = position.legal_moves().len();
    assert!(moves < 5);
    check_lines(&position, &Limits { multipv: 5, ..depth(3) }, &Probe::default(), moves);
}

#[test]
fn reports_comparable_lines_when_stopped() {
    for question in 1..60 {
        let probe = Probe::stop_at(question);
        let limits = Limits { multipv: 3, ..Limits::default() };
        check_lines(&position(Game::Chess, SHARP), &limits, &probe, 3);
        let depths: HashSet<u32> = probe.last_lines().iter().map(|line| line.depth).collect();
        assert_eq!(depths.len(), 1, "{depths:?}");
    }
}

#[test]
fn plays_the_best_move_before_lines_are_comparable() {
    // A queen can be captured. One line needs fewer nodes than the limit, five lines need more.
    let position = position(Game::Chess, "k7/8/8/3q4/4P3/8/PPPP1PPP/R5K1 w - - 0 1");
    let limits = Limits { multipv: 5, nodes: Some(40), ..Limits::default() };
    let outcome = search(&position, &limits, &Probe::default());
    assert_eq!(outcome.depth, 0);
    assert_eq!(outcome.best().map(|mv| crate::token(Game::Chess, mv)).as_deref(), Some("e4d5"));
}

#[test]
fn finds_the_same_best_move_among_several_lines() {
    let position = position(Game::Chess, SHARP);
    let one = search(&position, &depth(4), &Probe::default());
    let many = search(&position, &Limits { multipv: 3, ..depth(4) }, &Probe::default());
    assert_eq!((one.best(), one.score), (many.best(), many.score));
}

#[test]
fn searches_only_the_requested_moves() {
    for (game, text, only) in
        [(Game::Chess, SHARP, ["a2a3", "a2a4"]), (Game::Shogi, DROPS, ["P*2c", "9g9f"])]
    {
        let position = position(game, text);
        let only: Vec<Move> =
            only.iter().map(|token| position.parse_move(token).expect("legal")).collect();
        let limits = Limits { searchmoves: only.clone(), multipv: 5, ..depth(3) };
        let probe = Probe::default();
        check_lines(&position, &limits, &probe, 2);
        for line in probe.lines.borrow().iter() {
            assert!(line.pv.first().is_some_and(|mv| only.contains(mv)), "{line:?}");
        }
        for (mv, _) in probe.currmoves.borrow().iter() {
            assert!(only.contains(mv));
        }
    }
}

#[test]
fn searches_all_moves_if_no_requested_move_is_legal() {
    let foreign = Position::start(Game::Shogi).parse_move("7g7f").expect("legal");
    let limits = Limits { searchmoves: vec![foreign], ..depth(1) };
    let outcome = search(&Position::start(Game::Chess), &limits, &Probe::default());
    assert!(outcome.best().is_some());
}

#[test]
fn reports_each_searched_move_with_its_number() {
    let probe = Probe::default();
    let position = Position::start(Game::Chess);
    search(&position, &depth(1), &probe);
    let reported = probe.currmoves.into_inner();
    assert_eq!(
        reported.iter().map(|reported| reported.1).collect::<Vec<_>>(),
        (1..=20).collect::<Vec<_>>()
    );
    let moves: HashSet<Move> = reported.iter().map(|reported| reported.0).collect();
    assert_eq!(moves, position.legal_moves().into_iter().collect());
}

/// In UCI a move without a refutation is reported alone. This move stalemates Black.
#[test]
fn a_move_without_a_reply_is_reported_alone() {
    let position = position(Game::Chess, "7k/5K2/8/8/8/8/8/6Q1 w - - 0 1");
    let probe = Probe::default();
    search(&position, &Limits { refutations: true, ..depth(6) }, &probe);
    let stalemate = position.parse_move("g1g6").expect("legal");
    let reported = probe.refutations.borrow();
    assert!(reported.contains(&(stalemate, Vec::new())), "{reported:?}");
    assert!(reported.iter().any(|(_, answers)| answers.len() == 1), "{reported:?}");
}

/// Receives the current line at each poll.
#[derive(Default)]
struct CurrLines {
    polls: Cell<u64>,
    lines: RefCell<Vec<Vec<Move>>>,
}

impl Control for CurrLines {
    fn stopped(&self) -> bool {
        self.polls.set(self.polls.get() + 1);
        false
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.polls.get())
    }

    fn report(&self, _report: &Report<'_>) {}

    fn currline(&self, line: &[Move], _thread: usize) {
        self.lines.borrow_mut().push(line.to_vec());
    }
}

/// Moves after a null move are not part of a line that a client can play.
#[test]
fn current_lines_are_legal() {
    for (game, text) in [(Game::Chess, SHARP), (Game::Shogi, DROPS)] {
        let position = position(game, text);
        let limits = Limits { nodes: Some(100_000), currlines: true, ..Limits::default() };
        let control = CurrLines::default();
        Searcher::new(16).expect("memory").search(&position, &limits, &control);
        let lines = control.lines.into_inner();
        assert!(lines.iter().filter(|line| line.len() > 3).count() > 100, "{}", lines.len());
        for line in lines {
            let tokens = tokens(game, &line);
            assert!(position.clone().after(&tokens).is_ok(), "{tokens:?}");
        }
    }
}
