//! Property tests of changes of a document: edits, reports, undo and redo.

use std::collections::BTreeMap;

use proptest::prelude::*;
use readyok_protocol::Score;
use readyok_rules::record::{EngineNote, EngineNotes, GameRecord};

use super::super::*;
use crate::wire::{Mark, Node, OutcomeChange};

/// An operation of a user or of a report. Numbers choose among the nodes and moves that exist.
#[derive(Debug, Clone)]
enum Operation {
    Move(usize, usize),
    Comment(usize, String),
    Nag(usize, u8),
    Mark(usize),
    Delete(usize),
    Promote(usize, bool),
    Header(String),
    Result(usize),
    Report(Vec<(usize, i32)>),
    Undo,
    Redo,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        8 => (any::<usize>(), any::<usize>()).prop_map(|(at, mv)| Operation::Move(at, mv)),
        2 => (any::<usize>(), "[a-z]{0,4}").prop_map(|(at, text)| Operation::Comment(at, text)),
        2 => (any::<usize>(), 1..20_u8).prop_map(|(at, nag)| Operation::Nag(at, nag)),
        1 => any::<usize>().prop_map(Operation::Mark),
        2 => any::<usize>().prop_map(Operation::Delete),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(at, main)| Operation::Promote(at, main)),
        1 => "[a-z]{1,4}".prop_map(Operation::Header),
        1 => (0..4_usize).prop_map(Operation::Result),
        2 => prop::collection::vec((any::<usize>(), -900..900), 1..4).prop_map(Operation::Report),
        4 => Just(Operation::Undo),
        2 => Just(Operation::Redo),
    ];
    prop::collection::vec(operation, 1..40)
}

/// What the page has, from the deltas.
#[derive(Debug, Default)]
struct PageCopy {
    nodes: BTreeMap<NodeId, Node>,
    headers: Vec<crate::wire::Header>,
    outcome: Option<crate::wire::OutcomeView>,
}

impl PageCopy {
    fn of(session: &GameSession) -> Self {
        let state = session.state(None, 0);
        let nodes = session.tree().wire_all().into_iter().map(|node| (node.id, node)).collect();
        Self { nodes, headers: state.headers, outcome: state.outcome }
    }

    fn remove(&mut self, id: NodeId) {
        for child in self.nodes.remove(&id).map(|node| node.children).unwrap_or_default() {
            self.remove(child);
        }
    }

    fn apply(&mut self, delta: GameDelta) {
        for id in delta.removed {
            self.remove(id);
        }
        self.nodes.extend(delta.nodes.into_iter().map(|node| (node.id, node)));
        if let Some(headers) = delta.headers {
            self.headers = headers;
        }
        if let Some(OutcomeChange { outcome }) = delta.outcome_change {
            self.outcome = outcome;
        }
    }
}

/// The content that undo restores: the author's record with its ids, or the engine notes.
fn author(session: &GameSession) -> (GameRecord, Vec<NodeId>) {
    (session.tree().to_record(), session.tree().ids().collect())
}

fn carry_out(session: &mut GameSession, operation: &Operation) -> bool {
    let ids: Vec<NodeId> = session.tree().ids().collect();
    let node = |index: &usize| ids[index % ids.len()];
    let edit = match operation {
        Operation::Move(at, mv) => {
            let position = session.tree().position(node(at)).expect("a position");
            let moves = position.legal_moves();
            let Some(mv) = moves.get(mv % moves.len().max(1)) else { return false };
            let uci = mv.to_uci(position.game().castling_form());
            return session.play_move(node(at), &uci, 0).is_ok();
        }
        Operation::Report(found) => {
            let mut notes = EngineNotes::new("engine");
            for (at, score) in found {
                notes.set(node(at).into(), EngineNote::new(Score::Cp(*score), 20));
            }
            session.document_mut().set_engine_notes(notes);
            return true;
        }
        Operation::Comment(at, text) => {
            Edit::Comment { node: node(at), before: Vec::new(), comments: vec![text.clone()] }
        }
        Operation::Nag(at, nag) => Edit::Nags { node: node(at), nags: vec![*nag] },
        Operation::Mark(at) => {
            let square = if session.game() == Game::Shogi { "5e" } else { "e4" };
            let mark = Mark { color: "green".to_owned(), from: square.to_owned(), to: None };
            Edit::Marks { node: node(at), marks: vec![mark] }
        }
        Operation::Delete(at) => Edit::Delete { node: node(at) },
        Operation::Promote(at, to_main) => Edit::Promote { node: node(at), to_main: *to_main },
        Operation::Header(value) => {
            let header = crate::wire::Header { name: "Event".to_owned(), value: value.clone() };
            Edit::Headers { headers: vec![header] }
        }
        Operation::Result(index) => {
            Edit::Result { result: ["*", "1-0", "0-1", "1/2-1/2"][*index].to_owned() }
        }
        Operation::Undo => Edit::Undo,
        Operation::Redo => Edit::Redo,
    };
    session.edit(edit).is_ok()
}

