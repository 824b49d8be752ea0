//! Reads games in CSA.

use std::{borrow::Cow, io::BufRead, time::Duration};

use rsshogi::types::PieceType;

use readyok_protocol::Score;

use crate::{Game, Position, PositionError, Side, error::shortened, shogi::read_csa};

use super::super::{
    Bookmark, Evaluation, Format, GameRecord, Headers, Kept, Limits, Notice, NoticeReason,
    RecordErrorKind, Tag,
    encoding::Transcoder,
    input::{Games, Line, Lines, Location, State},
    kif,
    metadata::handicap_player,
    shogi::{Draft, Setup, piece_by_csa},
};
use super::{HEADERS, PLAYERS, end_of, read_summary};

/// Reads games until the source ends.
#[derive(Debug)]
pub(in super::super) struct Reader<R> {
    lines: Lines<R>,
    location: Location,
    state: State,
}

/// The lines before the moves.
#[derive(Debug)]
struct Head {
    headers: Headers,
    /// The comment on the start position.
    comment: String,
    setup: Setup,
    /// Whether rows or pieces of a board were read.
    board: bool,
    /// Number of rows that were read.
    rows: usize,
    /// The side that has all other pieces in hand.
    rest: Option<Side>,
    seen: bool,
}

impl<R: BufRead> Reader<R> {
    pub(in super::super) fn new(input: Transcoder<R>, limits: Limits, from: Bookmark) -> Self {
        let (lines, state) = (Lines::new(input, limits, from), State::after(from.games));
        Self { lines, location: Location::START, state }
    }

    /// The start of the next game, or of lines before it.
    pub(in super::super) fn bookmark(&self) -> Bookmark {
        self.lines.bookmark(Format::Csa, self.state.games())
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
                Ok(Some(line)) if line.text.trim() == "/" => return true,
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
        let mut head = Head::new();
        let mut draft: Option<Draft> = None;
        while let Some(line) = self.lines.next()? {
            self.location = Location { line: line.number, column: 1 };
            let separator = line.text.trim() == "/";
            if draft.is_some() && begins_a_game(&line.text) {
                self.lines.push_back(line);
                break;
            }
            match &mut draft {
                Some(_) if separator => break,
                None if separator && head.seen => break,
                None if separator => {}
                None => {
                    let text = line.text.trim_end();
                    if let Some(turn) = turn_line(text) {
                        draft = Some(self.begin(std::mem::replace(&mut head, Head::new()), turn)?);
                    } else if begins_a_move(text) {
                        // The side to move is missing: it is that of the first move.
                        let turn = if text.starts_with('-') { Side::Second } else { Side::First };
                        let head = std::mem::replace(&mut head, Head::new());
                        let draft = draft.insert(self.begin(head, turn)?);
                        self.body_line(draft, &line)?;
                    } else {
                        self.head_line(&mut head, &line)?;
                    }
                }
                Some(draft) => self.body_line(draft, &line)?,
            }
        }
        match draft {
            Some(draft) => Ok(Some(draft.finish(self.state.notices_mut()))),
            // Without a side to move, Black is to move.
            None if head.seen => {
                let draft = self.begin(head, Side::First)?;
                Ok(Some(draft.finish(self.state.notices_mut())))
            }
            None => Ok(None),
        }
    }
}

impl<R: BufRead> Reader<R> {
    fn head_line(&mut self, head: &mut Head, line: &Line) -> Result<(), RecordErrorKind> {
        let text = line.text.trim_end();
        if let Some(comment) = text.strip_prefix('\'') {
            if !comment.starts_with("CSA encoding=") {
                // Comments before a game belong to it, but do not begin one.
                self.lines.limits().add_line(&mut head.comment, comment_text(comment))?;
            }
            return Ok(());
        }
        if text.is_empty() {
            return Ok(());
        }
        head.seen = true;
        if let Some(header) = text.strip_prefix('$') {
            let Some((name, value)) = header.split_once(':') else {
                self.notice(NoticeReason::Header(shortened(text)));
                return Ok(());
            };
            return self.header(head, &kif_name(name), value.trim());
        }
        if let Some(name) = text.strip_prefix("N+") {
            return self.header(head, Tag::Player(Side::First).name(Game::Shogi), name.trim());
        }
        if let Some(name) = text.strip_prefix("N-") {
            return self.header(head, Tag::Player(Side::Second).name(Game::Shogi), name.trim());
        }
        if text.starts_with('V') && begins_a_game(text) {
            return Ok(());
        }
        if text.starts_with('P') {
            match head.board_line(text) {
                Some(Row::Complete) => {}
                Some(Row::Short(rank)) => {
                    self.notice(NoticeReason::Board(PositionError::RankLength { rank }));
                }
                None => return Err(RecordErrorKind::Unexpected(shortened(text))),
            }
            return Ok(());
        }
        if text.starts_with(['+', '-', '%', 'T']) {
            return Err(RecordErrorKind::Unexpected(shortened(text)));
        }
        self.notice(NoticeReason::Skipped(shortened(text)));
        Ok(())
    }

