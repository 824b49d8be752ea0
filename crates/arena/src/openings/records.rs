//! Random access to the games of record files, without loading the files into memory. See [`SeekIndex`].

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use readyok_rules::Game;
use readyok_rules::record::{
    self, Bookmark, Defect, Format, GameRecord, Limits, Notice, NoticeReason, ReadExtent,
    RecordError, RecordErrorKind,
};

use super::entries::{SeekIndex, open_seekable};
use super::{OpeningDefect, OpeningError, OpeningFault};

/// Record files, whose games are numbered consecutively.
#[derive(Debug)]
pub(super) struct Records {
    paths: Vec<PathBuf>,
    /// The file opened last, and its number.
    source: Option<(usize, File)>,
    reading: Option<record::Records<'static>>,
    index: SeekIndex<Cursor>,
    at: Cursor,
    count: Option<u64>,
}

/// A position before a game or the end of a file.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    /// The number of the game.
    entry: u64,
    /// The number of the file, counted from 0.
    file: usize,
    /// The position in the file; `None` is the start.
    bookmark: Option<Bookmark>,
}

/// A game or its error.
pub(super) struct Found<'a> {
    pub(super) path: &'a Path,
    pub(super) game: Result<GameRecord, RecordError>,
}

impl Records {
    const MAX_MARKS: usize = 1 << 14;

    /// Opens a file, or the files of a directory in the order of their names.
    pub(super) fn open(path: &str) -> Result<Self, OpeningFault> {
        let file = Path::new(path);
        let paths = if file.is_dir() { files_of(file)? } else { vec![file.to_owned()] };
        let (at, index) = (Cursor::default(), SeekIndex::new(Self::MAX_MARKS));
        Ok(Self { paths, source: None, reading: None, index, at, count: None })
    }

    /// The number of games, if the end of the files was reached.
    pub(super) fn known_count(&self) -> Option<u64> {
        self.count
    }

    /// The number of games. The first call reads to the end of the files.
    pub(super) fn count(&mut self) -> Result<u64, OpeningError> {
        loop {
            if let Some(count) = self.count {
                return Ok(count);
            }
            if let Some(last) = self.index.last_after(self.at.entry) {
                self.go_to(last);
            }
            self.step()?;
        }
    }

    /// A game by its number.
    ///
    /// # Errors
    /// A file cannot be read. The error of a single game is part of the result.
    pub(super) fn get(&mut self, entry: u64) -> Result<Option<Found<'_>>, OpeningError> {
        if self.count.is_some_and(|count| entry >= count) {
            return Ok(None);
        }
        if let Some(mark) = self.index.nearest(entry, self.at.entry) {
            self.go_to(mark);
        }
        while self.at.entry < entry {
            if self.step()?.is_none() {
                return Ok(None);
            }
        }
        let Some(game) = self.step()? else { return Ok(None) };
        let path = self.paths.get(self.at.file).map_or_else(|| Path::new(""), PathBuf::as_path);
        Ok(Some(Found { path, game }))
    }

    fn go_to(&mut self, cursor: Cursor) {
        self.reading = None;
        self.at = cursor;
    }

    /// Reads one game; `None` at the end of the last file.
    fn step(&mut self) -> Result<Option<Result<GameRecord, RecordError>>, OpeningError> {
        loop {
            let Some(path) = self.paths.get(self.at.file) else {
                self.count = Some(self.at.entry);
                return Ok(None);
            };
            let in_file = |fault| OpeningError::in_file(&path.to_string_lossy(), fault);
            let games = match &mut self.reading {
                Some(games) => games,
                none => {
                    let source = self.source.take().filter(|(file, _)| *file == self.at.file);
                    let (games, file) =
                        games_of(path, source, self.at.bookmark).map_err(in_file)?;
                    self.source = Some((self.at.file, file));
                    none.insert(games)
                }
            };
            let before = self.at;
            match games.next() {
                None => {
                    let file = self.at.file + 1;
                    self.go_to(Cursor { entry: self.at.entry, file, bookmark: None });
                }
                Some(Err(RecordError { kind: RecordErrorKind::Io(error), .. })) => {
                    return Err(in_file(error.into()));
                }
                Some(game) => {
                    let truncation = truncation(games.notices()).map(|(notice, kind)| {
                        let (line, column) = (notice.line, notice.column);
                        RecordError { game: before.entry + 1, line, column, kind }
                    });
                    let game = game.and_then(|game| truncation.map_or(Ok(game), Err));
                    self.at.bookmark = games.bookmark();
                    self.at.entry += 1;
                    self.index.add(before.entry, before);
                    return Ok(Some(game));
                }
            }
        }
    }
}

