//! A game as a JSON object.

use readyok_protocol::Score;
use readyok_rules::record::{Annotations, GameRecord, Node, NodeId, RecordMove};
use readyok_rules::{Game, Notation, Position, Termination};
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Serialize)]
struct GameJson<'a> {
    game: &'static str,
    headers: Map<String, Value>,
    start: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comments: Vec<&'a str>,
    moves: Vec<MoveJson<'a>>,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    termination: Option<&'static str>,
}

#[derive(Default, Serialize)]
struct MoveJson<'a> {
    #[serde(rename = "move")]
    mv: String,
    text: String,
    /// The move lost the game by a violation of the rules.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    illegal: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comments: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nags: Vec<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eval: Option<EvaluationJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variations: Vec<Vec<Self>>,
}

/// The score is from the view of the side that moves first.
#[derive(Serialize)]
struct EvaluationJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    /// Plies to mate, negative if the side that moves first is mated.
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
}

/// The record as a line of JSON.
pub(super) fn write(record: &GameRecord, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let mut headers = Map::new();
    for (name, value) in record.headers.iter() {
        match headers.get_mut(name) {
            None => drop(headers.insert(name.to_owned(), value.into())),
            // A name that occurs more than once has a list of values.
            Some(Value::Array(values)) => values.push(value.into()),
            Some(first) => *first = Value::Array(vec![first.clone(), value.into()]),
        }
    }
    let game = GameJson {
        game: match record.game() {
            Game::Chess => "chess",
            Game::Chess960 => "chess960",
            Game::Shogi => "shogi",
        },
        headers,
        start: record.start().to_string(),
        comments: comments(record.annotations(NodeId::ROOT)),
        moves: line(record, NodeId::ROOT, record.start().clone()),
        result: record.result.as_str(),
        termination: record.derived_termination().map(Termination::name),
    };
    serde_json::to_writer(&mut *out, &game)?;
    out.push(b'\n');
    Ok(())
}

/// The moves after a node, with the variations of each.
fn line(record: &GameRecord, after: NodeId, mut position: Position) -> Vec<MoveJson<'_>> {
    let mut moves = Vec::new();
    let mut last = after;
    loop {
        let mut children = record.children(last);
        let Some(node) = children.next() else { break };
        let variations = children.map(|first| {
            let mut variation = vec![one(first, &position)];
            let mut after = position.clone();
            if first.mv().is_some_and(|mv| mv.play(&mut after).is_ok()) {
                variation.extend(line(record, first.id(), after));
            }
            variation
        });
        let variations = variations.collect();
        moves.push(MoveJson { variations, ..one(node, &position) });
        if node.mv().is_none_or(|mv| mv.play(&mut position).is_err()) {
            break;
        }
        last = node.id();
    }
    moves
}

fn one<'a>(node: &'a Node, position: &Position) -> MoveJson<'a> {
    let notes = record.annotations(node.id());
    let castling = position.game().castling_form();
    let mv = node.mv().map(|mv| mv.to_uci(castling)).unwrap_or_default();
    let text = match node.mv() {
        Some(RecordMove::Legal(mv)) => position.notation(mv, Notation::Japanese),
        Some(RecordMove::Null) => "--".to_owned(),
        Some(RecordMove::Illegal(_)) | None => mv.clone(),
    };
    MoveJson {
        mv,
        text,
        illegal: node.mv().is_some_and(RecordMove::is_illegal),
        before: notes.before.iter().map(String::as_str).collect(),
        comments: comments(notes),
        nags: notes.nags.iter().map(|nag| nag.0).collect(),
        clock: notes.clock.map(|time| time.as_secs_f64()),
        elapsed: notes.elapsed.map(|time| time.as_secs_f64()),
        eval: notes.evaluation.map(|evaluation| {
            let plies = evaluation.score.mate_plies().map(i64::from);
            let sign = if evaluation.score.is_mated() { -1 } else { 1 };
            EvaluationJson {
                cp: match evaluation.score {
                    Score::Cp(value) => Some(value),
                    _ => None,
                },
                mate: plies.map(|plies| plies * sign),
                depth: evaluation.depth,
            }
        }),
        variations: Vec::new(),
    }
}

fn comments(notes: &Annotations) -> Vec<&str> {
    let end = notes.end.iter().flat_map(|end| &end.comments);
    notes.comments.iter().chain(end).map(String::as_str).collect()
}
