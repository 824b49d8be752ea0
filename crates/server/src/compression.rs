//! Decompresses files of games. The compression is detected by their first bytes.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// A compression format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Compression {
    /// RFC 1952.
    Gzip,
    /// The format of the program bzip2.
    Bzip2,
    /// RFC 8878.
    Zstd,
}

impl Compression {
    /// The format that a file extension names, and the path without this extension.
    pub fn of(path: &Path) -> Option<(Self, &Path)> {
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

/// A source whose first bytes were read.
type Source<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;

/// The content of a source, which can be compressed.
pub struct Decompressed<R: Read>(Inner<R>);

enum Inner<R: Read> {
    Plain(Source<R>),
    Gzip(Box<MultiGzDecoder<Source<R>>>),
    Bzip2(MultiBzDecoder<Source<R>>),
    Zstd(Box<ZstdReader<Source<R>>>),
}

impl<R: Read> Decompressed<R> {
    /// Reads the first bytes of a source.
    ///
    /// # Errors
    /// The source fails.
    pub fn new(mut source: R) -> io::Result<Self> {
        let mut beginning = Vec::new();
        source.by_ref().take(4).read_to_end(&mut beginning)?;
        let compression = Compression::detect(&beginning);
        let source = BufReader::with_capacity(1 << 16, Cursor::new(beginning).chain(source));
        Ok(Self(match compression {
            None => Inner::Plain(source),
            Some(Compression::Gzip) => Inner::Gzip(Box::new(MultiGzDecoder::new(source))),
            Some(Compression::Bzip2) => Inner::Bzip2(MultiBzDecoder::new(source)),
            Some(Compression::Zstd) => Inner::Zstd(Box::new(ZstdReader::new(source))),
        }))
    }
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Inner::Plain(source) => source.read(buffer),
            Inner::Gzip(source) => source.read(buffer),
            Inner::Bzip2(source) => source.read(buffer),
            Inner::Zstd(source) => source.read(buffer),
        }
    }
}

impl<R: Read> std::fmt::Debug for Decompressed<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decompressed").finish_non_exhaustive()
    }
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
