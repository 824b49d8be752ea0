//! Writes games in KIF and KI2.

use std::{fmt::Write as _, time::Duration};

use crate::Side;

use super::super::{
    Encoding, GameRecord, Loss, Losses, Node, NodeId, RecordMove,
    loss::{Holds, Written},
    shogi::{BoardCursor, Handicap, Step, Totals, comment_text, one_line},
};
use super::{board, ends, moves};

pub(in super::super) const KIF: Holds = Holds::SHOGI;
/// The summary states an illegal move.
pub(in super::super) const KI2: Holds =
    Holds { illegal_moves: false, end_comments: false, times: false, ..Holds::SHOGI };

/// The text of a record in KIF. The first line names the encoding.
pub(in super::super) fn write_kif(record: &GameRecord, encoding: Encoding) -> Written {
    let losses = losses(record, &KIF);
    let mut out = format!("#KIF version=2.0 encoding={}\n", encoding.name());
    let mut walk = begin(record, &mut out);
    out.push_str("手数----指手---------消費時間--\n");
    comments(record, &mut out);
    let mut totals = Totals::new(record.start().turn());
    let handicap = record.is_handicap_game();
    let mut main = true;
    walk.steps(record, true, |step| match step {
        Step::Variation(number) => {
            totals.back_to(number - 1);
            let _ = writeln!(out, "\n変化：{number}手");
            main = false;
        }
        Step::Move { node, mv, board, last } | Step::Illegal { node, mv, board, last } => {
            let text = moves::written(board, mv, last);
            let notes = record.annotations(node.id());
            let time = spent(notes.elapsed, node.ply(), &mut totals);
            // A `+` marks a move with further variations.
            let siblings = node.parent().map(|parent| record.children(parent));
            let last = siblings.and_then(Iterator::last);
            let more = if last.is_some_and(|last| last.id() != node.id()) { "+" } else { "" };
            let _ = writeln!(out, "{:>4} {text}{time}{more}", node.ply());
            push_comment(&comment_text(notes), &mut out);
        }
        Step::LineEnd(node) => {
            if let Some(end) = &record.annotations(node.id()).end {
                // A variation has no summary.
                // KIF counts an illegal move: it is the opponent who wins by it.
                let turn = record.turn_after(node);
                let turn = if is_illegal(node) { turn.other() } else { turn };
                let termination = end.outcome.termination;
                let (known, result) = if main {
                    (ends::known_end(termination, record.result, turn), record.result)
                } else {
                    (termination, end.outcome.result)
                };
                let name = ends::write(known, end.text.as_deref(), result, turn);
                let ply = node.ply() + 1;
                let time = spent(end.elapsed, ply, &mut totals);
                let _ = writeln!(out, "{ply:>4} {name}{time}");
                push_comment(&end.comments.join("\n"), &mut out);
            }
            if main {
                write_summary(record, node, handicap, &mut out);
            }
        }
    });
    Written { text: out, losses }
}

/// The text of a record in KI2.
pub(in super::super) fn write_ki2(record: &GameRecord, _: Encoding) -> Written {
    let losses = losses(record, &KI2);
    let mut out = String::new();
    let mut walk = begin(record, &mut out);
    out.push('\n');
    comments(record, &mut out);
    let second_begins = record.start().turn() == Side::Second;
    let handicap = record.is_handicap_game();
    let (mut main, mut column) = (true, 0);
    walk.steps(record, true, |step| match step {
        Step::Variation(number) => {
            let _ = writeln!(out, "\n変化：{number}手");
            main = false;
        }
        Step::Move { node, mv, board, last } => {
            let first = node.ply().is_multiple_of(2) == second_begins;
            let sign = if first { '▲' } else { '△' };
            let text = moves::relative(board, mv, last);
            if column > 0 {
                out.push_str("    ");
            }
            let _ = write!(out, "{sign}{text}");
            column += 1;
            let comment = comment_text(record.annotations(node.id()));
            if column == 6 || !comment.is_empty() {
                out.push('\n');
                column = 0;
            }
            push_comment(&comment, &mut out);
        }
        // The notation needs a legal move; the summary states the foul.
        Step::Illegal { .. } => {}
        Step::LineEnd(node) => {
            if column > 0 {
                out.push('\n');
                column = 0;
            }
            if main {
                write_summary(record, node, handicap, &mut out);
            } else if let Some(end) = &record.annotations(node.id()).end {
                let (turn, result) = (record.turn_after(node), end.outcome.result);
                let plies = legal_plies(node);
                let line = ends::write_summary(plies, Some(end), result, turn, handicap);
                push_line(line, &mut out);
            }
        }
    });
    Written { text: out, losses }
}

