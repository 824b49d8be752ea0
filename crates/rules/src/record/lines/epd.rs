//! FEN and EPD of chess in lines.

use readyok_protocol::Score;

use crate::{Epd, FenForm, Game, Operation, Side};

use super::super::{Evaluation, GameRecord, NodeId, Tag};

/// The fields of an EPD, or of a FEN, without the text that follows them.
pub(super) fn fields(text: &str) -> &str {
    let mut end = 0;
    for number in 0..6 {
        let rest = text.get(end..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start().len();
        let field = rest.trim_start().split(char::is_whitespace).next().unwrap_or_default();
        let fits = match number {
            0 => !field.is_empty(),
            1 => matches!(field, "w" | "b"),
            2 => field.bytes().all(|byte| b"KQkqABCDEFGHabcdefgh-".contains(&byte)),
            3 => {
                let mut letters = field.chars();
                field == "-"
                    || letters.next().is_some_and(|file| ('a'..='h').contains(&file))
                        && letters.next().is_some_and(|rank| ('1'..='8').contains(&rank))
            }
            _ => field.bytes().all(|byte| byte.is_ascii_digit()),
        };
        // A missing field can be followed by an operation, which is longer than a field.
        if field.is_empty() || !fits {
            break;
        }
        end += blank + field.len();
    }
    text.get(..end).unwrap_or(text)
}

/// Whether the castling rights name files, as only those of Chess960 do.
pub(super) fn has_rook_files(fields: &str) -> bool {
    let castling = fields.split_whitespace().nth(2).unwrap_or_default();
    castling.bytes().any(|byte| matches!(byte.to_ascii_lowercase(), b'a'..=b'h'))
}

/// Adds the operations of an EPD to a record: name, comments, evaluation, and the others as text. False if
/// they cannot be read.
pub(super) fn annotate(record: &mut GameRecord, operations: &str) -> bool {
    let position = record.start().clone();
    let fen = position.text(FenForm::Shredder);
    let fields: Vec<&str> = fen.split(' ').take(4).collect();
    let game = position.game();
    let Ok(epd) = Epd::read(game, &format!("{} {operations}", fields.join(" "))) else {
        return false;
    };
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
    // A depth without a value stays text.
    if let (None, Some(depth)) = (value, depth) {
        rest.push(Operation::Depth(depth));
    }
    let rest = Epd { position: epd.position.clone(), operations: rest };
    let written = rest.text(FenForm::default()).unwrap_or_default();
    let remainder = written.get(self::fields(&written).len()..).unwrap_or_default().trim();
    if !remainder.is_empty() {
        comments.push(remainder.to_owned());
    }
    if let Some(notes) = record.annotations_mut(NodeId::ROOT) {
        notes.comments = comments;
        let by_turn = |value| Evaluation::by(position.turn(), Score::Cp(value), depth);
        notes.evaluation = value.map(by_turn);
    }
    true
}

impl GameRecord {
    /// The operations of the EPD that the record was read from, with changes of the name, the comments and
    /// the evaluation. None if the record has moves.
    pub fn epd_operations(&self) -> Vec<Operation> {
        let game = self.game();
        if !self.is_empty() || game == Game::Shogi {
            return Vec::new();
        }
        let notes = self.annotations(NodeId::ROOT);
        let fen = self.start().text(FenForm::Shredder);
        let fields: Vec<&str> = fen.split(' ').take(4).collect();
        let mut operations = Vec::new();
        let number = 0;
        let mut comments = notes.comments.as_slice();
        // Operations without an annotation of their own are the last comment.
        if let [rest @ .., last] = comments
            && last.ends_with(';')
            && let Ok(epd) = Epd::read(game, &format!("{} {last}", fields.join(" ")))
        {
            comments = rest;
            operations = epd.operations;
        }
        if let Some(Evaluation { score: Score::Cp(value), depth }) = notes.evaluation {
            let value = if self.start().turn() == Side::First { value } else { -value };
            operations.push(Operation::Centipawns(value));
            operations.extend(depth.map(Operation::Depth));
        }
        for (number, text) in (number..).zip(comments.iter().take(10)) {
            operations.push(Operation::Comment { number, text: text.clone() });
        }
        operations.extend(self.header(Tag::Event).map(|id| Operation::Id(id.to_owned())));
        operations
    }
}
