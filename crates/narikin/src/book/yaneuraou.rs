//! The text book of YaneuraOu (`#YANEURAOU-DB2016 1.00`): for each position its moves with answer,
//! value, depth and how often each was seen.

use std::collections::HashMap;
use std::path::Path;

use readyok_rules::{BoardRef, Position};
use rsshogi::book::{
    YaneuraOuAccessMode, YaneuraOuBook, YaneuraOuBookDiagnostics, YaneuraOuBookMove,
    YaneuraOuBookOpenOptions,
};
use rsshogi::types::Move;

use super::{BookError, BookMove};

const HEADER: &[u8] = b"#YANEURAOU-DB2016 1.00";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// So many bytes of a file tell whether it is such a book.
pub(super) const HEAD: u64 = 32;

/// Sorted books are searched in the file. So many positions tell whether one is.
const ROWS: usize = 10_000;

/// A book that is not sorted is kept in memory, unless it has more bytes.
const MOST_BYTES: u64 = 256 << 20;

/// Moves that are worse than the best by more centipawns are not played.
const MARGIN: i32 = 30;

/// A book of shogi.
#[derive(Debug)]
pub(crate) enum YaneuraOu {
    Sorted(YaneuraOuBook),
    /// By the SFEN of the position.
    Loaded(HashMap<String, Vec<YaneuraOuBookMove>>),
}

/// Whether a file that begins so is such a book.
pub(super) fn is_head(head: &[u8]) -> bool {
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    text.strip_prefix(HEADER).is_some_and(|rest| matches!(rest.first(), Some(b'\n' | b'\r')))
}

impl YaneuraOu {
    pub(super) fn open(path: &Path) -> Result<Self, BookError> {
        let mode = YaneuraOuAccessMode::AssumeSortedAfterPrefix { prefix_rows: ROWS };
        let options = YaneuraOuBookOpenOptions::with_access_mode(mode);
        let book = YaneuraOuBook::open_with_options(path, options)?;
        if let YaneuraOuBookDiagnostics::Sorted { .. } = book.diagnostics() {
            return Ok(Self::Sorted(book));
        }
        let bytes = path.metadata()?.len();
        if MOST_BYTES < bytes {
            return Err(BookError::Unsorted { bytes });
        }
        // An entry that cannot be read costs itself only.
        let entries = book.iter_entries()?.filter_map(Result::ok);
        let by_sfen = entries.map(|it| (it.sfen().to_owned(), it.moves().to_vec()));
        Ok(Self::Loaded(by_sfen.collect()))
    }

    pub(super) fn moves(&self, position: &Position) -> Result<Vec<BookMove>, BookError> {
        let BoardRef::Shogi(board) = position.board() else { return Ok(Vec::new()) };
        let sfen = board.position().to_sfen(Some(1));
        let moves = match self {
            Self::Loaded(entries) => entries.get(&sfen).cloned().unwrap_or_default(),
            Self::Sorted(book) => {
                book.lookup_sfen(&sfen)?.map(|it| it.moves().to_vec()).unwrap_or_default()
            }
        };
        Ok(weighed(position, &moves))
    }
}

/// The legal ones of these moves. A move that the book gives no value is as good as the best.
fn weighed(position: &Position, moves: &[YaneuraOuBookMove]) -> Vec<BookMove> {
    let read = |position: &Position, mv: Move| position.parse_move(&mv.to_usi()).ok();
    let legal = moves.iter().filter_map(|it| {
        let mv = read(position, it.mv())?;
        let mut next = position.clone();
        next.play(mv).ok()?;
        let reply = read(&next, it.ponder());
        Some((it.score(), BookMove { mv, reply, weight: it.count().unwrap_or(1).max(1) }))
    });
    let legal: Vec<_> = legal.collect();
    let best = legal.iter().filter_map(|(score, _)| *score).max();
    let is_good = |score: Option<i32>| match (score, best) {
        (Some(score), Some(best)) => best.saturating_sub(score) <= MARGIN,
        (None, _) | (_, None) => true,
    };
    legal.into_iter().filter(|(score, _)| is_good(*score)).map(|(_, mv)| mv).collect()
}
