//! Blocks: four bytes with the length of what they hold, four with its CRC-32, and that itself.

use std::io::{self, Read};

/// No block holds more than this many bytes, which is more than the longest game has.
pub(super) const MAX_BLOCK: usize = 1 << 16;

/// What comes before the content of a block.
pub(super) const FRAME: usize = 8;

/// Frames a content. None if it is too long.
pub(super) fn frame(content: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(content.len()).ok().filter(|_| content.len() <= MAX_BLOCK)?;
    let mut block = Vec::with_capacity(FRAME + content.len());
    block.extend(length.to_le_bytes());
    block.extend(crc32fast::hash(content).to_le_bytes());
    block.extend(content);
    Some(block)
}

/// What the next bytes are.
pub(super) enum Next {
    /// A sound block, whose content is in the buffer.
    Sound,
    /// Less than a block, or nothing: the file ends here.
    Truncated,
    /// No block.
    Broken(&'static str),
}

/// Reads a block into a buffer.
pub(super) fn next(source: &mut impl Read, content: &mut Vec<u8>) -> io::Result<Next> {
    content.clear();
    let (mut length, mut checksum) = ([0; 4], [0; 4]);
    if fill(source, &mut length)? < length.len() || fill(source, &mut checksum)? < checksum.len() {
        return Ok(Next::Truncated);
    }
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MAX_BLOCK {
        return Ok(Next::Broken("a block is longer than any game"));
    }
    content.resize(length, 0);
    if fill(source, content)? < length {
        return Ok(Next::Truncated);
    }
    Ok(if crc32fast::hash(content) == u32::from_le_bytes(checksum) {
        Next::Sound
    } else {
        Next::Broken("the checksum is that of something else")
    })
}

/// Fills a buffer up to the end of the source. Returns the number of bytes.
pub(super) fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match source.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
