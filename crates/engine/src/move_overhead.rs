//! Estimates the time that a move loses outside of the search, from the clocks that the client sends.

use std::time::Duration;

use readyok_protocol::session::engine::SearchRequest;
use readyok_protocol::{Clock, Millis, Position};

/// Number of moves with the worst loss that the reserve covers.
const RESERVE_MOVES: u32 = 6;
/// Each move reduces the worst loss by this fraction.
const DECAY: u32 = 64;
/// A larger loss means that the clock was changed.
const MAX_LOSS: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct MoveOverhead {
    /// The worst recent loss.
    worst: Duration,
    last: Option<Turn>,
}

/// A search with a clock.
#[derive(Debug)]
struct Turn {
    position: Position<'static>,
    clock: Clock,
    used: Option<Duration>,
}

impl MoveOverhead {
    /// Handles the start of a search, and compares its clock with that of the last one.
    pub(crate) fn begin(&mut self, request: &SearchRequest) {
        let clock = request.clock().filter(|_| !request.go.ponder && !request.go.infinite);
        let turn =
            clock.map(|clock| Turn { position: request.position.clone(), clock, used: None });
        let before = std::mem::replace(&mut self.last, turn);
        if let (Some(before), Some(turn)) = (before, &self.last)
            && let Some(lost) = before.lost_until(turn)
        {
            self.record(lost);
        }
    }

    /// Records the time that the search took.
    pub(crate) fn end(&mut self, used: Duration) {
        if let Some(turn) = &mut self.last {
            turn.used = Some(used);
        }
    }

    /// Ignores a search whose clock changes.
    pub(crate) fn skip_turn(&mut self) {
        self.last = None;
    }

    fn record(&mut self, lost: Duration) {
        let before = self.worst.saturating_sub(self.worst / DECAY);
        self.worst = before.max(if MAX_LOSS < lost { Duration::ZERO } else { lost });
    }

    /// The overhead of a move on a clock: `minimum`, or the estimate if it is larger, but at most half of
    /// the clock.
    pub(crate) fn overhead(&self, minimum: Duration, request: &SearchRequest) -> Duration {
        let time = request.clock().map_or(Duration::ZERO, |clock| clock.budget());
        minimum.max((self.worst * RESERVE_MOVES).min(time / 2))
    }
}

impl Turn {
    /// The loss of the clock until the next turn of the same side. `None` if it is unknown.
    fn lost_until(&self, next: &Self) -> Option<Duration> {
        let used = Millis::try_from(self.used?.as_micros() / 1000).ok()?;
        let of_game = |clock: &Clock| (clock.increment, clock.byoyomi, clock.convention);
        let rest = next.position.moves.as_str().strip_prefix(self.position.moves.as_str())?;
        // A byoyomi may cover a part of the time, and after the last of the moves to go time is added.
        let is_main_time = self.clock.byoyomi == 0 || 0 < next.clock.remaining;
        let is_same_period = match (self.clock.moves_to_go, next.clock.moves_to_go) {
            (None, None) => true,
            (Some(before), Some(left)) => before.checked_sub(1) == Some(left),
            _ => false,
        };
        if self.position.root != next.position.root
            || rest.split_ascii_whitespace().count() != 2
            || of_game(&self.clock) != of_game(&next.clock)
            || !is_main_time
            || !is_same_period
        {
            return None;
        }
        let expected = self.clock.remaining.checked_add(self.clock.increment)?.checked_sub(used)?;
        let lost = expected.checked_sub(next.clock.remaining)?;
        Some(Duration::from_millis(u64::try_from(lost).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use readyok_protocol::{Command, Dialect};

    use super::*;

    const MINIMUM: Duration = Duration::from_millis(10);

    fn request(dialect: Dialect, moves: &str, go: &str) -> SearchRequest {
        let text = format!("position startpos {moves}");
        let Command::Position(position) = Command::read(&text, dialect).value else {
            panic!("{text}");
        };
        let Command::Go(go) = Command::read(go, dialect).value else { panic!("{go}") };
        SearchRequest::new(dialect, position.into_owned(), go.into_owned())
    }

    /// The overhead after two turns, the first of which used 100 ms.
    fn after(dialect: Dialect, first: [&str; 2], second: [&str; 2]) -> u128 {
        let mut overhead = MoveOverhead::default();
        overhead.begin(&request(dialect, first[0], first[1]));
        overhead.end(Duration::from_millis(100));
        let second = request(dialect, second[0], second[1]);
        overhead.begin(&second);
        overhead.overhead(MINIMUM, &second).as_millis()
    }

    #[test]
    fn clock_losses_increase_the_overhead() {
        use Dialect::{Uci, Usi};
        let (two, four) = ("moves e2e4 e7e5", "moves e2e4 e7e5 g1f3 b8c6");
        let clock = "go wtime 1000 btime 9 winc 10 binc 10";
        let lost = |left: &str| after(Uci, [two, clock], [four, left]);
        // A loss of 25 ms: six times that is the overhead.
        assert_eq!(lost("go wtime 885 btime 9 winc 10 binc 10"), 150);
        assert_eq!(lost("go wtime 910 btime 9 winc 10 binc 10"), 10);
        assert_eq!(lost("go wtime 990 btime 9 winc 10 binc 10"), 10);
        // Another time control, another game, a takeback, and a changed clock.
        assert_eq!(lost("go wtime 885 btime 9 winc 20 binc 20"), 10);
        assert_eq!(after(Uci, [two, clock], [two, "go wtime 885 winc 10"]), 10);
        assert_eq!(after(Uci, [four, clock], [two, "go wtime 885 winc 10"]), 10);
        let (rich, poor) = ("go wtime 9000 btime 9", "go wtime 5000 btime 9");
        assert_eq!(after(Uci, [two, rich], [four, poor]), 10);
        // Moves to go, before and at the end of a period.
        let period = "go wtime 1000 movestogo 2";
        assert_eq!(after(Uci, [two, period], [four, "go wtime 880 movestogo 1"]), 120);
        assert_eq!(after(Uci, [two, period], [four, "go wtime 880 movestogo 40"]), 10);
        // A byoyomi may cover a part.
        let (two, four) = ("moves 7g7f 3c3d", "moves 7g7f 3c3d 2g2f 8c8d");
        let byoyomi = ["go btime 1000 wtime 9 byoyomi 100", "go btime 870 wtime 9 byoyomi 100"];
        assert_eq!(after(Usi, [two, byoyomi[0]], [four, byoyomi[1]]), 180);
        let last = ["go btime 10 wtime 9 byoyomi 100", "go btime 0 wtime 9 byoyomi 100"];
        assert_eq!(after(Usi, [two, last[0]], [four, last[1]]), 10);
    }

    #[test]
    fn clock_losses_decay() {
        let mut overhead = MoveOverhead::default();
        overhead.record(Duration::from_millis(20));
        let millis = |overhead: &MoveOverhead, go: &str| {
            overhead.overhead(MINIMUM, &request(Dialect::Uci, "", go)).as_millis()
        };
        assert_eq!(millis(&overhead, "go wtime 1000"), 120);
        // At most half of the time.
        assert_eq!(millis(&overhead, "go wtime 100"), 50);
        for _ in 0..400 {
            overhead.record(Duration::ZERO);
        }
        assert_eq!(millis(&overhead, "go wtime 1000"), 10);
    }
}
