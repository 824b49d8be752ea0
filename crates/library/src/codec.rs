//! Game records as stored games, and back.

pub(crate) mod annotations;
pub(crate) mod cursor;
mod document;
mod layer;
pub(crate) mod moves;
pub(crate) mod tags;

use std::sync::LazyLock;

use readyok_rules::record::{GameDocument, GameIdentity, GameRecord, NodeId, Source, Tag, fold};
use readyok_rules::shakmaty::Position as _;
use readyok_rules::{BoardRef, Game, Position, Setup, Side};
use rusqlite::{Connection, OptionalExtension};

use crate::error::{Error, LibraryDefect};
use crate::game::{GameEntry, NewGame, StoredGame, name, opening};
use crate::postings::Key;
use crate::summary::Summary;
use cursor::BoardCursor;
use layer::Layer;
use tags::Known;

pub use document::{decode_document, encode_document};
pub(crate) use moves::main_line;
pub use moves::{code_of, move_of};

/// Version of the keys of positions and material, and of the codes of moves. With another one the index is built again.
pub(crate) const KEY_SCHEME: i64 = 2;

/// Whether positions have evaluations, of the record or of engines, and whether there are comments.
fn contents(game: Game, annotations: &[u8], layer: &[u8]) -> (bool, bool) {
    let (evaluated, commented) = annotations::has(game, annotations);
    let judged = || Layer::decode(layer).is_ok_and(|layer| !layer.engine.is_empty());
    (evaluated || judged(), commented)
}

impl GameEntry {
    pub(crate) fn read(connection: &Connection, id: u32, summary: Summary) -> Result<Self, Error> {
        let mut row = connection
            .prepare_cached("SELECT added, changed, annotations, layer FROM game WHERE id = ?1")?;
        let mut labels =
            connection.prepare_cached("SELECT text FROM label WHERE game = ?1 ORDER BY text")?;
        let [first, second] = summary.players;
        let row = row.query_row([id], |row| {
            let blob = |at| row.get::<_, Option<Vec<u8>>>(at).map(Option::unwrap_or_default);
            let annotations = if summary.annotated { blob(2)? } else { Vec::new() };
            Ok((row.get(0)?, row.get(1)?, annotations, blob(3)?))
        });
        let (added_ms, changed_ms, annotations, layer) = row.optional()?.unwrap_or_default();
        let (evaluated, commented) = contents(summary.variant, &annotations, &layer);
        Ok(Self {
            id,
            summary,
            players: [name(connection, first)?, name(connection, second)?],
            event: name(connection, summary.event)?,
            opening: opening(connection, summary.opening)?,
            added_ms,
            changed_ms,
            labels: labels.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?,
            evaluated,
            commented,
        })
    }
}

impl NewGame {
    /// Whether positions have evaluations, of the record or of engines, and whether there are comments.
    #[must_use]
    pub fn contents(&self) -> (bool, bool) {
        contents(self.summary.variant, &self.annotations, &self.layer)
    }

    /// A game to add. Everything of the record is stored: [`Self::record`] returns an equal one.
    #[must_use]
    pub fn from_record(record: &GameRecord, source: Source, added_ms: i64) -> Self {
        Self::with_order(record, source, added_ms).0
    }

    /// A game to add, with the ids of its nodes and the notes of engines: [`Self::document`] returns an equal
    /// document.
    #[must_use]
    pub fn from_document(document: &GameDocument, source: Source, added_ms: i64) -> Self {
        let (game, order) = Self::with_order(&document.record, source, added_ms);
        Self { layer: layer::encode(document, &order), ..game }
    }

    /// A game, and its nodes in the order of the stream of moves.
    fn with_order(record: &GameRecord, source: Source, added_ms: i64) -> (Self, Vec<NodeId>) {
        let text = |tag| record.header(tag).unwrap_or_default();
        let mut moves = Vec::new();
        let order = moves::encode(record, &mut moves);
        let annotations = annotations::encode(record, &order);
        let BoardCursor { postings, opening, may_be_over } = cursor::of_record(record);
        let named = opening
            .map(|opening| (opening.eco, opening.name))
            .or_else(|| record.opening_of_headers());
        let opening = named.map(|(eco, name)| (eco.to_owned(), name.to_owned()));
        let start = (!is_standard(record.start())).then(|| record.start().to_string());
        let players = Side::BOTH.map(|side| record.player(side).unwrap_or_default().to_owned());
        let (event, site) = (text(Tag::Event).to_owned(), text(Tag::Site));
        // An address identifies one game; as a name it would have a row of its own.
        let site = if site.contains("://") { "" } else { site }.to_owned();
        let rating = |side| {
            let rating = record.rating(side).unwrap_or_default();
            u16::try_from(rating).unwrap_or(u16::MAX)
        };
        let main_line = record.plies();
        let summary = Summary {
            moves_hash: moves_hash(start.as_deref(), &event, &postings),
            ratings: Side::BOTH.map(rating),
            date: record.date(),
            plies: u16::try_from(main_line).unwrap_or(u16::MAX),
            result: record.result,
            termination: if may_be_over {
                record.derived_termination()
            } else {
                record.termination()
            },
            engines: Side::BOTH.map(|side| record.is_engine(side)),
            annotated: !annotations.is_empty(),
            variations: record.len() > main_line,
            custom_start: start.is_some(),
            speed: record.speed(),
            ..Summary::new(record.game(), source)
        };
        let mut game = Self {
            summary,
            players,
            event,
            site,
            opening,
            start,
            moves,
            tags: Vec::new(),
            annotations,
            layer: Vec::new(),
            play: None,
            postings,
            added_ms,
        };
        game.tags = tags::encode(&record.headers, game.known());
        (game, order)
    }

