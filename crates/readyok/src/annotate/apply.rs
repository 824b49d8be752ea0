//! Writes evaluations, marks of mistakes, better lines and accuracies into a game.

use readyok_rules::judgement::{MoveLabel, ScoredMove, SideAccuracy};
use readyok_rules::record::{Evaluation, Format, GameRecord, Nag, NodeId, RecordMove};
use readyok_rules::{Game, Position, Side};

use super::evaluate::EvaluatedGame;
use super::journal::{EngineLine, Evaluated};
use crate::convert::OutputFormat;

/// The maximum number of moves of a better line that is inserted.
const MAX_INSERTED_MOVES: usize = 8;

/// The statistics of both sides, and the annotated game.
pub(super) struct Annotated {
    pub(super) record: GameRecord,
    pub(super) sides: [SideAccuracy; 2],
}

/// A move with the positions and evaluations around it.
struct Step<'a> {
    parent: NodeId,
    node: NodeId,
    mv: RecordMove,
    /// The position before the move.
    position: Position,
    /// The side to move after the move.
    turn: Side,
    before: Option<&'a Evaluated>,
    after: Option<&'a Evaluated>,
}

/// What is written into a game.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Inserts the lines of the engine at mistakes.
    insert_lines: bool,
    /// Evaluations have the depth of the search.
    has_depth: bool,
    /// Errors are marked by glyphs.
    has_glyphs: bool,
}

impl Style {
    /// The style of a format. What it cannot hold is not added.
    pub(super) fn of(format: OutputFormat, insert_lines: bool) -> Self {
        let (has_variations, has_glyphs) = match format {
            OutputFormat::Record(Format::Pgn) | OutputFormat::Json => (true, true),
            OutputFormat::Record(Format::Kif | Format::Ki2 | Format::Jkf) => (true, false),
            OutputFormat::Record(Format::Csa | Format::Uci | Format::Usi)
            | OutputFormat::Fen
            | OutputFormat::Sfen
            | OutputFormat::Epd => (false, false),
        };
        // `'** 30`, the usual form of evaluations in CSA, has no depth.
        let has_depth = format != OutputFormat::Record(Format::Csa);
        Self { insert_lines: insert_lines && has_variations, has_depth, has_glyphs }
    }
}

/// Annotates a game.
pub(super) fn annotate(evaluated: EvaluatedGame, style: Style) -> Annotated {
    let EvaluatedGame { mut record, evaluations, engine } = evaluated;
    let game = record.game();
    let mut scored_moves = Vec::new();
    for step in steps(&record, &evaluations) {
        let after =
            step.after.and_then(|it| Some((it.score()?, it.depth.filter(|_| style.has_depth))));
        if let Some((score, depth)) = after
            && let Some(annotations) = record.annotations_mut(step.node)
        {
            annotations.evaluation = Some(Evaluation::by(step.turn, score, depth));
        }
        let Some(scored) = scored(&step) else { continue };
        scored_moves.push(scored);
        let Some(label) = scored.label(game) else { continue };
        mark(&mut record, step.node, label, style);
        if let Some(before) = step.before
            && label.nag().is_some()
            && style.insert_lines
        {
            for line in &before.lines {
                insert(&mut record, &step, line);
            }
        }
    }
    let sides = Side::BOTH.map(|side| SideAccuracy::of(side, &scored_moves, game));
    set_headers(&mut record, &sides, &engine);
    Annotated { record, sides }
}

fn steps<'a>(record: &GameRecord, evaluations: &'a [Option<Evaluated>]) -> Vec<Step<'a>> {
    let mut steps = Vec::new();
    let mut position = record.start().clone();
    let mut parent = NodeId::ROOT;
    for (node, pair) in record.mainline().zip(evaluations.windows(2)) {
        let (Some(mv), [before, after]) = (node.mv(), pair) else { break };
        let before_move = position.clone();
        if mv.play(&mut position).is_err() {
            break;
        }
        steps.push(Step {
            parent,
            node: node.id(),
            mv,
            position: before_move,
            turn: position.turn(),
            before: before.as_ref(),
            after: after.as_ref(),
        });
        parent = node.id();
    }
    steps
}

/// The scores around a legal move.
fn scored(step: &Step<'_>) -> Option<ScoredMove> {
    let uci = step.mv.legal()?.to_uci(step.position.game().castling_form());
    let (before, after) = (step.before?, step.after?);
    Some(ScoredMove {
        side: step.position.turn(),
        before: before.score()?,
        after: after.score()?,
        choices: step.position.legal_moves().len(),
        is_best: before.lines.first()?.moves.first() == Some(&uci),
    })
}

/// Marks an error by a glyph if the format has glyphs, and in shogi by a comment.
fn mark(record: &mut GameRecord, node: NodeId, label: MoveLabel, style: Style) {
    let is_shogi = record.game() == Game::Shogi;
    let (Some(nag), Some(annotations)) = (label.nag(), record.annotations_mut(node)) else {
        return;
    };
    annotations.nags.retain(|nag| !matches!(nag.0, 1..=6));
    if style.has_glyphs {
        annotations.nags.push(Nag(nag));
    }
    let name = match label {
        MoveLabel::Inaccuracy => "緩手",
        MoveLabel::Mistake => "疑問手",
        MoveLabel::Blunder => "悪手",
        MoveLabel::Best | MoveLabel::Forced => return,
    };
    if is_shogi && !annotations.comments.iter().any(|comment| comment == name) {
        annotations.comments.push(name.to_owned());
    }
}

/// Inserts a line of the engine as a variation.
fn insert(record: &mut GameRecord, step: &Step<'_>, line: &EngineLine) {
    let mut position = step.position.clone();
    let mut last = step.parent;
    let turn = position.turn();
    for (index, text) in line.moves.iter().take(MAX_INSERTED_MOVES).enumerate() {
        // An illegal continuation is of no use to a reader.
        let Ok(mv) = position.play_uci(text) else { break };
        if index == 0 && Some(mv) == step.mv.legal() {
            return;
        }
        let Ok(id) = record.add(last, mv) else { break };
        if index == 0
            && let Some(annotations) = record.annotations_mut(id)
        {
            annotations.evaluation.get_or_insert_with(|| Evaluation::by(turn, line.score, None));
        }
        last = id;
    }
}

fn set_headers(record: &mut GameRecord, sides: &[SideAccuracy; 2], engine: &str) {
    let (names, annotator) = match record.game() {
        Game::Chess | Game::Chess960 => (["WhiteAccuracy", "BlackAccuracy"], "Annotator"),
        Game::Shogi => (["先手精度", "後手精度"], "解析"),
    };
    for (name, side) in names.into_iter().zip(sides) {
        if let Some(accuracy) = side.accuracy {
            record.headers.set(name, format!("{accuracy:.1}"));
        }
    }
    if !engine.is_empty() && record.headers.get(annotator).is_none() {
        record.headers.set(annotator, engine);
    }
}
