//! What `analyse --json` prints: one object in each line. `docs/readyok.md` describes it.

use readyok_client::{Best, Checkmate, Info, SearchResult};
use readyok_protocol::{Bound, MoveList, Score, Wdl};
use serde::Serialize;

use super::setup::Scribe;
use crate::text::printable;

/// One line of the output. What the engine has not said is left out.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Record {
    /// What the engine tells while it searches.
    Info(Box<InfoRecord>),
    /// The end of the search.
    BestMove(BestMoveRecord),
}

/// An `info`.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "the fields have the names and meanings of those of `Info`")]
pub struct InfoRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seldepth: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multipv: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wdl: Option<Wdl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hashfull: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tbhits: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currmove: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currmovenumber: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pv: Vec<String>,
    /// The same in the notation that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pv_text: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub string: Option<String>,
}

/// The end of a search.
#[derive(Debug, Serialize)]
pub struct BestMoveRecord {
    /// `move`, `none`, `resign`, `win`, or `other` for a word that no protocol has.
    pub answer: &'static str,
    /// The move, as the engine sent it.
    #[serde(rename = "move", skip_serializing_if = "Option::is_none")]
    pub word: Option<String>,
    /// The same in the notation that was asked for, if it is legal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub move_text: Option<String>,
    /// The expected answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ponder: Option<String>,
    /// The same in the notation that was asked for, if it is legal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ponder_text: Option<String>,
    /// What a shogi engine says of a mate that it was asked for: `found`, `nomate`, `timeout`,
    /// `notimplemented` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkmate: Option<&'static str>,
    /// The moves of that mate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mate: Vec<String>,
    /// From `go` until the answer.
    pub time_ms: u64,
}

impl Record {
    /// Records what the engine tells.
    pub fn info(info: &Info<'_>, scribe: &Scribe) -> Self {
        let words = || info.pv.iter().flat_map(MoveList::tokens);
        Self::Info(Box::new(InfoRecord {
            depth: info.depth,
            seldepth: info.seldepth,
            multipv: info.multipv,
            score: info.score,
            bound: Some(info.bound).filter(|&bound| bound != Bound::Exact),
            wdl: info.wdl,
            nodes: info.nodes,
            nps: info.nps,
            hashfull: info.hashfull,
            tbhits: info.tbhits,
            time_ms: info.time_ms(),
            currmove: info.currmove.map(String::from),
            currmovenumber: info.currmovenumber,
            pv: words().map(printable).collect(),
            pv_text: scribe.line(words()).iter().map(|text| printable(text)).collect(),
            string: info.string.as_deref().map(printable),
        }))
    }

    /// Records the end of the search.
    pub fn best_move(played: &SearchResult, scribe: &Scribe) -> Self {
        let best = played.best_move();
        let (answer, other) = match &played.best {
            Best::Move(_) if best.is_some() => ("move", None),
            Best::Move(nowhere) => ("none", Some(nowhere.to_string())),
            Best::None => ("none", None),
            Best::Resign => ("resign", None),
            Best::Win => ("win", None),
            Best::Other(word) => ("other", Some(printable(word))),
        };
        let ponder = played.ponder;
        let (checkmate, mate) = match &played.checkmate {
            None => (None, Vec::new()),
            Some(Checkmate::Moves(moves)) => {
                (Some("found"), moves.tokens().map(printable).collect())
            }
            Some(Checkmate::NoMate) => (Some("nomate"), Vec::new()),
            Some(Checkmate::Timeout) => (Some("timeout"), Vec::new()),
            Some(Checkmate::NotImplemented) => (Some("notimplemented"), Vec::new()),
            Some(Checkmate::Unknown) => (Some("unknown"), Vec::new()),
        };
        Self::BestMove(BestMoveRecord {
            answer,
            word: best.map(String::from).or(other),
            move_text: best.and_then(|best| scribe.one(best.as_str())),
            ponder: ponder.map(String::from),
            ponder_text: best
                .zip(ponder)
                .and_then(|(best, ponder)| scribe.answer(best.as_str(), ponder.as_str())),
            checkmate,
            mate,
            time_ms: u64::try_from(played.time().as_millis()).unwrap_or(u64::MAX),
        })
    }
}
