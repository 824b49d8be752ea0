//! `readyok help`, the end of each help text, completions and man pages.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::CommandFactory as _;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;

use super::Cli;
use crate::exit::{Code, Failure};
use crate::terminal::print;

/// The address of the book.
const BOOK: &str = env!("CARGO_PKG_HOMEPAGE");

/// A text about a subject of several commands.
struct Topic {
    name: &'static str,
    text: &'static str,
}

macro_rules! topics {
    ($($name:literal),* $(,)?) => {
        [$(Topic { name: $name, text: include_str!(concat!("topics/", $name, ".txt")) }),*]
    };
}

const TOPICS: [Topic; 9] = topics![
    "adjudication",
    "engines",
    "environment",
    "exit-status",
    "openings",
    "queue",
    "records",
    "sprt",
    "time-controls",
];

/// The page of the book about a command.
fn page(command: &str) -> &'static str {
    match command {
        "annotate" => "annotate.html",
        "bot" => "how-to/put-your-engine-on-lichess.html",
        "check" => "check.html",
        "completions" => "installation.html",
        "convert" => "convert.html",
        "csa" => "csa.html",
        "elo" => "statistics.html",
        "match" | "report" => "match.html",
        "library" => "how-to/use-the-database.html",
        "provide" => "provide.html",
        "farm" | "queue" | "worker" => "workers.html",
        "serve" => "app.html",
        "tune" => "tune.html",
        _ => "readyok.html",
    }
}

/// The command line, with a link to the book in each help text.
pub(super) fn command() -> clap::Command {
    let topics: Vec<_> = TOPICS.iter().map(|topic| topic.name).collect();
    let after = format!("Topics of `readyok help`: {}\n\nDocumentation: {BOOK}", topics.join(", "));
    let root = Cli::command().after_help(after);
    root.mut_subcommands(|command| {
        let link = format!("Documentation: {BOOK}/{}", page(command.get_name()));
        let after = match command.get_after_help() {
            Some(text) => format!("{text}\n\n{link}"),
            None => link,
        };
        command.after_help(after)
    })
}

/// Print the help of a command, or the text about a topic
#[derive(Debug, clap::Args)]
pub(super) struct HelpArgs {
    /// Command with its subcommand, or topic
    #[arg(value_name = "COMMAND|TOPIC")]
    subject: Vec<String>,
}

pub(super) fn print_help(args: &HelpArgs) -> Result<Code, Failure> {
    let text = help(&args.subject).map_err(Failure::usage)?;
    print(text.trim_end());
    Ok(Code::Done)
}

fn help(subject: &[String]) -> Result<String, String> {
    let mut command = command();
    // Subcommands inherit the width and the names of their parents.
    command.build();
    let mut found = Some(&mut command);
    for name in subject {
        found = found.and_then(|command| command.find_subcommand_mut(name));
    }
    let usage = found.map(|command| command.render_long_help().to_string());
    let name = subject.join("-");
    let topic = TOPICS.iter().find(|topic| topic.name == name).map(|topic| topic.text.to_owned());
    let texts: Vec<String> = usage.into_iter().chain(topic).collect();
    if texts.is_empty() {
        return Err(unknown(&subject.join(" ")));
    }
    Ok(texts.join("\n"))
}

/// The error for an unknown command or topic, with the most similar name.
fn unknown(subject: &str) -> String {
    let command = command();
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    let names = commands.map(clap::Command::get_name).chain(TOPICS.iter().map(|topic| topic.name));
    let similar = names
        .map(|name| (strsim::jaro_winkler(subject, name), name))
        .filter(|(similarity, _)| 0.8 < *similarity)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = similar.map_or_else(String::new, |(_, name)| format!("; did you mean `{name}`?"));
    format!("`{subject}` is neither a command nor a topic{hint}; `readyok help` lists them")
}

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  readyok completions bash > ~/.local/share/bash-completion/completions/readyok
  readyok completions zsh > ~/.zfunc/_readyok    (a directory of $fpath)
  readyok completions fish > ~/.config/fish/completions/readyok.fish
  readyok completions powershell >> $PROFILE")]
pub(super) struct CompletionsArgs {
    shell: Shell,
}

