//! `go mate` of USI.

use readyok_engine::{Checkmate, Control, Failure, Info, Score};
use readyok_rules::{BoardRef, Move, Position};

use super::{Limits, Solution, Solver};

/// How many positions are looked at for a mate that is shorter than the one found.
const SHORTEN: u64 = 200_000;

/// No mate is worth a larger table, in megabytes.
const MOST_MEMORY: usize = 1024;

/// Searches for a mate until it is found, refuted, or a limit or the control says to stop. None
/// within so many plies is no word about longer ones.
pub(crate) fn checkmate(
    position: &Position,
    limits: Limits,
    megabytes: usize,
    control: &Control,
) -> Result<Checkmate<'static>, Failure> {
    let BoardRef::Shogi(board) = position.board() else {
        return Ok(Checkmate::NotImplemented);
    };
    let mut solver = Solver::new(megabytes.min(MOST_MEMORY))?;
    let limits = Limits { shorten: SHORTEN, ..limits };
    let solution = solver.solve(board.position(), &limits, &mut || control.stopped());
    let line = match solution {
        Solution::Mate(line) => line,
        Solution::NoMate if limits.plies.is_none() => return Ok(Checkmate::NoMate),
        Solution::NoMate | Solution::Unknown => return Ok(Checkmate::Timeout),
    };
    let form = position.game().castling_form();
    let words: Result<Vec<_>, _> =
        line.into_iter().map(|mv| Move::from(mv).word(form).parse()).collect();
    let words = words?;
    let plies = u32::try_from(words.len()).unwrap_or(u32::MAX);
    let (nodes, time) = (solver.nodes(), control.elapsed());
    control.info(Info {
        depth: Some(plies),
        score: Some(Score::MateIn { plies }),
        nodes: Some(nodes),
        nps: u64::try_from(u128::from(nodes) * 1_000_000 / time.as_micros().max(1)).ok(),
        time: u64::try_from(time.as_millis()).ok(),
        pv: Some(words.iter().copied().collect()),
        ..Info::default()
    });
    Ok(Checkmate::Moves(words.into_iter().collect()))
}
