//! Annotations as JSON.

use std::time::Duration;

use readyok_protocol::Score;
use readyok_rules::record::{Annotations, End, Evaluation, Limit, Limits, Mark, MarkColor, Nag};
use readyok_rules::{Game, GameOutcome, GameResult, Square, Termination};
use serde_json::{Map, Value, json};

use crate::Failure;

const COLORS: [(MarkColor, &str); 4] = [
    (MarkColor::Green, "green"),
    (MarkColor::Red, "red"),
    (MarkColor::Yellow, "yellow"),
    (MarkColor::Blue, "blue"),
];

/// The annotations that a move has.
pub(crate) fn to_json(notes: &Annotations, game: Game) -> Value {
    let mut all = Map::new();
    let mut add = |name: &str, value: Value| drop(all.insert(name.to_owned(), value));
    let Annotations { before, comments, nags, clock, elapsed, evaluation, marks, end } = notes;
    if !before.is_empty() {
        add("before", json!(before));
    }
    if !comments.is_empty() {
        add("comments", json!(comments));
    }
    if !nags.is_empty() {
        add("nags", nags.iter().map(|nag| nag.0).collect());
    }
    if let Some(clock) = clock {
        add("clock", json!(clock.as_secs_f64()));
    }
    if let Some(elapsed) = elapsed {
        add("elapsed", json!(elapsed.as_secs_f64()));
    }
    if let Some(evaluation) = evaluation {
        add("evaluation", evaluation_to_json(*evaluation, game));
    }
    if !marks.is_empty() {
        add("marks", marks.iter().map(|mark| mark_to_json(*mark, game)).collect());
    }
    if let Some(end) = end {
        add("end", end_to_json(end));
    }
    Value::Object(all)
}

/// Moves until mate in chess, plies in shogi, as engines count them.
fn mate_units(plies: u32, game: Game) -> i64 {
    i64::from(if game == Game::Shogi { plies } else { plies.div_ceil(2) })
}

fn evaluation_to_json(evaluation: Evaluation, game: Game) -> Value {
    let (name, value) = match evaluation.score {
        Score::Cp(cp) => ("cp", json!(cp)),
        Score::MateIn { plies } => ("mate", json!(mate_units(plies, game))),
        Score::MatedIn { plies } => ("mate", json!(-mate_units(plies, game))),
        Score::MateInUnknown => ("mate", json!("+")),
        Score::MatedInUnknown => ("mate", json!("-")),
        Score::MateGiven => ("mate", json!("+0")),
        Score::Mated => ("mate", json!("-0")),
    };
    let mut all = Map::new();
    all.insert(name.to_owned(), value);
    if let Some(depth) = evaluation.depth {
        all.insert("depth".to_owned(), json!(depth));
    }
    Value::Object(all)
}

fn mark_to_json(mark: Mark, game: Game) -> Value {
    let color = COLORS.iter().find(|(color, _)| *color == mark.color).map(|(_, name)| *name);
    let mut value = json!({ "color": color, "from": mark.from.name(game) });
    if let (Some(to), Some(all)) = (mark.to, value.as_object_mut()) {
        all.insert("to".to_owned(), json!(to.name(game)));
    }
    value
}

fn end_to_json(end: &End) -> Value {
    let GameOutcome { result, termination } = end.outcome;
    let mut all = Map::new();
    all.insert("result".to_owned(), json!(result.as_str()));
    all.insert("termination".to_owned(), json!(termination.name()));
    if let Some(text) = &end.text {
        all.insert("text".to_owned(), json!(text));
    }
    if let Some(elapsed) = end.elapsed {
        all.insert("elapsed".to_owned(), json!(elapsed.as_secs_f64()));
    }
    if !end.comments.is_empty() {
        all.insert("comments".to_owned(), json!(end.comments));
    }
    Value::Object(all)
}

