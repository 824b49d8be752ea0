//! Headers as bytes. Values that follow from the summary and the tables of names cost one byte.
//!
//! ```text
//! for each header: varint 0, varint length, name        an unknown name, followed by kind 0
//!                  varint (name << 2 | kind) + 1        a name of NAMES
//! kind 0: varint length, value    kind 1: derived from the game
//! kind 2: u8 index in VALUES      kind 3: varint, a decimal number
//! ```

use std::borrow::Cow;

use readyok_rules::record::Headers;

use super::hash;
use crate::summary::Summary;
use crate::varint::{Corrupt, get, put};

/// Names by their number. New ones are appended.
const NAMES: [&str; 70] = [
    "Event",
    "Site",
    "Date",
    "Round",
    "White",
    "Black",
    "WhiteElo",
    "BlackElo",
    "ECO",
    "Opening",
    "TimeControl",
    "Termination",
    "UTCDate",
    "UTCTime",
    "WhiteRatingDiff",
    "BlackRatingDiff",
    "WhiteTitle",
    "BlackTitle",
    "PlyCount",
    "EventDate",
    "WhiteFideId",
    "BlackFideId",
    "WhiteTeam",
    "BlackTeam",
    "Annotator",
    "Variation",
    "SubVariation",
    "Board",
    "棋戦",
    "場所",
    "開始日時",
    "終了日時",
    "先手",
    "後手",
    "下手",
    "上手",
    "戦型",
    "持ち時間",
    "手合割",
    "回戦",
    "備考",
    "表題",
    "手数",
    "消費時間",
    "図",
    "対局日",
    "WhiteType",
    "BlackType",
    "Mode",
    "Time",
    "EndTime",
    "EndDate",
    "EventType",
    "EventRounds",
    "EventCountry",
    "EventCategory",
    "Source",
    "SourceTitle",
    "SourceDate",
    "SourceVersion",
    "SourceVersionDate",
    "SourceQuality",
    "WhiteNA",
    "BlackNA",
    "WhiteUSCF",
    "BlackUSCF",
    "Variant",
    "GameId",
    "StudyName",
    "ChapterName",
];

/// Frequent values by their number. New ones are appended.
const VALUES: [&str; 48] = [
    "?",
    "-",
    "",
    "Normal",
    "Time forfeit",
    "Abandoned",
    "Rules infraction",
    "Unterminated",
    "GM",
    "IM",
    "FM",
    "CM",
    "NM",
    "WGM",
    "WIM",
    "WFM",
    "WCM",
    "WNM",
    "LM",
    "BOT",
    "human",
    "program",
    "OTB",
    "ICS",
    "NET",
    "60+0",
    "60+1",
    "120+1",
    "180+0",
    "180+2",
    "300+0",
    "300+3",
    "600+0",
    "600+5",
    "900+10",
    "1500+10",
    "1800+0",
    "1800+20",
    "Standard",
    "Rapid",
    "swiss",
    "tourn",
    "team",
    "normal",
    "adjudication",
    "time forfeit",
    "rules infraction",
    "平手",
];

/// What headers are derived from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) summary: &'a Summary,
    pub(crate) players: &'a [String; 2],
    pub(crate) event: &'a str,
    pub(crate) site: &'a str,
    pub(crate) opening: Option<(&'a str, &'a str)>,
}

impl<'a> Known<'a> {
    /// The value of a header that follows from the game.
    fn derived(&self, name: &str) -> Option<Cow<'a, str>> {
        let text = |text: &'a str| Some(Cow::Borrowed(text));
        let number = |number: u16| Some(Cow::Owned(number.to_string()));
        match name {
            "Event" | "棋戦" => text(self.event),
            "Site" | "場所" => text(self.site),
            "White" | "先手" | "下手" => text(&self.players[0]),
            "Black" | "後手" | "上手" => text(&self.players[1]),
            "Date" | "UTCDate" | "EventDate" => Some(Cow::Owned(self.summary.date.to_string())),
            "開始日時" | "対局日" => {
                Some(Cow::Owned(self.summary.date.to_string().replace('.', "/")))
            }
            "WhiteElo" => number(self.summary.ratings[0]),
            "BlackElo" => number(self.summary.ratings[1]),
            "PlyCount" => number(self.summary.plies),
            "ECO" => self.opening.and_then(|(eco, _)| text(eco)),
            "Opening" | "戦型" => self.opening.and_then(|(_, name)| text(name)),
            _ => None,
        }
    }
}

