//! Reads games in KIF and KI2.

use std::{io::BufRead, mem, time::Duration};

use rsshogi::types::Move32;

use crate::{
    Game, GameOutcome, GameResult, Position, PositionError, Side, Termination, error::shortened,
};

use super::super::{
    Bookmark, End, Format, GameRecord, Headers, Kept, Limits, Notice, NoticeReason,
    RecordErrorKind,
    encoding::Transcoder,
    input::{Games, Line, Lines, Location, State},
    shogi::{Draft, Handicap, Setup, wide_digit},
};
use super::{board, ends, moves};

/// Reads games until the source ends.
#[derive(Debug)]
pub(in super::super) struct Reader<R> {
    lines: Lines<R>,
    location: Location,
    state: State,
}

/// The lines before the moves.
#[derive(Debug, Default)]
struct Head {
    headers: Headers,
    /// The comment on the start position.
    comment: String,
    handicap: Option<Handicap>,
    /// The board diagram, and the number of its rows that were read.
    board: Option<Setup>,
    rows: u32,
    turn: Option<Side>,
    number: Option<u32>,
    /// The first unexpected line.
    unexpected: Option<String>,
    seen: bool,
}

/// A game after its first line of moves.
struct Body {
    draft: Draft,
    /// The number of the first move, from which variations are counted.
    first_number: Option<usize>,
    in_variation: bool,
    /// Whether moves of KIF were read, which state their ends.
    numbered: bool,
}

/// Rows of a board diagram.
const BOARD_ROWS: u32 = 9;

/// Headers that begin a game.
const FIRST_HEADERS: [&str; 6] = ["開始日時", "手合割", "棋戦", "先手", "下手", "対局ID"];

impl<R: BufRead> Reader<R> {
    pub(in super::super) fn new(input: Transcoder<R>, limits: Limits, from: Bookmark) -> Self {
        let (lines, state) = (Lines::new(input, limits, from), State::after(from.games));
        Self { lines, location: Location::START, state }
    }

    /// The start of the next game, or of lines before it.
    pub(in super::super) fn bookmark(&self) -> Bookmark {
        self.lines.bookmark(Format::Kif, self.state.games())
    }

    pub(in super::super) fn notices(&self) -> &[Notice] {
        self.state.notices()
    }

    fn notice(&mut self, reason: NoticeReason) {
        self.state.notice(self.location, reason, Kept::All);
    }
}

impl<R: BufRead> Games for Reader<R> {
    fn state(&mut self) -> &mut State {
        &mut self.state
    }

    fn begin_game(&mut self) {
        self.lines.begin_game();
    }

    fn location(&mut self) -> Location {
        self.location.max(self.lines.location())
    }

    /// Skips the rest of a game that cannot be read. False if the file ends.
    fn skip_game(&mut self) -> bool {
        loop {
            self.lines.begin_game();
            match self.lines.next() {
                Ok(Some(line)) if begins_a_game(&line.text) => {
                    self.lines.push_back(line);
                    return true;
                }
                Ok(None) | Err(RecordErrorKind::Io(_)) => return false,
                Ok(Some(_)) | Err(_) => {}
            }
        }
    }

    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind> {
        let mut head = Head::default();
        let mut body = None;
        while let Some(line) = self.lines.next()? {
            self.location = Location { line: line.number, column: 1 };
            let is_next = |body: &Body| !body.draft.is_fresh() && begins_a_game(&line.text);
            if body.as_ref().is_some_and(is_next) {
                self.lines.push_back(line);
                break;
            }
            match &mut body {
                None => {
                    if begins_moves(&line.text) {
                        body = Some(self.begin(mem::take(&mut head))?);
                        if let Some(body) = &mut body {
                            self.body_line(body, &line)?;
                        }
                    } else {
                        self.head_line(&mut head, &line)?;
                    }
                }
                Some(body) => self.body_line(body, &line)?,
            }
        }
        let body = match body {
            Some(body) => body,
            None if head.seen => self.begin(head)?,
            None => {
                return head.unexpected.map_or(Ok(None), |it| Err(RecordErrorKind::Unexpected(it)));
            }
        };
        Ok(Some(body.draft.finish(self.state.notices_mut())))
    }
}

