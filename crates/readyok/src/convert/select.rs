//! The selection of games, and of their content.

use readyok_rules::record::{Condition, Feature, GameRecord, Headers, Tag};
use readyok_rules::{Game, Side};

use super::sort::Order;

/// Which duplicates are selected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Duplicates {
    /// The game with most annotations of each set of duplicates.
    Remove,
    /// The others.
    Only,
}

/// Which games are selected, in the order of the steps.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) condition: Condition,
    pub(crate) duplicates: Option<Duplicates>,
    /// A random sample of this size.
    pub(crate) sample: Option<usize>,
    pub(crate) seed: u64,
    pub(crate) order: Option<Order>,
    pub(crate) skip: u64,
    pub(crate) first: Option<u64>,
}

/// Changes of the content of games.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    /// Annotations that are removed.
    pub(crate) strip: Vec<Feature>,
    /// Removes the headers other than the seven of the roster.
    pub(crate) roster: bool,
    /// The maximum number of plies.
    pub(crate) plies: Option<usize>,
    /// Sets the headers of the opening.
    pub(crate) classify: bool,
    /// Sets the header `PlyCount`.
    pub(crate) ply_count: bool,
}

impl Content {
    pub(super) fn apply(&self, record: &mut GameRecord) {
        if let Some(plies) = self.plies
            && plies < record.plies()
        {
            *record = record.main_line_record(plies);
        }
        if !self.strip.is_empty() {
            record.strip(&self.strip);
        }
        if self.roster {
            retain_roster(record);
        }
        if self.classify
            && let Some(opening) = record.opening()
        {
            record.headers.set("ECO", opening.eco);
            record.set_header(Tag::Opening, opening.name);
        }
        if self.ply_count && record.game() != Game::Shogi {
            record.headers.set("PlyCount", record.plies().to_string());
        }
    }
}

fn retain_roster(record: &mut GameRecord) {
    let mut values = Vec::new();
    for tag in [Tag::Event, Tag::Site, Tag::Date, Tag::Round] {
        values.extend(record.header(tag).map(|value| (tag, value.to_owned())));
    }
    let players = Side::BOTH.map(|side| record.player(side).map(str::to_owned));
    record.headers = Headers::default();
    for (tag, value) in values {
        record.set_header(tag, value);
    }
    for (side, name) in Side::BOTH.into_iter().zip(players) {
        if let Some(name) = name {
            record.set_player(side, name);
        }
    }
}
