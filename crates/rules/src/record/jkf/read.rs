//! Reads games in JKF.

use std::{
    fmt,
    io::{BufRead, ErrorKind},
    time::Duration,
};

use rsshogi::types::{Move, Move32, PieceType};
use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, Visitor},
};
use serde_json::{Map, Value};

use crate::{Game, Position, Setup, Side, error::shortened};

use super::super::{
    Bookmark, Defect, End, Format, GameRecord, Headers, Limit, Limits, NoticeReason, ReadExtent,
    RecordErrorKind,
    csa::{end_of, read_summary},
    encoding::Transcoder,
    format::{Games, Location, ReadingState, add_notice},
    shogi::{Handicap, RecordBuilder, piece_by_csa, square},
};

/// Reads games until the source ends.
#[derive(Debug)]
pub(in super::super) struct JkfReader<R> {
    input: Transcoder<R>,
    limits: Limits,
    /// The location of the next byte.
    location: Location,
    /// The location of the current game, or of its defect.
    game_location: Location,
    /// The start of the next game is unknown.
    is_lost: bool,
    state: ReadingState,
}

impl<R: BufRead> Games for JkfReader<R> {
    fn state(&self) -> &ReadingState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut ReadingState {
        &mut self.state
    }

    fn bookmark(&self) -> Option<Bookmark> {
        let (offset, lines) = (self.input.offset()?, self.location.line - 1);
        let (encoding, games) = (self.input.encoding(), self.state.games());
        Some(Bookmark { format: Format::JKF, offset, lines, games, encoding })
    }

    fn begin_game(&mut self) {
        self.game_location = self.location;
    }

    fn location(&mut self) -> Location {
        self.game_location
    }

    fn read_game(&mut self) -> Result<Option<GameRecord>, RecordErrorKind> {
        if self.is_lost {
            return Ok(None);
        }
        let Some(text) = self.read_value()? else { return Ok(None) };
        let file: File = serde_json::from_slice(&text).map_err(|error| {
            let begin = self.game_location;
            let before = if error.line() <= 1 { begin.column - 1 } else { 0 };
            self.game_location = Location {
                line: begin.line + (error.line() as u64).saturating_sub(1),
                column: before + (error.column() as u64).max(1),
            };
            RecordErrorKind::Defect(Defect::UnexpectedText { text: shortened(&error.to_string()) })
        })?;
        self.game(file, self.game_location).map(Some)
    }

    /// A game that cannot be read was consumed.
    fn skip_game(&mut self) -> bool {
        !self.is_lost
    }
}

impl<R: BufRead> JkfReader<R> {
    pub(in super::super) fn new(input: Transcoder<R>, limits: Limits, from: Bookmark) -> Self {
        Self {
            input,
            limits,
            location: Location { line: from.lines + 1, column: 1 },
            game_location: Location::START,
            is_lost: false,
            state: ReadingState::after(from.games),
        }
    }

