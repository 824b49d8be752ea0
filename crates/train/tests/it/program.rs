//! The program from end to end.

use std::path::Path;
use std::process::Command;

fn check(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_narikin-train"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_narikin-train"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program");
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

#[test]
fn games_become_weights() {
    for game in ["chess", "shogi"] {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let generate = "--out games --nodes 30 --games 16 --random-plies 4 --seed 3";
        let generate: Vec<&str> =
            ["generate", game].into_iter().chain(generate.split(' ')).collect();
        let told = check(folder, &generate);
        assert!(told.contains("games 16 positions "), "{told}");
        let told = check(folder, &["stats", "games"]);
        assert!(told.contains("games      16\n"), "{told}");
        let tune = ["tune", game, "--data", "games", "--out", "fitted", "--epochs", "2"];
        let told = check(folder, &tune);
        assert_eq!(told.lines().count(), 4, "{told}");
        let hand = check(folder, &["show", game, "hand"]);
        let fitted = check(folder, &["show", game, "fitted"]);
        assert_ne!(fitted, hand);
        let material = |name: &str| {
            let table = check(folder, &["show", game, name]);
            let group = table.lines().skip_while(|line| !line.starts_with("material"));
            group.skip(1).take_while(|line| line.starts_with(' ')).collect::<String>()
        };
        assert_ne!(material("fitted"), material("hand"));
        check(folder, &[&tune[..], &["--keep", "material"]].concat());
        assert_eq!(material("fitted"), material("hand"));
        check(folder, &[&tune[..], &["--without", "material"]].concat());
        let zeros = material("fitted");
        assert!(zeros.split_whitespace().all(|weight| weight == "0.0/0.0"), "{zeros}");
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    assert!(fails(folder, &["stats", "games"]).contains("`games` cannot be opened"));
    std::fs::write(folder.join("short"), [0; 8]).expect("room");
    assert!(fails(folder, &["stats", "short"]).contains("`short` is no file of games"));
    assert!(fails(folder, &["show", "chess", "short"]).contains("`short` has 8 bytes"));
    let tune = ["tune", "chess", "--data", "short", "--out", "x", "--without", "luck"];
    assert!(fails(folder, &tune).contains("`luck` is none of the groups: "));
}