    fn header(&self, head: &mut Head, name: &str, value: &str) -> Result<(), RecordErrorKind> {
        if value.is_empty() {
            return Ok(());
        }
        self.lines.limits().add_header(&mut head.headers, name, value)
    }

    fn begin(&mut self, mut head: Head, turn: Side) -> Result<Draft, RecordErrorKind> {
        if !matches!(head.rows, 0 | 9) {
            let error = PositionError::RankCount { count: head.rows, expected: 9 };
            self.notice(NoticeReason::Board(error));
        }
        let start = if head.board {
            if let Some(side) = head.rest {
                head.setup.add_rest_to_hand(side);
            }
            head.setup.set_turn(turn);
            head.setup.position()
        } else {
            let mut setup = Setup::of(&Position::start(Game::Shogi));
            setup.set_turn(turn);
            setup.position()
        };
        let mut draft = Draft::new(start, self.lines.limits(), self.location)?;
        let is_handicap_game = draft.record.is_handicap_game();
        for (name, value) in head.headers.iter() {
            let name = if is_handicap_game { handicap_name(name) } else { name };
            draft.record.headers.push(name, value);
        }
        draft.comment = head.comment;
        Ok(draft)
    }

    fn body_line(&mut self, draft: &mut Draft, line: &Line) -> Result<(), RecordErrorKind> {
        let text = line.text.trim_end();
        // The encoding of the next game.
        if text.starts_with("'CSA encoding=") {
            return Ok(());
        }
        if let Some(comment) = text.strip_prefix('\'') {
            let summary = read_summary(comment);
            if summary.is_some_and(|summary| draft.apply_summary(summary)) {
                return Ok(());
            }
            return comment_line(draft, comment);
        }
        // Several statements can share a line.
        for statement in text.split(',') {
            self.location = line.location(statement);
            let statement = statement.trim();
            if let Some(time) = statement.strip_prefix('T') {
                self.time(draft, time);
            } else if let Some(keyword) = statement.strip_prefix('%') {
                draft.end(end_of(keyword.trim(), draft.turn()));
            } else if statement.starts_with(['+', '-']) {
                if draft.has_ended() {
                    self.notice(NoticeReason::Skipped(shortened(statement)));
                    continue;
                }
                let mv = read_csa(draft.board(), statement.get(1..).unwrap_or_default())
                    .ok_or_else(|| NoticeReason::NoSuchMove(shortened(statement)));
                draft.play(mv, self.location);
            } else if !statement.is_empty() {
                self.notice(NoticeReason::Skipped(shortened(statement)));
            }
        }
        Ok(())
    }

    fn time(&mut self, draft: &mut Draft, text: &str) {
        let Some(time) = seconds(text.trim()) else {
            self.notice(NoticeReason::Skipped(shortened(text)));
            return;
        };
        draft.set_elapsed(Some(time));
    }
}

impl Head {
    fn new() -> Self {
        Self {
            headers: Headers::default(),
            comment: String::new(),
            setup: Setup::empty(),
            board: false,
            rows: 0,
            rest: None,
            seen: false,
        }
    }

    /// Reads `PI82HI22KA`, `P1-KY-KE * …`, `P+63FU00KI` or `P-00AL`. `None` for any other line.
    fn board_line(&mut self, line: &str) -> Option<Row> {
        let mut letters = line.get(1..)?.chars();
        let kind = letters.next()?;
        let rest = letters.as_str();
        self.board = true;
        match kind {
            'I' => {
                self.setup = Setup::of(&Position::start(Game::Shogi));
                for (file, rank, piece) in pieces(rest)? {
                    let (_, removed) = self.setup.remove(file, rank)?;
                    (removed == piece?).then_some(())?;
                }
            }
            '1'..='9' => {
                let rank = kind.to_digit(10)?;
                self.rows += 1;
                let mut rest = rest;
                for file in (1..=9).rev() {
                    // Blanks at the end of a line can be missing.
                    if rest.trim().is_empty() {
                        return Some(Row::Short(char::from_digit(rank + 9, 36)?));
                    }
                    let (cell, after) = match rest.char_indices().nth(3) {
                        Some((index, _)) => rest.split_at(index),
                        None => (rest, ""),
                    };
                    rest = after;
                    let side = match cell.chars().next() {
                        Some('+') => Side::First,
                        Some('-') => Side::Second,
                        _ if matches!(cell.trim(), "*" | "") => continue,
                        Some(_) | None => return None,
                    };
                    self.setup.put(file, rank, side, piece_by_csa(cell.get(1..)?)?);
                }
                if !rest.trim().is_empty() {
                    return None;
                }
            }
            '+' | '-' => {
                let side = if kind == '+' { Side::First } else { Side::Second };
                for (file, rank, piece) in pieces(rest)? {
                    match (file, rank, piece) {
                        (0, 0, None) => self.rest = Some(side),
                        (0, 0, Some(kind)) => self.setup.add_to_hand(side, kind, 1),
                        (_, _, Some(kind)) => {
                            self.setup.put(file, rank, side, kind).then_some(())?;
                        }
                        (_, _, None) => return None,
                    }
                }
            }
            _ => return None,
        }
        Some(Row::Complete)
    }
}

