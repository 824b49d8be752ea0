//! A record of shogi that is being read.

use rsshogi::types::{Move as Word, Move32};

use crate::{BoardRef, GameResult, Move, Position, Side};

use super::super::{
    Annotations, End, GameRecord, Limit, Limits, NodeId, RecordErrorKind, limits::MOST_PLIES,
};
use super::take_comment;

/// A record with a place in it, from which one can go on and back.
pub(in super::super) struct Draft {
    pub(in super::super) record: GameRecord,
    board: rsshogi::board::Position,
    path: Vec<(NodeId, Move32)>,
    limits: Limits,
    /// The comment that is being read, which can go on for lines.
    pub(in super::super) comment: String,
}

impl Draft {
    pub(in super::super) fn new(start: Position, limits: &Limits) -> Result<Self, RecordErrorKind> {
        let BoardRef::Shogi(board) = start.board() else {
            return Err(RecordErrorKind::WrongGame(start.game()));
        };
        Ok(Self {
            board: board.position().clone(),
            record: GameRecord::new(start),
            path: Vec::new(),
            limits: Limits { plies: limits.plies.min(MOST_PLIES), ..*limits },
            comment: String::new(),
        })
    }

    /// The board at the place.
    pub(in super::super) fn board(&self) -> &rsshogi::board::Position {
        &self.board
    }

    /// How many moves were played up to the place.
    pub(in super::super) fn ply(&self) -> usize {
        self.path.len()
    }

    /// The last move before the place.
    pub(in super::super) fn last_move(&self) -> Option<Move32> {
        self.path.last().map(|(_, mv)| *mv)
    }

    /// Whether nothing has been read of the game.
    pub(in super::super) fn is_fresh(&self) -> bool {
        self.record.is_empty() && self.notes_ref().is_none_or(|notes| notes.end.is_none())
    }

    fn here(&self) -> NodeId {
        self.path.last().map_or(NodeId::ROOT, |(id, _)| *id)
    }

    fn notes_ref(&self) -> Option<&Annotations> {
        self.record.node(self.here()).map(|node| &node.notes)
    }

    /// What is said about the place.
    pub(in super::super) fn notes(&mut self) -> Option<&mut Annotations> {
        let here = self.here();
        self.record.notes_mut(here)
    }

    /// Plays a move, and goes on behind it.
    pub(in super::super) fn play(&mut self, mv: Word) -> Result<(), RecordErrorKind> {
        self.end_comment();
        if self.path.len() >= self.limits.plies {
            return Err(RecordErrorKind::TooMuch(Limit::Plies));
        }
        if self.record.len() >= self.limits.moves {
            return Err(RecordErrorKind::TooMuch(Limit::Moves));
        }
        if !mv.is_normal() || !self.board.is_legal_move(mv) {
            return Err(self.illegal(&mv.to_usi()));
        }
        let mv = self.board.move32_from_move(mv);
        self.board.try_apply_move32(mv).map_err(|_| RecordErrorKind::TooMuch(Limit::Plies))?;
        let attached = self.record.attach(self.here(), Move::Shogi(mv));
        let id = attached.ok_or(RecordErrorKind::TooMuch(Limit::Moves))?;
        self.path.push((id, mv));
        Ok(())
    }

    /// Why a move that cannot be played here cannot.
    pub(in super::super) fn illegal(&self, word: &str) -> RecordErrorKind {
        let position = self.record.position_after(self.here());
        match position.map(|position| position.parse_move(word)) {
            Some(Err(error)) => RecordErrorKind::Move(error),
            Some(Ok(_)) | None => RecordErrorKind::NoSuchMove(word.to_owned()),
        }
    }

    /// Goes back until so many moves were played; false if there were fewer.
    pub(in super::super) fn back_to(&mut self, ply: usize) -> bool {
        self.end_comment();
        let enough = ply <= self.path.len();
        while self.path.len() > ply {
            let Some((_, mv)) = self.path.pop() else { break };
            if self.board.undo_move32(mv).is_err() {
                return false;
            }
        }
        enough
    }

    /// Adds a line to the comment on the place.
    pub(in super::super) fn comment_line(&mut self, line: &str) -> Result<(), RecordErrorKind> {
        self.limits.add_line(&mut self.comment, line)
    }

    /// The comment on the place is complete.
    pub(in super::super) fn end_comment(&mut self) {
        let text = std::mem::take(&mut self.comment);
        let Some(notes) = self.notes() else { return };
        match &mut notes.end {
            Some(end) => {
                let text = text.trim();
                if !text.is_empty() {
                    end.comments.push(text.to_owned());
                }
            }
            None => take_comment(&text, notes),
        }
    }

    /// Says how the line ended here.
    pub(in super::super) fn end(&mut self, end: End) {
        self.end_comment();
        if let Some(notes) = self.notes() {
            notes.end = Some(end);
        }
    }

    /// Replaces the outcome of the line by that of a summary. False if the summary adds nothing.
    pub(in super::super) fn sum_up(&mut self, end: End) -> bool {
        let known = self.notes_ref().and_then(|notes| notes.end.as_ref());
        if known.is_some_and(|known| known.outcome == end.outcome && known.text == end.text) {
            return false;
        }
        self.end_comment();
        let Some(notes) = self.notes() else { return false };
        match &mut notes.end {
            Some(known) => (known.outcome, known.text) = (end.outcome, end.text),
            None => notes.end = Some(end),
        }
        true
    }

    /// The side to move at the place.
    pub(in super::super) fn turn(&self) -> Side {
        let first = self.record.start().turn();
        if self.path.len().is_multiple_of(2) { first } else { first.other() }
    }

    /// The record. Its result is that of the end of the main line, if the end has one.
    pub(in super::super) fn finish(mut self) -> GameRecord {
        self.end_comment();
        self.record.settle();
        let (last, result) = (self.record.last(), self.record.result);
        if let Some(end) = self.record.notes_mut(last).and_then(|notes| notes.end.as_mut()) {
            if end.outcome.result == GameResult::Unknown {
                end.outcome.result = result;
            }
            self.record.result = end.outcome.result;
        }
        self.record
    }
}
