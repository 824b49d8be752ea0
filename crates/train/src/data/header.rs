//! The first block of a file: the settings of the games.

use crate::games::GameKind;

/// The first bytes of the first block.
const MAGIC: &[u8; 8] = b"narigame";

/// The version of the format.
pub const VERSION: u16 = 1;

/// The maximum length of the engine's name, in bytes.
const MAX_NAME: usize = 255;

/// Everything that determines the games of a file, for a given version of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The game.
    pub game: GameKind,
    /// The random seed; each game combines it with its own number.
    pub seed: u64,
    /// Approximate nodes per move.
    pub nodes: u32,
    /// The number of random plies of each game; half of the games have one more.
    pub random_plies: u8,
    /// The percentage of games with a Chess960 start position.
    pub chess960: u8,
    /// The engine and its version, in at most 255 bytes.
    pub engine: String,
}

impl Header {
    /// Writes the content of the first block.
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

    /// Reads the content of the first block, or returns what is wrong with it.
    pub(super) fn read(content: &[u8]) -> Result<Self, String> {
        let rest = content.strip_prefix(MAGIC).ok_or("it has another magic number")?;
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
        let engine = std::str::from_utf8(name).map_err(|_| "the engine's name is not UTF-8")?;
        Ok(Self {
            game,
            seed: u64::from_le_bytes(seed),
            nodes: u32::from_le_bytes(nodes),
            random_plies,
            chess960,
            engine: engine.to_owned(),
        })
    }

    /// The first setting that differs from another header.
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

    /// Truncates a name to the maximum length.
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
