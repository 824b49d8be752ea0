//! Compressed output, chosen by the file extension.

use std::fmt;
use std::io::{self, Write};

use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::Compression;

/// Uncompressed bytes of a frame of Zstandard output.
const FRAME_BYTES: usize = 1 << 20;

/// Compresses what is written to it. [`Self::finish`] completes the output.
pub struct Encoder<W: Write>(Inner<W>);

enum Inner<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Bzip2(BzEncoder<W>),
    /// The bytes of the current frame.
    Zstd(W, Vec<u8>),
}

impl<W: Write> fmt::Debug for Encoder<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

impl<W: Write> Encoder<W> {
    /// An encoder for a compression, or for none.
    pub fn new(out: W, compression: Option<Compression>) -> Self {
        Self(match compression {
            None => Inner::Plain(out),
            Some(Compression::Gzip) => {
                Inner::Gzip(GzEncoder::new(out, flate2::Compression::default()))
            }
            Some(Compression::Bzip2) => {
                Inner::Bzip2(BzEncoder::new(out, bzip2::Compression::default()))
            }
            Some(Compression::Zstd) => Inner::Zstd(out, Vec::new()),
        })
    }

    /// Writes what is left, and returns the output.
    ///
    /// # Errors
    /// The output fails.
    pub fn finish(self) -> io::Result<W> {
        let mut out = match self.0 {
            Inner::Plain(out) => out,
            Inner::Gzip(encoder) => encoder.finish()?,
            Inner::Bzip2(encoder) => encoder.finish()?,
            Inner::Zstd(mut out, frame) => {
                write_frame(&mut out, &frame)?;
                out
            }
        };
        out.flush()?;
        Ok(out)
    }
}

fn write_frame(out: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    out.write_all(&compress_to_vec(frame, CompressionLevel::Fastest))
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Inner::Plain(out) => out.write(bytes),
            Inner::Gzip(encoder) => encoder.write(bytes),
            Inner::Bzip2(encoder) => encoder.write(bytes),
            Inner::Zstd(out, frame) => {
                frame.extend_from_slice(bytes);
                if frame.len() >= FRAME_BYTES {
                    write_frame(out, frame)?;
                    frame.clear();
                }
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Inner::Plain(out) => out.flush(),
            // Flushing compressed output early would enlarge it.
            Inner::Gzip(_) | Inner::Bzip2(_) | Inner::Zstd(..) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

    use super::super::Decompressed;
    use super::*;

    fn round_trip(compression: Compression) {
        let text: Vec<u8> =
            (0..400_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        let mut encoder = Encoder::new(Vec::new(), Some(compression));
        for part in text.chunks(10_007) {
            encoder.write_all(part).expect("memory");
        }
        let mut compressed = encoder.finish().expect("memory");
        assert!(compressed.len() < text.len() / 2, "{}", compressed.len());
        // A second member or frame continues the text.
        let mut encoder = Encoder::new(Vec::new(), Some(compression));
        encoder.write_all(b"end").expect("memory");
        compressed.extend(encoder.finish().expect("memory"));
        let mut read = Vec::new();
        let mut source = Decompressed::new(Cursor::new(compressed)).expect("a beginning");
        source.read_to_end(&mut read).expect("valid");
        assert!(read == [text.as_slice(), b"end"].concat());
    }

    #[test]
    fn gzip_is_detected_and_decompressed() {
        round_trip(Compression::Gzip);
    }

    #[test]
    fn bzip2_is_detected_and_decompressed() {
        round_trip(Compression::Bzip2);
    }

    #[test]
    fn zstd_is_detected_and_decompressed() {
        round_trip(Compression::Zstd);
    }
}