fn losses(record: &GameRecord, holds: &Holds) -> Losses {
    let mut losses = holds.losses(record);
    let mut names = record.headers.iter().map(|(name, _)| one_line(name));
    losses.add_if(names.any(|name| !can_be_a_header(&name)), Loss::Headers);
    losses
}

/// Writes the headers and the start position.
fn begin(record: &GameRecord, out: &mut String) -> BoardCursor {
    for (name, value) in record.headers.iter() {
        let (name, value) = (one_line(name), one_line(value));
        if can_be_a_header(&name) {
            let _ = writeln!(out, "{name}：{value}");
        }
    }
    match Handicap::of(record.start()) {
        Some(handicap) => {
            let _ = writeln!(out, "手合割：{}", handicap.kif());
        }
        None => {
            for line in board::write(&record.start().setup(), ["先手", "後手"]) {
                push_line(Some(line), out);
            }
        }
    }
    BoardCursor::new(record.start())
}

/// Whether a header with this name is read as one.
pub(in super::super) fn can_be_a_header(name: &str) -> bool {
    let reserved = ["手合割", "変化", "先手の持駒", "後手の持駒", "下手の持駒", "上手の持駒"];
    !name.is_empty()
        && !reserved.contains(&name)
        && !name.contains('：')
        && !name.starts_with(['*', '#', '&', '|', '+', '▲', '△', '▼', '▽', '☗', '☖'])
        && !name.starts_with(|letter| super::super::shogi::wide_digit(letter).is_some())
        && !["まで", "手数"].iter().any(|prefix| name.starts_with(prefix))
}

fn comments(record: &GameRecord, out: &mut String) {
    push_comment(&comment_text(record.annotations(NodeId::ROOT)), out);
}

fn push_comment(text: &str, out: &mut String) {
    for line in text.lines() {
        // A bookmark has its own sign.
        let sign = if line.starts_with('&') { "" } else { "*" };
        let _ = writeln!(out, "{sign}{}", line.trim_end().replace(char::is_control, " "));
    }
}

fn push_line(line: Option<String>, out: &mut String) {
    if let Some(line) = line {
        let _ = writeln!(out, "{line}");
    }
}

fn write_summary(record: &GameRecord, node: &Node, handicap: bool, out: &mut String) {
    let end = record.annotations(node.id()).end.as_ref();
    let (plies, turn) = (legal_plies(node), record.turn_after(node));
    let line = ends::write_summary(plies, end, record.result, turn, handicap);
    push_line(line, out);
}

/// The number of moves up to a node without an illegal one.
fn legal_plies(node: &Node) -> usize {
    node.ply() - usize::from(is_illegal(node))
}

fn is_illegal(node: &Node) -> bool {
    node.mv().is_some_and(RecordMove::is_illegal)
}

/// The time of a move and its side's total: `   ( 0:16/00:00:16)`; empty if the time is unknown.
fn spent(elapsed: Option<Duration>, ply: usize, totals: &mut Totals) -> String {
    let total = totals.add(elapsed, ply);
    let Some(seconds) = elapsed.map(|time| time.as_secs()) else { return String::new() };
    let (hours, minutes, rest) = (total / 3600, total / 60 % 60, total % 60);
    format!("   ({:>2}:{:02}/{hours:02}:{minutes:02}:{rest:02})", seconds / 60, seconds % 60)
}
