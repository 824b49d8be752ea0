//! Where the events of a match go, as lines of JSON.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::run::{Failed, about};

/// Tells the person at the terminal once why a stream has ended before its time.
struct Complaining<W> {
    out: W,
    name: String,
}

impl<W: Write> Complaining<W> {
    fn told<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.inspect_err(|error| {
            // Whoever has closed it knows.
            if error.kind() != io::ErrorKind::BrokenPipe {
                let _ = writeln!(io::stderr(), "readyok: {}", about(Path::new(&self.name), error));
            }
        })
    }
}

impl<W: Write> Write for Complaining<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.told(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.told(done)
    }
}

/// A file for events, or standard output for `-`, that says so when it cannot be written. Those of a
/// match that goes on follow what is in the file.
///
/// # Errors
/// It cannot be made.
pub(super) fn complaining(path: &Path, goes_on: bool) -> Result<impl Write + Send + use<>, Failed> {
    let out = sink(path, goes_on).map_err(|error| about(path, &error))?;
    Ok(Complaining { out, name: path.display().to_string() })
}

/// A file, or standard output for `-`.
fn sink(path: &Path, goes_on: bool) -> io::Result<Box<dyn Write + Send>> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdout()));
    }
    if !(goes_on && path.is_file()) {
        return Ok(Box::new(BufWriter::new(File::create(path)?)));
    }
    let mut file = File::options().read(true).append(true).open(path)?;
    let mut last = [b'\n'];
    if file.metadata()?.len() > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    if last != [b'\n'] {
        // The program was killed while it wrote a line.
        file.write_all(b"\n")?;
    }
    Ok(Box::new(BufWriter::new(file)))
}
