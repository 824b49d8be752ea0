//! The document of a session: tree, cursor, outcome, undo history, edits, and changes to publish.

use std::collections::{BTreeMap, BTreeSet};

use readyok_rules::record::{
    AddError, Annotations, EngineNotes, Evaluation, GameDocument, Headers, Nag, NodeId as RecordId,
};
use readyok_rules::{Game, GameOutcome, GameResult, Move, Termination};
use serde::{Deserialize, Serialize};

use super::{ActiveGame, no_node, parse_move};
use crate::errors::illegal;
use crate::game::tree::{ROOT, Tree, TreeChanges, record_mark};
use crate::hub::TabId;
use crate::wire::{
    ApiError, Book, Edit, ErrorCategory, ErrorCode, ErrorSubject, Header, MergedGames, NodeId,
    OutcomeView, Start, Undo,
};

/// Maximum number of states that can be restored.
const MAX_UNDO: usize = 50;

/// The document of a session. Each change of its content is recorded by [`Self::record`].
pub(crate) struct Document {
    content: Content,
    /// The content that the subscribers have.
    published: Content,
    pub(super) cursors: Cursors,
    pub(super) history: UndoHistory,
    pub(super) changes: Changes,
    /// Whether it was changed since it was opened.
    pub(super) edited: bool,
}

/// What is saved, published and restored by undo. A copy takes constant time.
#[derive(Clone)]
pub(super) struct Content {
    pub(super) tree: Tree,
    pub(super) outcome: Option<OutcomeView>,
}

/// Who changes the content, which determines how the change is undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    /// The author. A step of undo restores the author's part, and not what engines found.
    Edit,
    /// A report: one step of undo restores the engine's part.
    Report,
    /// The game that is played. It cannot be undone, nor can earlier changes.
    Play,
}

/// The start of a game, for its rematch. A random start is drawn again.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Origin {
    pub(crate) start: Start,
    pub(crate) book: Option<Book>,
}

/// Changes outside of the content that are not published, and whether there is something to save.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of a state")]
pub(super) struct Changes {
    /// The latest cursor, which engines follow.
    pub(super) at: bool,
    /// Whether the outcome differs from the published one.
    pub(super) outcome_change: bool,
    pub(super) play: bool,
    pub(super) undo: bool,
    /// The result of saving.
    pub(super) save_status: bool,
    /// Whether there are changes to save.
    pub(super) unsaved: bool,
}

/// A move that the tree does not accept.
pub(crate) fn not_added(parent: NodeId, error: AddError) -> ApiError {
    match error {
        AddError::NoSuchNode | AddError::IdInUse => no_node(parent),
        AddError::OtherPosition => ApiError::conflict(ErrorCode::OtherPosition),
        AddError::Full => ApiError::limit(ErrorCode::GameTreeFull),
        AddError::Move(error) => illegal(&error),
        AddError::AfterIllegalMove => ApiError::conflict(ErrorCode::GameOver),
    }
}

impl Document {
    pub(super) fn new(tree: Tree) -> Self {
        let outcome = record_outcome(&tree);
        Self::restored(Content { tree, outcome }, ROOT)
    }

    /// A document that was saved, with its latest cursor.
    pub(super) fn restored(content: Content, cursor: NodeId) -> Self {
        Self {
            published: content.clone(),
            cursors: Cursors::at(content.tree.node(cursor).map_or(ROOT, |_| cursor)),
            content,
            history: UndoHistory::default(),
            changes: Changes { unsaved: true, ..Changes::default() },
            edited: false,
        }
    }

    pub(super) fn content(&self) -> &Content {
        &self.content
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.content.tree
    }

    pub(super) fn outcome(&self) -> Option<&OutcomeView> {
        self.content.outcome.as_ref()
    }

    pub(super) fn game(&self) -> Game {
        self.tree().game()
    }

    /// Changes the content. After an error it is as before. A cursor at a deleted node goes to the last node of
    /// its line that remains.
    pub(super) fn change<T>(
        &mut self,
        kind: ChangeKind,
        change: impl FnOnce(&mut Content) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let before = self.content.clone();
        match change(&mut self.content) {
            Ok(done) => {
                self.record(kind, before);
                Ok(done)
            }
            Err(error) => {
                self.content.tree.restore_version(before.tree);
                self.content.outcome = before.outcome;
                Err(error)
            }
        }
    }