pub(super) fn print_completions(args: &CompletionsArgs) -> Result<Code, Failure> {
    // `clap_complete` panics if the reader closes the pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut completed_command(), "readyok", &mut script);
    match io::stdout().write_all(&script) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        Ok(()) | Err(_) => Ok(Code::Done),
    }
}

/// The command line without hidden commands, and with the values of `help`. clap does not check these, because a subcommand
/// can follow a command.
fn completed_command() -> clap::Command {
    let command = command();
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    let shown: Vec<clap::Command> = shown.cloned().collect();
    let mut subjects: Vec<String> =
        shown.iter().map(|command| command.get_name().to_owned()).collect();
    subjects.extend(TOPICS.iter().map(|topic| topic.name.to_owned()));
    subjects.sort();
    subjects.dedup();
    let values = PossibleValuesParser::new(subjects);
    let root = clap::Command::new("readyok").version(super::version::version());
    root.disable_help_subcommand(true)
        .subcommands(shown)
        .mut_subcommand("help", |help| help.mut_arg("subject", |arg| arg.value_parser(values)))
}

/// Write the man pages of all commands
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Existing directory for the pages
    directory: PathBuf,
}

pub(super) fn write_man_pages(args: &ManArgs) -> Result<Code, Failure> {
    let mut root = command();
    root.build();
    write_pages(&root, "readyok", &args.directory).map_err(Failure::failed)?;
    Ok(Code::Done)
}

/// Writes the pages of a command and its subcommands, such as `readyok-queue-list.1`.
fn write_pages(command: &clap::Command, name: &str, directory: &Path) -> io::Result<()> {
    let page = clap_mangen::Man::new(command.clone().name(name.to_owned()));
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(directory.join(format!("{name}.1")), text)?;
    let shown = |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
    for command in command.get_subcommands().filter(shown) {
        write_pages(command, &format!("{name}-{}", command.get_name()), directory)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_commands(command: &clap::Command, all: &mut Vec<clap::Command>) {
        all.push(command.clone());
        command.get_subcommands().for_each(|command| all_commands(command, all));
    }

    fn commands() -> Vec<clap::Command> {
        let mut root = command();
        root.build();
        let mut all = Vec::new();
        all_commands(&root, &mut all);
        all
    }

    #[test]
    fn command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn help_fits_80_columns() {
        let mut too_long = Vec::new();
        for mut command in commands() {
            let help = command.render_long_help().to_string();
            // Examples are wrapped by hand.
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples = after.lines().filter(|line| line.starts_with("  "));
            let lines = help.lines().chain(examples).map(str::to_owned);
            too_long.extend(lines.filter(|line| 80 < line.chars().count()));
        }
        assert!(too_long.is_empty(), "{too_long:#?}");
    }

    #[test]
    fn help_of_each_command_links_to_the_book() {
        let links = |command: &clap::Command| {
            command.get_after_help().is_some_and(|text| text.to_string().contains(BOOK))
        };
        let command = command();
        assert!(links(&command));
        assert!(command.get_subcommands().all(links));
        assert!(BOOK.starts_with("https://"));
    }

    #[test]
    fn topics_fit_80_columns() {
        for topic in TOPICS {
            assert!(topic.text.lines().all(|line| line.len() <= 80), "{}", topic.name);
        }
    }

    #[test]
    fn help_finds_commands_and_topics() {
        let help = |subject: &str| {
            help(&subject.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        };
        let text = |subject| help(subject).expect("help");
        assert!(text("").contains("time-controls"));
        assert!(text("match").contains("Usage: readyok match"));
        assert!(text("queue list").contains("Usage: readyok queue list"));
        assert!(text("time-controls").starts_with("TIME CONTROLS"));
        assert!(text("time controls").starts_with("TIME CONTROLS"));
        // A command and a topic.
        assert!(text("queue").contains("Usage: readyok queue"));
        assert!(text("queue").contains("MATCHES ON SEVERAL MACHINES"));
        let error = help("opening").expect_err("no topic");
        assert!(error.contains("did you mean `openings`?"), "{error}");
        assert!(help("xyzzy").is_err());
    }
}
