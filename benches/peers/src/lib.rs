//! The same lines, read and written by Readyok and by its rivals.
//!
//! Every contender is checked before it is measured: a reader that misses a move, or a writer that
//! leaves out a word, would look fast.

mod cases;

pub use cases::cases;

use std::hint::black_box;

/// One line, read or written by all who can.
pub struct Case {
    /// What is done, and to which line.
    pub name: String,
    /// Those who do it.
    pub contenders: Vec<Contender>,
}

/// What one crate does in a case.
pub struct Contender {
    /// The crate, and what is special about its way.
    pub name: &'static str,
    /// Does it so many times.
    pub run: Box<dyn FnMut(u64)>,
}

impl Contender {
    /// A contender whose result is dropped as part of the work.
    fn new<T>(name: &'static str, mut work: impl FnMut() -> T + 'static) -> Self {
        let run = move |times| (0..times).for_each(|_| drop(black_box(work())));
        Self { name, run: Box::new(run) }
    }

    /// Whether this is Readyok doing just what the rivals do.
    pub fn is_ours(&self) -> bool {
        self.name == OURS
    }

    /// Whether this is another crate.
    pub fn is_rival(&self) -> bool {
        !self.name.starts_with(OURS)
    }
}

const OURS: &str = "readyok";
