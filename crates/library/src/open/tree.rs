//! The tree of an open game, with numbers of nodes that never change.

use std::collections::BTreeMap;

use readyok_rules::record::{Annotations, GameRecord, Headers, NodeId, RecordMove};
use readyok_rules::{Game, GameResult, Position, Setup};

use super::entry::{Entry, StoredMove, get_headers, put_headers};
use crate::codec::annotations::{Nodes, decode_nodes, encode_nodes};
use crate::codec::move_of;
use crate::codec::tags::{get_text, put_text};
use crate::error::Error;
use crate::summary::{result_code, result_of};
use crate::varint::{Corrupt, get, get_u8, get_u32, put};

/// The root.
const ROOT: u32 = 0;

/// A move of an open game.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenNode {
    /// The node before it, and its move. None for the root.
    pub parent: Option<(u32, StoredMove)>,
    /// Number of moves up to and including this one.
    pub ply: u32,
    /// The first continues the line, the others begin variations.
    pub children: Vec<u32>,
    /// The annotations.
    pub annotations: Annotations,
}

/// The state of an open game: the base of its log, changed by the entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenTree {
    /// The game.
    pub game: Game,
    /// The start position as FEN or SFEN.
    pub start: String,
    /// Nodes by their numbers.
    pub nodes: BTreeMap<u32, OpenNode>,
    /// Numbers of nodes below are used or reserved.
    pub next: u32,
    /// The current node.
    pub cursor: u32,
    /// The headers.
    pub headers: Headers,
    /// The result.
    pub result: GameResult,
    /// Data of the app by name.
    pub data: BTreeMap<String, String>,
}

impl OpenTree {
    /// A tree without moves.
    #[must_use]
    pub fn new(start: &Position) -> Self {
        Self {
            game: start.game(),
            start: start.to_string(),
            nodes: BTreeMap::from([(ROOT, OpenNode::default())]),
            next: 1,
            cursor: ROOT,
            headers: Headers::default(),
            result: GameResult::Unknown,
            data: BTreeMap::new(),
        }
    }

    /// The tree of a record, whose nodes have numbers in the order of PGN.
    #[must_use]
    pub fn from_record(record: &GameRecord) -> Self {
        let mut tree = Self::new(record.start());
        tree.headers = record.headers.clone();
        tree.result = record.result;
        let mut pending = vec![(NodeId::ROOT, None)];
        while let Some((id, parent)) = pending.pop() {
            let number = match parent {
                None => ROOT,
                Some((parent, mv)) => {
                    let node = tree.next;
                    // The parent exists, and the number is new.
                    let _ = tree.apply(&Entry::Add { parent, node, mv });
                    node
                }
            };
            if let Some(ours) = tree.nodes.get_mut(&number) {
                ours.annotations = record.annotations(id).clone();
            }
            let begin = pending.len();
            let children = record.children(id);
            pending
                .extend(children.filter_map(|it| Some((it.id(), Some((number, it.mv()?.into()))))));
            pending[begin..].reverse();
        }
        tree
    }

