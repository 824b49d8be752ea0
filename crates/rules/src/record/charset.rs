//! The part of `encoding_rs` that this crate uses, without its tables: UTF-8, UTF-16 and Windows-1252.
//!
//! `Shift_JIS` and EUC-JP are only recognized, by their ranges of bytes, so that such text is an error.

use std::borrow::Cow;

/// A character encoding.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Encoding {
    name: &'static str,
    labels: &'static [&'static str],
}

pub(super) static UTF_8: &Encoding = &Encoding { name: "UTF-8", labels: &["utf-8", "utf8"] };
pub(super) static UTF_16LE: &Encoding =
    &Encoding { name: "UTF-16LE", labels: &["utf-16le", "utf-16"] };
pub(super) static UTF_16BE: &Encoding = &Encoding { name: "UTF-16BE", labels: &["utf-16be"] };
pub(super) static SHIFT_JIS: &Encoding = &Encoding {
    name: "Shift_JIS",
    labels: &["shift_jis", "shift-jis", "sjis", "ms932", "windows-31j", "x-sjis"],
};
pub(super) static EUC_JP: &Encoding = &Encoding { name: "EUC-JP", labels: &["euc-jp", "x-euc-jp"] };
pub(super) static WINDOWS_1252: &Encoding = &Encoding {
    name: "windows-1252",
    labels: &[
        "windows-1252",
        "cp1252",
        "latin1",
        "l1",
        "iso-8859-1",
        "iso8859-1",
        "us-ascii",
        "ascii",
    ],
};

static ALL: [&Encoding; 6] = [UTF_8, UTF_16LE, UTF_16BE, SHIFT_JIS, EUC_JP, WINDOWS_1252];

/// The characters of 0x80 to 0x9F in Windows-1252. The rest is Latin-1.
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

/// A character of the Japanese encodings that needs a table.
const UNKNOWN: char = '〓';

impl Encoding {
    pub(super) fn for_label(label: &[u8]) -> Option<&'static Self> {
        let label = label.trim_ascii();
        let is_label = |known: &&str| known.as_bytes().eq_ignore_ascii_case(label);
        ALL.into_iter().find(|encoding| encoding.labels.iter().any(is_label))
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn is_ascii_compatible(&'static self) -> bool {
        self != UTF_16LE && self != UTF_16BE
    }

    /// The bytes of a text, and whether it has characters without any.
    pub(super) fn encode<'a>(&'static self, text: &'a str) -> (Cow<'a, [u8]>, &'static Self, bool) {
        if self == UTF_8 || text.is_ascii() {
            return (Cow::Borrowed(text.as_bytes()), self, false);
        }
        let byte_of = |letter| (0..=u8::MAX).find(|byte| windows(*byte) == letter);
        let bytes: Option<Vec<u8>> =
            if self == WINDOWS_1252 { text.chars().map(byte_of).collect() } else { None };
        let has_unknown = bytes.is_none();
        (Cow::Owned(bytes.unwrap_or_default()), self, has_unknown)
    }

    pub(super) fn decode_without_bom_handling(&'static self, bytes: &[u8]) -> (String, bool) {
        let mut decoder = self.new_decoder_without_bom_handling();
        let mut text = String::new();
        let (.., has_errors) = decoder.decode_to_string(bytes, &mut text, true);
        (text, has_errors)
    }

    pub(super) fn new_decoder_without_bom_handling(&'static self) -> Decoder {
        Decoder { encoding: self, rest: Vec::new() }
    }
}

fn windows(byte: u8) -> char {
    let index = usize::from(byte).checked_sub(0x80);
    index.and_then(|index| WINDOWS.get(index).copied()).unwrap_or_else(|| char::from(byte))
}