impl<R: BufRead> Reader<R> {
    fn head_line(&mut self, head: &mut Head, line: &Line) -> Result<(), RecordErrorKind> {
        let text = line.text.trim_end();
        if let Some(comment) = text.strip_prefix('*') {
            head.seen = true;
            return self.lines.limits().add_line(&mut head.comment, comment);
        }
        let text = text.trim_start();
        if text.starts_with('&') {
            head.seen = true;
            return self.lines.limits().add_line(&mut head.comment, text);
        }
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        if text.starts_with('|') {
            head.seen = true;
            return self.board_row(head, text);
        }
        if head.frame_line(text)? || head.turn_line(text) {
            head.seen = true;
            return Ok(());
        }
        let Some((name, value)) = text.split_once('：').or_else(|| text.split_once(':')) else {
            head.unexpected.get_or_insert_with(|| shortened(text));
            self.notice(NoticeReason::Skipped(shortened(text)));
            return Ok(());
        };
        let (name, value) = (name.trim(), value.trim());
        head.seen = true;
        match name {
            "手合割" => {
                head.handicap = Handicap::by_kif(value);
                if head.handicap.is_none() && value != "その他" {
                    self.notice(NoticeReason::Header(shortened(text)));
                }
            }
            "先手の持駒" | "下手の持駒" | "後手の持駒" | "上手の持駒" => {
                let first = name.starts_with("先手") || name.starts_with("下手");
                let side = if first { Side::First } else { Side::Second };
                let board = head.board.get_or_insert_with(Setup::empty);
                if !board::read_hand(value, side, board) {
                    self.notice(NoticeReason::Header(shortened(text)));
                }
            }
            _ => self.lines.limits().add_header(&mut head.headers, name, value)?,
        }
        Ok(())
    }

    /// Reads a row of the board diagram.
    fn board_row(&mut self, head: &mut Head, text: &str) -> Result<(), RecordErrorKind> {
        if head.rows == BOARD_ROWS {
            // Rows of another diagram.
            self.notice(NoticeReason::Skipped(shortened(text)));
            return Ok(());
        }
        let board = head.board.get_or_insert_with(Setup::empty);
        head.rows = board::read_row(text, head.rows + 1, board).map_err(RecordErrorKind::Start)?;
        Ok(())
    }

    fn begin(&mut self, head: Head) -> Result<Body, RecordErrorKind> {
        head.check_rows()?;
        let board = head.board.filter(|_| head.rows > 0);
        let start = match (board, head.handicap) {
            (Some(mut board), _) => {
                board.set_turn(head.turn.unwrap_or(Side::First));
                board.set_move_number(head.number.unwrap_or(0).saturating_add(1));
                board.position()
            }
            (None, Some(handicap)) => handicap.setup().position(),
            (None, None) => Position::start(Game::Shogi),
        };
        let mut draft = Draft::new(start, self.lines.limits(), self.location)?;
        draft.record.headers = head.headers;
        draft.comment = head.comment;
        Ok(Body { draft, first_number: None, in_variation: false, numbered: false })
    }

    fn body_line(&mut self, body: &mut Body, line: &Line) -> Result<(), RecordErrorKind> {
        let text = line.text.trim_end();
        if let Some(comment) = text.strip_prefix('*') {
            return body.draft.comment_line(comment);
        }
        let text = text.trim_start();
        // The name of a bookmark is kept with its sign, as in JKF.
        if text.starts_with('&') {
            return body.draft.comment_line(text);
        }
        if text.is_empty() || text.starts_with('#') || text.starts_with("手数--") {
            return Ok(());
        }
        if let Some(number) = text.strip_prefix("変化：").or_else(|| text.strip_prefix("変化:"))
        {
            body.vary(number, text, self.location);
            return Ok(());
        }
        if text.starts_with("まで") {
            if !body.apply_summary(text) {
                self.notice(NoticeReason::Contradiction(shortened(text)));
            }
            return Ok(());
        }
        if text.starts_with(SIDE_MARKS) {
            self.ki2_line(body, line, text);
            return Ok(());
        }
        if text.starts_with(|letter: char| wide_digit(letter).is_some()) {
            self.kif_line(body, line, text);
            return Ok(());
        }
        self.notice(NoticeReason::Skipped(shortened(text)));
        Ok(())
    }

    /// `   1 ７六歩(77)   ( 0:16/00:00:16)+`
    fn kif_line(&mut self, body: &mut Body, line: &Line, text: &str) {
        let (number, rest) = leading_number(text);
        let text = rest.trim_start();
        self.location = line.location(text);
        body.numbered = true;
        if body.draft.has_ended() {
            self.notice(NoticeReason::Skipped(shortened(text)));
            return;
        }
        body.first_number = body.first_number.or(number);
        let rest = if moves::begins_a_move(text) {
            let last = body.draft.last_move().map(Move32::to_sq);
            let Some(written) = moves::read(text, last) else {
                let reason = NoticeReason::NoSuchMove(shortened(text));
                body.draft.play(Err(reason), self.location);
                return;
            };
            let mv = moves::resolve(body.draft.board(), &written);
            let shown = text.strip_suffix(written.rest).unwrap_or(text);
            let mv = mv.ok_or_else(|| NoticeReason::NoSuchMove(shortened(shown)));
            body.draft.play(mv, self.location);
            body.draft.set_elapsed(time(written.rest));
            return;
        } else {
            text
        };
        let (name, after) = match rest.find('(') {
            Some(index) => rest.split_at(index),
            None => (rest, ""),
        };
        let name = name.trim().trim_end_matches('+').trim_end();
        if name.is_empty() {
            self.notice(NoticeReason::Skipped(shortened(text)));
            return;
        }
        let end = ends::read(name, body.draft.turn());
        body.draft.end(End { elapsed: time(after), ..end });
    }