    /// The text of the next value, and the location of its start. `None` at the end of the file.
    /// Reading ends after a value that is not an object or array, or that is too long.
    fn read_value(&mut self) -> Result<Option<Vec<u8>>, RecordErrorKind> {
        let mut text = Vec::new();
        let mut nesting = Nesting::default();
        loop {
            let byte = match self.input.fill_buf() {
                Ok(buffer) => buffer.first().copied(),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let Some(byte) = byte else { return Ok((!text.is_empty()).then_some(text)) };
            if text.is_empty() && !byte.is_ascii_whitespace() {
                self.game_location = self.location;
            }
            if !nesting.is_open() && !text.is_empty() && byte == b'\n' {
                // The start of the next game is unknown.
                self.is_lost = true;
                return Ok(Some(text));
            }
            self.input.consume(1);
            if byte == b'\n' {
                self.location = Location { line: self.location.line + 1, column: 1 };
            } else if byte & 0xC0 != 0x80 {
                self.location.column += 1;
            }
            if text.is_empty() && byte.is_ascii_whitespace() {
                continue;
            }
            text.push(byte);
            if text.len() as u64 > self.limits.game_bytes {
                self.is_lost = true;
                return Err(RecordErrorKind::LimitExceeded(Limit::GameTooLarge));
            }
            if nesting.closes_with(byte) {
                return Ok(Some(text));
            }
        }
    }

    fn game(&mut self, file: File, location: Location) -> Result<GameRecord, RecordErrorKind> {
        let File { header, initial, moves } = file;
        let moves = moves.as_array().ok_or_else(|| unexpected(&moves))?;
        let start = match &initial {
            Value::Null => Position::start(Game::Shogi),
            initial => start(initial).ok_or_else(|| unexpected(initial))?,
        };
        let mut draft = RecordBuilder::new(start, &self.limits, location)?;
        draft.record.headers = self.headers(header, location)?;
        self.moves(&mut draft, moves, location)?;
        Ok(draft.finish(self.state.notices_mut()))
    }

    fn headers(&mut self, header: Pairs, location: Location) -> Result<Headers, RecordErrorKind> {
        let mut headers = Headers::default();
        for (name, value) in header.0 {
            let Value::String(value) = value else {
                let reason =
                    NoticeReason::Defect(Defect::MalformedHeader { text: shortened(&name) });
                add_notice(self.state.notices_mut(), location, reason, ReadExtent::All);
                continue;
            };
            self.limits.add_header(&mut headers, name, value)?;
        }
        Ok(headers)
    }

    /// Reads a list of moves and its variations, without recursion.
    fn moves(
        &mut self,
        draft: &mut RecordBuilder,
        moves: &[Value],
        location: Location,
    ) -> Result<(), RecordErrorKind> {
        // Pending lines, with the number of moves before them.
        let mut lines: Vec<(usize, &[Value], bool)> = vec![(0, moves, true)];
        while let Some((ply, line, main)) = lines.pop() {
            if !draft.back_to(ply) {
                continue;
            }
            // The first entry of the main line is the start position.
            let entries = line.iter().enumerate();
            let mut forks = Vec::new();
            for (index, entry) in entries {
                let before = draft.ply();
                let Some(entry) = entry.as_object() else {
                    return Err(unexpected(entry));
                };
                if let Some(mv) = entry.get("move").filter(|mv| !mv.is_null()) {
                    let mv = read_move(draft, mv).ok_or_else(|| {
                        NoticeReason::Defect(Defect::NoMatchingMove {
                            text: shortened(&mv.to_string()),
                        })
                    });
                    if draft.has_ended() {
                        let reason = NoticeReason::Defect(Defect::TextSkipped {
                            text: "{\"move\"}".to_owned(),
                        });
                        add_notice(self.state.notices_mut(), location, reason, ReadExtent::All);
                        break;
                    }
                    draft.play(mv, location);
                } else if !(main && index == 0) && entry.get("special").is_none() {
                    let reason =
                        NoticeReason::Defect(Defect::TextSkipped { text: "{}".to_owned() });
                    add_notice(self.state.notices_mut(), location, reason, ReadExtent::All);
                }
                read_annotations(draft, entry)?;
                let variations = entry.get("forks").and_then(Value::as_array);
                for variation in variations.into_iter().flatten().filter_map(Value::as_array) {
                    forks.push((before, variation.as_slice(), false));
                }
            }
            // The last variations come first, as in KIF: those of one move stay in order, and those of
            // later moves are read before going back. The number of moves before them never decreases.
            let mut start = 0;
            let mut ordered: Vec<(usize, &[Value], bool)> = Vec::new();
            while let Some(first) = forks.get(start) {
                let count = forks.iter().skip(start).take_while(|fork| fork.0 == first.0).count();
                ordered.extend(forks.iter().skip(start).take(count).rev().copied());
                start += count;
            }
            lines.extend(ordered);
        }
        Ok(())
    }
}

/// Reads the comments, the time and the end of an entry.
fn read_annotations(
    draft: &mut RecordBuilder,
    entry: &Map<String, Value>,
) -> Result<(), RecordErrorKind> {
    let elapsed = entry.get("time").and_then(|time| time.get("now")).and_then(time);
    if let Some(special) = entry.get("special").and_then(Value::as_str) {
        draft.end(End { elapsed, ..end_of(special, draft.turn()) });
    } else if elapsed.is_some() {
        draft.set_elapsed(elapsed);
    }
    let comments = entry.get("comments").and_then(Value::as_array);
    // Only the first summary counts. A redundant one is a comment, and so are those after it.
    let mut applied = None;
    for line in comments.into_iter().flatten().filter_map(Value::as_str).flat_map(str::lines) {
        let at_end = draft.notes().is_some_and(|notes| notes.end.is_some());
        if let Some(summary) = read_summary(line).filter(|_| at_end)
            && *applied.get_or_insert_with(|| draft.apply_summary(summary))
        {
            continue;
        }
        draft.comment_line(line)?;
    }
    draft.end_comment();
    Ok(())
}

/// The nesting of objects and arrays in JSON text.
#[derive(Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Nesting {
    fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Processes the next byte. Returns whether it closes the outermost object or array.
    fn closes_with(&mut self, byte: u8) -> bool {
        if self.in_string {
            let is_end = byte == b'"' && !self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            self.in_string = !is_end;
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                let was_open = self.is_open();
                self.depth = self.depth.saturating_sub(1);
                return was_open && !self.is_open();
            }
            _ => {}
        }
        false
    }
}

