//! Files of networks. `docs/network.md` describes the format.

use readyok_rules::Game;
use sha2::{Digest as _, Sha256};

use super::{
    Network, NetworkError, Weights,
    architecture::{Activation, Architecture, Quantization},
};

const MAGIC: &[u8; 8] = b"NARIKIN2";

/// The magic number of the previous format.
const OLD_MAGIC: &[u8; 8] = b"NARIKIN1";

/// A SHA-256 hash.
pub type Sha256Hash = [u8; 32];

/// The maximum length of a text in bytes.
pub const MAX_TEXT: usize = 64;

/// The maximum number of data files.
pub const MAX_DATA_FILES: usize = 16_384;

/// The maximum size of a file in bytes.
pub const MAX_BYTES: usize = 8 << 20;

/// The name and the origin of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkInfo {
    /// The name: 1 to [`MAX_TEXT`] printable ASCII characters without spaces.
    pub name: String,
    /// The commit of the trainer, in the same characters; `unknown` if it is not known.
    pub commit: String,
    /// Hashes of the files of training data, at most [`MAX_DATA_FILES`].
    pub data: Vec<Sha256Hash>,
}

impl NetworkInfo {
    pub(super) fn check(&self) -> Result<(), NetworkError> {
        for (name, text) in [("name", &self.name), ("commit", &self.commit)] {
            check_text(name, text.as_bytes())?;
        }
        if self.data.len() > MAX_DATA_FILES {
            return Err(NetworkError::Data(self.data.len()));
        }
        Ok(())
    }
}

fn check_text(name: &'static str, text: &[u8]) -> Result<(), NetworkError> {
    let valid = (1..=MAX_TEXT).contains(&text.len()) && text.iter().all(u8::is_ascii_graphic);
    if valid { Ok(()) } else { Err(NetworkError::Text { name }) }
}

impl Network {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// The file is invalid.
    pub fn read(bytes: &[u8]) -> Result<Self, NetworkError> {
        if bytes.len() > MAX_BYTES {
            return Err(NetworkError::Size(bytes.len()));
        }
        let mut reader = ByteReader(bytes);
        match reader.array().ok_or(NetworkError::Magic)? {
            MAGIC => (),
            OLD_MAGIC => return Err(NetworkError::OldFormat),
            _ => return Err(NetworkError::Magic),
        }
        let hash: &Sha256Hash = reader.array().ok_or(NetworkError::Truncated)?;
        if *hash != hash_of(reader.0) {
            return Err(NetworkError::Hash);
        }
        let found = reader.header().ok_or(NetworkError::Truncated)?;
        let Header { game, activation, king_buckets, output_buckets, inputs, hidden, .. } = found;
        let field = |name, value: u16| NetworkError::Field { name, value };
        let game = match game {
            1 => Game::Chess,
            2 => Game::Shogi,
            _ => return Err(field("game", game.into())),
        };
        let activation = match activation {
            1 => Activation::ClippedRelu,
            2 => Activation::SquaredClippedRelu,
            _ => return Err(field("activation", activation.into())),
        };
        let architecture = Architecture::new(game, hidden.into(), activation)?;
        for (name, value, supported) in [
            ("number of king buckets", king_buckets.into(), architecture.king_buckets()),
            ("number of output buckets", output_buckets.into(), architecture.output_buckets()),
            ("number of inputs", inputs, architecture.inputs()),
        ] {
            if usize::from(value) != supported {
                return Err(field(name, value));
            }
        }
        let [hidden_one, output_one, scale] = found.quantization;
        let quantization = Quantization::new(hidden_one, output_one, scale)?;
        let name = reader.text("name")?;
        let commit = reader.text("commit")?;
        let files = reader.array().map(|&bytes| u32::from_le_bytes(bytes));
        let files = usize::try_from(files.ok_or(NetworkError::Truncated)?).unwrap_or(usize::MAX);
        if files > MAX_DATA_FILES {
            return Err(NetworkError::Data(files));
        }
        let data = reader.chunks(files).ok_or(NetworkError::Truncated)?.to_vec();
        let info = NetworkInfo { name, commit, data };
        let hidden = architecture.hidden();
        let buckets = architecture.output_buckets();
        let mut numbers = |count| {
            let pairs = reader.chunks(count).ok_or(NetworkError::Truncated)?;
            Ok::<_, NetworkError>(pairs.iter().map(|&pair| i16::from_le_bytes(pair)).collect())
        };
        let weights = Weights {
            hidden: numbers(architecture.inputs() * hidden)?,
            hidden_biases: numbers(hidden)?,
            output: numbers(buckets * 2 * hidden)?,
            output_biases: {
                let biases = reader.chunks(buckets).ok_or(NetworkError::Truncated)?;
                biases.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect()
            },
        };
        if !reader.0.is_empty() {
            return Err(NetworkError::TrailingBytes(reader.0.len()));
        }
        Self::new(architecture, quantization, info, &weights)
    }

