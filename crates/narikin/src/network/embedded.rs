//! Networks in the executable.

use std::sync::{Arc, LazyLock};

use readyok_rules::Game;

use super::Network;

const CHESS: &[u8] = include_bytes!("../../networks/chess.nnue");
const SHOGI: &[u8] = include_bytes!("../../networks/shogi.nnue");

static CHESS_NETWORK: LazyLock<Option<Arc<Network>>> = LazyLock::new(|| read(CHESS));
static SHOGI_NETWORK: LazyLock<Option<Arc<Network>>> = LazyLock::new(|| read(SHOGI));

fn read(bytes: &[u8]) -> Option<Arc<Network>> {
    Network::read(bytes).ok().map(Arc::new)
}

/// The network of a game in the executable. Chess and Chess960 share one.
pub fn embedded(game: Game) -> Option<Arc<Network>> {
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
            assert!(bytes.len() <= MAX_BYTES, "{game:?}");
            let network = Network::read(bytes).expect("valid");
            assert_eq!(network.architecture().game(), game);
        }
    }
}
