//! Incremental evaluation of a search.
//!
//! A move only records its changes of features. An evaluation updates the accumulators from the last
//! evaluated position of the line. If the king of a side changed the half of the board since then, a table of
//! earlier positions with this mirroring is the start for that side instead.

use std::ops::Range;

use readyok_rules::Side;

use super::{
    Features, Network,
    architecture::LANES,
    simd::{Lanes, Simd},
};
use crate::{
    board::Board,
    score::{MAX_PLY, Value},
};

/// Plies of a search, with a margin.
const PLIES: usize = MAX_PLY + 8;

/// Features that a move changes, from the view of the first player without mirroring.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Changes {
    added: [u16; 2],
    removed: [u16; 2],
    added_count: u8,
    removed_count: u8,
    /// The mirroring of the moving side, if its king moves.
    mirrored: Option<bool>,
}

impl Changes {
    pub(crate) fn add(&mut self, feature: usize) {
        push(&mut self.added, &mut self.added_count, feature);
    }

    pub(crate) fn remove(&mut self, feature: usize) {
        push(&mut self.removed, &mut self.removed_count, feature);
    }

    /// Sets the mirroring of the moving side, whose king moves.
    pub(crate) fn set_mirrored(&mut self, mirrored: bool) {
        self.mirrored = Some(mirrored);
    }
}

fn push(features: &mut [u16; 2], count: &mut u8, feature: usize) {
    if let Some(last) = features.get_mut(usize::from(*count)) {
        *last = u16::try_from(feature).unwrap_or(u16::MAX);
        *count += 1;
    }
}

/// The state of one ply for a side.
#[derive(Debug, Clone, Copy, Default)]
struct View {
    mirrored: bool,
    computed: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Ply {
    /// Changes by the move to this position.
    changes: Changes,
    views: [View; 2],
}

/// The last refreshed accumulator of a side with a mirroring.
#[derive(Debug, Clone)]
struct Refreshed {
    sums: Vec<Lanes>,
    /// Its active features, as bits.
    active: Vec<u64>,
}

/// The accumulators of each ply, for both sides.
#[derive(Debug, Clone)]
pub(crate) struct Accumulators<'a> {
    network: &'a Network,
    simd: Simd,
    /// Blocks per accumulator.
    blocks: usize,
    /// Two accumulators per ply.
    sums: Vec<Lanes>,
    plies: Vec<Ply>,
    ply: usize,
    /// By side and mirroring.
    refreshed: [[Refreshed; 2]; 2],
    /// Features of the evaluated position, reused.
    active: Vec<u64>,
}

impl<'a> Accumulators<'a> {
    /// Accumulators for a search from this position, of a network for its game.
    pub(crate) fn new<B: Board>(network: &'a Network, board: &B) -> Self {
        Self::with(network, board, Simd::detect())
    }

    fn with<B: Board>(network: &'a Network, board: &B, simd: Simd) -> Self {
        let blocks = network.hidden_biases.len();
        let active = vec![0; B::Position::INPUTS.div_ceil(64)];
        let refreshed = Refreshed { sums: network.hidden_biases.clone(), active: active.clone() };
        let mut it = Self {
            network,
            simd,
            blocks,
            sums: vec![Lanes([0; LANES]); 2 * blocks * PLIES],
            plies: vec![Ply::default(); PLIES],
            ply: 0,
            refreshed: [(); 2].map(|()| [(); 2].map(|()| refreshed.clone())),
            active,
        };
        for side in Side::BOTH {
            it.plies[0].views[index(side)].mirrored = board.position().is_mirrored(side);
            it.refresh(board.position(), side);
        }
        it
    }

    fn range(&self, ply: usize, side: usize) -> Range<usize> {
        let start = (2 * ply + side) * self.blocks;
        start..start + self.blocks
    }

    /// Records the changes of a move, before it is made on the board.
    pub(crate) fn play<B: Board>(&mut self, board: &B, mv: B::Move) {
        let changes = board.changes(mv);
        let mut views = self.plies[self.ply].views;
        for view in &mut views {
            view.computed = false;
        }
        if let Some(mirrored) = changes.mirrored {
            views[board.side()].mirrored = mirrored;
        }
        self.ply += 1;
        self.plies[self.ply] = Ply { changes, views };
    }

    /// Called when the last move is unmade.
    pub(crate) fn undo(&mut self) {
        self.ply -= 1;
    }

    /// The value of the position in centipawns for the side to move.
    pub(crate) fn evaluate<B: Board>(&mut self, board: &B) -> Value {
        let position = board.position();
        for side in Side::BOTH {
            self.compute(position, side);
        }
        let side = board.side();
        let [ours, theirs] = [side, 1 - side].map(|side| &self.sums[self.range(self.ply, side)]);
        let value = self.network.output(self.simd, ours, theirs, position.output_bucket());
        board.endgame_value(value)
    }

    /// Computes the accumulator of a side for the last position.
    fn compute<P: Features>(&mut self, position: &P, side: Side) {
        let mut last = self.ply;
        // The first accumulators are always computed.
        while let [previous, ply] = [last.saturating_sub(1), last].map(|ply| self.plies[ply].views)
            && let [previous, view] = [previous, ply].map(|views| views[index(side)])
            && !view.computed
        {
            if previous.mirrored != view.mirrored {
                self.refresh(position, side);
                return;
            }
            last -= 1;
        }
        for ply in last + 1..=self.ply {
            self.update::<P>(ply, side);
        }
    }

