//! Files with the events of a match and with the standard error of its engines.

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use readyok_arena::game::StderrObserver;

use crate::terminal::printable;

/// Maximum size of the standard error of a match, whose engines may write without end.
const MAX_STDERR: u64 = 256 << 20;

pub(super) type AnyError = Box<dyn Error>;

/// An error with the path of its file.
pub(super) fn file_error(path: &Path, error: &io::Error) -> AnyError {
    format!("`{}`: {error}", path.display()).into()
}

/// Reports the first failure of a stream on the terminal. The listener closes after it.
struct Reporting<W> {
    out: W,
    name: String,
}

impl<W: Write> Reporting<W> {
    fn report<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.inspect_err(|error| {
            // A closed pipe is not a failure.
            if error.kind() != io::ErrorKind::BrokenPipe {
                let error = file_error(Path::new(&self.name), error);
                let _ = writeln!(io::stderr(), "readyok: {error}");
            }
        })
    }
}

impl<W: Write> Write for Reporting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.report(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.report(done)
    }
}

/// Opens a file for events, or standard output for `-`. A resumed match appends to the file. Write
/// failures are reported on standard error.
///
/// # Errors
/// The file cannot be created.
pub(super) fn event_file(
    path: &Path,
    is_resumed: bool,
) -> Result<impl Write + Send + use<>, AnyError> {
    let out = open(path, is_resumed).map_err(|error| file_error(path, &error))?;
    Ok(Reporting { out, name: path.display().to_string() })
}

fn open(path: &Path, is_resumed: bool) -> io::Result<Box<dyn Write + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdout()));
    }
    if !(is_resumed && path.is_file()) {
        return Ok(Box::new(BufWriter::new(File::create(path)?)));
    }
    let mut file = File::options().read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        // A previous run was killed while it wrote a line.
        file.write_all(b"\n")?;
    }
    Ok(Box::new(BufWriter::new(file)))
}

/// Opens a file for the standard error of all engines, each line with the name of the engine.
///
/// # Errors
/// The file cannot be opened for writing.
pub fn stderr_log(path: &Path, append: bool) -> io::Result<StderrObserver> {
    let mut file = OpenOptions::new();
    file.create(true).write(true).append(append).truncate(!append);
    let log = Mutex::new(StderrLog { out: file.open(path)?, remaining: MAX_STDERR });
    Ok(Arc::new(move |engine: &str, line: &str| {
        log.lock().unwrap_or_else(PoisonError::into_inner).write(engine, line);
    }))
}

struct StderrLog<W> {
    out: W,
    remaining: u64,
}

impl<W: Write> StderrLog<W> {
    fn write(&mut self, engine: &str, line: &str) {
        let text = format!("{engine}: {}\n", printable(line));
        if self.remaining == 0 {
            return;
        }
        let remaining = self.remaining.checked_sub(text.len() as u64);
        let text = if remaining.is_some() { text } else { "(size limit reached)\n".to_owned() };
        self.remaining = remaining.unwrap_or(0);
        // A failed log must not end the match.
        let _ = self.out.write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::StderrLog;

    #[test]
    fn limits_the_size_of_standard_error() {
        let mut log = StderrLog { out: Vec::new(), remaining: 20 };
        for line in ["one", "two\u{7}", "three", "four"] {
            log.write("a", line);
        }
        let text = String::from_utf8(log.out).expect("UTF-8");
        assert!(text.starts_with("a: one\na: two") && !text.contains('\u{7}'), "{text}");
        assert!(text.ends_with("(size limit reached)\n") && !text.contains("four"), "{text}");
    }
}
