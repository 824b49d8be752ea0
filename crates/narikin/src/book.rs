//! The choice of moves from opening books.

use readyok_rules::{Book, BookError, BookMove, Game, Position};

/// Moves that are worse than the best by more centipawns are not played.
const MARGIN: i32 = 30;

/// Chooses a move of a book: the first with the highest weight, or, with a seed, a random one in proportion to the
/// weights. None if all weights are 0.
pub(crate) fn choose(
    book: &mut Book,
    position: &Position,
    seed: Option<u64>,
) -> Result<Option<BookMove>, BookError> {
    let moves = candidates(book, position)?;
    let mut chosen = match seed {
        Some(seed) => random_choice(&moves, seed),
        None => moves.iter().rev().max_by_key(|candidate| weight(candidate)),
    }
    .copied()
    .filter(|candidate| 0 < weight(candidate));
    if let Some(chosen) = &mut chosen
        && chosen.reply.is_none()
    {
        let mut next = position.clone();
        if next.play(chosen.mv).is_ok() {
            let replies = candidates(book, &next)?;
            let best = replies.iter().rev().max_by_key(|reply| weight(reply));
            chosen.reply = best.filter(|reply| 0 < weight(reply)).map(|reply| reply.mv);
        }
    }
    Ok(chosen)
}

/// The moves that are nearly as good as the best. Moves without a score count as best.
fn candidates(book: &mut Book, position: &Position) -> Result<Vec<BookMove>, BookError> {
    let mut moves = book.moves(position)?;
    if position.game() == Game::Shogi {
        // A move that no game has is played if its score is good.
        for it in &mut moves {
            it.weight = it.weight.map(|weight| weight.max(1));
        }
    }
    let best = moves.iter().filter_map(|candidate| candidate.score).max();
    moves.retain(|candidate| match (candidate.score, best) {
        (Some(score), Some(best)) => best.saturating_sub(score) <= MARGIN,
        (None, _) | (_, None) => true,
    });
    Ok(moves)
}

fn weight(it: &BookMove) -> u64 {
    it.weight.unwrap_or(1)
}

fn random_choice(moves: &[BookMove], seed: u64) -> Option<&BookMove> {
    // Sums of a file's numbers must not overflow.
    let weight = |candidate: &BookMove| u128::from(weight(candidate));
    let total: u128 = moves.iter().map(weight).sum();
    let mut left = u128::from(seed).checked_rem(total)?;
    moves.iter().find(|candidate| match left.checked_sub(weight(candidate)) {
        None => true,
        Some(rest) => {
            left = rest;
            false
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use readyok_rules::Game;

    #[test]
    fn random_choice_is_proportional_to_weights() {
        let moves = Position::start(Game::Chess).legal_moves();
        let weights = [3, 0, 1];
        let moves: Vec<_> = weights
            .iter()
            .zip(moves)
            .map(|(&weight, mv)| BookMove {
                mv,
                reply: None,
                weight: Some(weight),
                score: None,
                depth: None,
            })
            .collect();
        let random_choice: Vec<_> =
            (0..8).map(|seed| random_choice(&moves, seed).map(weight)).collect();
        let (three, one) = (Some(3), Some(1));
        assert_eq!(random_choice, [three, three, three, one, three, three, three, one]);
        assert_eq!(super::random_choice(&[], 5), None);
        let never = [BookMove { weight: Some(0), ..moves[0] }];
        assert_eq!(super::random_choice(&never, 5), None);
    }
}
