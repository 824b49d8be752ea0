//! Entries of the log of an open game.
//!
//! ```text
//! u8 operation, then
//!  1 add           parent, node, u8 kind, u16 code unless the kind is a null move
//!  2 delete        node
//!  3 children      node, number of children, children in their new order
//!  4 annotations   node, sections of the annotations of one node
//!  5 result        u8
//!  6 header        text, u8 whether a value follows, text
//!  7 headers       number of headers; for each: text, text
//!  8 cursor        node
//!  9 next          node
//! 10 data          text, text
//! ```
//!
//! Numbers without a size are varints; a text has a varint length.

use readyok_rules::record::{Annotations, Headers, RecordMove};
use readyok_rules::{Game, GameResult};

use crate::codec::annotations::{Nodes, decode_nodes, encode_nodes};
use crate::codec::code_of;
use crate::codec::tags::{get_text, put_text};
use crate::error::Error;
use crate::summary::{result_code, result_of};
use crate::varint::{Corrupt, get, get_u8, get_u16, get_u32, put};

/// A move of an open game without its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StoredMove {
    /// A legal move, by its [code](crate::code_of).
    Legal(u16),
    /// A null move.
    Null,
    /// An illegal move that ended the game, by its code.
    Illegal(u16),
}

impl From<RecordMove> for StoredMove {
    fn from(mv: RecordMove) -> Self {
        match mv {
            RecordMove::Legal(mv) => Self::Legal(code_of(mv)),
            RecordMove::Null => Self::Null,
            RecordMove::Illegal(mv) => Self::Illegal(code_of(mv)),
        }
    }
}

impl StoredMove {
    pub(super) fn put(self, out: &mut Vec<u8>) {
        let (kind, code) = match self {
            Self::Legal(code) => (0, Some(code)),
            Self::Null => (1, None),
            Self::Illegal(code) => (2, Some(code)),
        };
        out.push(kind);
        out.extend(code.into_iter().flat_map(u16::to_le_bytes));
    }

    pub(super) fn get(bytes: &mut &[u8]) -> Result<Self, Corrupt> {
        Ok(match get_u8(bytes)? {
            0 => Self::Legal(get_u16(bytes)?),
            1 => Self::Null,
            2 => Self::Illegal(get_u16(bytes)?),
            _ => return Err(Corrupt),
        })
    }
}

/// A change of an open game. Nodes have numbers that the caller chooses and never uses twice; the root is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A move is added as the last child of a node.
    Add {
        /// The node before the move.
        parent: u32,
        /// The new node.
        node: u32,
        /// The move.
        mv: StoredMove,
    },
    /// A node is deleted with its descendants.
    Delete {
        /// The node.
        node: u32,
    },
    /// The order of the children of a node is changed.
    Children {
        /// The node.
        node: u32,
        /// All its children.
        children: Vec<u32>,
    },
    /// The annotations of a node are replaced.
    Annotations {
        /// The node.
        node: u32,
        /// The new annotations.
        annotations: Box<Annotations>,
    },
    /// The result is changed.
    Result(GameResult),
    /// A header is set or removed.
    Header {
        /// The name.
        name: String,
        /// The new value.
        value: Option<String>,
    },
    /// All headers are replaced.
    Headers(Headers),
    /// The current node is changed.
    Cursor(u32),
    /// Nodes below this number are never added.
    Next(u32),
    /// Data of the app is replaced, such as the state of the clocks.
    Data {
        /// The name.
        name: String,
        /// The new value; empty to remove it.
        value: String,
    },
}

/// The annotations of one node.
struct One(Game, Annotations);

impl Nodes for One {
    fn game(&self) -> Game {
        self.0
    }

    fn ply(&self, at: usize) -> Option<usize> {
        (at == 0).then_some(0)
    }

    fn annotations(&mut self, at: usize) -> Option<&mut Annotations> {
        (at == 0).then_some(&mut self.1)
    }
}

pub(super) fn put_headers(out: &mut Vec<u8>, headers: &Headers) {
    put(out, headers.len() as u64);
    for (name, value) in headers.iter() {
        put_text(out, name);
        put_text(out, value);
    }
}

pub(super) fn get_headers(bytes: &mut &[u8]) -> Result<Headers, Corrupt> {
    let mut headers = Headers::default();
    for _ in 0..get(bytes)? {
        let name = get_text(bytes)?;
        headers.push(name, get_text(bytes)?);
    }
    Ok(headers)
}

impl Entry {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let out_ref = &mut out;
        let head = |out: &mut Vec<u8>, operation: u8, node: u32| {
            out.push(operation);
            put(out, node.into());
        };
        match self {
            Self::Add { parent, node, mv } => {
                head(out_ref, 1, *parent);
                put(out_ref, (*node).into());
                mv.put(out_ref);
            }
            Self::Delete { node } => head(out_ref, 2, *node),
            Self::Children { node, children } => {
                head(out_ref, 3, *node);
                put(out_ref, children.len() as u64);
                for child in children {
                    put(out_ref, (*child).into());
                }
            }
            Self::Annotations { node, annotations } => {
                head(out_ref, 4, *node);
                out.extend(encode_nodes(std::iter::once((0, &**annotations))));
            }
            Self::Result(result) => out.extend([5, result_code(*result)]),
            Self::Header { name, value } => {
                out.push(6);
                put_text(&mut out, name);
                out.push(u8::from(value.is_some()));
                if let Some(value) = value {
                    put_text(&mut out, value);
                }
            }
            Self::Headers(headers) => {
                out.push(7);
                put_headers(&mut out, headers);
            }
            Self::Cursor(node) => head(out_ref, 8, *node),
            Self::Next(node) => head(out_ref, 9, *node),
            Self::Data { name, value } => {
                out.push(10);
                put_text(&mut out, name);
                put_text(&mut out, value);
            }
        }
        out
    }

    /// `game` determines the squares of marks.
    pub(super) fn decode(game: Game, mut bytes: &[u8]) -> Result<Self, Error> {
        let bytes = &mut bytes;
        let entry = match get_u8(bytes)? {
            1 => Self::Add {
                parent: get_u32(bytes)?,
                node: get_u32(bytes)?,
                mv: StoredMove::get(bytes)?,
            },
            2 => Self::Delete { node: get_u32(bytes)? },
            3 => {
                let node = get_u32(bytes)?;
                let count = get(bytes)?;
                let children = (0..count).map(|_| get_u32(bytes)).collect::<Result<_, _>>()?;
                Self::Children { node, children }
            }
            4 => {
                let node = get_u32(bytes)?;
                let mut one = One(game, Annotations::default());
                decode_nodes(&mut one, std::mem::take(bytes))?;
                Self::Annotations { node, annotations: Box::new(one.1) }
            }
            5 => Self::Result(result_of(get_u8(bytes)?)),
            6 => {
                let name = get_text(bytes)?;
                let value = if get_u8(bytes)? == 0 { None } else { Some(get_text(bytes)?) };
                Self::Header { name, value }
            }
            7 => Self::Headers(get_headers(bytes)?),
            8 => Self::Cursor(get_u32(bytes)?),
            9 => Self::Next(get_u32(bytes)?),
            10 => Self::Data { name: get_text(bytes)?, value: get_text(bytes)? },
            _ => return Err(Error::Corrupt),
        };
        if bytes.is_empty() { Ok(entry) } else { Err(Error::Corrupt) }
    }
}
