//! `readyok elo`.

use readyok_arena::plan::SprtPlan;
use readyok_arena::stats::{Counts, Figures, Model, Pentanomial, Trinomial, Verdict};

use crate::exit::{Code, Failure};

const HELP: &str = "\
Examples:
  readyok elo 136 111 96                      wins, draws, losses
  readyok elo --pairs 34 54 63 64 75          pairs with 0, 1/2, 1, 1 1/2 and 2 points
  readyok elo --pairs 34 54 63 64 75 --sprt 0,5 --model normalized";

/// Compute strengths and tests from counts of results
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Wins, draws and losses; with --pairs the pairs by their points
    #[arg(value_name = "COUNT", num_args = 3..=5, required = true)]
    counts: Vec<u64>,
    /// Count pairs
    #[arg(long)]
    pairs: bool,
    /// A sequential test of ELO0 against ELO1
    #[arg(
        long,
        value_name = "ELO0,ELO1[,ALPHA,BETA]",
        allow_hyphen_values = true,
        value_delimiter = ',',
        num_args = 1
    )]
    sprt: Vec<f64>,
    /// What the Elo of the test is: normalized, logistic, bayesian, bayeselo, unscaled-bayeselo
    #[arg(long, default_value_t = Model::Normalized, requires = "sprt")]
    model: Model,
}

pub(super) fn run(args: &Args) -> Result<Code, Failure> {
    let counts = match (args.pairs, args.counts.as_slice()) {
        (false, &[wins, draws, losses]) => {
            Trinomial::new(losses, draws, wins).map(Counts::Games).map_err(Failure::usage)?
        }
        (true, &[ll, ld, middle, wd, ww]) => {
            let pairs = Pentanomial::from_five([ll, ld, middle, wd, ww]);
            pairs.map(Counts::Pairs).map_err(Failure::usage)?
        }
        (false, _) => return Err(Failure::usage("give three numbers: wins, draws, losses")),
        (true, _) => return Err(Failure::usage("give five numbers of pairs")),
    };
    let figures = Figures::of(&counts);
    super::print(&format!("games            {}", figures.games));
    super::print(&format!("score            {:.4}", figures.score));
    super::print(&format!("Elo              {:.2}", figures.elo));
    super::print(&format!("normalized Elo   {:.2}", figures.normalized_elo));
    super::print(&format!("superiority      {:.4}", figures.los));
    super::print(&format!("draws            {:.4}", figures.draw_ratio));
    if let Some(test) = test(args)? {
        let test = test.test().map_err(Failure::usage)?;
        let status = test.status(&counts).map_err(Failure::usage)?;
        let verdict = match status.verdict {
            Verdict::Continue => "go on",
            Verdict::AcceptH0 => "H0 is accepted",
            Verdict::AcceptH1 => "H1 is accepted",
        };
        let (llr, lower, upper) = (status.llr, status.lower, status.upper);
        super::print(&format!(
            "LLR              {llr:.4} between {lower:.4} and {upper:.4}: {verdict}"
        ));
        if let (Verdict::Continue, Ok(forecast)) = (status.verdict, test.remaining_as_seen(&counts))
        {
            super::print(&format!("more games       {:.0} on average", forecast.games));
        }
    }
    Ok(Code::Done)
}

fn test(args: &Args) -> Result<Option<SprtPlan>, Failure> {
    let model = args.model;
    match args.sprt.as_slice() {
        [] => Ok(None),
        &[elo0, elo1] => Ok(Some(SprtPlan { model, elo0, elo1, alpha: 0.05, beta: 0.05 })),
        &[elo0, elo1, alpha, beta] => Ok(Some(SprtPlan { model, elo0, elo1, alpha, beta })),
        _ => Err(Failure::usage("a test has the form ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA")),
    }
}
