//! Copies of the file.

use std::fs::File;
use std::path::Path;

use rusqlite::Connection;

use crate::error::{Error, LibraryDefect};
use crate::library::Library;
use crate::schema;

impl Library {
    /// Writes a copy to a file that is missing or empty, checks it, and returns its number of games. Requests of this
    /// and other processes continue meanwhile; the copy has one state of them.
    ///
    /// # Errors
    /// The file could not be read, or the copy could not be written or differs from what was written. It is incomplete
    /// then.
    pub fn back_up(&self, target: &Path) -> Result<usize, Error> {
        let name = target.to_str().ok_or_else(|| {
            std::io::Error::new(std::io::ErrorKind::InvalidInput, "the name is not Unicode")
        })?;
        let source = schema::open_reader(self.path())?;
        source.pragma_update(None, "query_only", "OFF")?;
        source.execute("VACUUM INTO ?1", [name])?;
        drop(source);
        let copy = Connection::open(target)?;
        schema::check(&copy)?;
        let defects: String = copy.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        if defects != "ok" {
            return Err(Error::Defect(LibraryDefect::LibraryDamaged));
        }
        let games = copy.query_row("SELECT count(*) FROM game", [], |row| row.get::<_, i64>(0))?;
        drop(copy);
        File::options().write(true).open(target)?.sync_all()?;
        Ok(usize::try_from(games).unwrap_or(0))
    }
}
