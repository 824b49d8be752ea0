//! Lines of chess: FEN, EPD, and UCI's `position …`, with or without the keyword.

use readyok_protocol::Score;
use readyok_rules::record::{
    AddError, Evaluation, GameRecord, Kept, Limit, NodeId, Notice, NoticeReason, RecordError,
    RecordErrorKind, Tag,
};
use readyok_rules::{Epd, EpdError, FenForm, Game, Operation, Position};

use crate::errors::{epd_line_error, notice, record_error};
use crate::game::{MAX_PLIES, Tree};
use crate::wire::ErrorInfo;

/// A game, with a warning about its line.
type Read = (Tree, Option<ErrorInfo>);

/// Whether a text begins with such a line.
pub(super) fn begins(text: &str) -> bool {
    lines(text).next().is_some_and(|(_, line)| is_chess(line))
}

/// Reads each line. Errors contain their positions.
pub(super) fn read(text: &str) -> impl Iterator<Item = Result<Read, ErrorInfo>> {
    (1..).zip(lines(text)).map(|(game, (number, line))| Line { game, number, text: line }.read())
}

/// Lines that are neither empty nor comments, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// Shogi has lines that begin alike: nine ranks instead of eight, and moves that begin with a digit or
/// a piece.
fn is_chess(line: &str) -> bool {
    let mut tokens = line.split_whitespace().peekable();
    tokens.next_if_eq(&"position");
    match tokens.next() {
        Some("fen") => true,
        Some("startpos") => tokens.find(|token| *token != "moves").is_none_or(|mv| {
            let mut letters = mv.chars();
            letters.next().is_some_and(|file| matches!(file, 'a'..='h'))
                && letters.next().is_some_and(|rank| rank.is_ascii_digit())
        }),
        Some(board) => is_board(board),
        None => false,
    }
}

/// Whether a token looks like the board of a FEN, even with a missing rank.
fn is_board(token: &str) -> bool {
    let ranks = token.split('/').count();
    ranks >= 4
        && ranks != 9
        && token.chars().all(|letter| "12345678/pnbrqkPNBRQK~".contains(letter))
}

struct Line<'a> {
    game: u64,
    number: u64,
    text: &'a str,
}

impl Line<'_> {
    fn read(&self) -> Result<Read, ErrorInfo> {
        let rest = self.text.trim_start();
        let rest = after(rest, "position").unwrap_or(rest);
        let (mut record, warning, rest) = if let Some(rest) = after(rest, "startpos") {
            (GameRecord::new(Position::start(Game::Chess)), None, rest)
        } else {
            let (placed, rest) = split_at_moves(after(rest, "fen").unwrap_or(rest));
            let (record, warning) = self.placed(placed)?;
            (record, warning, rest)
        };
        let mut tokens = rest.split_whitespace().peekable();
        if tokens.next_if_eq(&"moves").is_none()
            && let Some(token) = tokens.next()
        {
            return Err(self.failure(token, RecordErrorKind::Unexpected(shortened(token))));
        }
        for token in tokens {
            let error = |kind| self.failure(token, kind);
            if MAX_PLIES as usize <= record.len() {
                return Err(error(RecordErrorKind::LimitExceeded(Limit::Plies)));
            }
            let mv = record.position().parse_move(token);
            let mv = mv.map_err(|cause| error(RecordErrorKind::Move(cause)))?;
            record.play(mv).map_err(|cause| {
                error(match cause {
                    AddError::Move(error) => RecordErrorKind::Move(error),
                    AddError::NoSuchNode | AddError::AfterIllegalMove | AddError::Full => {
                        RecordErrorKind::LimitExceeded(Limit::Moves)
                    }
                })
            })?;
        }
        Ok((Tree::from_record(&record), warning))
    }

    /// The position of a FEN or EPD, with the operations of an EPD.
    fn placed(&self, text: &str) -> Result<(GameRecord, Option<ErrorInfo>), ErrorInfo> {
        let error = match epd(text) {
            Ok(epd) => return Ok((annotated(&epd), None)),
            Err(error) => error,
        };
        let line_error = || epd_line_error(self.game, self.number, self.column(text), &error);
        let fields = fields(text);
        // Operations that cannot be read are no reason to lose the position.
        let placed = match error {
            EpdError::Position(_) => return Err(line_error()),
            _ => epd(fields).map_err(|_| line_error())?,
        };
        let left = text.get(fields.len()..).unwrap_or_default().trim();
        let reason = NoticeReason::Skipped(shortened(left));
        let (line, column) = (self.number, self.column(left));
        let skipped = Notice { line, column, reason, kept: Kept::All };
        Ok((annotated(&placed), Some(notice(Some(Game::Chess), &skipped))))
    }

    fn failure(&self, place: &str, kind: RecordErrorKind) -> ErrorInfo {
        let Self { game, number: line, .. } = *self;
        let error = RecordError { game, line, column: self.column(place), kind };
        record_error(Some(Game::Chess), &error)
    }

    /// Where a part of the line begins, in characters, from 1.
    fn column(&self, part: &str) -> u64 {
        let offset = part.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        let before = self.text.get(..offset).unwrap_or(self.text);
        before.chars().count() as u64 + 1
    }
}

