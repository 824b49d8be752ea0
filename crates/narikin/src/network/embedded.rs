//! Networks in the executable.

use std::sync::{Arc, LazyLock};

use readyok_rules::Game;

use super::Network;

/// The network of chess, `networks/chess.nnue`, when there is one:
/// `Some(include_bytes!("../../networks/chess.nnue"))`.
const CHESS: Option<&[u8]> = None;

/// The network of shogi.
const SHOGI: Option<&[u8]> = None;

static CHESS_NETWORK: LazyLock<Option<Arc<Network>>> = LazyLock::new(|| read(CHESS));
static SHOGI_NETWORK: LazyLock<Option<Arc<Network>>> = LazyLock::new(|| read(SHOGI));

fn read(bytes: Option<&[u8]>) -> Option<Arc<Network>> {
    Network::read(bytes?).ok().map(Arc::new)
}

/// The network of a game in the executable, if any.
pub(crate) fn embedded(game: Game) -> Option<Arc<Network>> {
    match game {
        Game::Chess | Game::Chess960 => CHESS_NETWORK.clone(),
        Game::Shogi => SHOGI_NETWORK.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The maximum size of a network in the executable.
    const MAX_BYTES: usize = 2 << 20;

    #[test]
    fn networks_are_valid_and_small() {
        for (game, bytes) in [(Game::Chess, CHESS), (Game::Shogi, SHOGI)] {
            let Some(bytes) = bytes else { continue };
            assert!(bytes.len() <= MAX_BYTES, "{game:?}");
            let network = Network::read(bytes).expect("valid");
            assert_eq!(network.architecture().game(), game);
        }
    }
}
