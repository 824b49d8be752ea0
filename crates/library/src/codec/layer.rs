//! What a document has in addition to its record: the ids of its nodes, and the notes of engines.
//!
//! | part | content |
//! |---|---|
//! | next | the next id |
//! | count | the number of nodes without the root; 0 if their ids are those that the decoder gives |
//! | ids | the difference of each id from that of the node before it in the stream of moves, less 1 |
//! | notes | the notes of engines as JSON; empty without notes |

use readyok_rules::record::{EngineNotes, GameDocument, NodeId};

use crate::error::{Error, LibraryDefect};
use crate::varint::{Corrupt, get, get_u32, put, unzigzag, zigzag};

#[derive(Debug, Default)]
pub(crate) struct Layer {
    /// In the order of the stream of moves, without the root. Empty for consecutive ids.
    pub(crate) ids: Vec<NodeId>,
    pub(crate) next: NodeId,
    pub(crate) engine: EngineNotes,
}

/// The layer of a document whose nodes are in the order of the stream of moves. Empty if the record has everything.
pub(crate) fn encode(document: &GameDocument, order: &[NodeId]) -> Vec<u8> {
    let GameDocument { record, engine } = document;
    let ids = || order.iter().map(|id| u32::from(*id));
    let is_consecutive = ids().eq(0..u32::try_from(order.len()).unwrap_or(u32::MAX));
    let next = u32::from(record.next_id());
    let mut out = Vec::new();
    if is_consecutive && next as usize == order.len() && engine.is_empty() {
        return out;
    }
    put(&mut out, next.into());
    put(&mut out, if is_consecutive { 0 } else { order.len() as u64 - 1 });
    if !is_consecutive {
        for (before, id) in ids().zip(ids().skip(1)) {
            put(&mut out, zigzag(i64::from(id) - i64::from(before) - 1));
        }
    }
    if !engine.is_empty() {
        // JSON can represent all notes.
        out.extend(serde_json::to_vec(engine).unwrap_or_default());
    }
    out
}

impl Layer {
    pub(crate) fn decode(mut bytes: &[u8]) -> Result<Self, Error> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let next = get_u32(&mut bytes)?;
        let count = usize::try_from(get(&mut bytes)?).map_err(|_| Corrupt)?;
        // Each has a byte or more.
        if bytes.len() < count {
            return Err(Error::Defect(LibraryDefect::LibraryDamaged));
        }
        let mut ids = Vec::with_capacity(count);
        let mut id = 0_u32;
        for _ in 0..count {
            let difference = unzigzag(get(&mut bytes)?).checked_add(1).ok_or(Corrupt)?;
            let found = i64::from(id).checked_add(difference).ok_or(Corrupt)?;
            id = u32::try_from(found).ok().filter(|found| *found < next).ok_or(Corrupt)?;
            ids.push(id.into());
        }
        let engine = match bytes {
            [] => EngineNotes::default(),
            notes => serde_json::from_slice(notes).map_err(|_| Corrupt)?,
        };
        Ok(Self { ids, next: next.into(), engine })
    }
}
