//! Writes games in JKF.

use std::{fmt::Write as _, time::Duration};

use rsshogi::{
    board::Position,
    types::{Move32, Piece},
};
use serde_json::{Map, Value, json};

use crate::{Move, Setup, Side};

use super::super::{
    Encoding, GameRecord, Loss, Node, NodeId, RecordMove,
    csa::keyword_and_summary,
    kif,
    loss::Written,
    loss::{HeldResult, Holds},
    shogi::{BoardCursor, Handicap, Totals, comment_text, csa_name, square_of},
};

pub(in super::super) const HOLDS: Holds = Holds { result: HeldResult::WithEnd, ..Holds::SHOGI };

/// The text of a record.
pub(in super::super) fn write(record: &GameRecord, _: Encoding) -> Written {
    let walk = BoardCursor::new(record.start());
    let mut out = "{\"header\":{".to_owned();
    let mut losses = HOLDS.losses(record);
    let mut written = Vec::new();
    for (name, value) in record.headers.iter() {
        if written.contains(&name) {
            losses.add(Loss::Headers);
        } else {
            let comma = if written.is_empty() { "" } else { "," };
            let _ = write!(out, "{comma}{}:{}", Value::from(name), Value::from(value));
            written.push(name);
        }
    }
    let initial = match Handicap::of(record.start()) {
        Some(handicap) => json!({ "preset": handicap.jkf() }),
        None => json!({ "preset": "OTHER", "data": setup_json(&record.start().setup()) }),
    };
    let _ = write!(out, "}},\"initial\":{initial},\"moves\":[");
    let start = record.start().turn();
    let mut writer = Writer { record, walk, out, start, totals: Totals::new(start) };
    writer.main_line();
    writer.out.push_str("]}\n");
    Written { text: writer.out, losses }
}

fn setup_json(setup: &Setup) -> Value {
    let color = |side: Side| u8::from(side == Side::Second);
    let column = |file| {
        let cell = |rank| match setup.at(file, rank) {
            Some((side, kind)) => json!({ "color": color(side), "kind": csa_name(kind) }),
            None => json!({}),
        };
        (1..=9).map(cell).collect::<Value>()
    };
    let hand = |side| {
        let mut hand = Map::new();
        for (kind, count) in setup.in_hand(side) {
            hand.insert(csa_name(kind).to_owned(), count.into());
        }
        Value::Object(hand)
    };
    json!({
        "color": color(setup.turn()),
        "board": (1..=9).map(column).collect::<Value>(),
        "hands": [hand(Side::First), hand(Side::Second)],
    })
}

/// Remaining work, as a stack: recursion would let a record determine the depth of the call stack.
enum Task {
    /// An entry without its variations, and the variations.
    Entry(NodeId, Vec<NodeId>),
    /// The end of an entry, and the rest of the line.
    After(NodeId),
    Text(&'static str),
}

struct Writer<'a> {
    record: &'a GameRecord,
    walk: BoardCursor,
    out: String,
    /// The side that moves first.
    start: Side,
    totals: Totals,
}

