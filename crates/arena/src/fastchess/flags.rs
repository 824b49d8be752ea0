//! The options by name, and what follows each: the grammar, without any meaning.

use super::ArgumentError;

/// What follows an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// Nothing.
    Nothing,
    /// One value.
    One,
    /// Pairs of key and value.
    Pairs,
    /// Pairs, or nothing.
    MaybePairs,
    /// Anything.
    Words,
}

const FLAGS: &[(&str, Style)] = &[
    ("-engine", Style::Pairs),
    ("-each", Style::Pairs),
    ("-pgnout", Style::MaybePairs),
    ("-epdout", Style::MaybePairs),
    ("-openings", Style::Pairs),
    ("-sprt", Style::Pairs),
    ("-draw", Style::Pairs),
    ("-resign", Style::Pairs),
    ("-maxmoves", Style::One),
    ("-tb", Style::One),
    ("-tbpieces", Style::One),
    ("-tbignore50", Style::Nothing),
    ("-tbadjudicate", Style::One),
    ("-concurrency", Style::One),
    ("-force-concurrency", Style::Nothing),
    ("-use-affinity", Style::Words),
    ("-rounds", Style::One),
    ("-games", Style::One),
    ("-repeat", Style::Words),
    ("-noswap", Style::Nothing),
    ("-reverse", Style::Nothing),
    ("-tournament", Style::One),
    ("-seeds", Style::One),
    ("-variant", Style::One),
    ("-event", Style::Words),
    ("-site", Style::Words),
    ("-wait", Style::One),
    ("-srand", Style::One),
    ("-recover", Style::Nothing),
    ("-quick", Style::Pairs),
    ("-config", Style::Pairs),
    ("-autosaveinterval", Style::One),
    ("-ratinginterval", Style::One),
    ("-scoreinterval", Style::One),
    ("-report", Style::Pairs),
    ("-output", Style::Pairs),
    ("-log", Style::Pairs),
    ("-crc32", Style::Pairs),
    ("-show-latency", Style::Nothing),
    ("-strict", Style::Nothing),
    ("-check-mate-pvs", Style::Nothing),
    ("-testEnv", Style::Nothing),
    ("-debug", Style::Words),
    ("-startup-ms", Style::One),
    ("-ucinewgame-ms", Style::One),
    ("-ping-ms", Style::One),
    ("-version", Style::Nothing),
    ("--version", Style::Nothing),
    ("-v", Style::Nothing),
    ("--v", Style::Nothing),
    ("-help", Style::Nothing),
    ("--help", Style::Nothing),
    ("--compliance", Style::Words),
    ("-compliance", Style::Words),
];

/// An option with what follows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    pub(super) words: Vec<String>,
    pub(super) pairs: Vec<(String, String)>,
}

impl Flag {
    /// The one value of an option that takes one.
    pub(super) fn value(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// Splits a command line into options. A word that starts with `-` is the next option, unless a
/// digit follows: then it is a negative number.
pub(super) fn split(words: &[String]) -> Result<Vec<Flag>, ArgumentError> {
    let mut flags = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let known = FLAGS.iter().find(|(name, _)| name == word);
        let &(name, style) = known.ok_or_else(|| unknown(word))?;
        let mut following = Vec::new();
        // What is to be tested comes with its own arguments, whatever they look like.
        let takes_all = name.ends_with("-compliance");
        while let Some(next) = rest.next_if(|next| takes_all || !is_option(next)) {
            following.push(next.clone());
        }
        flags.push(flag(name, style, following)?);
    }
    Ok(flags)
}

fn is_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn flag(name: &'static str, style: Style, words: Vec<String>) -> Result<Flag, ArgumentError> {
    let mut pairs = Vec::new();
    match style {
        Style::Nothing if !words.is_empty() => return Err(ArgumentError::TakesNothing(name)),
        Style::One if words.len() != 1 => return Err(ArgumentError::TakesOneValue(name)),
        Style::Pairs if words.is_empty() => {
            return Err(ArgumentError::TakesPairs { option: name, word: None });
        }
        Style::Pairs | Style::MaybePairs => {
            for word in &words {
                let pair = word.split_once('=').filter(|(k, v)| !k.is_empty() && !v.is_empty());
                let (key, value) = pair.ok_or_else(|| ArgumentError::TakesPairs {
                    option: name,
                    word: Some(word.clone()),
                })?;
                pairs.push((key.to_owned(), value.to_owned()));
            }
        }
        Style::Nothing | Style::One | Style::Words => {}
    }
    Ok(Flag { name, words, pairs })
}

fn unknown(word: &str) -> ArgumentError {
    let near = FLAGS.iter().map(|&(name, _)| (strsim::levenshtein(name, word), name)).min();
    let similar = near.and_then(|(distance, name)| (distance <= 2).then_some(name));
    ArgumentError::UnknownOption { option: word.to_owned(), similar }
}
