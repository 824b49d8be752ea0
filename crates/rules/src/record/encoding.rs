//! Character encodings: detection from the bytes, and streams of any encoding as UTF-8.

use std::{
    borrow::Cow,
    io::{self, BufRead, BufReader, Read},
};

#[cfg(not(feature = "encodings"))]
use super::charset as encoding_rs;
use encoding_rs::{Decoder, DecoderResult, EUC_JP, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE};

/// A source of any type. It is called once per 64 KiB.
pub(super) type Source<'a> = Transcoder<BufReader<Box<dyn Read + Send + 'a>>>;

/// A character encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Encoding {
    /// UTF-8 without a byte order mark.
    #[default]
    Utf8,
    /// `Shift_JIS` as on Windows.
    ShiftJis,
    /// EUC-JP, of Unix programs and of older CSA files.
    EucJp,
    /// Windows-1252, which contains the Latin-1 of the PGN standard.
    Windows1252,
    /// UTF-16, little-endian, with a byte order mark: "Unicode" of Windows editors.
    Utf16Le,
    /// UTF-16, big-endian, with a byte order mark.
    Utf16Be,
}

impl Encoding {
    /// All encodings.
    pub const ALL: [Self; 6] =
        [Self::Utf8, Self::ShiftJis, Self::EucJp, Self::Windows1252, Self::Utf16Le, Self::Utf16Be];

    /// The name in the registry of IANA.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::ShiftJis => "Shift_JIS",
            Self::EucJp => "EUC-JP",
            Self::Windows1252 => "windows-1252",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
        }
    }

    /// The encoding of a name or of one of its aliases, such as `sjis`, `cp932` and `latin1`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim();
        if name.eq_ignore_ascii_case("cp932") {
            return Some(Self::ShiftJis);
        }
        let known = encoding_rs::Encoding::for_label(name.as_bytes())?;
        Self::ALL.into_iter().find(|encoding| encoding.table() == known)
    }

    /// Whether this build has the encoding. `Shift_JIS` and EUC-JP need the feature `encodings`: without it, reading
    /// and writing them fails with [`UnsupportedEncoding`].
    pub fn is_supported(self) -> bool {
        cfg!(feature = "encodings") || !self.is_japanese()
    }

    /// An error if this build lacks the encoding.
    pub(super) fn supported(self) -> Result<Self, UnsupportedEncoding> {
        if self.is_supported() { Ok(self) } else { Err(UnsupportedEncoding(self)) }
    }

    /// The text in this encoding. Characters that the encoding lacks become question marks, and so do all outside of
    /// ASCII if the encoding is not [supported](Self::is_supported).
    pub fn encode(self, text: &str) -> Cow<'_, [u8]> {
        let units = |unit: fn(u16) -> [u8; 2]| {
            let mark = std::iter::once(0xFEFF_u16);
            Cow::Owned(mark.chain(text.encode_utf16()).flat_map(unit).collect())
        };
        match self {
            Self::Utf8 => Cow::Borrowed(text.as_bytes()),
            Self::Utf16Le => units(u16::to_le_bytes),
            Self::Utf16Be => units(u16::to_be_bytes),
            Self::ShiftJis | Self::EucJp | Self::Windows1252 => {
                let table = self.table();
                let (bytes, _, has_unknown) = table.encode(text);
                if !has_unknown {
                    return bytes;
                }
                let mut all = Vec::with_capacity(text.len());
                let mut buffer = [0; 4];
                for letter in text.chars() {
                    match table.encode(letter.encode_utf8(&mut buffer)) {
                        (bytes, _, false) => all.extend_from_slice(&bytes),
                        (_, _, true) => all.push(b'?'),
                    }
                }
                Cow::Owned(all)
            }
        }
    }

    /// Whether the encoding has all characters of a text.
    pub fn has_all(self, text: &str) -> bool {
        match self {
            Self::Utf8 | Self::Utf16Le | Self::Utf16Be => true,
            Self::ShiftJis | Self::EucJp | Self::Windows1252 => !self.table().encode(text).2,
        }
    }

    fn table(self) -> &'static encoding_rs::Encoding {
        match self {
            Self::Utf8 => UTF_8,
            Self::ShiftJis => SHIFT_JIS,
            Self::EucJp => EUC_JP,
            Self::Windows1252 => encoding_rs::WINDOWS_1252,
            Self::Utf16Le => UTF_16LE,
            Self::Utf16Be => UTF_16BE,
        }
    }

    fn is_japanese(self) -> bool {
        matches!(self, Self::ShiftJis | Self::EucJp)
    }

    /// The text of complete characters, without errors. `None` if the bytes are not in this encoding. The
    /// last character can be truncated.
    fn strict(self, bytes: &[u8]) -> Option<String> {
        let mut decoder = self.table().new_decoder_without_bom_handling();
        let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len())?);
        let (result, _) = decoder.decode_to_string_without_replacement(bytes, &mut text, false);
        // Private characters are the result of decoding another encoding as Shift_JIS.
        let is_private = |letter| matches!(letter, '\u{E000}'..='\u{F8FF}');
        (result == DecoderResult::InputEmpty && !text.contains(is_private)).then_some(text)
    }
}

