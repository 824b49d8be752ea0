//! Properties of all lines, checked by the property tests, the corpus and the fuzz targets.

#[path = "client_laws.rs"]
pub mod client;
#[path = "engine_laws.rs"]
mod engine;

pub use client::client_session;
pub use engine::engine_session;

use readyok_protocol::{
    Best, Command, Diagnostic, DiagnosticKind, Dialect, Go, LineBuffer, LineTooLong, OptionSet,
    Parsed, Reply, WriteError, translation::Translation,
};

/// Arbitrary bytes as a client's line to an engine.
pub fn command_bytes(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    for dialect in Dialect::ALL {
        command(&line, dialect);
    }
}

/// Arbitrary bytes as an engine's line to its client.
pub fn reply_bytes(bytes: &[u8]) {
    let line = String::from_utf8_lossy(bytes);
    for dialect in Dialect::ALL {
        reply(&line, dialect);
    }
}

/// A command that was read can be written, and is then read as the same command, except clocks that the
/// dialect does not have.
pub fn command(line: &str, dialect: Dialect) -> Option<String> {
    let read = Command::read(line, dialect);
    if let Some(rest) = line.strip_prefix("go ") {
        // A tab is equivalent to a space, but not handled by the fast path.
        assert_eq!(read, Command::read(&format!("go\t{rest}"), dialect), "{line:?}");
    }
    let written = written(|out| read.value.write(dialect, out));
    let Some(expected) = command_as_written(read.value.clone(), dialect) else {
        assert!(matches!(written, Err(WriteError::NotInDialect { .. })), "{line:?}: {written:?}");
        return None;
    };
    check(line, &read, written, |canonical| {
        let again = Command::read(canonical, dialect);
        assert_eq!(again.value, expected, "{line:?} was written as {canonical:?}");
        again.diagnostics
    })
}

/// A reply that was read can be written, and is then read as the same reply.
pub fn reply(line: &str, dialect: Dialect) -> Option<String> {
    let read = Reply::read(line, dialect);
    let written = written(|out| read.value.write(dialect, out));
    let expected = as_written(read.value.clone(), dialect);
    check(line, &read, written, |canonical| {
        let again = Reply::read(canonical, dialect);
        assert_eq!(again.value, expected, "{line:?} was written as {canonical:?}");
        again.diagnostics
    })
}

/// UCI has no byoyomi, and USI no increments together with one: zeros are omitted. `None` if other values
/// would have to be omitted.
pub fn command_as_written(mut command: Command<'_>, dialect: Dialect) -> Option<Command<'_>> {
    let (Command::Go(Go { clocks, .. }) | Command::PonderHit(clocks)) = &mut command else {
        return Some(command);
    };
    let increments = [clocks.white_increment, clocks.black_increment];
    let has_increments = increments.into_iter().flatten().any(|increment| increment != 0);
    let has_byoyomi = clocks.byoyomi.is_some_and(|byoyomi| byoyomi != 0);
    if has_byoyomi && (dialect == Dialect::Uci || has_increments) {
        return None;
    }
    if dialect == Dialect::Uci || has_increments {
        clocks.byoyomi = None;
    } else if clocks.byoyomi.is_some() {
        (clocks.white_increment, clocks.black_increment) = (None, None);
    }
    Some(command)
}

/// In shogi, a side without a legal move has lost: USI has only the token `resign` for it.
pub fn as_written(mut reply: Reply<'_>, dialect: Dialect) -> Reply<'_> {
    if let (Reply::BestMove(it), Dialect::Usi) = (&mut reply, dialect)
        && it.best == Best::None
    {
        it.best = Best::Resign;
    }
    reply
}

/// A stream has the same lines for any chunks, none of them too long.
pub fn lines(bytes: &[u8]) {
    const LIMIT: usize = 16;
    let whole = lines_of([bytes], LIMIT);
    assert_eq!(whole, lines_of(bytes.chunks(1), LIMIT), "cut into bytes");
    assert_eq!(whole, lines_of(bytes.chunks(7), LIMIT), "cut into sevens");
    for line in whole.iter().flatten() {
        assert!(line.len() <= LIMIT);
        assert!(!line.iter().any(|byte| matches!(byte, b'\n' | b'\r')));
    }
}

pub fn lines_of<'a>(
    chunks: impl IntoIterator<Item = &'a [u8]>,
    limit: usize,
) -> Vec<Result<Vec<u8>, LineTooLong>> {
    let (mut buffer, mut lines) = (LineBuffer::new(limit), Vec::new());
    for chunk in chunks {
        buffer.push(chunk);
        while let Some(line) = buffer.next_line() {
            lines.push(line.map(<[u8]>::to_vec));
        }
    }
    lines.extend(buffer.last_line().map(|line| Ok(line.to_vec())));
    lines
}

fn written(
    write: impl FnOnce(&mut String) -> Result<(), WriteError>,
) -> Result<String, WriteError> {
    let mut out = String::new();
    write(&mut out).map(|()| out)
}

/// Checks the diagnostics and the canonical line, and returns it. `read_again` returns its diagnostics.
fn check<T: std::fmt::Debug>(
    line: &str,
    read: &Parsed<T>,
    written: Result<String, WriteError>,
    read_again: impl FnOnce(&str) -> Vec<Diagnostic>,
) -> Option<String> {
    for diagnostic in &read.diagnostics {
        assert!(
            line.get(diagnostic.span.clone()).is_some(),
            "{line:?} has no bytes {:?}",
            diagnostic.span
        );
    }
    let canonical = match written {
        Ok(canonical) => canonical,
        // Such a text is not a line, which is an error of the caller.
        Err(WriteError::LineBreak { .. }) if line.contains(['\n', '\r', '\0']) => return None,
        Err(error) => panic!("{:?}, read from {line:?}: {error}", read.value),
    };
    assert!(!canonical.contains(['\n', '\r', '\0']), "{canonical:?} is not one line");
    let kinds = |diagnostics: &[Diagnostic]| {
        diagnostics.iter().map(|diagnostic| diagnostic.kind).collect::<Vec<DiagnosticKind>>()
    };
    let (before, after) = (kinds(&read.diagnostics), kinds(&read_again(&canonical)));
    // If the diagnostics were limited, some kinds may be missing.
    let is_full = before.len() == Diagnostic::MAX_PER_LINE;
    let is_old = is_full || after.iter().all(|kind| before.contains(kind));
    assert!(is_old, "{line:?} was written as {canonical:?}, which has diagnostics {after:?}");
    Some(canonical)
}

/// Arbitrary bytes as a translation file: accepted files are within the limits, and their texts can be shown.
pub fn translation(bytes: &[u8]) {
    let Ok(translation) = Translation::read(bytes) else { return };
    assert!(translation.languages.len() <= Translation::MAX_LANGUAGES);
    for (language, texts) in &translation.languages {
        assert!(texts.options.len() <= Translation::MAX_OPTIONS);
        let lookup = translation.lookup(Dialect::Usi, std::slice::from_ref(language));
        for (name, option) in texts.options.iter().take(8) {
            assert!(option.label.chars().count() <= Translation::MAX_LABEL);
            assert!(option.help.chars().count() <= Translation::MAX_HELP);
            assert!(option.values.len() <= Translation::MAX_VALUES);
            assert!(!lookup.label(name).contains(char::is_control));
        }
    }
    translation.lint(&OptionSet::new(Dialect::Usi));
}
