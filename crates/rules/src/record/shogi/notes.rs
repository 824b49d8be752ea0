//! Comments of shogi records, and the evaluations that programs hide in them.
//!
//! Lines such as `#評価値=120`, `#詰み=先手勝ち:5手` and `#深さ=20` are those of ShogiHome.

use super::super::{Annotations, Evaluation, RecordScore};

/// Takes a comment of several lines into the notes; evaluations become what they are.
pub(in super::super) fn take_comment(text: &str, notes: &mut Annotations) {
    let mut rest: Vec<&str> = Vec::new();
    let mut depth = None;
    for line in text.lines() {
        let line = line.trim_end();
        // Blanks before the first line of a comment are not kept, and would hide what it is.
        let bare = line.trim_start();
        if notes.evaluation.is_none()
            && let Some(score) = score(bare)
        {
            notes.evaluation = Some(Evaluation { score, depth: None });
        } else if depth.is_none()
            && let Some(found) = field(bare, "深さ=").and_then(|text| text.parse::<u32>().ok())
        {
            depth = Some((found, rest.len(), line));
        } else {
            rest.push(line);
        }
    }
    match (&mut notes.evaluation, depth) {
        (Some(evaluation), Some((depth, ..))) if evaluation.depth.is_none() => {
            evaluation.depth = Some(depth);
        }
        // A depth of nothing is text.
        (_, Some((_, index, line))) => rest.insert(index, line),
        (_, None) => {}
    }
    let rest = rest.join("\n");
    let rest = rest.trim();
    if !rest.is_empty() {
        notes.comments.push(rest.to_owned());
    }
}

fn score(line: &str) -> Option<RecordScore> {
    if let Some(number) = field(line, "評価値=") {
        return number.parse().ok().map(RecordScore::Centipawns);
    }
    let (winner, plies) = field(line, "詰み=")?.split_once(':')?;
    let plies: i32 = plies.strip_suffix('手')?.parse().ok()?;
    match winner {
        "先手勝ち" => Some(RecordScore::Mate(plies)),
        "後手勝ち" => Some(RecordScore::Mate(plies.checked_neg()?)),
        _ => None,
    }
}

/// What follows the field's name, which stands behind `#`, or `*` if the player's engine says it.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix(['#', '*'])?.strip_prefix(name)
}

/// The lines for an evaluation.
pub(in super::super) fn evaluation_lines(evaluation: Option<Evaluation>) -> Vec<String> {
    let Some(Evaluation { score, depth }) = evaluation else { return Vec::new() };
    let score = match score {
        RecordScore::Centipawns(score) => format!("#評価値={score}"),
        RecordScore::Mate(plies) if plies < 0 => {
            format!("#詰み=後手勝ち:{}手", plies.unsigned_abs())
        }
        RecordScore::Mate(plies) => format!("#詰み=先手勝ち:{plies}手"),
    };
    [Some(score), depth.map(|depth| format!("#深さ={depth}"))].into_iter().flatten().collect()
}

/// All comments as one text.
pub(in super::super) fn flat_comment(notes: &Annotations) -> String {
    let all: Vec<&str> =
        notes.before.iter().chain(&notes.comments).map(|text| text.trim()).collect();
    all.join("\n").replace("\r\n", "\n").replace(['\r', '\0'], "\n")
}
