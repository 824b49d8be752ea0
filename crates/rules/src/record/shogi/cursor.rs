//! Traverses a record with a board, for writing.
//!
//! The formats of shogi have no null moves: a line ends before one, and has no variations of it.

use rsshogi::types::Move32;

use crate::{BoardRef, Move, Position};

use super::super::{GameRecord, Node, NodeId, RecordMove};

/// The board at a writer's position in the record.
pub(in super::super) struct BoardCursor {
    board: rsshogi::board::Position,
    path: Vec<Move32>,
}

/// The steps of the traversal in the order of KIF: a line to its end, then its variations from the
/// last to the first.
pub(in super::super) enum Step<'a> {
    /// A variation replaces the move of this number, from 1.
    Variation(usize),
    /// A move, with the board and the last move before it.
    Move { node: &'a Node, mv: Move32, board: &'a rsshogi::board::Position, last: Option<Move32> },
    /// An illegal move ends the line. It is not played on the board.
    Illegal {
        node: &'a Node,
        mv: Move32,
        board: &'a rsshogi::board::Position,
        last: Option<Move32>,
    },
    /// The line ends after this node.
    LineEnd(&'a Node),
}

impl BoardCursor {
    pub(in super::super) fn new(start: &Position) -> Self {
        let board = match start.board() {
            BoardRef::Shogi(board) => board.position().clone(),
            // No moves follow a diagram, and records of other games are not written.
            BoardRef::Diagram(_) | BoardRef::Chess(_) => rsshogi::board::Position::empty(),
        };
        Self { board, path: Vec::new() }
    }

    /// The current board.
    pub(in super::super) fn board(&self) -> &rsshogi::board::Position {
        &self.board
    }

    /// The last move.
    pub(in super::super) fn last(&self) -> Option<Move32> {
        self.path.last().copied()
    }

    /// Plays a move of the record. False if it cannot be played.
    pub(in super::super) fn play(&mut self, mv: Move32) -> bool {
        let played = self.board.try_apply_move32(mv).is_ok();
        if played {
            self.path.push(mv);
        }
        played
    }

    /// Goes back to a ply.
    pub(in super::super) fn back_to(&mut self, ply: usize) {
        while self.path.len() > ply {
            let Some(mv) = self.path.pop() else { break };
            // The move was played here, so this cannot fail.
            let _ = self.board.undo_move32(mv);
        }
    }

    /// Calls `visit` for every step of a record, with all variations or the main line only.
    pub(in super::super) fn steps(
        &mut self,
        record: &GameRecord,
        variations: bool,
        mut visit: impl FnMut(Step<'_>),
    ) {
        let Some(root) = record.root() else { return };
        let mut starts: Vec<NodeId> = Vec::new();
        let mut node = root;
        let mut next = Self::next(record, root.id(), variations, &mut starts);
        loop {
            while let Some((child, mv)) = next {
                let (board, last) = (&self.board, self.path.last().copied());
                match mv {
                    RecordMove::Legal(Move::Shogi(mv)) => {
                        visit(Step::Move { node: child, mv, board, last });
                        if !self.play(mv) {
                            break;
                        }
                    }
                    RecordMove::Illegal(Move::Shogi(mv)) => {
                        visit(Step::Illegal { node: child, mv, board, last });
                    }
                    RecordMove::Null
                    | RecordMove::Legal(Move::Chess(_))
                    | RecordMove::Illegal(Move::Chess(_)) => break,
                }
                node = child;
                next = Self::next(record, child.id(), variations, &mut starts);
            }
            visit(Step::LineEnd(node));
            let Some(start) = starts.pop().and_then(|id| record.node(id)) else { return };
            visit(Step::Variation(start.ply()));
            self.back_to(start.ply().saturating_sub(1));
            next = start.mv().map(|mv| (start, mv));
        }
    }

    /// The next move of a line. Its variations are added to `starts`.
    fn next<'a>(
        record: &'a GameRecord,
        after: NodeId,
        variations: bool,
        starts: &mut Vec<NodeId>,
    ) -> Option<(&'a Node, RecordMove)> {
        let mut children = record.children(after);
        let first = children.next().filter(|child| child.mv() != Some(RecordMove::Null))?;
        if variations {
            let count = starts.len();
            starts.extend(
                children.filter(|child| child.mv() != Some(RecordMove::Null)).map(Node::id),
            );
            if let Some(new) = starts.get_mut(count..) {
                new.reverse();
            }
        }
        Some((first, first.mv()?))
    }
}
