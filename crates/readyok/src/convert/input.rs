//! Input files: names, directories and patterns, and the games in them.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufReader, IsTerminal, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use readyok_rules::record::{
    Format, GameRecord, InputEncoding, Limits, Notice, RecordError, Records,
};

use super::format::FileFormat;
use readyok_rules::record::compression::{Compression, Decompressed};

/// How input is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadOptions {
    /// The format; detected if `None`.
    pub(crate) format: Option<FileFormat>,
    /// The encoding; detected if `None`.
    pub(crate) encoding: Option<InputEncoding>,
    /// The maximum ratio of decompressed to compressed bytes; without a limit if `None`.
    pub(crate) max_ratio: Option<u32>,
}

#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    /// `None` for standard input.
    pub(super) path: Option<PathBuf>,
    /// The path below the directory that was searched, or the file name.
    pub(super) relative: PathBuf,
    /// A copy of a source that can be read only once.
    copy: Option<Arc<File>>,
}

impl InputFile {
    fn stdin() -> Self {
        Self { path: None, relative: PathBuf::from("stdin"), copy: None }
    }

    fn named(path: PathBuf) -> Self {
        let relative = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
        Self { path: Some(path), relative, copy: None }
    }

    fn open(&self) -> io::Result<Source> {
        Ok(match (&self.copy, &self.path) {
            (Some(copy), _) => {
                (&**copy).rewind()?;
                Box::new(Arc::clone(copy))
            }
            (None, None) => Box::new(io::stdin()),
            (None, Some(path)) => Box::new(File::open(path)?),
        })
    }

    /// The decompressed content. `count` is increased by the number of bytes that are read.
    pub(crate) fn content(
        &self,
        options: ReadOptions,
        count: &Arc<AtomicU64>,
    ) -> io::Result<BufReader<Source>> {
        let source = Counting { source: self.open()?, count: Arc::clone(count) };
        let source = Decompressed::with_max_ratio(source, options.max_ratio)?;
        Ok(BufReader::with_capacity(1 << 16, Box::new(source)))
    }

    /// The format that the user or the extension names.
    pub(crate) fn format(&self, options: ReadOptions) -> Option<FileFormat> {
        options.format.or_else(|| self.path.as_deref().and_then(FileFormat::of_input))
    }

    /// Copies standard input or a pipe into a temporary file, so that it can be read again.
    fn make_repeatable(&mut self) -> io::Result<()> {
        let is_file = |path: &PathBuf| fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        if self.copy.is_some() || self.path.as_ref().is_some_and(is_file) {
            return Ok(());
        }
        let mut copy = tempfile::tempfile()?;
        // A file that cannot be opened is reported when it is read.
        if let Ok(mut source) = self.open() {
            io::copy(&mut source, &mut copy)?;
            self.copy = Some(Arc::new(copy));
        }
        Ok(())
    }

    /// The name in messages.
    pub(super) fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| "-".to_owned(), |path| path.display().to_string())
    }

    /// The name of the file without its extensions, with its directory below the searched one.
    pub(super) fn stem(&self) -> PathBuf {
        let name = Path::new(self.relative.file_name().unwrap_or_default());
        let name = Compression::of(name).map_or(name, |(_, stem)| stem);
        let stem = match FileFormat::of_input(name) {
            Some(_) => name.file_stem().unwrap_or_default(),
            None => name.as_os_str(),
        };
        self.relative.with_file_name(stem)
    }
}

/// The input files of a command.
#[derive(Clone, Debug)]
pub(crate) struct Files(pub(super) Vec<InputFile>);

impl Files {
    /// Finds the files that arguments name: files, directories, patterns such as `*.pgn`, and `-` for standard
    /// input, which is also the default unless it is a terminal. In directories, the globs select files;
    /// without globs, their extensions do.
    pub(crate) fn find(
        arguments: &[OsString],
        recursive: bool,
        globs: &[String],
    ) -> Result<Self, String> {
        if arguments.is_empty() {
            if io::stdin().is_terminal() {
                return Err("no input files".to_owned());
            }
            return Ok(Self(vec![InputFile::stdin()]));
        }
        let globs: Vec<glob::Pattern> = globs
            .iter()
            .map(|text| glob::Pattern::new(text).map_err(|error| format!("`{text}`: {error}")))
            .collect::<Result<_, _>>()?;
        let mut files = Vec::new();
        for argument in arguments {
            let path = Path::new(argument);
            if argument == "-" {
                files.push(InputFile::stdin());
            } else if path.is_dir() {
                if !recursive {
                    return Err(format!("`{}` is a directory; use --recursive", path.display()));
                }
                walk(path, path, &globs, &mut files)?;
            } else if path.exists() {
                files.push(InputFile::named(path.to_owned()));
            } else {
                expand(path, &mut files)?;
            }
        }
        Ok(Self(files))
    }