    /// Computes the accumulator of a side from that of the previous ply.
    fn update<P: Features>(&mut self, ply: usize, side: Side) {
        let Ply { changes, views } = &mut self.plies[ply];
        let view = &mut views[index(side)];
        view.computed = true;
        let (network, mirrored) = (self.network, view.mirrored);
        let column = |feature: u16| network.column(P::relative(feature.into(), side, mirrored));
        let Changes { added, removed, added_count, removed_count, .. } = *changes;
        let (from, to) = (self.range(ply - 1, index(side)), self.range(ply, index(side)));
        let (before, after) = self.sums.split_at_mut(to.start);
        let (from, to) = (&before[from], &mut after[..self.blocks]);
        let [a, b] = added;
        let [s, t] = removed;
        match (added_count, removed_count) {
            (1, 1) => self.simd.update(to, from, [column(a)], [column(s)]),
            (1, 2) => self.simd.update(to, from, [column(a)], [column(s), column(t)]),
            _ => {
                self.simd.update(to, from, [column(a), column(b)], [column(s), column(t)]);
            }
        }
    }

    /// Computes the accumulator of a side for the last position from the last refreshed one.
    fn refresh<P: Features>(&mut self, position: &P, side: Side) {
        self.active.fill(0);
        position.absolute(|feature| self.active[feature / 64] |= 1 << (feature % 64));
        let view = &mut self.plies[self.ply].views[index(side)];
        view.computed = true;
        let (network, mirrored) = (self.network, view.mirrored);
        let column = |feature| network.column(P::relative(feature, side, mirrored));
        let to = self.range(self.ply, index(side));
        let Refreshed { sums, active } = &mut self.refreshed[index(side)][usize::from(mirrored)];
        for (index, (before, &after)) in active.iter_mut().zip(&self.active).enumerate() {
            let mut changed = *before ^ after;
            while changed != 0 {
                let bit = changed.trailing_zeros() as usize;
                let column = [column(64 * index + bit)];
                if after >> bit & 1 != 0 {
                    self.simd.update_in_place(sums, column, []);
                } else {
                    self.simd.update_in_place(sums, [], column);
                }
                changed &= changed - 1;
            }
            *before = after;
        }
        self.sums[to].copy_from_slice(sums);
    }
}

fn index(side: Side) -> usize {
    match side {
        Side::First => 0,
        Side::Second => 1,
    }
}

#[cfg(test)]
mod tests {
    use readyok_rules::{Game, Position};

    use super::*;
    use crate::{
        board::{Chess, MoveList, Shogi},
        control::Limits,
        network::{
            Activation,
            tests::{RandomNumbers, random},
        },
    };

    /// Walks randomly through the moves and back. Evaluates some positions on the way, so that several
    /// moves are updated together.
    fn check_game<B: Board>(game: Game, text: &str, seed: u64) {
        let network = random(game, 64, Activation::SquaredClippedRelu);
        let position = Position::from_text(game, text).expect("a position");
        let mut numbers = RandomNumbers(seed);
        for simd in Simd::levels() {
            let mut board = B::new(&position, &Limits::default()).expect("a board");
            let mut accumulators = Accumulators::with(&network, &board, simd);
            let mut line = Vec::new();
            let (mut refreshes, mut evaluated) = (0, 0);
            for _ in 0..if cfg!(miri) { 20 } else { 3000 } {
                let mut list = MoveList::new();
                board.generate_all(&mut list);
                let count = u64::try_from(list.len()).expect("few");
                if count == 0 || line.len() == 100 || !line.is_empty() && numbers.below(5) < 2 {
                    let Some(mv) = line.pop() else { break };
                    board.undo(mv);
                    accumulators.undo();
                } else {
                    // King moves are preferred, because they mirror the board.
                    let mut moves = list.iter().map(|&(_, mv)| mv);
                    let king = moves
                        .find(|&mv| board.changes(mv).mirrored.is_some() && numbers.below(4) == 0);
                    let index = usize::try_from(numbers.below(count)).expect("few");
                    let mv = king.unwrap_or(list[index].1);
                    let mirrored = Side::BOTH.map(|side| board.position().is_mirrored(side));
                    accumulators.play(&board, mv);
                    board.play(mv);
                    let after = Side::BOTH.map(|side| board.position().is_mirrored(side));
                    refreshes += usize::from(mirrored != after);
                    line.push(mv);
                }
                if numbers.below(3) == 0 {
                    evaluated += 1;
                    let expected = network.evaluate(board.position()).expect("of this game");
                    let expected = board.endgame_value(expected);
                    let last = line.last().map(|&mv| B::notation(mv));
                    assert_eq!(accumulators.evaluate(&board), expected, "{simd:?} {last:?}");
                }
            }
            assert!(cfg!(miri) || 0 < refreshes && 500 < evaluated, "{refreshes} {evaluated}");
        }
    }

    #[test]
    fn incremental_evaluations_match_those_from_scratch() {
        for (game, text) in [
            (Game::Chess, "rnbq1k1r/pP1Pbppp/2p5/8/2B5/8/P1P1NnPP/RNBQK2R w KQ - 1 8"),
            (Game::Chess, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
            (Game::Chess, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
            (Game::Chess960, "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"),
        ] {
            check_game::<Chess>(game, text, 7);
        }
        for text in [
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
            "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
            "8k/9/9/9/4R4/9/9/9/4K4 b B2G2S2N2L9Prb2g2s2n2l9p 1",
        ] {
            check_game::<Shogi>(Game::Shogi, text, 8);
        }
    }
}
