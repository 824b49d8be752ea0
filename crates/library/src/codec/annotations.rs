//! Annotations as sections, each for one kind. Nodes have the numbers of the stream of moves; the root is 0.
//!
//! ```text
//! section: u8 kind, then
//!  1 clocks       u8 unit; runs of: zigzag ((last clock of the side - clock) / unit)
//!  2 elapsed      u8 unit; runs of: time / unit
//!  3 evaluations  u8 bit 0 depths, bit 1 mates; runs of: score, with bit 0: depth + 1 or 0
//!                 score: zigzag (centipawns - last); with bit 1 shifted by one, 1 for mate: plies * 6 + kind
//!  4 glyphs       for each: node - last node, u8 NAG
//!  5 comments     for each: node - last node, u8 0 after, 1 before, 2 of the end; text
//!  6 marks        for each: node - last node, u8 color | arrow << 7, u8 from, u8 to if an arrow
//!  7 ends         for each: node - last node, u8 termination, u8 result | text << 2 | elapsed << 3, text,
//!                 seconds, nanoseconds
//! runs: number of runs; for each: first node - end of the last run, length, values
//! lists (4 to 7): number of items, items
//! ```
//!
//! Numbers without a size are varints.

use std::time::Duration;

use readyok_protocol::Score;
use readyok_rules::record::{
    AnnotationCount, Annotations, End, Evaluation, GameRecord, Mark, MarkColor, Nag, Node, NodeId,
};
use readyok_rules::{Game, GameOutcome, Square};

use super::tags::{get_text, put_text};
use crate::error::Error;
use crate::summary::{result_code, result_of, termination_code, termination_of};
use crate::varint::{Corrupt, get, get_u8, put, unzigzag, zigzag};

const CLOCKS: u8 = 1;
const ELAPSED: u8 = 2;
const EVALUATIONS: u8 = 3;
const GLYPHS: u8 = 4;
const COMMENTS: u8 = 5;
const MARKS: u8 = 6;
const ENDS: u8 = 7;

/// Units of times in nanoseconds.
const UNITS: [u128; 6] = [1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 1_000, 1];

const COLORS: [MarkColor; 4] =
    [MarkColor::Green, MarkColor::Red, MarkColor::Yellow, MarkColor::Blue];

const AFTER: u8 = 0;
const BEFORE: u8 = 1;
const OF_END: u8 = 2;

/// The largest unit that divides all times.
fn unit_of(times: impl Iterator<Item = Duration>) -> u8 {
    let mut unit = 0;
    for time in times {
        while !time.as_nanos().is_multiple_of(UNITS[unit]) {
            unit += 1;
        }
    }
    unit.to_le_bytes()[0]
}

/// Times are limited to 584 years, whose nanoseconds fit in 64 bits: every unit can represent them.
fn in_units(time: Duration, unit: u8) -> u64 {
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    u64::try_from(u128::from(nanos) / UNITS[usize::from(unit)]).unwrap_or(u64::MAX)
}

fn duration(units: u64, unit: u8) -> Result<Duration, Corrupt> {
    let unit = *UNITS.get(usize::from(unit)).ok_or(Corrupt)?;
    let nanos = u64::try_from(u128::from(units) * unit).map_err(|_| Corrupt)?;
    Ok(Duration::from_nanos(nanos))
}

fn put_runs<T>(
    out: &mut Vec<u8>,
    items: &[(usize, T)],
    mut put_value: impl FnMut(&mut Vec<u8>, &T),
) {
    let runs = items.chunk_by(|a, b| a.0 + 1 == b.0);
    put(out, runs.clone().count() as u64);
    let mut end = 0;
    for run in runs {
        put(out, (run[0].0 - end) as u64);
        put(out, run.len() as u64);
        end = run[0].0 + run.len();
        for (_, value) in run {
            put_value(out, value);
        }
    }
}

