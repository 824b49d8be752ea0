//! Games of the database as the input of conversions.

use std::path::PathBuf;
use std::sync::Arc;

use readyok_library::Library;
use readyok_rules::record::Condition;

use super::failure;
use crate::convert::StoredGames;
use crate::exit::Failure;

/// The games that match a condition, in the order of their numbers. They are read one at a time.
pub(crate) fn stored_games(
    library: Arc<Library>,
    path: PathBuf,
    condition: &Condition,
) -> Result<StoredGames, Failure> {
    let found = library.find_all(condition).map_err(failure)?;
    let total = found.len() as u64;
    let games = found.into_iter().filter_map(move |id| {
        let record = match library.game(id) {
            Ok(Some(game)) => game.record().map_err(|error| error.to_string()),
            // It was deleted meanwhile.
            Ok(None) => return None,
            Err(error) => Err(error.to_string()),
        };
        Some((u64::from(id), record))
    });
    Ok(StoredGames { path, total, games: Box::new(games) })
}
