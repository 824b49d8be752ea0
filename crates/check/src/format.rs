//! Formatting of engine output for reports.

use readyok_protocol::{Best, Dialect, Info, Reply, Score};

use crate::message::{Value, message};

/// Maximum number of characters of a quoted text.
const MAX_SHOWN: usize = 60;

/// Formats a reply as a line.
pub(crate) fn line(reply: &Reply<'_>, dialect: Dialect) -> Value {
    let mut text = String::new();
    match reply.write(dialect, &mut text) {
        Ok(()) => text.into(),
        // Only malformed replies cannot be written.
        Err(_) => message!("line.unwritable").into(),
    }
}

/// The start of a line that is not a reply.
pub(crate) fn start(text: &str) -> String {
    shown(text, MAX_SHOWN)
}

/// The escaped text, truncated to `limit` characters.
pub(crate) fn shown(text: &str, limit: usize) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(limit).collect();
    let mut shown = start.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\"");
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// The arguments of `bestmove`.
pub(crate) fn answer(best: &Best<'_>) -> String {
    match best {
        Best::Move(mv) => mv.to_string(),
        Best::None => "(none)".into(),
        Best::Resign => "resign".into(),
        Best::Win => "win".into(),
        Best::Other(token) => token.escape_debug().to_string(),
    }
}

/// The arguments of `score`: `cp 25`, `mate -3`.
pub(crate) fn score(score: Score, dialect: Dialect) -> Value {
    let info = Info { score: Some(score), ..Info::default() };
    match line(&Reply::Info(info), dialect) {
        Value::Plain(text) => text.strip_prefix("info score ").unwrap_or(&text).into(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_truncated() {
        assert_eq!(start("two\twords"), "two\\twords");
        assert_eq!(start("'a' \"b\""), "'a' \"b\"");
        assert_eq!(start(&"x".repeat(61)), format!("{}…", "x".repeat(60)));
    }

    #[test]
    fn scores_have_the_unit_of_their_protocol() {
        let mated = Score::MatedIn { plies: 4 };
        assert_eq!(score(mated, Dialect::Uci), "mate -2".into());
        assert_eq!(score(mated, Dialect::Usi), "mate -4".into());
        assert_eq!(score(Score::Cp(-7), Dialect::Usi), "cp -7".into());
    }
}
