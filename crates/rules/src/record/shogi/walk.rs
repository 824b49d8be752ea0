//! A board that follows a record forth and back while it is written.

use rsshogi::types::Move32;

use crate::{BoardRef, Move, Position};

use super::super::{GameRecord, Node, NodeId};

/// Where a writer stands.
pub(in super::super) struct Walk {
    board: rsshogi::board::Position,
    path: Vec<Move32>,
}

/// The steps of a writer in the order of KIF: a line to its end, then its variations from the last
/// to the first.
pub(in super::super) enum Step<'a> {
    /// A variation begins in place of the move of this number, from 1.
    Variation(usize),
    /// A move, with the board before it and the move before it.
    Move { node: &'a Node, mv: Move32, board: &'a rsshogi::board::Position, last: Option<Move32> },
    /// The line ends behind this node.
    LineEnd(&'a Node),
}

impl Walk {
    /// None for other games.
    pub(in super::super) fn new(start: &Position) -> Option<Self> {
        let BoardRef::Shogi(board) = start.board() else { return None };
        Some(Self { board: board.position().clone(), path: Vec::new() })
    }

    /// The board where the writer stands.
    pub(in super::super) fn board(&self) -> &rsshogi::board::Position {
        &self.board
    }

    /// The move before.
    pub(in super::super) fn last(&self) -> Option<Move32> {
        self.path.last().copied()
    }

    /// Plays a move of the record; false if it cannot be played.
    pub(in super::super) fn play(&mut self, mv: Move32) -> bool {
        let played = self.board.try_apply_move32(mv).is_ok();
        if played {
            self.path.push(mv);
        }
        played
    }

    /// Goes back to a number of moves.
    pub(in super::super) fn back_to(&mut self, ply: usize) {
        while self.path.len() > ply {
            let Some(mv) = self.path.pop() else { break };
            // It was played here.
            let _ = self.board.undo_move32(mv);
        }
    }

    /// Shows every step of a record, all variations or the main line only. Stops at an error.
    pub(in super::super) fn steps<E>(
        &mut self,
        record: &GameRecord,
        variations: bool,
        mut show: impl FnMut(Step<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(root) = record.root() else { return Ok(()) };
        let mut starts: Vec<NodeId> = Vec::new();
        let mut node = root;
        let mut next = root.children().first().copied();
        if variations {
            starts.extend(root.children().iter().skip(1).rev());
        }
        loop {
            while let Some(child) = next.and_then(|id| record.node(id)) {
                let Some(Move::Shogi(mv)) = child.mv() else { break };
                let last = self.path.last().copied();
                show(Step::Move { node: child, mv, board: &self.board, last })?;
                if !self.play(mv) {
                    break;
                }
                node = child;
                next = child.children().first().copied();
                if variations {
                    starts.extend(child.children().iter().skip(1).rev());
                }
            }
            show(Step::LineEnd(node))?;
            let Some(start) = starts.pop().and_then(|id| record.node(id)) else { return Ok(()) };
            show(Step::Variation(start.ply()))?;
            self.back_to(start.ply().saturating_sub(1));
            next = Some(start.id());
        }
    }
}
