//! Which searches have no position: the client's last one before them was broken. The one before that is
//! not what the client wants to be searched, and a move for it would be wrong, if not illegal.

use std::collections::VecDeque;

use readyok_protocol::{Command, Dialect, NoteKind};

/// What is wrong with the last position, if anything is.
type Fault = Option<String>;

/// What was heard of positions.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    last: Fault,
    /// What was last before each `go` whose search has not begun, in their order.
    waiting: VecDeque<Fault>,
}

impl Positions {
    /// Hears a line of the client. Returns what is wrong with it if it is a broken position.
    pub(crate) fn hear(&mut self, line: &str, dialect: Dialect) -> Option<&str> {
        let reading = Command::read(line, dialect);
        match reading.value {
            Command::Position(_) => self.last = None,
            Command::Go(go) if go.perft.is_none() => self.waiting.push_back(self.last.clone()),
            Command::Unknown(text) => {
                let broken = reading.notes.iter().find(|note| note.kind == NoteKind::BadPosition);
                let first = text.split_ascii_whitespace().next().unwrap_or_default();
                let fault = match broken {
                    Some(note) => note.to_string(),
                    None if first.eq_ignore_ascii_case("position") => {
                        "`position` without a position".to_owned()
                    }
                    None => return None,
                };
                self.last = Some(fault);
                return self.last.as_deref();
            }
            _ => (),
        }
        None
    }

    /// A line was lost that may have been a position.
    pub(crate) fn lose(&mut self, why: String) {
        self.last = Some(why);
    }

    /// The last `go` is refused.
    pub(crate) fn refuse(&mut self) {
        self.waiting.pop_back();
    }

    /// The next search begins. Returns what is wrong with its position.
    pub(crate) fn begin(&mut self) -> Fault {
        self.waiting.pop_front().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_search_has_the_position_before_it() {
        let mut positions = Positions::default();
        let mut hear = |line| positions.hear(line, Dialect::Uci).map(str::to_owned);
        for line in ["go depth 1", "position fen foo", "go perft 1", "go depth 2", "isready"] {
            assert_eq!(hear(line).is_some(), line.starts_with("position"), "{line}");
        }
        assert_eq!(hear("position").as_deref(), Some("`position` without a position"));
        for line in ["go depth 3", "position startpos moves e2e5", "go depth 4", "xyzzy", "go"] {
            assert_eq!(hear(line), None, "{line}");
        }
        positions.refuse();
        let broken: Vec<bool> = (0..5).map(|_| positions.begin().is_some()).collect();
        assert_eq!(broken, [false, true, true, false, false]);
    }
}
