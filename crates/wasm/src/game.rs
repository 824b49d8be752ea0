//! Game records.

use std::io::Write as _;

use readyok_rules::record::{
    self, Annotations, Format, GameRecord, Limit, Limits, NodeId, RecordMove,
};
use readyok_rules::{
    FenForm, GameOutcome, GameResult, Move, Position, PositionHistory, Termination,
};
use serde_json::{Map, Value};

use crate::history::read_move;
use crate::objects::{Objects, Size};
use crate::position::{POSITIONS, insert, parts, write_outcome};
use crate::{Failure, annotations, answer, form, join, notation, number, with_parts, with_text};

/// A record with the defects of the text that it was read from.
pub(crate) struct Game {
    pub(crate) record: GameRecord,
    pub(crate) notices: Vec<String>,
    /// Bytes of comments and headers.
    text_bytes: usize,
}

impl Size for Game {
    fn bytes(&self) -> usize {
        1_500 + self.record.len() * 80 + self.text_bytes
    }
}

thread_local! {
    static GAMES: Objects<Game> = const { Objects::new() };
}

pub(crate) fn insert_game(record: GameRecord, notices: Vec<String>) -> Result<i32, Failure> {
    let headers = record.headers.iter().map(|(name, value)| name.len() + value.len());
    let comments = record.ids().map(|id| text_bytes(record.annotations(id)));
    let text_bytes = headers.chain(comments).sum();
    GAMES.with(|all| all.insert(Game { record, notices, text_bytes }))
}

fn text_bytes(annotations: &Annotations) -> usize {
    let Annotations { before, comments, end, .. } = annotations;
    let at_end = end.iter().flat_map(|end| end.comments.iter().chain(&end.text));
    before.iter().chain(comments).chain(at_end).map(|text| text.len() + 32).sum()
}

/// A game with the moves of a position.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_new(position: i32) -> i32 {
    number((|| {
        let record = POSITIONS.with(|all| {
            all.with(position, |history| {
                let mut record = GameRecord::new(history.start().clone());
                for mv in history.moves() {
                    record.play(*mv)?;
                }
                Ok(record)
            })
        })?;
        insert_game(record, Vec::new())
    })())
}

/// A copy of a game.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_copy(handle: i32) -> i32 {
    number(GAMES.with(|all| {
        all.check_room()?;
        let copy = |game: &mut Game| Ok((game.record.clone(), game.notices.clone()));
        let (record, notices) = all.with(handle, copy)?;
        insert_game(record, notices)
    }))
}

/// Frees a game.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_free(handle: i32) {
    GAMES.with(|all| all.remove(handle));
}

fn with<R>(
    handle: i32,
    call: impl FnOnce(&mut GameRecord) -> Result<R, Failure>,
) -> Result<R, Failure> {
    GAMES.with(|all| all.with(handle, |game| call(&mut game.record)))
}

fn on_game(handle: i32, call: impl FnOnce(&mut Game, &mut Vec<u8>) -> Result<(), Failure>) -> i32 {
    answer(|out| GAMES.with(|all| all.with(handle, |game| call(game, out))))
}

fn on(handle: i32, call: impl FnOnce(&mut GameRecord, &mut Vec<u8>) -> Result<(), Failure>) -> i32 {
    on_game(handle, |game, out| call(&mut game.record, out))
}

fn node(record: &GameRecord, id: u32) -> Result<NodeId, Failure> {
    let id = NodeId::from(id);
    record.node(id).map(record::Node::id).ok_or_else(|| record::AddError::NoSuchNode.into())
}

/// A fact as text: see the list in `packages/js/game.js`.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_fact(handle: i32, fact: u32) -> i32 {
    if fact == 0 {
        return on_game(handle, |game, out| {
            // A text of several lines stays one notice.
            join(out, &game.notices, 0);
            Ok(())
        });
    }
    on(handle, |record, out| {
        match fact {
            1 => out.extend_from_slice(record.game().name().as_bytes()),
            2 => out.extend_from_slice(record.result.as_str().as_bytes()),
            3 => {
                if let Some(termination) = record.termination() {
                    let result = record.result;
                    write_outcome(out, GameOutcome { result, termination });
                }
            }
            4 => {
                let headers: Vec<_> = record.headers.iter().collect();
                serde_json::to_writer(&mut *out, &headers)
                    .map_err(|error| Failure::other(&error))?;
            }
            5 => join(out, [record.start().text(FenForm::XFen)], b' '),
            6 => each_position(record, |position| {
                out.extend_from_slice(&position.key().to_le_bytes());
            }),
            _ => _ = write!(out, "{}", u32::from(record.last())),
        }
        Ok(())
    })
}

