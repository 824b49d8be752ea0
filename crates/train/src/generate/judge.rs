//! Adjudicates games by score.

use crate::data::{End, MAX_PLIES, Winner};
use crate::games::GameKind;

/// The number of plies for which both sides must agree on a winning score.
const WON_PLIES: u32 = 4;

/// The number of plies for which both sides must agree on a drawn score.
const DRAWN_PLIES: u32 = 12;

/// The minimum winning score, in centipawns.
fn won(game: GameKind) -> i16 {
    match game {
        GameKind::Chess => 1000,
        GameKind::Shogi => 2500,
    }
}

/// The maximum absolute score of a draw, and the first ply at which it counts. Games of shogi are
/// hardly ever level at the end.
fn drawn(game: GameKind) -> Option<(i16, usize)> {
    match game {
        GameKind::Chess => Some((4, 80)),
        GameKind::Shogi => None,
    }
}

/// The maximum length of a game in plies, after which it is drawn.
fn max_plies(game: GameKind) -> usize {
    match game {
        GameKind::Chess => 400,
        GameKind::Shogi => 320,
    }
    .min(MAX_PLIES)
}

/// Observes the scores of a game.
pub(super) struct Judge {
    game: GameKind,
    plies: usize,
    ahead: Winner,
    /// The number of plies with this leader.
    since: u32,
    level_since: u32,
}

impl Judge {
    pub(super) fn new(game: GameKind) -> Self {
        Self { game, plies: 0, ahead: Winner::None, since: 0, level_since: 0 }
    }

    /// Adds the score of the next ply for the first side. Returns the result if the game is decided.
    pub(super) fn receive(&mut self, score: i16) -> Option<(Winner, End)> {
        self.plies += 1;
        let won = won(self.game);
        let ahead = match score {
            _ if score >= won => Winner::First,
            _ if score <= -won => Winner::Second,
            _ => Winner::None,
        };
        self.since = if ahead == self.ahead { self.since + 1 } else { 1 };
        self.ahead = ahead;
        if ahead != Winner::None && self.since >= WON_PLIES {
            return Some((ahead, End::Scores));
        }
        if let Some((level, from)) = drawn(self.game) {
            let is_level = score.abs() <= level && self.plies >= from;
            self.level_since = if is_level { self.level_since + 1 } else { 0 };
            if self.level_since >= DRAWN_PLIES {
                return Some((Winner::None, End::Scores));
            }
        }
        (self.plies >= max_plies(self.game)).then_some((Winner::None, End::Length))
    }
}

#[cfg(test)]
mod tests {
    use super::{End, GameKind, Judge, Winner};

    fn judged(game: GameKind, scores: impl IntoIterator<Item = i16>) -> Option<(usize, Winner)> {
        let mut judge = Judge::new(game);
        let mut plies = 0;
        scores.into_iter().find_map(|score| {
            plies += 1;
            judge.receive(score).map(|(winner, _)| (plies, winner))
        })
    }

    #[test]
    fn adjudicates_a_win_if_both_sides_agree() {
        assert_eq!(judged(GameKind::Chess, [1000; 5]), Some((4, Winner::First)));
        assert_eq!(judged(GameKind::Chess, [-1000; 5]), Some((4, Winner::Second)));
        assert_eq!(judged(GameKind::Chess, [1000, 1000, 1000, 999, 1000, 1000, 1000]), None);
        assert_eq!(judged(GameKind::Chess, [1000, 1000, -1000, -1000, 1000, 1000]), None);
        assert_eq!(judged(GameKind::Shogi, [2499; 5]), None);
        assert_eq!(judged(GameKind::Shogi, [2500; 5]), Some((4, Winner::First)));
    }

    #[test]
    fn adjudicates_a_draw_of_level_chess_games() {
        assert_eq!(judged(GameKind::Chess, [0; 100]), Some((91, Winner::None)));
        assert_eq!(judged(GameKind::Shogi, [0; 100]), None);
    }

    #[test]
    fn games_end_at_the_maximum_length() {
        let last = |game| {
            let mut judge = Judge::new(game);
            std::iter::repeat_n(100, 1000).find_map(|score| judge.receive(score))
        };
        assert_eq!(last(GameKind::Chess), Some((Winner::None, End::Length)));
        assert_eq!(last(GameKind::Shogi), Some((Winner::None, End::Length)));
        assert_eq!(judged(GameKind::Shogi, [100; 1000]), Some((320, Winner::None)));
    }
}
