//! Files that arguments and options of engines name, on their way to workers.

use std::fs;
use std::path::{Path, PathBuf};

use readyok_arena::queue::MatchSpec;
use readyok_arena::queue::nats::{Matches, Permissions, Served};
use tempfile::TempDir;

use super::{PATIENCE, Server, open, order, worker};

/// A match of programs in a folder, of which the first one is told of a file of that folder in an argument
/// and in an option, and the second one of a file of the same name in another folder.
fn order_with_files(folder: &Path) -> MatchSpec {
    let mut plan = order(folder, ["k", "l"]).plan;
    let other = folder.join("other");
    fs::create_dir(&other).expect("a folder");
    fs::write(folder.join("net"), "one").expect("a file");
    fs::write(other.join("net"), "two").expect("a file");
    let word = "./net".to_owned();
    plan.engines[0].args = vec!["--net".to_owned(), word.clone()];
    plan.engines[0].options.insert("EvalFile".to_owned(), word.clone());
    plan.engines[1].options.insert("EvalFile".to_owned(), word);
    plan.engines[1].dir = Some(other.to_str().expect("UTF-8").to_owned());
    let order = MatchSpec::new(&plan).with_contents().expect("files that can be read");
    // What a worker does not have.
    for path in [folder.join("net"), other.join("net")] {
        fs::rename(&path, path.with_extension("away")).expect("a file");
    }
    order
}

fn serve(server: &Server, order: &MatchSpec, folder: &Path, permissions: &Permissions) -> Served {
    // They have to be there while they are put on the server.
    let files = [folder.join("net"), folder.join("other/net")];
    for path in &files {
        fs::rename(path.with_extension("away"), path).expect("a file");
    }
    let connection = server.connect();
    let (dispatcher, _reports) = open(&connection, order, false);
    for path in &files {
        fs::rename(path, path.with_extension("away")).expect("a file");
    }
    let mut matches = Matches::new(&connection, worker("w"));
    let cache = folder.join("cache");
    let served = matches.next(permissions, &cache, PATIENCE, |why| panic!("{why}"));
    let served = served.expect("a server").expect("a match");
    dispatcher.clear().expect("a server");
    served
}

/// What the file of a path in the folder of the worker holds.
fn held(folder: &Path, path: &str) -> String {
    let path = PathBuf::from(path);
    assert!(path.starts_with(folder.join("cache")), "{}", path.display());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = path.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o111, 0, "nobody can start it");
    }
    fs::read_to_string(path).expect("a file")
}

#[test]
fn files_come_along_and_are_named_by_what_they_contain() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order_with_files(folder.path());
    let served = serve(&server, &order, folder.path(), &Permissions::anything());
    let [one, two] = served.spec().plan.engines.as_slice() else { panic!("two engines") };
    assert_eq!(one.args[0], "--net");
    assert_eq!(held(folder.path(), &one.args[1]), "one");
    assert_eq!(held(folder.path(), &one.options["EvalFile"]), "one");
    assert_eq!(held(folder.path(), &two.options["EvalFile"]), "two");
}

#[test]
fn a_worker_without_a_folder_that_an_engine_needs_refuses_the_match() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let tables = folder.path().join("tables");
    fs::create_dir(&tables).expect("a folder");
    let mut plan = order(folder.path(), ["k", "l"]).plan;
    let path = tables.to_str().expect("UTF-8");
    plan.engines[0].options.insert("SyzygyPath".to_owned(), path.to_owned());
    let order = MatchSpec::new(&plan).with_contents().expect("a whole path");
    let connection = server.connect();
    let (_dispatcher, _reports) = open(&connection, &order, false);
    let ask = |said: &mut Vec<String>| {
        let mut matches = Matches::new(&connection, worker("w"));
        let cache = folder.path().join("cache");
        let served = matches.next(&Permissions::anything(), &cache, PATIENCE / 10, |why| {
            said.push(why.to_owned());
        });
        served.expect("a server").map(|served| served.spec().plan.engines[0].options.clone())
    };
    let options = ask(&mut Vec::new()).expect("it is there");
    assert_eq!(options["SyzygyPath"], path, "it stays what it is");
    fs::remove_dir(&tables).expect("a folder");
    let mut said = Vec::new();
    assert!(ask(&mut said).is_none());
    assert!(said.iter().any(|why| why.contains("there is no folder")), "{said:?}");
}

#[test]
fn a_file_that_comes_along_needs_no_leave_but_never_takes_the_place_of_an_argument() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order_with_files(folder.path());
    let mut permissions = Permissions::default();
    for engine in &order.plan.engines {
        permissions.allow_file(Path::new(&engine.command), &engine.args).expect("a program");
    }
    let served = serve(&server, &order, folder.path(), &permissions);
    let [one, two] = served.spec().plan.engines.as_slice() else { panic!("two engines") };
    // The owner of the worker has named a file of that machine.
    assert_eq!(one.args, ["--net", "./net"]);
    assert_eq!(held(folder.path(), &one.options["EvalFile"]), "one");
    assert_eq!(held(folder.path(), &two.options["EvalFile"]), "two");
}

#[test]
fn a_file_on_the_server_that_is_not_what_its_name_says_is_not_taken() {
    let Some(server) = Server::start() else { return };
    let folder = TempDir::new().expect("a folder");
    let order = order_with_files(folder.path());
    // Another one has come into its place before it was put on the server.
    for path in [folder.path().join("net"), folder.path().join("other/net")] {
        fs::write(path, "three").expect("a file");
    }
    let connection = server.connect();
    let (_dispatcher, _reports) = open(&connection, &order, false);
    let mut matches = Matches::new(&connection, worker("w"));
    let mut said = Vec::new();
    let cache = folder.path().join("cache");
    let wait = std::time::Duration::ZERO;
    let served = matches.next(&Permissions::anything(), &cache, wait, |why| {
        said.push(why.to_owned());
    });
    assert!(served.expect("a server").is_none());
    assert!(matches!(&said[..], [why] if why.contains("not what its name says")), "{said:?}");
}
