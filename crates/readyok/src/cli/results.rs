//! `readyok elo` and `readyok report`: statistics of match results.

use std::path::PathBuf;

use readyok_arena::plan::SprtPlan;
use readyok_arena::stats::{Counts, Figures, Model, Pentanomial, Trinomial, Verdict};

use crate::exit::{Code, Failure};
use crate::matches;
use crate::terminal::print;

/// Write an HTML report about the results of a match
#[derive(Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// Results file of the match
    #[arg(value_name = "RESULTS.jsonl")]
    results: PathBuf,
    /// Output file
    #[arg(value_name = "REPORT.html")]
    report: PathBuf,
}

pub(super) fn write_report(args: &ReportArgs) -> Result<Code, Failure> {
    matches::write_report(&args.results, &args.report).map_err(Failure::failed)?;
    Ok(Code::Done)
}

const ELO_HELP: &str = "\
Examples:
  readyok elo 136 111 96                 wins, draws, losses
  readyok elo --pairs 34 54 63 64 75     pairs with 0, ½, 1, 1½ and 2 points
  readyok elo --pairs 34 54 63 64 75 --sprt 0,5 --model normalized";

/// Compute Elo differences and SPRTs from counts of results
#[derive(Debug, clap::Args)]
#[command(after_help = ELO_HELP)]
pub(super) struct EloArgs {
    /// Numbers of wins, draws and losses; with --pairs, numbers of game pairs with 0 to 2 points
    #[arg(value_name = "COUNT", num_args = 3..=5, required = true)]
    counts: Vec<u64>,
    /// Use counts of game pairs (pentanomial)
    #[arg(long)]
    pairs: bool,
    /// Run an SPRT of ELO0 against ELO1
    #[arg(
        long,
        value_name = "ELO0,ELO1[,ALPHA,BETA]",
        allow_hyphen_values = true,
        value_delimiter = ',',
        num_args = 1
    )]
    sprt: Vec<f64>,
    /// Set the Elo model of the test: normalized, logistic, bayesian, bayeselo, unscaled-bayeselo
    #[arg(long, default_value_t = Model::Normalized, requires = "sprt")]
    model: Model,
}

pub(super) fn print_elo(args: &EloArgs) -> Result<Code, Failure> {
    let counts = match (args.pairs, args.counts.as_slice()) {
        (false, &[wins, draws, losses]) => {
            Trinomial::new(losses, draws, wins).map(Counts::Games).map_err(Failure::usage)?
        }
        (true, &[ll, ld, middle, wd, ww]) => {
            let pairs = Pentanomial::from_five([ll, ld, middle, wd, ww]);
            pairs.map(Counts::Pairs).map_err(Failure::usage)?
        }
        (false, _) => return Err(Failure::usage("expected three counts: wins, draws, losses")),
        (true, _) => return Err(Failure::usage("expected five counts of game pairs")),
    };
    let figures = Figures::of(&counts);
    print(&format!("games            {}", figures.games));
    print(&format!("score            {:.4}", figures.score));
    print(&format!("Elo              {:.2}", figures.elo));
    print(&format!("normalized Elo   {:.2}", figures.normalized_elo));
    print(&format!("superiority      {:.4}", figures.los));
    print(&format!("draws            {:.4}", figures.draw_ratio));
    if let Some(test) = test(args)? {
        let test = test.test().map_err(Failure::usage)?;
        let status = test.status(&counts).map_err(Failure::usage)?;
        let verdict = match status.verdict {
            Verdict::Continue => "continue",
            Verdict::AcceptH0 => "H0 is accepted",
            Verdict::AcceptH1 => "H1 is accepted",
        };
        let (llr, lower, upper) = (status.llr, status.lower, status.upper);
        print(&format!("LLR              {llr:.4} between {lower:.4} and {upper:.4}: {verdict}"));
        if let (Verdict::Continue, Ok(forecast)) = (status.verdict, test.remaining_as_seen(&counts))
        {
            print(&format!("more games       {:.0} on average", forecast.games));
        }
    }
    Ok(Code::Done)
}

fn test(args: &EloArgs) -> Result<Option<SprtPlan>, Failure> {
    let model = args.model;
    match args.sprt.as_slice() {
        [] => Ok(None),
        &[elo0, elo1] => Ok(Some(SprtPlan { model, elo0, elo1, alpha: 0.05, beta: 0.05 })),
        &[elo0, elo1, alpha, beta] => Ok(Some(SprtPlan { model, elo0, elo1, alpha, beta })),
        _ => Err(Failure::usage("a test has the form ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA")),
    }
}
