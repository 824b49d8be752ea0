//! The generated files of the page match the server.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use readyok_arena::openings::OpeningDefect;
use readyok_arena::result::WarningKind;
use readyok_arena::schedule::PairingError;
use readyok_arena::stats::SprtError;
use readyok_arena::store::{FileOperation, StoreDefect};
use readyok_client::{EngineFailureDetail, EngineFailureKind, ExitCause, ExitDescription};
use readyok_library::LibraryDefect;
use readyok_protocol::OptionError;
use readyok_rules::record::{Defect, Format, Limit, PatternDefect};
use readyok_rules::{EpdDefect, Field, Game, IllegalReason, PositionError, Termination};
use ts_rs::{Config, TS, TypeVisitor};

use crate::wire;
use readyok_rules::record::compression::DecompressionError;

/// The declarations of types and their dependencies, by name.
struct Declarations {
    config: Config,
    seen: HashSet<TypeId>,
    by_name: BTreeMap<String, String>,
}

impl Declarations {
    fn add<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        // A type without a file is built-in, or a list of other types.
        if T::output_path().is_some() {
            let docs = T::docs().unwrap_or_default();
            let declaration = T::decl(&self.config);
            let name = T::ident(&self.config);
            let declaration = format!("{docs}export {declaration}\n");
            let known = self.by_name.entry(name).or_insert_with(|| declaration.clone());
            assert_eq!(*known, declaration, "two types have the same name");
        }
        T::visit_generics(self);
        T::visit_dependencies(self);
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.add::<T>();
    }
}

fn generated() -> String {
    let config = Config::new().with_large_int("number");
    let mut all = Declarations { config, seen: HashSet::new(), by_name: BTreeMap::new() };
    all.add::<wire::Request>();
    all.add::<wire::ToTab>();
    all.add::<wire::Chapters>();
    all.add::<wire::GameOrder>();
    all.add::<wire::GamePreview>();
    all.add::<wire::JobFaults>();
    all.add::<wire::Choices>();
    all.add::<wire::Collections>();
    all.add::<wire::Directory>();
    all.add::<wire::DuplicateGroup>();
    all.add::<wire::DuplicateGroups>();
    all.add::<wire::UndecidedDuplicates>();
    all.add::<wire::Explorer>();
    all.add::<wire::ExplorerQuery>();
    all.add::<wire::Imported>();
    all.add::<wire::LibraryPage>();
    all.add::<wire::LibraryQuery>();
    all.add::<wire::SearchProgress>();
    all.add::<wire::Repertoire>();
    all.add::<wire::NewQueueMatch>();
    all.add::<wire::OpeningFiles>();
    all.add::<wire::PositionCheck>();
    all.add::<wire::QueueAction>();
    all.add::<wire::ProposalAction>();
    all.add::<wire::QueueMatch>();
    all.add::<wire::QueuePlan>();
    all.add::<wire::DownloadAddress>();
    all.add::<wire::QueueOverview>();
    all.add::<wire::QueuedId>();
    all.add::<wire::TablebaseQuery>();
    all.add::<wire::TablebaseView>();
    all.add::<wire::ImportedExercises>();
    all.add::<wire::TrainingView>();
    let mut text = String::from(
        "// Generated from crates/server/src/wire by `READYOK_BLESS=1 cargo test -p readyok-server`. Do not edit.\n",
    );
    for declaration in all.by_name.values() {
        // Writing into a `String` cannot fail.
        let _ = write!(text, "\n{}", with_short_comments(declaration));
    }
    text
}

/// Comments of one line take one line.
fn with_short_comments(declaration: &str) -> String {
    let lines: Vec<&str> = declaration.lines().collect();
    let mut text = String::new();
    let mut rest = lines.as_slice();
    loop {
        let (line, after) = match rest {
            ["/**", comment, " */", after @ ..] => {
                (format!("/**{} */", comment.strip_prefix(" *").unwrap_or(comment)), after)
            }
            [line, after @ ..] => (line.trim_end().to_owned(), after),
            [] => return text,
        };
        text.push_str(&line);
        text.push('\n');
        rest = after;
    }
}