    /// The bytes of a file.
    pub fn write(&self) -> Vec<u8> {
        let content = self.content();
        [MAGIC.as_slice(), &hash_of(&content), &content].concat()
    }

    /// The hash of the file's content.
    pub fn hash(&self) -> Sha256Hash {
        hash_of(&self.content())
    }

    fn content(&self) -> Vec<u8> {
        let architecture = self.architecture();
        let mut bytes = Vec::new();
        let byte = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        bytes.extend([
            match architecture.game() {
                Game::Chess | Game::Chess960 => 1,
                Game::Shogi => 2,
            },
            match architecture.activation() {
                Activation::ClippedRelu => 1,
                Activation::SquaredClippedRelu => 2,
            },
            byte(architecture.king_buckets()),
            byte(architecture.output_buckets()),
        ]);
        for number in [architecture.inputs(), architecture.hidden()] {
            bytes.extend(u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes());
        }
        let Quantization { hidden_one, output_one, scale } = self.quantization();
        let mut extend = |numbers: &[i16]| {
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        };
        extend(&[hidden_one, output_one, scale]);
        let NetworkInfo { name, commit, data } = self.info();
        for text in [name, commit] {
            bytes.push(byte(text.len()));
            bytes.extend(text.as_bytes());
        }
        bytes.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(data.as_flattened());
        let weights = self.weights();
        for numbers in [weights.hidden, weights.hidden_biases, weights.output] {
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        bytes.extend(weights.output_biases.iter().flat_map(|bias| bias.to_le_bytes()));
        bytes
    }
}

fn hash_of(bytes: &[u8]) -> Sha256Hash {
    Sha256::digest(bytes).into()
}

/// The fields of fixed length.
struct Header {
    game: u8,
    activation: u8,
    king_buckets: u8,
    output_buckets: u8,
    inputs: u16,
    hidden: u16,
    quantization: [i16; 3],
}

/// The remaining bytes.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn array<const N: usize>(&mut self) -> Option<&'a [u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(array)
    }

    fn chunks<const N: usize>(&mut self, count: usize) -> Option<&'a [[u8; N]]> {
        let (bytes, rest) = self.0.split_at_checked(count * N)?;
        self.0 = rest;
        Some(bytes.as_chunks().0)
    }

    fn header(&mut self) -> Option<Header> {
        let &[game, activation, king_buckets, output_buckets] = self.array()?;
        let mut number = || Some(u16::from_le_bytes(*self.array()?));
        let (inputs, hidden) = (number()?, number()?);
        let mut number = || Some(i16::from_le_bytes(*self.array()?));
        let quantization = [number()?, number()?, number()?];
        Some(Header {
            game,
            activation,
            king_buckets,
            output_buckets,
            inputs,
            hidden,
            quantization,
        })
    }

    fn text(&mut self, name: &'static str) -> Result<String, NetworkError> {
        let &[length] = self.array().ok_or(NetworkError::Truncated)?;
        let bytes = self.chunks::<1>(length.into()).ok_or(NetworkError::Truncated)?.as_flattened();
        check_text(name, bytes)?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::random;

    /// A file with this content and a valid hash.
    fn with_hash(content: &[u8]) -> Vec<u8> {
        [MAGIC.as_slice(), &hash_of(content), content].concat()
    }

    const START: usize = 8 + 32;

    #[test]
    fn a_file_contains_the_network() {
        for game in [Game::Chess, Game::Shogi] {
            for activation in [Activation::ClippedRelu, Activation::SquaredClippedRelu] {
                let network = random(game, 96, activation);
                let bytes = network.write();
                assert_eq!(Network::read(&bytes).as_ref(), Ok(&network));
                assert_eq!(bytes[8..START], network.hash());
            }
        }
        let header = [1, 1, 1, 8, 0, 3, 96, 0, 255, 0, 64, 0, 144, 1];
        let bytes = random(Game::Chess, 96, Activation::ClippedRelu).write();
        assert_eq!(bytes[START..START + header.len()], header);
        assert_eq!(&bytes[START + header.len()..][..17], b"\x08random-1\x07unknown");
        assert_eq!(bytes.len(), START + 14 + 17 + 4 + 64 + 2 * 96 * (768 + 1 + 16) + 8 * 4);
    }

    #[test]
    fn rejects_invalid_files() {
        let good = random(Game::Chess, 32, Activation::SquaredClippedRelu).write();
        let read = |bytes: &[u8]| Network::read(bytes).map(drop);
        assert_eq!(read(b"NARIKIN"), Err(NetworkError::Magic));
        assert_eq!(read(&[0; 64]), Err(NetworkError::Magic));
        assert_eq!(read(b"NARIKIN1 and more"), Err(NetworkError::OldFormat));
        assert_eq!(read(&good[..20]), Err(NetworkError::Truncated));
        assert_eq!(read(&vec![0; MAX_BYTES + 1]), Err(NetworkError::Size(MAX_BYTES + 1)));
        for index in [8, START, START + 50, good.len() - 1] {
            let mut bytes = good.clone();
            bytes[index] ^= 1;
            assert_eq!(read(&bytes), Err(NetworkError::Hash));
        }
        let content = &good[START..];
        let changed = |index: usize, values: &[u8]| {
            let mut content = content.to_vec();
            content.splice(index..index + values.len(), values.iter().copied());
            read(&with_hash(&content))
        };
        let field = |name, value| Err(NetworkError::Field { name, value });
        assert_eq!(changed(0, &[3]), field("game", 3));
        assert_eq!(changed(0, &[2]), field("number of inputs", 768));
        assert_eq!(changed(1, &[0]), field("activation", 0));
        assert_eq!(changed(2, &[4]), field("number of king buckets", 4));
        assert_eq!(changed(3, &[1]), field("number of output buckets", 1));
        for hidden in [0, 33, 1056, u16::MAX] {
            let error = Err(NetworkError::Hidden(hidden.into()));
            assert_eq!(changed(6, &hidden.to_le_bytes()), error);
        }
        for index in [8, 10, 12] {
            for value in [-1_i16, 0, i16::MAX] {
                let error = changed(index, &value.to_le_bytes());
                assert!(matches!(error, Err(NetworkError::Quantization(_))), "{error:?}");
            }
        }
        assert_eq!(changed(14, &[0]), Err(NetworkError::Text { name: "name" }));
        assert_eq!(changed(14, &[200]), Err(NetworkError::Text { name: "name" }));
        assert_eq!(changed(15, &[0xFF]), Err(NetworkError::Text { name: "name" }));
        assert_eq!(changed(24, b" "), Err(NetworkError::Text { name: "commit" }));
        assert_eq!(changed(31, &[0, 1, 1]), Err(NetworkError::Data(0x1_0100)));
        assert_eq!(changed(31, &[0, 2]), Err(NetworkError::Truncated));
        assert_eq!(
            read(&with_hash(&[content, &[0]].concat())),
            Err(NetworkError::TrailingBytes(1))
        );
        for length in (0..content.len()).step_by(97) {
            assert_eq!(read(&with_hash(&content[..length])), Err(NetworkError::Truncated));
        }
        let output = content.len() - 32 - 2;
        let error = NetworkError::OutputWeight { weight: 129, most: 128 };
        assert_eq!(changed(output, &129_i16.to_le_bytes()), Err(error));
    }
}
