//! Syzygy endgame tablebases of chess.
//!
//! The tables assume that the fifty-move counter is 0 and that castling is impossible. [`Syzygy::probe_moves`] applies
//! the counter of the position. Repetitions are ignored.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, io};

use shakmaty::{Chess, Position as _};
pub use shakmaty_syzygy::Wdl;
use shakmaty_syzygy::filesystem::{Filesystem, RandomAccessFile, ReadHint};
use shakmaty_syzygy::{AmbiguousWdl, Dtz, MaybeRounded, Tablebase};

use crate::{BoardRef, Move, Position};

/// Syzygy tables of some directories. Files are opened when they are needed, and stay open.
pub struct Syzygy {
    tables: Tablebase<Chess>,
    files: usize,
}

impl fmt::Debug for Syzygy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Syzygy")
            .field("files", &self.files)
            .field("max_pieces", &self.max_pieces())
            .finish_non_exhaustive()
    }
}

/// A result under the fifty-move rule, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum TablebaseCategory {
    /// A win.
    Win,
    /// A win, or a cursed win: the distance in the table is rounded, or there is no DTZ table.
    MaybeWin,
    /// A win that the fifty-move rule turns into a draw.
    CursedWin,
    /// A draw.
    Draw,
    /// A loss that the fifty-move rule turns into a draw.
    BlessedLoss,
    /// A loss, or a blessed loss: the distance in the table is rounded, or there is no DTZ table.
    MaybeLoss,
    /// A loss.
    Loss,
}

/// The end of the game by a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum TablebaseEnd {
    /// Checkmate.
    Checkmate,
    /// Stalemate.
    Stalemate,
    /// Neither side can checkmate.
    InsufficientMaterial,
}

/// The value of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TablebaseValue {
    /// The result; none without a table.
    pub category: Option<TablebaseCategory>,
    /// Plies to the next capture or pawn move of best play: positive for wins, negative for losses, 0 for draws
    /// and at the end of the game. None without a table. Some tables are rounded, and one too small.
    pub dtz: Option<i32>,
}

/// A legal move and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TablebaseMove {
    /// The move.
    pub mv: Move,
    /// The value of the position after the move for the side that plays it.
    pub value: TablebaseValue,
    /// Whether the move is a capture or a pawn move, which resets the fifty-move counter.
    pub is_zeroing: bool,
    /// The end of the game by the move.
    pub end: Option<TablebaseEnd>,
}

/// The values of a position and its moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablebaseResult {
    /// The value for the side to move.
    pub value: TablebaseValue,
    /// The end of the game in the position.
    pub end: Option<TablebaseEnd>,
    /// The legal moves. Wins are first, the fastest progress before others; then draws; then losses, the
    /// slowest before others. Moves without a table are last.
    pub moves: Vec<TablebaseMove>,
}

/// Why a position has no value in any table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TablebaseError {
    /// There are no tables of shogi.
    #[error("there are no Syzygy tablebases for shogi")]
    Shogi,
    /// The position can be viewed only.
    #[error("the position violates the rules")]
    NotPlayable,
    /// There are no tables of positions with castling rights.
    #[error("tablebases contain no positions with castling rights")]
    CastlingRights,
    /// The position has more pieces than the largest table.
    #[error("the position has {pieces} pieces; the largest table has {max}")]
    TooManyPieces {
        /// Pieces of the position, kings included.
        pieces: usize,
        /// Pieces of the largest table.
        max: usize,
    },
}

/// Files in memory by name, for systems without files, such as `wasm32-unknown-unknown`.
#[derive(Default)]
struct Memory(HashMap<PathBuf, Arc<[u8]>>);

struct MemoryFile(Arc<[u8]>);

impl Memory {
    fn file(&self, path: &Path) -> io::Result<&Arc<[u8]>> {
        self.0.get(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Filesystem for Memory {
    fn regular_file_size(&self, path: &Path) -> io::Result<u64> {
        Ok(self.file(path)?.len() as u64)
    }

    fn read_dir(&self, _: &Path) -> io::Result<Vec<PathBuf>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
        Ok(Box::new(MemoryFile(Arc::clone(self.file(path)?))))
    }
}

impl RandomAccessFile for MemoryFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64, _: ReadHint) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let mut rest = self.0.get(start..).unwrap_or_default();
        io::Read::read(&mut rest, buffer)
    }
}

