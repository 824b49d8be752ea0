//! A record of shogi under construction, its comments, and the evaluations in them.
//!
//! Lines such as `#評価値=120`, `#詰み=先手勝ち:5手` and `#深さ=20` are the form of ShogiHome.

use readyok_protocol::Score;
use rsshogi::types::{Move as RawMove, Move32};

use crate::{BoardRef, GameResult, Move, Position, Side};

use super::super::{
    Annotations, End, Evaluation, GameRecord, Limit, Limits, NodeId, RecordErrorKind,
    limits::MAX_PLIES,
};

/// A record with a cursor that can move forward and back.
pub(in super::super) struct Draft {
    pub(in super::super) record: GameRecord,
    board: rsshogi::board::Position,
    path: Vec<(NodeId, Move32)>,
    limits: Limits,
    /// The current comment, which can continue on further lines.
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
            limits: Limits { plies: limits.plies.min(MAX_PLIES), ..*limits },
            comment: String::new(),
        })
    }

    /// The board at the cursor.
    pub(in super::super) fn board(&self) -> &rsshogi::board::Position {
        &self.board
    }

    /// The number of moves before the cursor.
    pub(in super::super) fn ply(&self) -> usize {
        self.path.len()
    }

    /// The last move before the cursor.
    pub(in super::super) fn last_move(&self) -> Option<Move32> {
        self.path.last().map(|(_, mv)| *mv)
    }

    /// Whether the game has no moves and no end.
    pub(in super::super) fn is_fresh(&self) -> bool {
        self.record.is_empty() && self.annotations().is_none_or(|notes| notes.end.is_none())
    }

    fn cursor(&self) -> NodeId {
        self.path.last().map_or(NodeId::ROOT, |(id, _)| *id)
    }

    fn annotations(&self) -> Option<&Annotations> {
        self.record.node(self.cursor()).map(|node| node.annotations())
    }

    /// The annotations at the cursor.
    pub(in super::super) fn notes(&mut self) -> Option<&mut Annotations> {
        let cursor = self.cursor();
        self.record.annotations_mut(cursor)
    }

    /// Plays a move and advances the cursor.
    pub(in super::super) fn play(&mut self, mv: RawMove) -> Result<(), RecordErrorKind> {
        self.end_comment();
        if self.path.len() >= self.limits.plies {
            return Err(RecordErrorKind::LimitExceeded(Limit::Plies));
        }
        if self.record.len() >= self.limits.moves {
            return Err(RecordErrorKind::LimitExceeded(Limit::Moves));
        }
        if !mv.is_normal() || !self.board.is_legal_move(mv) {
            return Err(self.illegal(&mv.to_usi()));
        }
        let mv = self.board.move32_from_move(mv);
        self.board
            .try_apply_move32(mv)
            .map_err(|_| RecordErrorKind::LimitExceeded(Limit::Plies))?;
        let attached = self.record.attach(self.cursor(), Move::Shogi(mv).into());
        let id = attached.ok_or(RecordErrorKind::LimitExceeded(Limit::Moves))?;
        self.path.push((id, mv));
        Ok(())
    }

    /// The error of an illegal move.
    pub(in super::super) fn illegal(&self, usi: &str) -> RecordErrorKind {
        let position = self.record.position_after(self.cursor());
        match position.map(|position| position.parse_move(usi)) {
            Some(Err(error)) => RecordErrorKind::Move(error),
            Some(Ok(_)) | None => RecordErrorKind::NoSuchMove(usi.to_owned()),
        }
    }

    /// Moves the cursor back to a ply. False if the line is shorter.
    pub(in super::super) fn back_to(&mut self, ply: usize) -> bool {
        self.end_comment();
        let exists = ply <= self.path.len();
        while self.path.len() > ply {
            let Some((_, mv)) = self.path.pop() else { break };
            if self.board.undo_move32(mv).is_err() {
                return false;
            }
        }
        exists
    }

    /// Adds a line to the current comment.
    pub(in super::super) fn comment_line(&mut self, line: &str) -> Result<(), RecordErrorKind> {
        self.limits.add_line(&mut self.comment, line)
    }

    /// Completes the current comment.
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
            None => extract_comment(&text, notes),
        }
    }

    /// Sets the end of the line.
    pub(in super::super) fn end(&mut self, end: End) {
        self.end_comment();
        if let Some(notes) = self.notes() {
            notes.end = Some(end);
        }
    }

    /// Replaces the outcome of the line by that of a summary. False if the summary adds nothing.
    pub(in super::super) fn apply_summary(&mut self, end: End) -> bool {
        let known = self.annotations().and_then(|notes| notes.end.as_ref());
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

    /// The side to move at the cursor.
    pub(in super::super) fn turn(&self) -> Side {
        let first = self.record.start().turn();
        if self.path.len().is_multiple_of(2) { first } else { first.other() }
    }

    /// The finished record. Its result is that of the end of the main line, if there is one.
    pub(in super::super) fn finish(mut self) -> GameRecord {
        self.end_comment();
        self.record.settle();
        let (last, result) = (self.record.last(), self.record.result);
        if let Some(end) = self.record.annotations_mut(last).and_then(|notes| notes.end.as_mut()) {
            if end.outcome.result == GameResult::Unknown {
                end.outcome.result = result;
            }
            self.record.result = end.outcome.result;
        }
        self.record
    }
}