/// An encoding that this build of the crate can neither read nor write, because it lacks the feature `encodings`.
///
/// It is the source of an [`io::Error`] of the kind [`Unsupported`](io::ErrorKind::Unsupported).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the encoding {} is not supported: convert the text to UTF-8", .0.name())]
pub struct UnsupportedEncoding(pub Encoding);

impl From<UnsupportedEncoding> for io::Error {
    fn from(error: UnsupportedEncoding) -> Self {
        Self::new(io::ErrorKind::Unsupported, error)
    }
}

/// The encoding of bytes that are not UTF-8. Some bytes are valid in several encodings; `japanese`
/// selects the more probable ones for records of shogi.
fn detect_legacy(bytes: &[u8], declared: Option<Encoding>, japanese: bool) -> Encoding {
    let has_kana = |text: &str| text.contains(|letter| matches!(letter, 'ぁ'..='ヶ'));
    let has_run = |text: &str| {
        let mut last = true;
        text.chars().any(|letter| !std::mem::replace(&mut last, letter.is_ascii()) && !last)
    };
    for encoding in [Encoding::EucJp, Encoding::ShiftJis] {
        let Some(text) = encoding.strict(bytes) else { continue };
        // A Latin text has single letters outside of ASCII.
        if has_kana(&text) || japanese && (declared == Some(encoding) || has_run(&text)) {
            return encoding;
        }
    }
    match declared {
        Some(encoding) if encoding.is_japanese() && japanese => encoding,
        _ if japanese && is_damaged_shift_jis(bytes) => Encoding::ShiftJis,
        _ => Encoding::Windows1252,
    }
}

/// An encoding of input that a user names: any of the Encoding Standard of WHATWG. Without the feature `encodings`, only
/// those of [`Encoding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputEncoding(&'static encoding_rs::Encoding);

impl InputEncoding {
    /// The encoding of a label such as `windows-1251`, `shift_jis` or `latin1`.
    pub fn from_label(label: &str) -> Option<Self> {
        match Encoding::from_name(label) {
            Some(encoding) => Some(Self(encoding.table())),
            None => encoding_rs::Encoding::for_label(label.trim().as_bytes()).map(Self),
        }
    }

    /// The encoding, if it is one of those that are detected.
    fn known(self) -> Option<Encoding> {
        Encoding::ALL.into_iter().find(|known| known.table() == self.0)
    }

    fn byte_order_mark(self) -> &'static [u8] {
        match self.0.name() {
            "UTF-8" => UTF8_MARK,
            "UTF-16LE" => b"\xFF\xFE",
            "UTF-16BE" => b"\xFE\xFF",
            _ => b"",
        }
    }
}

/// Whether text is mainly `Shift_JIS`, with few errors.
fn is_damaged_shift_jis(bytes: &[u8]) -> bool {
    let (text, _) = SHIFT_JIS.decode_without_bom_handling(bytes);
    let errors = text.chars().filter(|letter| *letter == char::REPLACEMENT_CHARACTER).count();
    let others = text.chars().filter(|letter| !letter.is_ascii()).count() - errors;
    others > errors.saturating_mul(8)
}

