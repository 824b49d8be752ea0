//! Blocks: the length of the content (four bytes), its CRC-32 (four bytes), and the content.

use std::io::{self, Read};

/// The maximum length of a block, which is more than the longest game needs.
pub(super) const MAX_BLOCK: usize = 1 << 16;

/// The length of the block header.
pub(super) const FRAME: usize = 8;

/// Makes a block of a content. `None` if it is too long.
pub(super) fn frame(content: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(content.len()).ok().filter(|_| content.len() <= MAX_BLOCK)?;
    let mut block = Vec::with_capacity(FRAME + content.len());
    block.extend(length.to_le_bytes());
    block.extend(crc32fast::hash(content).to_le_bytes());
    block.extend(content);
    Some(block)
}

/// The next block.
pub(super) enum Next {
    /// A valid block, whose content is in the buffer.
    Sound,
    /// A partial block or nothing: the end of the file.
    Truncated,
    /// Not a block.
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
        Next::Broken("the checksum does not match")
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
