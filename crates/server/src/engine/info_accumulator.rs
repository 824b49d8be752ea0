//! The output of a search for the page.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Unbounded};

use readyok_client::{Info, Lines, SearchResult};
use readyok_protocol::{Bound, Checkmate, MoveList, Score};
use readyok_rules::{MoveCodec, Position};

use super::log::printable;
use crate::game::position_view::line;
use crate::wire::{CurrentLine, CurrentMove, Line, LineMove, MateAnswer, SearchInfo};

/// Maximum number of moves of a line.
const MAX_LINE: usize = 64;
/// Maximum number of refutations and current lines.
const MAX_EXTRA_LINES: usize = 256;

/// Collects the output of one search. Most of it is replaced before it is published, so it is stored in engine
/// notation and formatted for publication.
#[derive(Debug)]
pub(crate) struct InfoAccumulator {
    cache: LineCache,
    codec: MoveCodec,
    /// Number of variations to show.
    shown: usize,
    current: Option<(String, Option<u32>)>,
    refutations: BTreeMap<String, Vec<String>>,
    current_lines: BTreeMap<u32, Vec<String>>,
    text: Option<String>,
}

/// Formats lines from a position. Lines of the last update are not formatted again.
#[derive(Debug)]
struct LineCache {
    position: Position,
    before: BTreeMap<Vec<String>, Vec<LineMove>>,
    now: BTreeMap<Vec<String>, Vec<LineMove>>,
}

impl LineCache {
    fn new(position: Position) -> Self {
        Self { position, before: BTreeMap::new(), now: BTreeMap::new() }
    }

    fn line(&mut self, mut moves: Vec<String>) -> Vec<LineMove> {
        moves.truncate(MAX_LINE);
        let known = self.now.get(&moves).or_else(|| self.before.get(&moves));
        let written = known.cloned().unwrap_or_else(|| {
            let shared = |line: &&Vec<LineMove>| {
                let pairs = line.iter().zip(&moves);
                pairs.take_while(|(known, mv)| known.uci == **mv).count()
            };
            // In sorted order, the line with the longest common prefix is a neighbor.
            let moves = moves.as_slice();
            let after = (Excluded(moves), Unbounded);
            let until = (Unbounded, Excluded(moves));
            let next = self.before.range::<[String], _>(after).next();
            let last = self.before.range::<[String], _>(until).next_back();
            let alike = next.into_iter().chain(last).map(|(_, line)| line).max_by_key(shared);
            line(&self.position, moves, alike.map_or(&[], Vec::as_slice))
        });
        self.now.insert(moves, written.clone());
        written
    }

    /// Ends an update.
    fn rest(&mut self) {
        self.before = std::mem::take(&mut self.now);
    }
}

impl InfoAccumulator {
    pub(crate) fn new(position: Position, codec: MoveCodec, shown: usize) -> Self {
        Self {
            cache: LineCache::new(position),
            codec,
            shown,
            current: None,
            refutations: BTreeMap::new(),
            current_lines: BTreeMap::new(),
            text: None,
        }
    }

    /// Adds output that is not part of a variation.
    pub(crate) fn take(&mut self, info: &Info<'_>) {
        if let Some(mv) = info.currmove {
            let text = self.codec.decode_text(mv.as_str()).into_owned();
            self.current = Some((text, info.currmovenumber));
        }
        if let Some(moves) = &info.refutation {
            let moves = self.moves(moves);
            if let Some(first) = moves.first()
                && (self.refutations.len() < MAX_EXTRA_LINES
                    || self.refutations.contains_key(first))
            {
                self.refutations.insert(first.clone(), moves);
            }
        }
        if let Some(current) = &info.currline {
            let cpu = current.cpu.unwrap_or(1);
            if self.current_lines.len() < MAX_EXTRA_LINES || self.current_lines.contains_key(&cpu) {
                let moves = self.moves(&current.moves);
                self.current_lines.insert(cpu, moves);
            }
        }
        if let Some(text) = &info.string {
            self.text = Some(printable(text));
        }
    }

    fn moves(&self, moves: &MoveList<'_>) -> Vec<String> {
        self.codec.decode_line(moves).take(MAX_LINE).map(Cow::into_owned).collect()
    }

