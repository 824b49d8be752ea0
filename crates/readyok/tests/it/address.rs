//! Resolution of engine addresses, and the engine list.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use readyok::address::Address;
use readyok::matches::find_engine;
use readyok_arena::plan::EnginePlan;
use readyok_client::{EngineProgram, EngineSource};
use readyok_protocol::Dialect;

use crate::program::{Dir, set_mode};

/// A directory with the program `bin/sf` in PATH, the program `own/my engine`, and the file `own/notes`.
fn sample_dir() -> Dir {
    let dir = Dir::new();
    for (sub, name, mode) in
        [("bin", "sf", 0o755), ("own", "my engine", 0o755), ("own", "notes", 0o644)]
    {
        fs::create_dir_all(dir.path().join(sub)).expect("a directory");
        let file = dir.write(&format!("{sub}/{name}"), "");
        set_mode(&file, mode);
    }
    dir
}

fn settings(dir: &Dir) -> impl Fn(&str) -> Option<OsString> {
    |name| match name {
        "PATH" => Some(dir.path().join("bin").into_os_string()),
        "READYOK_CONFIG_DIR" => Some(OsString::from(dir.path())),
        _ => None,
    }
}

fn find(dir: &Dir, text: &str) -> Result<Address, String> {
    Address::find(&text.replace("DIR", dir.path().to_str().expect("UTF-8")), &settings(dir))
        .map_err(|error| error.to_string().replace(dir.path().to_str().expect("UTF-8"), "DIR"))
}

/// Whether the program starts next to its executable. Otherwise it keeps the current directory.
#[track_caller]
fn check_program(text: &str, file: &str, arguments: &[&str], is_path: bool) {
    let dir = sample_dir();
    let here = std::env::current_dir().expect("there is one");
    let directory = if is_path { None } else { Some(here) };
    let program = EngineProgram::new(dir.path().join(file), arguments);
    let source = EngineSource::Program(EngineProgram { dir: directory, ..program });
    assert_eq!(find(&dir, text), Ok(Address::from(source)));
}

#[track_caller]
fn check_error(list: &str, text: &str, error: &str) {
    let dir = sample_dir();
    if !list.is_empty() {
        dir.write("engines.toml", list);
    }
    assert_eq!(find(&dir, text), Err(error.to_owned()));
}

#[test]
fn finds_programs() {
    check_program("sf", "bin/sf", &[], false);
    check_program("DIR/own/my engine", "own/my engine", &[], true);
    check_program("sf --uci 'a b'", "bin/sf", &["--uci", "a b"], false);
    check_program("'DIR/own/my engine' -x", "own/my engine", &["-x"], true);
}

#[test]
fn finds_built_in_and_remote_engines() {
    let dir = sample_dir();
    assert_eq!(find(&dir, "narikin").map(|engine| engine.source), Ok(EngineSource::BuiltIn));
    let source = find(&dir, "tcp://[::1]:4000").map(|engine| engine.source);
    assert_eq!(source, Ok(EngineSource::Tcp { address: "[::1]:4000".to_owned() }));
}

#[test]
fn finds_listed_engines() {
    let dir = sample_dir();
    dir.write(
        "engines.toml",
        r#"
        [[engine]]
        name = "narikin"
        command = "own/my engine"
        args = ["-x"]
        cwd = "own"
        env = { EVAL = "a=b" }
        protocol = "usi"
        options = { Threads = 2, Ponder = false, EvalDir = "a b" }
        timeout = 40
        register = { name = "A B", code = "7" }

        [[engine]]
        name = "far"
        command = "tcp://example.org:1"
        "#,
    );
    let options = [("EvalDir", "a b"), ("Ponder", "false"), ("Threads", "2")];
    let listed = Address {
        source: EngineSource::Program(EngineProgram {
            path: dir.path().join("own/my engine"),
            args: vec!["-x".to_owned()],
            dir: Some(dir.path().join("own")),
            env: [("EVAL".to_owned(), "a=b".to_owned())].into(),
        }),
        dialect: Some(Dialect::Usi),
        options: options.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        timeout: Some("40".parse().expect("a timeout")),
        registration: Some("name A B code 7".parse().expect("a registration")),
    };
    assert_eq!(find(&dir, "narikin"), Ok(listed));
    let far = find(&dir, "far").map(|engine| engine.source);
    assert_eq!(far, Ok(EngineSource::Tcp { address: "example.org:1".to_owned() }));
}

#[test]
fn plan_environment_overrides_the_list() {
    let dir = sample_dir();
    let list = "[[engine]]\nname = 'a'\ncommand = 'sf'\nenv = { A = 'list', B = 'list' }\n";
    dir.write("engines.toml", list);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let env = BTreeMap::from([pair("B", "plan")]);
    let mut plan = EnginePlan { command: "a".to_owned(), env, ..EnginePlan::default() };
    find_engine(&mut plan, &settings(&dir)).expect("the engine is listed");
    assert_eq!(plan.env, BTreeMap::from([pair("A", "list"), pair("B", "plan")]));
}

#[test]
fn error_lists_all_candidates() {
    check_error(
        "",
        "unknown",
        "engine `unknown` not found: not `narikin`, not listed in `DIR/engines.toml`, no program \
         `unknown` in PATH",
    );
    check_error(
        "",
        "DIR/nowhere/sf -x",
        "engine `DIR/nowhere/sf -x` not found: not `narikin`, not listed in `DIR/engines.toml`, \
         file `DIR/nowhere/sf -x` does not exist, file `DIR/nowhere/sf` does not exist",
    );
    check_error(
        "",
        "DIR/own/notes",
        "engine `DIR/own/notes` not found: not `narikin`, not listed in `DIR/engines.toml`, \
         `DIR/own/notes` is not an executable file",
    );
}

