//! The layers of the features.

use std::collections::BTreeMap;
use std::path::Path;

const LAYERS: [&[&str]; 6] = [
    &["saving", "long_searches"],
    &["engines", "checks", "discovery", "searches", "settings", "online"],
    &["games", "players"],
    &["analyses", "hints", "reports", "training"],
    &[
        "open_games",
        "drafts",
        "library",
        "collections",
        "references",
        "jobs",
        "matches",
        "studies",
        "repertoires",
        "training_sets",
    ],
    &["processes", "router"],
];

/// Notifications that go up: the analysis of a game follows its cursor, and a game learns that it was saved.
const NOTIFICATIONS: [&str; 2] = ["follow_cursor", "on_saved"];

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The identifier at the start of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The modules of features with their sources, without the tests in them.
fn sources() -> BTreeMap<String, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/app");
    let files = directory.read_dir().expect("the features are there");
    let source = |path: &Path| {
        let text = std::fs::read_to_string(path).expect("it can be read");
        text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
    };
    let paths = files.map(|file| file.expect("it can be listed").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let sources = paths.map(|path| {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a file of a module");
        (name.to_owned(), source(&path))
    });
    sources.filter(|(name, _)| name != "tests").collect()
}

#[test]
fn features_use_their_own_and_lower_layers() {
    let sources = sources();
    let mut defined: BTreeMap<&str, usize> = BTreeMap::new();
    for (module, source) in &sources {
        let layer = layer_of(module).unwrap_or_else(|| panic!("`{module}` has no layer"));
        // Methods, which are indented. A name of several modules counts for the lowest.
        for method in source.split("\n    ").filter_map(|line| line.split_once("fn ")) {
            let (before, rest) = method;
            if before.starts_with("pub(super) ") || before.starts_with("pub(crate) ") {
                let known = defined.entry(identifier(rest)).or_insert(layer);
                *known = layer.min(*known);
            }
        }
    }
    let mut violations = Vec::new();
    for (module, source) in &sources {
        let own = layer_of(module).expect("it was found before");
        let imports = source.split("use super::").skip(1).map(identifier);
        let imported = imports.filter_map(|name| Some((name, layer_of(name)?)));
        let calls = ["self.", "state.", "app."].into_iter().flat_map(|receiver| {
            source.split(receiver).skip(1).filter_map(|rest| {
                let name = identifier(rest);
                rest[name.len()..].starts_with('(').then_some(name)
            })
        });
        let called = calls.filter_map(|name| Some((name, *defined.get(name)?)));
        let up = imported
            .chain(called)
            .filter(|(name, layer)| own < *layer && !NOTIFICATIONS.contains(name));
        violations.extend(up.map(|(name, layer)| format!("{module} ({own}) → {name} ({layer})")));
    }
    assert!(violations.is_empty(), "{violations:#?}");
    assert!(100 < defined.len(), "the methods are found: {}", defined.len());
}
