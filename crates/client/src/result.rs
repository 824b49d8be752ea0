//! The result of a search, and the variations that lead to it.

use std::ops::Deref;
use std::time::{Duration, Instant};

use readyok_protocol::{Best, Checkmate, Info, Move, Score};

/// The result of a search.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SearchResult {
    /// The answer in the engine's notation: a move whose legality was not checked, none, or a resignation.
    pub best: Best<'static>,
    /// The reply that the engine expects, and would like to ponder on.
    pub ponder: Option<Move>,
    /// The latest info about the best variation.
    pub info: Info<'static>,
    /// The latest info about all variations.
    pub lines: Lines,
    /// The answer of a shogi engine to a search for a mate.
    pub checkmate: Option<Checkmate<'static>>,
    /// When `go` or `ponderhit` was written; taken just before.
    pub started: Instant,
    /// When the answer arrived. If the search had a clock or a deadline, this program's own scheduling delay is not
    /// included on Linux.
    pub answered: Instant,
    /// Steal time of this virtual machine during the search; read only if the engine would have been
    /// [late](crate::Search::deadline_after) otherwise.
    pub stolen: Duration,
    /// Whether the engine pondered on this position, and got a `ponderhit`.
    pub ponder_hit: bool,
}

impl SearchResult {
    /// Time used by the engine: from `go` or `ponderhit` to its answer, without [steal time](Self::stolen).
    pub fn time(&self) -> Duration {
        self.answered.saturating_duration_since(self.started).saturating_sub(self.stolen)
    }

    /// The move, if the engine plays one. The `0000` or `a1a1` of an engine without a legal move is not returned; see
    /// [`best`](Self::best).
    pub fn best_move(&self) -> Option<Move> {
        self.best.to_move()
    }

    /// The result of a search for a mate, in the terms of USI for both protocols.
    pub(crate) fn into_checkmate(self) -> Checkmate<'static> {
        if let Some(checkmate) = self.checkmate {
            return checkmate;
        }
        let has_no_move = match &self.best {
            Best::None => true,
            Best::Move(_) => self.best.to_move().is_none(),
            Best::Resign | Best::Win | Best::Other(_) => false,
        };
        match (self.info.score, self.info.pv) {
            (Some(Score::MateIn { .. } | Score::MateSomeday), Some(pv)) => Checkmate::Moves(pv),
            (Some(Score::Mated | Score::MatedIn { .. }), _) => Checkmate::NoMate,
            _ if has_no_move => Checkmate::NoMate,
            _ => Checkmate::Unknown,
        }
    }
}

/// One `info` of a search.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Update {
    /// Its fields.
    pub info: Box<Info<'static>>,
    /// The line.
    pub raw: String,
    /// When it arrived.
    pub at: Instant,
}

impl Deref for Update {
    type Target = Info<'static>;

    fn deref(&self) -> &Info<'static> {
        &self.info
    }
}

/// The variations of a search, each with its latest score and bound, depth, moves and counters.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Lines {
    /// By their numbers, each with its own: most searches have one.
    by_number: Vec<(u32, Info<'static>)>,
}

impl Lines {
    /// No engine has more legal moves to show.
    pub(crate) const MAX: usize = 1024;

