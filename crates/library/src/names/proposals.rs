//! Proposals of names that are spellings of one name.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use readyok_rules::record::{Headers, fold, is_known_name};
use rusqlite::Connection;

use super::{NameCount, NameKind, counts, texts};
use crate::codec::tags;
use crate::error::Error;
use crate::game::StoredGame;
use crate::snapshot::Snapshot;
use crate::summary::NameId;

/// Names of one block that are compared with each other.
const MAX_BLOCK: usize = 500;

/// Games of a name that are read for its FIDE id.
const MAX_READ: usize = 20;

/// Shorter names with one different letter are different names.
const MIN_SIMILAR: usize = 8;

/// Shorter names with two different letters are different names.
const MIN_FAINTLY_SIMILAR: usize = 12;

/// Why names are proposed as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProposalReason {
    /// They differ in punctuation, case, diacritics or the order of their parts.
    Form,
    /// One has initials.
    Initials,
    /// They differ in one or two letters.
    Similar,
    /// A spelling file has them as one.
    SpellingFile,
}

impl ProposalReason {
    /// A short text.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::Initials => "initials",
            Self::Similar => "similar",
            Self::SpellingFile => "spelling file",
        }
    }
}

/// Names that are probably spellings of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameProposal {
    /// The name to keep: the fullest, and of these the one with most games.
    pub keep: NameCount,
    /// The other names, those with most games first.
    pub variants: Vec<NameCount>,
    /// The weakest reason.
    pub reason: ProposalReason,
}

/// A name of a player, in parts without case, punctuation and diacritics.
#[derive(Debug, Clone)]
struct Parsed {
    id: NameId,
    text: String,
    games: u32,
    /// The part before the comma, or the last one of `Magnus Carlsen`; joined.
    surname: String,
    given: Vec<String>,
    /// All parts, sorted.
    parts: Vec<String>,
}

impl Parsed {
    fn new(id: NameId, text: String, games: u32) -> Option<Self> {
        if !is_known_name(&text) {
            return None;
        }
        let parts_of = |text: &str| -> Vec<String> {
            let folded = fold(text);
            let parts = folded.split(|letter: char| !letter.is_alphanumeric());
            parts.filter(|part| !part.is_empty()).map(plain).collect()
        };
        let (surname, given) = if let Some((surname, given)) = text.split_once(',') {
            (parts_of(surname), parts_of(given))
        } else {
            let mut parts = parts_of(&text);
            // `Carlsen M` and `Carlsen M.` have the surname first.
            let is_first = parts.len() > 1 && parts.last().is_some_and(|last| is_initial(last));
            let surname = if is_first { Some(parts.remove(0)) } else { parts.pop() };
            (surname.into_iter().collect(), parts)
        };
        let mut parts = [surname.clone(), given.clone()].concat();
        parts.sort_unstable();
        (!parts.is_empty()).then(|| Self {
            id,
            text,
            games,
            surname: surname.concat(),
            given,
            parts,
        })
    }

    fn digits(&self) -> String {
        self.text.chars().filter(char::is_ascii_digit).collect()
    }

    /// Whether each given name is one or an initial of that of a fuller name.
    fn abbreviates(&self, full: &Self) -> bool {
        let initials = |short: &[String]| -> Vec<String> {
            // `MA` or `M.A.` are several initials.
            short
                .iter()
                .flat_map(|part| {
                    if part.chars().count() <= 2 && !part.is_empty() && short.len() == 1 {
                        part.chars().map(String::from).collect()
                    } else {
                        vec![part.clone()]
                    }
                })
                .collect()
        };
        let fits = |short: &[String]| {
            short.len() <= full.given.len()
                && short
                    .iter()
                    .zip(&full.given)
                    .all(|(short, full)| full.starts_with(short.as_str()))
        };
        self.surname == full.surname
            && !self.given.is_empty()
            && self.given != full.given
            && self.given.iter().any(|part| is_initial(part) || part.chars().count() == 2)
            && (fits(&self.given) || fits(&initials(&self.given)))
    }

    /// Given names that are written out, then the length, then the games: what is kept has most.
    fn rank(&self) -> (usize, u32, usize) {
        let full = self.given.iter().filter(|part| !is_initial(part)).count();
        (full, self.games, self.text.len())
    }
}

fn is_initial(part: &str) -> bool {
    part.chars().count() == 1
}