/// Whether bytes are UTF-8 with a few errors, as in a text that was cut between two bytes.
fn is_damaged_utf8(bytes: &[u8]) -> bool {
    let (mut errors, mut wide) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        errors += usize::from(!chunk.invalid().is_empty());
        wide += chunk.valid().chars().filter(|letter| letter.len_utf8() > 2).count();
    }
    wide > errors
}

/// The encoding that `#KIF version=2.0 encoding=UTF-8` or `'CSA encoding=UTF-8` declares in the first
/// lines. It is only a hint, as editors convert the text and not the declaration.
fn declared(beginning: &[u8]) -> Option<Encoding> {
    let mut lines = beginning.split(|byte| *byte == b'\n').take(2);
    lines.find_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let name = line.starts_with(['#', '\'']).then(|| line.split_once("encoding="))??.1;
        Encoding::from_name(name)
    })
}

/// UTF-16 by its byte order mark, or by the zeros of a text that begins with ASCII.
fn utf16(beginning: &[u8]) -> Option<Encoding> {
    match beginning {
        [0xFF, 0xFE, ..] | [1..=0x7F, 0, 1..=0x7F, 0, ..] => Some(Encoding::Utf16Le),
        [0xFE, 0xFF, ..] | [0, 1..=0x7F, 0, 1..=0x7F, ..] => Some(Encoding::Utf16Be),
        _ => None,
    }
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of a beginning of a file, up to a line whose encoding is not supported.
pub(super) fn decode_beginning(bytes: &[u8], japanese: bool) -> (String, io::Result<()>) {
    // The type of all sources, so that the code exists once.
    let mut reader: Source<'_> = Transcoder::new(buffered(bytes), japanese);
    let mut text = Vec::new();
    let read = reader.read_to_end(&mut text);
    (String::from_utf8_lossy(&text).into_owned(), read.map(drop))
}

pub(super) fn buffered<'a>(source: impl Read + Send + 'a) -> BufReader<Box<dyn Read + Send + 'a>> {
    BufReader::with_capacity(1 << 16, Box::new(source))
}

/// The number of bytes from which the encoding and the format are detected.
const BEGINNING: u64 = 4096;

/// The maximum length of a part of a line that is decoded in one step.
const MAX_CHUNK: usize = 1 << 16;

/// Reads a source in any encoding as UTF-8 without a byte order mark. UTF-8 is not copied.
///
/// The encoding is detected for each line, because joined files can have several. A line that fits more
/// than one has that of the lines before it.
#[derive(Debug)]
pub(super) struct Transcoder<R> {
    input: Input<R>,
    has_begun: bool,
    /// Whether the text is probably Japanese if it is not UTF-8.
    japanese: bool,
    declared: Option<Encoding>,
    /// The encoding of the whole source, if it is not detected.
    forced: Option<InputEncoding>,
    /// The encoding of lines that fit more than one.
    encoding: Option<Encoding>,
    /// The number of bytes of the input's buffer that are UTF-8.
    verified: usize,
    /// Bytes that are not decoded yet.
    raw: Vec<u8>,
    /// Decodes the rest of a long line.
    decoder: Option<Decoder>,
    /// Decoded text, and the number of its bytes that were consumed.
    text: Vec<u8>,
    position: usize,
    /// The decoded text has the bytes of the input.
    is_copy: bool,
}

impl<R: BufRead> Transcoder<R> {
    pub(super) fn new(input: R, japanese: bool) -> Self {
        Self {
            input: Input {
                beginning: Vec::new(),
                position: 0,
                failure: None,
                rest: input,
                offset: 0,
            },
            has_begun: false,
            japanese,
            declared: None,
            forced: None,
            encoding: None,
            verified: 0,
            raw: Vec::new(),
            decoder: None,
            text: Vec::new(),
            position: 0,
            is_copy: true,
        }
    }

    /// Continues after a number of bytes of the source, in the encoding that was detected so far.
    pub(super) fn resumed(mut self, offset: u64, encoding: Option<Encoding>) -> Self {
        if offset > 0 {
            self.has_begun = true;
            self.encoding = encoding;
            self.input.offset = offset;
        }
        self
    }