    /// Applies a change.
    ///
    /// # Errors
    /// The entry does not fit the tree, which is unchanged.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), Error> {
        match entry {
            Entry::Add { parent, node, mv } => {
                let before = self.nodes.get_mut(parent).ok_or(Error::Corrupt)?;
                let ply = before.ply + 1;
                if *node < self.next {
                    return Err(Error::Corrupt);
                }
                before.children.push(*node);
                self.next = node.checked_add(1).ok_or(Error::Corrupt)?;
                let parent = Some((*parent, *mv));
                self.nodes.insert(*node, OpenNode { parent, ply, ..OpenNode::default() });
            }
            Entry::Delete { node } => {
                let known = self.nodes.get(node).and_then(|it| it.parent).ok_or(Error::Corrupt)?;
                if let Some(parent) = self.nodes.get_mut(&known.0) {
                    parent.children.retain(|it| it != node);
                }
                let mut pending = vec![*node];
                while let Some(node) = pending.pop() {
                    pending.extend(self.nodes.remove(&node).into_iter().flat_map(|it| it.children));
                }
            }
            Entry::Children { node, children } => {
                let node = self.nodes.get_mut(node).ok_or(Error::Corrupt)?;
                let sorted = |it: &[u32]| {
                    let mut it = it.to_vec();
                    it.sort_unstable();
                    it
                };
                if sorted(&node.children) != sorted(children) {
                    return Err(Error::Corrupt);
                }
                node.children.clone_from(children);
            }
            Entry::Annotations { node, annotations } => {
                let node = self.nodes.get_mut(node).ok_or(Error::Corrupt)?;
                node.annotations.clone_from(annotations);
            }
            Entry::Result(result) => self.result = *result,
            Entry::Header { name, value } => match value {
                Some(value) => self.headers.set(name, value),
                None => drop(self.headers.remove(name)),
            },
            Entry::Headers(headers) => self.headers.clone_from(headers),
            Entry::Cursor(node) => self.cursor = *node,
            Entry::Next(next) => self.next = self.next.max(*next),
            Entry::Data { name, value } => {
                if value.is_empty() {
                    self.data.remove(name);
                } else {
                    self.data.insert(name.clone(), value.clone());
                }
            }
        }
        Ok(())
    }

    /// The start position.
    ///
    /// # Errors
    /// The stored text is corrupt.
    pub fn start_position(&self) -> Result<Position, Error> {
        let setup = Setup::read(self.game, &self.start).map_err(|_| Error::Corrupt)?;
        Ok(Position::for_viewing(&setup))
    }

    /// The record, and the numbers of its nodes.
    ///
    /// # Errors
    /// A stored move is corrupt.
    pub fn to_record(&self) -> Result<(GameRecord, Vec<(u32, NodeId)>), Error> {
        let start = self.start_position()?;
        let mut record = GameRecord::new(start.clone());
        record.headers = self.headers.clone();
        record.result = self.result;
        let mut numbers = Vec::with_capacity(self.nodes.len());
        let mut pending = vec![(ROOT, NodeId::ROOT, start)];
        while let Some((number, id, position)) = pending.pop() {
            numbers.push((number, id));
            let node = self.nodes.get(&number).ok_or(Error::Corrupt)?;
            if !node.annotations.is_empty() {
                let annotations = record.annotations_mut(id).ok_or(Error::Corrupt)?;
                annotations.clone_from(&node.annotations);
            }
            let begin = pending.len();
            for child in &node.children {
                let (_, mv) =
                    self.nodes.get(child).and_then(|it| it.parent).ok_or(Error::Corrupt)?;
                let mut after = position.clone();
                let mv = match mv {
                    StoredMove::Legal(code) => move_of(&position, code).map(RecordMove::Legal),
                    StoredMove::Null => Some(RecordMove::Null),
                    StoredMove::Illegal(code) => move_of(&position, code).map(RecordMove::Illegal),
                };
                let added = record.add_at(id, &mut after, mv.ok_or(Error::Corrupt)?);
                pending.push((*child, added.map_err(|_| Error::Corrupt)?, after));
            }
            pending[begin..].reverse();
        }
        Ok((record, numbers))
    }

    /// Numbers of all nodes, parents before their children, which are in their order.
    fn in_order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut pending = vec![ROOT];
        while let Some(number) = pending.pop() {
            order.push(number);
            if let Some(node) = self.nodes.get(&number) {
                pending.extend(node.children.iter().rev());
            }
        }
        order
    }

    /// The tree as the base of a log.
    pub(super) fn encode(&self) -> Vec<u8> {
        let game = match self.game {
            Game::Chess => 0,
            Game::Chess960 => 1,
            Game::Shogi => 2,
        };
        let mut out = vec![game, result_code(self.result)];
        put_text(&mut out, &self.start);
        put(&mut out, self.next.into());
        put(&mut out, self.cursor.into());
        put_headers(&mut out, &self.headers);
        put(&mut out, self.data.len() as u64);
        for (name, value) in &self.data {
            put_text(&mut out, name);
            put_text(&mut out, value);
        }
        let order = self.in_order();
        put(&mut out, order.len() as u64 - 1);
        for (number, node) in order.iter().filter_map(|it| Some((it, self.nodes.get(it)?))) {
            if let Some((parent, mv)) = node.parent {
                put(&mut out, (*number).into());
                put(&mut out, parent.into());
                mv.put(&mut out);
            }
        }
        let nodes = order.iter().filter_map(|it| self.nodes.get(it));
        out.extend(encode_nodes(nodes.map(|it| (it.ply as usize, &it.annotations))));
        out
    }

    /// A tree that was encoded.
    pub(super) fn decode(mut bytes: &[u8]) -> Result<Self, Error> {
        let bytes = &mut bytes;
        let game = match get_u8(bytes)? {
            0 => Game::Chess,
            1 => Game::Chess960,
            2 => Game::Shogi,
            _ => return Err(Error::Corrupt),
        };
        let result = result_of(get_u8(bytes)?);
        let start = get_text(bytes)?;
        let (next, cursor) = (get_u32(bytes)?, get_u32(bytes)?);
        let headers = get_headers(bytes)?;
        let mut data = BTreeMap::new();
        for _ in 0..get(bytes)? {
            let name = get_text(bytes)?;
            data.insert(name, get_text(bytes)?);
        }
        let mut nodes = BTreeMap::from([(ROOT, OpenNode::default())]);
        let mut order = vec![ROOT];
        for _ in 0..get(bytes)? {
            let (number, parent) = (get_u32(bytes)?, get_u32(bytes)?);
            let mv = StoredMove::get(bytes)?;
            let before: &mut OpenNode = nodes.get_mut(&parent).ok_or(Corrupt)?;
            before.children.push(number);
            let node =
                OpenNode { parent: Some((parent, mv)), ply: before.ply + 1, ..OpenNode::default() };
            if number >= next || nodes.insert(number, node).is_some() {
                return Err(Error::Corrupt);
            }
            order.push(number);
        }
        let mut ordered = Ordered { game, nodes: &mut nodes, order: &order };
        decode_nodes(&mut ordered, std::mem::take(bytes))?;
        Ok(Self { game, start, nodes, next, cursor, headers, result, data })
    }
}

struct Ordered<'a> {
    game: Game,
    nodes: &'a mut BTreeMap<u32, OpenNode>,
    order: &'a [u32],
}

impl Nodes for Ordered<'_> {
    fn game(&self) -> Game {
        self.game
    }

    fn ply(&self, at: usize) -> Option<usize> {
        self.nodes.get(self.order.get(at)?).map(|it| it.ply as usize)
    }

    fn annotations(&mut self, at: usize) -> Option<&mut Annotations> {
        self.nodes.get_mut(self.order.get(at)?).map(|it| &mut it.annotations)
    }
}
