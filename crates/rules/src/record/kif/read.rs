//! Reads games in KIF and KI2.

use std::{io::BufRead, time::Duration};

use rsshogi::types::Move32;

use crate::{
    Game, GameOutcome, GameResult, Position, PositionError, Side, Termination, error::shortened,
};

use super::super::{
    Defect, End, NoticeReason, RecordErrorKind,
    input::{Line, LineReader},
    shogi::{Handicap, Head, Part, RANKS, ReadShogi, RecordBuilder, wide_digit},
};
use super::{SIDE_MARKS, board, ends, moves};

pub(in super::super) type KifReader<R> = LineReader<R, Kif>;

/// What is remembered of a game.
#[derive(Debug, Default)]
pub(in super::super) struct Kif {
    handicap: Option<Handicap>,
    /// The number of the first move, from which variations are counted.
    first_number: Option<usize>,
    in_variation: bool,
    /// Whether moves of KIF were read, which state their ends.
    numbered: bool,
}

/// Headers that begin a game.
const FIRST_HEADERS: [&str; 6] = ["開始日時", "手合割", "棋戦", "先手", "下手", "対局ID"];

impl<R: BufRead> ReadShogi for KifReader<R> {
    fn begins_a_game(line: &str) -> bool {
        if line.starts_with("#KIF") || line.starts_with("# --") {
            return true;
        }
        let header = line.trim_start().split_once('：');
        header.is_some_and(|(name, _)| FIRST_HEADERS.contains(&name.trim()))
    }

    fn is_next(draft: &RecordBuilder, line: &str) -> bool {
        !draft.is_fresh() && Self::begins_a_game(line)
    }

    fn head_line(&mut self, head: &mut Head, line: &Line) -> Result<Part, RecordErrorKind> {
        if begins_moves(&line.text) {
            return Ok(Part::Moves);
        }
        let text = line.text.trim_end();
        let comment = text.strip_prefix('*');
        let text = text.trim_start();
        if let Some(comment) = comment.or_else(|| text.starts_with('&').then_some(text)) {
            head.seen = true;
            self.lines.limits().add_line(&mut head.comment, comment)?;
            return Ok(Part::Head);
        }
        if text.is_empty() || text.starts_with('#') {
            return Ok(Part::Head);
        }
        if text.starts_with('|') {
            self.board_row(head, text)?;
            return Ok(Part::Head);
        }
        if frame_line(head, text)? || turn_line(head, text) {
            head.seen = true;
            return Ok(Part::Head);
        }
        let Some((name, value)) = text.split_once('：').or_else(|| text.split_once(':')) else {
            head.unexpected.get_or_insert_with(|| shortened(text));
            self.skipped(text);
            return Ok(Part::Head);
        };
        let (name, value) = (name.trim(), value.trim());
        head.seen = true;
        match name {
            "手合割" => {
                self.game.handicap = Handicap::by_kif(value);
                if self.game.handicap.is_none() && value != "その他" {
                    self.notice(NoticeReason::Defect(Defect::MalformedHeader {
                        text: shortened(text),
                    }));
                }
            }
            "先手の持駒" | "下手の持駒" | "後手の持駒" | "上手の持駒" => {
                let first = name.starts_with("先手") || name.starts_with("下手");
                let side = if first { Side::First } else { Side::Second };
                if !board::read_hand(value, side, head.setup()) {
                    self.notice(NoticeReason::Defect(Defect::MalformedHeader {
                        text: shortened(text),
                    }));
                }
            }
            _ => self.lines.limits().add_header(&mut head.headers, name, value)?,
        }
        Ok(Part::Head)
    }

    fn start(&mut self, head: &mut Head) -> Result<Position, RecordErrorKind> {
        check_rows(head)?;
        let board = head.setup.take().filter(|_| head.rows > 0);
        Ok(match (board, self.game.handicap) {
            (Some(mut board), _) => {
                board.set_turn(head.turn.unwrap_or(Side::First));
                Position::for_viewing(&board)
            }
            (None, Some(handicap)) => Position::for_viewing(&handicap.setup()),
            (None, None) => Position::start(Game::Shogi),
        })
    }

