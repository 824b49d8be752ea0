//! Compressed files of games. Their compression is detected by their first bytes.
//!
//! A small file can contain terabytes of zeros, so the ratio and the time of decompression are limited.

use std::fmt;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use serde::{Deserialize, Serialize};

mod encoder;

pub use encoder::Encoder;

/// A compression format.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Compression {
    /// RFC 1952.
    #[cfg_attr(feature = "cli", value(name = "gz", alias = "gzip", help = clap::builder::Resettable::Reset))]
    Gzip,
    /// The format of the program bzip2.
    #[cfg_attr(feature = "cli", value(name = "bz2", alias = "bzip2", help = clap::builder::Resettable::Reset))]
    Bzip2,
    /// RFC 8878.
    #[cfg_attr(feature = "cli", value(name = "zst", alias = "zstd", help = clap::builder::Resettable::Reset))]
    #[serde(rename = "Zstandard")]
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

    /// The usual file extension.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Bzip2 => "bz2",
            Self::Zstd => "zst",
        }
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

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gzip => "gzip",
            Self::Bzip2 => "bzip2",
            Self::Zstd => "Zstandard",
        })
    }
}

/// The maximum ratio of the decompressed to the compressed size. Game records have a ratio of 3 to 30.
pub const MAX_RATIO: u32 = 1000;
/// Decompressed bytes to which the ratio does not apply: small files of repeated games compress well.
const FREE_BYTES: u64 = 64 << 20;
/// The maximum time of decompression, and compressed bytes that extend it by a second. Waiting for the source is
/// excluded. At the maximum ratio, a slow computer needs a tenth of this time.
const FREE_TIME: Duration = Duration::from_mins(1);
const BYTES_PER_SECOND: u64 = 64 << 10;

readyok_protocol::errors! {
    /// Why a compressed file is not read to its end. It is the inner error of an [`io::Error`].
    #[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
    #[cfg_attr(feature = "ts", derive(ts_rs::TS))]
    #[serde(tag = "code", rename_all = "snake_case")]
    pub enum DecompressionError {
        CompressedTwice { compression: Compression } =>
            "the content is compressed again by {compression}; decompress the file first",
        CompressionRatio { limit: u32 } =>
            "the content is more than {limit} times as large as the compressed file",
        DecompressionTime => "decompression takes too long for the size of the file",
    }
}

impl DecompressionError {
    /// The inner error.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl From<DecompressionError> for io::Error {
    fn from(error: DecompressionError) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

#[expect(clippy::disallowed_methods, reason = "the time of decompression is limited")]
fn now() -> Instant {
    Instant::now()
}

/// What was read from a source, and how long its reader waited for it.
#[derive(Default)]
struct Meter {
    bytes: AtomicU64,
    nanos: AtomicU64,
}

/// A source with a meter.
struct Metered<R> {
    source: R,
    meter: Arc<Meter>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let begun = now();
        let result = self.source.read(buffer);
        let nanos = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.meter.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.meter.bytes.fetch_add(*result.as_ref().unwrap_or(&0) as u64, Ordering::Relaxed);
        result
    }
}

/// A source whose first bytes were read.
type Source<R> = BufReader<Chain<Cursor<Vec<u8>>, R>>;
type MeteredSource<R> = BufReader<Metered<Chain<Cursor<Vec<u8>>, R>>>;

/// The content of a source, which can be compressed. Decompression has limits of ratio and time.
pub struct Decompressed<R: Read>(Inner<R>);

enum Inner<R: Read> {
    Plain(Source<R>),
    Compressed(Box<Limited<R>>),
}

enum Decoder<R: Read> {
    Gzip(MultiGzDecoder<MeteredSource<R>>),
    Bzip2(MultiBzDecoder<MeteredSource<R>>),
    Zstd(Box<ZstdReader<MeteredSource<R>>>),
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(source) => source.read(buffer),
            Self::Bzip2(source) => source.read(buffer),
            Self::Zstd(source) => source.read(buffer),
        }
    }
}

/// A decoder with limits.
struct Limited<R: Read> {
    decoder: Decoder<R>,
    /// The first bytes of the content that were not returned yet.
    beginning: Cursor<Vec<u8>>,
    /// The error after the first bytes.
    failed: Option<io::Error>,
    meter: Arc<Meter>,
    max_ratio: Option<u32>,
    output: u64,
    spent: Duration,
}

impl<R: Read> Limited<R> {
    /// Reads from the decoder and checks the limits.
    fn decode(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (begun, waited) = (now(), self.meter.nanos.load(Ordering::Relaxed));
        let count = self.decoder.read(buffer)?;
        let waited = self.meter.nanos.load(Ordering::Relaxed).saturating_sub(waited);
        self.spent += begun.elapsed().saturating_sub(Duration::from_nanos(waited));
        self.output += count as u64;
        let limit = self.limit();
        limit.map_or(Ok(count), |error| Err(error.into()))
    }

