//! The transcript of a session.

use std::fmt::Write;
use std::str::Utf8Chunk;

/// Number of `info` lines that are recorded at the start of a search.
const FIRST_INFOS: usize = 200;
/// Number of `info` lines that are recorded at the end of a search.
const LAST_INFOS: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Transcript {
    entries: Vec<Entry>,
}

#[derive(Debug)]
enum Entry {
    Sent(String),
    Received(Vec<u8>),
    Note(String),
}

impl Transcript {
    pub(super) fn sent(&mut self, line: &str) {
        self.entries.push(Entry::Sent(line.to_owned()));
    }

    pub(super) fn received(&mut self, line: Vec<u8>) {
        self.entries.push(Entry::Received(line));
    }

    pub(super) fn note(&mut self, text: &str) {
        self.entries.push(Entry::Note(text.to_owned()));
    }

    pub(super) fn to_text(&self, header: &[(&str, String)]) -> String {
        let mut text = String::new();
        for (key, value) in header {
            line(&mut text, "# ", &format!("{key}: {value}"));
        }
        for search in self.entries.split_inclusive(Entry::ends_search) {
            write_search(&mut text, search);
        }
        text
    }
}

impl Entry {
    fn is_info(&self) -> bool {
        matches!(self, Self::Received(line) if line.starts_with(b"info "))
    }

    fn ends_search(&self) -> bool {
        matches!(self, Self::Received(line) if line.starts_with(b"bestmove"))
    }
}

/// Writes the entries of a search, and omits `info` lines in the middle if there are too many.
fn write_search(text: &mut String, entries: &[Entry]) {
    let infos = entries.iter().filter(|entry| entry.is_info()).count();
    let omitted = FIRST_INFOS..infos.saturating_sub(LAST_INFOS);
    let mut info = 0;
    let mut skipped = 0;
    for entry in entries {
        if entry.is_info() {
            info += 1;
            if omitted.contains(&(info - 1)) {
                skipped += 1;
                continue;
            }
        }
        if skipped > 0 {
            line(text, "# ", &format!("{skipped} info lines omitted"));
            skipped = 0;
        }
        match entry {
            Entry::Sent(sent) => line(text, "> ", &escaped(sent.as_bytes())),
            Entry::Received(received) => line(text, "< ", &escaped(received)),
            Entry::Note(note) => line(text, "# ", note),
        }
    }
}

fn line(text: &mut String, mark: &str, content: &str) {
    text.push_str(mark);
    text.push_str(content);
    text.push('\n');
}

/// The bytes as text in which a backslash is `\\`, and a control character or a byte that is not UTF-8 is `\xNN`.
fn escaped(bytes: &[u8]) -> String {
    bytes.utf8_chunks().fold(String::new(), |mut text, chunk: Utf8Chunk<'_>| {
        for character in chunk.valid().chars() {
            match character {
                '\\' => text.push_str(r"\\"),
                '\0'..' ' | '\x7f' => escape(&mut text, character as u8),
                _ => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            escape(&mut text, *byte);
        }
        text
    })
}

fn escape(text: &mut String, byte: u8) {
    // Writing to a string never fails.
    let _ = write!(text, r"\x{byte:02x}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_a_header_and_the_lines_in_order() {
        let mut transcript = Transcript::default();
        transcript.sent("go");
        transcript.received(b"bestmove e2e4".to_vec());
        transcript.note("end: exit status: 0");
        assert_eq!(
            transcript.to_text(&[("dialect", "uci".to_owned())]),
            "# dialect: uci\n> go\n< bestmove e2e4\n# end: exit status: 0\n"
        );
    }

    #[test]
    fn escapes_control_characters_and_invalid_utf8() {
        assert_eq!(escaped("將棋 a\\b".as_bytes()), r"將棋 a\\b");
        assert_eq!(escaped(b"caf\xe9\t\x1b[1m\r"), r"caf\xe9\x09\x1b[1m\x0d");
    }

    #[test]
    fn omits_infos_in_the_middle_of_a_search() {
        let mut transcript = Transcript::default();
        for search in 0..2 {
            for number in 0..300 {
                if number == 250 {
                    transcript.received(b"readyok".to_vec());
                }
                transcript.received(format!("info nodes {search}{number:03}").into_bytes());
            }
            transcript.received(b"bestmove e2e4".to_vec());
        }
        let text = transcript.to_text(&[]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2 * (200 + 20 + 2 + 2));
        assert_eq!(
            lines[424..430],
            [
                "# 50 info lines omitted",
                "< readyok",
                "# 30 info lines omitted",
                "< info nodes 1280",
                "< info nodes 1281",
                "< info nodes 1282",
            ]
        );
        assert_eq!(lines[223], "< bestmove e2e4");
    }

    #[test]
    fn keeps_all_infos_within_the_limit() {
        let mut transcript = Transcript::default();
        for _ in 0..FIRST_INFOS + LAST_INFOS {
            transcript.received(b"info depth 1".to_vec());
        }
        assert_eq!(transcript.to_text(&[]).lines().count(), FIRST_INFOS + LAST_INFOS);
    }
}