    fn body_line(&mut self, draft: &mut RecordBuilder, line: &Line) -> Result<(), RecordErrorKind> {
        let text = line.text.trim_end();
        let comment = text.strip_prefix('*');
        let text = text.trim_start();
        // The name of a bookmark is kept with its sign, as in JKF.
        if let Some(comment) = comment.or_else(|| text.starts_with('&').then_some(text)) {
            return draft.comment_line(comment);
        }
        if text.is_empty() || text.starts_with('#') || text.starts_with("手数--") {
            return Ok(());
        }
        if let Some(number) = text.strip_prefix("変化：").or_else(|| text.strip_prefix("変化:"))
        {
            self.vary(draft, number, text);
        } else if text.starts_with("まで") {
            if !self.apply_summary(draft, text) {
                self.notice(NoticeReason::Defect(Defect::Contradiction { text: shortened(text) }));
            }
        } else if text.starts_with(SIDE_MARKS) {
            self.ki2_line(draft, line, text);
        } else if text.starts_with(|letter: char| wide_digit(letter).is_some()) {
            self.kif_line(draft, line, text);
        } else {
            self.skipped(text);
        }
        Ok(())
    }
}

impl<R: BufRead> KifReader<R> {
    /// `   1 ７六歩(77)   ( 0:16/00:00:16)+`
    fn kif_line(&mut self, draft: &mut RecordBuilder, line: &Line, text: &str) {
        let (number, rest) = leading_number(text);
        let text = rest.trim_start();
        self.location = line.location(text);
        self.game.numbered = true;
        if draft.has_ended() {
            self.skipped(text);
            return;
        }
        self.game.first_number = self.game.first_number.or(number);
        if moves::begins_a_move(text) {
            let last = draft.last_move().map(Move32::to_sq);
            let Some(written) = moves::read(text, last) else {
                let reason = NoticeReason::Defect(Defect::NoMatchingMove { text: shortened(text) });
                draft.play(Err(reason), self.location);
                return;
            };
            let mv = moves::resolve(draft.board(), &written);
            let shown = text.strip_suffix(written.rest).unwrap_or(text);
            let mv = mv.ok_or_else(|| {
                NoticeReason::Defect(Defect::NoMatchingMove { text: shortened(shown) })
            });
            draft.play(mv, self.location);
            draft.set_elapsed(time(written.rest));
            return;
        }
        let (name, after) = text.split_at(text.find('(').unwrap_or(text.len()));
        let name = name.trim().trim_end_matches('+').trim_end();
        if name.is_empty() {
            self.skipped(text);
            return;
        }
        let end = ends::read(name, draft.turn());
        draft.end(End { elapsed: time(after), ..end });
    }

    /// `▲７六歩    △３四歩`
    fn ki2_line(&mut self, draft: &mut RecordBuilder, line: &Line, text: &str) {
        let mut rest = text;
        while let Some(after) = rest.strip_prefix(SIDE_MARKS) {
            self.location = line.location(rest);
            let last = draft.last_move().map(Move32::to_sq);
            let Some(written) = moves::read(after, last) else {
                let end = after.find(SIDE_MARKS).unwrap_or(after.len());
                let (shown, after) = after.split_at_checked(end).unwrap_or((after, ""));
                let reason = NoticeReason::Defect(Defect::NoMatchingMove {
                    text: shortened(shown.trim_end()),
                });
                draft.play(Err(reason), self.location);
                rest = after;
                continue;
            };
            let shown = after.strip_suffix(written.rest).unwrap_or(after);
            let mv = moves::resolve(draft.board(), &written);
            let mv = mv.ok_or_else(|| {
                NoticeReason::Defect(Defect::NoMatchingMove { text: shortened(shown) })
            });
            draft.play(mv, self.location);
            rest = written.rest.trim_start();
        }
        if !rest.is_empty() {
            self.location = line.location(rest);
            self.skipped(rest);
        }
    }

    /// Reads a row of the board diagram.
    fn board_row(&mut self, head: &mut Head, text: &str) -> Result<(), RecordErrorKind> {
        head.seen = true;
        if head.rows == RANKS {
            // Rows of another diagram.
            self.skipped(text);
            return Ok(());
        }
        let expected = head.rows + 1;
        head.rows =
            board::read_row(text, expected, head.setup()).map_err(RecordErrorKind::Start)?;
        Ok(())
    }

    /// Goes back to the start of a variation. A variation of moves that do not exist is skipped.
    fn vary(&mut self, draft: &mut RecordBuilder, number: &str, line: &str) {
        let (number, _) = leading_number(number.trim());
        let ply = number.and_then(|number| number.checked_sub(self.game.first_number.unwrap_or(1)));
        self.game.in_variation = true;
        if !ply.is_some_and(|ply| draft.back_to(ply)) {
            draft.back_to(0);
            draft.skip_variation(shortened(line), self.location);
        }
    }

