//! Messages of the Bot API of Lichess. Unknown fields and messages are ignored.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::BotError;
use crate::http::{Http, HttpError, Priority};
use crate::lines::{LineError, Lines};
use crate::play::Failure;
use crate::terminal::print_error;

/// Number of rejections in succession that end a stream.
const MAX_REJECTIONS: u32 = 4;

/// A stream of messages.
pub(super) struct Messages {
    http: Arc<Http>,
    priority: Priority,
    path: String,
    /// `None` while the stream is closed.
    pub(super) lines: Option<Lines>,
    rejections: u32,
}

impl Messages {
    pub(super) fn new(http: &Arc<Http>, priority: Priority, path: String) -> Self {
        Self { http: Arc::clone(http), priority, path, lines: None, rejections: 0 }
    }

    pub(super) fn open(&mut self) -> Result<(), Failure<BotError>> {
        let lines = self.http.lines(self.priority, &self.path).map_err(|error| {
            self.rejections += u32::from(error.is_rejection());
            match (self.rejections, failure(&self.path, error)) {
                (..MAX_REJECTIONS, Failure::Fatal(error)) => Failure::Lost(error, None),
                (_, failure) => failure,
            }
        })?;
        (self.lines, self.rejections) = (Some(lines), 0);
        Ok(())
    }

    /// The next message, if there is one within this time, and the time of its arrival.
    pub(super) fn next<T: for<'a> Deserialize<'a>>(
        &mut self,
        within: Duration,
    ) -> Result<Option<(T, Instant)>, Failure<BotError>> {
        let line = self.lines.as_ref().map_or(Err(LineError::Closed), |lines| lines.next(within));
        let line = line.map_err(|error| failure(&self.path, error.into()))?;
        // Empty lines keep the connection open.
        let Some((line, at)) = line.filter(|(line, _)| !line.is_empty()) else { return Ok(None) };
        match serde_json::from_str(&line) {
            Ok(message) => Ok(Some((message, at))),
            Err(error) => {
                let (path, start) = (&self.path, line.chars().take(100).collect::<String>());
                print_error(&format!("{path}: ignores a malformed line: {error}: {start}"));
                Ok(None)
            }
        }
    }
}

/// The failure of a request.
pub(super) fn failure(what: &str, error: HttpError) -> Failure<BotError> {
    let (is_final, pause) = (error.is_rejection(), error.retry_after());
    let error = BotError::Http { what: what.to_owned(), error };
    if is_final { Failure::Fatal(error) } else { Failure::Lost(error, pause) }
}

/// A message about the account.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum AccountEvent {
    GameStart {
        game: GameRef,
    },
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
    #[serde(default)]
    pub(super) opponent: User,
}

#[derive(Debug, Deserialize)]
pub(super) struct Reference {
    pub(super) id: String,
}

/// A user; the fields depend on the message.
#[derive(Debug, Default, Deserialize)]
pub(super) struct User {
    id: Option<String>,
    #[serde(alias = "username")]
    name: Option<String>,
    title: Option<String>,
    pub(super) rating: Option<i32>,
}

impl User {
    /// Empty for anonymous users.
    pub(super) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    pub(super) fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| "Anonymous".to_owned())
    }

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

/// The initial time and the increment in seconds; none in correspondence, and in games without a limit.
#[derive(Debug, Deserialize)]
pub(super) struct TimeControl {
    pub(super) limit: Option<u64>,
    pub(super) increment: Option<u64>,
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
    }
}
