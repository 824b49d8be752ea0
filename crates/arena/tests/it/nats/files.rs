//! Transfer of files in arguments and options of engines.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use readyok_arena::event::End;
use readyok_arena::queue::MatchSpec;
use readyok_arena::queue::nats::{Permissions, Served};
use tempfile::TempDir;

use super::{Hand, Server, access, open, order};

/// A match of programs in a directory. The first one has a file of that directory in an argument and in an option.
/// The second one has a file with the same name in another directory.
fn order_with_files(directory: &Path) -> MatchSpec {
    let mut plan = order(directory, ["k", "l"]).plan;
    let other = directory.join("other");
    fs::create_dir(&other).expect("a directory");
    fs::write(directory.join("net"), "one").expect("a file");
    fs::write(other.join("net"), "two").expect("a file");
    let text = "./net".to_owned();
    plan.engines[0].args = vec!["--net".to_owned(), text.clone()];
    plan.engines[0].options.insert("EvalFile".to_owned(), text.clone());
    plan.engines[1].options.insert("EvalFile".to_owned(), text);
    plan.engines[1].dir = Some(other.to_str().expect("UTF-8").to_owned());
    let order = MatchSpec::new(&plan).with_contents().expect("files that can be read");
    // A file that the worker does not have.
    for path in [directory.join("net"), other.join("net")] {
        fs::rename(&path, path.with_extension("away")).expect("a file");
    }
    order
}

fn serve(
    server: &Server,
    order: &MatchSpec,
    directory: &Path,
    permissions: Permissions,
) -> Arc<Served> {
    // They must exist during the upload.
    let files = [directory.join("net"), directory.join("other/net")];
    for path in &files {
        fs::rename(path.with_extension("away"), path).expect("a file");
    }
    let connection = server.connect();
    let (dispatcher, _reports) = open(&connection, order, false);
    for path in &files {
        fs::rename(path, path.with_extension("away")).expect("a file");
    }
    let mut hand = Hand::with(&access(server.port), "w", &directory.join("cache"), permissions);
    let served = hand.serve().expect("a permitted match");
    dispatcher.finish(&End::Complete).expect("a server");
    served
}

/// The content of a file in the worker's cache.
fn held(directory: &Path, path: &str) -> String {
    let path = PathBuf::from(path);
    assert!(path.starts_with(directory.join("cache")), "{}", path.display());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = path.metadata().expect("a file").permissions().mode();
        assert_eq!(mode & 0o111, 0, "not executable");
    }
    fs::read_to_string(path).expect("a file")
}

#[test]
fn downloads_files_by_content() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order_with_files(directory.path());
    let served = serve(&server, &order, directory.path(), Permissions::anything());
    let [one, two] = served.spec().plan.engines.as_slice() else { panic!("two engines") };
    assert_eq!(one.args[0], "--net");
    assert_eq!(held(directory.path(), &one.args[1]), "one");
    assert_eq!(held(directory.path(), &one.options["EvalFile"]), "one");
    assert_eq!(held(directory.path(), &two.options["EvalFile"]), "two");
}

#[test]
fn a_worker_without_a_required_directory_rejects_the_match() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let tables = directory.path().join("tables");
    fs::create_dir(&tables).expect("a directory");
    let mut plan = order(directory.path(), ["k", "l"]).plan;
    let path = tables.to_str().expect("UTF-8");
    plan.engines[0].options.insert("SyzygyPath".to_owned(), path.to_owned());
    let order = MatchSpec::new(&plan).with_contents().expect("a whole path");
    let connection = server.connect();
    let (_dispatcher, _reports) = open(&connection, &order, false);
    let ask = || Hand::new(server.port, "w", &directory.path().join("cache")).serve();
    let served = ask().expect("it is there");
    assert_eq!(served.spec().plan.engines[0].options["SyzygyPath"], path, "it stays what it is");
    fs::remove_dir(&tables).expect("a directory");
    let rejection = ask().expect_err("it is missing");
    assert!(rejection.to_string().contains("there is no directory"), "{rejection}");
}

#[test]
fn downloaded_files_are_allowed_but_do_not_replace_arguments() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order_with_files(directory.path());
    let mut permissions = Permissions::default();
    for engine in &order.plan.engines {
        permissions.allow_file(Path::new(&engine.command), &engine.args, None).expect("a program");
    }
    let served = serve(&server, &order, directory.path(), permissions);
    let [one, two] = served.spec().plan.engines.as_slice() else { panic!("two engines") };
    // The owner of the worker has allowed a file of that host.
    assert_eq!(one.args, ["--net", "./net"]);
    assert_eq!(held(directory.path(), &one.options["EvalFile"]), "one");
    assert_eq!(held(directory.path(), &two.options["EvalFile"]), "two");
}

#[test]
fn rejects_a_downloaded_file_with_another_content() {
    let Some(server) = Server::start() else { return };
    let directory = TempDir::new().expect("a directory");
    let order = order_with_files(directory.path());
    // Its content has changed before the upload.
    for path in [directory.path().join("net"), directory.path().join("other/net")] {
        fs::write(path, "three").expect("a file");
    }
    let connection = server.connect();
    let (_dispatcher, _reports) = open(&connection, &order, false);
    let cache = directory.path().join("cache");
    let rejection = Hand::new(server.port, "w", &cache).serve().expect_err("another content");
    assert!(rejection.to_string().contains("does not match its hash"), "{rejection}");
}