    /// Reads the whole source in an encoding.
    pub(super) fn set_encoding(&mut self, encoding: Option<InputEncoding>) {
        self.forced = encoding;
    }

    /// Sets whether the text is probably Japanese if it is not UTF-8.
    pub(super) fn set_japanese(&mut self, japanese: bool) {
        self.japanese = japanese;
    }

    /// The first bytes of the source. Nothing may have been read.
    pub(super) fn beginning(&mut self) -> io::Result<&[u8]> {
        self.input.read_beginning()?;
        Ok(&self.input.beginning)
    }

    /// The encoding of lines that fit more than one, if it is detected.
    pub(super) fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// The offset of the next byte in the source. `None` within a line that was decoded.
    pub(super) fn offset(&self) -> Option<u64> {
        let pending = self.text.len() - self.position;
        let pending = match (pending, self.is_copy) {
            (0, _) => 0,
            (_, true) => pending,
            (_, false) => return None,
        };
        Some(self.input.offset - (pending + self.raw.len()) as u64)
    }

    fn is_utf16(&self) -> bool {
        matches!(self.encoding, Some(Encoding::Utf16Le | Encoding::Utf16Be))
    }

    fn begin(&mut self) -> io::Result<()> {
        self.has_begun = true;
        if let Some(forced) = self.forced {
            let known = forced.known();
            let mark = forced.byte_order_mark();
            let length = if self.beginning()?.starts_with(mark) { mark.len() } else { 0 };
            self.encoding = known;
            self.input.consume(length);
            return Ok(());
        }
        let beginning = self.beginning()?;
        let (utf16, declared) = (utf16(beginning), declared(beginning));
        let mark = match beginning {
            _ if beginning.starts_with(UTF8_MARK) => UTF8_MARK.len(),
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => 2,
            _ => 0,
        };
        self.encoding = utf16;
        self.declared = declared;
        self.input.consume(mark);
        Ok(())
    }

    /// Verifies or decodes the next text. Afterwards one of them is not empty, except at the end.
    fn advance(&mut self) -> io::Result<()> {
        self.text.clear();
        self.position = 0;
        if !self.has_begun {
            self.begin()?;
        }
        if self.is_utf16() {
            return self.decode_utf16();
        }
        if self.raw.is_empty() && self.decoder.is_none() {
            let buffer = self.input.fill_buf()?;
            let (lines, has_wide) = match self.encoding {
                _ if self.forced.is_some_and(|forced| !forced.0.is_ascii_compatible()) => {
                    (0, false)
                }
                _ if self.forced.is_some_and(|forced| forced.0 != UTF_8) => {
                    (ascii_lines(buffer), false)
                }
                Some(encoding) if encoding != Encoding::Utf8 => (ascii_lines(buffer), false),
                _ => utf8_lines(buffer, self.declared.is_some_and(Encoding::is_japanese)),
            };
            if has_wide {
                self.encoding = Some(Encoding::Utf8);
            }
            if lines > 0 {
                self.verified = lines;
                return Ok(());
            }
        }
        self.decode_line()
    }

    fn decode_line(&mut self) -> io::Result<()> {
        while self.text.is_empty() {
            let limit = MAX_CHUNK.saturating_sub(self.raw.len()).max(1);
            let before = self.raw.len();
            let read = (&mut self.input).take(limit as u64).read_until(b'\n', &mut self.raw);
            match read {
                Err(error) if self.raw.is_empty() => return Err(error),
                // The text before an error is not lost.
                Err(error) => self.input.failure = Some(error),
                Ok(_) => {}
            }
            let count = self.raw.len() - before;
            let is_complete = count < limit || self.raw.last() == Some(&b'\n');
            if self.raw.is_empty() {
                return Ok(());
            }
            if self.decoder.is_none() {
                if let Some(valid) = self.utf8_part(is_complete) {
                    self.text.extend(self.raw.drain(..valid));
                    self.is_copy = true;
                    continue;
                }
                let table = match self.forced {
                    Some(forced) => {
                        forced.known().map(Encoding::supported).transpose()?;
                        forced.0
                    }
                    None => self.encoding_of_line().supported()?.table(),
                };
                self.decoder = Some(table.new_decoder_without_bom_handling());
            }
            self.decode(is_complete);
        }
        Ok(())
    }

