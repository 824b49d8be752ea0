//! Which engine is meant by what the user wrote.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use readyok::address::{Address, Reach};
use readyok::matches::find_engine;
use readyok_arena::plan::EnginePlan;
use readyok_protocol::Dialect;

use crate::program::Dir;

/// A place with programs: `bin/sf` is in PATH, `own/my engine` is not, and `own/notes` is no
/// program.
fn place() -> Dir {
    let dir = Dir::new();
    for (folder, name, mode) in
        [("bin", "sf", 0o755), ("own", "my engine", 0o755), ("own", "notes", 0o644)]
    {
        fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        let file = dir.write(&format!("{folder}/{name}"), "");
        fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("its mode");
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

#[track_caller]
fn check_program(text: &str, file: &str, arguments: &[&str]) {
    let dir = place();
    let arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
    let file = dir.path().join(file);
    let environment = BTreeMap::new();
    let reach = Reach::Program { file, arguments, directory: None, environment };
    assert_eq!(find(&dir, text), Ok(Address::from(reach)));
}

#[track_caller]
fn check_error(list: &str, text: &str, error: &str) {
    let dir = place();
    if !list.is_empty() {
        dir.write("engines.toml", list);
    }
    assert_eq!(find(&dir, text), Err(error.to_owned()));
}

#[test]
fn finds_programs() {
    check_program("sf", "bin/sf", &[]);
    check_program("DIR/own/my engine", "own/my engine", &[]);
    check_program("sf --uci 'a b'", "bin/sf", &["--uci", "a b"]);
    check_program("'DIR/own/my engine' -x", "own/my engine", &["-x"]);
}

#[test]
fn finds_engines_that_are_no_programs() {
    let dir = place();
    assert_eq!(find(&dir, "narikin").map(|it| it.reach), Ok(Reach::Narikin));
    let reach = find(&dir, "tcp://[::1]:4000").map(|it| it.reach);
    assert_eq!(reach, Ok(Reach::Tcp("[::1]:4000".to_owned())));
}

#[test]
fn finds_what_the_user_has_listed() {
    let dir = place();
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
        reach: Reach::Program {
            file: dir.path().join("own/my engine"),
            arguments: vec!["-x".to_owned()],
            directory: Some(dir.path().join("own")),
            environment: [("EVAL".to_owned(), "a=b".to_owned())].into(),
        },
        dialect: Some(Dialect::Usi),
        options: options.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        timeout: Some("40".parse().expect("a timeout")),
        registration: Some("name A B code 7".parse().expect("a registration")),
    };
    assert_eq!(find(&dir, "narikin"), Ok(listed));
    let far = find(&dir, "far").map(|it| it.reach);
    assert_eq!(far, Ok(Reach::Tcp("example.org:1".to_owned())));
}

#[test]
fn what_a_plan_says_of_an_environment_counts_more_than_the_list() {
    let dir = place();
    let list = "[[engine]]\nname = 'a'\ncommand = 'sf'\nenv = { A = 'list', B = 'list' }\n";
    dir.write("engines.toml", list);
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let env = BTreeMap::from([pair("B", "plan")]);
    let mut plan = EnginePlan { command: "a".to_owned(), env, ..EnginePlan::default() };
    find_engine(&mut plan, &settings(&dir)).expect("it is listed");
    assert_eq!(plan.env, BTreeMap::from([pair("A", "list"), pair("B", "plan")]));
}

#[test]
fn says_where_it_has_looked() {
    check_error(
        "",
        "nobody",
        "no engine `nobody`: it is not `narikin`, not listed in `DIR/engines.toml`, there is no \
         program `nobody` in PATH",
    );
    check_error(
        "",
        "DIR/nowhere/sf -x",
        "no engine `DIR/nowhere/sf -x`: it is not `narikin`, not listed in `DIR/engines.toml`, \
         there is no file `DIR/nowhere/sf -x`, there is no file `DIR/nowhere/sf`",
    );
    check_error(
        "",
        "DIR/own/notes",
        "no engine `DIR/own/notes`: it is not `narikin`, not listed in `DIR/engines.toml`, \
         `DIR/own/notes` is not a program that may be run",
    );
}

#[test]
fn says_what_is_wrong_with_an_address() {
    check_error("", "sf 'x", "no command line `sf 'x`: a quote is not closed");
    for text in ["tcp://", "tcp://host", "tcp://:1", "tcp://host:65536"] {
        let error = format!("no address `{text}`: it has the form tcp://host:port");
        check_error("", text, &error);
    }
}

#[test]
fn says_what_is_wrong_with_the_list() {
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
fn a_variable_has_a_name_that_can_be_one() {
    let list = |env: &str| format!("[[engine]]\nname = 'a'\ncommand = 'sf'\nenv = {env}\n");
    for (env, named) in
        [("{ 'A=B' = '' }", "A=B"), ("{ '' = 'x' }", ""), (r#"{ A = "\u0000" }"#, "A")]
    {
        let error = format!(
            "cannot use the engine list `DIR/engines.toml`: `{named}` cannot be a variable of an \
             environment"
        );
        check_error(&list(env), "a", &error);
    }
}

#[test]
fn reads_the_list_that_the_app_exports() {
    let dir = place();
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/tests/exported.toml");
    let list = fs::read_to_string(list).expect("the list of the app's tests");
    let file = dir.path().join("own/my engine");
    dir.write("engines.toml", &list.replace("/opt/mime", file.to_str().expect("UTF-8")));
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let program = |arguments: &[&str], directory: Option<&str>, environment: &[(&str, &str)]| {
        Reach::Program {
            file: file.clone(),
            arguments: arguments.iter().map(|&it| it.to_owned()).collect(),
            directory: directory.map(PathBuf::from),
            environment: pairs(environment).into_iter().collect(),
        }
    };
    let found = |name: &str| find(&dir, name).expect("it is listed");
    let first = found("Mime <b>1</b>");
    let variables = [("EVAL", "a = \"b\""), ("LANG", "日本")];
    assert_eq!(first.reach, program(&["stale", "a b"], Some("/tmp"), &variables));
    assert_eq!(first.options, pairs(&[("Hash", "64"), ("Style", "Wild")]));
    assert_eq!(first.dialect, None);
    let second = found("Mime <b>1</b> (2)");
    assert_eq!((second.reach, second.options), (program(&["usi"], None, &[]), Vec::new()));
    assert_eq!(second.dialect, Some(Dialect::Usi));
    assert_eq!(found("Far").reach, Reach::Tcp("127.0.0.1:1".to_owned()));
}

#[test]
fn a_list_that_is_no_text_is_an_error() {
    let dir = place();
    fs::write(dir.path().join("engines.toml"), [0xff]).expect("a file");
    assert!(find(&dir, "sf").is_err());
}

#[test]
fn the_settings_are_where_the_user_has_them() {
    let path = |set: &[(&str, &str)]| {
        let env = |name: &str| {
            let found = set.iter().find(|(it, _)| *it == name);
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
fn a_timeout_of_the_list_is_that_of_a_match_too() {
    let dir = place();
    let list = "[[engine]]\nname = 'a'\ncommand = 'sf'\ntimeout = 0.5\nregister = 'later'\n";
    dir.write("engines.toml", list);
    let mut plan = EnginePlan { command: "a".to_owned(), ..EnginePlan::default() };
    find_engine(&mut plan, &settings(&dir)).expect("it is listed");
    let ms = |it: Option<std::num::NonZeroU64>| it.map(std::num::NonZeroU64::get);
    assert_eq!((ms(plan.patience.hello_ms), ms(plan.patience.ready_ms)), (Some(500), Some(500)));
}

#[test]
fn a_list_with_an_impossible_timeout_or_registration_is_refused() {
    for (line, error) in [
        ("timeout = 0", "a timeout is a number of seconds"),
        ("timeout = -1", "a timeout is a number of seconds"),
        ("timeout = nan", "a timeout is a number of seconds"),
        ("timeout = 1e9", "a timeout is a number of seconds"),
        ("register = 'now'", "a registration is `later`, or has a name and a code"),
        ("register = {}", "a registration is `later`, or has a name and a code"),
        ("register = { name = \"a\\nquit\" }", "a registration is `later`"),
    ] {
        let dir = place();
        let list = format!("[[engine]]\nname = 'a'\ncommand = 'sf'\n{line}\n");
        dir.write("engines.toml", &list);
        let refused = find(&dir, "a").expect_err(line);
        assert!(refused.contains(error), "{line}: {refused}");
    }
}
