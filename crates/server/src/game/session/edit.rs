//! Edits of the tree: comments, NAGs, variations, headers, undo.

use readyok_rules::GameResult;
use readyok_rules::record::{Evaluation, Headers, Nag};

use super::document::record_outcome;
use super::{ActiveGame, Document, no_node, parse_move};
use crate::game::errors::illegal;
use crate::game::tree::record_mark;
use crate::wire::{ApiError, Edit, ErrorCategory, ErrorCode, ErrorSubject, Header, NodeId};

/// Maximum size of a comment, in bytes.
const MAX_COMMENT: usize = 64 << 10;
/// Maximum number of comments, NAGs or marks of a node, and of headers of a game.
const MAX_NOTES: usize = 100;
/// Maximum size of a header, in bytes.
const MAX_HEADER: usize = 4096;
/// Maximum number of moves of an inserted line.
const MAX_LINE: usize = 1000;

impl Document {
    /// Edits the tree, or undoes or redoes an edit. Returns the last node of an inserted line.
    pub(super) fn edit(
        &mut self,
        active: Option<&mut ActiveGame>,
        edit: Edit,
    ) -> Result<Option<NodeId>, ApiError> {
        match edit {
            Edit::Undo | Edit::Redo => {
                if active.as_ref().is_some_and(|active| !active.is_over()) {
                    return Err(ApiError::conflict(ErrorCode::UndoDuringGame));
                }
                if matches!(edit, Edit::Undo) {
                    self.undo()?;
                } else {
                    self.redo()?;
                }
                if let Some(active) = active {
                    active.ensure_tip(self);
                }
                return Ok(None);
            }
            Edit::Comment { .. }
            | Edit::Nags { .. }
            | Edit::Marks { .. }
            | Edit::Delete { .. }
            | Edit::Promote { .. }
            | Edit::Insert { .. }
            | Edit::Headers { .. }
            | Edit::Result { .. } => (),
        }
        let before = self.capture();
        let done = self.apply(active, edit)?;
        self.push_undo(before);
        self.changes.unsaved = true;
        Ok(done)
    }

    fn apply(
        &mut self,
        active: Option<&mut ActiveGame>,
        edit: Edit,
    ) -> Result<Option<NodeId>, ApiError> {
        let is_played = active.as_ref().is_some_and(|active| !active.is_over());
        match edit {
            Edit::Comment { node, before, comments } => {
                check_texts(&before)?;
                check_texts(&comments)?;
                let filled = |texts: Vec<String>| -> Vec<String> {
                    texts.into_iter().filter(|text| !text.trim().is_empty()).collect()
                };
                let notes = self.tree.notes_mut(node).ok_or_else(|| no_node(node))?;
                notes.before = filled(before);
                notes.comments = filled(comments);
                self.changes.nodes.insert(node);
            }
            Edit::Nags { node, nags } => {
                check_count(nags.len())?;
                let notes = self.tree.notes_mut(node).ok_or_else(|| no_node(node))?;
                notes.nags = nags.into_iter().map(Nag).collect();
                self.changes.nodes.insert(node);
            }
            Edit::Marks { node, marks } => {
                check_count(marks.len())?;
                let game = self.game();
                let marks: Option<Vec<_>> =
                    marks.iter().map(|mark| record_mark(mark, game)).collect();
                let marks =
                    marks.ok_or_else(|| ApiError::invalid_request(ErrorCode::ShapeOffBoard))?;
                let notes = self.tree.notes_mut(node).ok_or_else(|| no_node(node))?;
                notes.marks = marks;
                self.changes.nodes.insert(node);
            }
            Edit::Delete { node } => self.delete(active, node)?,
            Edit::Promote { node, to_main } => {
                self.tree.node(node).ok_or_else(|| no_node(node))?;
                if is_played {
                    return Err(ApiError::conflict(ErrorCode::ReorderDuringGame));
                }
                let changed = self.tree.promote(node, to_main);
                self.changes.nodes.extend(changed);
            }
            Edit::Insert { node, moves, evaluation } => {
                return self.insert(node, &moves, evaluation).map(Some);
            }
            Edit::Headers { headers } => {
                check_count(headers.len())?;
                let mut new = Headers::default();
                for Header { name, value } in headers {
                    let whole = name.len() + value.len();
                    let has_control = name.chars().chain(value.chars()).any(char::is_control);
                    if name.trim().is_empty() || MAX_HEADER < whole || has_control {
                        return Err(ApiError::invalid_text(ErrorSubject::Header));
                    }
                    new.push(name, value);
                }
                self.tree.headers = new;
                self.changes.headers = true;
            }
            Edit::Result { result } => {
                if is_played {
                    return Err(ApiError::conflict(ErrorCode::GameInProgress));
                }
                self.tree.result = GameResult::from_text(&result).ok_or_else(|| {
                    let why = ErrorCode::unknown(ErrorSubject::Result, &result);
                    ApiError::invalid_request(why)
                })?;
                self.outcome = record_outcome(&self.tree);
                self.changes.over = true;
            }
            Edit::Undo | Edit::Redo => (),
        }
        Ok(None)
    }