    /// The length of the UTF-8 in the next line. `None` if the line has another encoding.
    fn utf8_part(&self, is_complete: bool) -> Option<usize> {
        let raw = &self.raw;
        if let Some(forced) = self.forced
            && forced.0 != UTF_8
        {
            return (forced.0.is_ascii_compatible() && raw.is_ascii()).then_some(raw.len());
        }
        let (text, part) = match std::str::from_utf8(raw) {
            Ok(text) => (text, raw.len()),
            Err(error) if error.error_len().is_none() && !is_complete => {
                let (valid, _) = raw.split_at_checked(error.valid_up_to())?;
                (std::str::from_utf8(valid).ok()?, valid.len())
            }
            Err(_) => return None,
        };
        // Two bytes per letter can also be Japanese.
        let other = self.encoding.or(self.declared).filter(|other| other.is_japanese());
        let is_other = other.is_some_and(|other| {
            !text.is_ascii() && !has_wide(text) && other.strict(raw).is_some()
        });
        (!is_other).then_some(part)
    }

    /// The encoding of the next line, which is not UTF-8.
    fn encoding_of_line(&mut self) -> Encoding {
        if is_damaged_utf8(&self.raw) {
            return Encoding::Utf8;
        }
        if let Some(known) = self.encoding
            && known != Encoding::Utf8
            && known.strict(&self.raw).is_some()
        {
            return known;
        }
        let mut sample = self.raw.clone();
        // An error occurs again when the buffer is read.
        let buffer = self.input.fill_buf().unwrap_or_default();
        let lines = buffer.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        sample.extend(buffer.iter().take(lines));
        let found = [sample.as_slice(), self.raw.as_slice()]
            .map(|bytes| detect_legacy(bytes, self.declared, self.japanese));
        // The rest of a joined file can have another encoding.
        let [of_sample, of_line] = found;
        let encoding = if of_sample.strict(&self.raw).is_some() { of_sample } else { of_line };
        *self.encoding.insert(encoding)
    }

    fn decode(&mut self, is_complete: bool) {
        let Some(decoder) = &mut self.decoder else { return };
        let mut text = String::new();
        text.reserve(decoder.max_utf8_buffer_length(self.raw.len()).unwrap_or(0));
        let _ = decoder.decode_to_string(&self.raw, &mut text, is_complete);
        if is_complete {
            self.decoder = None;
        }
        self.raw.clear();
        self.text = text.into_bytes();
        self.is_copy = false;
    }

    fn decode_utf16(&mut self) -> io::Result<()> {
        let little = self.encoding == Some(Encoding::Utf16Le);
        let line_end = if little { [b'\n', 0] } else { [0, b'\n'] };
        while self.text.is_empty() {
            let count = (&mut self.input).take(2).read_to_end(&mut self.raw)?;
            let is_line = self.raw.ends_with(&line_end);
            if count == 2 && !is_line && self.raw.len() < MAX_CHUNK {
                continue;
            }
            if self.raw.is_empty() {
                return Ok(());
            }
            let is_complete = is_line || count < 2;
            if self.decoder.is_none() {
                let table = if little { UTF_16LE } else { UTF_16BE };
                self.decoder = Some(table.new_decoder_without_bom_handling());
            }
            self.decode(is_complete);
        }
        Ok(())
    }
}

/// Whether a text has letters of more than two bytes, which occur by chance in no other encoding.
fn has_wide(text: &str) -> bool {
    text.bytes().any(|byte| byte >= 0xE0)
}

/// The length of the complete lines at the beginning that are ASCII.
fn ascii_lines(bytes: &[u8]) -> usize {
    let ascii = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len());
    complete_lines(bytes.get(..ascii).unwrap_or_default())
}

/// The length of the complete lines at the beginning that are UTF-8, and whether they have letters of
/// more than two bytes. Unless they have, `is_ambiguous` restricts them to ASCII.
fn utf8_lines(bytes: &[u8], is_ambiguous: bool) -> (usize, bool) {
    if bytes.is_ascii() {
        return (complete_lines(bytes), false);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(valid).unwrap_or_default()
        }
    };
    let lines = complete_lines(text.as_bytes());
    let wide = text.get(..lines).is_some_and(has_wide);
    if is_ambiguous && !wide { (ascii_lines(bytes), false) } else { (lines, wide) }
}