    /// Changes the content by the game that is played.
    pub(super) fn play(&mut self, change: impl FnOnce(&mut Content)) {
        let before = self.content.clone();
        change(&mut self.content);
        self.record(ChangeKind::Play, before);
    }

    /// Replaces what engines found.
    pub(crate) fn set_engine_notes(&mut self, notes: EngineNotes) {
        let before = self.content.clone();
        self.content.tree.set_engine_notes(notes);
        self.record(ChangeKind::Report, before);
    }

    /// Records a change in the history.
    fn record(&mut self, kind: ChangeKind, before: Content) {
        self.on_changed(&before);
        if kind == ChangeKind::Play {
            self.edited = true;
            self.changes.undo |= self.history.clear();
        } else if self.content.differs_from(&before) {
            self.edited = true;
            self.history.push(UndoStep { kind, content: before, cursor: self.cursor() });
            self.changes.undo = true;
        }
    }

    fn on_changed(&mut self, before: &Content) {
        self.changes.unsaved = true;
        let (tree, old) = (&self.content.tree, &before.tree);
        let remaining = |at| {
            let mut line = old.line_to(at).into_iter().rev();
            line.find(|id| tree.node(*id).is_some()).unwrap_or(ROOT)
        };
        let replaced = |at| if tree.node(at).is_some() { at } else { remaining(at) };
        self.changes.at |= self.cursors.replace(replaced);
    }

    /// Whether the start position is a handicap of shogi.
    pub(super) fn is_handicap(&self) -> bool {
        self.game() == Game::Shogi && self.tree().start().setup().as_handicap().is_some()
    }

    pub(super) fn headers(&self) -> Vec<Header> {
        wire_headers(self.tree())
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

    /// Adds a move of the user, and goes to it.
    pub(super) fn add_on_board(&mut self, parent: NodeId, mv: Move) -> Result<NodeId, ApiError> {
        let id = match self.tree().child(parent, mv) {
            Some(known) => known,
            None => self.change(ChangeKind::Edit, |content| content.add(parent, mv))?,
        };
        self.set_cursor(id);
        Ok(id)
    }

    /// Takes the changes to publish. The flag for saving remains.
    pub(super) fn take_changes(&mut self) -> (Changes, TreeChanges) {
        let tree = self.tree().changes_since(&self.published.tree);
        let outcome_change = self.content.outcome != self.published.outcome;
        self.published = self.content.clone();
        let rest = Changes { unsaved: self.changes.unsaved, ..Changes::default() };
        (Changes { outcome_change, ..std::mem::replace(&mut self.changes, rest) }, tree)
    }

    // Undo.

    fn undo(&mut self) -> Result<(), ApiError> {
        let step = self.history.undo.pop();
        let step = step.ok_or_else(|| ApiError::conflict(ErrorCode::NothingToUndo))?;
        let replaced = self.restore(step);
        self.history.redo.push(replaced);
        Ok(())
    }

    fn redo(&mut self) -> Result<(), ApiError> {
        let step = self.history.redo.pop();
        let step = step.ok_or_else(|| ApiError::conflict(ErrorCode::NothingToRedo))?;
        let replaced = self.restore(step);
        self.history.undo.push(replaced);
        Ok(())
    }

    /// Restores the part of a version that its change concerns, and returns the step back.
    fn restore(&mut self, step: UndoStep) -> UndoStep {
        let UndoStep { kind, content: Content { tree, outcome }, cursor } = step;
        let before = self.content.clone();
        let back = UndoStep { kind, content: before.clone(), cursor: self.cursor() };
        if kind == ChangeKind::Report {
            self.content.tree.set_engine_notes(tree.engine_notes().clone());
        } else {
            self.content.tree.restore_version(tree);
            self.content.tree.set_engine_notes(before.tree.engine_notes().clone());
            self.content.outcome = outcome;
        }
        self.on_changed(&before);
        // The cursor shows the place of the change.
        let there = self.tree().node(cursor).map_or(ROOT, |_| cursor);
        if kind == ChangeKind::Edit {
            self.set_cursor(there);
        }
        self.changes.undo = true;
        back
    }
}

impl Content {
    pub(super) fn add(&mut self, parent: NodeId, mv: Move) -> Result<NodeId, ApiError> {
        self.tree.add(parent, mv).map_err(|error| not_added(parent, error))
    }

    /// The annotations of a node.
    pub(super) fn annotations(&mut self, node: NodeId) -> Result<&mut Annotations, ApiError> {
        self.tree.annotations_mut(node).ok_or_else(|| no_node(node))
    }