    /// The current state.
    pub(crate) fn info(&mut self, lines: &Lines) -> SearchInfo {
        let best = lines.best();
        let latest = |part: fn(&Info<'static>) -> Option<u64>| lines.iter().filter_map(part).max();
        let shown = lines.iter().take(self.shown).enumerate();
        let variations = shown.filter_map(|(index, info)| self.variation(index, info)).collect();
        let Self { cache, current, refutations, current_lines, text, .. } = self;
        let current = current.as_ref().and_then(|(mv, number)| {
            let it = cache.line(vec![mv.clone()]).into_iter().next()?;
            Some(CurrentMove { it, number: *number })
        });
        let refutations = refutations.values().map(|moves| cache.line(moves.clone())).collect();
        let current_lines = current_lines
            .iter()
            .map(|(cpu, moves)| CurrentLine { cpu: *cpu, moves: cache.line(moves.clone()) })
            .collect();
        cache.rest();
        SearchInfo {
            lines: variations,
            depth: best.and_then(|info| info.depth),
            seldepth: best.and_then(|info| info.seldepth),
            nodes: latest(|info| info.nodes),
            nps: best.and_then(|info| info.nps),
            hashfull: best.and_then(|info| info.hashfull),
            tbhits: latest(|info| info.tbhits),
            cpuload: best.and_then(|info| info.cpuload),
            time: latest(Info::time_ms),
            current,
            refutations,
            current_lines,
            text: text.clone(),
            mate: None,
            best: None,
        }
    }

    /// The final state.
    pub(crate) fn ended(&mut self, played: &SearchResult) -> SearchInfo {
        let mut info = self.info(&played.lines);
        info.current = None;
        let best = played.best_move().map(|mv| self.codec.decode_text(mv.as_str()).into_owned());
        info.best = best.and_then(|mv| self.cache.line(vec![mv]).into_iter().next());
        info.mate = played.checkmate.as_ref().map(|answer| match answer {
            Checkmate::Moves(_) => MateAnswer::Found,
            Checkmate::NoMate => MateAnswer::None,
            Checkmate::Timeout | Checkmate::Unknown => MateAnswer::Unknown,
            Checkmate::NotImplemented => MateAnswer::NotImplemented,
        });
        if let Some(Checkmate::Moves(moves)) = &played.checkmate {
            let pv = self.cache.line(self.moves(moves));
            let plies = u32::try_from(moves.len()).ok();
            let (depth, seldepth, wdl) = (plies, None, None);
            let score = Some(Score::mate(true, plies));
            info.lines =
                vec![Line { number: 1, depth, seldepth, score, bound: Bound::Exact, wdl, pv }];
        }
        info
    }

    fn variation(&mut self, index: usize, info: &Info<'static>) -> Option<Line> {
        if info.score.is_none() && info.pv.is_none() {
            return None;
        }
        let pv = info.pv.as_ref().map(|moves| self.moves(moves)).unwrap_or_default();
        Some(Line {
            number: info.multipv.unwrap_or_else(|| u32::try_from(index + 1).unwrap_or(u32::MAX)),
            depth: info.depth,
            seldepth: info.seldepth,
            score: info.score,
            bound: info.bound,
            wdl: info.wdl,
            pv: self.cache.line(pv),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readyok_rules::Game;

    fn moves(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn cached_lines_are_formatted_in_the_same_way() {
        for (game, lines) in [
            (
                Game::Chess,
                [
                    "e2e4 e7e5 g1f3 b8c6 f1b5",
                    "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5",
                    "e2e4 e7e5 f1b5",
                    "e2e4 d7d5 f1b5",
                    "e2e4 e7e5 g1f3 a1a1 b8c6",
                    "d2d4",
                    "",
                ],
            ),
            (
                Game::Shogi,
                [
                    "7g7f 3c3d 8h2b+ 3a2b B*4e",
                    "7g7f 3c3d 8h2b+ 3a2b B*5e",
                    "7g7f 3c3d 8h2b",
                    "7g7f 3c3d 2g2f 8c8d",
                    "2g2f 8c8d",
                    "resign",
                    "7g7f 7g7f 3c3d",
                ],
            ),
        ] {
            let position = Position::start(game);
            let mut cache = LineCache::new(position.clone());
            for first in lines {
                for second in lines {
                    for text in [first, second] {
                        let plain = line(&position, &moves(text), &[]);
                        assert_eq!(cache.line(moves(text)), plain, "{text} after {first}");
                    }
                    cache.rest();
                }
            }
        }
    }

    #[test]
    fn only_lines_of_the_last_update_are_cached() {
        let mut cache = LineCache::new(Position::start(Game::Chess));
        for mv in ["e2e4", "d2d4", "c2c4"] {
            cache.line(moves(mv));
            cache.rest();
            assert_eq!((cache.before.len(), cache.now.len()), (1, 0));
        }
    }
}
