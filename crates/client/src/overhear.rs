//! Somebody who hears every line of a conversation.

use std::fmt;
use std::sync::Arc;

use readyok_protocol::Side;

type Hear = dyn Fn(Side, &str) + Send + Sync;

/// A function that is told each line, and who said it.
#[derive(Clone)]
pub(crate) struct Overhearing(Arc<Hear>);

impl Overhearing {
    pub(crate) fn new(hear: impl Fn(Side, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }

    pub(crate) fn hear(&self, side: Side, line: &str) {
        (self.0)(side, line);
    }
}

impl fmt::Debug for Overhearing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overhearing").finish_non_exhaustive()
    }
}
