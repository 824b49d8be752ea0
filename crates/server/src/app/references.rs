//! Tablebases and opening books: their paths in the settings, and what they contain for a position.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use readyok_client::EngineFailureKind;
use readyok_library::{Key, move_of};
use readyok_rules::{
    Book, BookError, IllegalReason, Position, Syzygy, TablebaseError, TablebaseMove,
    TablebaseResult,
};

use super::App;
use super::saving::blocking;
use crate::errors::{invalid_position, io_error};
use crate::game::position_view::move_text;
use crate::online::lichess;
use crate::store::{StoreError, filter_of, listed, storage};
use crate::time::date_text;
use crate::wire::{
    Answer, ApiError, ErrorCategory, ErrorCode, ErrorSubject, Explorer, ExplorerBookMove,
    ExplorerMove, ExplorerQuery, ExplorerSource, LibraryFilter, LichessDatabase, OnlineService,
    References, TablebaseMoveView, TablebaseQuery, TablebaseView, Variant,
};

/// Maximum number of directories, and of books.
const MAX_PATHS: usize = 16;
/// Maximum number of open books.
const MAX_OPEN_BOOKS: usize = 4;

/// A path and the time of its last change.
type Version = (String, Option<SystemTime>);
type OpenBook = (Version, Arc<Mutex<Book>>);

/// Open tablebases and books.
#[derive(Debug, Default)]
pub(super) struct OpenReferences {
    syzygy: Mutex<Option<(Vec<Version>, Arc<Syzygy>)>>,
    /// The latest one last.
    books: Mutex<Vec<OpenBook>>,
}

fn version(path: &str) -> Version {
    (path.to_owned(), Path::new(path).metadata().and_then(|metadata| metadata.modified()).ok())
}

impl OpenReferences {
    /// The tables of directories. New files in the directories are found.
    fn syzygy(&self, directories: &[String]) -> Result<Arc<Syzygy>, ApiError> {
        // A directory can be on a drive that is not mounted.
        let versions: Vec<_> = directories.iter().map(|path| version(path)).collect();
        let versions: Vec<_> = versions.into_iter().filter(|(_, time)| time.is_some()).collect();
        if let Some((known, tables)) = &*self.syzygy.lock().unwrap_or_else(PoisonError::into_inner)
            && *known == versions
        {
            return Ok(Arc::clone(tables));
        }
        let tables = Arc::new(open_syzygy(versions.iter().map(|(path, _)| path.as_str()))?);
        let opened = Some((versions, Arc::clone(&tables)));
        *self.syzygy.lock().unwrap_or_else(PoisonError::into_inner) = opened;
        Ok(tables)
    }

    fn book(&self, path: &str) -> Result<Arc<Mutex<Book>>, ApiError> {
        let version = version(path);
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = books.iter().position(|(known, _)| *known == version) {
            let book = books.remove(index);
            let found = Arc::clone(&book.1);
            books.push(book);
            return Ok(found);
        }
        drop(books);
        let book = Arc::new(Mutex::new(open_book(path)?));
        books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        books.retain(|((known, _), _)| known != path);
        if MAX_OPEN_BOOKS <= books.len() {
            books.remove(0);
        }
        books.push((version, Arc::clone(&book)));
        Ok(book)
    }
}

fn open_syzygy<'a>(directories: impl IntoIterator<Item = &'a str>) -> Result<Syzygy, ApiError> {
    Syzygy::open(directories).map_err(|error| match error.kind() {
        ErrorKind::NotFound => invalid_path(ErrorCode::NoTablebases),
        _ => invalid_path(io_error(&error)),
    })
}

fn open_book(path: &str) -> Result<Book, ApiError> {
    let error = |error| match error {
        BookError::Io(error) if error.kind() == ErrorKind::InvalidData => ErrorCode::NotABook,
        BookError::Io(error) => io_error(&error),
        BookError::Unsorted { .. } => ErrorCode::UnsortedBook,
    };
    Book::open(Path::new(path))
        .map_err(|why| invalid_path(error(why).with(|why| why.path = Some(path.to_owned()))))
}

fn invalid_path(error: impl Into<crate::wire::ErrorInfo>) -> ApiError {
    ApiError::new(ErrorCategory::InvalidPath, error)
}

impl App {
    /// Adds a directory. It reads the directory: do not call it on threads of the runtime.
    pub(super) async fn add_syzygy(self: &Arc<Self>, path: String) -> Result<Answer, ApiError> {
        open_syzygy([path.as_str()])?;
        self.change_references(move |references| {
            add(&mut references.syzygy, path, ErrorSubject::TablebaseDirectory)
        })
        .await
    }