/// The rest of a text after a token that it starts with.
fn after<'a>(text: &'a str, token: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(token)?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// The text before `moves`, and the rest.
fn split_at_moves(text: &str) -> (&str, &str) {
    let place = text.match_indices("moves").map(|(place, _)| place).find(|&place| {
        let (before, rest) = text.split_at(place);
        before.ends_with(char::is_whitespace) && after(rest, "moves").is_some()
    });
    let (placed, moves) = text.split_at(place.unwrap_or(text.len()));
    (placed.trim_end(), moves)
}

/// The fields of an EPD, or of a FEN, without what follows them.
fn fields(text: &str) -> &str {
    let mut end = 0;
    for number in 0..6 {
        let rest = text.get(end..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start().len();
        let field = rest.trim_start().split(char::is_whitespace).next().unwrap_or_default();
        let counts = field.bytes().all(|byte| byte.is_ascii_digit());
        if field.is_empty() || (number >= 4 && !counts) {
            break;
        }
        end += blank + field.len();
    }
    text.get(..end).unwrap_or(text)
}

/// A position that is illegal in chess may be one of Chess960; otherwise chess has the error.
fn epd(text: &str) -> Result<Epd, EpdError> {
    Epd::read(Game::Chess, text).or_else(|error| Epd::read(Game::Chess960, text).map_err(|_| error))
}

/// The position with its operations: name, comments, evaluation, and the others as text.
fn annotated(epd: &Epd) -> GameRecord {
    let mut record = GameRecord::new(epd.position.clone());
    if let Some(id) = epd.id() {
        record.set_header(Tag::Event, id);
    }
    let (mut comments, mut rest) = (Vec::new(), Vec::new());
    let (mut value, mut depth) = (None, None);
    for operation in &epd.operations {
        match operation {
            Operation::Id(_) | Operation::HalfmoveClock(_) | Operation::FullmoveNumber(_) => {}
            Operation::Comment { text, .. } => comments.push(text.clone()),
            Operation::Centipawns(centipawns) => value = Some(*centipawns),
            Operation::Depth(plies) => depth = Some(*plies),
            other => rest.push(other.clone()),
        }
    }
    // A depth without a value has no other place.
    if let (None, Some(depth)) = (value, depth) {
        rest.push(Operation::Depth(depth));
    }
    let rest = Epd { position: epd.position.clone(), operations: rest };
    if let Some(operations) = rest.text(FenForm::default()).ok().as_deref().map(without_position)
        && !operations.is_empty()
    {
        comments.push(operations.to_owned());
    }
    if let Some(notes) = record.annotations_mut(NodeId::ROOT) {
        notes.comments = comments;
        notes.evaluation =
            value.map(|value| Evaluation::by(epd.position.turn(), Score::Cp(value), depth));
    }
    record
}

fn without_position(epd: &str) -> &str {
    epd.get(fields(epd).len()..).unwrap_or_default().trim()
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}
