//! Syzygy tablebases of chess.

use std::{
    fmt, fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use cozy_chess::{Board, Color, Move, Piece, Rank, Square};
use readyok_rules::shakmaty::{
    self, Bitboard, ByColor, ByRole, CastlingMode, Chess, PositionError, Setup,
};
use shakmaty_syzygy::{Dtz, Tablebase};

/// The result of perfect play, from worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wdl {
    /// It loses.
    Loss,
    /// A loss that the fifty-move rule turns into a draw.
    BlessedLoss,
    /// A draw.
    Draw,
    /// A win that the fifty-move rule turns into a draw.
    CursedWin,
    /// It wins.
    Win,
}

/// A root move and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// The move; castling is encoded as king captures rook.
    pub mv: Move,
    /// The result for the side that plays it, under the fifty-move rule.
    pub wdl: Wdl,
    /// Plies to the next capture, pawn move or mate, including this move: positive for wins,
    /// negative for losses, 0 for draws. Rounded values can be one too small. 0 for all moves
    /// without DTZ tables.
    pub dtz: i32,
}

/// Maximum number of recorded errors.
const MAX_ERRORS: usize = 8;

/// Syzygy tablebases of some directories. Files are opened on demand.
pub struct Tablebases {
    tables: Tablebase<Chess>,
    files: usize,
    errors: Vec<String>,
}

impl fmt::Debug for Tablebases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tablebases")
            .field("files", &self.files)
            .field("max_pieces", &self.max_pieces())
            .finish_non_exhaustive()
    }
}

impl Tablebases {
    /// Opens the tablebases of a directory list as in `SyzygyPath`, separated by `;` on Windows and
    /// by `:` elsewhere. An empty list and `<empty>` have no directories.
    ///
    /// Unreadable files are skipped and [recorded](Self::errors).
    ///
    /// # Errors
    ///
    /// No directory is readable.
    pub fn open(paths: &str) -> io::Result<Self> {
        let mut tables = Tablebase::new();
        let (mut files, mut errors) = (0, Vec::new());
        let mut last_error = None;
        let mut record_error = |path: &Path, error: &io::Error| {
            if errors.len() < MAX_ERRORS {
                errors.push(format!("`{}`: {error}", path.display()));
            }
        };
        let directories: Vec<_> = directories(paths).collect();
        let mut readable = directories.len();
        for directory in directories {
            let entries = match fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) => {
                    record_error(&directory, &error);
                    readable -= 1;
                    last_error = Some(error.kind());
                    continue;
                }
            };
            for entry in entries.flatten() {
                match tables.add_file(entry.path()) {
                    Ok(()) => files += 1,
                    // Other files.
                    Err(error) if error.kind() == ErrorKind::InvalidInput => {}
                    Err(error) => record_error(&entry.path(), &error),
                }
            }
        }
        match last_error {
            Some(kind) if readable == 0 => Err(io::Error::new(kind, errors.join("; "))),
            _ => Ok(Self { tables, files, errors }),
        }
    }

    /// Errors with paths.
    pub fn errors(&self) -> &[String] {
        &self.errors
    }

    /// The number of files.
    pub const fn files(&self) -> usize {
        self.files
    }

    /// The maximum number of pieces including kings; 0 without tables.
    pub fn max_pieces(&self) -> usize {
        self.tables.max_pieces()
    }

    /// The result of a position, if known. It is the result right after a capture or a pawn move:
    /// the fifty-move counter is ignored and should be 0.
    pub fn wdl(&self, board: &Board) -> Option<Wdl> {
        let position = self.convert_position(board)?;
        let wdl = self.tables.probe_wdl_after_zeroing(&position).ok()?;
        Some(convert_wdl(wdl))
    }

    /// The legal moves of a position, best first: by result, then by quick progress to a win or
    /// slow progress to a loss. None if a successor is unknown.
    ///
    /// The first move preserves the result. Repetition is ignored. Without DTZ files (`.rtbz`),
    /// moves are ranked by result only, as if the fifty-move counter were 0.
    pub fn root(&self, board: &Board) -> Option<Vec<Ranked>> {
        self.convert_position(board)?;
        let mut moves = Vec::new();
        board.generate_moves(|of_piece| {
            moves.extend(of_piece);
            false
        });
        let by_progress = moves.iter().map(|&mv| self.rank(board, mv)).collect::<Option<Vec<_>>>();
        let by_result = || moves.iter().map(|&mv| self.rank_by_result(board, mv)).collect();
        let mut ranked = by_progress.or_else(by_result)?;
        ranked.sort_by_key(|ranked_move| (std::cmp::Reverse(ranked_move.wdl), ranked_move.dtz));
        Some(ranked)
    }

    fn rank(&self, board: &Board, mv: Move) -> Option<Ranked> {
        let mut after = board.clone();
        after.play_unchecked(mv);
        let position = self.convert_position(&after)?;
        let zeroes = after.halfmove_clock() == 0;
        // Mate has priority over the fifty-move rule.
        let is_mate = !after.checkers().is_empty() && no_move(&after);
        let rule50_plies = if zeroes || is_mate { 0 } else { i32::from(board.halfmove_clock()) };
        let theirs = if zeroes {
            Dtz::before_zeroing(self.tables.probe_wdl_after_zeroing(&position).ok()?)
        } else {
            let dtz = self.tables.probe_dtz(&position).ok()?.ignore_rounding();
            dtz.add_plies(1)
        };
        let dtz = if is_mate { 1 } else { -i32::from(theirs) };
        Some(Ranked { mv, wdl: apply_rule50(dtz, rule50_plies), dtz })
    }

    fn rank_by_result(&self, board: &Board, mv: Move) -> Option<Ranked> {
        let mut after = board.clone();
        after.play_unchecked(mv);
        let theirs = self.tables.probe_wdl_after_zeroing(&self.convert_position(&after)?).ok()?;
        Some(Ranked { mv, wdl: convert_wdl(-theirs), dtz: 0 })
    }

    /// Converts a position; none if it cannot be in the tables.
    fn convert_position(&self, board: &Board) -> Option<Chess> {
        let castles = Color::ALL.into_iter().any(|side| {
            let rights = board.castle_rights(side);
            rights.long.is_some() || rights.short.is_some()
        });
        let pieces = usize::try_from(board.occupied().len()).unwrap_or(usize::MAX);
        if castles || self.max_pieces() < pieces {
            return None;
        }
        setup(board)?
            .position(CastlingMode::Standard)
            .or_else(PositionError::ignore_invalid_ep_square)
            .ok()
    }
}