fn covered(position: &Position, max: usize) -> Result<&Chess, TablebaseError> {
    let board = match position.board() {
        BoardRef::Chess(board) => board,
        BoardRef::Shogi(_) => return Err(TablebaseError::Shogi),
        BoardRef::Diagram(_) => return Err(TablebaseError::NotPlayable),
    };
    let position = board.position();
    if !position.castles().is_empty() {
        return Err(TablebaseError::CastlingRights);
    }
    let pieces = position.board().occupied().count();
    if max < pieces {
        return Err(TablebaseError::TooManyPieces { pieces, max });
    }
    Ok(position)
}

impl Syzygy {
    /// Whether tables of at most `max` pieces can contain a position.
    ///
    /// # Errors
    /// There can be no table of the position.
    pub fn check(position: &Position, max: usize) -> Result<(), TablebaseError> {
        covered(position, max).map(drop)
    }

    /// Opens the tables of some directories.
    ///
    /// # Errors
    /// A directory cannot be read, or none of them contains a table.
    pub fn open<P: AsRef<Path>>(directories: impl IntoIterator<Item = P>) -> io::Result<Self> {
        #[cfg(any(unix, windows))]
        let mut tables = Tablebase::new();
        #[cfg(not(any(unix, windows)))]
        let mut tables = Tablebase::with_filesystem(Arc::new(Memory::default()));
        let (mut files, mut names) = (0, Vec::new());
        for directory in directories {
            let directory = directory.as_ref();
            let name = format!("`{}`", directory.display());
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
            files += tables.add_directory(directory).map_err(named)?;
            names.push(name);
        }
        if files == 0 {
            let text = format!("no Syzygy table in {}", names.join(", "));
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        Ok(Self { tables, files })
    }

    /// Opens tables in memory by file name, such as `KQvK.rtbw`.
    ///
    /// # Errors
    /// A name is not that of a table, or the size of its file is wrong.
    pub fn from_files(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> io::Result<Self> {
        let files = files.into_iter().map(|(name, bytes)| (PathBuf::from(name), bytes.into()));
        let files: HashMap<PathBuf, Arc<[u8]>> = files.collect();
        let names: Vec<PathBuf> = files.keys().cloned().collect();
        let mut tables = Tablebase::with_filesystem(Arc::new(Memory(files)));
        for name in &names {
            let named = |error: io::Error| {
                io::Error::new(error.kind(), format!("`{}`: {error}", name.display()))
            };
            tables.add_file(name).map_err(named)?;
        }
        Ok(Self { tables, files: names.len() })
    }

    /// The number of files.
    pub fn files(&self) -> usize {
        self.files
    }

    /// The number of pieces of the largest table, kings included.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// The value of a position right after a capture or a pawn move, if it is known. Only WDL files (`.rtbw`)
    /// are read.
    pub fn wdl_after_zeroing(&self, position: &Chess) -> Option<Wdl> {
        if self.max_pieces() < position.board().occupied().count() {
            return None;
        }
        self.tables.probe_wdl_after_zeroing(position).ok()
    }

    /// The values of a position and all of its legal moves.
    ///
    /// # Errors
    /// There can be no table of the position. Missing and damaged files are no errors: their values are `None`.
    pub fn probe_moves(&self, position: &Position) -> Result<TablebaseResult, TablebaseError> {
        let position = covered(position, self.max_pieces())?;
        let moves = position.legal_moves();
        let mut moves: Vec<_> = moves.iter().map(|&mv| self.rate(position, mv)).collect();
        moves.sort_by_key(rank);
        let (mut value, end) = self.value(position);
        // The table of the position can be rounded, and has no priority of mate over the fifty-move rule.
        if !moves.is_empty() && moves.iter().all(|mv| mv.value.category.is_some()) {
            value.category = moves.first().and_then(|mv| mv.value.category);
        }
        Ok(TablebaseResult { value, end, moves })
    }

    fn rate(&self, position: &Chess, mv: shakmaty::Move) -> TablebaseMove {
        let mut after = position.clone();
        after.play_unchecked(mv);
        let (value, end) = self.value(&after);
        let value = TablebaseValue {
            category: value.category.map(TablebaseCategory::reversed),
            dtz: value.dtz.map(|dtz| -dtz),
        };
        TablebaseMove { mv: mv.into(), value, is_zeroing: mv.is_zeroing(), end }
    }

    /// The value of a position without castling rights.
    fn value(&self, position: &Chess) -> (TablebaseValue, Option<TablebaseEnd>) {
        let known = |category| TablebaseValue { category: Some(category), dtz: Some(0) };
        // The end of the game has priority over the fifty-move rule.
        if position.is_checkmate() {
            return (known(TablebaseCategory::Loss), Some(TablebaseEnd::Checkmate));
        }
        if position.is_stalemate() {
            return (known(TablebaseCategory::Draw), Some(TablebaseEnd::Stalemate));
        }
        if position.is_insufficient_material() {
            return (known(TablebaseCategory::Draw), Some(TablebaseEnd::InsufficientMaterial));
        }
        let value = match (self.tables.probe_dtz(position), self.wdl_after_zeroing(position)) {
            (Ok(dtz), _) => with_dtz(dtz, position.halfmoves()),
            (Err(_), Some(wdl)) => without_dtz(wdl, position.halfmoves()),
            (Err(_), None) => TablebaseValue::default(),
        };
        (value, None)
    }
}

fn with_dtz(dtz: MaybeRounded<Dtz>, halfmoves: u32) -> TablebaseValue {
    let category = match AmbiguousWdl::from_dtz_and_halfmoves(dtz, halfmoves) {
        AmbiguousWdl::Loss => TablebaseCategory::Loss,
        AmbiguousWdl::MaybeLoss => TablebaseCategory::MaybeLoss,
        AmbiguousWdl::BlessedLoss => TablebaseCategory::BlessedLoss,
        AmbiguousWdl::Draw => TablebaseCategory::Draw,
        AmbiguousWdl::CursedWin => TablebaseCategory::CursedWin,
        AmbiguousWdl::MaybeWin => TablebaseCategory::MaybeWin,
        AmbiguousWdl::Win => TablebaseCategory::Win,
    };
    TablebaseValue { category: Some(category), dtz: Some(dtz.ignore_rounding().into()) }
}

/// The value by a WDL table alone, which is exact right after a capture or a pawn move.
fn without_dtz(wdl: Wdl, halfmoves: u32) -> TablebaseValue {
    let category = match wdl {
        Wdl::Win if halfmoves == 0 => TablebaseCategory::Win,
        Wdl::Win => TablebaseCategory::MaybeWin,
        Wdl::CursedWin => TablebaseCategory::CursedWin,
        Wdl::Draw => TablebaseCategory::Draw,
        Wdl::BlessedLoss => TablebaseCategory::BlessedLoss,
        Wdl::Loss if halfmoves == 0 => TablebaseCategory::Loss,
        Wdl::Loss => TablebaseCategory::MaybeLoss,
    };
    TablebaseValue { category: Some(category), dtz: (wdl == Wdl::Draw).then_some(0) }
}

/// The sort key of a move. Captures and pawn moves make progress, so that they are first of the wins and last of
/// the losses.
fn rank(mv: &TablebaseMove) -> impl Ord + use<> {
    let TablebaseValue { category, dtz } = mv.value;
    let wins = category.is_some_and(|category| category < TablebaseCategory::Draw);
    let loses = category.is_some_and(|category| TablebaseCategory::Draw < category);
    let zeroing = (wins && !mv.is_zeroing) || (loses && mv.is_zeroing);
    let is_mate = mv.end == Some(TablebaseEnd::Checkmate);
    (category.is_none(), category, Reverse(is_mate), zeroing, dtz.unwrap_or(i32::MAX))
}

impl TablebaseCategory {
    /// The result from the view of the opponent.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Win => Self::Loss,
            Self::MaybeWin => Self::MaybeLoss,
            Self::CursedWin => Self::BlessedLoss,
            Self::Draw => Self::Draw,
            Self::BlessedLoss => Self::CursedWin,
            Self::MaybeLoss => Self::MaybeWin,
            Self::Loss => Self::Win,
        }
    }
}

impl fmt::Display for TablebaseCategory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Win => "win",
            Self::MaybeWin => "win or cursed win",
            Self::CursedWin => "cursed win",
            Self::Draw => "draw",
            Self::BlessedLoss => "blessed loss",
            Self::MaybeLoss => "loss or blessed loss",
            Self::Loss => "loss",
        })
    }
}

impl fmt::Display for TablebaseEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::InsufficientMaterial => "insufficient material",
        })
    }
}