    /// The record of the game.
    ///
    /// # Errors
    /// The game is corrupt.
    pub fn record(&self) -> Result<GameRecord, Error> {
        self.with_layer(&Layer::default()).map(|document| document.record)
    }

    /// The record of the game with the ids of its nodes and the notes of engines.
    ///
    /// # Errors
    /// The stored game is corrupt.
    pub fn document(&self) -> Result<GameDocument, Error> {
        self.with_layer(&Layer::decode(&self.layer)?)
    }

    fn with_layer(&self, layer: &Layer) -> Result<GameDocument, Error> {
        let record = GameRecord::new(self.start_position()?);
        let mut document =
            document::read_document(record, (&self.moves, &self.annotations), layer)?;
        document.record.headers = tags::decode(&self.tags, self.known())?;
        document.record.result = self.summary.result;
        Ok(document)
    }

    /// What its headers are derived from.
    pub(crate) fn known(&self) -> Known<'_> {
        Known {
            summary: &self.summary,
            players: &self.players,
            event: &self.event,
            site: &self.site,
            opening: self.opening.as_ref().map(|(eco, name)| (eco.as_str(), name.as_str())),
        }
    }

    /// The hash of start position and main line, by the postings.
    pub(crate) fn moves_hash(&self) -> u32 {
        moves_hash(self.start.as_deref(), &self.event, &self.postings)
    }

    /// The start position.
    ///
    /// # Errors
    /// The game is corrupt.
    pub fn start_position(&self) -> Result<Position, Error> {
        position_of(self.summary.variant, self.start.as_deref())
    }
}

impl StoredGame {
    /// The postings of the game, to index it again.
    pub(crate) fn postings(&self) -> Option<Vec<(Key, u16)>> {
        cursor::of_moves(self.start_position().ok()?, &self.moves).ok()
    }
}

/// The position of a stored text; that of the game without one.
pub(crate) fn position_of(game: Game, text: Option<&str>) -> Result<Position, Error> {
    let Some(text) = text else { return Ok(Position::start(game)) };
    let setup =
        Setup::read(game, text).map_err(|_| Error::Defect(LibraryDefect::LibraryDamaged))?;
    Ok(Position::for_viewing(&setup))
}

/// Whether a position is the start position of its variant, with its move numbers.
fn is_standard(position: &Position) -> bool {
    static KEYS: LazyLock<[u64; 2]> =
        LazyLock::new(|| [Game::Chess, Game::Shogi].map(|game| Position::start(game).key()));
    let [chess, shogi] = *KEYS;
    match position.board() {
        BoardRef::Chess(board) => {
            let board = board.position();
            board.halfmoves() == 0 && board.fullmoves().get() == 1 && position.key() == chess
        }
        BoardRef::Shogi(board) => board.position().game_ply() == 1 && position.key() == shogi,
        BoardRef::Diagram(_) => false,
    }
}

/// A hash of start position and main line, and of the event for a short game, which other players also play.
fn moves_hash(start: Option<&str>, event: &str, postings: &[(Key, u16)]) -> u32 {
    let positions = postings.iter().filter(|(key, _)| key.material().is_none());
    let is_short = positions.clone().count() <= GameIdentity::SHORT;
    let event = if is_short { fold(event) } else { String::new() };
    let texts = start.unwrap_or_default().bytes().chain(event.bytes()).map(u64::from);
    hash(texts.chain(positions.map(|(_, code)| u64::from(*code))))
}

/// A hash that never changes: FNV-1a, folded to 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "32 bits")]
pub(crate) fn hash(values: impl Iterator<Item = u64>) -> u32 {
    let step = |hash: u64, value: u64| (hash ^ value).wrapping_mul(0x0000_0100_0000_01B3);
    let hash = values.fold(0xCBF2_9CE4_8422_2325, step);
    (hash >> 32 ^ hash & 0xFFFF_FFFF) as u32
}
