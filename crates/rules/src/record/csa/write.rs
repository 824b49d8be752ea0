//! Writes games in CSA.

use std::{fmt::Write as _, time::Duration};

use rsshogi::types::PieceType;

use readyok_protocol::Score;

use crate::{Game, Side, Termination, shogi::write_csa};

use super::super::{
    Annotations, Encoding, Evaluation, GameRecord, NodeId, RecordMove,
    loss::Written,
    loss::{HeldResult, Holds},
    shogi::{BoardCursor, Handicap, Step, csa_name, evaluation_lines, flat_comment, one_line},
};
use super::{HEADERS, PLAYERS, keyword_and_summary, sign_of};

pub(in super::super) const HOLDS: Holds = Holds {
    variations: false,
    depths: false,
    fractions: true,
    result: HeldResult::WithEnd,
    ..Holds::SHOGI
};

/// The text of a record. The first line declares the encoding.
pub(in super::super) fn write(record: &GameRecord, encoding: Encoding) -> Written {
    let mut walk = BoardCursor::new(record.start());
    let fractions = needs_fractions(record);
    let mut out = format!("'CSA encoding={}\n", encoding.name().to_ascii_uppercase());
    out.push_str(if fractions { "V3.0\n" } else { "V2.2\n" });
    headers(record, &mut out);
    board(record, &mut out);
    comments(record.annotations(NodeId::ROOT), &mut out);
    walk.steps(record, false, |step| match step {
        Step::Variation(_) => {}
        Step::Move { node, mv, board, .. } | Step::Illegal { node, mv, board, .. } => {
            // An illegal move does not change the turn.
            let is_illegal = node.mv().is_some_and(RecordMove::is_illegal);
            let turn = record.turn_after(node);
            let side = if is_illegal { turn } else { turn.other() };
            let _ = writeln!(out, "{}{}", sign_of(side), write_csa(board, mv));
            let notes = record.annotations(node.id());
            time(notes.elapsed, fractions, &mut out);
            comments(notes, &mut out);
        }
        Step::LineEnd(node) => {
            if let Some(end) = &record.annotations(node.id()).end {
                // After a foul it is the opponent's turn.
                let is_foul = node.mv().is_some_and(RecordMove::is_illegal);
                let turn = record.turn_after(node);
                let turn = if is_foul { turn.other() } else { turn };
                let (keyword, summary) = keyword_and_summary(end, record.result, turn, record);
                let _ = writeln!(out, "%{keyword}");
                time(end.elapsed, fractions, &mut out);
                if let Some(summary) = summary {
                    let _ = writeln!(out, "'{summary}");
                }
                comment_lines(&end.comments.join("\n"), &mut out);
            }
        }
    });
    Written { text: out, losses: HOLDS.losses(record) }
}

/// Whether the game needs version 3.0.
fn needs_fractions(record: &GameRecord) -> bool {
    let fraction = |time: Option<Duration>| time.is_some_and(|time| time.subsec_millis() > 0);
    record.root().into_iter().chain(record.mainline()).any(|node| {
        let end = record.annotations(node.id()).end.as_ref();
        fraction(record.annotations(node.id()).elapsed)
            || end.is_some_and(|end| {
                fraction(end.elapsed) || end.outcome.termination == Termination::MoveLimit
            })
    })
}

fn headers(record: &GameRecord, out: &mut String) {
    for (side, sign) in [(Side::First, '+'), (Side::Second, '-')] {
        if let Some(name) = record.player(side) {
            let _ = writeln!(out, "N{sign}{}", one_line(name));
        }
    }
    for (name, value) in record.headers.iter() {
        // Readers ignore empty headers.
        if PLAYERS.contains(&name) || one_line(value).is_empty() {
            continue;
        }
        let known = HEADERS.iter().find(|(_, kif)| *kif == name).map(|(name, _)| *name);
        let name = known.unwrap_or_else(|| name.strip_prefix('$').unwrap_or(name));
        let name = one_line(name).replace(':', " ");
        let _ = writeln!(out, "${name}:{}", one_line(value));
    }
}

fn board(record: &GameRecord, out: &mut String) {
    let even = Handicap::of(record.start()).is_some_and(Handicap::is_even);
    let start = record.start();
    if even && start.to_string() == crate::Position::start(Game::Shogi).to_string() {
        out.push_str("PI\n");
    } else {
        let setup = start.setup();
        for rank in 1..=9 {
            let _ = write!(out, "P{rank}");
            for file in (1..=9).rev() {
                match setup.at(file, rank) {
                    Some((side, kind)) => {
                        let _ = write!(out, "{}{}", sign_of(side), csa_name(kind));
                    }
                    None => out.push_str(" * "),
                }
            }
            out.push('\n');
        }
        for side in Side::BOTH {
            hand(side, &setup.in_hand(side), out);
        }
    }
    let _ = writeln!(out, "{}", sign_of(start.turn()));
}

fn hand(side: Side, hand: &[(PieceType, u32)], out: &mut String) {
    if hand.is_empty() {
        return;
    }
    let _ = write!(out, "P{}", sign_of(side));
    for &(kind, count) in hand {
        for _ in 0..count {
            let _ = write!(out, "00{}", csa_name(kind));
        }
    }
    out.push('\n');
}

fn time(time: Option<Duration>, fractions: bool, out: &mut String) {
    let Some(time) = time else { return };
    let (seconds, millis) = (time.as_secs(), time.subsec_millis());
    let _ = if fractions && millis > 0 {
        writeln!(out, "T{seconds}.{millis:03}")
    } else {
        writeln!(out, "T{seconds}")
    };
}

fn comments(notes: &Annotations, out: &mut String) {
    let mut evaluation = notes.evaluation;
    if let Some(Evaluation { score: Score::Cp(score), depth: None }) = evaluation {
        let _ = writeln!(out, "'** {score}");
        evaluation = None;
    }
    // Readers use the first evaluation.
    comment_lines(&evaluation_lines(evaluation).join("\n"), out);
    comment_lines(&flat_comment(notes), out);
}

fn comment_lines(text: &str, out: &mut String) {
    for line in text.lines() {
        let line = line.trim().replace(char::is_control, " ");
        // Two stars would begin an evaluation.
        let blank = if line.starts_with('*') { " " } else { "" };
        let _ = writeln!(out, "'*{blank}{line}");
    }
}