fn get_runs(
    bytes: &mut &[u8],
    mut visit: impl FnMut(&mut &[u8], u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut node = 0_u64;
    for _ in 0..get(bytes)? {
        node = node.checked_add(get(bytes)?).ok_or(Corrupt)?;
        for _ in 0..get(bytes)? {
            visit(bytes, node)?;
            node += 1;
        }
    }
    Ok(())
}

fn put_list<T>(
    out: &mut Vec<u8>,
    kind: u8,
    items: &[(usize, T)],
    mut put_item: impl FnMut(&mut Vec<u8>, &T),
) {
    if items.is_empty() {
        return;
    }
    out.push(kind);
    put(out, items.len() as u64);
    let mut last = 0;
    for (node, item) in items {
        put(out, (node - last) as u64);
        last = *node;
        put_item(out, item);
    }
}

fn mate_code(score: Score) -> Result<i32, u64> {
    Err(match score {
        Score::Cp(value) => return Ok(value),
        Score::Mated => 0,
        Score::MatedIn { plies } => u64::from(plies) * 6 + 1,
        Score::MatedInUnknown => 2,
        Score::MateInUnknown => 3,
        Score::MateIn { plies } => u64::from(plies) * 6 + 4,
        Score::MateGiven => 5,
    })
}

fn mate_of(code: u64) -> Result<Score, Corrupt> {
    let plies = u32::try_from(code / 6).map_err(|_| Corrupt)?;
    Ok(match (code % 6, plies) {
        (0, 0) => Score::Mated,
        (1, _) => Score::MatedIn { plies },
        (2, 0) => Score::MatedInUnknown,
        (3, 0) => Score::MateInUnknown,
        (4, _) => Score::MateIn { plies },
        (5, 0) => Score::MateGiven,
        _ => return Err(Corrupt),
    })
}

/// Sections of the annotations of nodes, which are in the order of the stream of moves.
pub(crate) fn encode(record: &GameRecord, order: &[NodeId]) -> Vec<u8> {
    let mut out = Vec::new();
    let nodes = order.iter().filter_map(|id| record.node(*id)).enumerate();
    let nodes = nodes.map(|(at, node)| (at, node.ply(), record.annotations(node.id())));
    let annotated: Vec<_> = nodes.filter(|(_, _, notes)| !notes.is_empty()).collect();
    if annotated.is_empty() {
        return out;
    }
    let clocks: Vec<_> = annotated
        .iter()
        .filter_map(|&(at, ply, notes)| Some((at, (ply % 2, notes.clock?))))
        .collect();
    if !clocks.is_empty() {
        let unit = unit_of(clocks.iter().map(|(_, (_, time))| *time));
        out.extend([CLOCKS, unit]);
        let mut last = [0_u64; 2];
        put_runs(&mut out, &clocks, |out, (side, time)| {
            let time = in_units(*time, unit);
            put(out, zigzag(last[*side].wrapping_sub(time).cast_signed()));
            last[*side] = time;
        });
    }
    let elapsed: Vec<_> =
        annotated.iter().filter_map(|&(at, _, notes)| Some((at, notes.elapsed?))).collect();
    if !elapsed.is_empty() {
        let unit = unit_of(elapsed.iter().map(|(_, time)| *time));
        out.extend([ELAPSED, unit]);
        put_runs(&mut out, &elapsed, |out, time| put(out, in_units(*time, unit)));
    }
    let evaluations: Vec<_> =
        annotated.iter().filter_map(|&(at, _, notes)| Some((at, notes.evaluation?))).collect();
    if !evaluations.is_empty() {
        let depths = evaluations.iter().any(|(_, evaluation)| evaluation.depth.is_some());
        let mates =
            evaluations.iter().any(|(_, evaluation)| !matches!(evaluation.score, Score::Cp(_)));
        out.extend([EVALUATIONS, u8::from(depths) | u8::from(mates) << 1]);
        let mut last = 0;
        put_runs(&mut out, &evaluations, |out, evaluation| {
            match mate_code(evaluation.score) {
                Ok(value) => {
                    let difference = zigzag(i64::from(value) - i64::from(last));
                    last = value;
                    put(out, difference << u8::from(mates));
                }
                Err(code) => put(out, code << 1 | 1),
            }
            if depths {
                put(out, evaluation.depth.map_or(0, |depth| u64::from(depth) + 1));
            }
        });
    }
    encode_lists(&annotated, &mut out);
    out
}

fn encode_lists(annotated: &[(usize, usize, &Annotations)], out: &mut Vec<u8>) {
    let glyphs: Vec<_> = annotated
        .iter()
        .flat_map(|(at, _, notes)| notes.nags.iter().map(|nag| (*at, *nag)))
        .collect();
    put_list(out, GLYPHS, &glyphs, |out, Nag(glyph)| out.push(*glyph));
    let comments: Vec<_> = annotated
        .iter()
        .flat_map(|(at, _, notes)| {
            let of_end = notes.end.iter().flat_map(|end| &end.comments);
            let before = notes.before.iter().map(|text| (BEFORE, text));
            let after = notes.comments.iter().map(|text| (AFTER, text));
            before
                .chain(after)
                .chain(of_end.map(|text| (OF_END, text)))
                .map(|comment| (*at, comment))
        })
        .collect();
    let ends: Vec<_> =
        annotated.iter().filter_map(|(at, _, notes)| Some((*at, notes.end.as_ref()?))).collect();
    // Ends precede comments, which can belong to them.
    put_list(out, ENDS, &ends, |out, end| {
        let flags = result_code(end.outcome.result)
            | u8::from(end.text.is_some()) << 2
            | u8::from(end.elapsed.is_some()) << 3;
        out.extend([termination_code(Some(end.outcome.termination)), flags]);
        if let Some(text) = &end.text {
            put_text(out, text);
        }
        if let Some(elapsed) = end.elapsed {
            put(out, elapsed.as_secs());
            put(out, elapsed.subsec_nanos().into());
        }
    });
    put_list(out, COMMENTS, &comments, |out, (place, text)| {
        out.push(*place);
        put_text(out, text);
    });
    let marks: Vec<_> = annotated
        .iter()
        .flat_map(|(at, _, notes)| notes.marks.iter().map(|mark| (*at, *mark)))
        .collect();
    put_list(out, MARKS, &marks, |out, mark| {
        let color = COLORS.iter().zip(0..).find(|(known, _)| **known == mark.color);
        out.push(color.map_or(0, |(_, code)| code) | u8::from(mark.to.is_some()) << 7);
        out.push(square_code(mark.from));
        out.extend(mark.to.map(square_code));
    });
}

fn square_code(square: Square) -> u8 {
    square.row() << 4 | square.column()
}

/// Nodes in the order of the stream of moves.
pub(crate) trait Nodes {
    fn game(&self) -> Game;
    fn ply(&self, at: usize) -> Option<usize>;
    fn annotations(&mut self, at: usize) -> Option<&mut Annotations>;
}

struct RecordNodes<'a> {
    record: &'a mut GameRecord,
    order: &'a [NodeId],
}

