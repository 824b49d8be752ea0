//! A game with what engines found in it: the author's record, and a layer of engine notes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use readyok_protocol::Score;

use super::{Evaluation, Feature, Format, GameRecord, Nag, NodeId, RecordMove};
use crate::judgement::{MoveLabel, ScoredMove, SideAccuracy};
use crate::{Game, Position, Side};

/// The maximum number of moves of a line that [`GameDocument::to_record`] inserts.
const MAX_INSERTED_MOVES: usize = 8;

/// A game record with a layer of engine notes.
///
/// The record is the author's: it has what a file contains. What engines found is stored next to it and never
/// changes it. [`Self::to_record`] merges both for an export.
///
/// ```
/// use readyok_protocol::Score;
/// use readyok_rules::record::{self, EngineNote, EngineNotes, GameDocument, Merge};
///
/// let file = b"1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 $1 *";
/// let record = record::read(&file[..], None).next().ok_or("a game")??;
/// let mut notes = EngineNotes::new("Narikin");
/// for (node, score) in record.line_to(record.last()).into_iter().skip(4).zip([30, 900]) {
///     notes.set(node, EngineNote::new(Score::Cp(score), 20));
/// }
/// let document = GameDocument { record, engine: notes };
/// assert_eq!(document.label(document.record.last()).and_then(|label| label.nag()), Some(4));
/// let merged = document.to_record(Merge::ALL);
/// // The author's `!` stays.
/// assert_eq!(merged.annotations(merged.last()).nags.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct GameDocument {
    /// Moves, annotations, headers and result.
    pub record: GameRecord,
    /// What engines found.
    pub engine: EngineNotes,
}

/// What an engine found in the positions of a game. A copy takes constant time.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EngineNotes {
    name: Arc<str>,
    #[cfg_attr(feature = "serde", serde(rename = "notes"))]
    by_node: Arc<BTreeMap<NodeId, EngineNote>>,
}

/// What an engine found in a position.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct EngineNote {
    /// From the view of the side to move.
    pub score: Score,
    /// The depth of the search in plies.
    pub depth: Option<u32>,
    /// The number of legal moves.
    pub choices: usize,
    /// The best lines, the best one first.
    pub lines: Vec<ScoredLine>,
}

/// A line of an engine.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ScoredLine {
    /// From the view of the side to move.
    pub score: Score,
    /// In UCI or USI notation. Engines can send illegal moves; these are not used.
    pub moves: Vec<String>,
}

/// What [`GameDocument::to_record`] adds to the author's record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent choices")]
pub struct Merge {
    /// Evaluations of positions.
    pub scores: bool,
    /// Evaluations have the depth of the search.
    pub depth: bool,
    /// Glyphs of inaccuracies, mistakes and blunders. Shogi has comments, too.
    pub glyphs: bool,
    /// Better lines at errors, as variations.
    pub lines: bool,
    /// Headers: the accuracies of the players, and the engine as annotator.
    pub headers: bool,
}

impl Merge {
    /// Everything.
    pub const ALL: Self =
        Self { scores: true, depth: true, glyphs: true, lines: true, headers: true };

    /// Everything that a format can hold.
    pub fn of(format: Format) -> Self {
        Self {
            lines: format.holds(Feature::Variations),
            glyphs: format.holds(Feature::Nags),
            depth: format.holds_depths(),
            ..Self::ALL
        }
    }
}

impl EngineNote {
    /// A note without lines.
    pub fn new(score: Score, choices: usize) -> Self {
        Self { score, depth: None, choices, lines: Vec::new() }
    }
}

impl EngineNotes {
    /// The notes of an engine. The name can be empty.
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), by_node: Arc::default() }
    }

    /// The name of the engine. Empty if it is not known.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The note on a position.
    pub fn get(&self, node: NodeId) -> Option<&EngineNote> {
        self.by_node.get(&node)
    }

    /// Sets the note on a position.
    pub fn set(&mut self, node: NodeId, note: EngineNote) {
        Arc::make_mut(&mut self.by_node).insert(node, note);
    }

    /// Whether there are no notes.
    pub fn is_empty(&self) -> bool {
        self.by_node.is_empty()
    }

    /// All notes, by node.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, &EngineNote)> {
        self.by_node.iter().map(|(node, note)| (*node, note))
    }

    /// The nodes with different notes in another version.
    pub fn changes_since(&self, before: &Self) -> BTreeSet<NodeId> {
        if Arc::ptr_eq(&self.by_node, &before.by_node) {
            return BTreeSet::new();
        }
        let nodes = self.by_node.keys().chain(before.by_node.keys()).copied();
        nodes.filter(|node| self.get(*node) != before.get(*node)).collect()
    }
}

impl From<GameRecord> for GameDocument {
    fn from(record: GameRecord) -> Self {
        Self { record, engine: EngineNotes::default() }
    }
}

impl GameDocument {
    /// The evaluation of the position after a node's move.
    pub fn evaluation(&self, id: NodeId) -> Option<Evaluation> {
        let note = self.engine.get(id)?;
        let turn = self.record.turn_after(self.record.node(id)?);
        Some(Evaluation::by(turn, note.score, note.depth))
    }