/// Letters without diacritics, of European languages.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        let plain = match letter {
            'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
            'æ' => "ae",
            'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
            'ð' | 'ď' | 'đ' => "d",
            'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
            'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
            'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
            'ķ' => "k",
            'ĺ' | 'ļ' | 'ľ' | 'ł' => "l",
            'ñ' | 'ń' | 'ņ' | 'ň' => "n",
            'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => "o",
            'œ' => "oe",
            'ŕ' | 'ŗ' | 'ř' => "r",
            'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
            'ß' => "ss",
            'ţ' | 'ť' | 'ț' => "t",
            'þ' => "th",
            'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => "u",
            'ý' | 'ÿ' => "y",
            'ź' | 'ż' | 'ž' => "z",
            // Combining marks.
            '\u{300}'..='\u{36F}' => "",
            other => {
                out.push(other);
                continue;
            }
        };
        out.push_str(plain);
    }
    out
}

/// The letters and digits of a name, as spelling files compare them.
pub(super) fn letters_of(name: &str) -> String {
    plain(&fold(name)).chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// The number of insertions, deletions and replacements of letters, up to 3.
fn distance(a: &[char], b: &[char]) -> usize {
    const LIMIT: usize = 3;
    if a.len().abs_diff(b.len()) >= LIMIT {
        return LIMIT;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut least = i + 1;
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
        for (j, other) in b.iter().enumerate() {
            let (left, above) = (row[j], row[j + 1]);
            let cost = (diagonal + usize::from(letter != other)).min(left + 1).min(above + 1);
            diagonal = above;
            row[j + 1] = cost;
            least = least.min(cost);
        }
        if least >= LIMIT {
            return LIMIT;
        }
    }
    row.last().copied().unwrap_or(LIMIT).min(LIMIT)
}

fn is_similar(a: &Parsed, b: &Parsed) -> bool {
    let joined = |name: &Parsed| -> Vec<char> {
        name.surname
            .chars()
            .chain([' '])
            .chain(name.given.iter().flat_map(|part| part.chars()))
            .collect()
    };
    let written_out = |name: &Parsed| name.given.iter().any(|part| !is_initial(part));
    let (x, y) = (joined(a), joined(b));
    let length = x.len().min(y.len());
    let limit = match length {
        length if length >= MIN_FAINTLY_SIMILAR => 2,
        length if length >= MIN_SIMILAR => 1,
        _ => 0,
    };
    // `Engine 1` and `Engine 2` are different, and so are initials.
    a.digits() == b.digits()
        && written_out(a) == written_out(b)
        && (written_out(a) || a.given == b.given)
        && distance(&x, &y) <= limit
}

/// Keys of blocks: similar names have one in common.
fn keys(name: &Parsed) -> BTreeSet<String> {
    let mut keys = BTreeSet::from([format!("s {}", name.surname)]);
    keys.insert(format!("g {}", name.given.concat()));
    let letters: Vec<char> = name.surname.chars().collect();
    for skipped in 0..letters.len() {
        let rest = letters.iter().enumerate().filter(|(at, _)| *at != skipped);
        keys.insert(format!("s {}", rest.map(|(_, letter)| *letter).collect::<String>()));
    }
    keys
}

pub(crate) fn propose(
    connection: &Connection,
    snapshot: &Snapshot,
) -> Result<Vec<NameProposal>, Error> {
    let games = counts(connection, snapshot, NameKind::Player)?;
    let names: Vec<Parsed> = texts(connection)?
        .into_iter()
        .filter_map(|(id, text)| Parsed::new(id, text, *games.get(&id)?))
        .collect();
    let mut pairs: BTreeMap<(usize, usize), ProposalReason> = BTreeMap::new();
    let mut add = |a: usize, b: usize, reason| {
        let known = pairs.entry((a.min(b), a.max(b))).or_insert(reason);
        *known = (*known).min(reason);
    };
    let mut by_parts: HashMap<&[String], Vec<usize>> = HashMap::new();
    let mut by_surname: HashMap<&str, Vec<usize>> = HashMap::new();
    let mut blocks: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        by_parts.entry(&name.parts).or_default().push(at);
        by_surname.entry(&name.surname).or_default().push(at);
        for key in keys(name) {
            blocks.entry(key).or_default().push(at);
        }
    }
    for same in by_parts.values() {
        for at in same.iter().skip(1) {
            add(same[0], *at, ProposalReason::Form);
        }
    }
    for same in by_surname.values().filter(|same| (2..=MAX_BLOCK).contains(&same.len())) {
        for &short in same {
            let full = same.iter().filter(|at| names[short].abbreviates(&names[**at]));
            let full: Vec<usize> = full.copied().collect();
            // An initial of two different names is that of neither.
            let given: HashSet<&[String]> = full
                .iter()
                .filter(|at| names[**at].given.iter().all(|part| !is_initial(part)))
                .map(|at| &names[*at].given[..])
                .collect();
            if given.len() <= 1 {
                for at in full {
                    add(short, at, ProposalReason::Initials);
                }
            }
        }
    }
    for block in blocks.values().filter(|block| (2..=MAX_BLOCK).contains(&block.len())) {
        for (nth, &a) in block.iter().enumerate() {
            for &b in &block[nth + 1..] {
                if names[a].parts != names[b].parts && is_similar(&names[a], &names[b]) {
                    add(a, b, ProposalReason::Similar);
                }
            }
        }
    }
    let involved: HashSet<NameId> =
        pairs.keys().flat_map(|(a, b)| [names[*a].id, names[*b].id]).collect();
    let facts = Facts::read(connection, snapshot, &involved)?;
    Ok(groups(&names, pairs, &facts))
}

