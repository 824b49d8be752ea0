//! The document of a session: tree, cursor, outcome, undo history, edits, and changes to publish.

use std::collections::BTreeSet;

use readyok_rules::record::{AddError, Evaluation, Headers, Nag};
use readyok_rules::{Game, GameOutcome, GameResult, Move, Termination};
use serde::{Deserialize, Serialize};

use super::cursors::Cursors;
use super::{ActiveGame, no_node, parse_move};
use crate::errors::illegal;
use crate::game::tree::{ROOT, Tree, record_mark};
use crate::wire::{
    ApiError, Book, Edit, ErrorCategory, ErrorCode, ErrorSubject, Header, NodeId, OutcomeView,
    Start, Undo,
};

/// Maximum number of states that can be restored.
const MAX_UNDO: usize = 50;
/// Maximum number of nodes of all states that can be restored.
const MAX_UNDO_NODES: usize = 1_000_000;

/// The document of a session.
pub(crate) struct Document {
    pub(super) tree: Tree,
    pub(super) cursors: Cursors,
    pub(super) outcome: Option<OutcomeView>,
    pub(super) history: UndoHistory,
    pub(super) changes: Changes,
}

/// The start of a game, for its rematch. A random start is drawn again.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Origin {
    pub(crate) start: Start,
    pub(crate) book: Option<Book>,
}

/// Changes that are not published or not saved yet.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of a state")]
pub(super) struct Changes {
    pub(super) nodes: BTreeSet<NodeId>,
    pub(super) removed: BTreeSet<NodeId>,
    pub(super) headers: bool,
    /// The latest cursor, which engines follow.
    pub(super) at: bool,
    pub(super) over: bool,
    pub(super) play: bool,
    pub(super) undo: bool,
    /// The result of saving.
    pub(super) save_status: bool,
    /// Whether there are changes to save.
    pub(super) unsaved: bool,
}

impl Changes {
    pub(super) fn is_visible(&self) -> bool {
        !self.nodes.is_empty()
            || !self.removed.is_empty()
            || self.headers
            || self.over
            || self.play
            || self.undo
            || self.save_status
    }
}

/// A move that the tree does not accept.
pub(crate) fn not_added(parent: NodeId, error: AddError) -> ApiError {
    match error {
        AddError::NoSuchNode => no_node(parent),
        AddError::Full => ApiError::limit(ErrorCode::GameTreeFull),
        AddError::Move(error) => illegal(&error),
        AddError::AfterIllegalMove => ApiError::conflict(ErrorCode::GameOver),
    }
}

impl Document {
    pub(super) fn new(tree: Tree) -> Self {
        Self {
            outcome: record_outcome(&tree),
            tree,
            cursors: Cursors::at(ROOT),
            history: UndoHistory::default(),
            changes: Changes { unsaved: true, ..Changes::default() },
        }
    }

    pub(super) fn game(&self) -> Game {
        self.tree.game()
    }

    /// Whether the start position is a handicap of shogi.
    pub(super) fn is_handicap(&self) -> bool {
        self.game() == Game::Shogi && self.tree.start().setup().as_handicap().is_some()
    }

    pub(super) fn headers(&self) -> Vec<Header> {
        wire_headers(&self.tree)
    }

    /// The latest cursor.
    pub(super) fn cursor(&self) -> NodeId {
        self.cursors.latest()
    }

    /// Moves the cursor of the tab whose command is carried out.
    pub(super) fn set_cursor(&mut self, node: NodeId) {
        self.cursors.set(node);
        // Engines may be at the node of another tab.
        self.changes.at = true;
    }

    /// Moves all cursors from one node to another.
    pub(super) fn follow(&mut self, from: NodeId, to: NodeId) {
        self.changes.at |= self.cursors.follow(from, to);
    }

    pub(super) fn add_move(&mut self, parent: NodeId, mv: Move) -> Result<NodeId, ApiError> {
        let known = self.tree.child(parent, mv);
        let id = self.tree.add(parent, mv).map_err(|error| not_added(parent, error))?;
        if known.is_none() {
            self.changes.nodes.extend([parent, id]);
            self.changes.unsaved = true;
        }
        Ok(id)
    }

    /// Adds a move of the user, which can be undone, and goes to it.
    pub(super) fn add_on_board(&mut self, parent: NodeId, mv: Move) -> Result<NodeId, ApiError> {
        let before = self.tree.child(parent, mv).is_none().then(|| self.capture());
        let id = self.add_move(parent, mv)?;
        if let Some(before) = before {
            self.push_undo(before);
        }
        self.set_cursor(id);
        Ok(id)
    }

    pub(super) fn delete_nodes(&mut self, node: NodeId, parent: NodeId) -> Vec<NodeId> {
        let removed = self.tree.delete(node);
        self.changes.removed.extend(removed.iter().copied());
        self.changes.nodes.insert(parent);
        let replaced = |at| if removed.contains(&at) { parent } else { at };
        self.changes.at |= self.cursors.replace(replaced);
        removed
    }

    pub(super) fn clear_outcome(&mut self) {
        if self.outcome.take().is_some() {
            self.changes.over = true;
        }
        self.tree.result = GameResult::Unknown;
        for id in self.tree.ids().collect::<Vec<_>>() {
            if let Some(notes) = self.tree.annotations_mut(id) {
                notes.end = None;
            }
        }
    }

    /// Takes the changes to publish. The flag for saving remains.
    pub(super) fn take_changes(&mut self) -> Changes {
        let unsaved = self.changes.unsaved;
        std::mem::replace(&mut self.changes, Changes { unsaved, ..Changes::default() })
    }

