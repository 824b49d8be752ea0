//! What the owner of a worker allows it to run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::game::TextOptions;
use crate::plan::{EngineId, EnginePlan};
use crate::queue::{MatchSpec, Rejection};
use crate::store::ContentHash;

/// What the owner of a worker allows it to run. By default nothing.
///
/// A program may read and write whatever its arguments and options name, and many a program runs others: so
/// it gets no arguments but those that the owner has named, no environment, and no options with a text.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    anything: bool,
    /// Programs by what they contain, each with the arguments that it may get.
    programs: BTreeMap<ContentHash, BTreeSet<Vec<String>>>,
    /// Those that are on this machine: they are started where they lie.
    here: BTreeMap<ContentHash, PathBuf>,
    /// Options that may have any text, in lower case.
    options: BTreeSet<String>,
}

/// Parts of names of options that are about files.
const ABOUT_FILES: [&str; 4] = ["file", "path", "book", "log"];

impl Permissions {
    /// Allows whatever a match brings.
    pub fn anything() -> Self {
        Self { anything: true, ..Self::default() }
    }

    /// Allows a program of this machine, with these arguments.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn allow_file(&mut self, path: &Path, args: &[String]) -> std::io::Result<ContentHash> {
        let content = ContentHash::of_file(path)?;
        self.here.insert(content, fs::canonicalize(path)?);
        self.allow_content(content, args);
        Ok(content)
    }

    /// Allows a program of this content, with these arguments, wherever it comes from.
    pub fn allow_content(&mut self, content: ContentHash, args: &[String]) {
        self.programs.entry(content).or_default().insert(args.to_vec());
    }

    /// Allows a text as the value of an option of this name, which counts in any case of letters.
    pub fn allow_option(&mut self, name: &str) {
        self.options.insert(name.to_lowercase());
    }

    /// Where a program lies on this machine.
    pub(super) fn here(&self, content: ContentHash) -> Option<&Path> {
        self.here.get(&content).map(PathBuf::as_path)
    }

    /// Whether arguments are those that the owner has named, and mean files of this machine.
    pub(super) fn names_arguments(&self) -> bool {
        !self.anything
    }

    /// Whether all programs of an order may run here, as it wants them to.
    pub(super) fn judge(&self, spec: &MatchSpec) -> Result<(), Rejection> {
        for (id, engine) in (0..).map(EngineId).zip(&spec.plan.engines) {
            let command = || engine.command.clone();
            let Some(&content) = spec.programs.get(&engine.command) else {
                return Err(Rejection::UnknownContent { command: command() });
            };
            if self.anything {
                continue;
            }
            let Some(args) = self.programs.get(&content) else {
                return Err(Rejection::NotAllowed { command: command(), content });
            };
            if !args.contains(&engine.args) {
                let args = engine.args.clone();
                return Err(Rejection::Arguments { command: command(), args });
            }
            if !engine.env.is_empty() {
                return Err(Rejection::Environment { command: command() });
            }
            self.judge_options(spec, id, engine)?;
        }
        Ok(())
    }

    /// What engines say of their options is not known yet: names and values are looked at.
    fn judge_options(
        &self,
        spec: &MatchSpec,
        id: EngineId,
        engine: &EnginePlan,
    ) -> Result<(), Rejection> {
        for (name, value) in &engine.options {
            let lower = name.to_lowercase();
            let suspicious =
                value.contains(['/', '\\']) || ABOUT_FILES.iter().any(|part| lower.contains(part));
            // A file that comes with the match is nothing but data.
            let allowed = self.options.contains(&lower) || spec.file(id, value).is_some();
            if suspicious && !allowed {
                let (engine, option) = (engine.name.clone(), name.clone());
                return Err(Rejection::Option { engine, option });
            }
        }
        Ok(())
    }

    /// Which texts engines may get as values of options, once they have said which options have some. None
    /// is any text. `delivered` are the paths of files that came with the match.
    pub(super) fn texts(&self, delivered: BTreeSet<String>) -> Option<TextOptions> {
        (!self.anything).then(|| TextOptions::new(self.options.clone(), delivered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;

    /// An order of one engine with these arguments and options. Its program contains its own name.
    fn spec(args: &[&str], options: &[(&str, &str)]) -> MatchSpec {
        let text = "game = 'chess'\nengines = [{ name = 'x', command = '/far/x' }]";
        let mut plan: Plan = toml::from_str(text).unwrap();
        plan.engines[0].args = args.iter().map(|&arg| arg.to_owned()).collect();
        let options = options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
        plan.engines[0].options = options.collect();
        let mut spec = MatchSpec::new(&plan);
        spec.programs.insert("/far/x".to_owned(), ContentHash::of(b"x"));
        spec
    }

    fn allowing(args: &[&str]) -> Permissions {
        let mut permissions = Permissions::default();
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        permissions.allow_content(ContentHash::of(b"x"), &args);
        permissions
    }

    #[test]
    fn a_program_gets_the_arguments_that_its_owner_has_named_and_no_others() {
        let check = |named: &[&str], wanted: &[&str], allowed: bool| {
            let judged = allowing(named).judge(&spec(wanted, &[]));
            let is_refused = matches!(judged, Err(Rejection::Arguments { .. }));
            assert_eq!((judged.is_ok(), is_refused), (allowed, !allowed), "{named:?} {wanted:?}");
        };
        check(&[], &[], true);
        check(&[], &["-c", "anything"], false);
        check(&["engine"], &["engine"], true);
        check(&["engine"], &[], false);
        check(&["engine"], &["engine", "more"], false);
        check(&["a b"], &["a", "b"], false);
        assert_eq!(Permissions::anything().judge(&spec(&["-c", "anything"], &[])), Ok(()));
        let mut two = allowing(&["one"]);
        two.allow_content(ContentHash::of(b"x"), &["two".to_owned()]);
        for args in [["one"], ["two"]] {
            assert_eq!(two.judge(&spec(&args, &[])), Ok(()));
        }
    }

    #[test]
    fn an_option_that_could_name_a_file_needs_leave() {
        let check = |name: &str, value: &str, allowed: bool| {
            let spec = spec(&[], &[(name, value)]);
            let refused = Rejection::Option { engine: "x".to_owned(), option: name.to_owned() };
            let expected = if allowed { Ok(()) } else { Err(refused) };
            assert_eq!(allowing(&[]).judge(&spec), expected, "{name} {value}");
            assert_eq!(Permissions::anything().judge(&spec), Ok(()));
            let mut leave = allowing(&[]);
            leave.allow_option(&name.to_uppercase());
            assert_eq!(leave.judge(&spec), Ok(()), "{name} {value}");
        };
        check("Hash", "64", true);
        check("Style", "Solid", true);
        check("Debug Log File", "notes", false);
        check("EvalFile", "other.nnue", false);
        check("SyzygyPath", "", false);
        check("Own_Book", "x", false);
        check("Style", "../../etc/passwd", false);
        check("Style", "..\\secret", false);
    }
}
