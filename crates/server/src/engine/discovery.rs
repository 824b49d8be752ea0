//! Engines that are installed on this machine: candidates from directories, identified by their handshake.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::stream::iter;
use futures_util::{Stream, StreamExt};
use readyok_client::unstable::is_executable;
use readyok_client::{
    Builder, Dialect, EngineError, EngineFailureKind, Guard, Timeouts, WaitLimit,
};
use readyok_protocol::translation::Translation;
use readyok_protocol::{OptionKind, OptionSet};

use super::machine::{machine, recommended};
use super::{options, printable};
use crate::errors::engine_error;
use crate::wire::{EngineProgram, ErrorInfo, EvaluationFile, Protocol};

/// Maximum number of candidates that are started concurrently.
const CONCURRENCY: usize = 4;
/// Maximum number of candidates.
const MAX_CANDIDATES: usize = 64;
/// Maximum number of entries of all directories below an engine directory.
const MAX_ENTRIES: usize = 2000;
/// Maximum depth of a program below an engine directory.
const MAX_DEPTH: usize = 3;
/// Maximum output that is read from a candidate, in bytes per second.
const RATE: u32 = 1 << 20;
/// For the whole handshake, in both protocols. A known engine, which may read large files first, has twice as much for
/// its own protocol.
pub(crate) const LIMIT: Duration = Duration::from_secs(5);

/// Beginnings of the names of engines that speak UCI. Other programs of PATH are not started.
const UCI_NAMES: &[&str] = &[
    "alexandria",
    "arasan",
    "berserk",
    "blunder",
    "brainlearn",
    "caissa",
    "cheng",
    "clover",
    "critter",
    "ct800",
    "defenchess",
    "demolito",
    "dragon",
    "ethereal",
    "fairy-stockfish",
    "fairystockfish",
    "fruit",
    "glaurung",
    "gnuchess",
    "halogen",
    "houdini",
    "igel",
    "integral",
    "koivisto",
    "komodo",
    "laser",
    "lc0",
    "minic",
    "nemorino",
    "obsidian",
    "patricia",
    "pedone",
    "plentychess",
    "reckless",
    "rodent",
    "rubichess",
    "rybka",
    "seer",
    "senpai",
    "shashchess",
    "sjaakii",
    "slowchess",
    "smallbrain",
    "stash",
    "stockfish",
    "stormphrax",
    "texel",
    "toga",
    "vajolet",
    "viridithas",
    "wasp",
    "weiss",
    "winter",
    "xiphos",
];

/// Beginnings of the names of engines that speak USI only.
const USI_NAMES: &[&str] = &[
    "apery",
    "dlshogi",
    "fukauraou",
    "gikou",
    "gpsfish",
    "gpsusi",
    "hakubishin",
    "hao",
    "kristallweizen",
    "lesserkai",
    "suisho",
    "tanuki",
    "tjshogi",
    "yaneuraou",
];

/// A part of the names of many shogi engines, which are editions of YaneuraOu: `Li-YaneuraOu`.
const USI_PART: &str = "yaneuraou";

/// Front ends that have such a name, and speak another protocol.
const FRONT_ENDS: &[&str] = &["gnuchessx"];

/// Engines that speak UCI only with an argument.
const ARGUMENTS: &[(&str, &str)] = &[("gnuchess", "--uci")];

/// The directories that are searched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Directories of programs of any kind: only engines known by name are candidates.
    pub(crate) programs: Vec<PathBuf>,
    /// Directories of engines, with their subdirectories.
    pub(crate) engines: Vec<PathBuf>,
    /// Engine lists of other programs.
    pub(crate) lists: Vec<PathBuf>,
}

