//! The same lines, read and written by Readyok and its rivals.
//!
//! Every contender is checked before it is measured, because a parser that skips a move or a writer that omits a token
//! would look fast.

mod cases;

pub use cases::cases;

use std::hint::black_box;

/// A line that several contenders read or write.
pub struct Case {
    /// The operation and the line.
    pub name: String,
    /// The crates.
    pub contenders: Vec<Contender>,
}

/// A crate in a case.
pub struct Contender {
    /// The crate and its variant.
    pub name: &'static str,
    /// Runs the operation a number of times.
    pub run: Box<dyn FnMut(u64)>,
}

impl Contender {
    /// A contender whose result is dropped as part of the work.
    fn new<T>(name: &'static str, mut work: impl FnMut() -> T + 'static) -> Self {
        let run = move |times| (0..times).for_each(|_| drop(black_box(work())));
        Self { name, run: Box::new(run) }
    }

    /// Whether this is Readyok with the same operation as the rivals.
    pub fn is_ours(&self) -> bool {
        self.name == OURS
    }

    /// Whether this is another crate.
    pub fn is_rival(&self) -> bool {
        !self.name.starts_with(OURS)
    }
}

const OURS: &str = "readyok";