    pub(super) async fn remove_syzygy(self: &Arc<Self>, path: String) -> Result<Answer, ApiError> {
        let subject = ErrorSubject::TablebaseDirectory;
        self.change_references(move |references| remove(&mut references.syzygy, &path, subject))
            .await
    }

    /// Adds a book. It reads the file: do not call it on threads of the runtime.
    pub(super) async fn add_book(self: &Arc<Self>, path: String) -> Result<Answer, ApiError> {
        if open_book(&path)?.is_empty() {
            return Err(invalid_path(ErrorCode::NotABook));
        }
        self.change_references(move |references| {
            add(&mut references.books, path, ErrorSubject::Book)
        })
        .await
    }

    pub(super) async fn remove_book(self: &Arc<Self>, path: String) -> Result<Answer, ApiError> {
        self.change_references(move |references| {
            remove(&mut references.books, &path, ErrorSubject::Book)
        })
        .await
    }

    async fn change_references(
        self: &Arc<Self>,
        change: impl FnOnce(&mut References) -> Result<(), ApiError> + Send + 'static,
    ) -> Result<Answer, ApiError> {
        self.change_settings(|settings| change(&mut settings.references)).await
    }

    /// The values of a position: of the tables of this computer, or else of those of Lichess if they are switched on.
    pub(crate) async fn probe_tablebases(
        self: &Arc<Self>,
        query: TablebaseQuery,
    ) -> Result<TablebaseView, ApiError> {
        let position = read_position(query.variant, &query.position)?;
        let (app, at) = (Arc::clone(self), position.clone());
        let found = blocking(move || app.probe_files(&at)).await;
        let is_known = |view: &TablebaseView| view.category.is_some() || view.end.is_some();
        let Ok(access) = self.access(OnlineService::LichessTablebase) else { return found };
        if found.as_ref().is_ok_and(is_known) {
            return found;
        }
        Syzygy::check(&position, lichess::MAX_PIECES).map_err(no_table)?;
        let lookup = lichess::probe(&access, &position);
        self.lookups.tablebases.answer(position.to_string(), lookup).await.map_err(ApiError::online)
    }

    /// The values of a position by the tables of this computer.
    fn probe_files(&self, position: &Position) -> Result<TablebaseView, ApiError> {
        let directories = self.state().settings.references.syzygy.clone();
        if directories.is_empty() {
            return Err(ApiError::conflict(ErrorCode::NoTablebaseDirectory));
        }
        let tables = self.references.syzygy(&directories)?;
        let result = tables.probe_moves(position).map_err(no_table)?;
        Ok(tablebase_view(position, &result))
    }

    /// The moves of a position by a source.
    pub(crate) async fn explore(
        self: &Arc<Self>,
        query: ExplorerQuery,
    ) -> Result<Explorer, ApiError> {
        let position = read_position(query.variant, &query.position)?;
        let app = Arc::clone(self);
        match query.source {
            ExplorerSource::Book { path } => {
                blocking(move || app.explore_book(&position, &path)).await
            }
            ExplorerSource::Library { filter } => {
                blocking(move || app.explore_library(&position, &filter)).await
            }
            ExplorerSource::Lichess { database } => self.explore_lichess(&position, database).await,
        }
    }

    async fn explore_lichess(
        &self,
        position: &Position,
        database: LichessDatabase,
    ) -> Result<Explorer, ApiError> {
        let access = self.access(OnlineService::LichessExplorer).map_err(ApiError::online)?;
        let is_known = match (database, position.game()) {
            (_, Variant::Chess) | (LichessDatabase::Players, Variant::Chess960) => true,
            (LichessDatabase::Masters, Variant::Chess960) | (_, Variant::Shogi) => false,
        };
        if !is_known {
            return Err(ApiError::conflict(EngineFailureKind::UnsupportedGame));
        }
        let key = format!("{database:?} {:?} {position}", position.game());
        let lookup = lichess::explore(&access, position, database);
        self.lookups.explorer.answer(key, lookup).await.map_err(ApiError::online)
    }