fn check(game: Game, operations: &[Operation]) -> Result<(), TestCaseError> {
    let mut session = GameSession::new(1, Tree::new(Position::start(game)), 0);
    let mut page = PageCopy::of(&session);
    let mut last_id = 0;
    let mut known = std::collections::BTreeSet::from([ROOT]);
    for operation in operations {
        let before = author(&session);
        let notes = session.tree().engine_notes().clone();
        let is_done = carry_out(&mut session, operation);
        if !is_done {
            prop_assert_eq!(&author(&session), &before, "a failed change: {:?}", operation);
        }
        if let Operation::Report(_) = operation {
            prop_assert_eq!(&author(&session), &before);
        }
        let is_history = matches!(operation, Operation::Undo | Operation::Redo);
        if is_done && !is_history && author(&session) != before {
            // One step of undo restores the author's part, one of redo repeats the change.
            let after = author(&session);
            session.edit(Edit::Undo).expect("it can be undone");
            prop_assert_eq!(&author(&session), &before);
            prop_assert_eq!(session.tree().engine_notes(), &notes);
            session.edit(Edit::Redo).expect("it can be repeated");
            prop_assert_eq!(&author(&session), &after);
        }
        for id in session.tree().ids() {
            // An id that is not known is larger than all earlier ones.
            prop_assert!(known.contains(&id) || last_id < id, "{} is used again", id);
        }
        known.extend(session.tree().ids());
        last_id = known.last().copied().unwrap_or_default();
        if let Some(delta) = session.take_delta(0).delta {
            page.apply(delta);
        }
        let expected = PageCopy::of(&session);
        prop_assert_eq!(&page.nodes, &expected.nodes);
        prop_assert_eq!(&page.headers, &expected.headers);
        prop_assert_eq!(&page.outcome, &expected.outcome);
        let version = session.stored();
        let from_blob = StoredSession::decode(&version.encode()).expect("it is whole");
        let stored = GameSession::restored(1, from_blob, 0);
        prop_assert_eq!(&PageCopy::of(&stored).nodes, &expected.nodes);
        prop_assert_eq!(stored.tree().next_id(), session.tree().next_id());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn changes_of_chess_are_undone_published_and_stored(operations in operations()) {
        check(Game::Chess, &operations)?;
    }

    #[test]
    fn changes_of_shogi_are_undone_published_and_stored(operations in operations()) {
        check(Game::Shogi, &operations)?;
    }
}

/// The delta of an undone comment has the size of the comment's move, in a game of any size.
#[test]
fn an_undone_comment_sends_one_move() {
    let mut tree = Tree::new(Position::start(Game::Chess));
    let mut parents = std::collections::VecDeque::from([ROOT]);
    let mut at = ROOT;
    while tree.len() < 10_000 {
        let parent = parents.pop_front().expect("a tree of this size");
        for mv in tree.position(parent).expect("a position").legal_moves() {
            at = tree.add(parent, mv).expect("there is room");
            parents.push_back(at);
        }
    }
    let mut session = GameSession::new(1, tree, 0);
    session.take_delta(0);
    let comments = vec!["a comment".to_owned()];
    session.edit(Edit::Comment { node: at, before: Vec::new(), comments }).expect("it exists");
    session.take_delta(0);
    session.edit(Edit::Undo).expect("it can be undone");
    let delta = session.take_delta(0).delta.expect("a change");
    let bytes = serde_json::to_vec(&delta).expect("JSON").len();
    assert!(bytes < 1000, "{bytes}");
}
