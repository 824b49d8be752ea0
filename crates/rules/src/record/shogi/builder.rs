//! A record of shogi under construction, its comments, and the evaluations in them.
//!
//! Lines such as `#評価値=120`, `#詰み=先手勝ち:5手` and `#深さ=20` are the form of ShogiHome.

use std::time::Duration;

use readyok_protocol::Score;
use rsshogi::types::{Move as RawMove, Move32};

use crate::{BoardRef, Game, GameOutcome, GameResult, Move, Position, Side, Termination};

use super::super::{
    Annotations, Defect, End, Evaluation, GameRecord, Limit, Limits, NodeId, Notice, NoticeReason,
    ReadExtent, RecordErrorKind, RecordMove,
    format::{Location, add_notice},
    limits::MAX_PLIES,
};

/// A record with a cursor that can move forward and back.
///
/// At a move that cannot be played, the line is broken: its other moves are skipped. If the file states
/// that the move lost the game, it becomes the last move of the record.
pub(in super::super) struct RecordBuilder {
    pub(in super::super) record: GameRecord,
    board: rsshogi::board::Position,
    path: Vec<(NodeId, Move32)>,
    limits: Limits,
    /// The current comment, which can continue on further lines.
    pub(in super::super) comment: String,
    in_variation: bool,
    broken: Option<Broken>,
    /// The illegal move that ended the line.
    illegal: Option<NodeId>,
    notices: Vec<Notice>,
}

/// The first move of a line that could not be played.
struct Broken {
    mv: Option<RawMove>,
    notice: Notice,
    elapsed: Option<Duration>,
    /// The number of moves after it.
    skipped: usize,
}

