//! Documents as blobs: the newest versions of open games.
//!
//! | part | content |
//! |---|---|
//! | checksum | CRC-32 of the rest, 4 bytes |
//! | version | 1 byte |
//! | game, result | 1 byte each |
//! | start | text |
//! | headers, moves, annotations, layer | as in the library, each after its length |
//! | data | data of the app |

use readyok_rules::Game;
use readyok_rules::record::{GameDocument, GameRecord, Source};

use super::layer::{self, Layer};
use super::tags::{self, Known, get_text, put_text};
use super::{annotations, moves, position_of};
use crate::error::{Error, LibraryDefect};
use crate::summary::{Summary, result_code, result_of};
use crate::varint::{Corrupt, get, get_u8, put};

const VERSION: u8 = 1;

const GAMES: [Game; 3] = [Game::Chess, Game::Chess960, Game::Shogi];

/// A document with data of the app as one blob.
#[must_use]
pub fn encode_document(document: &GameDocument, data: &[u8]) -> Vec<u8> {
    let record = &document.record;
    let game = GAMES.iter().position(|known| *known == record.game()).unwrap_or_default();
    let mut out = vec![0; 4];
    out.extend([VERSION, u8::try_from(game).unwrap_or_default(), result_code(record.result)]);
    put_text(&mut out, &record.start().to_string());
    let mut codes = Vec::new();
    let order = moves::encode(record, &mut codes);
    let headers = with_no_known(record.game(), |known| tags::encode(&record.headers, known));
    for part in
        [headers, codes, annotations::encode(record, &order), layer::encode(document, &order)]
    {
        put(&mut out, part.len() as u64);
        out.extend(part);
    }
    out.extend(data);
    let checksum = crc32fast::hash(&out[4..]);
    out[..4].copy_from_slice(&checksum.to_le_bytes());
    out
}

/// The document of a blob, and the data of the app.
///
/// # Errors
/// The blob is damaged, or was written by another version.
pub fn decode_document(blob: &[u8]) -> Result<(GameDocument, &[u8]), Error> {
    let (checksum, mut bytes) =
        blob.split_first_chunk::<4>().ok_or(Error::Defect(LibraryDefect::LibraryDamaged))?;
    if crc32fast::hash(bytes) != u32::from_le_bytes(*checksum) {
        return Err(Error::Defect(LibraryDefect::LibraryDamaged));
    }
    match get_u8(&mut bytes)? {
        VERSION => (),
        found => {
            return Err(Error::Defect(LibraryDefect::LibraryVersion {
                found: found.into(),
                expected: VERSION.into(),
            }));
        }
    }
    let game = *GAMES.get(usize::from(get_u8(&mut bytes)?)).ok_or(Corrupt)?;
    let result = result_of(get_u8(&mut bytes)?);
    let start = position_of(game, Some(&get_text(&mut bytes)?))?;
    let [headers, codes, annotations, layer] = [(); 4].map(|()| get_part(&mut bytes));
    let headers = with_no_known(game, |known| tags::decode(headers?, known))?;
    let mut document =
        read_document(GameRecord::new(start), (codes?, annotations?), &Layer::decode(layer?)?)?;
    document.record.headers = headers;
    document.record.result = result;
    Ok((document, bytes))
}

/// Adds encoded moves, annotations and a layer to an empty record.
pub(super) fn read_document(
    mut record: GameRecord,
    (codes, annotations): (&[u8], &[u8]),
    layer: &Layer,
) -> Result<GameDocument, Error> {
    let order = moves::decode(&mut record, codes, &layer.ids)?;
    annotations::decode(&mut record, &order, annotations)?;
    record.reserve_ids(layer.next);
    let mut document = GameDocument::from(record);
    document.engine = layer.engine.clone();
    Ok(document)
}

fn get_part<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], Corrupt> {
    let length = usize::try_from(get(bytes)?).map_err(|_| Corrupt)?;
    let (part, rest) = bytes.split_at_checked(length).ok_or(Corrupt)?;
    *bytes = rest;
    Ok(part)
}

/// A blob has no summary from which headers follow.
fn with_no_known<T>(game: Game, with: impl FnOnce(Known<'_>) -> T) -> T {
    let (summary, players) = (Summary::new(game, Source::Play), [String::new(), String::new()]);
    with(Known { summary: &summary, players: &players, event: "", site: "", opening: None })
}
