//! Editing the tree: comments, signs, variations, undo.

use readyok_rules::record::{Evaluation, GameResult, Headers, Nag};

use super::{
    GameSession, PlayState, UndoEntry, api_error, illegal, no_node, not_now, odd_text,
    record_outcome, too_many,
};
use crate::game::tree::{ROOT, record_mark};
use crate::wire::{
    ApiError, ApiErrorCode, Edit, Header, NodeId, Problem, ProblemKind as Kind, Side, Thing,
};

/// So many states can be gone back to.
const MOST_UNDONE: usize = 50;
/// All of them together have about so many nodes.
const MOST_NODES: usize = 1_000_000;
/// A comment has at most so many bytes.
const LONGEST_COMMENT: usize = 64 << 10;
/// A node has at most so many comments, signs or marks; a game so many headers.
const MOST_NOTES: usize = 100;
/// A header has at most so many bytes.
const LONGEST_HEADER: usize = 4096;

impl GameSession {
    /// Changes the tree. Tells the last node of a line that was inserted.
    pub(crate) fn edit(&mut self, edit: Edit) -> Result<Option<NodeId>, ApiError> {
        match edit {
            Edit::Undo => return self.step_back().map(|()| None),
            Edit::Redo => return self.step_forward().map(|()| None),
            Edit::Comment { .. }
            | Edit::Nags { .. }
            | Edit::Marks { .. }
            | Edit::Delete { .. }
            | Edit::Promote { .. }
            | Edit::Insert { .. }
            | Edit::Headers { .. }
            | Edit::Result { .. } => (),
        }
        let before = self.stage();
        let done = self.change(edit);
        if done.is_ok() {
            self.remember(before);
            self.changes.unsaved = true;
        }
        done
    }

    /// The game as it stands, to be gone back to.
    pub(super) fn stage(&self) -> UndoEntry {
        UndoEntry { tree: self.tree.clone(), cursor: self.cursor, outcome: self.outcome.clone() }
    }

    /// Whoever undoes next comes back to this.
    pub(super) fn remember(&mut self, before: UndoEntry) {
        self.past.push(before);
        let mut nodes: usize = self.past.iter().map(|stage| stage.tree.len()).sum();
        while MOST_UNDONE < self.past.len() || (MOST_NODES < nodes && 1 < self.past.len()) {
            nodes -= self.past.remove(0).tree.len();
        }
        self.future.clear();
        self.changes.undo = true;
    }

    /// What is played is not undone: nothing from before it can be gone back to.
    pub(super) fn forget_past(&mut self) {
        if !self.past.is_empty() || !self.future.is_empty() {
            self.past.clear();
            self.future.clear();
            self.changes.undo = true;
        }
    }