fn complete_lines(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1)
}

impl<R: BufRead> BufRead for Transcoder<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position == self.text.len() && self.verified == 0 {
            self.advance()?;
        }
        if self.position < self.text.len() {
            return Ok(self.text.get(self.position..).unwrap_or_default());
        }
        if self.verified == 0 {
            return Ok(&[]);
        }
        let buffer = self.input.fill_buf()?;
        Ok(buffer.get(..self.verified).unwrap_or(buffer))
    }

    fn consume(&mut self, count: usize) {
        if self.position < self.text.len() {
            self.position = (self.position + count).min(self.text.len());
        } else {
            let count = count.min(self.verified);
            self.verified -= count;
            self.input.consume(count);
        }
    }
}

impl<R: BufRead> Read for Transcoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

/// A source whose beginning can be read in advance.
#[derive(Debug)]
struct Input<R> {
    beginning: Vec<u8>,
    position: usize,
    /// The error that ended the beginning.
    failure: Option<io::Error>,
    rest: R,
    /// The number of bytes that were consumed.
    offset: u64,
}

impl<R: BufRead> Input<R> {
    fn read_beginning(&mut self) -> io::Result<()> {
        if self.beginning.is_empty() {
            let read = (&mut self.rest).take(BEGINNING).read_to_end(&mut self.beginning);
            if self.beginning.is_empty() {
                read?;
            } else {
                self.failure = read.err();
            }
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.beginning.get(self.position..) {
            Some(beginning) if !beginning.is_empty() => Ok(beginning),
            _ => match self.failure.take() {
                Some(error) => Err(error),
                None => self.rest.fill_buf(),
            },
        }
    }

    fn consume(&mut self, count: usize) {
        self.offset += count as u64;
        if self.position < self.beginning.len() {
            self.position += count;
        } else {
            self.rest.consume(count);
        }
    }
}

impl<R: BufRead> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "先手：田中\n後手：ナカムラ\nab\n";

    fn supported() -> impl Iterator<Item = Encoding> {
        Encoding::ALL.into_iter().filter(|encoding| encoding.is_supported())
    }

    fn decoded(bytes: &[u8], buffer: usize, japanese: bool) -> String {
        let source = BufReader::with_capacity(buffer, bytes);
        let mut text = String::new();
        Transcoder::new(source, japanese).read_to_string(&mut text).expect("memory");
        text
    }

    #[test]
    fn detects_the_encoding_of_japanese_text() {
        for encoding in supported() {
            if encoding == Encoding::Windows1252 {
                continue;
            }
            for japanese in [true, false] {
                let bytes = encoding.encode(TEXT);
                assert_eq!(decoded(&bytes, 1 << 16, japanese), TEXT, "{encoding:?}");
                assert_eq!(decoded(&bytes, 3, japanese), TEXT, "{encoding:?}");
            }
        }
    }

    #[test]
    fn detects_the_encoding_of_western_text() {
        let text = "[White \"François Müller\"]\n[Black \"José Öberg\"]\n";
        for encoding in
            [Encoding::Utf8, Encoding::Windows1252, Encoding::Utf16Le, Encoding::Utf16Be]
        {
            let bytes = encoding.encode(text);
            assert_eq!(decoded(&bytes, 1 << 16, false), text, "{encoding:?}");
            assert_eq!(decoded(&bytes, 7, false), text, "{encoding:?}");
        }
        let bytes = Encoding::Windows1252.encode("N+François\nN-Müller\n");
        assert_eq!(decoded(&bytes, 1 << 16, true), "N+François\nN-Müller\n");
    }

