//! A game as a JSON object, written and read.

use std::borrow::Cow;
use std::fmt;
use std::io::{BufRead, Read};
use std::time::Duration;

use readyok_protocol::Score;
use readyok_rules::record::{
    Annotations, Defect, End, Evaluation, GameRecord, Limit, Nag, Node, NodeId, RecordError,
    RecordErrorKind, RecordMove,
};
use readyok_rules::{Game, GameOutcome, GameResult, Notation, Position, Setup, Termination};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::game_name;

#[derive(Deserialize, Serialize)]
struct GameJson<'a> {
    game: Cow<'a, str>,
    headers: HeadersJson,
    start: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    comments: Vec<Cow<'a, str>>,
    moves: Vec<MoveJson<'a>>,
    result: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    termination: Option<Cow<'a, str>>,
    /// The end as the record names it, if no termination does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<Cow<'a, str>>,
    /// The time of the last player before the end, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end_elapsed: Option<f64>,
}

/// Headers in their order. A name that occurs more than once has a list of values.
struct HeadersJson(Vec<(String, Values)>);

#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Values {
    One(String),
    Several(Vec<String>),
}

impl HeadersJson {
    fn of(record: &GameRecord) -> Self {
        let mut headers: Vec<(String, Values)> = Vec::new();
        for (name, value) in record.headers.iter() {
            let value = value.to_owned();
            match headers.iter_mut().find(|(known, _)| known == name) {
                None => headers.push((name.to_owned(), Values::One(value))),
                Some((_, Values::Several(values))) => values.push(value),
                Some((_, values)) => {
                    if let Values::One(first) = values {
                        *values = Values::Several(vec![std::mem::take(first), value]);
                    }
                }
            }
        }
        Self(headers)
    }
}

impl Serialize for HeadersJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, values)| (name, values)))
    }
}

impl<'de> Deserialize<'de> for HeadersJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Headers;

        impl<'de> Visitor<'de> for Headers {
            type Value = HeadersJson;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of headers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HeadersJson, A::Error> {
                let mut headers = Vec::new();
                while let Some(header) = map.next_entry()? {
                    headers.push(header);
                }
                Ok(HeadersJson(headers))
            }
        }

        deserializer.deserialize_map(Headers)
    }
}

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct MoveJson<'a> {
    #[serde(rename = "move")]
    mv: String,
    text: String,
    /// The move lost the game by a violation of the rules.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    illegal: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comments: Vec<Cow<'a, str>>,
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
#[derive(Deserialize, Serialize)]
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
    let game = GameJson {
        game: game_name(record.game()).into(),
        headers: HeadersJson::of(record),
        start: record.start().to_string(),
        comments: comments(record.annotations(NodeId::ROOT)),
        moves: line(record, NodeId::ROOT, record.start().clone()),
        result: record.result.as_str().into(),
        termination: record.derived_termination().map(|termination| termination.name().into()),
        end: record.end().and_then(|end| end.text.as_deref().map(Cow::Borrowed)),
        end_elapsed: record.end().and_then(|end| end.elapsed).map(|time| time.as_secs_f64()),
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
            let mut variation = vec![one(record, first, &position)];
            let mut after = position.clone();
            if first.mv().is_some_and(|mv| mv.play(&mut after).is_ok()) {
                variation.extend(line(record, first.id(), after));
            }
            variation
        });
        let variations = variations.collect();
        moves.push(MoveJson { variations, ..one(record, node, &position) });
        if node.mv().is_none_or(|mv| mv.play(&mut position).is_err()) {
            break;
        }
        last = node.id();
    }
    moves
}

fn one<'a>(record: &'a GameRecord, node: &Node, position: &Position) -> MoveJson<'a> {
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
        before: notes.before.iter().map(|text| text.as_str().into()).collect(),
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

fn comments(notes: &Annotations) -> Vec<Cow<'_, str>> {
    let end = notes.end.iter().flat_map(|end| &end.comments);
    notes.comments.iter().chain(end).map(|text| text.as_str().into()).collect()
}

const GAMES: [Game; 3] = [Game::Chess, Game::Chess960, Game::Shogi];

/// Whether a file begins with a game that [`write()`] wrote.
pub(super) fn begins(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"{\"game\":\"")
}

/// The maximum length of a line.
const MAX_LINE: usize = 64 << 20;

/// Reads games that [`write()`] wrote.
pub(super) struct Reader<R> {
    source: R,
    line: u64,
    game: u64,
    is_over: bool,
}