impl RecordBuilder {
    pub(in super::super) fn new(
        start: Position,
        limits: &Limits,
        location: Location,
    ) -> Result<Self, RecordErrorKind> {
        let board = match start.board() {
            BoardRef::Shogi(board) => board.position().clone(),
            // No moves can be played in a diagram.
            BoardRef::Diagram(setup) if setup.game() == Game::Shogi => {
                rsshogi::board::Position::empty()
            }
            BoardRef::Diagram(_) | BoardRef::Chess(_) => {
                return Err(RecordErrorKind::WrongGame(start.game()));
            }
        };
        let defect = start.defect().map(|defect| NoticeReason::Start(defect.clone()));
        let notices = defect.map(|reason| notice(location, reason, ReadExtent::All));
        Ok(Self {
            board,
            record: GameRecord::new(start),
            path: Vec::new(),
            limits: Limits { plies: limits.plies.min(MAX_PLIES), ..*limits },
            comment: String::new(),
            in_variation: false,
            broken: None,
            illegal: None,
            notices: notices.into_iter().collect(),
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
        self.record.is_empty()
            && self.broken.is_none()
            && self.annotations().is_none_or(|notes| notes.end.is_none())
    }

    fn cursor(&self) -> NodeId {
        self.illegal.unwrap_or_else(|| self.path.last().map_or(NodeId::ROOT, |(id, _)| *id))
    }

    fn annotations(&self) -> Option<&Annotations> {
        self.record.node(self.cursor()).map(|node| self.record.annotations(node.id()))
    }

    /// The annotations at the cursor. `None` in a broken line.
    pub(in super::super) fn notes(&mut self) -> Option<&mut Annotations> {
        if self.broken.is_some() {
            return None;
        }
        let cursor = self.cursor();
        self.record.annotations_mut(cursor)
    }

    /// Whether the line has an end.
    pub(in super::super) fn has_ended(&self) -> bool {
        self.broken.is_none() && self.annotations().is_some_and(|notes| notes.end.is_some())
    }

    /// Whether the line ended at a move that could not be played.
    pub(in super::super) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Plays a move and advances the cursor. A move that cannot be read or played breaks the line.
    pub(in super::super) fn play(&mut self, mv: Result<RawMove, NoticeReason>, location: Location) {
        if let Some(broken) = &mut self.broken {
            broken.skipped += 1;
            self.comment.clear();
            return;
        }
        self.end_comment();
        let (mv, reason) = match mv {
            Ok(mv) => match self.try_play(mv) {
                Ok(()) => return,
                Err(reason) => (Some(mv), reason),
            },
            Err(reason) => (None, reason),
        };
        let notice = notice(location, reason, self.kept());
        self.broken = Some(Broken { mv, notice, elapsed: None, skipped: 0 });
    }

    fn try_play(&mut self, mv: RawMove) -> Result<(), NoticeReason> {
        if self.path.len() >= self.limits.plies {
            return Err(NoticeReason::LimitExceeded(Limit::LineTooLong));
        }
        if self.record.len() >= self.limits.moves {
            return Err(NoticeReason::LimitExceeded(Limit::TooManyMoves));
        }
        let is_playable = matches!(self.record.start().board(), BoardRef::Shogi(_));
        if !is_playable || !mv.is_normal() || !self.board.is_legal_move(mv) {
            return Err(self.illegal_reason(&mv.to_usi()));
        }
        let mv = self.board.move32_from_move(mv);
        let played = self.board.try_apply_move32(mv);
        played.map_err(|_| NoticeReason::LimitExceeded(Limit::LineTooLong))?;
        let attached = self.record.attach(self.cursor(), Move::Shogi(mv).into());
        let id = attached.ok_or(NoticeReason::LimitExceeded(Limit::TooManyMoves))?;
        self.path.push((id, mv));
        Ok(())
    }

    /// The moves that are kept if the line ends here.
    fn kept(&self) -> ReadExtent {
        let ply = u32::try_from(self.path.len()).unwrap_or(u32::MAX);
        if self.in_variation { ReadExtent::Variation(ply) } else { ReadExtent::MainLine(ply) }
    }

    fn illegal_reason(&self, usi: &str) -> NoticeReason {
        let position = self.record.position_after(self.cursor());
        match position.map(|position| position.parse_move(usi)) {
            Some(Err(error)) => NoticeReason::Move(error),
            Some(Ok(_)) | None => {
                NoticeReason::Defect(Defect::NoMatchingMove { text: usi.to_owned() })
            }
        }
    }

    /// Sets the time of the last move or of the end.
    pub(in super::super) fn set_elapsed(&mut self, time: Option<Duration>) {
        if let Some(broken) = &mut self.broken {
            if broken.skipped == 0 {
                broken.elapsed = time;
            }
        } else if time.is_some()
            && let Some(notes) = self.notes()
        {
            match &mut notes.end {
                Some(end) => end.elapsed = time,
                None => notes.elapsed = time,
            }
        }
    }

    /// Moves the cursor back to a ply, for a variation. False if the line is shorter.
    pub(in super::super) fn back_to(&mut self, ply: usize) -> bool {
        self.end_comment();
        self.end_broken_line();
        self.illegal = None;
        self.in_variation = !self.record.is_empty();
        let exists = ply <= self.path.len();
        while self.path.len() > ply {
            let Some((_, mv)) = self.path.pop() else { break };
            if self.board.undo_move32(mv).is_err() {
                return false;
            }
        }
        exists
    }

    /// Skips a variation of moves that do not exist.
    pub(in super::super) fn skip_variation(&mut self, text: String, location: Location) {
        self.in_variation = true;
        let notice =
            notice(location, NoticeReason::Defect(Defect::TextSkipped { text }), ReadExtent::All);
        self.broken = Some(Broken { mv: None, notice, elapsed: None, skipped: 1 });
    }

    fn end_broken_line(&mut self) {
        if let Some(broken) = self.broken.take() {
            self.notices.push(broken.notice);
            self.comment.clear();
        }
    }

    /// Adds a line to the current comment.
    pub(in super::super) fn comment_line(&mut self, line: &str) -> Result<(), RecordErrorKind> {
        self.limits.add_line(&mut self.comment, line)
    }

    /// Completes the current comment.
    pub(in super::super) fn end_comment(&mut self) {
        if self.broken.is_some() || self.comment.is_empty() {
            return;
        }
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

    /// Sets the end of the line. If it is a foul, the move that broke the line is the foul.
    pub(in super::super) fn end(&mut self, mut end: End) {
        if let Some(broken) = self.broken.take() {
            let is_foul = end.outcome.termination == Termination::IllegalMove;
            if !is_foul || broken.skipped > 0 {
                self.broken = Some(broken);
                if !self.in_variation && end.outcome.result != GameResult::Unknown {
                    self.record.result = end.outcome.result;
                }
                return;
            }
            end.outcome = GameOutcome::lost(self.turn(), Termination::IllegalMove);
            self.end_with_foul(broken);
        }
        self.end_comment();
        if let Some(notes) = self.notes() {
            notes.end = Some(end);
        }
    }

    fn end_with_foul(&mut self, broken: Broken) {
        let Broken { mv, notice, elapsed, .. } = broken;
        let position = self.record.position_after(self.cursor());
        let illegal = mv.and_then(|mv| position?.parse_unchecked(&mv.to_usi()));
        let is_limit = matches!(notice.reason, NoticeReason::LimitExceeded(_));
        let illegal = illegal.filter(|_| !is_limit);
        self.illegal =
            illegal.and_then(|mv| self.record.attach(self.cursor(), RecordMove::Illegal(mv)));
        if self.illegal.is_none() {
            self.notices.push(notice);
            self.comment.clear();
        } else if elapsed.is_some() {
            self.set_elapsed(elapsed);
        }
    }

    /// Replaces the outcome of the line by that of a summary. False if the summary adds nothing.
    pub(in super::super) fn apply_summary(&mut self, end: End) -> bool {
        if self.broken.is_some() {
            self.end(end);
            return true;
        }
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

    /// The side to move after the last move of the file, whether or not it was played.
    pub(in super::super) fn turn(&self) -> Side {
        let first = self.record.start().turn();
        let unplayed = self.broken.as_ref().map_or(0, |broken| broken.skipped + 1);
        let plies = self.path.len() + unplayed + usize::from(self.illegal.is_some());
        if plies.is_multiple_of(2) { first } else { first.other() }
    }

    /// The finished record, with its notices added to others. Its result is that of the end of the main
    /// line, if there is one.
    pub(in super::super) fn finish(mut self, notices: &mut Vec<Notice>) -> GameRecord {
        self.end_comment();
        self.end_broken_line();
        for Notice { line, column, reason, kept } in self.notices {
            add_notice(notices, Location { line, column }, reason, kept);
        }
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

fn notice(location: Location, reason: NoticeReason, kept: ReadExtent) -> Notice {
    Notice { line: location.line, column: location.column, reason, kept }
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
