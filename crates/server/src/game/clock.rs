//! The clocks of a game.

use std::time::Duration;

use readyok_protocol::{Clock, Clocks, Dialect};

use crate::time::Moment;
use crate::wire::{ClockState, Side, Sides, Time};

/// The clock of one side, which adds the time control to a [`Clock`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct SideClock {
    time: Time,
    /// At the last press.
    clock: Clock,
}

/// Both clocks, of which at most one runs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct GameClocks {
    sides: [SideClock; 2],
    running: Option<(Side, Moment)>,
}

/// The state of both clocks between two moves.
pub(crate) type ClockSnapshot = [(i64, Option<u32>); 2];

fn millis(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

fn index(side: Side) -> usize {
    match side {
        Side::First => 0,
        Side::Second => 1,
    }
}

impl SideClock {
    fn new(time: Time) -> Self {
        let clock = match time {
            Time::None => Clock::default(),
            Time::Clock { base, increment, byoyomi, moves } => Clock {
                remaining: millis(base),
                increment: millis(increment),
                byoyomi: millis(byoyomi),
                moves_to_go: moves.filter(|moves| 0 < *moves),
                ..Clock::default()
            },
            Time::PerMove { time } => Clock { remaining: millis(time), ..Clock::default() },
        };
        Self { time, clock }
    }

    /// The maximum time of the next move; none without a clock.
    fn budget(&self) -> Option<i64> {
        (self.time != Time::None)
            .then(|| self.clock.remaining.max(0).saturating_add(self.clock.byoyomi))
    }

    /// Subtracts the time of a move. Returns false if the flag has fallen.
    fn spend(&mut self, elapsed: i64) -> bool {
        let Some(budget) = self.budget() else { return true };
        if budget < elapsed {
            return false;
        }
        if let Time::Clock { base, moves, .. } = self.time {
            self.clock.spend(elapsed, moves.map(|moves| (millis(base), moves)));
        }
        true
    }
}

impl GameClocks {
    /// None if neither side has a clock.
    pub(crate) fn new(first: Time, second: Time) -> Option<Self> {
        if (first, second) == (Time::None, Time::None) {
            return None;
        }
        Some(Self { sides: [SideClock::new(first), SideClock::new(second)], running: None })
    }

    /// Starts the clock of a side.
    pub(crate) fn start(&mut self, side: Side, now: Moment) {
        self.running = Some((side, now));
    }

    /// Stops both clocks without a move, and subtracts the elapsed time.
    pub(crate) fn pause(&mut self, now: Moment) {
        let Some((side, since)) = self.running.take() else { return };
        let elapsed = millis(now.saturating_sub(since));
        let SideClock { time, clock } = self.side_mut(side);
        if let Time::Clock { .. } = time {
            clock.remaining = (clock.remaining - elapsed).max(0);
        }
    }

    /// Ends the move of a side. Returns its time, as an error if the flag has fallen; none if the clock did not run. An
    /// engine's time is measured at the arrival of its answer, and is at most the elapsed time of its clock.
    pub(crate) fn press(
        &mut self,
        side: Side,
        now: Moment,
        measured: Option<u64>,
    ) -> Result<Option<u64>, u64> {
        let ran = self.running.take().filter(|(of, _)| *of == side);
        let ran = ran.map(|(_, since)| now.saturating_sub(since));
        let elapsed = ran.into_iter().chain(measured).min();
        let spent = elapsed.unwrap_or(0);
        if self.side_mut(side).spend(millis(spent)) { Ok(elapsed) } else { Err(spent) }
    }

    /// The side whose clock runs.
    pub(crate) fn running(&self) -> Option<Side> {
        self.running.map(|(side, _)| side)
    }

    /// The side whose clock runs, and the moment of its flag fall.
    pub(crate) fn flag(&self) -> Option<(Side, Moment)> {
        let (side, since) = self.running?;
        let budget = self.side(side).budget()?;
        Some((side, since.saturating_add(u64::try_from(budget).unwrap_or(0))))
    }

    /// The remaining main time after a move; none without a clock.
    pub(crate) fn left(&self, side: Side) -> Option<u64> {
        let clock = self.side(side);
        matches!(clock.time, Time::Clock { .. })
            .then(|| u64::try_from(clock.clock.remaining).unwrap_or(0))
    }

    pub(crate) fn reading(&self) -> ClockSnapshot {
        self.sides.map(|side| (side.clock.remaining, side.clock.moves_to_go))
    }

    /// Restores an earlier state; none for the start.
    pub(crate) fn set(&mut self, reading: Option<ClockSnapshot>) {
        self.running = None;
        for (index, clock) in self.sides.iter_mut().enumerate() {
            *clock = SideClock::new(clock.time);
            if let Some((remaining, moves)) =
                reading.and_then(|reading| reading.get(index).copied())
            {
                (clock.clock.remaining, clock.clock.moves_to_go) = (remaining, moves);
            }
        }
    }

    pub(crate) fn wire(&self, now: Moment) -> ClockState {
        let remaining = |side: Side| {
            let clock = self.side(side);
            if clock.time == Time::None {
                return None;
            }
            let used = match self.running {
                Some((running, since)) if running == side => millis(now.saturating_sub(since)),
                Some(_) | None => 0,
            };
            Some(clock.clock.remaining - used)
        };
        let [first, second] = self.sides.map(|side| side.clock);
        let time = |time: i64| u64::try_from(time).unwrap_or(0);
        ClockState {
            remaining: Sides { first: remaining(Side::First), second: remaining(Side::Second) },
            byoyomi: Sides { first: time(first.byoyomi), second: time(second.byoyomi) },
            increment: Sides { first: time(first.increment), second: time(second.increment) },
            moves_to_go: Sides { first: first.moves_to_go, second: second.moves_to_go },
            running: self.running.map(|(side, _)| side),
            sent_at: now,
        }
    }

    /// The clocks of `go` for the engine of a side. The protocols have one byoyomi and one
    /// number of moves, which are the engine's own.
    pub(crate) fn go(&self, side: Side, dialect: Dialect) -> Clocks {
        let clock = |side: Side| self.side(side).go(dialect);
        let Some(own) = clock(side) else { return Clocks::default() };
        // An opponent without a clock of this kind has as much as the engine.
        let other = clock(side.other()).unwrap_or(own);
        let (first, second) = match side {
            Side::First => (own, other),
            Side::Second => (other, own),
        };
        // The first player is White in chess and Black in shogi.
        let (white, black) = match dialect {
            Dialect::Uci => (first, second),
            Dialect::Usi => (second, first),
        };
        let mut clocks = Clocks::new(white, black);
        clocks.moves_to_go = own.moves_to_go;
        let has = |time: Option<i64>| time.is_some_and(|time| time != 0);
        if has(clocks.white_increment) || has(clocks.black_increment) {
            // USI has increments or a byoyomi, never both.
            clocks.byoyomi = None;
        } else {
            clocks.byoyomi = (own.byoyomi != 0).then_some(own.byoyomi);
        }
        clocks
    }

    /// The fixed time of each move of a side.
    pub(crate) fn per_move(&self, side: Side) -> Option<Duration> {
        match self.side(side).time {
            Time::PerMove { time } => Some(Duration::from_millis(time)),
            Time::None | Time::Clock { .. } => None,
        }
    }

    fn side(&self, side: Side) -> &SideClock {
        let [first, second] = &self.sides;
        if index(side) == 0 { first } else { second }
    }

    fn side_mut(&mut self, side: Side) -> &mut SideClock {
        let [first, second] = &mut self.sides;
        if index(side) == 0 { first } else { second }
    }
}

impl SideClock {
    fn go(&self, dialect: Dialect) -> Option<Clock> {
        let Time::Clock { .. } = self.time else { return None };
        let Clock { remaining, increment, byoyomi, .. } = self.clock;
        Some(match dialect {
            // The increment was added when the last move ended. UCI has no byoyomi: one that does not
            // keep it is as good as an increment until the main time is used up.
            Dialect::Uci => Clock {
                remaining: remaining.saturating_add(byoyomi),
                increment: increment.max(byoyomi),
                byoyomi: 0,
                ..self.clock
            },
            Dialect::Usi => self.clock,
        })
    }
}

impl<T> Sides<T> {
    pub(crate) fn of(&self, side: Side) -> &T {
        match side {
            Side::First => &self.first,
            Side::Second => &self.second,
        }
    }

    pub(crate) fn of_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::First => &mut self.first,
            Side::Second => &mut self.second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(base: u64, increment: u64, byoyomi: u64, moves: Option<u32>) -> Time {
        Time::Clock { base, increment, byoyomi, moves }
    }

    /// Plays moves of both sides with the given times. Compares the remaining time of the first side.
    fn check(time: Time, moves: &[u64], expected: &str) {
        let mut clocks = GameClocks::new(time, time).expect("there are clocks");
        let mut now = 1000;
        let mut shown = Vec::new();
        for taken in moves {
            clocks.start(Side::First, now);
            now += taken;
            match clocks.press(Side::First, now, None) {
                Ok(elapsed) => {
                    assert_eq!(elapsed, Some(*taken));
                    shown.push(clocks.side(Side::First).clock.remaining.to_string());
                }
                Err(_) => shown.push("flag".to_owned()),
            }
        }
        assert_eq!(shown.join(" "), expected, "{time:?}");
    }

    #[test]
    fn time_is_used_and_added_by_the_time_control() {
        check(clock(1000, 0, 0, None), &[400, 600, 1], "600 0 flag");
        check(clock(1000, 100, 0, None), &[400, 700], "700 100");
        check(clock(1000, 0, 0, Some(2)), &[100, 200, 300], "900 1700 1400");
        check(clock(1000, 0, 500, None), &[900, 600, 500, 501], "100 0 0 flag");
        check(Time::PerMove { time: 300 }, &[300, 10, 301], "300 300 flag");
    }

    #[test]
    fn a_flag_falls_without_remaining_time() {
        let mut clocks =
            GameClocks::new(clock(1000, 0, 500, None), Time::None).expect("there are clocks");
        clocks.start(Side::First, 50);
        assert_eq!(clocks.flag(), Some((Side::First, 1550)));
        clocks.start(Side::Second, 60);
        assert_eq!(clocks.flag(), None);
    }

    #[test]
    fn usi_has_byoyomi_and_uci_has_it_in_the_time() {
        let clocks = GameClocks::new(clock(0, 0, 10_000, None), clock(0, 0, 10_000, None))
            .expect("there are clocks");
        let usi = clocks.go(Side::First, Dialect::Usi);
        assert_eq!((usi.black_time, usi.byoyomi), (Some(0), Some(10_000)));
        let uci = clocks.go(Side::First, Dialect::Uci);
        assert_eq!((uci.white_time, uci.byoyomi), (Some(10_000), None));
    }

    #[test]
    fn an_engine_uses_its_measured_time_while_its_clock_runs() {
        let time = clock(1000, 0, 0, None);
        let mut clocks = GameClocks::new(time, time).expect("there are clocks");
        for (ran, measured, expected) in [(300, 290, 290), (300, 60_000, 300)] {
            clocks.start(Side::First, 5000);
            assert_eq!(clocks.press(Side::First, 5000 + ran, Some(measured)), Ok(Some(expected)));
        }
    }

    #[test]
    fn a_pause_subtracts_the_used_time() {
        let mut clocks = GameClocks::new(clock(1000, 0, 0, None), clock(1000, 0, 0, None))
            .expect("there are clocks");
        clocks.start(Side::Second, 10);
        clocks.pause(310);
        assert_eq!(clocks.wire(9999).remaining.second, Some(700));
        assert_eq!(clocks.flag(), None);
    }
}
