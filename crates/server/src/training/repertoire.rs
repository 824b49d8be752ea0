//! Repertoires: the positions of studies in which the user is to move, with the moves that are played there.
//!
//! A position is one exercise, regardless of the moves that lead to it. All moves of the repertoire are right; the first is the main
//! one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use readyok_rules::record::{GameRecord, Nag, NodeId};
use readyok_rules::{FenForm, Position};

use super::{Task, key};
use crate::wire::{ApiError, ErrorSubject, ExerciseKind, ExerciseSource, GameId, Side, Variant};

/// Maximum number of positions of a repertoire.
const MAX_POSITIONS: usize = 20_000;
/// Maximum number of moves that lead to a position. Later ones are no openings.
const MAX_LINE: usize = 200;
/// Maximum number of moves that are visited.
const MAX_NODES: usize = 1_000_000;
/// NAGs of mistakes: `?`, `??`, `?!`.
const MISTAKES: [u8; 3] = [2, 4, 6];

/// Which moves are trained.
#[derive(Clone, Debug)]
pub(crate) struct RepertoireRules {
    /// The side of the user.
    pub(crate) side: Side,
    /// NAGs of the moves that are trained; empty for all moves.
    pub(crate) marks: Vec<u8>,
}

/// An exercise of a repertoire.
#[derive(Debug)]
pub(crate) struct RepertoireTask {
    pub(crate) key: i64,
    /// The index of its chapter.
    pub(crate) chapter: u32,
    pub(crate) task: Task,
}

/// A repertoire that is made of the chapters of a study.
#[derive(Debug)]
pub(crate) struct Repertoire {
    rules: RepertoireRules,
    pub(crate) chapters: Vec<String>,
    /// In the order of the lines.
    pub(crate) tasks: Vec<RepertoireTask>,
    by_key: HashMap<i64, usize>,
    nodes: usize,
}

impl Repertoire {
    pub(crate) fn new(rules: RepertoireRules) -> Self {
        let (chapters, tasks, by_key) = (Vec::new(), Vec::new(), HashMap::new());
        Self { rules, chapters, tasks, by_key, nodes: 0 }
    }

    /// The variant of all chapters. None if there is no exercise, or if they have several variants.
    pub(crate) fn variant(&self) -> Option<Variant> {
        let first = self.tasks.first()?.task.variant;
        self.tasks.iter().all(|it| it.task.variant == first).then_some(first)
    }

    /// Adds the lines of a chapter.
    pub(crate) fn add(
        &mut self,
        name: &str,
        game: Option<GameId>,
        record: &GameRecord,
    ) -> Result<(), ApiError> {
        let chapter = u32::try_from(self.chapters.len()).unwrap_or(u32::MAX);
        self.chapters.push(name.to_owned());
        let start = record.start();
        if start.defect().is_some() {
            return Ok(());
        }
        let usual = start.to_string() == Position::start(record.game()).to_string();
        let start_text = (!usual).then(|| start.text(FenForm::default()));
        let form = record.game().castling_form();
        // Nodes to visit with their positions and lines; the main line is on top.
        let mut open: Vec<(NodeId, Position, Vec<String>)> =
            vec![(NodeId::ROOT, start.clone(), Vec::new())];
        while let Some((node, position, line)) = open.pop() {
            if MAX_LINE < line.len() {
                continue;
            }
            self.nodes += 1;
            if MAX_NODES < self.nodes {
                return Err(ApiError::too_many(ErrorSubject::Move));
            }
            let is_own = position.turn() == self.rules.side;
            // A trained move, and the node after it.
            let children = record.children(node).filter_map(|child| {
                let nags = &record.annotations(child.id()).nags;
                let has = |nag: &u8| nags.contains(&Nag(*nag));
                let mv = child.mv()?.legal()?;
                (!is_own || !MISTAKES.iter().any(has))
                    .then(|| (child.id(), mv, self.rules.marks.iter().any(has)))
            });
            let mut children: Vec<_> = children.collect();
            if is_own {
                // Where a move is marked, the others are not in the repertoire.
                let is_marked = children.iter().any(|(.., marked)| *marked);
                if is_marked {
                    children.retain(|(.., marked)| *marked);
                }
                if !children.is_empty() && (is_marked || self.rules.marks.is_empty()) {
                    let moves = children.iter().map(|(_, mv, _)| mv.to_uci(form)).collect();
                    let source = ExerciseSource {
                        name: name.to_owned(),
                        game,
                        node: Some(node.into()),
                        played: None,
                    };
                    let task = task(&position, moves, (start_text.clone(), line.clone()), source);
                    self.add_task(key(&position), chapter, task)?;
                }
            }
            for (child, mv, _) in children.into_iter().rev() {
                let mut after = position.clone();
                if after.play(mv).is_ok() {
                    let line = line.iter().cloned().chain([mv.to_uci(form)]).collect();
                    open.push((child, after, line));
                }
            }
        }
        Ok(())
    }

