//! The format of chess.com: monthly archives of the games of an account.
//!
//! Reference: <https://www.chess.com/news/view/published-data-api>.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::client::{Answer, get};
use super::{Access, OnlineError, OnlineGame};
use crate::wire::OnlineService;

/// Maximum size of the list of archives and of an archive, in bytes.
const MAX_LIST: usize = 1 << 20;
const MAX_ARCHIVE: usize = 64 << 20;

/// A month with games.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Month {
    year: u16,
    month: u8,
}

impl Month {
    /// The month at the end of an address or of a text such as `2026/11`.
    pub(crate) fn parse(address: &str) -> Option<Self> {
        let (rest, month) = address.rsplit_once('/')?;
        let year = rest.rsplit('/').next()?;
        let is_valid = year.len() == 4 && month.len() == 2;
        let is_valid = is_valid && [year, month].concat().bytes().all(|it| it.is_ascii_digit());
        let month = Self { year: year.parse().ok()?, month: month.parse().ok()? };
        (is_valid && (1..=12).contains(&month.month)).then_some(month)
    }

    /// The month of a Unix time in milliseconds.
    pub(crate) fn of(time: u64) -> Option<Self> {
        let at = jiff::Timestamp::from_millisecond(i64::try_from(time).ok()?).ok()?;
        let date = at.to_zoned_datetime(jiff::tz::TimeZone::UTC).date();
        Some(Self {
            year: u16::try_from(date.year()).ok()?,
            month: u8::try_from(date.month()).ok()?,
        })
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}/{:02}", self.year, self.month)
    }
}

/// Requests the months with games of an account, the oldest first.
pub(crate) async fn months(access: &Access, name: &str) -> Result<Vec<Month>, OnlineError> {
    #[derive(Deserialize)]
    struct List {
        archives: Vec<String>,
    }
    let path = format!("/pub/player/{}/games/archives", name.to_ascii_lowercase());
    let list = get(access, &path, "application/json", None).await?.content(MAX_LIST).await?;
    let malformed = || OnlineError::Malformed(OnlineService::ChesscomGames);
    let list: List = serde_json::from_slice(&list).map_err(|_| malformed())?;
    let months = list.archives.iter().map(|address| Month::parse(address));
    let mut months = months.collect::<Option<Vec<Month>>>().ok_or_else(malformed)?;
    months.sort_unstable();
    months.dedup();
    Ok(months)
}

/// Requests the games of a month, unless they have a known version.
pub(crate) async fn archive(
    access: &Access,
    name: &str,
    month: Month,
    version: Option<&str>,
) -> Result<Answer, OnlineError> {
    let path = format!("/pub/player/{}/games/{month}", name.to_ascii_lowercase());
    get(access, &path, "application/json", version).await
}

/// The content of an archive.
pub(crate) async fn content(archive: Answer) -> Result<Vec<u8>, OnlineError> {
    archive.content(MAX_ARCHIVE).await
}

/// The games of an archive in the order of their ends.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Archive {
    pub(crate) games: Vec<OnlineGame>,
    /// The numbers of malformed entries, from 1.
    pub(crate) malformed: Vec<u64>,
    /// The ends of games of other variants.
    pub(crate) other_variants: Vec<u64>,
}

/// Reads an archive. None if it is malformed.
pub(crate) fn read_archive(content: &[u8]) -> Option<Archive> {
    #[derive(Deserialize)]
    struct Games<'a> {
        #[serde(borrow)]
        games: Vec<&'a RawValue>,
    }
    #[derive(Deserialize)]
    struct Game {
        url: String,
        pgn: Option<String>,
        end_time: u64,
        rules: String,
    }
    let Games { games } = serde_json::from_slice(content).ok()?;
    let mut archive = Archive::default();
    for (number, entry) in (1..).zip(games) {
        let Ok(Game { url, pgn, end_time, rules }) = serde_json::from_str(entry.get()) else {
            archive.malformed.push(number);
            continue;
        };
        let time = end_time.saturating_mul(1000);
        if !["chess", "chess960"].contains(&rules.as_str()) {
            archive.other_variants.push(time);
            continue;
        }
        let is_game = readyok_rules::record::online_game(&url).is_some();
        match pgn.filter(|_| is_game) {
            Some(pgn) => archive.games.push(OnlineGame { address: url, tag: "Link", pgn, time }),
            None => archive.malformed.push(number),
        }
    }
    archive.games.sort_by_key(|game| game.time);
    Some(archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_read_from_addresses() {
        let month = |text: &str| Month::parse(text).map(|month| month.to_string());
        let address = "https://api.chess.com/pub/player/hikaru/games/2024/05";
        assert_eq!(month(address).as_deref(), Some("2024/05"));
        for text in ["", "2024", "2024/5", "2024/13", "2024/0x", "20x4/05", "2024/05/"] {
            assert_eq!(month(text), None, "{text}");
        }
        assert_eq!(
            Month::of(1_716_000_000_000).map(|month| month.to_string()).as_deref(),
            Some("2024/05")
        );
        assert!(Month::parse("2024/01") < Month::parse("2024/02"));
    }

    #[test]
    fn games_of_an_archive_are_sorted_and_other_variants_counted() {
        let game = |number: u32, time: u32, rules: &str| {
            format!(
                r#"{{"url":"https://www.chess.com/game/live/{number}","pgn":"1. e4 *","time_control":"180","end_time":{time},"rated":true,"rules":"{rules}"}}"#
            )
        };
        let games = [
            game(2, 20, "chess"),
            game(3, 15, "crazyhouse"),
            "{\"url\": 7}".to_owned(),
            game(1, 10, "chess960"),
            game(4, 30, "chess").replace("game/live", "evil"),
        ];
        let text = format!("{{\"games\":[{}]}}", games.join(","));
        let archive = read_archive(text.as_bytes()).expect("it is read");
        let games: Vec<_> =
            archive.games.iter().map(|game| (game.address.as_str(), game.time)).collect();
        let address = |number| format!("https://www.chess.com/game/live/{number}");
        assert_eq!(games, [(&*address(1), 10_000), (&*address(2), 20_000)]);
        assert_eq!((archive.malformed, archive.other_variants), (vec![3, 5], vec![15_000]));
        assert_eq!(read_archive(b"<html>"), None);
    }
}
