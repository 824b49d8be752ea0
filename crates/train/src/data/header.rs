//! The first block of a file: which games follow, and how they were played.

use crate::games::GameKind;

/// The first bytes of the first block.
const MAGIC: &[u8; 8] = b"narigame";

/// The version of the format.
pub const VERSION: u16 = 1;

/// No name of an engine is longer, in bytes.
const MAX_NAME: usize = 255;

/// Everything that decides which games a file holds, given the program that plays them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The game that is played.
    pub game: GameKind,
    /// Games are drawn by seed from this number and their own.
    pub seed: u64,
    /// About how many positions are searched for each move.
    pub nodes: u32,
    /// How many plies of each game are random; in every other game one more.
    pub random_plies: u8,
    /// How many games of a hundred begin from a start of Chess960.
    pub chess960: u8,
    /// The engine and its version, in at most 255 bytes.
    pub engine: String,
}

impl Header {
    /// The first block's content.
    pub(super) fn write(&self) -> Option<Vec<u8>> {
        let mut content = Vec::with_capacity(64);
        content.extend(MAGIC);
        content.extend(VERSION.to_le_bytes());
        content.push(self.game.number());
        content.push(self.random_plies);
        content.push(self.chess960);
        content.extend(self.nodes.to_le_bytes());
        content.extend(self.seed.to_le_bytes());
        content.push(u8::try_from(self.engine.len()).ok()?);
        content.extend(self.engine.as_bytes());
        Some(content)
    }

    /// Reads the first block's content, or reports what is wrong with it.
    pub(super) fn read(content: &[u8]) -> Result<Self, String> {
        let rest = content.strip_prefix(MAGIC).ok_or("it begins with something else")?;
        let (&version, rest) = rest.split_first_chunk::<2>().ok_or(SHORT)?;
        let version = u16::from_le_bytes(version);
        if version != VERSION {
            return Err(format!("its version is {version}, and only {VERSION} can be read"));
        }
        let (&[game, random_plies, chess960], rest) = rest.split_first_chunk().ok_or(SHORT)?;
        let game = GameKind::from_number(game).ok_or("it is of an unknown game")?;
        let (&nodes, rest) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
        let (&seed, rest) = rest.split_first_chunk::<8>().ok_or(SHORT)?;
        let (&length, name) = rest.split_first().ok_or(SHORT)?;
        if name.len() != usize::from(length) {
            return Err(SHORT.to_owned());
        }
        let engine = std::str::from_utf8(name).map_err(|_| "the engine's name is no UTF-8")?;
        Ok(Self {
            game,
            seed: u64::from_le_bytes(seed),
            nodes: u32::from_le_bytes(nodes),
            random_plies,
            chess960,
            engine: engine.to_owned(),
        })
    }

    /// What another header prints differently, if anything.
    pub(super) fn difference(&self, other: &Self) -> Option<&'static str> {
        [
            (self.game == other.game, "game"),
            (self.seed == other.seed, "seed"),
            (self.nodes == other.nodes, "number of nodes"),
            (self.random_plies == other.random_plies, "number of random plies"),
            (self.chess960 == other.chess960, "share of Chess960"),
            (self.engine == other.engine, "engine"),
        ]
        .into_iter()
        .find_map(|(same, what)| (!same).then_some(what))
    }

    /// Cuts a name to what a header can hold.
    pub fn name(engine: &str) -> String {
        engine
            .chars()
            .scan(0, |bytes, char| {
                *bytes += char.len_utf8();
                (*bytes <= MAX_NAME).then_some(char)
            })
            .collect()
    }
}

const SHORT: &str = "its first block has another length";