    /// The scores around a legal move. `None` unless both positions have notes.
    pub fn scored_move(&self, id: NodeId) -> Option<ScoredMove> {
        let node = self.record.node(id)?;
        let mv = node.mv()?.legal()?;
        let parent = self.record.node(node.parent()?)?;
        let (before, after) = (self.engine.get(parent.id())?, self.engine.get(id)?);
        let uci = mv.to_uci(self.record.game().castling_form());
        let best = before.lines.first().and_then(|line| line.moves.first());
        Some(ScoredMove {
            side: self.record.turn_after(parent),
            before: before.score,
            after: after.score,
            choices: before.choices,
            is_best: best == Some(&uci),
        })
    }

    /// The judgement of a move.
    pub fn label(&self, id: NodeId) -> Option<MoveLabel> {
        self.scored_move(id)?.label(self.record.game())
    }

    /// The lines that are better than a move, if it is an error.
    pub fn better_lines(&self, id: NodeId) -> &[ScoredLine] {
        let is_error = self.label(id).is_some_and(|label| label.nag().is_some());
        let parent = self.record.node(id).filter(|_| is_error).and_then(super::Node::parent);
        parent.and_then(|parent| self.engine.get(parent)).map_or(&[], |note| &note.lines)
    }

    /// The statistics of both sides over the main line.
    pub fn accuracies(&self) -> [SideAccuracy; 2] {
        let moves: Vec<_> =
            self.record.mainline().filter_map(|node| self.scored_move(node.id())).collect();
        Side::BOTH.map(|side| SideAccuracy::of(side, &moves, self.record.game()))
    }

    /// The author's record with engine notes. The author's evaluations, glyphs of moves (`!`, `?` and
    /// similar), variations and headers win. Evaluations belong to moves: that of the start position is
    /// not added.
    pub fn to_record(&self, merge: Merge) -> GameRecord {
        let mut record = self.record.clone();
        for (id, _) in self.engine.iter().filter(|(id, _)| *id != NodeId::ROOT) {
            if merge.scores
                && let Some(evaluation) = self.evaluation(id)
                && let Some(annotations) = record.annotations_mut(id)
            {
                let depth = evaluation.depth.filter(|_| merge.depth);
                annotations.evaluation.get_or_insert(Evaluation { depth, ..evaluation });
            }
        }
        let mut position = self.record.start().clone();
        let mut at = NodeId::ROOT;
        for node in self.record.mainline() {
            if let Some(label) = self.label(node.id()) {
                mark(&mut record, node.id(), label, merge.glyphs);
            }
            if merge.lines {
                for line in self.better_lines(node.id()) {
                    insert(&mut record, (at, &position), node.mv(), line);
                }
            }
            if node.mv().is_some_and(|mv| mv.play(&mut position).is_err()) {
                break;
            }
            at = node.id();
        }
        if merge.headers {
            self.set_headers(&mut record);
        }
        record
    }

    fn set_headers(&self, record: &mut GameRecord) {
        let (names, annotator) = match record.game() {
            Game::Chess | Game::Chess960 => (["WhiteAccuracy", "BlackAccuracy"], "Annotator"),
            Game::Shogi => (["先手精度", "後手精度"], "解析"),
        };
        let accuracies = names.into_iter().zip(self.accuracies());
        let accuracies = accuracies.filter_map(|(name, side)| Some((name, side.accuracy?)));
        let accuracies = accuracies.map(|(name, accuracy)| (name, format!("{accuracy:.1}")));
        let engine = Some((annotator, self.engine.name().to_owned()));
        for (name, value) in accuracies.chain(engine.filter(|(_, name)| !name.is_empty())) {
            if record.headers.get(name).is_none() {
                record.headers.set(name, value);
            }
        }
    }
}

/// Marks an error by a glyph if the format has glyphs, and in shogi by a comment.
fn mark(record: &mut GameRecord, node: NodeId, label: MoveLabel, has_glyphs: bool) {
    let is_shogi = record.game() == Game::Shogi;
    let (Some(nag), Some(annotations)) = (label.nag(), record.annotations_mut(node)) else {
        return;
    };
    if annotations.nags.iter().any(|nag| nag.is_move_assessment()) {
        return;
    }
    if has_glyphs {
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
fn insert(
    record: &mut GameRecord,
    (parent, before): (NodeId, &Position),
    played: Option<RecordMove>,
    line: &ScoredLine,
) {
    let mut position = before.clone();
    let mut last = parent;
    for (index, text) in line.moves.iter().take(MAX_INSERTED_MOVES).enumerate() {
        // An illegal continuation is of no use to a reader.
        let Ok(mv) = position.play_uci(text) else { break };
        if index == 0 && Some(RecordMove::Legal(mv)) == played {
            return;
        }
        let Ok(id) = record.add(last, mv) else { break };
        if index == 0
            && let Some(annotations) = record.annotations_mut(id)
        {
            let evaluation = Evaluation::by(before.turn(), line.score, None);
            annotations.evaluation.get_or_insert(evaluation);
        }
        last = id;
    }
}
