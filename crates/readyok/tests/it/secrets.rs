//! Engines of others must not read passwords and tokens of `readyok` in their environment.

use std::fs;

use crate::program::{Dir, readyok, run};

const SECRETS: [&str; 6] =
    ["LICHESS_API_TOKEN", "CSA_PASSWORD", "NATS_USER", "NATS_PASSWORD", "NATS_TOKEN", "NATS_CREDS"];

#[test]
fn engines_do_not_inherit_secrets() {
    let lines = [
        &["options", "QUOTED"][..],
        &["analyse", "QUOTED"],
        &["check", "QUOTED", "--level", "quick"],
        &["match", "QUOTED", "QUOTED", "--depth", "1"],
        &["provide", "QUOTED"],
        &["bot", "QUOTED"],
        &["tap", "--log", "log", "--", "sh", "-c", "SCRIPT"],
    ];
    for line in lines {
        for containment in ["supervisor", "group"] {
            let dir = Dir::new();
            let found = dir.path().join("environment");
            // It is no engine, and each command fails.
            let script = format!("env >> '{}'", found.display());
            let quoted = format!("sh -c \"{script}\"");
            let mut command = readyok(&dir);
            command.current_dir(dir.path()).env("READYOK_CONTAINMENT", containment);
            command
                .args(line.iter().map(|argument| {
                    argument.replace("QUOTED", &quoted).replace("SCRIPT", &script)
                }));
            command.envs(SECRETS.map(|name| (name, "hidden_value"))).env("SHOWN", "shown_value");
            let output = run(&mut command, b"");
            let text = fs::read_to_string(&found);
            let text = text.unwrap_or_else(|error| panic!("{line:?}: {error}: {}", output.stderr));
            assert!(text.contains("SHOWN=shown_value"), "{line:?} {containment}: {text}");
            assert!(!text.contains("hidden_value"), "{line:?} {containment}: {text}");
        }
    }
}