/// Joins pairs to groups whose names do not contradict each other.
fn groups(
    names: &[Parsed],
    pairs: BTreeMap<(usize, usize), ProposalReason>,
    facts: &Facts,
) -> Vec<NameProposal> {
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    // The strongest reasons first.
    pairs.sort_by_key(|(pair, reason)| (*reason, *pair));
    let mut group_of: HashMap<usize, usize> = HashMap::new();
    let mut groups: Vec<(Vec<usize>, ProposalReason)> = Vec::new();
    for ((a, b), reason) in pairs {
        let members = |at: usize| match group_of.get(&at) {
            Some(group) => groups[*group].0.clone(),
            None => vec![at],
        };
        let (of_a, of_b) = (members(a), members(b));
        if of_a.contains(&b) {
            continue;
        }
        let agree =
            of_a.iter().all(|a| of_b.iter().all(|b| facts.can_be_one(names[*a].id, names[*b].id)));
        if !agree {
            continue;
        }
        let mut reason = reason;
        for at in [a, b] {
            if let Some(group) = group_of.get(&at) {
                let (members, weakest) = &mut groups[*group];
                reason = reason.max(*weakest);
                members.clear();
            }
        }
        let joined = [of_a, of_b].concat();
        for at in &joined {
            group_of.insert(*at, groups.len());
        }
        groups.push((joined, reason));
    }
    let mut proposals: Vec<NameProposal> = groups
        .into_iter()
        .filter_map(|(mut members, reason)| {
            members.sort_by_key(|at| std::cmp::Reverse(names[*at].rank()));
            let count =
                |at: &usize| NameCount { name: names[*at].text.clone(), games: names[*at].games };
            let keep = members.first().map(count)?;
            let mut variants: Vec<_> = members[1..].iter().map(count).collect();
            variants.sort_by(|a, b| b.games.cmp(&a.games).then_with(|| a.name.cmp(&b.name)));
            Some(NameProposal { keep, variants, reason })
        })
        .collect();
    proposals.sort_by(|a, b| (a.reason, &a.keep.name).cmp(&(b.reason, &b.keep.name)));
    proposals
}

/// What shows that names are of different players.
struct Facts {
    opponents: HashSet<(NameId, NameId)>,
    /// FIDE ids of the names.
    ids: HashMap<NameId, BTreeSet<String>>,
}

impl Facts {
    fn read(
        connection: &Connection,
        snapshot: &Snapshot,
        involved: &HashSet<NameId>,
    ) -> Result<Self, Error> {
        let mut facts = Self { opponents: HashSet::new(), ids: HashMap::new() };
        let mut read: HashMap<NameId, usize> = HashMap::new();
        let mut games = BTreeSet::new();
        for (game, it) in snapshot.summaries.iter_rev() {
            let [first, second] = it.players();
            if involved.contains(&first) && involved.contains(&second) {
                facts.opponents.insert((first.min(second), first.max(second)));
            }
            for name in [first, second].into_iter().filter(|name| involved.contains(name)) {
                let count = read.entry(name).or_default();
                if *count < MAX_READ {
                    *count += 1;
                    games.insert(game);
                }
            }
        }
        for game in games {
            let Some(stored) = StoredGame::read(connection, game)? else { continue };
            let headers: Headers = tags::decode(&stored.tags, stored.known()).unwrap_or_default();
            let names = ["WhiteFideId", "BlackFideId"].into_iter().zip(stored.summary.players);
            for (header, name) in names {
                let id = headers.get(header).map(str::trim);
                if let Some(id) = id.filter(|id| !matches!(*id, "" | "0" | "-" | "?")) {
                    facts.ids.entry(name).or_default().insert(id.to_owned());
                }
            }
        }
        Ok(facts)
    }

    fn can_be_one(&self, a: NameId, b: NameId) -> bool {
        let differ = match (self.ids.get(&a), self.ids.get(&b)) {
            (Some(a), Some(b)) => a.is_disjoint(b),
            _ => false,
        };
        !differ && !self.opponents.contains(&(a.min(b), a.max(b)))
    }
}