    /// Adds a position, or the moves of one that is there.
    fn add_task(&mut self, key: i64, chapter: u32, task: Task) -> Result<(), ApiError> {
        match self.by_key.entry(key) {
            Entry::Occupied(known) => {
                if let Some(known) = self.tasks.get_mut(*known.get()) {
                    let best = &mut known.task.best;
                    let new = task.best.into_iter().filter(|mv| !best.contains(mv));
                    best.extend(new.collect::<Vec<_>>());
                }
            }
            Entry::Vacant(entry) => {
                if MAX_POSITIONS <= self.tasks.len() {
                    return Err(ApiError::too_many(ErrorSubject::Position));
                }
                entry.insert(self.tasks.len());
                self.tasks.push(RepertoireTask { key, chapter, task });
            }
        }
        Ok(())
    }
}

fn task(
    position: &Position,
    moves: Vec<String>,
    (start, line): (Option<String>, Vec<String>),
    source: ExerciseSource,
) -> Task {
    Task {
        variant: position.game(),
        position: position.text(FenForm::default()),
        side: position.turn(),
        kind: ExerciseKind::Repertoire,
        solution: moves.first().cloned().into_iter().collect(),
        best: moves,
        mate: None,
        score: None,
        engine: None,
        source,
        start,
        line,
    }
}

#[cfg(test)]
mod tests {
    use readyok_rules::record::read;

    use super::*;

    fn repertoire(side: Side, marks: &[u8], text: &str) -> Repertoire {
        let rules = RepertoireRules { side, marks: marks.to_vec() };
        let mut repertoire = Repertoire::new(rules);
        for (number, record) in (1..).zip(read(text.as_bytes(), None).flatten()) {
            repertoire.add(&format!("{number}"), Some(number), &record).expect("it is small");
        }
        repertoire
    }

    /// The lines to the positions with their moves.
    fn shown(repertoire: &Repertoire) -> Vec<String> {
        let task = |it: &RepertoireTask| {
            format!("{}: {} → {}", it.chapter, it.task.line.join(" "), it.task.best.join(" "))
        };
        repertoire.tasks.iter().map(task).collect()
    }

    #[test]
    fn a_position_is_one_exercise_with_the_moves_of_all_lines() {
        let text = "1. d4 Nf6 (1... e6 2. c4 Nf6 3. Nf3) 2. c4 e6 3. Nc3 *\n\n1. c4 Nf6 2. d4 e6 3. g3 *\n";
        assert_eq!(
            shown(&repertoire(Side::First, &[], text)),
            [
                "0:  → d2d4 c2c4",
                "0: d2d4 g8f6 → c2c4",
                "0: d2d4 g8f6 c2c4 e7e6 → b1c3 g1f3 g2g3",
                "0: d2d4 e7e6 → c2c4",
                "1: c2c4 g8f6 → d2d4",
            ]
        );
        let black = shown(&repertoire(Side::Second, &[], text));
        assert_eq!(black[0], "0: d2d4 → g8f6 e7e6");
        assert_eq!(black.last().map(String::as_str), Some("1: c2c4 → g8f6"));
    }

    #[test]
    fn own_mistakes_are_no_moves_of_the_repertoire() {
        let text = "1. e4 e5 2. Nf3 (2. f3? d5 3. d3) 2... f6? 3. Nxe5 *\n";
        assert_eq!(
            shown(&repertoire(Side::First, &[], text)),
            ["0:  → e2e4", "0: e2e4 e7e5 → g1f3", "0: e2e4 e7e5 g1f3 f7f6 → f3e5"]
        );
        assert_eq!(
            shown(&repertoire(Side::Second, &[], text)),
            ["0: e2e4 → e7e5", "0: e2e4 e7e5 f2f3 → d7d5"]
        );
    }

    #[test]
    fn only_marked_moves_are_trained() {
        let text =
            "1. e4 e5 2. Nf3! (2. f4 exf4 3. Nf3!) 2... Nc6 3. Bb5 (3. Bc4!?) 3... a6 4. Ba4! *\n";
        assert_eq!(
            shown(&repertoire(Side::First, &[1, 3], text)),
            ["0: e2e4 e7e5 → g1f3", "0: e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 → b5a4"]
        );
        assert_eq!(
            shown(&repertoire(Side::First, &[1, 3, 5], text)),
            ["0: e2e4 e7e5 → g1f3", "0: e2e4 e7e5 g1f3 b8c6 → f1c4"]
        );
    }

    #[test]
    fn joseki_is_trained_like_openings() {
        let text = "position startpos moves 7g7f 3c3d 2g2f 4c4d\n";
        let repertoire = repertoire(Side::Second, &[], text);
        assert_eq!(shown(&repertoire), ["0: 7g7f → 3c3d", "0: 7g7f 3c3d 2g2f → 4c4d"]);
        assert_eq!(repertoire.variant(), Some(Variant::Shogi));
    }
}
