//! What an engine does to a client, when it does so, and what the client has to make of it.

use std::time::Duration;

/// One thing that is done to a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    pub(crate) when: Moment,
    pub(crate) act: Act,
    pub(crate) expect: Expect,
    /// The protocols allow an engine to do so: the client is held to its rules all the while.
    pub(crate) fair: bool,
}

/// The first time that something is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Moment {
    /// Before the first word.
    Start,
    /// `uci` or `usi` was said: name, author and options are due.
    Greeting,
    /// The options are said: `uciok` or `usiok` is due.
    Declared,
    /// `uciok` or `usiok` is said.
    Greeted,
    /// `isready` was said, and `readyok` is due.
    Ready,
    /// `go` was said: what the search tells is due.
    Go,
    /// What a search of its own end has told is said, and its answer is due.
    Answer,
    /// An endless search, or pondering, has begun.
    Endless,
    /// The answer was said.
    Answered,
    /// `quit` was said, and the end is due.
    Quit,
}

/// What the engine does. In texts `{best}` is a legal move, `{reply}` one after it, `{other}` another
/// legal move and `{illegal}` a move that cannot be played.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Says these lines first.
    Before(&'static [&'static str]),
    /// Says these lines in the place of what is due.
    Instead(&'static [&'static str]),
    /// Says this line so often first, with the count for `{n}`.
    Often(&'static str, u32),
    /// Says one line of so many bytes first.
    Long(usize),
    /// Says these bytes first, whatever they are.
    Bytes(&'static [u8]),
    /// Lets it wait for so long.
    Late(Duration),
    /// Says what is due twice.
    Twice,
    /// Says nothing from now on, and leaves when its input ends.
    Silence,
    /// Says nothing from now on, and does not leave.
    Deaf,
    /// Ends with the code 1.
    Exit,
    /// Is ended by a signal.
    Abort,
    /// Says half of a line, and ends with the code 1.
    HalfLine(&'static str),
    /// Closes its output, and does not leave before its input ends.
    CloseOutput,
    /// Says so many bytes to its error output first.
    Complain(usize),
    /// Writes all its lines in this form.
    Form(Form),
}

/// How lines are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    /// As usual.
    Plain,
    /// With carriage return and line feed.
    Crlf,
    /// With tabs and more spaces than needed.
    Spaced,
    /// With a line before each that nobody knows.
    Noisy,
    /// With an empty line before each.
    Loose,
    /// In many small pieces.
    Pieces,
}

/// What the client has to make of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Expect {
    /// It goes on as if nothing had been.
    Works,
    /// It takes it for a broken engine, or goes on: it does not crash, nor wait for ever, nor leave the
    /// engine behind.
    Copes,
}