    #[cfg(feature = "encodings")]
    #[test]
    fn a_declaration_is_only_a_hint() {
        for declared in ["Shift_JIS", "UTF-8", "EUC-JP", "x"] {
            let text = format!("#KIF version=2.0 encoding={declared}\n{TEXT}");
            for encoding in [Encoding::Utf8, Encoding::ShiftJis, Encoding::EucJp] {
                assert_eq!(decoded(&encoding.encode(&text), 4096, true), text, "{encoding:?}");
            }
        }
        // Valid in UTF-8 and Shift_JIS.
        let text = "'CSA encoding=Shift_JIS\nN+ﾅｶ\n";
        assert_eq!(decoded(&Encoding::ShiftJis.encode(text), 4096, true), text);
    }

    #[cfg(feature = "encodings")]
    #[test]
    fn a_named_encoding_is_not_detected() {
        let cases = [
            ("windows-1251", &b"\xCA\xE0\xF0\xEF\xEE\xE2\n"[..], "Карпов\n"),
            ("iso-2022-jp", b"a\n\x1B$B@h<j\x1B(B\n", "a\n先手\n"),
            ("shift_jis", b"N+\xCA\xDF\n", "N+ﾊﾟ\n"),
            ("utf-8", b"\xEF\xBB\xBFM\xC3\xBCller \xFF\n", "Müller \u{FFFD}\n"),
            ("utf-16le", b"\xFF\xFEa\0\n\0", "a\n"),
            ("latin1", b"M\xFCller", "Müller"),
        ];
        for (label, bytes, expected) in cases {
            let encoding = InputEncoding::from_label(label);
            assert!(encoding.is_some(), "{label}");
            for capacity in [3, 1 << 16] {
                let mut reader = Transcoder::new(BufReader::with_capacity(capacity, bytes), true);
                reader.set_encoding(encoding);
                let mut text = String::new();
                reader.read_to_string(&mut text).expect("memory");
                assert_eq!(text, expected, "{label}");
            }
        }
        assert_eq!(InputEncoding::from_label("klingon"), None);
    }

    #[cfg(feature = "encodings")]
    #[test]
    fn joined_files_can_have_several_encodings() {
        let mut bytes = Encoding::Utf8.encode(TEXT).into_owned();
        bytes.extend_from_slice(&Encoding::ShiftJis.encode(TEXT));
        bytes.extend_from_slice(&Encoding::Utf8.encode(TEXT));
        assert_eq!(decoded(&bytes, 1 << 16, true), TEXT.repeat(3));
        let mut bytes = b"[White \"M\xFCller\"]\n".to_vec();
        bytes.extend_from_slice("[White \"Müller\"]\n".as_bytes());
        assert_eq!(decoded(&bytes, 1 << 16, false), "[White \"Müller\"]\n".repeat(2));
    }

    #[cfg(feature = "encodings")]
    #[test]
    fn damaged_text_keeps_its_encoding() {
        let mut bytes = "*これは長いコメントです".as_bytes().to_vec();
        bytes.pop();
        bytes.extend_from_slice("\n先手：田中\n".as_bytes());
        assert_eq!(decoded(&bytes, 1 << 16, true), "*これは長いコメントで\u{FFFD}\n先手：田中\n");
        let mut bytes = Encoding::ShiftJis.encode("*これは長いコメントです").into_owned();
        bytes.pop();
        bytes.extend_from_slice(&Encoding::ShiftJis.encode("\n先手：田中\n"));
        assert_eq!(decoded(&bytes, 1 << 16, true), "*これは長いコメントで\u{FFFD}\n先手：田中\n");
    }

    #[test]
    fn decodes_lines_longer_than_a_chunk() {
        let text = "あいうえお".repeat(20_000);
        for encoding in supported() {
            if encoding != Encoding::Windows1252 {
                assert!(decoded(&encoding.encode(&text), 1000, true) == text, "{encoding:?}");
            }
        }
    }

    #[test]
    fn offsets_are_those_of_the_source() {
        for encoding in supported() {
            let mark =
                if matches!(encoding, Encoding::Utf16Le | Encoding::Utf16Be) { 2 } else { 0 };
            let bytes = encoding.encode(TEXT);
            let mut reader = Transcoder::new(&bytes[..], true);
            let mut text = String::new();
            for _ in TEXT.lines() {
                reader.read_line(&mut text).expect("memory");
                let expected = encoding.encode(&text).len() as u64;
                assert_eq!(reader.offset(), Some(expected), "{encoding:?} {mark}");
            }
        }
    }
}
