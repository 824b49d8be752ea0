//! Removing annotations and variations from records.

use super::{Feature, GameRecord, Node, NodeId};

impl GameRecord {
    /// Removes annotations of these kinds.
    pub fn strip(&mut self, features: &[Feature]) {
        let has = |feature| features.contains(&feature);
        if has(Feature::Variations) && Feature::Variations.is_in(self) {
            *self = self.main_line_record(usize::MAX);
        }
        let mut pending = vec![NodeId::ROOT];
        while let Some(id) = pending.pop() {
            pending.extend(self.children(id).map(Node::id));
            if self.annotations(id).is_empty() {
                continue;
            }
            let Some(notes) = self.annotations_mut(id) else { continue };
            if has(Feature::Comments) {
                notes.before.clear();
                notes.comments.clear();
                if let Some(end) = &mut notes.end {
                    end.comments.clear();
                }
            }
            if has(Feature::Nags) {
                notes.nags.clear();
            }
            if has(Feature::Clocks) {
                (notes.clock, notes.elapsed) = (None, None);
                if let Some(end) = &mut notes.end {
                    end.elapsed = None;
                }
            }
            if has(Feature::Evaluations) {
                notes.evaluation = None;
            }
            if has(Feature::Marks) {
                notes.marks.clear();
            }
        }
    }

    /// The record with the first plies of the main line only, without variations. The end of the game remains
    /// if all plies do; the result remains in any case.
    #[must_use]
    pub fn main_line_record(&self, plies: usize) -> Self {
        let mut record = Self::new(self.start().clone());
        record.headers = self.headers.clone();
        record.result = self.result;
        let mut last = NodeId::ROOT;
        let root = self.root().into_iter();
        for node in root.chain(self.mainline().take(plies)) {
            if let Some(mv) = node.mv() {
                let Some(id) = record.attach(last, mv) else { break };
                last = id;
            }
            let notes = self.annotations(node.id());
            if !notes.is_empty()
                && let Some(annotations) = record.annotations_mut(last)
            {
                *annotations = notes.clone();
            }
        }
        record
    }
}
