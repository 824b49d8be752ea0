//! Output files: written to temporary files that replace their targets when they are complete.

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use readyok_rules::Side;
use readyok_rules::record::{GameRecord, Tag};
use tempfile::TempPath;

use super::format::FileFormat;
use super::input::InputFile;
use readyok_rules::record::compression::{Compression, Encoder};

/// The maximum number of files that are open at the same time.
const MAX_OPEN: usize = 64;
/// The maximum number of characters of a file name that is made from a header.
const MAX_NAME: usize = 80;

/// Where games are written.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// Standard output if `None`.
    pub(crate) path: Option<PathBuf>,
    pub(crate) split: Option<Split>,
    /// The compression, also for standard output; that of the file extension if `None`.
    pub(crate) compression: Option<Compression>,
}

/// How games are distributed to several files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Split {
    Count(u64),
    By(SplitKey),
}

/// A property by which games are distributed to files.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum SplitKey {
    /// Each player; a game is in the files of both
    Player,
    White,
    Black,
    Event,
    Site,
    /// The year of the date
    Year,
    Eco,
    Result,
    Variant,
}

/// A game in its output format.
#[derive(Clone, Debug)]
pub(crate) struct Rendered {
    pub(crate) bytes: Vec<u8>,
    pub(crate) format: FileFormat,
    /// The number of the input file.
    pub(crate) file: usize,
    /// The names of the files that the game belongs to, if games are distributed by a property.
    pub(crate) groups: Vec<String>,
}

impl SplitKey {
    /// The values of a game.
    pub(super) fn of(self, record: &GameRecord) -> Vec<String> {
        use readyok_rules::record::PlayerColor;
        let player = |side| record.player(side).unwrap_or_default().to_owned();
        let tag = |tag| record.header(tag).unwrap_or_default().to_owned();
        let one = match self {
            Self::Player => {
                let mut names: Vec<_> = Side::BOTH.into_iter().map(player).collect();
                names.dedup();
                return names;
            }
            Self::White => player(PlayerColor::White.side(record.game())),
            Self::Black => player(PlayerColor::Black.side(record.game())),
            Self::Event => tag(Tag::Event),
            Self::Site => tag(Tag::Site),
            Self::Year => record.date().year().map(|year| year.to_string()).unwrap_or_default(),
            Self::Eco => {
                record.opening_names().map(|(eco, _)| eco.into_owned()).unwrap_or_default()
            }
            Self::Result => match record.result {
                readyok_rules::GameResult::Draw => "draw".to_owned(),
                readyok_rules::GameResult::Unknown => String::new(),
                result @ readyok_rules::GameResult::Win(_) => result.as_str().to_owned(),
            },
            Self::Variant => super::game_name(record.game()).to_owned(),
        };
        vec![one]
    }
}

/// A file name made from the value of a header.
fn file_name(value: &str) -> String {
    let is_safe =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '+' | '(' | ')');
    let mut name = String::new();
    for letter in value.trim().chars().take(MAX_NAME) {
        if is_safe(letter) || letter == '.' && !name.is_empty() {
            name.push(letter);
        } else if !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
    }
    let name = name.trim_end_matches(['_', '.']);
    if name.is_empty() { "unknown".to_owned() } else { name.to_owned() }
}

type Writer = Encoder<BufWriter<Box<dyn Write>>>;

/// An output file.
struct Target {
    path: Option<PathBuf>,
    temp: Option<TempPath>,
    writer: Option<Writer>,
    compression: Option<Compression>,
    games: u64,
    /// The number of the last write.
    used: u64,
}

impl Target {
    fn stdout(compression: Option<Compression>) -> Self {
        let out: Box<dyn Write> = Box::new(io::stdout());
        let writer = Some(Encoder::new(BufWriter::with_capacity(1 << 16, out), compression));
        Self { path: None, temp: None, writer, compression, games: 0, used: 0 }
    }

