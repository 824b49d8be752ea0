//! Answers to recent searches for patterns.

use std::sync::{Arc, Mutex, PoisonError};

use readyok_rules::record::BoardPattern;

use crate::bitset::BitSet;

/// Maximum number of patterns whose games are cached.
const MAX_CACHED: usize = 8;

/// Games whose answers to a pattern are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownGames {
    pub(crate) searched: BitSet,
    pub(crate) matching: BitSet,
}

/// The games of recent patterns. Their moves never change: edited games are not in it.
#[derive(Debug, Default)]
pub(crate) struct PatternCache(Mutex<Vec<(BoardPattern, Arc<KnownGames>)>>);

impl PatternCache {
    pub(crate) fn get(&self, pattern: &BoardPattern) -> Arc<KnownGames> {
        let cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = cached.iter().find(|(known, _)| known == pattern);
        found.map(|(_, games)| Arc::clone(games)).unwrap_or_default()
    }

    pub(crate) fn set(&self, pattern: &BoardPattern, games: KnownGames) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cached.retain(|(known, _)| known != pattern);
        if cached.len() >= MAX_CACHED {
            cached.remove(0);
        }
        cached.push((pattern.clone(), Arc::new(games)));
    }
}