impl Writer<'_> {
    fn main_line(&mut self) {
        let Some(root) = self.record.root() else { return };
        self.out.push('{');
        self.comments(root, "");
        self.out.push('}');
        let mut tasks = self.next(root);
        while let Some(task) = tasks.pop() {
            match task {
                Task::Text(text) => self.out.push_str(text),
                Task::Entry(id, variations) => {
                    self.entry(id);
                    tasks.push(Task::After(id));
                    if variations.is_empty() {
                        continue;
                    }
                    self.out.push_str(",\"forks\":[");
                    tasks.push(Task::Text("]"));
                    for (index, &id) in variations.iter().enumerate().rev() {
                        tasks.push(Task::Text("]"));
                        tasks.push(Task::Entry(id, Vec::new()));
                        tasks.push(Task::Text(if index == 0 { "[" } else { ",[" }));
                    }
                }
                Task::After(id) => {
                    self.out.push('}');
                    let Some(node) = self.record.node(id) else { continue };
                    let Some(mv) = shogi_move(node) else { continue };
                    self.back_to(node.ply() - 1);
                    if !node.mv().is_some_and(RecordMove::is_illegal) {
                        self.walk.play(mv);
                    }
                    self.totals.add(self.record.annotations(node.id()).elapsed, node.ply());
                    tasks.extend(self.next(node));
                }
            }
        }
    }

    fn back_to(&mut self, ply: usize) {
        self.walk.back_to(ply);
        self.totals.back_to(ply);
    }

    /// Begins the continuation of a node or writes the end of the line.
    fn next(&mut self, node: &Node) -> Vec<Task> {
        let mut moves = self.record.children(node.id());
        if let Some(first) = moves.next().filter(|node| shogi_move(node).is_some()) {
            self.out.push(',');
            let variations = moves.filter(|node| shogi_move(node).is_some()).map(Node::id);
            return vec![Task::Entry(first.id(), variations.collect())];
        }
        if let Some(end) = &self.record.annotations(node.id()).end {
            let turn = self.turn_after(node.ply());
            let result = if node.id() == self.record.last() {
                self.record.result
            } else {
                end.outcome.result
            };
            let (special, summary) = keyword_and_summary(end, result, turn, self.record);
            let _ = write!(self.out, ",{{\"special\":{}", Value::from(special));
            self.time(end.elapsed, node.ply() + 1);
            let lines: Vec<&str> =
                summary.iter().chain(&end.comments).map(String::as_str).collect();
            self.comment_lines(&lines.join("\n"), ",");
            self.out.push('}');
        }
        Vec::new()
    }

    fn turn_after(&self, ply: usize) -> Side {
        if ply.is_multiple_of(2) { self.start } else { self.start.other() }
    }

    fn entry(&mut self, id: NodeId) {
        let Some(node) = self.record.node(id) else { return };
        let Some(mv) = shogi_move(node) else { return };
        self.back_to(node.ply().saturating_sub(1));
        let turn = self.turn_after(node.ply().saturating_sub(1));
        let mv = move_json(self.walk.board(), mv, self.walk.last(), turn);
        let _ = write!(self.out, "{{\"move\":{mv}");
        self.time(self.record.annotations(node.id()).elapsed, node.ply());
        self.comments(node, ",");
    }

    fn time(&mut self, elapsed: Option<Duration>, ply: usize) {
        if let Some(time) = elapsed {
            let total = self.totals.with(elapsed, ply);
            let parts = |seconds: u64| json!({ "h": seconds / 3600, "m": seconds / 60 % 60, "s": seconds % 60 });
            let (now, total) = (parts(time.as_secs()), parts(total));
            let _ = write!(self.out, ",\"time\":{{\"now\":{now},\"total\":{total}}}");
        }
    }

    fn comments(&mut self, node: &Node, before: &str) {
        self.comment_lines(&comment_text(self.record.annotations(node.id())), before);
    }

    fn comment_lines(&mut self, text: &str, before: &str) {
        if !text.is_empty() {
            let lines: Value = text.lines().map(str::trim_end).collect();
            let _ = write!(self.out, "{before}\"comments\":{lines}");
        }
    }
}

/// The move of a node if JKF can express it.
fn shogi_move(node: &Node) -> Option<Move32> {
    match node.mv()? {
        RecordMove::Legal(Move::Shogi(mv)) | RecordMove::Illegal(Move::Shogi(mv)) => Some(mv),
        RecordMove::Legal(Move::Chess(_))
        | RecordMove::Illegal(Move::Chess(_))
        | RecordMove::Null => None,
    }
}

/// A move with all its fields.
fn move_json(board: &Position, mv: Move32, last: Option<Move32>, turn: Side) -> Value {
    let square = |(x, y): (u32, u32)| json!({ "x": x, "y": y });
    let color = u8::from(turn == Side::Second);
    let to = mv.to_sq();
    let mut text = json!({ "color": color, "to": square(square_of(to)) });
    let Some(object) = text.as_object_mut() else { return text };
    let mut set = |name: &str, value: Value| {
        object.insert(name.to_owned(), value);
    };
    if let Some(kind) = mv.dropped_piece() {
        set("piece", csa_name(kind).into());
    } else {
        let from = mv.from_sq();
        let kind = board.piece_on(from).piece_type();
        set("from", square(square_of(from)));
        set("piece", csa_name(kind).into());
        let promotion = rsshogi::types::Move::promotion(from, to);
        if mv.is_promotion() || board.is_legal_move(promotion) {
            set("promote", mv.is_promotion().into());
        }
        let captured = board.piece_on(to);
        if captured != Piece::NONE {
            set("capture", csa_name(captured.piece_type()).into());
        }
    }
    if last.is_some_and(|last| last.to_sq() == to) {
        set("same", true.into());
    }
    let letters =
        [('左', 'L'), ('直', 'C'), ('右', 'R'), ('上', 'U'), ('寄', 'M'), ('引', 'D'), ('打', 'H')];
    let notation = kif::relative(board, mv, last);
    let relative: String = letters
        .iter()
        .filter(|(kanji, _)| notation.contains(*kanji))
        .map(|(_, letter)| *letter)
        .collect();
    if !relative.is_empty() {
        set("relative", relative.into());
    }
    text
}