/// Decodes text in parts.
#[derive(Debug)]
pub(super) struct Decoder {
    encoding: &'static Encoding,
    /// The beginning of a character whose other bytes follow.
    rest: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum DecoderResult {
    InputEmpty,
    Malformed,
}

/// What begins a sequence of bytes.
enum Token {
    /// A character, and the number of its bytes.
    Letter(char, usize),
    /// The number of bytes that are no character.
    Malformed(usize),
    /// A part of a character.
    Incomplete,
}

impl Decoder {
    #[expect(clippy::unused_self, reason = "the interface of `encoding_rs`")]
    pub(super) fn max_utf8_buffer_length(&self, bytes: usize) -> Option<usize> {
        bytes.checked_mul(3)?.checked_add(3)
    }

    /// Appends the text of bytes. The last value is whether there were errors.
    pub(super) fn decode_to_string(
        &mut self,
        bytes: &[u8],
        text: &mut String,
        last: bool,
    ) -> (DecoderResult, usize, bool) {
        let has_errors = !self.decode(bytes, text, last, true);
        (DecoderResult::InputEmpty, bytes.len(), has_errors)
    }

    /// Appends the text of bytes until the first error.
    pub(super) fn decode_to_string_without_replacement(
        &mut self,
        bytes: &[u8],
        text: &mut String,
        last: bool,
    ) -> (DecoderResult, usize) {
        if self.decode(bytes, text, last, false) {
            (DecoderResult::InputEmpty, bytes.len())
        } else {
            (DecoderResult::Malformed, 0)
        }
    }

    /// Appends characters. False after errors, which are replaced or end the text.
    fn decode(&mut self, bytes: &[u8], text: &mut String, last: bool, replaces: bool) -> bool {
        let joined;
        let mut bytes = if self.rest.is_empty() {
            bytes
        } else {
            self.rest.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.rest);
            &joined
        };
        let mut is_valid = true;
        while !bytes.is_empty() {
            let length = match self.token(bytes) {
                Token::Letter(letter, length) => {
                    text.push(letter);
                    length
                }
                Token::Incomplete if !last => {
                    self.rest = bytes.to_vec();
                    return is_valid;
                }
                token => {
                    is_valid = false;
                    if !replaces {
                        return false;
                    }
                    text.push(char::REPLACEMENT_CHARACTER);
                    if let Token::Malformed(length) = token { length } else { bytes.len() }
                }
            };
            bytes = bytes.get(length..).unwrap_or_default();
        }
        is_valid
    }

    fn token(&self, bytes: &[u8]) -> Token {
        match (self.encoding, bytes) {
            (encoding, _) if encoding == UTF_8 => utf8(bytes),
            (encoding, _) if encoding == UTF_16LE => utf16(bytes, u16::from_le_bytes),
            (encoding, _) if encoding == UTF_16BE => utf16(bytes, u16::from_be_bytes),
            (_, [byte, ..]) if byte.is_ascii() => Token::Letter(char::from(*byte), 1),
            (encoding, _) if encoding == SHIFT_JIS => shift_jis(bytes),
            (encoding, _) if encoding == EUC_JP => euc_jp(bytes),
            (_, [byte, ..]) => Token::Letter(windows(*byte), 1),
            (_, []) => Token::Incomplete,
        }
    }
}

