//! Compressed groups of games.
//!
//! Similar bytes are in the same stream, and each stream is compressed on its own: the heads of the
//! games, both halves of the moves, and both bytes of the scores. Each score is stored as its sum
//! with the previous score, which is that of the opponent and has the opposite sign.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::{End, MAX_PLIES, Ply, Record, half_points, read_winner};
use crate::games::GameKind;

/// The number of games in a group; the last one of a file can have fewer.
pub(super) const GAMES: usize = 64;

const STREAMS: usize = 5;
const HEADS: usize = 0;
const FROM: usize = 1;
const TO: usize = 2;
const LOW: usize = 3;
const HIGH: usize = 4;

/// The length of the head of a game.
const HEAD: usize = 7;

/// The maximum length of a stream.
const MAX_STREAM: u64 = (GAMES * (MAX_PLIES + 255)) as u64;

/// The content of a block. None if a game exceeds a limit.
pub(super) fn write(kind: GameKind, games: &[Record]) -> Option<Vec<u8>> {
    let mut streams: [Vec<u8>; STREAMS] = Default::default();
    for game in games {
        if game.plies.len() > MAX_PLIES {
            return None;
        }
        let plies = u16::try_from(game.plies.len()).ok()?;
        let heads = &mut streams[HEADS];
        heads.extend(game.start.to_le_bytes());
        heads.extend([
            half_points(game.winner),
            game.end.number(),
            u8::try_from(game.opening.len()).ok()?,
        ]);
        heads.extend(plies.to_le_bytes());
        let moves = game.opening.iter().copied().chain(game.plies.iter().map(|ply| ply.mv));
        for mv in moves {
            let [from, to] = split(kind, mv);
            streams[FROM].push(from);
            streams[TO].push(to);
        }
        let mut last = 0_i16;
        for ply in &game.plies {
            let [low, high] = zigzag(ply.score.wrapping_add(last)).to_le_bytes();
            last = ply.score;
            streams[LOW].push(low);
            streams[HIGH].push(high);
        }
    }
    let mut content = u16::try_from(games.len()).ok()?.to_le_bytes().to_vec();
    for stream in streams {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&stream).ok()?;
        let compressed = encoder.finish().ok()?;
        content.extend(u32::try_from(compressed.len()).ok()?.to_le_bytes());
        content.extend(compressed);
    }
    Some(content)
}

/// Reads the content of a block. The legality of the moves is not checked.
pub(super) fn read(kind: GameKind, content: &[u8]) -> Result<Vec<Record>, &'static str> {
    let (&count, mut rest) = content.split_first_chunk().ok_or("a group without a length")?;
    let count = usize::from(u16::from_le_bytes(count));
    if count > GAMES {
        return Err("a group of too many games");
    }
    let mut streams: [Vec<u8>; STREAMS] = Default::default();
    for stream in &mut streams {
        let (&length, after) = rest.split_first_chunk().ok_or("a group without a stream")?;
        let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
        let (compressed, after) = after.split_at_checked(length).ok_or("a short stream")?;
        rest = after;
        let mut decoder = ZlibDecoder::new(compressed).take(MAX_STREAM + 1);
        decoder.read_to_end(stream).map_err(|_| "a stream that cannot be decompressed")?;
    }
    let [heads, from, to, low, high] = &streams;
    let (heads, extra) = heads.as_chunks::<HEAD>();
    if heads.len() != count || !extra.is_empty() || !rest.is_empty() {
        return Err("a group of another length");
    }
    let mut moves = from.iter().zip(to).map(|(&from, &to)| join(kind, [from, to]));
    let mut sums = low.iter().zip(high).map(|(&low, &high)| u16::from_le_bytes([low, high]));
    let mut games = Vec::with_capacity(count);
    let (mut all_moves, mut all_plies) = (0, 0);
    for &[start_low, start_high, winner, end, random, plies_low, plies_high] in heads {
        let winner = read_winner(winner)?;
        let end = End::from_number(end).ok_or("an unknown end of a game")?;
        let plies = usize::from(u16::from_le_bytes([plies_low, plies_high]));
        if plies > MAX_PLIES {
            return Err("a game that is too long");
        }
        all_moves += usize::from(random) + plies;
        all_plies += plies;
        let opening = moves.by_ref().take(random.into()).collect();
        let mut last = 0_i16;
        let plies = moves.by_ref().zip(sums.by_ref()).take(plies).map(|(mv, sum)| {
            let score = unzigzag(sum).wrapping_sub(last);
            last = score;
            Ply { mv, score }
        });
        let plies = plies.collect();
        let start = u16::from_le_bytes([start_low, start_high]);
        games.push(Record { start, opening, plies, winner, end });
    }
    let lengths = [from.len(), to.len(), low.len(), high.len()];
    if lengths != [all_moves, all_moves, all_plies, all_plies] {
        return Err("streams of other lengths");
    }
    Ok(games)
}

/// Splits the number of a move into its origin and its target, each with some of the other bits.
fn split(kind: GameKind, mv: u16) -> [u8; 2] {
    let [from, to] = match kind {
        GameKind::Chess => [mv & 63 | (mv >> 12 & 3) << 6, mv >> 6 & 63 | (mv >> 14) << 6],
        GameKind::Shogi => [mv >> 7 & 255, mv & 127 | (mv >> 15) << 7],
    };
    let ([from, _], [to, _]) = (from.to_le_bytes(), to.to_le_bytes());
    [from, to]
}

fn join(kind: GameKind, bytes: [u8; 2]) -> u16 {
    let [from, to] = bytes.map(u16::from);
    match kind {
        GameKind::Chess => from & 63 | (to & 63) << 6 | (from >> 6) << 12 | (to >> 6) << 14,
        GameKind::Shogi => to & 127 | from << 7 | (to >> 7) << 15,
    }
}

/// Maps small numbers of both signs to small ones.
fn zigzag(number: i16) -> u16 {
    ((number << 1) ^ (number >> 15)).cast_unsigned()
}

fn unzigzag(number: u16) -> i16 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}
