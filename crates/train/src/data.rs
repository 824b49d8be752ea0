//! Files of games: the moves, the scores of the searches, and the results.
//!
//! A file is a sequence of blocks, each with its length and checksum: first a [`Header`], then groups of
//! [`Record`]s of games, in the order of their numbers. Each group is compressed. A partial block at the
//! end, which a killed program leaves, is truncated when a run is resumed.
//!
//! Files of version 1, which are not compressed and have one game per block, can be read.

mod group;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::{io, vec};

use readyok_rules::Side;

use crate::games::GameKind;

/// Why a file of games cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// An operation of the system failed.
    #[error("`{}` cannot be {what}: {source}", path.display())]
    Io {
        path: PathBuf,
        /// The operation that failed, as a participle.
        what: &'static str,
        source: io::Error,
    },
    /// The header is missing or invalid.
    #[error("`{}` is not a file of games: {why}", path.display())]
    NoHeader { path: PathBuf, why: String },
    /// The file is damaged, not only at its end.
    #[error("`{}` is damaged at byte {offset}: {why}", path.display())]
    Damaged {
        path: PathBuf,
        /// The offset of the damaged block, in bytes.
        offset: u64,
        why: String,
    },
    /// Another process is writing the file.
    #[error("`{}` is being written by another program", .0.display())]
    Locked(PathBuf),
    /// The file exists with other settings.
    #[error("`{}` was begun with another {what}", path.display())]
    OtherSettings {
        path: PathBuf,
        /// The setting that differs.
        what: &'static str,
    },
}

impl DataError {
    /// A file could not be read.
    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), what: "read", source }
    }
}

/// Adds the path to an I/O error.
trait IoContext<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, DataError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, path: &Path, what: &'static str) -> Result<T, DataError> {
        self.map_err(|source| DataError::Io { path: path.to_owned(), what, source })
    }
}

/// The first bytes of the first block.
const MAGIC: &[u8; 8] = b"narigame";

/// The version of the format.
pub const VERSION: u16 = 2;

/// The previous version, which can only be read.
const OLD_VERSION: u16 = 1;

/// The maximum length of the engine's name, in bytes.
const MAX_NAME: usize = 255;

/// Everything that determines the games of a file, for a given version of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub game: GameKind,
    /// The random seed; each game combines it with its own number.
    pub seed: u64,
    /// Approximate nodes per move.
    pub nodes: u32,
    /// The minimum number of random plies of each game.
    pub random_plies: u8,
    /// The maximum number of additional random plies; all numbers up to it have the same probability.
    pub extra_plies: u8,
    /// The percentage of games with a Chess960 start position.
    pub chess960: u8,
    /// The maximum number of pieces of positions that are adjudicated by Syzygy tables; 0 without.
    pub syzygy: u8,
    /// The engine and its version, in at most 255 bytes.
    pub engine: String,
}

impl Header {
    /// Writes the content of the first block.
    fn write(&self) -> Option<Vec<u8>> {
        let mut content = Vec::with_capacity(64);
        content.extend(MAGIC);
        content.extend(VERSION.to_le_bytes());
        content.push(self.game.number());
        content.push(self.random_plies);
        content.push(self.chess960);
        content.push(self.extra_plies);
        content.push(self.syzygy);
        content.extend(self.nodes.to_le_bytes());
        content.extend(self.seed.to_le_bytes());
        content.push(u8::try_from(self.engine.len()).ok()?);
        content.extend(self.engine.as_bytes());
        Some(content)
    }

    /// Reads the version and the content of the first block, or returns what is wrong with it.
    fn read(content: &[u8]) -> Result<(u16, Self), String> {
        let rest = content.strip_prefix(MAGIC).ok_or("it has another magic number")?;
        let (&version, rest) = rest.split_first_chunk::<2>().ok_or(SHORT)?;
        let version = u16::from_le_bytes(version);
        if !(OLD_VERSION..=VERSION).contains(&version) {
            let range = format!("{OLD_VERSION} to {VERSION}");
            return Err(format!("its version is {version}, and only {range} can be read"));
        }
        let (&[game, random_plies, chess960], rest) = rest.split_first_chunk().ok_or(SHORT)?;
        let game = GameKind::from_number(game).ok_or("it is of an unknown game")?;
        let (&[extra_plies, syzygy], rest) = match version {
            OLD_VERSION => (&[1, 0], rest),
            _ => rest.split_first_chunk().ok_or(SHORT)?,
        };
        let (&nodes, rest) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
        let (&seed, rest) = rest.split_first_chunk::<8>().ok_or(SHORT)?;
        let (&length, name) = rest.split_first().ok_or(SHORT)?;
        if name.len() != usize::from(length) {
            return Err(SHORT.to_owned());
        }
        let engine = std::str::from_utf8(name).map_err(|_| "the engine's name is not UTF-8")?;
        let header = Self {
            game,
            seed: u64::from_le_bytes(seed),
            nodes: u32::from_le_bytes(nodes),
            random_plies,
            extra_plies,
            chess960,
            syzygy,
            engine: engine.to_owned(),
        };
        Ok((version, header))
    }

