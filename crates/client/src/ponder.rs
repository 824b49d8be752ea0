//! Pondering that the client starts by itself after an answer ([`Search::ponder_after`]).

use std::time::Duration;

use readyok_protocol::{Clocks, Color, Dialect, Millis};

use crate::game::Game;
use crate::result::SearchResult;
use crate::search::Search;

/// The search to begin after a result: the game with the expected reply, and the limits for the answer to it.
/// `None` if the engine expects nothing.
pub(crate) fn on_reply(
    game: &Game,
    search: &Search,
    result: &SearchResult,
    dialect: Dialect,
) -> Option<(Game, Search)> {
    let (best, reply) = (result.best_move()?, result.ponder?);
    let mover = game.position().mover(dialect);
    let mut expected = game.clone();
    expected.extend([best, reply]);
    let mut ponder = search.clone().ponder();
    ponder.set_clocks(|clocks| after_move(clocks, mover, result.time()));
    Some((expected, ponder))
}

/// Whether a search continues the one that ponders: the same game, position, options and kind of limit.
pub(crate) fn fits(pondered: (&Game, &Search), wanted: (&Game, &Search)) -> bool {
    let ((expected, before), (game, search)) = (pondered, wanted);
    expected.id() == game.id() && expected.position() == game.position() && before.is_like(search)
}

/// The clocks before the next move of a side that has just used some time. The time that the opponent will use is
/// unknown.
fn after_move(clocks: Clocks, mover: Color, used: Duration) -> Clocks {
    let used = Millis::try_from(used.as_millis()).unwrap_or(Millis::MAX);
    let mut next = clocks;
    for color in [Color::White, Color::Black] {
        let (time, increment) = match color {
            Color::White => (&mut next.white_time, clocks.white_increment),
            Color::Black => (&mut next.black_time, clocks.black_increment),
        };
        let increment = increment.unwrap_or(0);
        let spent = if color == mover { used } else { 0 };
        *time = time.map(|time| time.saturating_sub(spent).max(0).saturating_add(increment));
    }
    next.moves_to_go = clocks.moves_to_go.map(|moves| moves.saturating_sub(1)).filter(|&it| 0 < it);
    next
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Clock;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_mover_pays_and_both_get_their_increments() {
        let clock = Clock::fischer(60 * SECOND, SECOND);
        let clocks = Clocks { moves_to_go: Some(2), ..Clocks::new(clock, clock) };
        let next = after_move(clocks, Color::Black, 5 * SECOND);
        assert_eq!((next.white_time, next.black_time), (Some(61_000), Some(56_000)));
        assert_eq!(next.moves_to_go, Some(1));
        assert_eq!(after_move(next, Color::Black, SECOND).moves_to_go, None);
    }

    #[test]
    fn a_clock_does_not_fall_below_zero() {
        let clocks = Clocks::new(Clock::byoyomi(SECOND, SECOND), Clock::byoyomi(SECOND, SECOND));
        let next = after_move(clocks, Color::White, 5 * SECOND);
        assert_eq!((next.white_time, next.black_time), (Some(0), Some(1_000)));
        assert_eq!(next.byoyomi, Some(1_000));
    }
}
