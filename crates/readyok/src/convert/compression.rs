//! Compressed input, detected by its first bytes, and compressed output, chosen by the file extension.

use std::io::{self, BufRead, BufReader, Cursor, Read, Write};
use std::path::Path;

use bzip2::bufread::MultiBzDecoder;
use bzip2::write::BzEncoder;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

/// Uncompressed bytes of a frame of Zstandard output.
const FRAME_BYTES: usize = 1 << 20;

/// A compression format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Compression {
    Gzip,
    Bzip2,
    Zstd,
}

impl Compression {
    /// The format that a file extension names, and the path without this extension.
    pub(super) fn of(path: &Path) -> Option<(Self, &Path)> {
        let compression = match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gz" | "gzip" => Self::Gzip,
            "bz2" => Self::Bzip2,
            "zst" | "zstd" => Self::Zstd,
            _ => return None,
        };
        Some((compression, Path::new(path.file_stem()?)))
    }

    fn detect(beginning: &[u8]) -> Option<Self> {
        match beginning {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [b'B', b'Z', b'h', ..] => Some(Self::Bzip2),
            // A frame or a skippable frame.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some(Self::Zstd),
            _ => None,
        }
    }
}

/// Decompresses a source if it is compressed.
pub(super) fn decompressed<R: Read + Send + 'static>(
    mut source: R,
) -> io::Result<Box<dyn Read + Send>> {
    let mut beginning = Vec::new();
    (&mut source).take(4).read_to_end(&mut beginning)?;
    let compression = Compression::detect(&beginning);
    let source = Cursor::new(beginning).chain(source);
    let buffered = |source| BufReader::with_capacity(1 << 16, source);
    Ok(match compression {
        None => Box::new(source),
        Some(Compression::Gzip) => Box::new(MultiGzDecoder::new(buffered(source))),
        Some(Compression::Bzip2) => Box::new(MultiBzDecoder::new(buffered(source))),
        Some(Compression::Zstd) => Box::new(ZstdReader::new(buffered(source))),
    })
}

/// Reads all frames of a Zstandard file.
struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
    /// Whether the header of a frame was read.
    is_in_frame: bool,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(source: R) -> Self {
        Self { source, decoder: FrameDecoder::new(), is_in_frame: false }
    }

    /// Begins the next frame. False at the end of the file.
    fn begin_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = (&mut self.source).take(length.into());
                    io::copy(&mut skipped, &mut io::sink())?;
                }
                Err(error) => return Err(invalid(error)),
            }
        }
        Ok(false)
    }
}

fn invalid(error: FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.is_in_frame {
                while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                    let one_block = BlockDecodingStrategy::UptoBlocks(1);
                    self.decoder.decode_blocks(&mut self.source, one_block).map_err(invalid)?;
                }
                let count = self.decoder.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
            }
            self.is_in_frame = self.begin_frame()?;
            if !self.is_in_frame {
                return Ok(0);
            }
        }
    }
}

/// Compresses what is written to it. [`Self::finish`] completes the output.
pub(super) enum Encoder<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Bzip2(BzEncoder<W>),
    /// The bytes of the current frame.
    Zstd(W, Vec<u8>),
}

impl<W: Write> Encoder<W> {
    pub(super) fn new(out: W, compression: Option<Compression>) -> Self {
        match compression {
            None => Self::Plain(out),
            Some(Compression::Gzip) => {
                Self::Gzip(GzEncoder::new(out, flate2::Compression::default()))
            }
            Some(Compression::Bzip2) => {
                Self::Bzip2(BzEncoder::new(out, bzip2::Compression::default()))
            }
            Some(Compression::Zstd) => Self::Zstd(out, Vec::new()),
        }
    }

    pub(super) fn finish(self) -> io::Result<W> {
        let mut out = match self {
            Self::Plain(out) => out,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Bzip2(encoder) => encoder.finish()?,
            Self::Zstd(mut out, frame) => {
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
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Bzip2(encoder) => encoder.write(bytes),
            Self::Zstd(out, frame) => {
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
        match self {
            Self::Plain(out) => out.flush(),
            // Flushing compressed output early would enlarge it.
            Self::Gzip(_) | Self::Bzip2(_) | Self::Zstd(..) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(compression: Compression) {
        let text: Vec<u8> = (0..400_000_u32).flat_map(|it| (it / 7).to_le_bytes()).collect();
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
        let mut source = decompressed(Cursor::new(compressed)).expect("a beginning");
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