    /// The first setting that differs from another header.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        [
            (self.game == other.game, "game"),
            (self.seed == other.seed, "seed"),
            (self.nodes == other.nodes, "number of nodes"),
            (self.random_plies == other.random_plies, "number of random plies"),
            (self.extra_plies == other.extra_plies, "number of additional random plies"),
            (self.chess960 == other.chess960, "share of Chess960"),
            (self.syzygy == other.syzygy, "use of Syzygy tables"),
            (self.engine == other.engine, "engine"),
        ]
        .into_iter()
        .find_map(|(same, what)| (!same).then_some(what))
    }

    /// Truncates a name to the maximum length.
    pub fn name(engine: &str) -> String {
        engine
            .chars()
            .scan(0, |bytes, char| {
                *bytes += char.len_utf8();
                (*bytes <= MAX_NAME).then_some(char)
            })
            .collect()
    }
}

const SHORT: &str = "its first block has another length";

/// The maximum number of plies of a game, without random ones.
pub const MAX_PLIES: usize = 1024;

/// Scores from this one on are mates: `MATE` minus the plies to mate.
pub const MATE: i16 = 30_000;

/// The length of the fields before the moves in version 1.
const HEAD: usize = 5;

/// A game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The number of the start position: Scharnagl's number in chess, 0 in shogi.
    pub start: u16,
    /// The random moves, without scores.
    pub opening: Vec<u16>,
    /// The searched moves.
    pub plies: Vec<Ply>,
    pub winner: Option<Side>,
    /// What ended the game.
    pub end: End,
}

/// A move and the score of the search before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ply {
    /// The number of the move.
    pub mv: u16,
    /// The score in centipawns for the side to move. Mates are near [`MATE`] and its negative.
    pub score: i16,
}

/// The half points of the first side, by which files store the winner.
fn half_points(winner: Option<Side>) -> u8 {
    winner.map_or(1, |side| if side == Side::First { 2 } else { 0 })
}

fn read_winner(half_points: u8) -> Result<Option<Side>, &'static str> {
    match half_points {
        0 => Ok(Some(Side::Second)),
        1 => Ok(None),
        2 => Ok(Some(Side::First)),
        _ => Err("an unknown result"),
    }
}

/// What ended a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Checkmate or stalemate.
    Board,
    /// Another rule: repetition, fifty moves, insufficient material, a declaration.
    Rule,
    /// Adjudication by scores.
    Scores,
    /// The maximum length.
    Length,
    /// Adjudication by endgame tables.
    Tables,
}

impl End {
    fn number(self) -> u8 {
        match self {
            Self::Board => 0,
            Self::Rule => 1,
            Self::Scores => 2,
            Self::Length => 3,
            Self::Tables => 4,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Board,
            1 => Self::Rule,
            2 => Self::Scores,
            3 => Self::Length,
            4 => Self::Tables,
            _ => return None,
        })
    }
}

impl Record {
    /// Reads the content of a block of version 1. The legality of the moves is not checked.
    fn read(content: &[u8]) -> Result<Self, &'static str> {
        let (&[low, high, winner, end, random], moves) =
            content.split_first_chunk::<HEAD>().ok_or("a game without its head")?;
        let winner = read_winner(winner)?;
        let end = End::from_number(end).ok_or("an unknown end of a game")?;
        let (opening, plies) =
            moves.split_at_checked(2 * usize::from(random)).ok_or("a game without its opening")?;
        let (opening, _) = opening.as_chunks::<2>();
        let (plies, rest) = plies.as_chunks::<4>();
        if !rest.is_empty() {
            return Err("half a move");
        }
        if plies.len() > MAX_PLIES {
            return Err("a game that is too long");
        }
        let ply = |&[a, b, c, d]: &[u8; 4]| Ply {
            mv: u16::from_le_bytes([a, b]),
            score: i16::from_le_bytes([c, d]),
        };
        Ok(Self {
            start: u16::from_le_bytes([low, high]),
            opening: opening.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect(),
            plies: plies.iter().map(ply).collect(),
            winner,
            end,
        })
    }
}

