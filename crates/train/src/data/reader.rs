//! Reads the games of a file.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::block::{self, FRAME, Next};
use super::error::At as _;
use super::{DataError, Header, Record};

/// Reads games in order, even while another process is writing the file.
///
/// A partial game at the end is ignored. Any other damage is an error, which ends the iteration.
#[derive(Debug)]
pub struct Reader<R = BufReader<File>> {
    path: PathBuf,
    source: R,
    header: Header,
    /// The end of the valid blocks.
    end: u64,
    content: Vec<u8>,
    over: bool,
}

impl Reader {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be read, or its header is invalid.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).at(path, "opened")?;
        Self::new(path, BufReader::new(file))
    }
}

impl<R: Read> Reader<R> {
    /// Reads from any source; the path is named in errors.
    ///
    /// # Errors
    /// The source cannot be read, or its header is invalid.
    pub fn new(path: &Path, mut source: R) -> Result<Self, DataError> {
        let no_header = |why: String| DataError::NoHeader { path: path.to_owned(), why };
        let mut content = Vec::new();
        match block::next(&mut source, &mut content).at(path, "read")? {
            Next::Sound => (),
            Next::Truncated => return Err(no_header("it is too short".to_owned())),
            Next::Broken(why) => return Err(no_header(why.to_owned())),
        }
        let header = Header::read(&content).map_err(no_header)?;
        let end = (FRAME + content.len()) as u64;
        Ok(Self { path: path.to_owned(), source, header, end, content, over: false })
    }

    /// The settings of the games.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The offset of the end of the last game that was read.
    pub fn end(&self) -> u64 {
        self.end
    }

    fn advance(&mut self) -> Result<Option<Record>, DataError> {
        let read = match block::next(&mut self.source, &mut self.content).at(&self.path, "read")? {
            Next::Truncated => return Ok(None),
            Next::Sound => Record::read(&self.content),
            // After a system failure, a block can have the right length but no content.
            Next::Broken(_) if self.is_at_end()? => return Ok(None),
            Next::Broken(why) => Err(why),
        };
        let record = read.map_err(|why| DataError::Damaged {
            path: self.path.clone(),
            offset: self.end,
            why: why.to_owned(),
        })?;
        self.end += (FRAME + self.content.len()) as u64;
        Ok(Some(record))
    }

    fn is_at_end(&mut self) -> Result<bool, DataError> {
        Ok(block::fill(&mut self.source, &mut [0]).at(&self.path, "read")? == 0)
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.advance().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}