    /// The best variation. It may have no score yet.
    pub fn best(&self) -> Option<&Info<'static>> {
        self.iter().next()
    }

    /// A variation by its number; 1 is the best.
    pub fn get(&self, number: u32) -> Option<&Info<'static>> {
        let place = self.place(number).ok()?;
        self.by_number.get(place).map(|(_, info)| info)
    }

    /// All variations, the best first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Info<'static>> {
        self.by_number.iter().map(|(_, info)| info)
    }

    /// The number of variations.
    pub fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Whether the engine has sent no variation yet.
    pub fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }

    fn place(&self, number: u32) -> Result<usize, usize> {
        self.by_number.binary_search_by_key(&number, |(number, _)| *number)
    }

    /// The variation of this number, a new one if there is room for it.
    fn line(&mut self, number: u32) -> Option<&mut Info<'static>> {
        let place = match self.place(number) {
            Ok(place) => place,
            Err(_) if Self::MAX <= self.len() => return None,
            Err(place) => {
                if self.by_number.is_empty() {
                    self.by_number.reserve_exact(1);
                }
                self.by_number.insert(place, (number, Info::default()));
                place
            }
        };
        self.by_number.get_mut(place).map(|(_, info)| info)
    }

    pub(crate) fn update(&mut self, info: &Info<'static>) {
        // A text, or the move that is being searched, is no variation.
        let is_variation = info.score.is_some() || info.pv.is_some();
        let has_counters = info.nodes.is_some() || info.nps.is_some() || info.time.is_some();
        if !is_variation && !has_counters {
            return;
        }
        let number = info.multipv.unwrap_or(1);
        let Some(line) = self.line(number) else { return };
        if is_variation {
            // The depth that goes with `currmove` is one that has no score yet.
            latest(&mut line.depth, info.depth);
            latest(&mut line.seldepth, info.seldepth);
            latest(&mut line.movesleft, info.movesleft);
            line.multipv = Some(number);
            if info.score.is_some() {
                (line.score, line.bound, line.wdl) = (info.score, info.bound, info.wdl);
            }
            if info.pv.is_some() {
                line.pv.clone_from(&info.pv);
            }
        }
        latest(&mut line.nodes, info.nodes);
        latest(&mut line.nps, info.nps);
        latest(&mut line.eps, info.eps);
        latest(&mut line.hashfull, info.hashfull);
        latest(&mut line.tbhits, info.tbhits);
        latest(&mut line.sbhits, info.sbhits);
        latest(&mut line.cpuload, info.cpuload);
        latest(&mut line.time, info.time);
    }
}

fn latest<T>(slot: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *slot = new;
    }
}

#[cfg(test)]
mod tests {
    use readyok_protocol::{Bound, Dialect, Reply, Score};

    use super::*;

    fn check(infos: &[&str], expected: &str) {
        let mut lines = Lines::default();
        for info in infos {
            let Reply::Info(info) = Reply::read(info, Dialect::Uci).value else {
                panic!("no info: {info}")
            };
            lines.update(&info.into_owned());
        }
        let mut text = String::new();
        for line in lines.iter() {
            Reply::Info(line.clone()).write(Dialect::Uci, &mut text).expect("it was read");
            text.push('\n');
        }
        assert_eq!(text.trim_end(), expected);
    }

    #[test]
    fn an_exact_score_takes_the_bound_back() {
        check(
            &["info depth 3 score cp 9 lowerbound pv e2e4", "info depth 4 score cp 8 pv d2d4"],
            "info depth 4 multipv 1 score cp 8 pv d2d4",
        );
    }

    #[test]
    fn a_variation_keeps_what_a_later_line_does_not_say() {
        check(
            &["info depth 3 score cp 9 pv e2e4", "info nodes 500 nps 7", "info time 3"],
            "info depth 3 multipv 1 score cp 9 nodes 500 nps 7 time 3 pv e2e4",
        );
    }

    #[test]
    fn the_move_in_search_changes_no_variation() {
        check(
            &["info depth 3 score cp 9 pv e2e4", "info depth 4 currmove d2d4 currmovenumber 2"],
            "info depth 3 multipv 1 score cp 9 pv e2e4",
        );
    }

    #[test]
    fn variations_are_kept_apart_and_in_order() {
        check(
            &["info multipv 2 score cp 1 pv d2d4", "info multipv 1 score cp 2 pv e2e4"],
            "info multipv 1 score cp 2 pv e2e4\ninfo multipv 2 score cp 1 pv d2d4",
        );
    }

    #[test]
    fn the_number_of_variations_is_bounded() {
        let mut lines = Lines::default();
        for number in 0..5000 {
            let score = Some(Score::Cp(1));
            let info =
                Info { multipv: Some(number), score, bound: Bound::Exact, ..Info::default() };
            lines.update(&info);
        }
        assert_eq!(lines.len(), Lines::MAX);
    }
}
