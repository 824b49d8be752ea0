//! Bytes are split into lines, for any chunks.

use proptest::prelude::*;
use readyok_protocol::{
    Command, Diagnostic, DiagnosticKind, Dialect, LineBuffer, LineTooLong, Reply, decode,
};

use crate::laws;

/// Checks the lines of a stream with these chunks.
fn check(chunks: &[&str], expected: &[&str]) {
    let lines = laws::lines_of(chunks.iter().map(|chunk| chunk.as_bytes()), 16);
    let expected: Vec<_> = expected.iter().map(|line| Ok(line.as_bytes().to_vec())).collect();
    assert_eq!(lines, expected, "{chunks:?}");
}

#[test]
fn every_line_end_ends_one_line() {
    check(&["uci\nisready\r\nstop\rquit\n"], &["uci", "isready", "stop", "quit"]);
    check(&["uci\r\n\r\nquit\n\n"], &["uci", "", "quit", ""]);
    check(&["uci\n\rquit\n"], &["uci", "", "quit"]);
}

#[test]
fn a_line_end_may_be_split_between_chunks() {
    check(&["uci\r", "\nquit\r", "\n"], &["uci", "quit"]);
    check(&["uci\r", "quit\r"], &["uci", "quit"]);
    check(&["u", "", "c", "i", "\n"], &["uci"]);
}

#[test]
fn the_last_line_needs_no_end() {
    check(&["uci\nquit"], &["uci", "quit"]);
    check(&["uci\r"], &["uci"]);
    check(&[""], &[]);
}

#[test]
fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
    let stream = b"0123456789abcdef\n0123456789abcdefg\nquit\n";
    let too_long = Err(LineTooLong { limit: 16 });
    let expected = vec![Ok(b"0123456789abcdef".to_vec()), too_long, Ok(b"quit".to_vec())];
    assert_eq!(laws::lines_of([&stream[..]], 16), expected);
    assert_eq!(laws::lines_of(stream.chunks(1), 16), expected);
}

#[test]
fn ten_megabytes_without_a_line_end_are_reported_once() {
    let mut buffer = LineBuffer::default();
    let chunk = vec![b'x'; 1 << 16];
    let mut reports = Vec::new();
    for number in 0..160 {
        buffer.push(&chunk);
        while let Some(line) = buffer.next_line() {
            assert_eq!(line, Err(LineTooLong { limit: LineBuffer::DEFAULT_LIMIT }));
            reports.push(number);
        }
    }
    assert_eq!(reports, [LineBuffer::DEFAULT_LIMIT / chunk.len()]);
    assert_eq!(buffer.last_line(), None, "the rest of a long line is no line");

    buffer.push(b"x\nquit\n");
    assert_eq!(buffer.next_line(), Some(Ok(&b"quit"[..])));
}

#[test]
fn invalid_utf_8_is_replaced_and_reported() {
    let (text, diagnostics) = decode(b"id author Romstad");
    assert_eq!((text.as_ref(), diagnostics), ("id author Romstad", vec![]));

    // Latin-1, and Shift-JIS split in the middle of a character. Spans refer to the text.
    for (bytes, spans, expected) in [
        (
            &b"id author J\xf6rg M\xfcller"[..],
            &[(11, 14), (18, 21)][..],
            "id author J\u{fffd}rg M\u{fffd}ller",
        ),
        (b"id name \x8f\xab\x8a\xfb", &[(8, 20)], "id name \u{fffd}\u{fffd}\u{fffd}\u{fffd}"),
        (b"id name \xe5\xb0", &[(8, 11)], "id name \u{fffd}"),
        ("\u{fffd} was sent".as_bytes(), &[], "\u{fffd} was sent"),
    ] {
        let (text, diagnostics) = decode(bytes);
        assert_eq!(text, expected);
        let noted: Vec<_> = diagnostics
            .iter()
            .map(|diagnostic| (diagnostic.span.start, diagnostic.span.end))
            .collect();
        assert_eq!(noted, spans);
        assert!(
            diagnostics.iter().all(|diagnostic| diagnostic.kind == DiagnosticKind::InvalidUtf8)
        );
        for diagnostic in diagnostics {
            assert!(text[diagnostic.span].chars().all(|c| c == char::REPLACEMENT_CHARACTER));
        }
    }
    assert_eq!(decode(&b"\xff ".repeat(100_000)).1.len(), Diagnostic::MAX_PER_LINE);
}

#[test]
fn a_byte_order_mark_and_nul_bytes_are_white_space() {
    let reading = Command::read("\u{feff}uci\0", Dialect::Uci);
    assert_eq!(reading.value, Command::Uci);
    let spans: Vec<_> =
        reading.diagnostics.iter().map(|diagnostic| diagnostic.span.clone()).collect();
    assert_eq!(spans, [0..3, 6..7]);
    assert!(
        reading
            .diagnostics
            .iter()
            .all(|diagnostic| diagnostic.kind == DiagnosticKind::ControlCharacter)
    );
}

#[test]
fn every_run_of_control_characters_is_reported() {
    let reading = Reply::read("\x07id\x01name \x1b[1mX\x1b\x1b[0m\tY\r", Dialect::Uci);
    let spans: Vec<_> =
        reading.diagnostics.iter().map(|diagnostic| diagnostic.span.clone()).collect();
    assert_eq!(spans, [0..1, 3..4, 9..10, 14..16]);
    assert!(
        reading
            .diagnostics
            .iter()
            .all(|diagnostic| diagnostic.kind == DiagnosticKind::ControlCharacter)
    );
    let diagnostics = |line: &str| Reply::read(line, Dialect::Uci).diagnostics.len();
    assert_eq!(diagnostics(&"\x07 ".repeat(100_000)), Diagnostic::MAX_PER_LINE);
    // Beyond the maximum of diagnostics, they are still counted.
    let warning = format!("{}Warning: bestmove e2e4 is illegal", "\x07 ".repeat(300));
    assert!(matches!(Reply::read(&warning, Dialect::Uci).value, Reply::Unknown(_)));
}

#[test]
fn diagnostics_are_limited_to_256_per_line() {
    let diagnostics = |line: &str| Command::read(line, Dialect::Uci).diagnostics.len();
    assert_eq!(diagnostics(&"go ".repeat(100)), 99);
    assert_eq!(diagnostics(&format!("{}isready", "joho ".repeat(100))), 100);
    assert_eq!(diagnostics(&"go ".repeat(100_000)), 256);
    assert_eq!(diagnostics(&format!("{}isready", "joho ".repeat(100_000))), 256);
    assert_eq!(diagnostics(&"joho ".repeat(100_000)), 1, "the line as a whole");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_do_not_depend_on_the_chunks(
        stream in prop::collection::vec(prop::sample::select(&b"abc \r\n\n\xff"[..]), 0..200),
        cuts in prop::collection::vec(1usize..20, 1..10),
    ) {
        laws::lines(&stream);
        let mut rest = &stream[..];
        let mut cuts = cuts.iter().cycle();
        let chunks = std::iter::from_fn(|| {
            let length = (*cuts.next()?).min(rest.len());
            let (chunk, after) = rest.split_at(length);
            rest = after;
            (!chunk.is_empty()).then_some(chunk)
        });
        prop_assert_eq!(laws::lines_of(chunks, 16), laws::lines_of([&stream[..]], 16));
    }
}