    // Undo.

    fn capture(&self) -> UndoEntry {
        UndoEntry { tree: self.tree.clone(), cursor: self.cursor(), outcome: self.outcome.clone() }
    }

    fn push_undo(&mut self, before: UndoEntry) {
        self.history.push(before);
        self.changes.undo = true;
    }

    /// Clears the history: moves of an active game and earlier edits cannot be undone.
    pub(super) fn clear_undo(&mut self) {
        if self.history.clear() {
            self.changes.undo = true;
        }
    }

    pub(super) fn undo(&mut self) -> Result<(), ApiError> {
        let entry = self.history.undo.pop();
        let entry = entry.ok_or_else(|| ApiError::conflict(ErrorCode::NothingToUndo))?;
        let replaced = self.swap(entry);
        self.history.redo.push(replaced);
        Ok(())
    }

    pub(super) fn redo(&mut self) -> Result<(), ApiError> {
        let entry = self.history.redo.pop();
        let entry = entry.ok_or_else(|| ApiError::conflict(ErrorCode::NothingToRedo))?;
        let replaced = self.swap(entry);
        self.history.undo.push(replaced);
        Ok(())
    }

    /// Restores a state, and returns the one that it replaces.
    fn swap(&mut self, entry: UndoEntry) -> UndoEntry {
        let UndoEntry { mut tree, cursor, outcome } = entry;
        tree.continue_numbers_of(&self.tree);
        let old = UndoEntry {
            tree: std::mem::replace(&mut self.tree, tree),
            cursor: self.cursor(),
            outcome: std::mem::replace(&mut self.outcome, outcome),
        };
        self.changes.nodes.extend(self.tree.ids());
        self.changes.removed.extend(old.tree.ids().filter(|id| self.tree.node(*id).is_none()));
        // The cursor shows the place of the change.
        let there = self.tree.node(cursor).map(|_| cursor);
        let there = there.unwrap_or(ROOT);
        let tree = &self.tree;
        self.cursors.replace(|at| if tree.node(at).is_some() { at } else { there });
        self.set_cursor(there);
        self.changes.over = true;
        self.changes.headers = true;
        self.changes.undo = true;
        self.changes.unsaved = true;
        old
    }
}

/// A state of the document before a change, or after one that was undone.
pub(super) struct UndoEntry {
    tree: Tree,
    cursor: NodeId,
    outcome: Option<OutcomeView>,
}

/// States that can be restored, the latest last.
#[derive(Default)]
pub(super) struct UndoHistory {
    undo: Vec<UndoEntry>,
    redo: Vec<UndoEntry>,
}

impl UndoHistory {
    pub(super) fn state(&self) -> Undo {
        Undo { undo: !self.undo.is_empty(), redo: !self.redo.is_empty() }
    }

    fn push(&mut self, before: UndoEntry) {
        self.undo.push(before);
        let mut nodes: usize = self.undo.iter().map(|entry| entry.tree.len()).sum();
        while MAX_UNDO < self.undo.len() || (MAX_UNDO_NODES < nodes && 1 < self.undo.len()) {
            nodes -= self.undo.remove(0).tree.len();
        }
        self.redo.clear();
    }

    /// Returns false if there was no state.
    fn clear(&mut self) -> bool {
        let had_any = !self.undo.is_empty() || !self.redo.is_empty();
        self.undo.clear();
        self.redo.clear();
        had_any
    }
}

pub(super) fn wire_headers(tree: &Tree) -> Vec<Header> {
    let header =
        |(name, value): (&str, &str)| Header { name: name.to_owned(), value: value.to_owned() };
    tree.headers.iter().map(header).collect()
}

/// The outcome that a record states.
fn record_outcome(tree: &Tree) -> Option<OutcomeView> {
    let result = tree.result;
    if result == GameResult::Unknown {
        return None;
    }
    let last = tree.main_line().last().copied().unwrap_or(ROOT);
    if let Some(outcome) = tree.position(last).and_then(|position| position.outcome())
        && outcome.result == result
    {
        return Some(outcome.into());
    }
    let termination = tree.to_record().termination().unwrap_or(Termination::Other);
    Some(GameOutcome { result, termination }.into())
}

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
                let notes = self.tree.annotations_mut(node).ok_or_else(|| no_node(node))?;
                notes.before = filled(before);
                notes.comments = filled(comments);
                self.changes.nodes.insert(node);
            }
            Edit::Nags { node, nags } => {
                check_count(nags.len())?;
                let notes = self.tree.annotations_mut(node).ok_or_else(|| no_node(node))?;
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
                let notes = self.tree.annotations_mut(node).ok_or_else(|| no_node(node))?;
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
                && let Some(notes) = self.tree.annotations_mut(at)
            {
                notes.evaluation = Some(evaluation);
                self.changes.nodes.insert(at);
            }
        }
        Ok(at)
    }

    pub(crate) fn set_evaluation(&mut self, node: NodeId, evaluation: Evaluation) {
        if let Some(notes) = self.tree.annotations_mut(node) {
            notes.evaluation = Some(evaluation);
            self.changes.nodes.insert(node);
            self.changes.unsaved = true;
        }
    }

    /// Marks a move as a mistake, in place of another judgement.
    pub(crate) fn set_judgement(&mut self, node: NodeId, nag: u8) {
        if let Some(notes) = self.tree.annotations_mut(node) {
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
