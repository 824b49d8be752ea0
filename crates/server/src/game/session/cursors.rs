//! The positions of the tabs in a game.

use std::collections::{BTreeMap, BTreeSet};

use crate::game::tree::ROOT;
use crate::hub::TabId;
use crate::wire::NodeId;

/// A cursor for each tab, and the latest one, at which engines analyze and new tabs begin.
#[derive(Default)]
pub(super) struct Cursors {
    latest: NodeId,
    tabs: BTreeMap<TabId, NodeId>,
    /// The tab whose command is carried out.
    acting: Option<TabId>,
    /// Tabs whose cursor was moved since the last call of [`Self::take_moved`].
    moved: BTreeSet<TabId>,
}

impl Cursors {
    pub(super) fn at(latest: NodeId) -> Self {
        Self { latest, ..Self::default() }
    }

    pub(super) fn latest(&self) -> NodeId {
        self.latest
    }

    pub(super) fn of(&self, tab: TabId) -> NodeId {
        self.tabs.get(&tab).copied().unwrap_or(self.latest)
    }

    /// Adds a tab, which begins at the latest cursor.
    pub(super) fn join(&mut self, tab: TabId) {
        self.tabs.entry(tab).or_insert(self.latest);
    }

    pub(super) fn leave(&mut self, tab: TabId) {
        self.tabs.remove(&tab);
        self.moved.remove(&tab);
    }

    /// Sets the tab whose cursor [`Self::set`] moves.
    pub(super) fn act_for(&mut self, tab: Option<TabId>) {
        self.acting = tab;
    }

    /// Moves the cursor of the acting tab.
    pub(super) fn set(&mut self, node: NodeId) {
        self.latest = node;
        if let Some(tab) = self.acting {
            self.move_tab(tab, node);
        }
    }

    /// Moves all cursors from one node to another. Returns whether the latest one was moved.
    pub(super) fn follow(&mut self, from: NodeId, to: NodeId) -> bool {
        self.replace(|node| if node == from { to } else { node })
    }

    /// Moves all cursors to the nodes that replace theirs. Returns whether the latest one was moved.
    pub(super) fn replace(&mut self, replacement: impl Fn(NodeId) -> NodeId) -> bool {
        let tabs: Vec<_> = self.tabs.iter().map(|(tab, node)| (*tab, replacement(*node))).collect();
        for (tab, node) in tabs {
            self.move_tab(tab, node);
        }
        let latest = replacement(self.latest);
        let before = std::mem::replace(&mut self.latest, latest);
        self.latest != before
    }

    fn move_tab(&mut self, tab: TabId, node: NodeId) {
        if self.tabs.insert(tab, node) != Some(node) {
            self.moved.insert(tab);
        }
    }

    pub(super) fn is_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// The tabs whose cursor was moved, with their nodes.
    pub(super) fn take_moved(&mut self) -> Vec<(TabId, NodeId)> {
        let moved = std::mem::take(&mut self.moved);
        moved.into_iter().map(|tab| (tab, self.tabs.get(&tab).copied().unwrap_or(ROOT))).collect()
    }
}
