//! Games of files of records by their number, without the files in memory.
//!
//! The files are read in order to where a game is needed, and places are noted on the way: from the nearest of them a
//! game is found again.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use readyok_rules::record::{
    self, Bookmark, Format, GameRecord, Limits, RecordError, RecordErrorKind,
};

use super::entries::plain;
use super::marks::Marks;
use super::{OpeningError, OpeningFault};

/// Files of records, of which each game has a number.
#[derive(Debug)]
pub(super) struct Records {
    paths: Vec<PathBuf>,
    /// The file that was opened last, by its number.
    source: Option<(usize, File)>,
    reading: Option<record::Records<File>>,
    marks: Marks<Mark>,
    at: Mark,
    count: Option<u64>,
}

/// Before a game, or before the end of a file.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// The number of the game.
    entry: u64,
    /// The file it is in, from 0 on.
    file: usize,
    /// Where it begins there; none is the start.
    bookmark: Option<Bookmark>,
}

/// A game, or why it cannot be read.
pub(super) struct Found<'a> {
    pub(super) path: &'a Path,
    pub(super) game: Result<GameRecord, RecordError>,
}

impl Records {
    /// See [`Marks`].
    const MOST_MARKS: usize = 1 << 14;

    /// A file, or the files of a folder by name.
    pub(super) fn open(path: &str) -> Result<Self, OpeningFault> {
        let file = Path::new(path);
        let paths = if file.is_dir() { of_folder(file)? } else { vec![file.to_owned()] };
        let (at, marks) = (Mark::default(), Marks::new(Self::MOST_MARKS));
        Ok(Self { paths, source: None, reading: None, marks, at, count: None })
    }

    /// How many games there are, if the files were read to their end.
    pub(super) fn known_count(&self) -> Option<u64> {
        self.count
    }

    /// How many games there are. Reads to the end of the files, once.
    pub(super) fn count(&mut self) -> Result<u64, OpeningError> {
        loop {
            if let Some(count) = self.count {
                return Ok(count);
            }
            if let Some(last) = self.marks.last_ahead_of(self.at.entry) {
                self.go_to(last);
            }
            self.step()?;
        }
    }

    /// A game by its number; none if there are not so many. The error is of a file.
    pub(super) fn get(&mut self, entry: u64) -> Result<Option<Found<'_>>, OpeningError> {
        if self.count.is_some_and(|count| entry >= count) {
            return Ok(None);
        }
        if let Some(mark) = self.marks.nearest(entry, self.at.entry) {
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

    fn go_to(&mut self, mark: Mark) {
        self.reading = None;
        self.at = mark;
    }

    /// Reads one game; none at the end of the last file.
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
                    self.go_to(Mark { entry: self.at.entry, file, bookmark: None });
                }
                Some(Err(RecordError { kind: RecordErrorKind::Io(error), .. })) => {
                    return Err(in_file(error.into()));
                }
                Some(game) => {
                    self.at.bookmark = games.bookmark();
                    self.at.entry += 1;
                    self.marks.note(before.entry, before);
                    return Ok(Some(game));
                }
            }
        }
    }
}

/// The games of a file from a place on, and the file to be read again.
fn games_of(
    path: &Path,
    source: Option<(usize, File)>,
    from: Option<Bookmark>,
) -> Result<(record::Records<File>, File), OpeningFault> {
    let file = match source {
        Some((_, file)) => file,
        None => plain(path)?,
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

/// The records of shogi in a folder, by name.
fn of_folder(folder: &Path) -> Result<Vec<PathBuf>, OpeningFault> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        match format_of(&path) {
            Some(Format::Kif | Format::Ki2 | Format::Csa | Format::Jkf) => paths.push(path),
            Some(Format::Pgn | Format::Usi) | None => {}
        }
    }
    paths.sort_unstable();
    if paths.is_empty() { Err(OpeningFault::Empty) } else { Ok(paths) }
}

/// The format that the end of a name tells, in front of `.gz`.
fn format_of(path: &Path) -> Option<Format> {
    let is_packed = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("gz"));
    let stem = if is_packed { Path::new(path.file_stem()?) } else { path };
    Format::from_extension(stem.extension()?.to_str()?)
}

#[cfg(test)]
mod tests {
    use std::io::{BufWriter, Write as _};

    use readyok_rules::record::Tag;

    use super::Records;

    /// More games than places are noted for.
    #[test]
    fn a_game_of_a_long_file_is_found_from_anywhere() {
        let count = Records::MOST_MARKS as u64 * 2 + 5;
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
