//! `readyok options` with a scripted engine.

use serde_json::{Value, json};

use crate::program::{Dir, Output, readyok, run, scripted_engine};

const SCRIPT: &str = "\
> uci
< id name Example 1.0
< id author A. Author
< option name Hash type spin default 16 min 1 max 64
< option name Style type combo default Solid var Solid var Risky
< option name OwnBook type check default false
< option name Clear Hash type button
< option name Book File type string default <empty>
< option name Bad\u{9b}2J type slider default 3
< uciok
> quit";

/// Lists the options of an engine with this translation file.
fn list(arguments: &[&str], translation: &str) -> Output {
    let dir = Dir::new();
    let script = dir.write("script", SCRIPT);
    let engine = dir.path().join(format!("hawk.bin{}", std::env::consts::EXE_SUFFIX));
    // Executing a copy could fail, because a concurrently forked process may hold it open for writing.
    #[cfg(unix)]
    std::os::unix::fs::symlink(scripted_engine(), &engine).expect("the engine");
    #[cfg(windows)]
    std::fs::copy(scripted_engine(), &engine).expect("the engine");
    if !translation.is_empty() {
        dir.write("hawk.lang.json", translation);
    }
    let address = format!("{} {}", engine.display(), script.display());
    run(readyok(&dir).args(["options", &address]).args(arguments), b"")
}

const JAPANESE: &str = r#"{
    "usi-translation": 1,
    "languages": { "ja": {
        "name": "例",
        "options": { "Style": { "label": "棋風", "values": { "Risky": "攻撃的" } } }
    } }
}"#;

#[test]
fn lists_the_options_in_english() {
    let output = list(&[], "");
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
    assert_eq!(output.text(), include_str!("data/options/lists_the_options_in_english.txt"));
}

#[test]
fn listed_engine_has_its_environment() {
    let dir = Dir::new();
    let script = "read line; echo id name $NAME; echo uciok; read quit";
    let list = format!(
        "[[engine]]\nname = 'e'\ncommand = '/bin/sh'\nargs = ['-c', '{script}']\nprotocol = 'uci'\n\
         env = {{ NAME = 'Example 7' }}\n"
    );
    dir.write("engines.toml", &list);
    let output = run(readyok(&dir).args(["options", "e"]), b"");
    assert!(output.text().starts_with("Example 7 (UCI)\n"), "{}{}", output.text(), output.stderr);
}

#[test]
fn uses_the_translation_file() {
    let output = list(&["--lang", "ja-JP"], JAPANESE);
    let text = output.text();
    assert!(text.starts_with("例 (UCI)\nby A. Author\n\nHash · ハッシュサイズ"), "{text}");
    let style = "\nStyle · 棋風\n    combo, default `Solid`, one of `Solid`, `Risky` (攻撃的)\n";
    assert!(text.contains(style), "{text}");
}

#[test]
fn prints_one_json_object() {
    let output = list(&["--json", "--lang", "ja"], JAPANESE);
    let report: Value = serde_json::from_str(output.text()).expect("JSON");
    assert_eq!(
        (&report["name"], &report["author"], &report["protocol"]),
        (&json!("例"), &json!("A. Author"), &json!("uci"))
    );
    assert_eq!(
        report["options"][1],
        json!({
            "name": "Style", "label": "棋風", "type": "combo", "default": "Solid",
            "choices": [
                {"value": "Solid", "label": "Solid"}, {"value": "Risky", "label": "攻撃的"}
            ],
        })
    );
    assert_eq!(report["options"].as_array().map(Vec::len), Some(6));
}

#[test]
fn reports_and_ignores_an_invalid_translation_file() {
    let output = list(&[], "{");
    output.reports(0, "hawk.lang.json`: ");
    assert!(output.text().starts_with("Example 1.0 (UCI)\n"));
}

#[test]
fn rejects_an_invalid_language_tag() {
    assert_eq!(list(&["--lang", "../x"], "").code(), Some(2));
}

#[test]
fn narikin_has_labels_in_both_languages() {
    let dir = Dir::new();
    let list = |arguments: &[&str]| {
        let output = run(readyok(&dir).args(["options", "narikin"]).args(arguments), b"");
        assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
        output.text().to_owned()
    };
    assert!(list(&[]).contains("\nBook File · Book file\n"));
    let japanese = list(&["--protocol", "usi", "--lang", "ja"]);
    assert!(japanese.contains("\nBook_File · 定跡ファイル\n"), "{japanese}");
    assert!(japanese.contains("`TryRule` (トライルール)"), "{japanese}");
}

/// Lists the options of an engine that sends these lines after the handshake.
fn list_with(status: &str, arguments: &[&str]) -> Output {
    let dir = Dir::new();
    let script =
        dir.write("script", &format!("> uci\n< id name Example\n< uciok\n{status}\n> quit"));
    let address = format!("{} {}", scripted_engine().display(), script.display());
    run(readyok(&dir).args(["options", &address]).args(arguments), b"")
}

#[test]
fn reports_the_status_of_the_engine() {
    let output = list_with("< info string no dongle\n< copyprotection error", &[]);
    assert_eq!((output.text(), output.code()), ("Example (UCI)\n", Some(1)));
    let error = "readyok: engine `scripted` reported a copy protection error: `no dongle`\n";
    assert_eq!(output.stderr, error);
    let output = list_with("< registration error\n> register later", &[]);
    assert_eq!((output.text(), output.code()), ("Example (UCI)\n", Some(0)));
    let error = "engine `scripted` is not registered (`registration error`); register it with";
    assert!(output.stderr.contains(error), "{}", output.stderr);
    let wrong = "< info string evaluation version: 3 days left\n< registration error\n\
                 > register name A code 1\n< registration checking\n< registration error";
    let output = list_with(wrong, &["--register", "name A code 1"]);
    assert_eq!(
        output.stderr,
        "readyok: engine `scripted` rejected its registration (`registration error`): `evaluation version: 3 days left`; \
         check the name and the code in --register, or in engines.toml\n"
    );
    let register = "< registration error\n> register name A code 1\n< registration ok";
    let output = list_with(register, &["--register", "name A code 1"]);
    assert_eq!((output.code(), output.stderr.as_str()), (Some(0), ""));
}

#[test]
fn terminates_a_silent_engine_after_the_timeout() {
    let dir = Dir::new();
    let engine = "sh -c 'while read -r line; do :; done'";
    let output = run(readyok(&dir).args(["options", engine, "--timeout", "0.2"]), b"");
    let error = "readyok: engine `sh`: no `uciok` or `usiok` within 0.2 s\n";
    assert_eq!((output.code(), output.stderr.as_str()), (Some(1), error));
}