/// The FEN in a form, or the SFEN, of each position of the main line, a line each.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_texts(handle: i32, form: u32) -> i32 {
    on(handle, |record, out| {
        let form = self::form(form)?;
        each_position(record, |position| {
            if !out.is_empty() {
                out.push(b'\n');
            }
            out.extend_from_slice(position.text(form).as_bytes());
        });
        Ok(())
    })
}

/// The moves of the main line without an illegal one at its end.
fn mainline(record: &GameRecord) -> impl Iterator<Item = RecordMove> {
    record.mainline().filter_map(record::Node::mv).filter(|mv| !mv.is_illegal())
}

fn each_position(record: &GameRecord, mut call: impl FnMut(&Position)) {
    let mut position = record.start().clone();
    call(&position);
    for mv in mainline(record) {
        if mv.play(&mut position).is_err() {
            return;
        }
        call(&position);
    }
}

/// The main line in a notation, separated by NUL.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_line(handle: i32, to: u32) -> i32 {
    on(handle, |record, out| {
        let form = record.game().castling_form();
        if to == 0 {
            join(out, mainline(record).map(|mv| mv.to_uci(form)), 0);
            return Ok(());
        }
        let to = notation(to)?;
        let mut position = record.start().clone();
        let texts = mainline(record).map(|mv| {
            let text = match mv {
                RecordMove::Legal(mv) => position.notation(mv, to),
                other => other.to_uci(form),
            };
            // It is legal: the record was made by playing it.
            let _ = mv.play(&mut position);
            text
        });
        join(out, texts, 0);
        Ok(())
    })
}

/// Reads (0), sets (1), appends (2) or removes (3) a header. The name is the first part of the input, the value the
/// second. Answers the old value after `=`, or nothing.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_header(handle: i32, what: u32, name_len: usize) -> i32 {
    let room = GAMES.with(Objects::check_room);
    on_game(handle, |Game { record: GameRecord { headers, .. }, text_bytes, .. }, out| {
        with_parts(name_len, |name, value| {
            let old = headers.get(name);
            if let Some(old) = old {
                out.push(b'=');
                out.extend_from_slice(old.as_bytes());
            }
            if what == 0 {
                return Ok(());
            }
            if what > 2 {
                headers.remove(name);
                return Ok(());
            }
            room?;
            let value = String::from_utf8_lossy(value);
            let limits = Limits::default();
            if name.len().max(value.len()) > limits.header_bytes {
                return Err(Failure::other(&Limit::HeaderTooLong));
            }
            let is_new = old.is_none() || what == 2;
            if is_new && headers.len() >= limits.headers {
                return Err(Failure::other(&Limit::TooManyHeaders));
            }
            let replaced = if is_new { 0 } else { name.len() + old.map_or(0, str::len) };
            *text_bytes = (*text_bytes + name.len() + value.len()).saturating_sub(replaced);
            if what == 1 {
                headers.set(name, value);
            } else {
                headers.push(name, value);
            }
            Ok(())
        })
    })
}

/// The tree in four lines: ids, ids of the parents and moves in the order of a depth-first traversal, and annotations by
/// id in JSON. The children of a node have the order of its variations. A move with a `!` is illegal.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_tree(handle: i32) -> i32 {
    on(handle, |record, out| {
        let form = record.game().castling_form();
        let mut moves = Vec::with_capacity(record.len() * 5);
        let mut parents = Vec::with_capacity(record.len() * 4);
        let mut notes = Map::new();
        let mut pending = vec![NodeId::ROOT];
        let mut siblings = Vec::new();
        while let Some(node) = pending.pop().and_then(|id| record.node(id)) {
            let id = u32::from(node.id());
            if let (Some(mv), Some(parent)) = (node.mv(), node.parent()) {
                if !moves.is_empty() {
                    moves.push(b' ');
                    parents.push(b' ');
                    out.push(b' ');
                }
                moves.extend_from_slice(mv.to_uci(form).as_bytes());
                if mv.is_illegal() {
                    moves.push(b'!');
                }
                _ = write!(parents, "{}", u32::from(parent));
                _ = write!(out, "{id}");
            }
            let of_node = record.annotations(node.id());
            if !of_node.is_empty() {
                notes.insert(id.to_string(), annotations::to_json(of_node, record.game()));
            }
            siblings.extend(record.children(node.id()).map(record::Node::id));
            pending.extend(siblings.drain(..).rev());
        }
        for line in [parents, moves] {
            out.push(b'\n');
            out.extend_from_slice(&line);
        }
        out.push(b'\n');
        let notes = Value::Object(notes);
        serde_json::to_writer(out, &notes).map_err(|error| Failure::other(&error))
    })
}