impl Nodes for RecordNodes<'_> {
    fn game(&self) -> Game {
        self.record.game()
    }

    fn ply(&self, at: usize) -> Option<usize> {
        self.record.node(*self.order.get(at)?).map(Node::ply)
    }

    fn annotations(&mut self, at: usize) -> Option<&mut Annotations> {
        self.record.annotations_mut(*self.order.get(at)?)
    }
}

/// Collects the annotations of all nodes in one.
struct Collected(Game, Annotations);

impl Nodes for Collected {
    fn game(&self) -> Game {
        self.0
    }

    fn ply(&self, _: usize) -> Option<usize> {
        Some(0)
    }

    fn annotations(&mut self, _: usize) -> Option<&mut Annotations> {
        Some(&mut self.1)
    }
}

/// The amount of encoded annotations, to compare games with equal main lines: the bytes of moves differ only by
/// variations.
pub(crate) fn count(game: Game, moves: &[u8], annotations: &[u8]) -> AnnotationCount {
    let mut collected = Collected(game, Annotations::default());
    // What can be read of corrupt annotations counts.
    let _ = decode_nodes(&mut collected, annotations);
    let mut count = AnnotationCount::default();
    count.add(&collected.1);
    AnnotationCount { texts: count.texts + moves.len() as u64, values: annotations.len() as u64 }
}

/// Whether there are evaluations, and comments.
pub(crate) fn has(game: Game, annotations: &[u8]) -> (bool, bool) {
    let mut collected = Collected(game, Annotations::default());
    // What can be read of corrupt annotations counts.
    let _ = decode_nodes(&mut collected, annotations);
    let Annotations { evaluation, comments, before, end, .. } = &collected.1;
    let of_end = end.as_ref().is_some_and(|end| !end.comments.is_empty());
    (evaluation.is_some(), !comments.is_empty() || !before.is_empty() || of_end)
}

/// Adds annotations to a record whose nodes are in the order of the stream of moves.
pub(crate) fn decode(record: &mut GameRecord, order: &[NodeId], bytes: &[u8]) -> Result<(), Error> {
    decode_nodes(&mut RecordNodes { record, order }, bytes)
}

