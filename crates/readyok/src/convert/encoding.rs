//! Character encodings that the user names.

use std::io::{self, Read};

use encoding_rs::{Decoder, Encoding};
use readyok_rules::record;

/// The encoding of a label such as `Shift_JIS`, `windows-1252` or `UTF-16LE`.
pub(crate) fn input_encoding(label: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label(label.as_bytes()).ok_or_else(|| format!("unknown encoding `{label}`"))
}

/// The encoding of a name for output. UTF-16 needs a byte order mark, which only one game could have.
pub(crate) fn output_encoding(name: &str) -> Result<record::Encoding, String> {
    use record::Encoding::{EucJp, ShiftJis, Utf8, Utf16Be, Utf16Le, Windows1252};
    match record::Encoding::from_name(name) {
        Some(encoding @ (Utf8 | ShiftJis | EucJp | Windows1252)) => Ok(encoding),
        Some(Utf16Le | Utf16Be) | None => {
            Err("expected utf-8, shift_jis, euc-jp or windows-1252".to_owned())
        }
    }
}

/// Converts a source to UTF-8.
pub(super) struct Transcoder<R> {
    source: R,
    decoder: Decoder,
    input: Vec<u8>,
    /// Decoded bytes, of which the first ones were read.
    output: Vec<u8>,
    read: usize,
    is_finished: bool,
}

impl<R: Read> Transcoder<R> {
    pub(super) fn new(source: R, encoding: &'static Encoding) -> Self {
        Self {
            source,
            decoder: encoding.new_decoder(),
            input: vec![0; 1 << 14],
            output: Vec::new(),
            read: 0,
            is_finished: false,
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let count = loop {
            match self.source.read(&mut self.input) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        self.is_finished = count == 0;
        let bytes = self.input.get(..count).unwrap_or_default();
        let size = self.decoder.max_utf8_buffer_length(count).unwrap_or(1 << 16);
        self.output.resize(size, 0);
        let (_, _, written, _) =
            self.decoder.decode_to_utf8(bytes, &mut self.output, self.is_finished);
        self.output.truncate(written);
        self.read = 0;
        Ok(())
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.output.len() && !self.is_finished {
            self.fill()?;
        }
        let mut left = self.output.get(self.read..).unwrap_or_default();
        let count = left.read(buffer)?;
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_converted_to_utf_8() {
        let text = "先手：山田 太郎".repeat(3000);
        let (bytes, _, _) = encoding_rs::EUC_JP.encode(&text);
        let mut read = String::new();
        let mut source = Transcoder::new(&*bytes, encoding_rs::EUC_JP);
        source.read_to_string(&mut read).expect("memory");
        assert_eq!(read, text);
    }
}