    fn explore_library(
        &self,
        position: &Position,
        filter: &LibraryFilter,
    ) -> Result<Explorer, ApiError> {
        // Open games are not folded before: an analysis would find itself.
        let library = self.library()?;
        let filter = filter_of(filter)?;
        let key = Key::of(position.key());
        let failed = |error| storage(StoreError::Library(error));
        let found = library.explore(key, position.turn(), &filter).map_err(failed)?;
        let games = library.entries(&found.latest).map_err(failed)?;
        let moves = found.moves.iter().filter_map(|known| {
            // A posting of another position can have the same key.
            let mv = move_of(position, known.mv)?;
            Some(ExplorerMove {
                uci: mv.to_uci(position.game().castling_form()),
                text: move_text(position, mv),
                counts: known.counts,
                rating: known.rating,
                performance: known.performance,
                last_played: date_text(known.last_played),
            })
        });
        Ok(Explorer::Library {
            moves: moves.collect(),
            counts: found.counts,
            games: games.into_iter().map(listed).collect(),
        })
    }

    fn explore_book(&self, position: &Position, path: &str) -> Result<Explorer, ApiError> {
        // No other file is opened.
        if !self.state().settings.references.books.iter().any(|book| book == path) {
            return Err(ApiError::not_found(ErrorSubject::Book, path));
        }
        let book = self.references.book(path)?;
        let mut book = book.lock().unwrap_or_else(PoisonError::into_inner);
        let moves = book.moves(position).map_err(|error| match error {
            BookError::Io(error) => {
                invalid_path(io_error(&error).with(|context| context.path = Some(path.to_owned())))
            }
            BookError::Unsorted { .. } => invalid_path(ErrorCode::UnsortedBook),
        })?;
        let total: u64 = moves.iter().filter_map(|mv| mv.weight).fold(0, u64::saturating_add);
        let mut moves: Vec<_> = moves
            .iter()
            .map(|entry| {
                let reply = entry.reply.and_then(|reply| {
                    let mut next = position.clone();
                    next.play(entry.mv).ok()?;
                    Some(move_text(&next, reply))
                });
                ExplorerBookMove {
                    uci: entry.mv.to_uci(position.game().castling_form()),
                    text: move_text(position, entry.mv),
                    weight: entry.weight,
                    share: entry.weight.filter(|_| total > 0).map(|weight| share(weight, total)),
                    score: entry.score,
                    depth: entry.depth,
                    reply,
                }
            })
            .collect();
        moves.sort_by_key(|mv| std::cmp::Reverse((mv.weight, mv.score)));
        Ok(Explorer::Book { moves, other_game: !book.is_of(position.game()) })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share is shown in percent")]
fn share(weight: u64, total: u64) -> f64 {
    weight as f64 / total as f64
}

/// Why there is no table of a position.
fn no_table(error: TablebaseError) -> ApiError {
    ApiError::conflict(match error {
        TablebaseError::Shogi => EngineFailureKind::UnsupportedGame.into(),
        TablebaseError::NotPlayable => IllegalReason::NotPlayable.into(),
        TablebaseError::CastlingRights => ErrorCode::TablebaseCastling,
        TablebaseError::TooManyPieces { pieces, max } => {
            ErrorCode::TablebasePieces { pieces, limit: max }
        }
    })
}

fn read_position(variant: Variant, text: &str) -> Result<Position, ApiError> {
    Position::from_text(variant, text).map_err(|error| invalid_position(variant, &error))
}

fn add(paths: &mut Vec<String>, path: String, subject: ErrorSubject) -> Result<(), ApiError> {
    if paths.contains(&path) {
        return Ok(());
    }
    if MAX_PATHS <= paths.len() {
        return Err(ApiError::too_many(subject));
    }
    paths.push(path);
    Ok(())
}

fn remove(paths: &mut Vec<String>, path: &str, subject: ErrorSubject) -> Result<(), ApiError> {
    let index = paths.iter().position(|known| known == path);
    let index = index.ok_or_else(|| ApiError::not_found(subject, path))?;
    paths.remove(index);
    Ok(())
}

fn tablebase_view(position: &Position, result: &TablebaseResult) -> TablebaseView {
    let moves = result.moves.iter().map(|entry| {
        let TablebaseMove { mv, value, is_zeroing, end } = *entry;
        TablebaseMoveView {
            uci: mv.to_uci(position.game().castling_form()),
            text: move_text(position, mv),
            category: value.category,
            dtz: value.dtz,
            zeroing: is_zeroing,
            end,
        }
    });
    let (value, end) = (result.value, result.end);
    let (category, dtz) = (value.category, value.dtz);
    TablebaseView { category, dtz, end, moves: moves.collect(), online: false }
}