/// The maximum length of a block, which is more than the longest games need.
const MAX_BLOCK: usize = 1 << 20;

/// The length of the block header.
const FRAME: usize = 8;

/// Makes a block of a content. `None` if it is too long.
fn frame(content: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(content.len()).ok().filter(|_| content.len() <= MAX_BLOCK)?;
    let mut block = Vec::with_capacity(FRAME + content.len());
    block.extend(length.to_le_bytes());
    block.extend(crc32fast::hash(content).to_le_bytes());
    block.extend(content);
    Some(block)
}

/// The next block.
enum Next {
    /// A valid block, whose content is in the buffer.
    Sound,
    /// A partial block or nothing: the end of the file.
    Truncated,
    /// Not a block.
    Broken(&'static str),
}

/// Reads a block into a buffer.
fn next(source: &mut impl Read, content: &mut Vec<u8>) -> io::Result<Next> {
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
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
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

/// Reads games in order, even while another process is writing the file.
///
/// A partial group at the end is ignored. Any other damage is an error, which ends the iteration.
#[derive(Debug)]
pub struct GameReader<R = BufReader<File>> {
    path: PathBuf,
    source: R,
    version: u16,
    header: Header,
    /// The end of the valid blocks.
    end: u64,
    content: Vec<u8>,
    /// The next games of the last group.
    group: vec::IntoIter<Record>,
    over: bool,
}

impl GameReader {
    /// Opens a file.
    ///
    /// # Errors
    /// The file cannot be read, or its header is invalid.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let file = File::open(path).at(path, "opened")?;
        Self::new(path, BufReader::new(file))
    }
}

impl<R: Read> GameReader<R> {
    /// Reads from any source; the path is named in errors.
    ///
    /// # Errors
    /// The source cannot be read, or its header is invalid.
    pub fn new(path: &Path, mut source: R) -> Result<Self, DataError> {
        let no_header = |why: String| DataError::NoHeader { path: path.to_owned(), why };
        let mut content = Vec::new();
        match next(&mut source, &mut content).at(path, "read")? {
            Next::Sound => (),
            Next::Truncated => return Err(no_header("it is too short".to_owned())),
            Next::Broken(why) => return Err(no_header(why.to_owned())),
        }
        let (version, header) = Header::read(&content).map_err(no_header)?;
        let end = (FRAME + content.len()) as u64;
        let path = path.to_owned();
        let group = Vec::new().into_iter();
        Ok(Self { path, source, version, header, end, content, group, over: false })
    }

    /// The settings of the games.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The games of the next block.
    fn next_group(&mut self) -> Result<Option<Vec<Record>>, DataError> {
        let read = match next(&mut self.source, &mut self.content).at(&self.path, "read")? {
            Next::Truncated => return Ok(None),
            Next::Sound if self.version == OLD_VERSION => {
                Record::read(&self.content).map(|record| vec![record])
            }
            Next::Sound => group::read(self.header.game, &self.content),
            // After a system failure, a block can have the right length but no content.
            Next::Broken(_) if self.is_at_end()? => return Ok(None),
            Next::Broken(why) => Err(why),
        };
        let records = read.map_err(|why| DataError::Damaged {
            path: self.path.clone(),
            offset: self.end,
            why: why.to_owned(),
        })?;
        self.end += (FRAME + self.content.len()) as u64;
        Ok(Some(records))
    }

    fn advance(&mut self) -> Result<Option<Record>, DataError> {
        loop {
            if let Some(record) = self.group.next() {
                return Ok(Some(record));
            }
            match self.next_group()? {
                Some(records) => self.group = records.into_iter(),
                None => return Ok(None),
            }
        }
    }

