//! Tablebase probes of chess.

use super::{Chess, ChessMove, key_of};
use crate::{
    board::{Board, MoveList, SearchMove, TbMove},
    control::TbConfig,
    score::{DRAW, Value},
    search::tt::Bound,
    tablebase::{Ranked, Wdl},
};

/// More than any difference of DTZ values.
const RANKS_PER_RESULT: i32 = 1 << 20;

/// Moves of the winner that are searched for a way around threefold repetition.
const REPETITION_MOVES: u32 = 2;

impl Chess {
    /// See [`Board::probe`].
    pub(super) fn tablebase_bound(
        &self,
        config: &TbConfig,
        depth: i32,
        win: Value,
    ) -> Option<(Value, Bound)> {
        let board = &self.now.board;
        let pieces = usize::try_from(board.occupied().len()).unwrap_or(usize::MAX);
        let most = config.probe_limit.min(config.tablebases.max_pieces());
        let is_deep =
            pieces < most || u32::try_from(depth).is_ok_and(|depth| config.probe_depth <= depth);
        if pieces > most || !is_deep || board.halfmove_clock() != 0 {
            return None;
        }
        Some(match config.tablebases.wdl(board)? {
            Wdl::Win => (win, Bound::AtLeast),
            Wdl::Loss => (-win, Bound::AtMost),
            Wdl::CursedWin if !config.rule50 => (win, Bound::AtLeast),
            Wdl::BlessedLoss if !config.rule50 => (-win, Bound::AtMost),
            Wdl::CursedWin | Wdl::BlessedLoss | Wdl::Draw => (DRAW, Bound::Exact),
        })
    }

    /// See [`Board::probe_root`].
    pub(super) fn tablebase_root(&self, config: &TbConfig, win: Value) -> Option<Vec<TbMove>> {
        let pieces = usize::try_from(self.now.board.occupied().len()).unwrap_or(usize::MAX);
        if pieces > config.probe_limit {
            return None;
        }
        let piece_value = |wdl: Wdl| match wdl {
            Wdl::CursedWin if !config.rule50 => Wdl::Win,
            Wdl::BlessedLoss if !config.rule50 => Wdl::Loss,
            wdl => wdl,
        };
        let may_repeat = self.has_repetition();
        // Tablebases ignore the game history.
        let result = |ranked: &Ranked, mv: ChessMove| {
            let wdl = piece_value(ranked.wdl);
            if !may_repeat {
                return wdl;
            }
            let mut after = self.clone();
            after.play(mv);
            let holds = match wdl {
                Wdl::Win => after.loses_without_repetition(config, REPETITION_MOVES),
                Wdl::Loss => after.wins_without_repetition(config, REPETITION_MOVES),
                Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => true,
            };
            if holds { wdl } else { Wdl::Draw }
        };
        let by_table = |ranked: &Ranked| {
            let piece = self.now.board.piece_on(ranked.mv.from)?;
            let mv = self.chess_move(ranked.mv, piece);
            // Wins need progress and losses delay; a draw only has to be kept.
            let (result, value, dtz) = match result(ranked, mv) {
                Wdl::Win => (0, win, ranked.dtz),
                Wdl::CursedWin => (1, DRAW, ranked.dtz),
                Wdl::Draw => (2, DRAW, 0),
                Wdl::BlessedLoss => (3, DRAW, ranked.dtz),
                Wdl::Loss => (4, -win, ranked.dtz),
            };
            let mv = mv.packed();
            Some(TbMove { mv, rank: result * RANKS_PER_RESULT + dtz, value })
        };
        config.tablebases.root(&self.now.board)?.iter().map(by_table).collect()
    }

    /// Whether a repeatable position has occurred twice.
    fn has_repetition(&self) -> bool {
        let reversible = usize::from(self.now.board.halfmove_clock()).min(self.plies_since_null);
        let mut keys: Vec<u64> = self.keys.iter().rev().take(reversible).copied().collect();
        keys.push(key_of(&self.now.board));
        keys.sort_unstable();
        !keys.is_sorted_by(|one, next| one < next)
    }

    /// Whether the side to move, which wins by tablebases, still wins if threefold repetition is a
    /// draw, within a few moves.
    fn wins_without_repetition(&mut self, config: &TbConfig, moves: u32) -> bool {
        if self.is_threefold_repetition() {
            return false;
        }
        let Some(moves) = moves.checked_sub(1) else { return true };
        let wins = |board: &mut Self| {
            config.tablebases.wdl(&board.now.board) == Some(Wdl::Loss)
                && board.loses_without_repetition(config, moves)
        };
        self.legal_moves().into_iter().any(|mv| self.after(mv, wins))
    }

    /// Whether the side to move, which loses by tablebases, still loses if threefold repetition is
    /// a draw, within a few moves.
    fn loses_without_repetition(&mut self, config: &TbConfig, moves: u32) -> bool {
        let wins = |board: &mut Self| board.wins_without_repetition(config, moves);
        !self.is_threefold_repetition()
            && self.legal_moves().into_iter().all(|mv| self.after(mv, wins))
    }

    fn legal_moves(&self) -> Vec<ChessMove> {
        let mut moves = MoveList::new();
        self.generate_all(&mut moves);
        moves.into_iter().map(|(_, mv)| mv).collect()
    }

    /// The result of `of` after a move.
    fn after<T>(&mut self, mv: ChessMove, of: impl Fn(&mut Self) -> T) -> T {
        self.play(mv);
        let value = of(self);
        self.undo(mv);
        value
    }
}