    fn change(&mut self, edit: Edit) -> Result<Option<NodeId>, ApiError> {
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
                let marks = marks.ok_or_else(|| {
                    let text = "a mark is not one of the game's board";
                    api_error(ApiErrorCode::Malformed, Kind::MarkOffBoard, text)
                })?;
                let notes = self.tree.notes_mut(node).ok_or_else(|| no_node(node))?;
                notes.marks = marks;
                self.changes.nodes.insert(node);
            }
            Edit::Delete { node } => self.delete(node)?,
            Edit::Promote { node, to_main } => {
                self.tree.node(node).ok_or_else(|| no_node(node))?;
                if self.play.as_ref().is_some_and(|active| active.state != PlayState::Over) {
                    return Err(not_now(
                        Kind::MovesStay,
                        "variations keep their order while the game is played",
                    ));
                }
                let changed = self.tree.promote(node, to_main);
                self.changes.nodes.extend(changed);
            }
            Edit::Insert { node, words, evaluation } => {
                return self.insert(node, &words, evaluation).map(Some);
            }
            Edit::Headers { headers } => {
                check_count(headers.len())?;
                let mut new = Headers::default();
                for Header { name, value } in headers {
                    let whole = name.len() + value.len();
                    let odd = name.chars().chain(value.chars()).any(char::is_control);
                    if name.trim().is_empty() || LONGEST_HEADER < whole || odd {
                        return Err(odd_text(
                            Thing::Header,
                            "a header is empty, too long or holds control characters",
                        ));
                    }
                    new.push(name, value);
                }
                self.tree.headers = new;
                self.changes.headers = true;
            }
            Edit::Result { result } => {
                if self.play.as_ref().is_some_and(|active| active.state != PlayState::Over) {
                    return Err(not_now(Kind::GameGoesOn, "the game is being played"));
                }
                self.tree.result = match result.as_str() {
                    "1-0" => GameResult::Win(Side::First.into()),
                    "0-1" => GameResult::Win(Side::Second.into()),
                    "1/2-1/2" => GameResult::Draw,
                    "*" => GameResult::Unknown,
                    _ => {
                        let why = Problem::no_such(Thing::Result, &result);
                        let text = "there is no such result";
                        return Err(api_error(ApiErrorCode::Malformed, why, text));
                    }
                };
                self.outcome = record_outcome(&self.tree);
                self.changes.over = true;
            }
            Edit::Undo | Edit::Redo => (),
        }
        Ok(None)
    }

    fn delete(&mut self, node: NodeId) -> Result<(), ApiError> {
        let parent = self.tree.node(node).ok_or_else(|| no_node(node))?.parent();
        let Some(parent) = parent else {
            let text = "the start cannot be deleted";
            return Err(api_error(ApiErrorCode::NotFound, Kind::StartStays, text));
        };
        if let Some(active) = self.play.as_ref().filter(|active| active.state != PlayState::Over)
            && self.tree.line_to(active.tip).contains(&node)
        {
            return Err(not_now(Kind::MovesStay, "the moves of the game stay while it is played"));
        }
        let gone = self.tree.delete(node);
        if gone.contains(&self.cursor) {
            self.set_cursor(parent);
        }
        if let Some(active) = &mut self.play
            && gone.contains(&active.tip)
        {
            active.tip = parent;
            self.changes.play = true;
        }
        self.changes.removed.extend(gone);
        self.changes.nodes.insert(parent);
        Ok(())
    }

    fn insert(
        &mut self,
        node: NodeId,
        words: &[String],
        evaluation: Option<Evaluation>,
    ) -> Result<NodeId, ApiError> {
        let mut position = self.tree.position(node).ok_or_else(|| no_node(node))?;
        let mut moves = Vec::new();
        for word in words.iter().take(1000) {
            let mv = Self::read_move(&position, word)?;
            position.play(mv).map_err(|error| illegal(&error))?;
            moves.push(mv);
        }
        let mut at = node;
        for (index, mv) in moves.into_iter().enumerate() {
            at = self.add(at, mv)?;
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

    /// What an engine holds a position to be worth is kept with it.
    pub(crate) fn note_judged(&mut self, node: NodeId, evaluation: Evaluation) {
        if let Some(notes) = self.tree.notes_mut(node) {
            notes.evaluation = Some(evaluation);
            self.changes.nodes.insert(node);
            self.changes.unsaved = true;
        }
    }

    /// Gives a move the sign of a mistake, in the place of another one.
    pub(crate) fn add_sign(&mut self, node: NodeId, nag: u8) {
        if let Some(notes) = self.tree.notes_mut(node) {
            notes.nags.retain(|it| !matches!(it.0, 1..=6));
            notes.nags.push(Nag(nag));
            self.changes.nodes.insert(node);
            self.changes.unsaved = true;
        }
    }

    fn require_no_game(&self) -> Result<(), ApiError> {
        match &self.play {
            Some(active) if active.state != PlayState::Over => Err(not_now(
                Kind::UndoInPlay,
                "nothing is undone while a game is played: take moves back",
            )),
            Some(_) | None => Ok(()),
        }
    }

    fn step_back(&mut self) -> Result<(), ApiError> {
        self.require_no_game()?;
        let stage = self
            .past
            .pop()
            .ok_or_else(|| not_now(Kind::NothingToUndo, "there is nothing to undo"))?;
        let now = self.replace(stage);
        self.future.push(now);
        Ok(())
    }

    fn step_forward(&mut self) -> Result<(), ApiError> {
        self.require_no_game()?;
        let stage = self
            .future
            .pop()
            .ok_or_else(|| not_now(Kind::NothingToRedo, "there is nothing to do again"))?;
        let now = self.replace(stage);
        self.past.push(now);
        Ok(())
    }

    /// Puts another stage in the place of this one, and gives this one back.
    fn replace(&mut self, stage: UndoEntry) -> UndoEntry {
        let UndoEntry { mut tree, cursor, outcome } = stage;
        tree.continue_numbers_of(&self.tree);
        let old = UndoEntry {
            tree: std::mem::replace(&mut self.tree, tree),
            cursor: self.cursor,
            outcome: std::mem::replace(&mut self.outcome, outcome),
        };
        self.changes.nodes.extend(self.tree.ids());
        self.changes.removed.extend(old.tree.ids().filter(|id| self.tree.node(*id).is_none()));
        // Whoever undoes something sees where it was.
        let there = self.tree.node(cursor).map(|_| cursor);
        self.set_cursor(there.unwrap_or(ROOT));
        if let Some(active) = &mut self.play
            && self.tree.node(active.tip).is_none()
        {
            active.tip = self.tree.main_line().last().copied().unwrap_or(ROOT);
            self.changes.play = true;
        }
        self.changes.over = true;
        self.changes.headers = true;
        self.changes.undo = true;
        self.changes.unsaved = true;
        old
    }
}

fn check_count(count: usize) -> Result<(), ApiError> {
    if MOST_NOTES < count {
        return Err(too_many(Thing::Note, format!("more than {MOST_NOTES} of them")));
    }
    Ok(())
}

fn check_texts(texts: &[String]) -> Result<(), ApiError> {
    check_count(texts.len())?;
    if texts.iter().any(|text| LONGEST_COMMENT < text.len()) {
        return Err(api_error(
            ApiErrorCode::TooMuch,
            Problem::too_long(Thing::Comment),
            "a comment is too long",
        ));
    }
    Ok(())
}