    /// A database, whose games are not read from this file.
    pub(super) fn stored(path: &Path) -> Self {
        let relative = path.file_stem().map_or_else(|| path.to_owned(), PathBuf::from);
        Self(vec![InputFile { path: Some(path.to_owned()), relative, copy: None }])
    }

    pub(crate) fn get(&self, number: usize) -> Option<&InputFile> {
        self.0.get(number)
    }

    /// Makes sure that all files can be read twice.
    pub(super) fn make_repeatable(&mut self) -> io::Result<()> {
        self.0.iter_mut().try_for_each(InputFile::make_repeatable)
    }

    /// The name of a file in messages.
    pub(crate) fn name(&self, number: usize) -> String {
        self.get(number).map(InputFile::name).unwrap_or_default()
    }

    /// The number of files.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The path of a file; `None` for standard input.
    pub(crate) fn path(&self, number: usize) -> Option<&Path> {
        self.get(number)?.path.as_deref()
    }

    /// The number of bytes of all files, if it is known.
    pub(crate) fn size(&self) -> Option<u64> {
        let size = |file: &InputFile| {
            let metadata = fs::metadata(file.path.as_ref()?).ok()?;
            metadata.is_file().then_some(metadata.len())
        };
        self.0.iter().map(size).sum()
    }

    pub(crate) fn canonical(&self) -> HashSet<PathBuf> {
        self.0.iter().filter_map(|file| fs::canonicalize(file.path.as_ref()?).ok()).collect()
    }
}

/// Adds the files that match a pattern, for shells that do not expand patterns.
fn expand(path: &Path, files: &mut Vec<InputFile>) -> Result<(), String> {
    let missing = || format!("`{}`: no such file", path.display());
    let text = path.to_str().filter(|text| text.contains(['*', '?', '['])).ok_or_else(missing)?;
    let found = glob::glob(text).map_err(|error| format!("`{text}`: {error}"))?;
    let before = files.len();
    files.extend(found.flatten().filter(|path| path.is_file()).map(InputFile::named));
    if files.len() == before { Err(format!("`{text}` matches no file")) } else { Ok(()) }
}

/// Adds the record files below a directory, in the order of their names.
fn walk(
    root: &Path,
    directory: &Path,
    globs: &[glob::Pattern],
    files: &mut Vec<InputFile>,
) -> Result<(), String> {
    let failed = |error: io::Error| format!("`{}`: {error}", directory.display());
    let mut entries: Vec<_> =
        fs::read_dir(directory).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
    entries.sort_unstable_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // Links to directories are not followed, because they can form loops.
        if entry.file_type().map_err(failed)?.is_dir() {
            walk(root, &path, globs, files)?;
            continue;
        }
        let relative = path.strip_prefix(root).unwrap_or(&path).to_owned();
        let is_selected = if globs.is_empty() {
            FileFormat::of_input(&path).is_some()
        } else {
            let name = relative.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            globs.iter().any(|glob| glob.matches(name) || glob.matches_path(&relative))
        };
        if is_selected && path.is_file() {
            files.push(InputFile { path: Some(path), relative, copy: None });
        }
    }
    Ok(())
}

/// Counts the bytes that are read.
struct Counting<R> {
    source: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

pub(super) type Source = Box<dyn Read + Send>;

/// The games of a file.
pub(crate) struct Games {
    records: Records<'static>,
    format: Option<FileFormat>,
}

impl Games {
    /// Opens a file. `count` is increased by the number of bytes that are read.
    pub(crate) fn open(
        file: &InputFile,
        options: ReadOptions,
        count: &Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let source = file.content(options, count)?;
        Ok(Self::read(source, file.format(options), options))
    }

    /// The games of a text.
    pub(crate) fn read(
        source: impl Read + Send + 'static,
        format: Option<FileFormat>,
        options: ReadOptions,
    ) -> Self {
        let record_format = match format {
            Some(FileFormat::Record(format)) => Some(format),
            Some(FileFormat::Sfen) => Some(Format::USI),
            Some(FileFormat::Fen | FileFormat::Epd) => Some(Format::UCI),
            None => None,
        };
        let limits = Limits::default();
        let records = Records::in_encoding(source, record_format, limits, options.encoding);
        Self { records, format }
    }

    /// The format, if it was not detected from the content.
    pub(crate) fn format(&self) -> Option<FileFormat> {
        self.format
    }

    /// The notices of the last game.
    pub(crate) fn notices(&self) -> &[Notice] {
        self.records.notices()
    }
}

impl Iterator for Games {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.records.next()
    }
}