impl Places {
    /// PATH, and the usual directories of package managers and graphical interfaces.
    pub(crate) fn of_machine() -> Self {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut programs: Vec<PathBuf> = env::split_paths(&path).collect();
        let fixed = [
            "/usr/games",
            "/usr/local/games",
            "/usr/local/bin",
            "/opt/homebrew/bin",
            "/opt/local/bin",
            "/snap/bin",
            "/var/lib/flatpak/exports/bin",
            "/run/current-system/sw/bin",
            r"C:\ProgramData\chocolatey\bin",
        ];
        programs.extend(fixed.map(PathBuf::from));
        let mut places = Self { programs, ..Self::default() };
        let variable =
            |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let Some(home) = variable("HOME").or_else(|| variable("USERPROFILE")) else {
            return places;
        };
        let below = |names: &[&str]| names.iter().map(|name| home.join(name)).collect::<Vec<_>>();
        places.programs.extend(below(&[
            ".local/bin",
            "bin",
            ".cargo/bin",
            ".nix-profile/bin",
            "scoop/shims",
        ]));
        places.engines = below(&[
            "engines",
            "Engines",
            "Arena/Engines",
            "YaneuraOu",
            "shogi",
            "Shogi",
            ".local/share/pychess/engines",
        ]);
        places
            .engines
            .extend(["/opt/engines", r"C:\Program Files (x86)\Arena\Engines"].map(PathBuf::from));
        let config = variable("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let data = variable("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
        let mut bases = vec![config, data, home.join("Library/Application Support")];
        bases.extend(variable("APPDATA"));
        bases.extend(variable("LOCALAPPDATA"));
        for base in bases {
            places.engines.push(base.join("org.encroissant.app/engines"));
            places.lists.extend([
                base.join("cutechess/engines.json"),
                base.join("org.encroissant.app/engines/engines.json"),
                base.join("electron-shogi/usi_engine.json"),
            ]);
        }
        places
    }
}

/// A program that may be an engine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) program: EngineProgram,
    /// Its protocol by its name. Only unknown programs have to answer `uci` and `usi` within the limit.
    pub(crate) dialect: Option<Dialect>,
}

/// The identity of a candidate, with what it needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Identified {
    pub(crate) name: String,
    pub(crate) author: String,
    pub(crate) protocol: Protocol,
    /// Option values that suit the machine and its files.
    pub(crate) recommended: BTreeMap<String, String>,
    pub(crate) evaluation: Option<EvaluationFile>,
}

/// Why a candidate is not an engine that can be used.
#[derive(Debug)]
pub(crate) enum DiscoveryError {
    /// It did not start, or its handshake failed.
    Engine(EngineError),
    /// The time limit was exceeded.
    Timeout,
}

