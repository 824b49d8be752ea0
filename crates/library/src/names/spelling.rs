//! Spelling files of SCID: correct names with their aliases.
//!
//! ```text
//! @PLAYER                                  a section: PLAYER, SITE, EVENT or ROUND
//! Carlsen, Magnus  #gm NOR [2882] 1990     a correct name; a comment follows #
//! =Carlsen, M                              an alias of the name before it
//! %Bio …                                   an attribute, which is ignored
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};

use super::proposals::{NameProposal, ProposalReason, letters_of};
use super::{NameCount, NameKind};

/// Maximum size of a line, in bytes.
const MAX_LINE: usize = 1000;

/// The names of a spelling file.
#[derive(Debug, Clone, Default)]
pub struct SpellingFile {
    /// The correct name by the letters of a name; none if several names have them.
    correct: HashMap<(NameKind, String), Option<String>>,
    names: usize,
    aliases: usize,
}

impl SpellingFile {
    /// Reads a file. Sections, lines and encodings that are not known are ignored.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8(bytes.to_vec())
            // Files of SCID were Latin-1 before they were UTF-8.
            .unwrap_or_else(|_| bytes.iter().map(|byte| char::from(*byte)).collect());
        let mut file = Self::default();
        let mut kind = None;
        let mut current: Option<String> = None;
        for line in text.lines().filter(|line| line.len() <= MAX_LINE) {
            let line = line.trim();
            if let Some(section) = line.strip_prefix('@') {
                kind = match section.trim().to_ascii_uppercase().as_str() {
                    "PLAYER" => Some(NameKind::Player),
                    "EVENT" => Some(NameKind::Event),
                    "SITE" => Some(NameKind::Site),
                    _ => None,
                };
                current = None;
                continue;
            }
            let Some(kind) = kind else { continue };
            let name = line.split('#').next().unwrap_or_default();
            if let Some(alias) = name.strip_prefix('=') {
                if let Some(current) = &current {
                    file.aliases += 1;
                    file.add(kind, alias.trim_start_matches('=').trim(), current);
                }
            } else if !name.starts_with('%') && !name.trim().is_empty() {
                let name = name.trim().to_owned();
                file.names += 1;
                file.add(kind, &name, &name);
                current = Some(name);
            }
        }
        file
    }

    /// The numbers of correct names and of aliases.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.names, self.aliases)
    }

    fn add(&mut self, kind: NameKind, name: &str, correct: &str) {
        let letters = letters_of(name);
        if letters.is_empty() {
            return;
        }
        let known = self.correct.entry((kind, letters)).or_insert_with(|| Some(correct.to_owned()));
        if known.as_ref().is_some_and(|known| *known != correct) {
            *known = None;
        }
    }

    pub(crate) fn proposals(&self, kind: NameKind, names: &[NameCount]) -> Vec<NameProposal> {
        let mut by_correct: BTreeMap<&str, Vec<NameCount>> = BTreeMap::new();
        for name in names {
            let found = self.correct.get(&(kind, letters_of(&name.name)));
            if let Some(Some(correct)) = found
                && *correct != name.name
            {
                by_correct.entry(correct).or_default().push(name.clone());
            }
        }
        let known: HashSet<&str> = names.iter().map(|name| name.name.as_str()).collect();
        let games = |name: &str| {
            let found = names.iter().find(|known| known.name == name);
            found.map_or(0, |found| found.games)
        };
        by_correct
            .into_iter()
            .map(|(correct, variants)| NameProposal {
                keep: NameCount {
                    games: if known.contains(correct) { games(correct) } else { 0 },
                    name: correct.to_owned(),
                },
                variants,
                reason: ProposalReason::SpellingFile,
            })
            .collect()
    }
}
