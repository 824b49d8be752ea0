//! Names of players, events and sites.

use std::fs;
use std::path::PathBuf;

use readyok_library::{Library, NameCount, NameKind, NameMerge, NameProposal, SpellingFile};
use serde::Serialize;

use super::{Database, failure, now_ms, print_result};
use crate::convert::grouped;
use crate::exit::{Code, Failure};
use crate::terminal::{print_error, printable};

/// Maximum size of a spelling file, in bytes.
const MAX_SPELLING: u64 = 256 << 20;

/// What is done with names.
#[derive(Clone, Debug)]
pub(crate) enum NamesAction {
    List,
    /// Lists variants, or merges them.
    Propose {
        spelling: Option<PathBuf>,
        applies: bool,
    },
    /// Replaces names by another.
    Merge(Vec<String>, String),
    History,
    /// Undoes a merge, or the last one.
    Undo(Option<u32>),
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
    games: u32,
}

impl<'a> From<&'a NameCount> for Name<'a> {
    fn from(count: &'a NameCount) -> Self {
        Self { name: &count.name, games: count.games }
    }
}

#[derive(Serialize)]
struct Proposal<'a> {
    keep: &'a str,
    games: u32,
    variants: Vec<Name<'a>>,
    reason: &'static str,
}

#[derive(Serialize)]
struct Merged<'a> {
    merge: u32,
    keep: &'a str,
    games: usize,
}

#[derive(Serialize)]
struct Logged<'a> {
    merge: u32,
    at_ms: i64,
    kind: &'static str,
    from: &'a [String],
    to: &'a str,
    games: u32,
}

#[derive(Serialize)]
struct Undone {
    merge: u32,
    games: usize,
}

/// Lists, merges or restores names. Code 1 if there is nothing to merge or to undo.
pub(crate) fn names(
    database: &Database,
    kind: NameKind,
    action: NamesAction,
    is_json: bool,
) -> Result<Code, Failure> {
    let spelling = match &action {
        NamesAction::Propose { spelling: Some(path), .. } => Some(read_spelling(path)?),
        _ => None,
    };
    let library = database.open()?;
    match action {
        NamesAction::List => {
            for count in library.names(kind).map_err(failure)? {
                let text =
                    format!("{:>9}  {}", grouped(count.games.into()), printable(&count.name));
                print_result(&Name::from(&count), &text, is_json)?;
            }
            Ok(Code::Done)
        }
        NamesAction::Propose { applies, .. } => {
            let proposals = match spelling {
                Some(file) => library.propose_spelling(&file, kind),
                None if kind == NameKind::Player => library.propose_names(),
                None => {
                    let text = "variants of events and sites need a spelling file: --spelling FILE";
                    return Err(Failure::usage(text));
                }
            };
            let proposals = proposals.map_err(failure)?;
            if applies {
                return apply(&library, kind, &proposals, is_json);
            }
            proposals.iter().try_for_each(|proposal| print_proposal(proposal, is_json))?;
            Ok(Code::Done)
        }
        NamesAction::Merge(from, into) => {
            if into.trim().is_empty() {
                return Err(Failure::usage("the new name is empty"));
            }
            if merge(&library, kind, from, &into, is_json)? {
                return Ok(Code::Done);
            }
            print_error("no game has these names");
            Ok(Code::Failed)
        }
        NamesAction::History => {
            for merge in library.name_merges().map_err(failure)? {
                print_logged(&merge, is_json)?;
            }
            Ok(Code::Done)
        }
        NamesAction::Undo(merge) => {
            let last = library.name_merges().map_err(failure)?.first().map(|last| last.merge);
            let merge = merge.or(last);
            let games = merge.map(|merge| {
                library.undo_name_merge(merge).map_err(|error| database.failed(error))
            });
            let (Some(merge), Some(games)) = (merge, games.transpose()?.flatten()) else {
                print_error("no such merge; --history lists those that can be undone");
                return Ok(Code::Failed);
            };
            let text = format!("{} games restored", grouped(games as u64));
            print_result(&Undone { merge, games }, &text, is_json)?;
            Ok(Code::Done)
        }
    }
}

fn read_spelling(path: &PathBuf) -> Result<SpellingFile, Failure> {
    let unreadable = |error: String| Failure::usage(format!("`{}`: {error}", path.display()));
    let size = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?.len();
    if MAX_SPELLING < size {
        return Err(unreadable("it is too large for a spelling file".to_owned()));
    }
    let bytes = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let file = SpellingFile::parse(&bytes);
    if file.counts().0 == 0 {
        return Err(unreadable("it is no spelling file: it has no names".to_owned()));
    }
    Ok(file)
}

fn print_proposal(proposal: &NameProposal, is_json: bool) -> Result<(), Failure> {
    let NameProposal { keep, variants, reason } = proposal;
    let named =
        |count: &NameCount| format!("{} ({})", printable(&count.name), grouped(count.games.into()));
    let others: Vec<String> = variants.iter().map(named).collect();
    let text = format!("{} <- {}  [{}]", named(keep), others.join(", "), reason.text());
    let json = Proposal {
        keep: &keep.name,
        games: keep.games,
        variants: variants.iter().map(Name::from).collect(),
        reason: reason.text(),
    };
    print_result(&json, &text, is_json)
}

fn apply(
    library: &Library,
    kind: NameKind,
    proposals: &[NameProposal],
    is_json: bool,
) -> Result<Code, Failure> {
    for NameProposal { keep, variants, .. } in proposals {
        let from = variants.iter().map(|variant| variant.name.clone()).collect();
        merge(library, kind, from, &keep.name, is_json)?;
    }
    Ok(Code::Done)
}

/// Whether a game has changed.
fn merge(
    library: &Library,
    kind: NameKind,
    from: Vec<String>,
    into: &str,
    is_json: bool,
) -> Result<bool, Failure> {
    let merged = library.merge_names(kind, from, into.to_owned(), now_ms()).map_err(failure)?;
    let Some((merge, games)) = merged else { return Ok(false) };
    let count = grouped(games as u64);
    let text = format!("merge {merge}: {count} games changed to `{}`", printable(into));
    print_result(&Merged { merge, keep: into, games }, &text, is_json)?;
    Ok(true)
}

fn print_logged(merge: &NameMerge, is_json: bool) -> Result<(), Failure> {
    let NameMerge { merge, at_ms, kind, from, to, games } = merge;
    let kind = match kind {
        NameKind::Player => "player",
        NameKind::Event => "event",
        NameKind::Site => "site",
    };
    let names: Vec<String> = from.iter().map(|name| printable(name)).collect();
    let count = grouped((*games).into());
    let text = format!(
        "merge {merge}: {kind} `{}` <- {}  ({count} games)",
        printable(to),
        names.join("; ")
    );
    let (merge, at_ms, games) = (*merge, *at_ms, *games);
    print_result(&Logged { merge, at_ms, kind, from, to, games }, &text, is_json)
}
