//! What an engine tells of a search, as the page shows it.

use std::collections::BTreeMap;

use readyok_client::{Info, Lines, Played, Score as EngineScore};
use readyok_protocol::{Bound as EngineBound, Checkmate};
use readyok_rules::Position;

use super::log::printable;
use super::wording::Wording;
use crate::game::here::line;
use crate::wire::{Bound, CurrentLine, CurrentMove, Line, LineMove, MateAnswer, Score, Told, Wdl};

/// A line shows at most so many moves.
const LONGEST: usize = 64;
/// So many refutations and current lines are kept.
const MOST: usize = 256;

/// Collects what an engine tells of one search.
#[derive(Debug)]
pub(crate) struct Collector {
    position: Position,
    wording: Wording,
    /// So many variations are shown.
    shown: usize,
    current: Option<CurrentMove>,
    refutations: BTreeMap<String, Vec<LineMove>>,
    current_lines: BTreeMap<u32, Vec<LineMove>>,
    text: Option<String>,
}

impl Collector {
    pub(crate) fn new(position: Position, wording: Wording, shown: usize) -> Self {
        Self {
            position,
            wording,
            shown,
            current: None,
            refutations: BTreeMap::new(),
            current_lines: BTreeMap::new(),
            text: None,
        }
    }

    fn line(&self, words: &[String]) -> Vec<LineMove> {
        line(&self.position, words.iter().take(LONGEST))
    }

    /// Takes what is not part of a variation.
    pub(crate) fn take(&mut self, info: &Info<'_>) {
        if let Some(mv) = info.currmove {
            let words = [self.wording.heard(&mv.to_string())];
            let it = self.line(&words).into_iter().next();
            self.current = it.map(|it| CurrentMove { it, number: info.currmovenumber });
        }
        if let Some(moves) = &info.refutation {
            let words = self.wording.line(moves);
            if let Some(first) = words.first()
                && (self.refutations.len() < MOST || self.refutations.contains_key(first))
            {
                let line = self.line(&words);
                self.refutations.insert(first.clone(), line);
            }
        }
        if let Some(current) = &info.currline {
            let processor = current.cpu.unwrap_or(1);
            if self.current_lines.len() < MOST || self.current_lines.contains_key(&processor) {
                let line = self.line(&self.wording.line(&current.moves));
                self.current_lines.insert(processor, line);
            }
        }
        if let Some(text) = &info.string {
            self.text = Some(printable(text));
        }
    }

    /// Everything as it stands.
    pub(crate) fn told(&self, lines: &Lines) -> Told {
        let best = lines.best();
        let latest = |part: fn(&Info<'static>) -> Option<u64>| lines.iter().filter_map(part).max();
        Told {
            lines: lines
                .iter()
                .take(self.shown)
                .enumerate()
                .filter_map(|(index, info)| self.variation(index, info))
                .collect(),
            depth: best.and_then(|info| info.depth),
            seldepth: best.and_then(|info| info.seldepth),
            nodes: latest(|info| info.nodes),
            nps: best.and_then(|info| info.nps),
            hashfull: best.and_then(|info| info.hashfull),
            tbhits: latest(|info| info.tbhits),
            cpuload: best.and_then(|info| info.cpuload),
            time: latest(|info| info.time),
            current: self.current.clone(),
            refutations: self.refutations.values().cloned().collect(),
            current_lines: self
                .current_lines
                .iter()
                .map(|(processor, moves)| CurrentLine {
                    processor: *processor,
                    moves: moves.clone(),
                })
                .collect(),
            text: self.text.clone(),
            mate: None,
            best: None,
        }
    }

    /// The same at the end of the search.
    pub(crate) fn ended(&self, played: &Played) -> Told {
        let mut told = self.told(&played.lines);
        told.current = None;
        let best = played.best_move().map(|mv| self.wording.heard(&mv.to_string()));
        told.best = best.and_then(|word| self.line(&[word]).into_iter().next());
        told.mate = played.checkmate.as_ref().map(|answer| match answer {
            Checkmate::Moves(_) => MateAnswer::Found,
            Checkmate::NoMate => MateAnswer::None,
            Checkmate::Timeout | Checkmate::Unknown => MateAnswer::Unknown,
            Checkmate::NotImplemented => MateAnswer::NotImplemented,
        });
        if let Some(Checkmate::Moves(moves)) = &played.checkmate {
            let pv = self.line(&self.wording.line(moves));
            let plies = u32::try_from(moves.len()).ok();
            let (depth, seldepth, wdl) = (plies, None, None);
            let score = Some(Score::Mate { plies, won: true });
            told.lines =
                vec![Line { number: 1, depth, seldepth, score, bound: Bound::Exact, wdl, pv }];
        }
        told
    }

    fn variation(&self, index: usize, info: &Info<'static>) -> Option<Line> {
        if info.score.is_none() && info.pv.is_none() {
            return None;
        }
        let pv = info.pv.as_ref().map(|moves| self.wording.line(moves)).unwrap_or_default();
        Some(Line {
            number: info.multipv.unwrap_or_else(|| u32::try_from(index + 1).unwrap_or(u32::MAX)),
            depth: info.depth,
            seldepth: info.seldepth,
            score: info.score.map(score),
            bound: match info.bound {
                EngineBound::Exact => Bound::Exact,
                EngineBound::Lower => Bound::Lower,
                EngineBound::Upper => Bound::Upper,
            },
            wdl: info.wdl.map(|it| Wdl { win: it.win, draw: it.draw, loss: it.loss }),
            pv: self.line(&pv),
        })
    }
}

/// A score as the wire has it.
pub(crate) fn score(score: EngineScore) -> Score {
    match score {
        EngineScore::Cp(value) => Score::Cp { value },
        EngineScore::Mated => Score::Mate { plies: Some(0), won: false },
        EngineScore::MatedIn { plies } => Score::Mate { plies: Some(plies), won: false },
        EngineScore::MatedSomeday => Score::Mate { plies: None, won: false },
        EngineScore::MateSomeday => Score::Mate { plies: None, won: true },
        EngineScore::MateIn { plies } => Score::Mate { plies: Some(plies), won: true },
        EngineScore::MateGiven => Score::Mate { plies: Some(0), won: true },
    }
}
