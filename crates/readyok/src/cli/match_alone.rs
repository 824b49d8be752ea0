//! The program `readyok-match`: `readyok match` without what else is in the program of the project, which plays the
//! matches of that program where it is beside it.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use clap::Parser;

use crate::cli::{finish, matches, parse_as};
use crate::exit::{Code, Failure};
use crate::{dirs, guardian, lean, whole};

#[derive(Debug, Parser)]
#[command(name = "readyok-match")]
struct Cli {
    #[command(flatten)]
    args: matches::Args,
}

/// Does what `readyok match` does with the same arguments. The first of them is the name of the program.
pub fn run_match(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    whole::is_elsewhere();
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut usage = "readyok-match";
    if let [_, given, sources, words @ ..] = arguments.as_slice()
        && given == lean::GIVEN
    {
        if sources != lean::SOURCES {
            return finish(hand_over(lean::BACK, words));
        }
        usage = "readyok match";
        arguments.drain(1..3);
    }
    let words = arguments.get(1..).unwrap_or_default();
    match words {
        [way, words @ ..] if way == "--fastchess" => {
            return matches::run_fastchess(words, compliance).into();
        }
        // It guards what it starts; a match takes more than one engine.
        [verb] if verb == guardian::VERB => return finish(guardian::serve()),
        _ => {}
    }
    match parse_as::<Cli>(usage, &arguments) {
        Ok(Cli { args }) if args.has_queue() => finish(hand_over("match", words)),
        Ok(Cli { args }) => finish(matches::run_here(args)),
        Err(code) => code,
    }
}

fn compliance(command: &str, args: &[String]) -> Result<Code, Failure> {
    let words = ["--fastchess", "--compliance", command].into_iter().map(OsString::from);
    let words: Vec<OsString> = words.chain(args.iter().map(OsString::from)).collect();
    hand_over("match", &words)
}

/// Has the whole program do it, in the place of this one.
#[cfg(unix)]
fn hand_over(verb: &str, words: &[OsString]) -> Result<Code, Failure> {
    use std::os::unix::process::CommandExt;

    let program = whole::program(&dirs::env).map_err(Failure::failed)?;
    let error = Command::new(&program).arg(verb).args(words).exec();
    Err(Failure::failed(format!("`{}`: {error}", program.display())))
}

/// Has the whole program do it.
#[cfg(not(unix))]
fn hand_over(verb: &str, words: &[OsString]) -> Result<Code, Failure> {
    let program = whole::program(&dirs::env).map_err(Failure::failed)?;
    let failed = |error| Failure::failed(format!("`{}`: {error}", program.display()));
    let status = Command::new(&program).arg(verb).args(words).status().map_err(failed)?;
    Ok(match status.code() {
        Some(0) => Code::Done,
        Some(code) if code == i32::from(Code::Usage.number()) => Code::Usage,
        _ => Code::Failed,
    })
}
