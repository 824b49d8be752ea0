//! End-to-end tests of the program.

use std::path::Path;
use std::process::Command;

fn check(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_narikin-train"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the program");
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {reported}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn fails(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_narikin-train"))
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the program");
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).expect("UTF-8")
}

fn generate(directory: &Path, game: &str) {
    let arguments = "--out games --nodes 30 --games 16 --random-plies 4 --seed 3";
    let arguments: Vec<&str> = ["generate", game].into_iter().chain(arguments.split(' ')).collect();
    let reported = check(directory, &arguments);
    assert!(reported.contains("games 16 positions "), "{reported}");
    let reported = check(directory, &["stats", "games"]);
    assert!(reported.contains("games      16\n"), "{reported}");
}

#[test]
fn trains_and_compares_networks() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    let arguments =
        |text: &str| -> String { check(directory, &text.split_whitespace().collect::<Vec<_>>()) };
    generate(directory, "shogi");
    let other = "train chess --data games --hidden 32 --out x.net".split(' ').collect::<Vec<_>>();
    assert!(fails(directory, &other).contains("`games` is a file of another game"));
    std::fs::remove_file(directory.join("games")).expect("a file");
    arguments("generate chess --out games --nodes 30 --games 40 --random-plies 4 --extra-plies 3");
    let manifest = arguments("manifest games");
    assert!(manifest.contains("--random-plies 4 --extra-plies 3 --games 40"), "{manifest}");
    arguments("pack games --out packed");
    assert_eq!(crate::bytes(&directory.join("packed")), crate::bytes(&directory.join("games")));
    let shared = "train chess --data games --hidden 32 --batch 256 --reports 3";
    let reported =
        arguments(&format!("{shared} --targets static --siblings 1 --epochs 2 --out static.net"));
    assert!(reported.contains("lowest validation loss: "), "{reported}");
    let tuned = format!(
        "{shared} --epochs 3 --wdl 0.3:0.5 --td-lambda 0.9 --activation screlu --out tuned.net"
    );
    arguments(&format!("{tuned} --start static.checkpoint"));
    let network = crate::bytes(&directory.join("tuned.net"));
    arguments(&format!("{tuned} --resume"));
    assert_eq!(crate::bytes(&directory.join("tuned.net")), network);
    let restarted = format!("{shared} --epochs 1 --out again.net --start");
    arguments(&format!("{restarted} tuned.net --activation screlu"));
    let other: Vec<_> = restarted.split_whitespace().chain(["tuned.net"]).collect();
    assert!(fails(directory, &other).contains("another game, size or activation"));
    for file in ["tuned.csv", "tuned.svg"] {
        assert!(directory.join(file).exists(), "{file}");
    }
    let reported =
        arguments("evaluate chess --td-lambda 0.9 --data games --net static.net tuned.net");
    assert_eq!(reported.lines().count(), 5, "{reported}");
    let other = format!("{tuned} --resume --seed 9");
    let other: Vec<_> = other.split_whitespace().collect();
    assert!(fails(directory, &other).contains("was written with other settings"));
}

#[test]
fn reports_errors() {
    let directory = tempfile::tempdir().expect("a directory");
    let directory = directory.path();
    assert!(fails(directory, &["stats", "games"]).contains("`games` cannot be opened"));
    std::fs::write(directory.join("short"), [0; 8]).expect("free disk space");
    assert!(fails(directory, &["stats", "short"]).contains("`short` is not a file of games"));
}
