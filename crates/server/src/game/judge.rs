//! The judgements of a report: the notes of its engine on a line of the game.

use readyok_rules::Side;
use readyok_rules::judgement::winning_chances;
use readyok_rules::record::GameDocument;

use super::position_view::line;
use crate::wire::{Judged, NodeId, SideReport, Sides};

/// Judges the positions of a line from the root, of which `is_wanted` selects some by their plies. None for a position
/// without a note, and after a change of the line.
pub(crate) fn judge(
    document: &GameDocument,
    nodes: &[NodeId],
    is_wanted: impl Fn(usize) -> bool,
) -> Vec<Option<Judged>> {
    let GameDocument { record, engine } = document;
    let game = record.game();
    let mut position = Some(record.start().clone());
    let judged = nodes.iter().enumerate().map(|(ply, &node)| {
        let id = node.into();
        if 0 < ply {
            let mv = record.node(id).and_then(readyok_rules::record::Node::mv);
            position = position
                .take()
                .and_then(|mut position| mv?.play(&mut position).ok().map(|()| position));
        }
        let position = position.as_ref().filter(|_| is_wanted(ply))?;
        let (note, evaluation) = (engine.get(id)?, document.evaluation(id)?);
        let scored = document.scored_move(id);
        let best = note.lines.first();
        Some(Judged {
            ply: u32::try_from(ply).unwrap_or(u32::MAX),
            node,
            score: evaluation.score,
            winning: winning_chances(evaluation.score, game),
            best: best.map(|best| line(position, &best.moves, &[])).unwrap_or_default(),
            depth: note.depth,
            loss: scored.map(|scored| scored.loss(game)),
            label: scored.and_then(|scored| scored.label(game)),
        })
    });
    judged.collect()
}

/// The statistics of both sides, over the judged moves of a line.
pub(crate) fn summary(document: &GameDocument, nodes: &[NodeId]) -> Sides<SideReport> {
    let moves: Vec<_> =
        nodes.iter().filter_map(|node| document.scored_move((*node).into())).collect();
    let game = document.record.game();
    let [first, second] = Side::BOTH.map(|side| SideReport::of(side, &moves, game));
    Sides { first, second }
}

#[cfg(test)]
mod tests {
    use readyok_protocol::Score;
    use readyok_rules::record::{EngineNote, EngineNotes, ScoredLine, read};

    use super::*;
    use crate::wire::Label;

    /// A game with the scores and the best moves of its positions.
    fn document(pgn: &str, found: &[(i32, &str)]) -> (GameDocument, Vec<NodeId>) {
        let record = read(pgn.as_bytes(), None).flatten().next().expect("a game");
        let mut document = GameDocument::from(record);
        let nodes: Vec<NodeId> = document.record.ids().map(NodeId::from).collect();
        let mut notes = EngineNotes::new("engine");
        for (node, (value, best)) in nodes.iter().zip(found) {
            let score = Score::Cp(*value);
            let mut note = EngineNote::new(score, 20);
            note.lines = vec![ScoredLine { score, moves: vec![(*best).to_owned()] }];
            notes.set((*node).into(), note);
        }
        document.engine = notes;
        (document, nodes)
    }

    #[test]
    fn positions_are_judged_by_the_one_before() {
        let found = [(0, "e2e4"), (400, "e7e5")];
        let (blunder, nodes) = document("1. d4 *", &found);
        let judged = judge(&blunder, &nodes, |ply| ply == 1);
        assert!(judged[0].is_none());
        let judged = judged[1].as_ref().expect("it is judged");
        assert_eq!((judged.label, judged.score), (Some(Label::Blunder), Score::Cp(-400)));
        assert_eq!(judged.best[0].text.western, "e5");
        let (best, nodes) = document("1. e4 *", &found);
        let judged = judge(&best, &nodes, |_| true);
        let [before, after] = [0, 1].map(|ply| judged[ply].as_ref().expect("it is judged"));
        assert_eq!((before.loss, after.label), (None, Some(Label::Best)));
    }

    #[test]
    fn a_line_is_judged_up_to_its_change() {
        let (mut game, nodes) =
            document("1. e4 e5 2. Nf3 *", &[(0, "e2e4"), (0, "e7e5"), (0, "g1f3"), (0, "b8c6")]);
        game.record.delete(nodes[2].into());
        let judged = judge(&game, &nodes, |_| true);
        assert_eq!(
            judged.iter().map(Option::is_some).collect::<Vec<_>>(),
            [true, true, false, false]
        );
    }

    #[test]
    fn accuracy_belongs_to_the_side_that_moved() {
        let (game, nodes) = document("1. e4 f6 *", &[(0, "e2e4"), (0, "e7e5"), (500, "d2d4")]);
        let sides = summary(&game, &nodes);
        assert!(sides.first.accuracy.is_some_and(|accuracy| accuracy > 99.0), "{sides:?}");
        assert!(sides.second.accuracy.is_some_and(|accuracy| accuracy < 40.0), "{sides:?}");
        assert_eq!((sides.first.blunders, sides.second.blunders), (0, 1));
        assert_eq!(sides.second.average_loss, Some(500.0));
    }
}