/// The notice of the illegal move before which a main line was truncated, and its error: an opening must
/// be complete.
pub(super) fn truncation(notices: &[Notice]) -> Option<(&Notice, RecordErrorKind)> {
    notices.iter().find_map(|notice| {
        let kind = match (&notice.kept, &notice.reason) {
            (ReadExtent::MainLine(_), NoticeReason::Move(error)) => {
                RecordErrorKind::Move(error.clone())
            }
            (ReadExtent::MainLine(_), NoticeReason::Defect(Defect::NoMatchingMove { text })) => {
                RecordErrorKind::Defect(Defect::NoMatchingMove { text: text.clone() })
            }
            _ => return None,
        };
        Some((notice, kind))
    })
}

/// The games of a file from a bookmark on, and the file for reuse.
fn games_of(
    path: &Path,
    source: Option<(usize, File)>,
    from: Option<Bookmark>,
) -> Result<(record::Records<'static>, File), OpeningFault> {
    let file = match source {
        Some((_, file)) => file,
        None => open_seekable(path)?,
    };
    let mut reader = file.try_clone()?;
    reader.seek(SeekFrom::Start(from.map_or(0, |from| from.offset())))?;
    let limits = Limits::default();
    let games = match &from {
        Some(from) => record::Records::resume(reader, from, limits),
        None => record::Records::new(reader, format_of(path), limits),
    };
    Ok((games, file))
}

/// The shogi records of a directory, sorted by name.
fn files_of(directory: &Path) -> Result<Vec<PathBuf>, OpeningFault> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if format_of(&path).is_some_and(holds_records) {
            paths.push(path);
        }
    }
    paths.sort_unstable();
    if paths.is_empty() { Err(OpeningDefect::NoOpenings.into()) } else { Ok(paths) }
}

/// Whether a format has records of shogi, and not lines of moves.
pub(super) fn holds_records(format: Format) -> bool {
    format.supports(Game::Shogi) && format != Format::USI
}

/// The format by file extension, ignoring `.gz`.
fn format_of(path: &Path) -> Option<Format> {
    let is_gzip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let stem = if is_gzip { Path::new(path.file_stem()?) } else { path };
    Format::from_extension(stem.extension()?.to_str()?)
}

#[cfg(test)]
mod tests {
    use std::io::{BufWriter, Write as _};

    use readyok_rules::record::Tag;

    use super::Records;

    #[test]
    fn seeks_in_files_longer_than_the_index() {
        let count = Records::MAX_MARKS as u64 * 2 + 5;
        let mut file = tempfile::Builder::new().suffix(".csa").tempfile().unwrap();
        let mut out = BufWriter::new(file.as_file_mut());
        for number in 0..count {
            writeln!(out, "$EVENT:{number}\nPI\n+\n+7776FU\n/").unwrap();
        }
        drop(out);
        let mut records = Records::open(file.path().to_str().unwrap()).unwrap();
        let check = |records: &mut Records, number: u64| {
            let found = records.get(number).unwrap().map(|found| found.game.unwrap());
            let event = found.and_then(|game| game.header(Tag::Event).map(str::to_owned));
            assert_eq!(event, (number < count).then(|| number.to_string()));
        };
        for number in [0, 1, 2, 20_000, 3, 16_383, 16_384, 16_385, 32_770, 5, count, 0] {
            check(&mut records, number);
        }
        assert_eq!(records.count().unwrap(), count);
        (0..20).for_each(|step| check(&mut records, step * 1637));
        check(&mut records, count - 1);
    }
}
