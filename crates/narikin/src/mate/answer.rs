//! `go mate` of USI.

use std::time::Duration;

use readyok_engine::{Checkmate, Control, Failure, Info, Score};
use readyok_rules::{BoardRef, Move, Position};

use super::{Limits, Solution, Solver};

/// How many positions are looked at for a mate that is shorter than the one found.
const SHORTEN: u64 = 200_000;

/// No mate is worth a larger table, in megabytes.
const MOST_MEMORY: usize = 1024;

/// A megabyte of the table is for so many positions, or so many milliseconds. To make more than a
/// search can fill would take time from it.
const POSITIONS: u64 = 16_384;
const MILLIS: u128 = 20;

/// The size of the table for a search of so many positions and so much time, of which there is memory
/// for so many megabytes.
fn table_size(megabytes: usize, nodes: Option<u64>, time: Option<Duration>) -> usize {
    let by_nodes = nodes.and_then(|nodes| usize::try_from(nodes / POSITIONS).ok());
    let by_time = time.and_then(|time| usize::try_from(time.as_millis() / MILLIS).ok());
    let enough = [by_nodes, by_time].into_iter().flatten().min();
    enough.map_or(MOST_MEMORY, |enough| enough.saturating_add(1)).min(megabytes).min(MOST_MEMORY)
}

/// How often it is told how many positions were looked at.
const INTERVAL: Duration = Duration::from_secs(1);

fn looked_at(nodes: u64, time: Duration) -> Info<'static> {
    Info {
        nodes: Some(nodes),
        nps: u64::try_from(u128::from(nodes) * 1_000_000 / time.as_micros().max(1)).ok(),
        time: Some(time),
        ..Info::default()
    }
}

/// Searches for a mate until it is found, refuted, or a limit or the control says to stop, with at
/// most so many megabytes of memory. None within so many plies is no word about longer ones.
pub(crate) fn checkmate(
    position: &Position,
    limits: Limits,
    megabytes: usize,
    control: &Control,
) -> Result<Checkmate<'static>, Failure> {
    let BoardRef::Shogi(board) = position.board() else {
        return Ok(Checkmate::NotImplemented);
    };
    let size = table_size(megabytes, limits.nodes, control.budget().hard);
    let mut solver = Solver::new(size)?;
    let limits = Limits { shorten: SHORTEN, ..limits };
    let mut next = INTERVAL;
    let solution = solver.solve(board.position(), &limits, &mut |nodes| {
        let time = control.elapsed();
        if next <= time {
            next = time + INTERVAL;
            control.info(looked_at(nodes, time));
        }
        control.stopped()
    });
    let told = looked_at(solver.nodes(), control.elapsed());
    let line = match solution {
        Solution::Mate(line) => line,
        Solution::NoMate | Solution::Unknown => {
            control.info(told);
            let is_none = solution == Solution::NoMate && limits.plies.is_none();
            return Ok(if is_none { Checkmate::NoMate } else { Checkmate::Timeout });
        }
    };
    let form = position.game().castling_form();
    let words: Result<Vec<_>, _> =
        line.into_iter().map(|mv| Move::from(mv).word(form).parse()).collect();
    let words = words?;
    let plies = u32::try_from(words.len()).unwrap_or(u32::MAX);
    control.info(Info {
        depth: Some(plies),
        score: Some(Score::MateIn { plies }),
        pv: Some(words.iter().copied().collect()),
        ..told
    });
    Ok(Checkmate::Moves(words.into_iter().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_search_has_a_small_table() {
        let millis = |millis| Some(Duration::from_millis(millis));
        assert_eq!(table_size(16, None, None), 16);
        assert_eq!(table_size(1 << 25, None, None), MOST_MEMORY);
        assert_eq!(table_size(1 << 25, None, millis(100)), 6);
        assert_eq!(table_size(1 << 25, Some(0), millis(60_000)), 1);
        assert_eq!(table_size(4, Some(u64::MAX), millis(60_000)), 4);
        assert_eq!(table_size(1 << 25, Some(u64::MAX), Some(Duration::MAX)), MOST_MEMORY);
        assert_eq!(table_size(0, None, millis(100)), 0);
    }
}