    fn delete(&mut self, active: Option<&mut ActiveGame>, node: NodeId) -> Result<(), ApiError> {
        let parent = self.tree.node(node).ok_or_else(|| no_node(node))?.parent();
        let Some(parent) = parent else {
            return Err(ApiError::new(
                ErrorCategory::NotFound,
                ErrorCode::StartPositionNotDeletable,
            ));
        };
        if let Some(active) = active.as_ref().filter(|active| !active.is_over())
            && self.tree.line_to(active.tip()).contains(&node)
        {
            return Err(ApiError::conflict(ErrorCode::ReorderDuringGame));
        }
        let removed = self.delete_nodes(node, parent);
        if removed.contains(&self.cursor) {
            self.set_cursor(parent);
        }
        if let Some(active) = active {
            active.on_deleted(self, &removed, parent);
        }
        Ok(())
    }

    fn insert(
        &mut self,
        node: NodeId,
        moves: &[String],
        evaluation: Option<Evaluation>,
    ) -> Result<NodeId, ApiError> {
        let mut position = self.tree.position(node).ok_or_else(|| no_node(node))?;
        let mut parsed = Vec::new();
        for text in moves.iter().take(MAX_LINE) {
            let mv = parse_move(&position, text)?;
            position.play(mv).map_err(|error| illegal(&error))?;
            parsed.push(mv);
        }
        let mut at = node;
        for (index, mv) in parsed.into_iter().enumerate() {
            at = self.add_move(at, mv)?;
            if index == 0
                && let Some(evaluation) = evaluation
                && let Some(notes) = self.tree.notes_mut(at)
            {
                notes.evaluation = Some(evaluation);
                self.changes.nodes.insert(at);
            }
        }
        Ok(at)
    }

    pub(crate) fn set_evaluation(&mut self, node: NodeId, evaluation: Evaluation) {
        if let Some(notes) = self.tree.notes_mut(node) {
            notes.evaluation = Some(evaluation);
            self.changes.nodes.insert(node);
            self.changes.unsaved = true;
        }
    }

    /// Marks a move as a mistake, in place of another judgement.
    pub(crate) fn set_judgement(&mut self, node: NodeId, nag: u8) {
        if let Some(notes) = self.tree.notes_mut(node) {
            notes.nags.retain(|it| !matches!(it.0, 1..=6));
            notes.nags.push(Nag(nag));
            self.changes.nodes.insert(node);
            self.changes.unsaved = true;
        }
    }
}

fn check_count(count: usize) -> Result<(), ApiError> {
    if MAX_NOTES < count {
        return Err(ApiError::too_many(ErrorSubject::Note));
    }
    Ok(())
}

fn check_texts(texts: &[String]) -> Result<(), ApiError> {
    check_count(texts.len())?;
    if texts.iter().any(|text| MAX_COMMENT < text.len()) {
        return Err(ApiError::limit(ErrorCode::TooLong { subject: ErrorSubject::Comment }));
    }
    Ok(())
}