/// Moves the evaluations of a comment into the annotations; the rest is a comment.
fn extract_comment(text: &str, notes: &mut Annotations) {
    let mut rest: Vec<&str> = Vec::new();
    let mut depth = None;
    for line in text.lines() {
        let line = line.trim_end();
        // Leading blanks of a comment are dropped, so they must not hide an evaluation.
        let bare = line.trim_start();
        if notes.evaluation.is_none()
            && let Some(score) = score(bare)
        {
            notes.evaluation = Some(Evaluation { score, depth: None });
        } else if depth.is_none()
            && let Some(found) = field(bare, "深さ=").and_then(|text| text.parse::<u32>().ok())
        {
            depth = Some((found, rest.len(), line));
        } else {
            rest.push(line);
        }
    }
    match (&mut notes.evaluation, depth) {
        (Some(evaluation), Some((depth, ..))) if evaluation.depth.is_none() => {
            evaluation.depth = Some(depth);
        }
        // A depth without an evaluation stays text.
        (_, Some((_, index, line))) => rest.insert(index, line),
        (_, None) => {}
    }
    let rest = rest.join("\n");
    let rest = rest.trim();
    if !rest.is_empty() {
        notes.comments.push(rest.to_owned());
    }
}

fn score(line: &str) -> Option<Score> {
    if let Some(number) = field(line, "評価値=") {
        return number.parse().ok().map(Score::Cp);
    }
    let mate = field(line, "詰み=")?;
    let (winner, plies) = match mate.split_once(':') {
        Some((winner, plies)) => (winner, Some(plies.strip_suffix('手')?.parse().ok()?)),
        None => (mate, None),
    };
    match winner {
        "先手勝ち" => Some(Score::mate(true, plies)),
        "後手勝ち" => Some(Score::mate(false, plies)),
        _ => None,
    }
}

/// The text after the name of a field, which follows `#`, or `*` for the player's engine.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix(['#', '*'])?.strip_prefix(name)
}

/// The lines for an evaluation.
pub(in super::super) fn evaluation_lines(evaluation: Option<Evaluation>) -> Vec<String> {
    let Some(Evaluation { score, depth }) = evaluation else { return Vec::new() };
    let score = if let Score::Cp(score) = score {
        format!("#評価値={score}")
    } else {
        let winner = if score.is_mating() { "先手勝ち" } else { "後手勝ち" };
        let plies = score.mate_plies().map(|plies| format!(":{plies}手")).unwrap_or_default();
        format!("#詰み={winner}{plies}")
    };
    [Some(score), depth.map(|depth| format!("#深さ={depth}"))].into_iter().flatten().collect()
}

/// All comments as one text.
pub(in super::super) fn flat_comment(notes: &Annotations) -> String {
    let all: Vec<&str> =
        notes.before.iter().chain(&notes.comments).map(|text| text.trim()).collect();
    all.join("\n").replace("\r\n", "\n").replace(['\r', '\0'], "\n")
}
