//! Ends that tablebases know.

use std::{fmt, io, path::Path};

use readyok_rules::shakmaty::{Chess, Position as _};
use readyok_rules::{Side, Termination};
use shakmaty_syzygy::{Tablebase, Wdl};

use super::referee::Decision;
use crate::plan::{TablebaseAdjudication, TablebaseScope};

/// What perfect play gives the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// It wins.
    Win,
    /// It wins, but the fifty-move rule would make it a draw.
    CursedWin,
    /// Nobody wins.
    Draw,
    /// It loses, but the fifty-move rule would make it a draw.
    BlessedLoss,
    /// It loses.
    Loss,
}

/// Something that knows the results of positions with few pieces.
pub trait Tablebases: fmt::Debug + Send + Sync {
    /// The result of a position right after a capture or a pawn move, if it is known.
    fn probe(&self, position: &Chess) -> Option<Known>;
}

/// Syzygy files. Only those with the results (`.rtbw`) are needed.
#[derive(Debug)]
pub struct Syzygy {
    tables: Tablebase<Chess>,
}

impl Syzygy {
    /// Finds the files of some folders.
    ///
    /// # Errors
    /// A folder cannot be read, or the folders hold no table at all.
    pub fn open<P: AsRef<Path>>(folders: impl IntoIterator<Item = P>) -> io::Result<Self> {
        let mut tables = Tablebase::new();
        let (mut found, mut names) = (0, Vec::new());
        for folder in folders {
            let folder = folder.as_ref();
            let name = format!("`{}`", folder.display());
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
            found += tables.add_directory(folder).map_err(named)?;
            names.push(name);
        }
        if found == 0 {
            let text = format!("no Syzygy table in {}", names.join(", "));
            return Err(io::Error::new(io::ErrorKind::NotFound, text));
        }
        Ok(Self { tables })
    }
}

impl Tablebases for Syzygy {
    fn probe(&self, position: &Chess) -> Option<Known> {
        if self.tables.max_pieces() < position.board().occupied().count() {
            return None;
        }
        Some(match self.tables.probe_wdl_after_zeroing(position).ok()? {
            Wdl::Win => Known::Win,
            Wdl::CursedWin => Known::CursedWin,
            Wdl::Draw => Known::Draw,
            Wdl::BlessedLoss => Known::BlessedLoss,
            Wdl::Loss => Known::Loss,
        })
    }
}

/// The end that the tables know, if they end the game here. They do right after a capture or a pawn
/// move only, where their results hold under the fifty-move rule, and when nobody can castle, which
/// they do not know.
pub(super) fn judge(
    tables: &dyn Tablebases,
    rule: &TablebaseAdjudication,
    position: &Chess,
    turn: Side,
) -> Option<Decision> {
    let pieces = position.board().occupied().count();
    let is_small = rule.pieces == 0 || pieces <= usize::try_from(rule.pieces).unwrap_or(usize::MAX);
    if position.halfmoves() != 0 || !position.castles().is_empty() || !is_small {
        return None;
    }
    let winner = match tables.probe(position)? {
        Known::Win => Some(turn),
        Known::CursedWin => Some(turn).filter(|_| rule.ignore_fifty_moves),
        Known::Draw => None,
        Known::BlessedLoss => Some(turn.other()).filter(|_| rule.ignore_fifty_moves),
        Known::Loss => Some(turn.other()),
    };
    let is_wanted = match rule.scope {
        TablebaseScope::Both => true,
        TablebaseScope::WinLoss => winner.is_some(),
        TablebaseScope::Draw => winner.is_none(),
    };
    is_wanted.then(|| Decision { winner, end: Termination::TablebaseAdjudication.into() })
}