/// The number that a value is the canonical decimal form of.
fn decimal(value: &str) -> Option<u64> {
    let canonical = value == "0" || !value.starts_with(['0', '+']);
    value.parse().ok().filter(|_| canonical && value.len() > 1)
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend(text.as_bytes());
}

/// Headers as bytes.
pub(crate) fn encode(headers: &Headers, known: Known<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in headers.iter() {
        let Some(index) = NAMES.iter().position(|known| *known == name) else {
            put(&mut out, 0);
            put_text(&mut out, name);
            put_text(&mut out, value);
            continue;
        };
        let mut put_kind = |kind: u64| put(&mut out, ((index as u64) << 2 | kind) + 1);
        if known.derived(name).is_some_and(|derived| derived == value) {
            put_kind(1);
        } else if let Some(index) = VALUES.iter().position(|known| *known == value) {
            put_kind(2);
            put(&mut out, index as u64);
        } else if let Some(number) = decimal(value) {
            put_kind(3);
            put(&mut out, number);
        } else {
            put_kind(0);
            put_text(&mut out, value);
        }
    }
    out
}

/// Reads a text of a varint length.
pub(crate) fn get_text(bytes: &mut &[u8]) -> Result<String, Corrupt> {
    let length = usize::try_from(get(bytes)?).map_err(|_| Corrupt)?;
    let (text, rest) = bytes.split_at_checked(length).ok_or(Corrupt)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).map_err(|_| Corrupt)
}

/// The online game that encoded headers name. None without one, and if they are corrupt.
pub(crate) fn online_game(mut bytes: &[u8]) -> Option<String> {
    let mut headers = Headers::default();
    while !bytes.is_empty() {
        let (name, kind) = match get(&mut bytes).ok()?.checked_sub(1) {
            None => (get_text(&mut bytes).ok()?, 0),
            Some(code) => (NAMES.get(usize::try_from(code >> 2).ok()?)?.to_string(), code & 3),
        };
        match kind {
            0 => headers.push(name, get_text(&mut bytes).ok()?),
            // An address is neither derived from the game nor a frequent value or number.
            1 => (),
            _ => _ = get(&mut bytes).ok()?,
        }
    }
    headers.online_game()
}

/// A hash of the online game.
pub(crate) fn online_key(online: &str) -> u32 {
    hash(online.bytes().map(u64::from))
}

/// Headers that were encoded.
pub(crate) fn decode(mut bytes: &[u8], known: Known<'_>) -> Result<Headers, Corrupt> {
    let mut headers = Headers::default();
    while !bytes.is_empty() {
        let Some(code) = get(&mut bytes)?.checked_sub(1) else {
            let name = get_text(&mut bytes)?;
            headers.push(name, get_text(&mut bytes)?);
            continue;
        };
        let name =
            usize::try_from(code >> 2).ok().and_then(|index| NAMES.get(index)).ok_or(Corrupt)?;
        let value = match code & 3 {
            0 => get_text(&mut bytes)?,
            1 => known.derived(name).ok_or(Corrupt)?.into_owned(),
            2 => {
                let index = usize::try_from(get(&mut bytes)?).map_err(|_| Corrupt)?;
                (*VALUES.get(index).ok_or(Corrupt)?).to_owned()
            }
            _ => get(&mut bytes)?.to_string(),
        };
        headers.push(*name, value);
    }
    Ok(headers)
}
