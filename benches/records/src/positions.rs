//! CPU time of positions: moves as text, playing and taking back, FEN and SFEN.

use std::hint::black_box;

use readyok_rules::{Game, Move, Position, PositionHistory};

use super::{PASSES, seconds};

const GAMES: usize = 60;
const PLIES: usize = 120;

/// Random games: the moves of each.
fn games(game: Game) -> Vec<Vec<Move>> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |count: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % count as u64) as usize
    };
    let random_game = |_| {
        let mut position = Position::start(game);
        let mut moves = Vec::new();
        while moves.len() < PLIES {
            let legal = position.legal_moves();
            if legal.is_empty() {
                break;
            }
            let mv = legal[random(legal.len())];
            position.play(mv).expect("a legal move");
            moves.push(mv);
        }
        moves
    };
    (0..GAMES).map(random_game).collect()
}

/// Calls a function for each position and the next move, and plays the moves. The result is the number of moves.
fn replay(game: Game, games: &[Vec<Move>], mut at: impl FnMut(&Position)) -> (usize, usize) {
    let mut plies = 0;
    for moves in games {
        let mut position = Position::start(game);
        for &mv in moves {
            at(&position);
            position.play(mv).expect("a legal move");
            plies += 1;
        }
    }
    (plies, 0)
}

/// CPU time per ply of each kind of work. All are measured alternately, and the best pass counts.
pub(super) fn measure() {
    for game in [Game::Chess, Game::Shogi] {
        let games = games(game);
        let form = game.castling_form();
        let texts: Vec<Vec<String>> =
            games.iter().map(|moves| moves.iter().map(|mv| mv.to_uci(form)).collect()).collect();
        type Work<'a> = (&'a str, Box<dyn Fn() -> (usize, usize) + 'a>);
        let work: Vec<Work<'_>> = vec![
            ("play", Box::new(|| replay(game, &games, |_| ()))),
            (
                "read and play",
                Box::new(|| {
                    let mut plies = 0;
                    for moves in &texts {
                        let mut position = Position::start(game);
                        for mv in moves {
                            position.play_uci(mv).expect("a legal move");
                            plies += 1;
                        }
                    }
                    (plies, 0)
                }),
            ),
            (
                "legal moves and play",
                Box::new(|| {
                    replay(game, &games, |position| {
                        black_box(position.legal_moves());
                    })
                }),
            ),
            (
                "legal moves as text and play",
                Box::new(|| {
                    replay(game, &games, |position| {
                        for mv in position.legal_moves() {
                            black_box(mv.to_uci(form));
                        }
                    })
                }),
            ),
            (
                "legal moves as small text and play",
                Box::new(|| {
                    replay(game, &games, |position| {
                        for mv in position.legal_moves() {
                            black_box(mv.uci(form).as_str());
                        }
                    })
                }),
            ),
            (
                "position as text and play",
                Box::new(|| {
                    replay(game, &games, |position| {
                        black_box(position.to_string());
                    })
                }),
            ),
            (
                "play in a history",
                Box::new(|| {
                    let mut plies = 0;
                    for moves in &games {
                        let mut history = PositionHistory::new(Position::start(game));
                        for &mv in moves {
                            history.push(mv).expect("a legal move");
                            plies += 1;
                        }
                    }
                    (plies, 0)
                }),
            ),
            (
                "play and take back in a history",
                Box::new(|| {
                    let mut plies = 0;
                    for moves in &games {
                        let mut history = PositionHistory::new(Position::start(game));
                        for &mv in moves {
                            history.push(mv).expect("a legal move");
                            plies += 1;
                        }
                        history.truncate(0);
                    }
                    (plies, 0)
                }),
            ),
            (
                "clone and play",
                Box::new(|| {
                    replay(game, &games, |position| {
                        black_box(position.clone());
                    })
                }),
            ),
        ];
        let mut best = vec![f64::INFINITY; work.len()];
        for _ in 0..PASSES {
            for (best, (_, work)) in best.iter_mut().zip(&work) {
                let (time, (plies, _)) = seconds(work);
                *best = best.min(time / plies as f64);
            }
        }
        for (best, (name, _)) in best.iter().zip(&work) {
            println!("{game:?}: {name}: {:.0} ns a ply", best * 1e9);
        }
    }
}