const fn convert_wdl(wdl: shakmaty_syzygy::Wdl) -> Wdl {
    match wdl {
        shakmaty_syzygy::Wdl::Loss => Wdl::Loss,
        shakmaty_syzygy::Wdl::BlessedLoss => Wdl::BlessedLoss,
        shakmaty_syzygy::Wdl::Draw => Wdl::Draw,
        shakmaty_syzygy::Wdl::CursedWin => Wdl::CursedWin,
        shakmaty_syzygy::Wdl::Win => Wdl::Win,
    }
}

/// The result under the fifty-move rule.
fn apply_rule50(dtz: i32, rule50_plies: i32) -> Wdl {
    // DTZ may be one too small, except right after a capture or a pawn move.
    let allowed = if rule50_plies == 0 { 100 } else { 99 };
    let in_time = dtz.abs() + rule50_plies <= allowed;
    match dtz.signum() {
        0 => Wdl::Draw,
        1 if in_time => Wdl::Win,
        1 => Wdl::CursedWin,
        _ if in_time => Wdl::Loss,
        _ => Wdl::BlessedLoss,
    }
}

fn directories(paths: &str) -> impl Iterator<Item = PathBuf> {
    let separator = if cfg!(windows) { ';' } else { ':' };
    let paths = if paths == "<empty>" { "" } else { paths };
    paths.split(separator).map(str::trim).filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn no_move(board: &Board) -> bool {
    !board.generate_moves(|_| true)
}

fn setup(board: &Board) -> Option<Setup> {
    let roles = ByRole {
        pawn: squares(board.pieces(Piece::Pawn)),
        knight: squares(board.pieces(Piece::Knight)),
        bishop: squares(board.pieces(Piece::Bishop)),
        rook: squares(board.pieces(Piece::Rook)),
        queen: squares(board.pieces(Piece::Queen)),
        king: squares(board.pieces(Piece::King)),
    };
    let colors = ByColor {
        white: squares(board.colors(Color::White)),
        black: squares(board.colors(Color::Black)),
    };
    let turn = board.side_to_move();
    let ep_square = board.en_passant().and_then(|file| {
        let behind = Square::new(file, Rank::Sixth.relative_to(turn));
        shakmaty::Square::try_from(behind as u32).ok()
    });
    Some(Setup {
        board: shakmaty::Board::try_from_bitboards(roles, colors).ok()?,
        turn: shakmaty::Color::from_white(turn == Color::White),
        ep_square,
        ..Setup::empty()
    })
}

fn squares(board: cozy_chess::BitBoard) -> Bitboard {
    Bitboard(board.0)
}