/// Compares a generated file with the committed one, which is replaced if `READYOK_BLESS` is set.
pub(super) fn check(path: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src").join(path);
    if std::env::var_os("READYOK_BLESS").is_some() {
        std::fs::write(&file, expected).expect("it is writable");
    }
    let committed = std::fs::read_to_string(&file).expect("it is committed");
    assert!(
        committed == expected,
        "web/src/{path} is stale: run `READYOK_BLESS=1 cargo test -p readyok-server`"
    );
}

#[test]
fn the_types_of_the_page_match_the_server() {
    check("api/wire.ts", &generated());
}

#[test]
fn the_formats_of_the_page_match_the_table() {
    let json = |value: serde_json::Value| value.to_string();
    let formats: Vec<_> = wire::RecordFormat::all().collect();
    let names: Vec<String> = formats.iter().map(|format| json(format.name().into())).collect();
    let mut text = format!(
        "// Generated from crates/rules/src/record/formats.rs by `READYOK_BLESS=1 cargo test -p readyok-server`.\n\
         // Do not edit.\n\
         import type {{ Variant }} from './wire';\n\n\
         /** A format of exported games. */\n\
         export type RecordFormat = {};\n\n\
         export const recordFormats: readonly {{ name: RecordFormat; extension: string; variants: readonly Variant[] }}[] = [\n",
        names.join(" | ")
    );
    for format in formats {
        let variants = [Game::Chess, Game::Chess960, Game::Shogi];
        let variants: Vec<Game> =
            variants.into_iter().filter(|variant| format.supports(*variant)).collect();
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "  {{ name: {}, extension: {}, variants: {} }},",
            json(format.name().into()),
            json(format.extension().into()),
            json(serde_json::json!(variants)),
        );
    }
    let extensions = Format::ALL.iter().flat_map(|format| format.extensions());
    let extensions: Vec<String> = extensions.map(|extension| format!(".{extension}")).collect();
    let extensions = json(extensions.join(",").into());
    let _ = writeln!(
        text,
        "];\n\n/** The extensions of record files, for file inputs. */\n\
         export const recordExtensions = {extensions};",
    );
    check("api/formats.ts", &text);
}

/// `RankCount` as serde writes it: `rank_count`.
pub(super) fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

#[test]
fn the_page_has_the_english_text_of_each_error() {
    let mut text = String::from(
        "// Generated from the declarations of errors by `READYOK_BLESS=1 cargo test -p readyok-server`.\n\
         // Do not edit. The Japanese texts are in `ja.ts`.\n\
         export const errors = {\n",
    );
    let mut keys = HashSet::new();
    for (prefix, texts) in [
        ("error", PositionError::TEXTS),
        ("error", IllegalReason::TEXTS),
        ("error", Defect::TEXTS),
        ("error", Limit::TEXTS),
        ("error", EpdDefect::TEXTS),
        ("error", PatternDefect::TEXTS),
        ("error", DecompressionError::TEXTS),
        ("error", OpeningDefect::TEXTS),
        ("error", PairingError::TEXTS),
        ("error", StoreDefect::TEXTS),
        ("error", LibraryDefect::TEXTS),
        ("error", SprtError::TEXTS),
        ("error", OptionError::TEXTS),
        ("error", EngineFailureKind::TEXTS),
        ("error", ExitDescription::TEXTS),
        ("error", WarningKind::TEXTS),
        ("error", wire::ErrorCode::TEXTS),
        ("detail", EngineFailureDetail::TEXTS),
        ("exit_cause", ExitCause::TEXTS),
        ("operation", FileOperation::TEXTS),
        ("subject", wire::ErrorSubject::TEXTS),
        ("host", wire::OnlineService::TEXTS),
        ("field", Field::TEXTS),
    ] {
        for (name, english) in texts {
            let english = serde_json::to_string(english).expect("a string is serializable");
            let key = format!("{prefix}.{}", snake_case(name));
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "  '{key}': {english},");
            assert!(keys.insert(key), "two errors have the code of {name}");
        }
    }
    for termination in Termination::ALL {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  'termination.{}': {:?},", termination.name(), termination.text());
    }
    text.push_str("} as const;\n");
    check("api/errors.ts", &text);
}