    /// `▲７六歩    △３四歩`
    fn ki2_line(&mut self, body: &mut Body, line: &Line, text: &str) {
        let mut rest = text;
        while let Some(after) = rest.strip_prefix(SIDE_MARKS) {
            self.location = line.location(rest);
            let last = body.draft.last_move().map(Move32::to_sq);
            let Some(written) = moves::read(after, last) else {
                let end = after.find(SIDE_MARKS).unwrap_or(after.len());
                let (shown, after) = after.split_at_checked(end).unwrap_or((after, ""));
                let reason = NoticeReason::NoSuchMove(shortened(shown.trim_end()));
                body.draft.play(Err(reason), self.location);
                rest = after;
                continue;
            };
            let shown = after.strip_suffix(written.rest).unwrap_or(after);
            let mv = moves::resolve(body.draft.board(), &written);
            let mv = mv.ok_or_else(|| NoticeReason::NoSuchMove(shortened(shown)));
            body.draft.play(mv, self.location);
            rest = written.rest.trim_start();
        }
        if !rest.is_empty() {
            self.location = line.location(rest);
            self.notice(NoticeReason::Skipped(shortened(rest)));
        }
    }
}

/// The marks of the sides before moves of KI2.
const SIDE_MARKS: [char; 6] = ['▲', '△', '▼', '▽', '☗', '☖'];

impl Body {
    /// Goes back to the start of a variation. A variation of moves that do not exist is skipped.
    fn vary(&mut self, number: &str, line: &str, location: Location) {
        let (number, _) = leading_number(number.trim());
        let ply = number.and_then(|number| number.checked_sub(self.first_number.unwrap_or(1)));
        self.in_variation = true;
        if !ply.is_some_and(|ply| self.draft.back_to(ply)) {
            self.draft.back_to(0);
            self.draft.skip_variation(shortened(line), location);
        }
    }

    /// Applies the summary line of a game. False if it contradicts the end of the moves, which then has
    /// precedence: some programs assume that the first player always begins.
    fn apply_summary(&mut self, line: &str) -> bool {
        let turn = self.draft.turn();
        let summary = ends::read_summary(line, turn);
        let (stated, unknown) = (summary.result, GameResult::Unknown);
        let contradicts = |end: &End| {
            let follows = end.outcome.result;
            follows != unknown && stated != unknown && follows != stated
        };
        if self.draft.is_broken() {
            let end = summary.end.unwrap_or_else(|| End::implied(Termination::Resignation, turn));
            self.draft.end(End { outcome: GameOutcome { result: stated, ..end.outcome }, ..end });
            return true;
        }
        let ended = self.draft.notes().and_then(|notes| notes.end.clone());
        if summary.is_exact
            && !self.in_variation
            && stated != unknown
            && let Some(mut end) = summary.end.clone()
        {
            // The line of the end can have a less specific name.
            if ended.is_some_and(|ended| contradicts(&ended)) {
                return false;
            }
            end.outcome.result = stated;
            self.draft.apply_summary(end);
            return true;
        }
        if let Some(end) = ended {
            if contradicts(&end) {
                return false;
            }
        } else if summary.end.is_some() || !self.numbered {
            // KIF has a line for resignation; KI2 implies it.
            let end = summary.end.unwrap_or_else(|| End::implied(Termination::Resignation, turn));
            if !contradicts(&end) {
                self.draft.end(end);
            }
        }
        if !self.in_variation && stated != unknown {
            self.draft.record.result = stated;
        }
        true
    }
}

impl Head {
    /// Reads a line above or below a board diagram. False for any other line.
    fn frame_line(&self, text: &str) -> Result<bool, RecordErrorKind> {
        let is_frame = text.starts_with("+--");
        if is_frame {
            self.check_rows()?;
        }
        Ok(is_frame || text.starts_with("９ ８") || text.starts_with("９　８"))
    }

    /// Checks that the board diagram, if there is one, has all rows.
    fn check_rows(&self) -> Result<(), RecordErrorKind> {
        match self.rows {
            0 | BOARD_ROWS => Ok(()),
            rows => Err(RecordErrorKind::Start(PositionError::RankCount {
                count: rows as usize,
                expected: BOARD_ROWS as usize,
            })),
        }
    }

    /// Reads a line with the side to move or the number of moves. False for any other line.
    fn turn_line(&mut self, text: &str) -> bool {
        if let Some(number) = text.strip_prefix("手数＝").or_else(|| text.strip_prefix("手数="))
        {
            self.number = leading_number(number).0.and_then(|number| u32::try_from(number).ok());
            return true;
        }
        let turn = match text {
            "先手番" | "下手番" => Side::First,
            "後手番" | "上手番" => Side::Second,
            _ => return false,
        };
        self.turn = Some(turn);
        true
    }
}

fn begins_a_game(line: &str) -> bool {
    if line.starts_with("#KIF") || line.starts_with("# --") {
        return true;
    }
    line.trim_start().split_once('：').is_some_and(|(name, _)| FIRST_HEADERS.contains(&name.trim()))
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