/// A line of a board.
enum Row {
    Complete,
    /// Squares at the end of this rank are missing.
    Short(char),
}

/// The name of a header of CSA in KIF. Other programs keep the names of KIF that CSA lacks.
fn kif_name(name: &str) -> Cow<'_, str> {
    let known = HEADERS.iter().find(|(known, _)| *known == name);
    match known {
        Some((_, kif)) => Cow::Borrowed(kif),
        None if !name.is_ascii() && kif::can_be_a_header(name) && !PLAYERS.contains(&name) => {
            Cow::Borrowed(name)
        }
        None => Cow::Owned(format!("${name}")),
    }
}

/// The header of a player in a handicap game.
fn handicap_name(name: &str) -> &str {
    let is_player = |side| Tag::Player(side).name(Game::Shogi) == name;
    match Side::BOTH.into_iter().find(|side| is_player(*side)) {
        Some(side) => handicap_player(side),
        None => name,
    }
}

/// `63FU00KI00AL`: files, ranks and pieces. `AL`, all remaining pieces, is `None`.
fn pieces(text: &str) -> Option<Vec<(u32, u32, Option<PieceType>)>> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at_checked(4)?;
        let mut digits = piece.chars().map_while(|letter| letter.to_digit(10));
        let (file, rank) = (digits.next()?, digits.next()?);
        let name = piece.get(2..)?;
        let kind = piece_by_csa(name);
        if kind.is_none() && name != "AL" {
            return None;
        }
        found.push((file, rank, kind));
        rest = after.trim_start();
    }
    Some(found)
}

/// The side to move of a line `+` or `-`, which precedes the moves.
fn turn_line(line: &str) -> Option<Side> {
    match line {
        "+" => Some(Side::First),
        "-" => Some(Side::Second),
        _ => None,
    }
}

/// Whether a line begins with a move, such as `+7776FU`.
fn begins_a_move(line: &str) -> bool {
    let rest = line.strip_prefix(['+', '-']);
    rest.is_some_and(|rest| rest.bytes().take(4).filter(u8::is_ascii_digit).count() == 4)
}

fn begins_a_game(line: &str) -> bool {
    line.strip_prefix('V').is_some_and(|rest| rest.starts_with(|it: char| it.is_ascii_digit()))
}

/// The text of a comment. A comment for programs begins with `*`.
fn comment_text(comment: &str) -> &str {
    comment.strip_prefix('*').unwrap_or(comment).trim()
}

fn comment_line(draft: &mut Draft, comment: &str) -> Result<(), RecordErrorKind> {
    let Some(text) = comment.strip_prefix("**") else {
        return draft.comment_line(comment_text(comment));
    };
    // `'** 30 -3334FU #1200`: an evaluation, a line of moves, and nodes.
    let text = text.trim();
    let (number, rest) = text.split_once(' ').unwrap_or((text, ""));
    let score = number.parse().ok().map(Score::Cp);
    let free = draft.notes().filter(|notes| notes.evaluation.is_none() && notes.end.is_none());
    match (score, free) {
        (Some(score), Some(notes)) => {
            notes.evaluation = Some(Evaluation { score, depth: None });
            if rest.is_empty() { Ok(()) } else { draft.comment_line(rest.trim()) }
        }
        _ => draft.comment_line(text),
    }
}

/// `12` or `12.345`
fn seconds(text: &str) -> Option<Duration> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(part) {
        return None;
    }
    let nanos: String = part.chars().chain("000000000".chars()).take(9).collect();
    Some(Duration::new(whole.parse::<u32>().ok()?.into(), nanos.parse().ok()?))
}
