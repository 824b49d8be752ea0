//! Complete games: every move and every line is legal.

use narikin::{Limits, Searcher};
use readyok_rules::{Game, Move, Position};

use crate::{Probe, depth, tokens};

/// A deterministic random number generator.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn choose(&mut self, moves: &[Move]) -> Option<Move> {
        let count = u64::try_from(moves.len()).ok().filter(|&count| count > 0)?;
        moves.get(usize::try_from(self.next() % count).ok()?).copied()
    }
}

/// Plays random moves and searches every position.
fn check_random_games(game: Game, text: &str, games: u64, limits: &Limits) {
    let mut searcher = Searcher::new(1).expect("a megabyte");
    for seed in 1..=games {
        let mut numbers = RandomNumbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut position = crate::position(game, text);
        for _ in 0..150 {
            let probe = Probe::default();
            let outcome = searcher.search(&position, limits, &probe);
            let moves = position.legal_moves();
            assert_eq!(outcome.best().is_none(), moves.is_empty(), "{position}");
            for line in probe.lines.borrow().iter() {
                let tokens = tokens(game, &line.pv);
                let played = position.clone().after(&tokens);
                assert!(played.is_ok(), "{position} {tokens:?}: {played:?}");
            }
            let Some(mv) = numbers.choose(&moves) else { break };
            position.play(mv).expect("a legal move");
        }
    }
}

#[test]
fn plays_legal_moves_of_chess_from_random_positions() {
    check_random_games(Game::Chess, "", 6, &depth(2));
}

#[test]
fn plays_legal_moves_of_chess960_from_random_positions() {
    let text = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    check_random_games(Game::Chess960, text, 6, &depth(2));
}

#[test]
fn plays_legal_moves_of_shogi_from_random_positions() {
    check_random_games(Game::Shogi, "", 3, &depth(2));
}

#[test]
fn plays_legal_moves_without_a_king() {
    let text = "4k4/9/9/3+R5/9/9/9/9/9 b 2BGSNLP3g3s3n3l17p 1";
    check_random_games(Game::Shogi, text, 2, &depth(1));
}

#[test]
fn searches_the_position_with_the_most_moves() {
    let text = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";
    let limits = Limits { nodes: Some(20_000), ..Limits::default() };
    check_random_games(Game::Shogi, text, 1, &Limits { depth: Some(1), ..limits });
}

#[test]
fn plays_a_game_against_itself_to_its_end() {
    for game in [Game::Chess, Game::Shogi] {
        let mut searcher = Searcher::new(1).expect("a megabyte");
        let mut position = Position::start(game);
        let limits = Limits { nodes: Some(300), ..Limits::default() };
        let mut plies = 0;
        while position.outcome().is_none() && plies < 400 {
            let outcome = searcher.search(&position, &limits, &Probe::default());
            position.play(outcome.best().expect("a move")).expect("a legal move");
            plies += 1;
        }
        assert!(plies > 10, "{position}");
    }
}

/// Both sides search, without tablebases.
#[test]
fn mates_a_bare_king() {
    for fen in [
        "8/8/8/4k3/8/8/8/KQ6 w - - 0 1",
        "8/8/8/4k3/8/8/8/KR6 w - - 0 1",
        "8/8/8/4k3/8/8/8/KBB5 w - - 0 1",
        "8/8/8/4k3/8/8/8/KBN5 w - - 0 1",
        "8/8/8/4k3/8/4K3/4P3/8 b - - 0 1",
        "8/8/8/4k3/8/8/P6P/4K3 w - - 0 1",
        "4kr2/8/8/8/4K3/8/8/8 b - - 0 1",
    ] {
        let mut searcher = Searcher::new(4).expect("four megabytes");
        let limits = Limits { nodes: Some(4000), ..Limits::default() };
        let mut position = crate::position(Game::Chess, fen);
        for _ in 0..100 {
            let outcome = searcher.search(&position, &limits, &Probe::default());
            let Some(best) = outcome.best() else { break };
            position.play(best).expect("a legal move");
        }
        assert!(position.legal_moves().is_empty() && position.in_check(), "{fen}: {position}");
    }
}