/// The annotations of a node in JSON.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_annotations(handle: i32, id: u32) -> i32 {
    on(handle, |record, out| {
        let id = node(record, id)?;
        let notes = annotations::to_json(record.annotations(id), record.game());
        serde_json::to_writer(out, &notes).map_err(|error| Failure::other(&error))
    })
}

/// Changes the annotations of a node by the JSON of the input.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_annotate(handle: i32, id: u32) -> i32 {
    let room = GAMES.with(Objects::check_room);
    on_game(handle, |Game { record, text_bytes: bytes, .. }, _| {
        room?;
        let id = node(record, id)?;
        let before = record.annotations(id);
        let changed = with_text(|text| annotations::apply(before, text.as_bytes(), record.game()))?;
        *bytes = (*bytes + text_bytes(&changed)).saturating_sub(text_bytes(before));
        if let Some(notes) = record.annotations_mut(id) {
            *notes = changed;
        }
        Ok(())
    })
}

/// Adds moves of any notation, separated by NUL, after a node. Returns the id of the last one.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_add(handle: i32, parent: u32, count: u32) -> i32 {
    let room = GAMES.with(Objects::check_room);
    number(with(handle, |record| {
        room?;
        let mut id = node(record, parent)?;
        with_text(|text| {
            let texts: Vec<&str> = parts(text, count)?.collect();
            if record.len().saturating_add(texts.len()) > Limits::default().moves {
                return Err(Failure::other(&Limit::TooManyMoves));
            }
            // All moves are read first, so that none is added after an error.
            let mut position = record.position_after(id).ok_or(record::AddError::NoSuchNode)?;
            let mut moves: Vec<Move> = Vec::new();
            for text in &texts {
                let mv = read_move(&position, text)?;
                position.play(mv)?;
                moves.push(mv);
            }
            for mv in moves {
                id = record.add(id, mv)?;
            }
            i32::try_from(u32::from(id)).map_err(|_| record::AddError::Full.into())
        })
    }))
}

/// Deletes a node with its descendants. Returns their number.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_delete(handle: i32, id: u32) -> i32 {
    number(with(handle, |record| {
        let id = node(record, id)?;
        Ok(i32::try_from(record.delete(id).len()).unwrap_or(i32::MAX))
    }))
}

/// Moves the line of a node one place towards the main line, or to it. Returns whether the order changed.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_promote(handle: i32, id: u32, to_main: u32) -> i32 {
    number(with(handle, |record| {
        let id = node(record, id)?;
        Ok(i32::from(!record.promote(id, to_main != 0).is_empty()))
    }))
}

/// Sets the result, which is the input. With the number of a termination plus one, also what ended the game; an empty
/// result is then that which follows for the side to move.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_finish(handle: i32, termination: u32) -> i32 {
    number(with(handle, |record| {
        let result = with_text(|text| match text {
            "" => Ok(None),
            text => GameResult::from_text(text)
                .map(Some)
                .ok_or_else(|| Failure::usage("no such result")),
        })?;
        let termination = termination.checked_sub(1).map(|index| {
            let termination = Termination::ALL.get(index as usize).copied();
            termination.ok_or_else(|| Failure::usage("no such termination"))
        });
        match (termination.transpose()?, result) {
            (Some(termination), Some(result)) => {
                record.conclude(GameOutcome { result, termination });
            }
            (Some(termination), None) => record.finish(termination),
            (None, Some(result)) => record.result = result,
            (None, None) => {}
        }
        Ok(0)
    }))
}

/// The position after a node with the moves before it. Moves before a null move are not among them.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_position(handle: i32, id: u32) -> i32 {
    number((|| {
        let history = with(handle, |record| {
            let id = node(record, id)?;
            let mut history = PositionHistory::new(record.start().clone());
            for node in record.line_to(id) {
                match record.node(node).and_then(record::Node::mv) {
                    Some(RecordMove::Legal(mv)) => history.push(mv)?,
                    Some(mv @ RecordMove::Null) => {
                        let mut position = history.position().clone();
                        mv.play(&mut position)?;
                        history = PositionHistory::new(position);
                    }
                    Some(RecordMove::Illegal(_)) | None => {}
                }
            }
            Ok(history)
        })?;
        insert(history)
    })())
}

/// The game in a format (0), or what the format cannot hold of it, separated by NUL (1).
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn game_write(handle: i32, format: u32, what: u32) -> i32 {
    on(handle, |record, out| {
        let format = Format::ALL.get(format as usize);
        let format = format.ok_or_else(|| Failure::usage("no such format"))?;
        if what == 0 {
            record::write(record, *format, out)?;
        } else {
            let losses = record::write(record, *format, &mut std::io::sink())?;
            join(out, losses.iter().map(|loss| loss.to_string()), 0);
        }
        Ok(())
    })
}