impl<R: BufRead> Reader<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, line: 0, game: 0, is_over: false }
    }

    /// The next line that is not empty. Empty at the end.
    fn next_line(&mut self) -> Result<Vec<u8>, RecordErrorKind> {
        loop {
            let mut text = Vec::new();
            let limit = MAX_LINE + 1;
            let count = (&mut self.source).take(limit as u64).read_until(b'\n', &mut text)?;
            if count == 0 {
                return Ok(text);
            }
            self.line += 1;
            if count == limit && text.last() != Some(&b'\n') {
                self.source.skip_until(b'\n')?;
                return Err(RecordErrorKind::LimitExceeded(Limit::GameTooLarge));
            }
            if !text.trim_ascii().is_empty() {
                return Ok(text);
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let line = match self.next_line() {
            Ok(line) if line.is_empty() => {
                self.is_over = true;
                return None;
            }
            line => line,
        };
        self.game += 1;
        let (game, number) = (self.game, self.line);
        let error = |column, kind| RecordError { game, line: number, column, kind };
        let line = match line {
            Ok(line) => line,
            Err(kind) => {
                self.is_over = matches!(kind, RecordErrorKind::Io(_));
                return Some(Err(error(1, kind)));
            }
        };
        Some(match serde_json::from_slice::<GameJson<'_>>(&line) {
            Ok(json) => json.record().map_err(|kind| error(1, kind)),
            Err(cause) => {
                let column = cause.column().max(1);
                let text = line.get(column - 1..).unwrap_or_default();
                let text: String =
                    String::from_utf8_lossy(text).trim_end().chars().take(40).collect();
                Err(error(column as u64, RecordErrorKind::Defect(Defect::UnexpectedText { text })))
            }
        })
    }
}

impl GameJson<'_> {
    fn record(self) -> Result<GameRecord, RecordErrorKind> {
        let game = GAMES.into_iter().find(|game| game_name(*game) == self.game);
        let game = game.ok_or_else(|| {
            RecordErrorKind::Defect(Defect::UnknownVariant { name: self.game.into_owned() })
        })?;
        let setup = Setup::read(game, &self.start).map_err(RecordErrorKind::Start)?;
        let start = Position::for_viewing(&setup);
        let mut record = GameRecord::new(start.clone());
        for (name, values) in self.headers.0 {
            let values = match values {
                Values::One(value) => vec![value],
                Values::Several(values) => values,
            };
            for value in values {
                record.headers.push(&name, value);
            }
        }
        if let Some(notes) = record.annotations_mut(NodeId::ROOT) {
            notes.comments = self.comments.into_iter().map(Cow::into_owned).collect();
        }
        add_line(&mut record, NodeId::ROOT, start, self.moves)?;
        let result = GameResult::from_text(&self.result);
        record.result = result.ok_or_else(|| {
            RecordErrorKind::Defect(Defect::UnexpectedText { text: self.result.into_owned() })
        })?;
        let elapsed = seconds(self.end_elapsed);
        let text = self.end.map(Cow::into_owned);
        // Headers and the last position can state the same termination.
        let derived = record.derived_termination().map(Termination::name);
        let last = record.mainline().last().and_then(Node::mv);
        // PGN has no ends; its illegal moves imply them.
        let is_illegal = game == Game::Shogi && last.is_some_and(RecordMove::is_illegal);
        if let Some(name) = self.termination
            && (derived != Some(&*name) || is_illegal || elapsed.is_some() || text.is_some())
        {
            let termination = Termination::from_name(&name).ok_or_else(|| {
                RecordErrorKind::Defect(Defect::UnexpectedText { text: name.into_owned() })
            })?;
            let outcome = GameOutcome { result: record.result, termination };
            record.conclude(End { elapsed, text, ..End::from(outcome) });
        }
        Ok(record)
    }
}

fn seconds(time: Option<f64>) -> Option<Duration> {
    Duration::try_from_secs_f64(time?).ok()
}

/// Adds moves with their variations after a node.
fn add_line(
    record: &mut GameRecord,
    mut parent: NodeId,
    mut position: Position,
    moves: Vec<MoveJson<'_>>,
) -> Result<(), RecordErrorKind> {
    for mut json in moves {
        let variations = std::mem::take(&mut json.variations);
        let mv = json.record_move(&position)?;
        let full = |_| RecordErrorKind::LimitExceeded(Limit::TooManyMoves);
        let id = record.add(parent, mv).map_err(full)?;
        if let Some(notes) = record.annotations_mut(id) {
            json.annotate(notes);
        }
        for variation in variations {
            add_line(record, parent, position.clone(), variation)?;
        }
        mv.play(&mut position).map_err(RecordErrorKind::Move)?;
        parent = id;
    }
    Ok(())
}

impl MoveJson<'_> {
    fn record_move(&self, position: &Position) -> Result<RecordMove, RecordErrorKind> {
        if self.mv == "0000" {
            return Ok(RecordMove::Null);
        }
        if self.illegal {
            let mv = position.parse_unchecked(&self.mv).map(RecordMove::Illegal);
            return mv.ok_or_else(|| {
                RecordErrorKind::Defect(Defect::NoMatchingMove { text: self.mv.clone() })
            });
        }
        position.parse_move(&self.mv).map(RecordMove::Legal).map_err(RecordErrorKind::Move)
    }

    fn annotate(self, notes: &mut Annotations) {
        notes.before = self.before.into_iter().map(Cow::into_owned).collect();
        notes.comments = self.comments.into_iter().map(Cow::into_owned).collect();
        notes.nags = self.nags.into_iter().map(Nag).collect();
        (notes.clock, notes.elapsed) = (seconds(self.clock), seconds(self.elapsed));
        notes.evaluation = self.eval.and_then(|eval| {
            let score = match (eval.cp, eval.mate) {
                (Some(value), _) => Score::Cp(value),
                (None, Some(plies)) => {
                    Score::mate(plies > 0, Some(u32::try_from(plies.unsigned_abs()).ok()?))
                }
                (None, None) => return None,
            };
            Some(Evaluation { score, depth: eval.depth })
        });
    }
}