impl From<DiscoveryError> for ErrorInfo {
    fn from(error: DiscoveryError) -> Self {
        match error {
            DiscoveryError::Engine(error) => engine_error(&error),
            DiscoveryError::Timeout => EngineFailureKind::HandshakeTimeout.into(),
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase()
}

/// The protocol of an engine that is known by its name.
fn known_dialect(path: &Path) -> Option<Dialect> {
    let stem = stem(path);
    if FRONT_ENDS.contains(&stem.as_str()) {
        return None;
    }
    let is_of = |names: &[&str]| names.iter().any(|name| stem.starts_with(name));
    [(Dialect::Uci, UCI_NAMES), (Dialect::Usi, USI_NAMES)]
        .into_iter()
        .find_map(|(dialect, names)| is_of(names).then_some(dialect))
        .or_else(|| stem.contains(USI_PART).then_some(Dialect::Usi))
}

/// Whether the file is a native program, by its first bytes: scripts of unknown purpose are not started.
fn is_native(path: &Path) -> bool {
    let mut magic = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok()
        && (magic == *b"\x7fELF"
            || magic.starts_with(b"MZ")
            || matches!(
                u32::from_le_bytes(magic),
                0xFEED_FACE | 0xFEED_FACF | 0xBEBA_FECA | 0xCAFE_BABE
            ))
}

/// Lists the programs that may be engines. Reads directories.
pub(crate) fn candidates(places: &Places) -> Vec<Candidate> {
    let mut found = Found::default();
    for directory in &places.programs {
        for path in sorted(directory) {
            if known_dialect(&path).is_some() && is_executable(&path) {
                found.add(path);
            }
        }
    }
    let mut entries = MAX_ENTRIES;
    for directory in &places.engines {
        found.add_below(directory, MAX_DEPTH, &mut entries);
    }
    found.candidates
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[derive(Default)]
struct Found {
    /// Real paths of the candidates: directories have links to programs of others.
    seen: BTreeSet<PathBuf>,
    candidates: Vec<Candidate>,
}

impl Found {
    fn add(&mut self, path: PathBuf) {
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        if MAX_CANDIDATES <= self.candidates.len() || !self.seen.insert(real) {
            return;
        }
        let stem = stem(&path);
        let argument = ARGUMENTS.iter().find(|(name, _)| *name == stem);
        let dialect = known_dialect(&path);
        let program = EngineProgram::new(path, argument.map(|(_, argument)| *argument));
        self.candidates.push(Candidate { program, dialect });
    }

    fn add_below(&mut self, directory: &Path, depth: usize, entries: &mut usize) {
        for path in sorted(directory) {
            if *entries == 0 {
                return;
            }
            *entries -= 1;
            let is_link = path.is_symlink();
            if path.is_dir() {
                // Links may lead to a parent.
                if 0 < depth && !is_link {
                    self.add_below(&path, depth - 1, entries);
                }
            } else if is_executable(&path) && (known_dialect(&path).is_some() || is_native(&path)) {
                let is_library = matches!(
                    path.extension().and_then(OsStr::to_str),
                    Some("dll" | "so" | "dylib" | "nnue" | "bin")
                );
                if !is_library {
                    self.add(path);
                }
            }
        }
    }
}

/// Identifies candidates by their handshakes, a few at a time, in the order of their ends. A process that exceeds the
/// limit is killed.
pub(crate) fn identify_each(
    candidates: Vec<Candidate>,
    guard: Option<Guard>,
    limit: Duration,
) -> impl Stream<Item = (Candidate, Result<Identified, DiscoveryError>)> {
    let identified = iter(candidates).map(move |candidate| {
        let guard = guard.clone();
        async move {
            let limit = if candidate.dialect.is_some() { limit * 2 } else { limit };
            let identified = identify(&candidate, guard.as_ref(), limit);
            let result = tokio::time::timeout(limit, identified).await;
            let result = result.unwrap_or(Err(DiscoveryError::Timeout));
            (candidate, result)
        }
    });
    identified.buffer_unordered(CONCURRENCY)
}

async fn identify(
    candidate: &Candidate,
    guard: Option<&Guard>,
    limit: Duration,
) -> Result<Identified, DiscoveryError> {
    let timeouts = Timeouts {
        handshake: WaitLimit::fixed(if candidate.dialect.is_some() { limit } else { limit / 2 }),
        quit: WaitLimit::fixed(limit / 10),
        ..Timeouts::default()
    };
    let mut builder = Builder::default().timeouts(timeouts).read_rate(RATE);
    if let Some(guard) = guard {
        builder = builder.guard(guard);
    }
    if let Some(dialect) = candidate.dialect {
        builder = builder.dialect(dialect);
    }
    let engine = builder.spawn_async(candidate.program.command()).await;
    let engine = engine.map_err(DiscoveryError::Engine)?;
    let mut identified = Identified {
        name: engine.identity().name.clone(),
        author: engine.identity().author.clone(),
        protocol: engine.dialect(),
        recommended: recommended(
            &options(engine.options(), engine.dialect(), &Translation::default()),
            machine(),
        ),
        evaluation: None,
    };
    if let Some(wanted) = evaluation_wanted(&candidate.program, engine.options()) {
        let found = tokio::task::spawn_blocking(move || find_evaluation(&wanted)).await;
        if let Ok((file, directory)) = found {
            identified.evaluation = Some(file);
            identified.recommended.extend(directory.map(|path| (EVAL_DIR.to_owned(), path)));
        }
    }
    // The handshake is sufficient.
    let _ = engine.quit_async().await;
    Ok(identified)
}

/// The option of YaneuraOu and its relatives for the directory of the evaluation.
const EVAL_DIR: &str = "EvalDir";
/// The files of evaluations: NNUE, and KPPT.
const EVALUATIONS: &[&str] = &["nn.bin", "KPP_synthesized.bin"];

/// The evaluation that a program reads before its first search.
struct EvaluationWanted {
    /// Where the program reads it.
    directory: PathBuf,
    /// Where users put it, with the same or another program.
    others: Vec<PathBuf>,
    files: Vec<String>,
}

fn evaluation_wanted(program: &EngineProgram, declared: &OptionSet) -> Option<EvaluationWanted> {
    let text = |name: &str| match &declared.find(name)?.kind {
        OptionKind::String { default } | OptionKind::Filename { default } => default.as_deref(),
        OptionKind::Check { .. }
        | OptionKind::Spin { .. }
        | OptionKind::Combo { .. }
        | OptionKind::Button
        | OptionKind::Other { .. } => None,
    };
    let directory = text(EVAL_DIR).filter(|name| !name.is_empty() && *name != "<empty>")?;
    let base = program.dir.as_deref().or_else(|| program.path.parent())?;
    let files = match text("DNN_Model1").or_else(|| text("EvalFile")) {
        Some(file) => vec![file.to_owned()],
        None => EVALUATIONS.iter().map(|file| (*file).to_owned()).collect(),
    };
    let above = base.ancestors().skip(1).take(2).map(|directory| directory.join("eval"));
    let others = [base.join("eval"), base.to_owned()].into_iter().chain(above).collect();
    Some(EvaluationWanted { directory: base.join(directory), others, files })
}

/// The evaluation of a program, and the value of [`EVAL_DIR`] if it is not where the program expects it.
fn find_evaluation(wanted: &EvaluationWanted) -> (EvaluationFile, Option<String>) {
    let in_directory = |directory: &PathBuf| {
        wanted.files.iter().map(|file| directory.join(file)).find(|path| path.is_file())
    };
    let file =
        |path: PathBuf, exists| EvaluationFile { path: printable(&path.to_string_lossy()), exists };
    if let Some(path) = in_directory(&wanted.directory) {
        return (file(path, true), None);
    }
    // Paths that are not Unicode cannot be values.
    let other = wanted.others.iter().find_map(|directory| {
        let path = in_directory(directory)?;
        Some((path, directory.to_str()?.to_owned()))
    });
    if let Some((path, directory)) = other {
        return (file(path, true), Some(directory));
    }
    let expected = wanted.files.first().map_or("", |file| file);
    (file(wanted.directory.join(expected), false), None)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[expect(clippy::expect_used, reason = "a failure of the test's preparation")]
    fn program(directory: &Path, name: &str, script: &str) -> PathBuf {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("it is made");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("it is written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is changed");
        path
    }

    fn names(found: &[Candidate]) -> Vec<&str> {
        found
            .iter()
            .filter_map(|one| one.program.path.file_name().and_then(OsStr::to_str))
            .collect()
    }

    #[test]
    fn candidates_are_known_names_and_native_programs() {
        let root = tempfile::tempdir().expect("a directory");
        let (bin, engines) = (root.path().join("bin"), root.path().join("engines"));
        program(&bin, "stockfish", "");
        program(&bin, "Fairy-Stockfish_x86-64", "");
        program(&bin, "rm", "");
        fs::write(bin.join("lc0"), "not executable").expect("it is written");
        symlink(bin.join("stockfish"), bin.join("stockfish-17")).expect("it is linked");
        program(&bin, "gnuchess", "");
        // The programs of Debian packages: gpsshogi speaks no protocol of ours, gnuchessx that of XBoard.
        for name in ["gpsshogi", "gpsusi", "gnuchessx", "sjaakii"] {
            program(&bin, name, "");
        }
        program(&engines, "deep/er/unknown.sh", "");
        program(&engines, "deep/er/berserk-13", "");
        fs::write(program(&engines, "own/tournament", ""), b"\x7fELF...").expect("it is written");
        fs::write(program(&engines, "own/network.so", ""), b"\x7fELF...").expect("it is written");
        symlink(&engines, engines.join("own/loop")).expect("it is linked");
        let places = Places { programs: vec![bin], engines: vec![engines], lists: Vec::new() };
        let found = candidates(&places);
        assert_eq!(
            names(&found),
            [
                "Fairy-Stockfish_x86-64",
                "gnuchess",
                "gpsusi",
                "sjaakii",
                "stockfish",
                "berserk-13",
                "tournament"
            ]
        );
        assert_eq!(found[1].program.args, ["--uci"]);
        // gpsusi answers `usiok` to `uci`.
        let dialect = |name| {
            let named = |candidate: &&Candidate| {
                candidate.program.path.file_name() == Some(OsStr::new(name))
            };
            found.iter().find(named).and_then(|found| found.dialect)
        };
        assert_eq!(dialect("gpsusi"), Some(Dialect::Usi));
        assert_eq!(dialect("sjaakii"), Some(Dialect::Uci));
        assert_eq!(dialect("tournament"), None);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn candidates_are_identified_within_the_limit() {
        let root = tempfile::tempdir().expect("a directory");
        let answering = |hello: &str, name: &str, ok: &str| {
            format!(
                "while read line; do case $line in {hello}) echo id name {name}; echo id author A; \
                 echo {ok};; quit) exit;; esac; done"
            )
        };
        let pid = root.path().join("pid");
        let scripts = [
            ("chess", answering("uci", "Chess 1", "uciok")),
            ("shogi", answering("usi", "Shogi 2", "usiok")),
            ("exits", "exit 3".to_owned()),
        ];
        let silent = [("silent", format!("echo $$ > {}; exec sleep 60", pid.display()))];
        let candidate = |(name, script): &(&str, String)| Candidate {
            program: EngineProgram::new(program(root.path(), name, script), [""; 0]),
            dialect: None,
        };
        let identify = |scripts: &[(&str, String)], seconds| {
            let candidates = scripts.iter().map(candidate).collect();
            let found = identify_each(candidates, None, Duration::from_secs(seconds));
            // In the order of the names.
            found
                .map(|(candidate, result)| (candidate.program.path, result))
                .collect::<BTreeMap<_, _>>()
        };
        // A busy host may start programs slowly.
        let (found, silent) = tokio::join!(identify(&scripts, 12), identify(&silent, 4));
        let results: Vec<_> = found.into_values().chain(silent.into_values()).collect();
        let [chess, exits, shogi, silent] = <[_; 4]>::try_from(results).expect("four results");
        let chess = chess.expect("it is an engine");
        assert_eq!((chess.name.as_str(), chess.protocol), ("Chess 1", Protocol::Uci));
        let shogi = shogi.expect("it is an engine");
        assert_eq!((shogi.name.as_str(), shogi.protocol), ("Shogi 2", Protocol::Usi));
        let error = ErrorInfo::from(silent.expect_err("it is silent"));
        assert_eq!(error.code, EngineFailureKind::HandshakeTimeout.into());
        assert!(exits.is_err());
        // It was killed.
        let pid: u32 = fs::read_to_string(&pid).expect("it ran").trim().parse().expect("a number");
        for _ in 0..100 {
            if !Path::new(&format!("/proc/{pid}")).exists() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the silent program still runs");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn evaluation_files_of_shogi_engines_are_found() {
        let script = "while read line; do case $line in usi) echo id name YaneuraOu; echo \"option name Threads type spin \
                      default 4 min 1 max 1\"; echo \"option name EvalDir type string default eval\"; echo usiok;; \
                      quit) exit;; esac; done";
        let root = tempfile::tempdir().expect("a directory");
        let identified = async |name: &str| {
            let path = program(root.path(), name, script);
            let candidates = candidates(&Places {
                engines: path.parent().map(Path::to_path_buf).into_iter().collect(),
                ..Places::default()
            });
            let mut found = identify_each(candidates, None, Duration::from_secs(12));
            let mut found = std::pin::pin!(&mut found);
            let (_, result) = found.next().await.expect("a result");
            result.expect("it is an engine")
        };
        let write = |name: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("it is made");
            fs::write(&path, "").expect("it is written");
            path.to_str().expect("a text").to_owned()
        };
        let missing = identified("a/Suisho5-YaneuraOu").await;
        let expected = root.path().join("a/eval/nn.bin");
        let evaluation = missing.evaluation.expect("it needs one");
        assert_eq!(
            (evaluation.path.as_str(), evaluation.exists),
            (expected.to_str().expect("a text"), false)
        );
        // Its value of Threads is within the range of the engine.
        assert_eq!(missing.recommended, BTreeMap::from([("Threads".to_owned(), "1".to_owned())]));

        let usual = write("b/eval/nn.bin");
        let found = identified("b/Li-YaneuraOu").await;
        assert_eq!(found.evaluation, Some(EvaluationFile { path: usual, exists: true }));
        assert!(!found.recommended.contains_key("EvalDir"));

        // Next to the program.
        let other = write("c/nn.bin");
        let found = identified("c/yaneuraou").await;
        assert_eq!(found.evaluation, Some(EvaluationFile { path: other, exists: true }));
        let directory = root.path().join("c");
        assert_eq!(found.recommended.get("EvalDir").map(String::as_str), directory.to_str());
    }
}
