//! Reading and writing files of games.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Cursor, Read, Write};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyString};
use readyok_rules::record::compression::{Compression, Decompressed, Encoder};
use readyok_rules::record::{
    self, Encoding, Format, InputEncoding, Limits, Losses, RecordError, RecordErrorKind,
};

use crate::document::{self, Game};
use crate::error::{IntoException, os_error, value_error};
use crate::names;

/// Games that are read in one step, without the lock of the interpreter.
const BATCH: usize = 64;

/// Characters or bytes that are requested from a file object.
const CHUNK: usize = 1 << 16;

/// A Python object with a method `read`.
struct FileObject {
    object: Py<PyAny>,
    /// What it returned last, and how much of it was read.
    chunk: Option<(PyBackedBytes, usize)>,
}

impl FileObject {
    /// The next bytes of the object. Empty at its end.
    fn next_chunk(&self) -> io::Result<PyBackedBytes> {
        // This is the thread that called `read` or `next`, never one of Rust.
        let read = |py: Python<'_>| {
            let data = self.object.call_method1(py, "read", (CHUNK,))?.into_bound(py);
            if data.is_instance_of::<PyString>() {
                return Ok(data.call_method1("encode", ("utf-8",))?.extract()?);
            }
            data.extract().map_err(|_| {
                let kind = data.get_type();
                PyTypeError::new_err(format!("read() returned {kind}, not bytes or str"))
            })
        };
        Python::attach(read).map_err(|error: PyErr| io::Error::other(error))
    }
}

impl Read for FileObject {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (chunk, place) = match self.chunk.take() {
            Some(chunk) => chunk,
            None => (self.next_chunk()?, 0),
        };
        let mut rest = chunk.get(place..).unwrap_or_default();
        let count = rest.read(buffer)?;
        if !rest.is_empty() {
            self.chunk = Some((chunk, place + count));
        }
        Ok(count)
    }
}

/// Games that were read, and the source of the others.
struct Games {
    records: record::Records<'static>,
    batch: VecDeque<Result<Game, RecordError>>,
    ended: bool,
}

impl Games {
    fn next(&mut self) -> Option<Result<Game, RecordError>> {
        if self.batch.is_empty() && !self.ended {
            self.fill();
        }
        self.batch.pop_front()
    }

    fn fill(&mut self) {
        while self.batch.len() < BATCH {
            let Some(game) = self.records.next() else {
                self.ended = true;
                return;
            };
            let notices = self.records.notices().iter().map(ToString::to_string).collect();
            self.batch.push_back(game.map(|record| Game::new(record, notices)));
        }
    }
}

/// Reads the games of a file one by one, with little memory.
///
/// source: a path, bytes, or a file object. Gzip, bzip2 and Zstandard are decompressed.
/// format: the format, such as "pgn" or "kif". Without one it is detected by the content, and by the extension of a path.
/// encoding: the encoding of the text, such as "shift_jis". Without one it is detected.
///
/// Raises OSError, and ValueError for an unknown format or encoding. A game that cannot be read raises RecordError in the
/// iteration, which can continue with the next game.
#[pyfunction]
#[pyo3(signature = (source, format=None, *, encoding=None))]
pub(crate) fn read(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    format: Option<&str>,
    encoding: Option<&str>,
) -> PyResult<Records> {
    let mut known = format.map(names::format).transpose()?;
    let encoding = encoding.map(input_encoding).transpose()?;
    let input: Box<dyn Read + Send> = if let Ok(bytes) = source.cast::<PyBytes>() {
        Box::new(Cursor::new(PyBackedBytes::from(bytes.clone())))
    } else if source.hasattr("read")? {
        Box::new(FileObject { object: source.clone().unbind(), chunk: None })
    } else {
        let path: PathBuf = source.extract().map_err(|_| {
            let kind = source.get_type();
            PyTypeError::new_err(format!("expected a path, bytes or a file object, not {kind}"))
        })?;
        let inner = Compression::of(&path).map_or(path.as_path(), |(_, inner)| inner);
        let extension = inner.extension().and_then(|extension| extension.to_str());
        known = known.or_else(|| extension.and_then(Format::from_extension));
        let file = py.detach(|| File::open(&path));
        Box::new(file.map_err(|error| os_error(&error, Some(&path)))?)
    };
    let input = py.detach(|| Decompressed::new(input)).map_err(read_error)?;
    let records = record::Records::in_encoding(input, known, Limits::default(), encoding);
    let games = Games { records, batch: VecDeque::new(), ended: false };
    Ok(Records(Mutex::new(Some(games))))
}

/// The exception of a file object, or the error of the system.
fn read_error(error: io::Error) -> PyErr {
    error.downcast::<PyErr>().unwrap_or_else(|error| os_error(&error, None))
}

fn input_encoding(label: &str) -> PyResult<InputEncoding> {
    let encoding = InputEncoding::from_label(label);
    encoding.ok_or_else(|| value_error(format_args!("no such encoding: {label:?}")))
}

/// An iterator of games. It closes its file at the end, on `close`, and at the end of a `with` block.
#[pyclass(module = "readyok", frozen)]
pub(crate) struct Records(Mutex<Option<Games>>);

