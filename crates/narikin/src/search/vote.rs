//! Selection of the result among the threads of a search.

use std::cmp::Reverse;

use super::root::RootMove;
use crate::score::{Value, is_decided};

/// Weight of the thread with the least value, in centipawns.
const BASE_WEIGHT: i64 = 14;

/// Selects the result from the best lines of all threads, of which the first is that of the main thread.
///
/// A proved result of the main thread is final. Otherwise a proved win of another thread has priority. Without one,
/// each thread votes for its move, with its depth times the distance of its value to the least value. The result is the
/// deepest line with the selected move.
pub(super) fn select<M: Copy + PartialEq>(lines: &[RootMove<M>]) -> Option<&RootMove<M>> {
    let main = lines.first().filter(|main| main.depth > 0)?;
    if is_decided(main.value) {
        return Some(main);
    }
    let complete = || lines.iter().filter(|line| line.depth > 0);
    let wins = complete().filter(|line| is_decided(line.value) && line.value > 0);
    if let Some(win) = wins.max_by_key(|line| line.value) {
        return Some(win);
    }
    let voters = || complete().filter(|line| !is_decided(line.value));
    let least = voters().map(|line| line.value).min()?;
    let weight = |value: Value| i64::from(value) - i64::from(least) + BASE_WEIGHT;
    let votes = |mv: M| -> i64 {
        let supporters = voters().filter(|line| line.mv == mv);
        supporters.map(|line| weight(line.value) * i64::from(line.depth)).sum()
    };
    // Of equal lines, the first has priority.
    voters().min_by_key(|line| Reverse((votes(line.mv), line.depth)))
}

#[cfg(test)]
mod tests {
    use super::select;
    use crate::{score::mate_in, search::root::RootMove};

    fn selected(lines: &[(u16, i32, i32)]) -> Option<(u16, i32)> {
        let lines: Vec<_> =
            lines.iter().map(|&(mv, value, depth)| RootMove::with_line(mv, value, depth)).collect();
        select(&lines).map(|line| (line.mv, line.value))
    }

    #[test]
    fn the_move_with_the_most_votes_is_selected() {
        assert_eq!(selected(&[(1, 20, 10), (2, 25, 10), (2, 22, 11)]), Some((2, 22)));
        assert_eq!(selected(&[(1, 20, 10), (2, 20, 10)]), Some((1, 20)));
        assert_eq!(selected(&[(1, 20, 12), (2, 20, 11), (3, 20, 10)]), Some((1, 20)));
    }

    #[test]
    fn proved_wins_have_priority_over_votes() {
        let mate = mate_in(5);
        assert_eq!(selected(&[(1, 90, 20), (1, 80, 20), (2, mate, 9)]), Some((2, mate)));
        assert_eq!(selected(&[(1, mate - 2, 20), (2, mate, 9)]), Some((1, mate - 2)));
    }

    #[test]
    fn proved_losses_and_incomplete_lines_do_not_vote() {
        assert_eq!(selected(&[(1, -50, 8), (2, -mate_in(4), 30), (3, 400, 0)]), Some((1, -50)));
        assert_eq!(selected(&[(1, -mate_in(4), 8), (2, 10, 9)]), Some((1, -mate_in(4))));
        assert_eq!(selected(&[(1, 0, 0), (2, 10, 9)]), None);
    }
}
