//! How many pairings are played at once, and whether the processors carry that.

use std::thread::available_parallelism;

/// Pairings that are played at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// How many.
    pub count: usize,
    /// How many processors each keeps busy.
    pub each: usize,
    /// How many processors there are.
    pub cpus: usize,
}

impl Slots {
    /// So many pairings, each of which keeps `each` processors busy; for 0 as many as `cpus` processors
    /// carry.
    pub fn new(wanted: usize, each: usize, cpus: usize) -> Self {
        let each = each.max(1);
        let count = if wanted == 0 { cpus / each } else { wanted };
        Self { count: count.max(1), each, cpus }
    }

    /// The same for slots that have processors of their own: no more than there are processors for.
    #[must_use]
    pub fn within(self) -> Self {
        let cpus = self.cpus.max(1);
        let each = self.each.min(cpus);
        Self { count: self.count.min(cpus / each), each, cpus }
    }

    /// What is wrong if more processors would be kept busy than there are.
    pub fn complaint(&self) -> Option<String> {
        let Self { count, each, cpus } = *self;
        let busy = count.saturating_mul(each);
        (cpus < busy).then(|| {
            format!(
                "{count} at once keep {busy} processors busy (threads and pondering counted), and \
                 there are {cpus}: engines lack time that their clocks count"
            )
        })
    }
}

/// How many processors this program may use.
pub(super) fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}