    pub(super) fn clear_outcome(&mut self) {
        self.outcome = None;
        self.tree.clear_ends();
    }

    fn differs_from(&self, before: &Self) -> bool {
        self.outcome != before.outcome || self.tree.differs_from(&before.tree)
    }
}

/// The content before a change, or after one that was undone.
struct UndoStep {
    kind: ChangeKind,
    content: Content,
    cursor: NodeId,
}

/// States that can be restored, the latest last.
#[derive(Default)]
pub(super) struct UndoHistory {
    undo: Vec<UndoStep>,
    redo: Vec<UndoStep>,
}

impl UndoHistory {
    pub(super) fn state(&self) -> Undo {
        Undo { undo: !self.undo.is_empty(), redo: !self.redo.is_empty() }
    }

    fn push(&mut self, before: UndoStep) {
        self.undo.push(before);
        // Versions share their nodes, so that each has the size of its change.
        if MAX_UNDO < self.undo.len() {
            self.undo.remove(0);
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

impl Document {
    /// Adds the moves of other games where their start positions are.
    pub(super) fn merge(&mut self, documents: &[GameDocument]) -> Result<MergedGames, ApiError> {
        self.change(ChangeKind::Edit, |content| {
            let mut merged = MergedGames::default();
            for document in documents {
                let record = &document.record;
                let at = content.tree.find(record.start());
                let added = at.map(|at| {
                    content.tree.add_tree(at, record, RecordId::ROOT).map_err(|e| (at, e))
                });
                match added {
                    None | Some(Err((_, AddError::OtherPosition))) => merged.unconnected += 1,
                    Some(Err((at, error))) => return Err(not_added(at.into(), error)),
                    Some(Ok(added)) => {
                        let count = |count| u32::try_from(count).unwrap_or(u32::MAX);
                        merged.moves += count(added.moves);
                        merged.annotated += count(added.annotated);
                        merged.omitted += count(added.omitted + document.engine.iter().count());
                    }
                }
                if content.tree.is_full() {
                    return Err(ApiError::limit(ErrorCode::GameTreeFull));
                }
            }
            Ok(merged)
        })
    }
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
        let is_played = active.as_ref().is_some_and(|active| !active.is_over());
        let line = active.as_ref().map(|active| self.tree().line_to(active.last_move_node()));
        let is_undo = matches!(edit, Edit::Undo);
        if is_undo || matches!(edit, Edit::Redo) {
            if is_played {
                return Err(ApiError::conflict(ErrorCode::UndoDuringGame));
            }
            if is_undo { self.undo()? } else { self.redo()? }
        }
        if matches!(edit, Edit::RemoveJudgements) {
            self.set_engine_notes(EngineNotes::default());
            return Ok(None);
        }
        let played = line.as_deref().filter(|_| is_played).unwrap_or_default();
        let done = self.change(ChangeKind::Edit, |content| match edit {
            Edit::Comment { node, before, comments } => {
                check_texts(&before)?;
                check_texts(&comments)?;
                let filled = |texts: Vec<String>| -> Vec<String> {
                    texts.into_iter().filter(|text| !text.trim().is_empty()).collect()
                };
                let notes = content.annotations(node)?;
                notes.before = filled(before);
                notes.comments = filled(comments);
                Ok(None)
            }
            Edit::Nags { node, nags } => {
                check_count(nags.len())?;
                content.annotations(node)?.nags = nags.into_iter().map(Nag).collect();
                Ok(None)
            }
            Edit::Marks { node, marks } => {
                check_count(marks.len())?;
                let game = content.tree.game();
                let marks: Option<Vec<_>> =
                    marks.iter().map(|mark| record_mark(mark, game)).collect();
                let marks =
                    marks.ok_or_else(|| ApiError::invalid_request(ErrorCode::ShapeOffBoard))?;
                content.annotations(node)?.marks = marks;
                Ok(None)
            }
            Edit::Delete { node } => {
                content.tree.node(node).ok_or_else(|| no_node(node))?;
                if node == ROOT {
                    let why = ErrorCode::StartPositionNotDeletable;
                    return Err(ApiError::new(ErrorCategory::NotFound, why));
                }
                if played.contains(&node) {
                    return Err(ApiError::conflict(ErrorCode::ReorderDuringGame));
                }
                content.tree.delete(node);
                Ok(None)
            }
            Edit::Promote { node, to_main } => {
                content.tree.node(node).ok_or_else(|| no_node(node))?;
                if is_played {
                    return Err(ApiError::conflict(ErrorCode::ReorderDuringGame));
                }
                content.tree.promote(node, to_main);
                Ok(None)
            }
            Edit::Insert { node, moves, evaluation } => {
                insert(content, node, &moves, evaluation).map(Some)
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
                content.tree.headers = new;
                Ok(None)
            }
            Edit::Result { result } => {
                if is_played {
                    return Err(ApiError::conflict(ErrorCode::GameInProgress));
                }
                content.tree.result = GameResult::from_text(&result).ok_or_else(|| {
                    let why = ErrorCode::unknown(ErrorSubject::Result, &result);
                    ApiError::invalid_request(why)
                })?;
                content.outcome = record_outcome(&content.tree);
                Ok(None)
            }
            Edit::Undo | Edit::Redo | Edit::RemoveJudgements => Ok(None),
        })?;
        if let (Some(active), Some(line)) = (active, line) {
            active.ensure_tip(self, &line);
        }
        Ok(done)
    }
}

fn insert(
    content: &mut Content,
    node: NodeId,
    moves: &[String],
    evaluation: Option<Evaluation>,
) -> Result<NodeId, ApiError> {
    let mut position = content.tree.position(node).ok_or_else(|| no_node(node))?;
    let mut at = node;
    for (index, text) in moves.iter().take(MAX_LINE).enumerate() {
        let mv = parse_move(&position, text)?;
        position.play(mv).map_err(|error| illegal(&error))?;
        at = content.add(at, mv)?;
        if index == 0 && evaluation.is_some() {
            content.annotations(at)?.evaluation = evaluation;
        }
    }
    Ok(at)
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

/// A cursor for each tab, and the latest one, at which engines analyze and new tabs begin.
#[derive(Default)]
pub(super) struct Cursors {
    latest: NodeId,
    tabs: BTreeMap<TabId, NodeId>,
    /// The tab whose command is carried out.
    acting: Option<TabId>,
    /// Tabs whose cursor was moved since the last call of [`Self::take_moved`].
    moved: BTreeSet<TabId>,
}

impl Cursors {
    pub(super) fn at(latest: NodeId) -> Self {
        Self { latest, ..Self::default() }
    }

    pub(super) fn latest(&self) -> NodeId {
        self.latest
    }

    pub(super) fn of(&self, tab: TabId) -> NodeId {
        self.tabs.get(&tab).copied().unwrap_or(self.latest)
    }

    /// Adds a tab, which begins at the latest cursor.
    pub(super) fn join(&mut self, tab: TabId) {
        self.tabs.entry(tab).or_insert(self.latest);
    }

    pub(super) fn leave(&mut self, tab: TabId) {
        self.tabs.remove(&tab);
        self.moved.remove(&tab);
    }

    /// Sets the tab whose cursor [`Self::set`] moves.
    pub(super) fn act_for(&mut self, tab: Option<TabId>) {
        self.acting = tab;
    }

    /// Moves the cursor of the acting tab.
    pub(super) fn set(&mut self, node: NodeId) {
        self.latest = node;
        if let Some(tab) = self.acting {
            self.move_tab(tab, node);
        }
    }

    /// Moves all cursors from one node to another. Returns whether the latest one was moved.
    pub(super) fn follow(&mut self, from: NodeId, to: NodeId) -> bool {
        self.replace(|node| if node == from { to } else { node })
    }

    /// Moves all cursors to the nodes that replace theirs. Returns whether the latest one was moved.
    pub(super) fn replace(&mut self, replacement: impl Fn(NodeId) -> NodeId) -> bool {
        let tabs: Vec<_> = self.tabs.iter().map(|(tab, node)| (*tab, replacement(*node))).collect();
        for (tab, node) in tabs {
            self.move_tab(tab, node);
        }
        let latest = replacement(self.latest);
        let before = std::mem::replace(&mut self.latest, latest);
        self.latest != before
    }

    fn move_tab(&mut self, tab: TabId, node: NodeId) {
        if self.tabs.insert(tab, node) != Some(node) {
            self.moved.insert(tab);
        }
    }

    pub(super) fn is_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// The tabs whose cursor was moved, with their nodes.
    pub(super) fn take_moved(&mut self) -> Vec<(TabId, NodeId)> {
        let moved = std::mem::take(&mut self.moved);
        moved.into_iter().map(|tab| (tab, self.tabs.get(&tab).copied().unwrap_or(ROOT))).collect()
    }
}
