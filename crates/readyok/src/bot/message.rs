//! Messages of the Bot API of Lichess. Unknown fields and messages are ignored.

use serde::Deserialize;

/// A message about the account.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum AccountEvent {
    GameStart {
        game: GameRef,
    },
    GameFinish {},
    Challenge {
        challenge: Challenge,
    },
    ChallengeCanceled {
        challenge: Reference,
    },
    ChallengeDeclined {
        challenge: Reference,
    },
    #[serde(other)]
    Other,
}

/// A message about a game.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum GameEvent {
    GameFull(Box<GameFull>),
    GameState(GameState),
    #[serde(rename_all = "camelCase")]
    OpponentGone {
        gone: bool,
        claim_win_in_seconds: Option<u64>,
    },
    #[serde(other)]
    Other,
}

/// A running game of the account.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GameRef {
    pub(super) game_id: String,
    opponent: Option<Opponent>,
    compat: Option<Compatibility>,
}

#[derive(Debug, Deserialize)]
struct Opponent {
    id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Compatibility {
    bot: bool,
}

impl GameRef {
    /// Whether a bot may play the game.
    pub(super) fn is_for_bots(&self) -> bool {
        self.compat.as_ref().is_none_or(|compat| compat.bot)
    }

    pub(super) fn opponent(&self) -> &str {
        self.opponent.as_ref().and_then(|opponent| opponent.id.as_deref()).unwrap_or_default()
    }
}

/// The running games of the account.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Playing {
    pub(super) now_playing: Vec<GameRef>,
}

/// The account of a token.
#[derive(Debug, Deserialize)]
pub(super) struct Account {
    pub(super) id: String,
    pub(super) username: String,
    pub(super) title: Option<String>,
}

/// What a token permits: names separated by commas.
#[derive(Debug, Deserialize)]
pub(super) struct TokenScopes {
    pub(super) scopes: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Reference {
    pub(super) id: String,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct User {
    #[serde(default)]
    pub(super) id: String,
    pub(super) name: Option<String>,
    pub(super) title: Option<String>,
    pub(super) rating: Option<i32>,
}

impl User {
    pub(super) fn is_bot(&self) -> bool {
        self.title.as_deref() == Some("BOT")
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Variant {
    pub(super) key: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Challenge {
    pub(super) id: String,
    pub(super) challenger: Option<User>,
    pub(super) variant: Variant,
    pub(super) rated: bool,
    pub(super) time_control: TimeControl,
}

/// The initial time and the increment in seconds.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum TimeControl {
    Clock {
        limit: u64,
        increment: u64,
    },
    /// Correspondence, and games without a limit.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GameFull {
    pub(super) variant: Variant,
    #[serde(default)]
    pub(super) initial_fen: String,
    pub(super) white: User,
    pub(super) black: User,
    pub(super) state: GameState,
}

/// The state of a game. Times are in milliseconds.
#[derive(Debug, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of the API")]
pub(super) struct GameState {
    pub(super) moves: String,
    pub(super) wtime: i64,
    pub(super) btime: i64,
    #[serde(default)]
    pub(super) winc: i64,
    #[serde(default)]
    pub(super) binc: i64,
    pub(super) status: String,
    pub(super) winner: Option<String>,
    #[serde(default)]
    pub(super) wdraw: bool,
    #[serde(default)]
    pub(super) bdraw: bool,
    #[serde(default)]
    pub(super) wtakeback: bool,
    #[serde(default)]
    pub(super) btakeback: bool,
}

/// Whether text can be a part of a path: the ID of a game or a challenge, or the name of a user.
pub(super) fn is_id(text: &str) -> bool {
    let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !text.is_empty() && text.len() <= 64 && text.bytes().all(is_valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_what_it_does_not_know() {
        let read = |text| serde_json::from_str::<GameEvent>(text);
        assert!(matches!(read(r#"{"type":"new","a":[1]}"#), Ok(GameEvent::Other)));
        assert!(matches!(read(r#"{"type":"chatLine","text":"x"}"#), Ok(GameEvent::Other)));
        assert!(matches!(
            read(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":8,"new":1}"#),
            Ok(GameEvent::OpponentGone { gone: true, claim_win_in_seconds: Some(8) })
        ));
        assert!(read(r#"{"type":"gameState","moves":"e2e4"#).is_err());
        assert!(!is_id("../x") && !is_id("") && is_id("abcDEF12"));
    }
}