    fn is_at_end(&mut self) -> Result<bool, DataError> {
        Ok(fill(&mut self.source, &mut [0]).at(&self.path, "read")? == 0)
    }
}

impl<R: Read> Iterator for GameReader<R> {
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

/// A file of games, open for writing by this process only.
///
/// Games are written in groups. [`finish`](Self::finish) writes an incomplete one.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    game: GameKind,
    /// The end of the complete groups. An incomplete one follows until it is replaced.
    end: u64,
    /// The games of the next group.
    group: Vec<Record>,
    /// Whether the group has games that are not in the file.
    unwritten: bool,
}

impl Writer {
    /// Opens or creates a file. Calls `on_game` for each game in it, and truncates a partial block at the
    /// end.
    ///
    /// # Errors
    /// The file cannot be read or written, or another process is writing it. The file is damaged other
    /// than at its end, has an old version, or its settings differ from the header.
    pub fn open(
        path: &Path,
        header: &Header,
        mut on_game: impl FnMut(&Record),
    ) -> Result<Self, DataError> {
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path).at(path, "opened")?;
        match file.try_lock() {
            Ok(()) => (),
            Err(TryLockError::WouldBlock) => return Err(DataError::Locked(path.to_owned())),
            Err(TryLockError::Error(error)) => return Err(error).at(path, "locked"),
        }
        let length = file.metadata().at(path, "read")?.len();
        let (game, group) = (header.game, Vec::new());
        if length == 0 {
            let mut writer =
                Self { path: path.to_owned(), file, game, end: 0, group, unwritten: false };
            writer.write(header.write().as_deref())?;
            return Ok(writer);
        }
        let mut games = GameReader::new(path, BufReader::new(&file))?;
        let version = (games.version != VERSION).then_some("version of the format");
        if let Some(what) = version.or_else(|| games.header().difference(header)) {
            return Err(DataError::OtherSettings { path: path.to_owned(), what });
        }
        let mut end = games.end;
        let mut last = Vec::new();
        while let Some(records) = games.next_group()? {
            records.iter().for_each(&mut on_game);
            // An incomplete group is written again.
            last = if records.len() < group::GAMES { records } else { Vec::new() };
            if last.is_empty() {
                end = games.end;
            }
        }
        if length > games.end {
            file.set_len(games.end).at(path, "cut")?;
        }
        drop(games);
        Ok(Self { path: path.to_owned(), file, game, end, group: last, unwritten: false })
    }

    /// Adds a game, and writes the group if it is complete.
    ///
    /// # Errors
    /// The group cannot be written, or the game exceeds the maximum length. The file is then unchanged.
    pub fn append(&mut self, game: Record) -> Result<(), DataError> {
        if game.plies.len() > MAX_PLIES || game.opening.len() > usize::from(u8::MAX) {
            return self.write(None);
        }
        self.group.push(game);
        self.unwritten = true;
        if self.group.len() >= group::GAMES { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<(), DataError> {
        self.write(group::write(self.game, &self.group).as_deref())?;
        self.group.clear();
        self.unwritten = false;
        Ok(())
    }

    /// Writes an incomplete group, and flushes everything to the disk.
    ///
    /// # Errors
    /// The file cannot be written, or the disk reports an error.
    pub fn finish(mut self) -> Result<(), DataError> {
        if self.unwritten {
            self.write_group()?;
        }
        self.file.sync_data().at(&self.path, "written")
    }

    fn write(&mut self, content: Option<&[u8]>) -> Result<(), DataError> {
        let block = content.and_then(frame);
        let too_long = || io::Error::new(io::ErrorKind::InvalidInput, "it is too long");
        let block = block.ok_or_else(too_long).at(&self.path, "written")?;
        self.file.set_len(self.end).at(&self.path, "truncated")?;
        if let Err(error) = self.file.write_all(&block) {
            // A partial game in the middle of the file would be damage.
            self.file.set_len(self.end).at(&self.path, "truncated")?;
            self.file.seek(SeekFrom::End(0)).at(&self.path, "truncated")?;
            return Err(error).at(&self.path, "written");
        }
        self.end += block.len() as u64;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A child process inherits open files until it executes its program.
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_unlocked_even_if_a_child_process_inherited_it() {
        let directory = tempfile::TempDir::new().expect("a directory");
        let path = directory.path().join("games");
        let header = Header {
            game: GameKind::Chess,
            seed: 7,
            nodes: 40,
            random_plies: 4,
            extra_plies: 1,
            chess960: 0,
            syzygy: 0,
            engine: String::new(),
        };
        let open = || Writer::open(&path, &header, |_| ());
        let writer = open().expect("an unlocked file");
        let inherited = writer.file.try_clone().expect("one more");
        assert!(matches!(open(), Err(DataError::Locked(_))));
        drop(writer);
        assert!(open().is_ok());
        drop(inherited);
    }
}