fn utf8(bytes: &[u8]) -> Token {
    let Some(chunk) = bytes.utf8_chunks().next() else { return Token::Incomplete };
    match chunk.valid().chars().next() {
        Some(letter) => Token::Letter(letter, letter.len_utf8()),
        None if std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none()) => {
            Token::Incomplete
        }
        None => Token::Malformed(chunk.invalid().len()),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Token {
    let mut units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    let Some(first) = units.next() else { return Token::Incomplete };
    let pair = [Some(first), units.next()].into_iter().flatten();
    match char::decode_utf16(pair).next() {
        Some(Ok(letter)) => Token::Letter(letter, letter.len_utf16() * 2),
        _ if matches!(first, 0xD800..=0xDBFF) && bytes.len() < 4 => Token::Incomplete,
        _ => Token::Malformed(2),
    }
}

/// A character of `Shift_JIS` as on Windows.
fn shift_jis(bytes: &[u8]) -> Token {
    let &[lead, ref rest @ ..] = bytes else { return Token::Incomplete };
    let start = match lead {
        0x81..=0x9F => 0x81,
        0xE0..=0xFC => 0xC1,
        0xA1..=0xDF => return Token::Letter(after('｡', lead, 0xA1), 1),
        0x80 => return Token::Letter('\u{80}', 1),
        _ => return Token::Malformed(1),
    };
    let Some(&trail) = rest.first() else { return Token::Incomplete };
    let cell = match trail {
        0x40..=0x7E => trail - 0x40,
        0x80..=0xFC => trail - 0x41,
        _ => return malformed(trail),
    };
    let row = (lead - start) * 2 + cell / 94 + 1;
    match row {
        95..=114 => Token::Letter('\u{E000}', 2),
        _ => jis(row, cell % 94 + 1)
            .map_or_else(|| malformed(trail), |letter| Token::Letter(letter, 2)),
    }
}

/// A character of EUC-JP.
fn euc_jp(bytes: &[u8]) -> Token {
    match *bytes {
        [0x8E | 0x8F | 0xA1..=0xFE] | [0x8F, 0xA1..=0xFE] => Token::Incomplete,
        [0x8E, trail @ 0xA1..=0xDF, ..] => Token::Letter(after('｡', trail, 0xA1), 2),
        // JIS X 0212.
        [0x8F, 0xA1..=0xFE, 0xA1..=0xFE, ..] => Token::Letter(UNKNOWN, 3),
        [lead @ 0xA1..=0xFE, trail @ 0xA1..=0xFE, ..] => {
            let letter = jis(lead - 0xA0, trail - 0xA0).filter(|_| lead < 0xFF);
            letter.map_or_else(|| malformed(trail), |letter| Token::Letter(letter, 2))
        }
        [0x8E | 0x8F | 0xA1..=0xFE, trail, ..] => malformed(trail),
        _ => Token::Malformed(1),
    }
}

/// A wrong second byte. It is read again if it is ASCII.
fn malformed(trail: u8) -> Token {
    Token::Malformed(if trail.is_ascii() { 1 } else { 2 })
}

/// The character of a row and a cell, from 1, of JIS X 0208 with the extensions of Windows. Only kana are exact.
fn jis(row: u8, cell: u8) -> Option<char> {
    let is_assigned = match row {
        1 | 16..=46 | 48..=83 | 89..=91 | 115..=118 => true,
        2 => matches!(cell, 1..=14 | 26..=33 | 42..=48 | 60..=74 | 82..=89 | 94),
        3 => matches!(cell, 16..=25 | 33..=58 | 65..=90),
        4 => cell <= 83,
        5 => cell <= 86,
        6 => matches!(cell, 1..=24 | 33..=56),
        7 => matches!(cell, 1..=33 | 49..=81),
        8 => cell <= 32,
        13 => matches!(cell, 1..=30 | 32..=54 | 63..=92),
        47 => cell <= 51,
        84 => cell <= 6,
        92 => matches!(cell, 1..=78 | 81..=94),
        119 => cell <= 12,
        _ => false,
    };
    is_assigned.then(|| match row {
        4 => after('ぁ', cell, 1),
        5 => after('ァ', cell, 1),
        _ => UNKNOWN,
    })
}

/// The character at the distance of two bytes from another one.
fn after(first: char, byte: u8, start: u8) -> char {
    char::from_u32(u32::from(first) + u32::from(byte.saturating_sub(start))).unwrap_or(UNKNOWN)
}

#[cfg(all(test, feature = "encodings"))]
mod tests {
    use super::*;

    /// Bytes of all kinds, among them many of two bytes per character.
    fn samples() -> impl Iterator<Item = Vec<u8>> {
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        (0..20_000).map(move |_| {
            let ranges = random();
            let byte = |random: &mut dyn FnMut() -> u8| match ranges % 4 {
                0 => random(),
                1 => random() | 0x80,
                2 => 0x80 | random() & 0x3F,
                _ => {
                    if random().is_multiple_of(2) {
                        random() % 0x60
                    } else {
                        0xA0 | random()
                    }
                }
            };
            (0..random() % 7).map(|_| byte(&mut random)).collect()
        })
    }

    fn pairs() -> impl Iterator<Item = (&'static Encoding, &'static encoding_rs::Encoding)> {
        ALL.into_iter().filter_map(|ours| {
            let theirs = encoding_rs::Encoding::for_label(ours.name().as_bytes());
            Some((ours, theirs?))
        })
    }

    /// All pairs of bytes.
    fn byte_pairs() -> impl Iterator<Item = Vec<u8>> {
        (0..=u8::MAX).flat_map(|lead| (0..=u8::MAX).map(move |trail| vec![lead, trail]))
    }

    #[test]
    fn decodes_as_encoding_rs() {
        for (ours, theirs) in pairs() {
            let is_japanese = ours == SHIFT_JIS || ours == EUC_JP;
            for bytes in samples().chain(byte_pairs()) {
                let (expected, failed) = theirs.decode_without_bom_handling(&bytes);
                let (text, has_errors) = ours.decode_without_bom_handling(&bytes);
                let mut decoder = ours.new_decoder_without_bom_handling();
                let mut strict = String::new();
                assert!(
                    decoder
                        .max_utf8_buffer_length(bytes.len())
                        .is_some_and(|len| len >= text.len())
                );
                let (result, _) =
                    decoder.decode_to_string_without_replacement(&bytes, &mut strict, true);
                assert_eq!(result == DecoderResult::Malformed, has_errors, "{bytes:x?}");
                assert!(text.starts_with(&strict), "{bytes:x?}");
                if is_japanese {
                    let is_exact = |letter: &char| matches!(letter, '\0'..='\u{80}' | 'ぁ'..='ん' | 'ァ'..='ヶ' | '｡'..='ﾟ' | '\u{FFFD}');
                    let expected = expected.chars().map(|letter| match letter {
                        letter if is_exact(&letter) => letter,
                        '\u{E000}'..='\u{F8FF}' => '\u{E000}',
                        _ => UNKNOWN,
                    });
                    // The characters of JIS X 0212 have no table of ranges.
                    if !(ours == EUC_JP && bytes.contains(&0x8F)) {
                        assert_eq!(text, expected.collect::<String>(), "{bytes:x?}");
                        assert_eq!(has_errors, failed, "{bytes:x?}");
                    }
                    continue;
                }
                assert_eq!((text.as_str(), has_errors), (&*expected, failed), "{bytes:x?}");
                // In parts.
                let mut decoder = ours.new_decoder_without_bom_handling();
                let mut joined = String::new();
                for byte in &bytes {
                    decoder.decode_to_string(&[*byte], &mut joined, false);
                }
                decoder.decode_to_string(&[], &mut joined, true);
                assert_eq!(joined, text, "{bytes:x?}");
            }
        }
    }

    #[test]
    fn encodes_as_encoding_rs() {
        for text in ["", "abc", "Müller – “é”", "\u{81}", "先手"] {
            let pairs = pairs().filter(|(ours, _)| *ours == UTF_8 || *ours == WINDOWS_1252);
            for (ours, theirs) in pairs {
                let (bytes, _, has_unknown) = ours.encode(text);
                let (expected, _, failed) = theirs.encode(text);
                assert_eq!(has_unknown, failed, "{text}");
                assert!(has_unknown || bytes == expected, "{text}");
            }
        }
    }

    #[test]
    fn labels_are_those_of_encoding_rs() {
        assert_eq!(pairs().count(), ALL.len());
        for (ours, theirs) in pairs() {
            assert_eq!(ours.name(), theirs.name());
            assert_eq!(ours.is_ascii_compatible(), theirs.is_ascii_compatible());
            for label in ours.labels {
                assert_eq!(encoding_rs::Encoding::for_label(label.as_bytes()), Some(theirs));
                let shown = format!(" {} ", label.to_uppercase());
                assert_eq!(Encoding::for_label(shown.as_bytes()), Some(ours));
            }
        }
        assert_eq!(Encoding::for_label(b"koi8-r"), None);
    }
}