/// The top-level object.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    header: Pairs,
    #[serde(default)]
    initial: Value,
    #[serde(default)]
    moves: Value,
}

/// An object with ordered names, which can occur more than once.
#[derive(Default)]
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(All)
    }
}

fn unexpected(value: &Value) -> RecordErrorKind {
    RecordErrorKind::Defect(Defect::UnexpectedText { text: shortened(&value.to_string()) })
}

/// The start position. `None` if the JSON has another structure.
fn start(initial: &Value) -> Option<Position> {
    let preset = initial.get("preset")?.as_str()?;
    let setup = match Handicap::by_jkf(preset) {
        Some(handicap) => handicap.setup(),
        None => read_setup(initial.get("data")?)?,
    };
    Some(Position::for_viewing(&setup))
}

fn read_setup(data: &Value) -> Option<Setup> {
    let mut setup = Setup::empty(Game::Shogi);
    setup.set_turn(side(data.get("color")?)?);
    for (file, column) in (1..).zip(nine(data.get("board")?)?) {
        for (rank, cell) in (1..).zip(nine(column)?) {
            if let Some(kind) = cell.get("kind").and_then(Value::as_str) {
                setup.put_at(file, rank, side(cell.get("color")?)?, piece_by_csa(kind)?);
            }
        }
    }
    let hands = data.get("hands")?.as_array()?;
    for (side, hand) in Side::BOTH.into_iter().zip(hands) {
        for (name, count) in hand.as_object()? {
            let count = count.as_u64().and_then(|count| u32::try_from(count).ok())?;
            setup.add_to_hand(side, piece_by_csa(name)?, count);
        }
    }
    Some(setup)
}

/// A column, or all columns. With another length the squares of the pieces are unknown.
fn nine(value: &Value) -> Option<&[Value]> {
    value.as_array().map(Vec::as_slice).filter(|rows| rows.len() == 9)
}

fn side(value: &Value) -> Option<Side> {
    match value.as_u64()? {
        0 => Some(Side::First),
        1 => Some(Side::Second),
        _ => None,
    }
}

/// The move of an entry. `None` if the JSON has another structure.
fn read_move(draft: &RecordBuilder, mv: &Value) -> Option<Move> {
    let kind: PieceType = piece_by_csa(mv.get("piece")?.as_str()?)?;
    let named_square = |name: &str| {
        let value = mv.get(name)?;
        let number = |name: &str| u32::try_from(value.get(name)?.as_u64()?).ok();
        square(number("x")?, number("y")?)
    };
    let to = named_square("to").or_else(|| {
        let same = mv.get("same").and_then(Value::as_bool) == Some(true);
        draft.last_move().filter(|_| same).map(Move32::to_sq)
    })?;
    if mv.get("from").is_none_or(Value::is_null) {
        return kind.is_hand_piece().then(|| Move::drop(kind, to));
    }
    let from = named_square("from")?;
    let promotes = mv.get("promote").and_then(Value::as_bool) == Some(true);
    Some(if promotes { Move::promotion(from, to) } else { Move::normal(from, to) })
}

fn time(value: &Value) -> Option<Duration> {
    let number = |name: &str| match value.get(name) {
        None | Some(Value::Null) => Some(0),
        Some(number) => number.as_u64().filter(|number| *number < u64::from(u32::MAX)),
    };
    Some(Duration::from_secs((number("h")? * 60 + number("m")?) * 60 + number("s")?))
}