#[pymethods]
impl Records {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Game>> {
        let next = py.detach(|| {
            // A file object can call this function, so a lock could wait for itself.
            let mut games = match self.0.try_lock() {
                Ok(games) => games,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return Err(()),
            };
            let next = games.as_mut().and_then(Games::next);
            let is_io = |error: &RecordError| matches!(error.kind, RecordErrorKind::Io(_));
            let closed = match &next {
                None => games.take(),
                Some(Err(error)) if is_io(error) => games.take(),
                Some(_) => None,
            };
            drop(games);
            drop(closed);
            Ok(next)
        });
        let next = next.map_err(|()| PyValueError::new_err("the iterator is running already"))?;
        next.transpose().map_err(IntoException::into_exception)
    }

    /// Closes the file. The iteration ends.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let closed = py.detach(|| match self.0.try_lock() {
            Ok(mut games) => Ok(games.take()),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner().take()),
            Err(TryLockError::WouldBlock) => Err(()),
        });
        closed.map(drop).map_err(|()| PyValueError::new_err("the iterator is running already"))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, py: Python<'_>, exception: &Bound<'_, PyAny>) -> PyResult<()> {
        _ = exception;
        self.close(py)
    }
}

/// Where games are written.
enum Target {
    File(NewFile),
    Object(Py<PyAny>),
}

/// A file that replaces another one when it is complete, so that games can be read from the old one meanwhile.
struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    encoder: Option<Encoder<File>>,
}

impl NewFile {
    fn create(path: PathBuf, compression: Option<Compression>) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut name = OsString::from(".");
        name.push(path.file_name().ok_or(io::ErrorKind::InvalidInput)?);
        name.push(format!(".{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let temporary = path.with_file_name(name);
        let file = File::create_new(&temporary)?;
        Ok(Self { path, temporary, encoder: Some(Encoder::new(file, compression)) })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.encoder.as_mut().map_or(Ok(()), |encoder| encoder.write_all(bytes))
    }

    fn finish(mut self) -> io::Result<()> {
        if let Some(encoder) = self.encoder.take() {
            encoder.finish()?;
            fs::rename(&self.temporary, &self.path)?;
            self.temporary.clear();
        }
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            // An incomplete file. It may have been removed already.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes games to a file, and returns their number. The file is replaced when all games are written: it can be the source
/// of the games, and remains after an error.
///
/// games: any iterable of games.
/// target: a path, whose extension selects the format and the compression (.gz, .bz2, .zst), or a binary file object.
/// format: the format, such as "pgn" or "kif".
/// encoding: "utf-8", or "shift_jis" for KIF, KI2 and CSA.
///
/// Issues a RecordWarning about content that the format cannot hold. Raises OSError, ValueError without a known format, and
/// RecordError if the format does not support a game.
#[pyfunction]
#[pyo3(signature = (games, target, format=None, *, encoding="utf-8"))]
pub(crate) fn write(
    py: Python<'_>,
    games: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    format: Option<&str>,
    encoding: &str,
) -> PyResult<usize> {
    let mut known = format.map(names::format).transpose()?;
    let encoding = Encoding::from_name(encoding)
        .ok_or_else(|| value_error(format_args!("no such encoding: {encoding:?}")))?;
    let mut out = if target.hasattr("write")? {
        Target::Object(target.clone().unbind())
    } else {
        let path: PathBuf = target.extract()?;
        let compression = Compression::of(&path);
        let inner = compression.map_or(path.as_path(), |(_, inner)| inner);
        let extension = inner.extension().and_then(|extension| extension.to_str());
        known = known.or_else(|| extension.and_then(Format::from_extension));
        let compression = compression.map(|(compression, _)| compression);
        let file = NewFile::create(path.clone(), compression);
        Target::File(file.map_err(|error| os_error(&error, Some(&path)))?)
    };
    let format = known.ok_or_else(|| value_error("the format is not known"))?;
    let mut count = 0;
    let mut losses: Vec<Losses> = Vec::new();
    for game in games.try_iter()? {
        let game = game?.cast_into::<Game>()?;
        if 0 < count {
            let Some(separator) = format.separator() else {
                return Err(value_error(format_args!("{format} holds one game")));
            };
            out.write(py, &encoding.encode(separator))?;
        }
        let (text, lost) = game.borrow().written(format)?;
        if !losses.contains(&lost) {
            losses.push(lost);
        }
        out.write(py, &encoding.encode(&text))?;
        count += 1;
    }
    out.finish(py)?;
    losses.into_iter().try_for_each(|lost| document::warn(py, format, lost))?;
    Ok(count)
}

impl Target {
    fn write(&mut self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        match self {
            Self::File(file) => {
                let written = py.detach(|| file.write(bytes));
                written.map_err(|error| os_error(&error, Some(&file.path)))
            }
            Self::Object(object) => {
                object.call_method1(py, "write", (PyBytes::new(py, bytes),)).map(drop)
            }
        }
    }

    fn finish(self, py: Python<'_>) -> PyResult<()> {
        match self {
            Self::File(file) => {
                let path = file.path.clone();
                let finished = py.detach(|| file.finish());
                finished.map_err(|error| os_error(&error, Some(&path)))
            }
            Self::Object(_) => Ok(()),
        }
    }
}