    /// The limit that is exceeded.
    fn limit(&self) -> Option<DecompressionError> {
        let input = self.meter.bytes.load(Ordering::Relaxed);
        let max_ratio = self.max_ratio?;
        let max_output = input.saturating_mul(max_ratio.into()).max(FREE_BYTES);
        let max_time = FREE_TIME + Duration::from_secs(input / BYTES_PER_SECOND);
        if max_output < self.output {
            Some(DecompressionError::CompressionRatio { limit: max_ratio })
        } else {
            (max_time < self.spent).then_some(DecompressionError::DecompressionTime)
        }
    }
}

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.beginning.read(buffer)?;
        if count > 0 || buffer.is_empty() {
            return Ok(count);
        }
        self.failed.take().map_or_else(|| self.decode(buffer), Err)
    }
}

/// Bytes that identify a compression.
const BEGINNING: usize = 4;

impl<R: Read> Decompressed<R> {
    /// Reads the first bytes of a source.
    ///
    /// # Errors
    /// The source fails, or a compressed file is in it.
    pub fn new(source: R) -> io::Result<Self> {
        Self::with_max_ratio(source, Some(MAX_RATIO))
    }

    /// Reads the first bytes of a source, with another limit of the ratio, or without limits.
    ///
    /// # Errors
    /// The source fails, or a compressed file is in it.
    pub fn with_max_ratio(mut source: R, max_ratio: Option<u32>) -> io::Result<Self> {
        let mut beginning = Vec::new();
        source.by_ref().take(BEGINNING as u64).read_to_end(&mut beginning)?;
        let compression = Compression::detect(&beginning);
        let source = Cursor::new(beginning).chain(source);
        let Some(compression) = compression else {
            return Ok(Self(Inner::Plain(BufReader::with_capacity(1 << 16, source))));
        };
        let meter = Arc::new(Meter::default());
        let source = Metered { source, meter: Arc::clone(&meter) };
        let source = BufReader::with_capacity(1 << 16, source);
        let decoder = match compression {
            Compression::Gzip => Decoder::Gzip(MultiGzDecoder::new(source)),
            Compression::Bzip2 => Decoder::Bzip2(MultiBzDecoder::new(source)),
            Compression::Zstd => Decoder::Zstd(Box::new(ZstdReader::new(source))),
        };
        let (mut decoder, mut beginning) = (decoder, Vec::new());
        let failed = (&mut decoder).take(BEGINNING as u64).read_to_end(&mut beginning).err();
        if let Some(inner) = Compression::detect(&beginning) {
            return Err(DecompressionError::CompressedTwice { compression: inner }.into());
        }
        Ok(Self(Inner::Compressed(Box::new(Limited {
            decoder,
            beginning: Cursor::new(beginning),
            failed,
            meter,
            max_ratio,
            output: 0,
            spent: Duration::ZERO,
        }))))
    }
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Inner::Plain(source) => source.read(buffer),
            Inner::Compressed(source) => source.read(buffer),
        }
    }
}

impl<R: Read> fmt::Debug for Decompressed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Write};

    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// The number of bytes that are read, and the error.
    fn read(file: &[u8], max_ratio: Option<u32>) -> (u64, Option<DecompressionError>) {
        let mut source = match Decompressed::with_max_ratio(file, max_ratio) {
            Ok(source) => source,
            Err(error) => return (0, DecompressionError::of(&error)),
        };
        let (mut total, mut buffer) = (0, vec![0; 1 << 16]);
        loop {
            match source.read(&mut buffer) {
                Ok(0) => return (total, None),
                Ok(count) => total += count as u64,
                Err(error) => return (total, DecompressionError::of(&error)),
            }
        }
    }

    #[test]
    fn the_ratio_is_limited_beyond_64_mebibytes() {
        // A frame of zeros has a ratio of several thousand. Frames can follow each other.
        let frame = compress_to_vec(io::repeat(0).take(1 << 20), CompressionLevel::Fastest);
        let (small, large) = (frame.repeat(64), frame.repeat(66));
        assert_eq!(read(&small, Some(MAX_RATIO)), (64 << 20, None));
        let (total, error) = read(&large, Some(MAX_RATIO));
        assert_eq!(error, Some(DecompressionError::CompressionRatio { limit: MAX_RATIO }));
        assert!((60 << 20..=64 << 20).contains(&total), "{total}");
        assert_eq!(read(&large, None), (66 << 20, None));
    }

    #[test]
    fn a_compressed_file_in_a_compressed_file_is_an_error() {
        let inner = gzip(b"1. e4 *");
        let zstd = compress_to_vec(&inner[..], CompressionLevel::Fastest);
        for file in [gzip(&inner), zstd] {
            let nested = DecompressionError::CompressedTwice { compression: Compression::Gzip };
            assert_eq!(read(&file, Some(MAX_RATIO)), (0, Some(nested)));
        }
        assert_eq!(read(&inner, Some(MAX_RATIO)), (7, None));
        assert_eq!(read(&gzip(b""), Some(MAX_RATIO)), (0, None));
    }
}
