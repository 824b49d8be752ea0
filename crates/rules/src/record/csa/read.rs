//! Reads games in CSA.

use std::{borrow::Cow, io::BufRead, time::Duration};

use rsshogi::types::PieceType;

use readyok_protocol::Score;

use crate::{Game, Position, PositionError, Setup, Side, error::shortened, shogi::read_csa};

use super::super::{
    Defect, Evaluation, Headers, NoticeReason, RecordErrorKind, Tag,
    input::{Line, LineReader},
    kif,
    metadata::handicap_player,
    shogi::{Handicap, Head, Part, RANKS, ReadShogi, RecordBuilder, piece_by_csa},
};
use super::{HEADERS, PLAYERS, end_of, read_summary};

pub(in super::super) type CsaReader<R> = LineReader<R, Csa>;

/// What is remembered of a game.
#[derive(Debug, Default)]
pub(in super::super) struct Csa {
    /// The side that has all other pieces in hand.
    rest: Option<Side>,
}

impl<R: BufRead> ReadShogi for CsaReader<R> {
    fn begins_a_game(line: &str) -> bool {
        line.trim() == "/" || is_version(line)
    }

    fn head_line(&mut self, head: &mut Head, line: &Line) -> Result<Part, RecordErrorKind> {
        let text = line.text.trim_end();
        if text.trim_start() == "/" {
            return Ok(if head.seen { Part::End } else { Part::Head });
        }
        if let Some(turn) = turn_line(text) {
            head.turn = Some(turn);
            return Ok(Part::LastOfHead);
        }
        if begins_a_move(text) {
            // The side to move is missing: it is that of the first move.
            head.turn = text.starts_with('-').then_some(Side::Second);
            return Ok(Part::Moves);
        }
        if let Some(comment) = text.strip_prefix('\'') {
            if !comment.starts_with("CSA encoding=") {
                // Comments before a game belong to it, but do not begin one.
                self.lines.limits().add_line(&mut head.comment, comment_text(comment))?;
            }
            return Ok(Part::Head);
        }
        if text.is_empty() {
            return Ok(Part::Head);
        }
        head.seen = true;
        let player = |side| Tag::Player(side).name(Game::Shogi);
        if let Some(header) = text.strip_prefix('$') {
            match header.split_once(':') {
                Some((name, value)) => self.header(head, &kif_name(name), value.trim())?,
                None => self.notice(NoticeReason::Defect(Defect::MalformedHeader {
                    text: shortened(text),
                })),
            }
        } else if let Some(name) = text.strip_prefix("N+") {
            self.header(head, player(Side::First), name.trim())?;
        } else if let Some(name) = text.strip_prefix("N-") {
            self.header(head, player(Side::Second), name.trim())?;
        } else if text.starts_with('P') {
            match self.board_line(head, text) {
                Some(Row::Complete) => {}
                Some(Row::Short(rank)) => {
                    self.notice(NoticeReason::Board(PositionError::RankLength { rank }));
                }
                None => {
                    return Err(RecordErrorKind::Defect(Defect::UnexpectedText {
                        text: shortened(text),
                    }));
                }
            }
        } else if text.starts_with(['+', '-', '%', 'T']) {
            return Err(RecordErrorKind::Defect(Defect::UnexpectedText { text: shortened(text) }));
        } else if !is_version(text) {
            self.skipped(text);
        }
        Ok(Part::Head)
    }

    fn start(&mut self, head: &mut Head) -> Result<Position, RecordErrorKind> {
        if !matches!(head.rows, 0 | RANKS) {
            let (count, expected) = (head.rows as usize, RANKS as usize);
            self.notice(NoticeReason::Board(PositionError::RankCount { count, expected }));
        }
        let mut setup = head.setup.take().unwrap_or_else(|| Setup::start(Game::Shogi));
        if let Some(side) = self.game.rest {
            setup.add_rest_to_hand(side);
        }
        // Without a side to move, Black is to move.
        setup.set_turn(head.turn.unwrap_or(Side::First));
        let start = Position::for_viewing(&setup);
        if Handicap::of(&start).is_some_and(|handicap| !handicap.is_even()) {
            let mut headers = Headers::default();
            for (name, value) in head.headers.iter() {
                headers.push(handicap_name(name), value);
            }
            head.headers = headers;
        }
        Ok(start)
    }

    fn body_line(&mut self, draft: &mut RecordBuilder, line: &Line) -> Result<(), RecordErrorKind> {
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
                match seconds(time.trim()) {
                    Some(time) => draft.set_elapsed(Some(time)),
                    None => self.skipped(time),
                }
            } else if let Some(keyword) = statement.strip_prefix('%') {
                draft.end(end_of(keyword.trim(), draft.turn()));
            } else if statement.starts_with(['+', '-']) {
                if draft.has_ended() {
                    self.skipped(statement);
                    continue;
                }
                let mv = read_csa(draft.board(), statement.get(1..).unwrap_or_default())
                    .ok_or_else(|| {
                        NoticeReason::Defect(Defect::NoMatchingMove { text: shortened(statement) })
                    });
                draft.play(mv, self.location);
            } else if !statement.is_empty() {
                self.skipped(statement);
            }
        }
        Ok(())
    }
}

impl<R: BufRead> CsaReader<R> {
    fn header(&self, head: &mut Head, name: &str, value: &str) -> Result<(), RecordErrorKind> {
        if value.is_empty() {
            return Ok(());
        }
        self.lines.limits().add_header(&mut head.headers, name, value)
    }

    /// Reads `PI82HI22KA`, `P1-KY-KE * …`, `P+63FU00KI` or `P-00AL`. `None` for any other line.
    fn board_line(&mut self, head: &mut Head, line: &str) -> Option<Row> {
        let mut letters = line.get(1..)?.chars();
        let kind = letters.next()?;
        let rest = letters.as_str();
        let setup = head.setup.get_or_insert_with(|| Setup::empty(Game::Shogi));
        match kind {
            'I' => {
                *setup = Setup::start(Game::Shogi);
                for (file, rank, piece) in pieces(rest)? {
                    let (_, removed) = setup.remove_at(file, rank)?;
                    (removed == piece?).then_some(())?;
                }
            }
            '1'..='9' => {
                let rank = kind.to_digit(10)?;
                head.rows += 1;
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
                    setup.put_at(file, rank, side, piece_by_csa(cell.get(1..)?)?);
                }
                if !rest.trim().is_empty() {
                    return None;
                }
            }
            '+' | '-' => {
                let side = if kind == '+' { Side::First } else { Side::Second };
                for (file, rank, piece) in pieces(rest)? {
                    match (file, rank, piece) {
                        (0, 0, None) => self.game.rest = Some(side),
                        (0, 0, Some(kind)) => setup.add_to_hand(side, kind, 1),
                        (_, _, Some(kind)) => {
                            setup.put_at(file, rank, side, kind).then_some(())?;
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

/// Whether a line is the version, the first line of a game.
fn is_version(line: &str) -> bool {
    line.strip_prefix('V')
        .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
}

/// The text of a comment. A comment for programs begins with `*`.
fn comment_text(comment: &str) -> &str {
    comment.strip_prefix('*').unwrap_or(comment).trim()
}

fn comment_line(draft: &mut RecordBuilder, comment: &str) -> Result<(), RecordErrorKind> {
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
