//! Modules that import each other in a circle are few.
//!
//! The modules of a crate and the paths `crate::`, `super::` and `self::` between them are a graph. A path to a
//! re-export leads to the module that it names. Paths between a module and those that contain it do not count, and
//! neither do modules of tests. A knot is a strongly connected component of several modules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::workspace;

/// Lower it when a knot is untied.
const MAX_KNOTS: usize = 6;

#[test]
#[expect(clippy::print_stdout, reason = "`--nocapture` lists the knots")]
fn modules_form_few_knots() {
    let mut knots = Vec::new();
    for entry in fs::read_dir(workspace().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        knots.extend(Crate::read(&path.join("src")).knots().into_iter().map(|knot| {
            let modules = knot.matches('\n').count();
            format!("{name}:\n{knot}({modules} imports)\n")
        }));
    }
    let count = knots.len();
    println!("{}", knots.concat());
    assert!(count <= MAX_KNOTS, "{count} knots, more than {MAX_KNOTS}:\n{}", knots.concat());
}

#[test]
fn a_circle_is_a_knot_but_not_a_chain_or_a_parent() {
    let knots = |files: &[(&str, &str)]| {
        let modules = files.iter().map(|(path, text)| (module(Path::new(path)), code(text)));
        Crate { modules: modules.collect() }.knots()
    };
    let chain = [("lib.rs", "mod a; mod b;"), ("a.rs", "use crate::b::B;"), ("b.rs", "struct B;")];
    assert_eq!(knots(&chain), [""; 0]);
    let circle = [
        ("lib.rs", "pub use b::B;"),
        ("a.rs", "use crate::{Unknown, B};"),
        ("b/mod.rs", "fn f() { super::a::g() } #[cfg(test)] mod tests { use crate::c::C; }"),
        ("b/inner.rs", "use super::B;"),
        ("c.rs", "use crate::b::B; // use crate::a::A;"),
    ];
    assert_eq!(knots(&circle), ["  a -> b\n  b -> a\n"]);
}

/// The path of a module; empty for the root of the crate.
type Module = Vec<String>;

/// The modules of a crate and their code without comments, strings and tests.
struct Crate {
    modules: BTreeMap<Module, String>,
}

impl Crate {
    fn read(src: &Path) -> Self {
        let mut modules: BTreeMap<Module, String> = BTreeMap::new();
        let mut waiting = vec![src.to_owned()];
        while let Some(path) = waiting.pop() {
            if path.is_dir() {
                waiting.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let module = module(path.strip_prefix(src).unwrap());
                if !module.iter().any(|name| name == "tests") {
                    let text = code(&fs::read_to_string(path).unwrap());
                    modules.entry(module).or_default().push_str(&text);
                }
            }
        }
        Self { modules }
    }

    /// The knots, as lists of their imports.
    fn knots(&self) -> Vec<String> {
        let imports = self.imports();
        let reachable = |from: &Module| {
            let mut seen = BTreeSet::new();
            let mut waiting = vec![from];
            while let Some(module) = waiting.pop() {
                for next in imports.get(module).into_iter().flatten() {
                    if seen.insert(next) {
                        waiting.push(next);
                    }
                }
            }
            seen
        };
        let reached: BTreeMap<_, _> =
            imports.keys().map(|module| (module, reachable(module))).collect();
        let mut found = BTreeMap::<Vec<&Module>, String>::new();
        for (module, others) in &reached {
            let is_mutual =
                |other: &&Module| reached.get(*other).is_some_and(|back| back.contains(module));
            let knot: Vec<&Module> = others.iter().copied().filter(is_mutual).collect();
            for target in imports[*module].iter().filter(|target| knot.contains(target)) {
                let line = found.entry(knot.clone()).or_default();
                // Writing to a `String` cannot fail.
                let _ = writeln!(line, "  {} -> {}", module.join("::"), target.join("::"));
            }
        }
        found.into_values().collect()
    }

