//! What engines write to their error output, in a file.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use readyok_arena::game::StderrObserver;

use crate::terminal::printable;

/// The file takes no more than so many bytes of a match: engines may write without end.
const MOST: u64 = 256 << 20;

/// Writes lines of all engines into a file, each with the engine's name, at its end if it is to be
/// kept.
///
/// # Errors
/// The file cannot be written.
pub fn complaints(path: &Path, keep: bool) -> io::Result<StderrObserver> {
    let mut file = OpenOptions::new();
    file.create(true).write(true).append(keep).truncate(!keep);
    let kept = Mutex::new(Kept { out: file.open(path)?, left: MOST });
    Ok(Arc::new(move |engine: &str, line: &str| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).take(engine, line);
    }))
}

struct Kept<W> {
    out: W,
    left: u64,
}

impl<W: Write> Kept<W> {
    fn take(&mut self, engine: &str, line: &str) {
        let text = format!("{engine}: {}\n", printable(line));
        if self.left == 0 {
            return;
        }
        let left = self.left.checked_sub(text.len() as u64);
        let text = if left.is_some() { text } else { "no more is written here\n".to_owned() };
        self.left = left.unwrap_or(0);
        // A match does not end because of such a file.
        let _ = self.out.write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::Kept;

    #[test]
    fn an_engine_cannot_fill_the_disk() {
        let mut kept = Kept { out: Vec::new(), left: 20 };
        for line in ["one", "two\u{7}", "three", "four"] {
            kept.take("a", line);
        }
        let text = String::from_utf8(kept.out).expect("UTF-8");
        assert!(text.starts_with("a: one\na: two") && !text.contains('\u{7}'), "{text}");
        assert!(text.ends_with("no more is written here\n") && !text.contains("four"), "{text}");
    }
}