#[test]
fn rejects_malformed_addresses() {
    check_error("", "sf 'x", "invalid command line `sf 'x`: a quote is not closed");
    for text in ["tcp://", "tcp://host", "tcp://:1", "tcp://host:65536"] {
        let error = format!("invalid address `{text}`: expected tcp://host:port");
        check_error("", text, &error);
    }
}

#[test]
fn rejects_invalid_lists() {
    let twice = "[[engine]]\nname = 'a'\ncommand = 'sf'\n".repeat(2);
    check_error(
        &twice,
        "sf",
        "cannot use the engine list `DIR/engines.toml`: two engines have the name `a`",
    );
    check_error(
        "[[engine]]\nname = 'a'\ncomand = 'sf'\n",
        "sf",
        "cannot use the engine list `DIR/engines.toml`: line 3: unknown field `comand`, expected one \
         of `name`, `command`, `args`, `cwd`, `env`, `protocol`, `options`, `timeout`, `register`",
    );
}

#[test]
fn rejects_invalid_environment_variables() {
    let list = |env: &str| format!("[[engine]]\nname = 'a'\ncommand = 'sf'\nenv = {env}\n");
    for (env, name) in
        [("{ 'A=B' = '' }", "A=B"), ("{ '' = 'x' }", ""), (r#"{ A = "\u0000" }"#, "A")]
    {
        let error = format!(
            "cannot use the engine list `DIR/engines.toml`: invalid environment variable `{name}`"
        );
        check_error(&list(env), "a", &error);
    }
}

#[test]
fn reads_the_list_exported_by_the_app() {
    let dir = sample_dir();
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/tests/exported.toml");
    let list = fs::read_to_string(list).expect("the list");
    let file = dir.path().join("own/my engine");
    dir.write("engines.toml", &list.replace("/opt/mime", file.to_str().expect("UTF-8")));
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let program = |arguments: &[&str], directory: Option<&str>, environment: &[(&str, &str)]| {
        EngineSource::Program(EngineProgram {
            dir: directory.map(PathBuf::from),
            env: pairs(environment).into_iter().collect(),
            ..EngineProgram::new(&file, arguments)
        })
    };
    let found = |name: &str| find(&dir, name).expect("the engine is listed");
    let first = found("Mime <b>1</b>");
    let variables = [("EVAL", "a = \"b\""), ("LANG", "日本")];
    assert_eq!(first.source, program(&["stale", "a b"], Some("/tmp"), &variables));
    assert_eq!(first.options, pairs(&[("Hash", "64"), ("Style", "Wild")]));
    assert_eq!(first.dialect, None);
    let second = found("Mime <b>1</b> (2)");
    assert_eq!((second.source, second.options), (program(&["usi"], None, &[]), Vec::new()));
    assert_eq!(second.dialect, Some(Dialect::Usi));
    assert_eq!(found("Far").source, EngineSource::Tcp { address: "127.0.0.1:1".to_owned() });
}

#[test]
fn rejects_a_list_that_is_not_utf8() {
    let dir = sample_dir();
    fs::write(dir.path().join("engines.toml"), [0xff]).expect("a file");
    assert!(find(&dir, "sf").is_err());
}

#[test]
fn finds_the_configuration_directory() {
    let path = |set: &[(&str, &str)]| {
        let env = |name: &str| {
            let found = set.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| OsString::from(value))
        };
        readyok::dirs::config(&env)
    };
    let xdg = ("XDG_CONFIG_HOME", "/xdg");
    let home = ("HOME", "/home/a");
    assert_eq!(path(&[("READYOK_CONFIG_DIR", "own"), xdg, home]), Some(PathBuf::from("own")));
    assert_eq!(path(&[xdg, home]), Some(PathBuf::from("/xdg/readyok")));
    assert_eq!(path(&[home]), Some(PathBuf::from("/home/a/.config/readyok")));
    assert_eq!(path(&[("XDG_CONFIG_HOME", "relative")]), None);
}

#[test]
fn match_uses_the_timeout_of_the_list() {
    let dir = sample_dir();
    let list = "[[engine]]\nname = 'a'\ncommand = 'sf'\ntimeout = 0.5\nregister = 'later'\n";
    dir.write("engines.toml", list);
    let mut plan = EnginePlan { command: "a".to_owned(), ..EnginePlan::default() };
    find_engine(&mut plan, &settings(&dir)).expect("the engine is listed");
    let ms = |value: Option<std::num::NonZeroU64>| value.map(std::num::NonZeroU64::get);
    assert_eq!(
        (ms(plan.timeouts.handshake_ms), ms(plan.timeouts.ready_ms)),
        (Some(500), Some(500))
    );
}

#[test]
fn rejects_invalid_timeouts_and_registrations() {
    for (line, error) in [
        ("timeout = 0", "a timeout is a number of seconds"),
        ("timeout = -1", "a timeout is a number of seconds"),
        ("timeout = nan", "a timeout is a number of seconds"),
        ("timeout = 1e9", "a timeout is a number of seconds"),
        ("register = 'now'", "a registration is `later`, or has a name and a code"),
        ("register = {}", "a registration is `later`, or has a name and a code"),
        ("register = { name = \"a\\nquit\" }", "a registration is `later`"),
    ] {
        let dir = sample_dir();
        let list = format!("[[engine]]\nname = 'a'\ncommand = 'sf'\n{line}\n");
        dir.write("engines.toml", &list);
        let failure = find(&dir, "a").expect_err(line);
        assert!(failure.contains(error), "{line}: {failure}");
    }
}