    /// The modules that each module imports, without those that contain it or that it contains.
    fn imports(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let mut exported: BTreeMap<(Module, String), Module> = BTreeMap::new();
        for (module, text) in &self.modules {
            for path in PUBLIC_USE.captures_iter(text).flat_map(|found| tree(&found[1])) {
                if let Some((target, Some(item))) = self.resolve(&path, module) {
                    exported.insert((module.clone(), item), target);
                }
            }
        }
        let mut imports = BTreeMap::new();
        for (module, text) in &self.modules {
            let used = USE.captures_iter(text).flat_map(|found| tree(&found[1]));
            let rest = USE.replace_all(text, "");
            let inline = INLINE.find_iter(&rest).map(|found| found.as_str().to_owned());
            let targets: BTreeSet<Module> = used
                .chain(inline)
                .filter_map(|path| {
                    let (mut target, item) = self.resolve(&path, module)?;
                    let mut seen = BTreeSet::new();
                    while let Some(item) = &item
                        && let Some(source) = exported.get(&(target.clone(), item.clone()))
                        && seen.insert(target.clone())
                    {
                        target = source.clone();
                    }
                    (!target.starts_with(module) && !module.starts_with(&target)).then_some(target)
                })
                .collect();
            imports.insert(module.clone(), targets);
        }
        imports
    }

    /// The module of a path and its next name.
    fn resolve(&self, path: &str, from: &Module) -> Option<(Module, Option<String>)> {
        let mut names = path.split("::").peekable();
        let mut module = from.clone();
        match *names.peek()? {
            "crate" => module.clear(),
            "self" | "super" => {}
            name => {
                module.push(name.to_owned());
                if !self.modules.contains_key(&module) {
                    return None;
                }
                module.pop();
            }
        }
        for name in names {
            match name {
                "crate" | "self" => {}
                "super" => drop(module.pop()),
                name => {
                    module.push(name.to_owned());
                    if !self.modules.contains_key(&module) {
                        module.pop();
                        return Some((module, Some(name.to_owned())));
                    }
                }
            }
        }
        Some((module, None))
    }
}

static USE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\buse\s+([^;]+);").unwrap());
static PUBLIC_USE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]+);").unwrap());
static INLINE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:crate|super)(?:::[A-Za-z_]\w*)+").unwrap());
static TEST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"#\[cfg\((?:all\()?test\b").unwrap());
static RENAMED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\s+as\s+\w+").unwrap());
static OMITTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?s)//[^\n]*|'(?:[^'\\]|\\.)'|"(?:[^"\\]|\\.)*""#).unwrap());

/// `record/pgn/mod.rs` is `record::pgn`.
fn module(path: &Path) -> Module {
    let path: PathBuf = path.with_extension("");
    let mut names: Module = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
        names.pop();
    }
    names
}

/// The code of a file, without items that are compiled for tests only.
fn code(text: &str) -> String {
    let text = OMITTED.replace_all(text, "");
    let mut kept = String::new();
    let mut rest = &*text;
    while let Some(found) = TEST.find(rest) {
        kept.push_str(&rest[..found.start()]);
        let mut depth = 0;
        let end = rest[found.end()..].find(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0 && ['}', ';', ','].contains(&letter)
        });
        rest = end.map_or("", |end| &rest[found.end() + end + 1..]);
    }
    kept + rest
}

/// The paths of an import: `a::{b, c::d}` are `a::b` and `a::c::d`.
fn tree(import: &str) -> Vec<String> {
    let import: String = RENAMED.replace_all(import, "").split_whitespace().collect();
    let Some((prefix, list)) = import.split_once('{') else { return vec![import] };
    let list = list.rsplit_once('}').map_or(list, |(list, _)| list);
    let mut depth = 0;
    let parts = list.split(|letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0 && letter == ','
    });
    let parts = parts.filter(|part| !part.is_empty()).flat_map(tree);
    parts.map(|part| format!("{prefix}{part}")).collect()
}
