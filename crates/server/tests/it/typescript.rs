//! The types of the page are those of the server.

use std::any::TypeId;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use readyok_server::wire;
use ts_rs::{Config, TS, TypeVisitor};

const FILE: &str = "../../web/src/api/wire.ts";

/// All types that hang together with some, by name.
struct InfoAccumulator {
    config: Config,
    seen: HashSet<TypeId>,
    declarations: BTreeMap<String, String>,
}

impl InfoAccumulator {
    fn add<T: TS + 'static + ?Sized>(&mut self) {
        if !self.seen.insert(TypeId::of::<T>()) {
            return;
        }
        // A type without a file is one of the language, or a list of others.
        if T::output_path().is_some() {
            let docs = T::docs().unwrap_or_default();
            let declaration = T::decl(&self.config);
            self.declarations
                .insert(T::ident(&self.config), format!("{docs}export {declaration}\n"));
        }
        T::visit_generics(self);
        T::visit_dependencies(self);
    }
}

impl TypeVisitor for InfoAccumulator {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.add::<T>();
    }
}

fn generated() -> String {
    let config = Config::new().with_large_int("number");
    let mut all = InfoAccumulator { config, seen: HashSet::new(), declarations: BTreeMap::new() };
    all.add::<wire::Request>();
    all.add::<wire::ToTab>();
    all.add::<wire::Choices>();
    all.add::<wire::Directory>();
    all.add::<wire::Imported>();
    all.add::<wire::LibraryPage>();
    all.add::<wire::LibraryQuery>();
    all.add::<wire::PositionCheck>();
    all.add::<wire::RecordFormat>();
    let mut text = String::from(
        "// Made from crates/server/src/wire by `READYOK_BLESS=1 cargo test -p readyok-server`. Not edited by hand.\n",
    );
    for declaration in all.declarations.values() {
        // Writing into a `String` cannot fail.
        let _ = write!(text, "\n{declaration}");
    }
    text
}

#[test]
fn the_page_has_the_types_of_the_server() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let wanted = generated();
    if std::env::var_os("READYOK_BLESS").is_some() {
        std::fs::create_dir_all(file.parent().expect("it has one")).expect("it can be made");
        std::fs::write(&file, &wanted).expect("it can be written");
    }
    let committed = std::fs::read_to_string(&file).expect("it is committed");
    assert!(
        committed == wanted,
        "web/src/api/wire.ts is stale: run `READYOK_BLESS=1 cargo test -p readyok-server`"
    );
}
