//! Edits of records, and the differences of versions.

use std::collections::HashMap;

use proptest::prelude::*;
use readyok_rules::record::{Annotations, Changes, GameRecord, Node, NodeId, RecordMove};
use readyok_rules::{Game, Position};

#[derive(Debug, Clone)]
enum Edit {
    Add {
        node: usize,
        mv: usize,
    },
    Delete {
        node: usize,
    },
    Promote {
        node: usize,
        to_main: bool,
    },
    Comment {
        node: usize,
        text: String,
    },
    Header {
        value: String,
    },
    /// Keeps the present version.
    Keep,
    /// Brings back a kept version.
    Restore {
        version: usize,
    },
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let place = any::<usize>;
    let edit = prop_oneof![
        8 => (place(), place()).prop_map(|(node, mv)| Edit::Add { node, mv }),
        2 => place().prop_map(|node| Edit::Delete { node }),
        2 => (place(), any::<bool>()).prop_map(|(node, to_main)| Edit::Promote { node, to_main }),
        2 => (place(), "[a-c]{0,2}").prop_map(|(node, text)| Edit::Comment { node, text }),
        1 => "[a-c]{0,2}".prop_map(|value| Edit::Header { value }),
        2 => Just(Edit::Keep),
        1 => place().prop_map(|version| Edit::Restore { version }),
    ];
    prop::collection::vec(edit, 1..60)
}

/// Adds a move that is always legal: sides shuffle knights.
fn add(record: &mut GameRecord, node: NodeId, mv: usize) -> NodeId {
    let position = record.position_after(node).expect("a node");
    let moves = position.legal_moves();
    record.add(node, moves[mv % moves.len()]).expect("a legal move")
}

fn children(record: &GameRecord, id: NodeId) -> Vec<NodeId> {
    record.children(id).map(Node::id).collect()
}

/// The changes by a comparison of all nodes.
fn expected_changes(before: &GameRecord, after: &GameRecord) -> Changes {
    let mut changes = Changes::default();
    for id in before.ids().filter(|id| after.node(*id).is_none()) {
        let parent = before.node(id).and_then(Node::parent).expect("the root stays");
        if after.node(parent).is_some() {
            changes.deleted.push(id);
        }
    }
    for id in after.ids() {
        let is_new = before.node(id).is_none();
        let none = Annotations::default();
        if is_new {
            changes.added.push(id);
        }
        let old = if is_new { Vec::new() } else { children(before, id) };
        if old != children(after, id) {
            changes.children.push(id);
        }
        let old = if is_new { &none } else { before.annotations(id) };
        if old != after.annotations(id) {
            changes.annotations.push(id);
        }
    }
    changes.headers = before.headers != after.headers;
    changes.result = before.result != after.result;
    changes
}

fn check_edits(game: Game, edits: Vec<Edit>) -> Result<(), TestCaseError> {
    let mut record = GameRecord::new(Position::start(game));
    record.share();
    let mut versions: Vec<(GameRecord, GameRecord)> = Vec::new();
    let mut known: HashMap<NodeId, (NodeId, RecordMove)> = HashMap::new();
    for edit in edits {
        let ids: Vec<_> = record.ids().collect();
        let at = |node: usize| ids[node % ids.len()];
        match edit {
            Edit::Add { node, mv } => drop(add(&mut record, at(node), mv)),
            Edit::Delete { node } => {
                let line = record.line_to(at(node));
                let deleted = record.delete(at(node));
                prop_assert_eq!(deleted.first(), line.last());
                prop_assert_eq!(deleted.len() + record.len() + 1, ids.len());
                prop_assert!(deleted.iter().all(|id| record.node(*id).is_none()));
            }
            Edit::Promote { node, to_main } => {
                let before = record.line_to(at(node));
                record.promote(at(node), to_main);
                prop_assert_eq!(record.line_to(at(node)), before);
                if to_main {
                    let main: Vec<_> = record.mainline().map(Node::id).collect();
                    prop_assert!(main.starts_with(&record.line_to(at(node))));
                }
            }
            Edit::Comment { node, text } => {
                let annotations = record.annotations_mut(at(node)).expect("a node");
                annotations.comments = vec![text];
            }
            Edit::Header { value } => record.headers.set("White", value),
            Edit::Keep => versions.push((record.clone(), record.clone())),
            Edit::Restore { version } => {
                if let Some((kept, _)) = versions.get(version % versions.len().max(1)) {
                    let replaced = record.clone();
                    record.restore(kept.clone());
                    versions.push((replaced.clone(), replaced));
                }
            }
        }
        for id in record.ids().skip(1) {
            let node = record.node(id).expect("a node");
            let content = (node.parent().expect("a parent"), node.mv().expect("a move"));
            prop_assert_eq!(*known.entry(id).or_insert(content), content, "an id is used twice");
            prop_assert!(content.0 < id);
        }
        let last = record.mainline().last().map_or(NodeId::ROOT, Node::id);
        prop_assert_eq!(record.last(), last);
        let replayed = record.line_to(last).into_iter().try_fold(
            record.start().clone(),
            |mut position, id| {
                record.node(id)?.mv()?.play(&mut position).ok()?;
                Some(position)
            },
        );
        prop_assert_eq!(
            Some(record.position().to_string()),
            replayed.map(|position| position.to_string())
        );
        for (kept, copy) in &versions {
            prop_assert!(kept == copy);
            prop_assert_eq!(record.changes_since(kept), expected_changes(kept, &record));
            prop_assert_eq!(kept.changes_since(&record), expected_changes(&record, kept));
        }
        prop_assert!(record.changes_since(&record.clone()).is_empty());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn edits_of_chess_keep_versions_and_ids(edits in edits()) {
        check_edits(Game::Chess, edits)?;
    }

    #[test]
    fn edits_of_shogi_keep_versions_and_ids(edits in edits()) {
        check_edits(Game::Shogi, edits)?;
    }
}

/// A comment in a large game changes one node, and copies share the others.
#[test]
fn a_comment_is_the_only_change() {
    let mut record = GameRecord::new(Position::start(Game::Chess));
    for index in 0..300 {
        let last = record.last();
        add(&mut record, last, index);
    }
    record.share();
    let before = record.clone();
    let node = record.last();
    record.annotations_mut(node).expect("a node").comments.push("a comment".to_owned());
    let changes = record.changes_since(&before);
    assert_eq!(changes.annotations, [node]);
    assert!(changes.added.is_empty() && changes.deleted.is_empty() && changes.children.is_empty());
    let edited = record.clone();
    record.restore(before);
    assert_eq!(record.changes_since(&edited).annotations, [node]);
    assert!(record.annotations(node).is_empty());
}