    /// Applies the summary line of a game. False if it contradicts the end of the moves, which then has
    /// precedence: some programs assume that the first player always begins.
    fn apply_summary(&self, draft: &mut RecordBuilder, line: &str) -> bool {
        let turn = draft.turn();
        let summary = ends::read_summary(line, turn);
        let (stated, unknown) = (summary.result, GameResult::Unknown);
        let contradicts = |end: &End| {
            let follows = end.outcome.result;
            follows != unknown && stated != unknown && follows != stated
        };
        if draft.is_broken() {
            let end = summary.end.unwrap_or_else(|| End::implied(Termination::Resignation, turn));
            draft.end(End { outcome: GameOutcome { result: stated, ..end.outcome }, ..end });
            return true;
        }
        let ended = draft.notes().and_then(|notes| notes.end.clone());
        if summary.is_exact
            && !self.game.in_variation
            && stated != unknown
            && let Some(mut end) = summary.end.clone()
        {
            // The line of the end can have a less specific name.
            if ended.is_some_and(|ended| contradicts(&ended)) {
                return false;
            }
            end.outcome.result = stated;
            draft.apply_summary(end);
            return true;
        }
        if let Some(end) = ended {
            if contradicts(&end) {
                return false;
            }
        } else if summary.end.is_some() || !self.game.numbered {
            // KIF has a line for resignation; KI2 implies it.
            let end = summary.end.unwrap_or_else(|| End::implied(Termination::Resignation, turn));
            if !contradicts(&end) {
                draft.end(end);
            }
        }
        if !self.game.in_variation && stated != unknown {
            draft.record.result = stated;
        }
        true
    }
}

/// Reads a line above or below a board diagram. False for any other line.
fn frame_line(head: &Head, text: &str) -> Result<bool, RecordErrorKind> {
    let is_frame = text.starts_with("+--");
    if is_frame {
        check_rows(head)?;
    }
    Ok(is_frame || text.starts_with("９ ８") || text.starts_with("９　８"))
}

/// Checks that the board diagram, if there is one, has all rows.
fn check_rows(head: &Head) -> Result<(), RecordErrorKind> {
    match head.rows {
        0 | RANKS => Ok(()),
        rows => Err(RecordErrorKind::Start(PositionError::RankCount {
            count: rows as usize,
            expected: RANKS as usize,
        })),
    }
}

/// Reads a line with the side to move or the number of moves. False for any other line.
fn turn_line(head: &mut Head, text: &str) -> bool {
    if let Some(number) = text.strip_prefix("手数＝").or_else(|| text.strip_prefix("手数=")) {
        let number = leading_number(number).0.and_then(|number| u32::try_from(number).ok());
        head.setup().set_move_number(number.unwrap_or(0).saturating_add(1));
        return true;
    }
    let turn = match text {
        "先手番" | "下手番" => Side::First,
        "後手番" | "上手番" => Side::Second,
        _ => return false,
    };
    head.turn = Some(turn);
    true
}

/// Whether a line belongs to the moves, not to the headers.
fn begins_moves(line: &str) -> bool {
    let text = line.trim_start();
    if text.starts_with("手数--") || text.starts_with("まで") || text.starts_with(SIDE_MARKS) {
        return true;
    }
    // Moves begin with a number, but so does the line above a diagram.
    let (number, rest) = leading_number(text);
    let rest = rest.trim_start();
    number.is_some()
        && rest.len() < text.len()
        && !text.starts_with("９ ８")
        && !text.starts_with("９　８")
        && !rest.contains('：')
}

/// A number in digits of half or full width, and the rest of the text.
fn leading_number(text: &str) -> (Option<usize>, &str) {
    let end = text
        .char_indices()
        .find(|&(_, letter)| !letter.is_ascii_digit() && !('０'..='９').contains(&letter))
        .map_or(text.len(), |(index, _)| index);
    let (digits, rest) = text.split_at(end);
    let mut number = None;
    for digit in digits.chars().filter_map(wide_digit) {
        number = Some(number.unwrap_or(0_usize).saturating_mul(10).saturating_add(digit as usize));
    }
    (number, rest)
}

/// The time of a move in `( 0:16/00:00:16)`. `None` if it is missing.
fn time(text: &str) -> Option<Duration> {
    let inside = text.trim_start().strip_prefix('(')?;
    let spent = inside.split(['/', ')']).next()?.trim();
    let mut seconds = 0_u64;
    for part in spent.split(':') {
        let part: u32 = part.trim().parse().ok()?;
        seconds = seconds.checked_mul(60)?.checked_add(part.into())?;
    }
    Some(Duration::from_secs(seconds))
}