    fn create(path: &Path, compression: Option<Compression>) -> io::Result<Self> {
        // The target of a link is replaced, not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let is_special = fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file());
        let (out, temp): (Box<dyn Write>, _) = if is_special {
            // A device or a pipe cannot be replaced.
            (Box::new(OpenOptions::new().write(true).open(&path)?), None)
        } else {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = parent.unwrap_or_else(|| Path::new("."));
            fs::create_dir_all(parent)?;
            let mut builder = tempfile::Builder::new();
            builder.prefix(".readyok-").suffix(".tmp");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                // The process's mask restricts them, as for any new file.
                builder.permissions(fs::Permissions::from_mode(0o666));
            }
            let (file, temp) = builder.tempfile_in(parent)?.into_parts();
            (Box::new(file), Some(temp))
        };
        let writer = Some(Encoder::new(BufWriter::with_capacity(1 << 16, out), compression));
        Ok(Self { path: Some(path), temp, writer, compression, games: 0, used: 0 })
    }

    /// An error with the file, which is a temporary one for the system.
    fn named(&self, error: &io::Error) -> io::Error {
        match &self.path {
            Some(path) => io::Error::new(error.kind(), format!("`{}`: {error}", path.display())),
            None => io::Error::new(error.kind(), error.to_string()),
        }
    }

    fn write(&mut self, game: &Rendered) -> io::Result<()> {
        self.write_game(game).map_err(|error| self.named(&error))
    }

    fn write_game(&mut self, game: &Rendered) -> io::Result<()> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.reopened()?,
        };
        if self.games > 0 {
            writer.write_all(game.format.separator().unwrap_or_default().as_bytes())?;
        }
        self.games += 1;
        writer.write_all(&game.bytes)?;
        self.writer = Some(writer);
        Ok(())
    }

    /// Continues a file that was closed. The bytes form another member of a compressed file.
    fn reopened(&self) -> io::Result<Writer> {
        let path = self.temp.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let out: Box<dyn Write> = Box::new(OpenOptions::new().append(true).open(path)?);
        Ok(Encoder::new(BufWriter::new(out), self.compression))
    }

    fn close(&mut self) -> io::Result<()> {
        let closed = self.writer.take().map_or(Ok(()), |writer| writer.finish().map(drop));
        closed.map_err(|error| self.named(&error))
    }

    /// Completes the file and moves it to its path.
    fn persist(mut self) -> io::Result<()> {
        self.close()?;
        match (self.temp.take(), &self.path) {
            // Not flushed: the input can be converted again, and many files would take long.
            (Some(temp), Some(path)) => {
                temp.persist(path).map_err(|error| self.named(&error.error))
            }
            _ => Ok(()),
        }
    }
}

/// The output of a conversion.
pub(crate) struct Output {
    destination: Destination,
    compression: Option<Compression>,
    is_directory: bool,
    /// Input files, which are never replaced.
    inputs: HashSet<PathBuf>,
    /// The file to which games are written one after another.
    current: Option<(PathBuf, Target)>,
    /// Files to which games are distributed.
    targets: HashMap<PathBuf, Target>,
    /// Complete files.
    finished: HashSet<PathBuf>,
    games: u64,
}

impl Output {
    pub(crate) fn new(destination: Destination, inputs: HashSet<PathBuf>) -> Self {
        let path = destination.path.as_deref();
        // Several files without an extension to name them are in a directory.
        let is_directory = path.is_some_and(|path| {
            is_directory(path) || destination.split.is_some() && path.extension().is_none()
        });
        let extension = path.filter(|_| !is_directory).and_then(Compression::of);
        let compression = destination.compression.or_else(|| extension.map(|known| known.0));
        Self {
            destination,
            compression,
            is_directory,
            inputs,
            current: None,
            targets: HashMap::new(),
            finished: HashSet::new(),
            games: 0,
        }
    }

    /// The property by which games are distributed.
    pub(super) fn split_key(&self) -> Option<SplitKey> {
        match self.destination.split {
            Some(Split::By(key)) => Some(key),
            _ => None,
        }
    }

    pub(crate) fn write(&mut self, game: &Rendered, input: &InputFile) -> io::Result<()> {
        let number = self.games;
        self.games += 1;
        match self.destination.split {
            Some(Split::By(_)) => {
                for group in &game.groups {
                    let path = self.path(&file_name(group), game.format);
                    self.write_distributed(path, game)?;
                }
                Ok(())
            }
            Some(Split::Count(count)) => {
                let name = format!("{:06}", number / count + 1);
                let path = self.path(&name, game.format);
                self.write_in_sequence(path, game, false)
            }
            None if self.is_directory => {
                let stem = input.stem();
                let path = self.path(&stem.to_string_lossy(), game.format);
                self.write_in_sequence(path, game, false)
            }
            None => {
                let path = self.destination.path.clone().unwrap_or_default();
                self.write_in_sequence(path, game, true)
            }
        }
    }