/// Replaces the annotations that a JSON object names. `null` removes one. Nothing changes after an error.
pub(crate) fn apply(notes: &Annotations, json: &[u8], game: Game) -> Result<Annotations, Failure> {
    let Ok(Value::Object(changes)) = serde_json::from_slice(json) else {
        return Err(Failure::usage("annotations must be an object"));
    };
    let mut notes = notes.clone();
    for (name, value) in &changes {
        let wrong = || Failure::usage(&format!("the annotation `{name}` has a wrong value"));
        match name.as_str() {
            "before" => notes.before = texts(value)?.ok_or_else(wrong)?,
            "comments" => notes.comments = texts(value)?.ok_or_else(wrong)?,
            "nags" => notes.nags = all(value, nag).ok_or_else(wrong)?,
            "clock" => notes.clock = optional(value, seconds, wrong)?,
            "elapsed" => notes.elapsed = optional(value, seconds, wrong)?,
            "evaluation" => {
                let read = |value: &Value| evaluation(value, game);
                notes.evaluation = optional(value, read, wrong)?;
            }
            "marks" => notes.marks = all(value, |value| mark(value, game)).ok_or_else(wrong)?,
            "end" => notes.end = optional(value, end, wrong)?,
            _ => return Err(Failure::usage(&format!("no such annotation: `{name}`"))),
        }
    }
    Ok(notes)
}

/// A value, or `None` for `null`.
fn optional<T>(
    value: &Value,
    read: impl Fn(&Value) -> Option<T>,
    wrong: impl Fn() -> Failure,
) -> Result<Option<T>, Failure> {
    if value.is_null() { Ok(None) } else { read(value).map(Some).ok_or_else(wrong) }
}

fn all<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    if value.is_null() { Some(Vec::new()) } else { value.as_array()?.iter().map(read).collect() }
}

/// Comments within the limits of readers. `None` if the value is no list of texts.
fn texts(value: &Value) -> Result<Option<Vec<String>>, Failure> {
    let texts = all(value, |text| text.as_str().map(str::to_owned));
    let limit = Limits::default().comment_bytes;
    if texts.iter().flatten().map(String::len).sum::<usize>() > limit {
        return Err(Failure::other(&Limit::CommentTooLong));
    }
    Ok(texts)
}

fn nag(value: &Value) -> Option<Nag> {
    value.as_u64()?.try_into().ok().map(Nag)
}

fn seconds(value: &Value) -> Option<Duration> {
    Duration::try_from_secs_f64(value.as_f64()?).ok()
}

fn evaluation(value: &Value, game: Game) -> Option<Evaluation> {
    let plies = |count: i64| {
        let count = u32::try_from(count.unsigned_abs()).ok()?;
        let both = if game == Game::Shogi { count } else { count.checked_mul(2)? };
        Some(both)
    };
    let score = match (value.get("cp"), value.get("mate")) {
        (Some(cp), None) => Score::Cp(cp.as_i64()?.try_into().ok()?),
        (None, Some(mate)) => match (mate.as_str(), mate.as_i64()) {
            (Some("+"), _) => Score::MateInUnknown,
            (Some("-"), _) => Score::MatedInUnknown,
            (Some("+0"), _) => Score::MateGiven,
            (Some("-0"), _) => Score::Mated,
            (_, Some(count @ 1..)) if game == Game::Shogi => Score::MateIn { plies: plies(count)? },
            (_, Some(count @ 1..)) => Score::MateIn { plies: plies(count)?.saturating_sub(1) },
            (_, Some(count @ ..=-1)) => Score::MatedIn { plies: plies(count)? },
            _ => return None,
        },
        _ => return None,
    };
    let depth = value.get("depth").filter(|depth| !depth.is_null());
    let depth = depth.map(|depth| depth.as_u64()?.try_into().ok());
    match depth {
        Some(None) => None,
        depth => Some(Evaluation { score, depth: depth.flatten() }),
    }
}

fn mark(value: &Value, game: Game) -> Option<Mark> {
    let square = |name: &str| Square::read(game, value.get(name)?.as_str()?);
    let color = value.get("color")?.as_str()?;
    let color = COLORS.iter().find(|(_, name)| *name == color).map(|(color, _)| *color)?;
    let to = match value.get("to") {
        Some(Value::Null) | None => None,
        Some(_) => Some(square("to")?),
    };
    Some(Mark { color, from: square("from")?, to })
}

fn end(value: &Value) -> Option<End> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let result = GameResult::from_text(text("result")?)?;
    let termination = Termination::from_name(text("termination")?)?;
    let mut end = End::from(GameOutcome { result, termination });
    end.text = text("text").map(str::to_owned);
    end.elapsed = value.get("elapsed").and_then(seconds);
    if let Some(comments) = value.get("comments") {
        end.comments = texts(comments).ok()??;
    }
    Some(end)
}
