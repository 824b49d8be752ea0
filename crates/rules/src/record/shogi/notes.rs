//! Comments of shogi records, and the evaluations in them.
//!
//! Lines such as `#評価値=120`, `#詰み=先手勝ち:5手` and `#深さ=20` are the form of ShogiHome.

use readyok_protocol::Score;

use super::super::{Annotations, Evaluation};

/// Moves the evaluations of a comment into the annotations; the rest is a comment.
pub(in super::super) fn extract_comment(text: &str, notes: &mut Annotations) {
    let mut rest: Vec<&str> = Vec::new();
    let mut depth = None;
    for line in text.lines() {
        let line = line.trim_end();
        // Leading blanks of a comment are dropped, so they must not hide an evaluation.
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
        // A depth without an evaluation stays text.
        (_, Some((_, index, line))) => rest.insert(index, line),
        (_, None) => {}
    }
    let rest = rest.join("\n");
    let rest = rest.trim();
    if !rest.is_empty() {
        notes.comments.push(rest.to_owned());
    }
}

fn score(line: &str) -> Option<Score> {
    if let Some(number) = field(line, "評価値=") {
        return number.parse().ok().map(Score::Cp);
    }
    let mate = field(line, "詰み=")?;
    let (winner, plies) = match mate.split_once(':') {
        Some((winner, plies)) => (winner, Some(plies.strip_suffix('手')?.parse().ok()?)),
        None => (mate, None),
    };
    match winner {
        "先手勝ち" => Some(Score::mate(true, plies)),
        "後手勝ち" => Some(Score::mate(false, plies)),
        _ => None,
    }
}

/// The text after the name of a field, which follows `#`, or `*` for the player's engine.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix(['#', '*'])?.strip_prefix(name)
}

/// The lines for an evaluation.
pub(in super::super) fn evaluation_lines(evaluation: Option<Evaluation>) -> Vec<String> {
    let Some(Evaluation { score, depth }) = evaluation else { return Vec::new() };
    let score = if let Score::Cp(score) = score {
        format!("#評価値={score}")
    } else {
        let winner = if score.is_mating() { "先手勝ち" } else { "後手勝ち" };
        let plies = score.mate_plies().map(|plies| format!(":{plies}手")).unwrap_or_default();
        format!("#詰み={winner}{plies}")
    };
    [Some(score), depth.map(|depth| format!("#深さ={depth}"))].into_iter().flatten().collect()
}

/// All comments as one text.
pub(in super::super) fn flat_comment(notes: &Annotations) -> String {
    let all: Vec<&str> =
        notes.before.iter().chain(&notes.comments).map(|text| text.trim()).collect();
    all.join("\n").replace("\r\n", "\n").replace(['\r', '\0'], "\n")
}