    /// The path of one of several files.
    fn path(&self, name: &str, format: FileFormat) -> PathBuf {
        let base = self.destination.path.as_deref().unwrap_or_else(|| Path::new("."));
        let mut file = if self.is_directory {
            base.join(name).into_os_string()
        } else {
            // `games.pgn` becomes `games-000001.pgn`.
            let stem = Compression::of(base).map_or(base, |(_, stem)| stem);
            let stem = stem.file_stem().unwrap_or_default().to_string_lossy();
            base.with_file_name(format!("{stem}-{name}")).into_os_string()
        };
        file.push(".");
        file.push(format.extension());
        if let Some(compression) = self.compression {
            file.push(".");
            file.push(compression.extension());
        }
        file.into()
    }

    fn create(&self, path: &Path) -> io::Result<Target> {
        if path.as_os_str().is_empty() {
            return Ok(Target::stdout(self.compression));
        }
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
        };
        if fs::canonicalize(path).is_ok_and(|path| self.inputs.contains(&path)) {
            let text = format!("`{}` is an input file; choose another output", path.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        Target::create(path, self.compression).map_err(named)
    }

    /// Writes to the same file as the last game, or to the next one.
    fn write_in_sequence(
        &mut self,
        path: PathBuf,
        game: &Rendered,
        is_only_file: bool,
    ) -> io::Result<()> {
        let holds_one = game.format.separator().is_none();
        if self.current.as_ref().is_some_and(|(current, _)| *current == path)
            && holds_one
            && is_only_file
        {
            let format = game.format;
            let text = format!(
                "a {format} file holds one game; write to a directory with --output DIR/, or \
                 choose another format with --to"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let is_current = self.current.as_ref().is_some_and(|(current, _)| *current == path);
        if !is_current || holds_one {
            self.persist_current()?;
            let mut unique = path.clone();
            let mut number = 1;
            while self.finished.contains(&unique) {
                number += 1;
                unique = numbered(&path, number);
            }
            let target = self.create(&unique)?;
            if unique != path {
                self.finished.insert(unique);
            }
            self.current = Some((path, target));
        }
        match &mut self.current {
            Some((_, target)) => target.write(game),
            None => Ok(()),
        }
    }

    fn persist_current(&mut self) -> io::Result<()> {
        if let Some((path, target)) = self.current.take() {
            target.persist()?;
            self.finished.insert(path);
        }
        Ok(())
    }

    /// Writes to one of many files.
    fn write_distributed(&mut self, mut path: PathBuf, game: &Rendered) -> io::Result<()> {
        if game.format.separator().is_none() {
            let first = path.clone();
            let mut number = 1;
            while self.targets.contains_key(&path) {
                number += 1;
                path = numbered(&first, number);
            }
        }
        if !self.targets.contains_key(&path) {
            let target = self.create(&path)?;
            self.targets.insert(path.clone(), target);
        }
        let games = self.games;
        if let Some(target) = self.targets.get_mut(&path) {
            target.used = games;
            target.write(game)?;
        }
        let open = self.targets.values().filter(|target| target.writer.is_some()).count();
        if open > MAX_OPEN {
            let oldest = self.targets.values_mut().filter(|target| target.writer.is_some());
            if let Some(oldest) = oldest.min_by_key(|target| target.used) {
                oldest.close()?;
            }
        }
        Ok(())
    }

    /// Completes all files. Without games, a single output file is empty.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let is_single = !self.is_directory && self.destination.split.is_none();
        if is_single && self.current.is_none() {
            let path = self.destination.path.clone().unwrap_or_default();
            self.current = Some((path.clone(), self.create(&path)?));
        }
        self.persist_current()?;
        self.targets.into_values().try_for_each(Target::persist)
    }
}

/// Replaces a file when its new content is complete. The extension selects a compression.
pub(crate) fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let compression = Compression::of(path).map(|(compression, _)| compression);
    let mut target = Target::create(path, compression)?;
    if let Some(writer) = &mut target.writer {
        write(writer)?;
    }
    target.persist()
}

/// Whether a path names a directory, which may not exist yet.
pub(crate) fn is_directory(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().to_string_lossy().ends_with(std::path::is_separator)
}

/// `game.kif` as `game-2.kif`.
fn numbered(path: &Path, number: u64) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, extension) = name.split_once('.').unwrap_or((&name, ""));
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_become_safe_file_names() {
        assert_eq!(file_name("Carlsen, Magnus"), "Carlsen_Magnus");
        assert_eq!(file_name("../../etc/passwd"), "etc_passwd");
        assert_eq!(file_name("藤井 聡太"), "藤井_聡太");
        assert_eq!(file_name(" ?"), "unknown");
        assert_eq!(file_name("St. Louis"), "St._Louis");
    }
}