/// Adds annotations to nodes.
fn decode_nodes(nodes: &mut impl Nodes, mut bytes: &[u8]) -> Result<(), Error> {
    let bytes = &mut bytes;
    let index = |at: u64| usize::try_from(at).map_err(|_| Corrupt);
    let game = nodes.game();
    while !bytes.is_empty() {
        match get_u8(bytes)? {
            CLOCKS => {
                let unit = get_u8(bytes)?;
                let mut last = [0_u64; 2];
                get_runs(bytes, |bytes, at| {
                    let side = nodes.ply(index(at)?).ok_or(Corrupt)? % 2;
                    let difference = unzigzag(get(bytes)?);
                    last[side] = last[side].wrapping_sub(difference.cast_unsigned());
                    annotations(nodes, index(at)?)?.clock = Some(duration(last[side], unit)?);
                    Ok(())
                })?;
            }
            ELAPSED => {
                let unit = get_u8(bytes)?;
                get_runs(bytes, |bytes, at| {
                    annotations(nodes, index(at)?)?.elapsed = Some(duration(get(bytes)?, unit)?);
                    Ok(())
                })?;
            }
            EVALUATIONS => {
                let flags = get_u8(bytes)?;
                let (depths, mates) = (flags & 1 != 0, flags & 2 != 0);
                let mut last = 0_i32;
                get_runs(bytes, |bytes, at| {
                    let code = get(bytes)?;
                    let score = if mates && code & 1 != 0 {
                        mate_of(code >> 1)?
                    } else {
                        let difference = unzigzag(code >> u8::from(mates));
                        let value = i64::from(last).checked_add(difference).ok_or(Corrupt)?;
                        last = i32::try_from(value).map_err(|_| Corrupt)?;
                        Score::Cp(last)
                    };
                    let depth = if depths { get(bytes)?.checked_sub(1) } else { None };
                    let depth = depth.map(u32::try_from).transpose().map_err(|_| Corrupt)?;
                    annotations(nodes, index(at)?)?.evaluation = Some(Evaluation { score, depth });
                    Ok(())
                })?;
            }
            kind => {
                let mut at = 0_u64;
                for _ in 0..get(bytes)? {
                    at = at.checked_add(get(bytes)?).ok_or(Corrupt)?;
                    decode_item(annotations(nodes, index(at)?)?, game, kind, bytes)?;
                }
            }
        }
    }
    Ok(())
}

fn decode_item(
    annotations: &mut Annotations,
    game: Game,
    kind: u8,
    bytes: &mut &[u8],
) -> Result<(), Corrupt> {
    match kind {
        GLYPHS => annotations.nags.push(Nag(get_u8(bytes)?)),
        COMMENTS => {
            let place = get_u8(bytes)?;
            let text = get_text(bytes)?;
            match place {
                AFTER => annotations.comments.push(text),
                BEFORE => annotations.before.push(text),
                OF_END => annotations.end.as_mut().ok_or(Corrupt)?.comments.push(text),
                _ => return Err(Corrupt),
            }
        }
        MARKS => {
            let head = get_u8(bytes)?;
            let square = |code: u8| Square::new(game, code & 15, code >> 4).ok_or(Corrupt);
            let color = *COLORS.get(usize::from(head & 0x7F)).ok_or(Corrupt)?;
            let from = square(get_u8(bytes)?)?;
            let to = if head & 0x80 == 0 { None } else { Some(square(get_u8(bytes)?)?) };
            annotations.marks.push(Mark { color, from, to });
        }
        ENDS => {
            let termination = termination_of(get_u8(bytes)?).ok_or(Corrupt)?;
            let flags = get_u8(bytes)?;
            let outcome = GameOutcome { result: result_of(flags), termination };
            let mut end = End::from(outcome);
            if flags & 1 << 2 != 0 {
                end.text = Some(get_text(bytes)?);
            }
            if flags & 1 << 3 != 0 {
                let (seconds, nanos) = (get(bytes)?, u32::try_from(get(bytes)?));
                let nanos = nanos.ok().filter(|nanos| *nanos < 1_000_000_000).ok_or(Corrupt)?;
                end.elapsed = Some(Duration::new(seconds, nanos));
            }
            annotations.end = Some(end);
        }
        _ => return Err(Corrupt),
    }
    Ok(())
}

fn annotations(nodes: &mut impl Nodes, at: usize) -> Result<&mut Annotations, Corrupt> {
    nodes.annotations(at).ok_or(Corrupt)
}
