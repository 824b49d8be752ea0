//! `readyok elo` and `readyok report`: statistics of match results.

use std::path::PathBuf;

use readyok_arena::event::TestState;
use readyok_arena::plan::SprtPlan;
use readyok_arena::stats::{Counts, Estimate, Estimates, Model, Pentanomial, Trinomial, Verdict};
use serde::Serialize;

use crate::cli::match_plan::SprtArg;
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
  readyok elo --pairs 34 54 63 64 75 --sprt 0,5 --sprt-model logistic";

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
    #[arg(long, value_name = "ELO0,ELO1[,ALPHA,BETA]", allow_hyphen_values = true)]
    sprt: Option<SprtArg>,
    /// Elo model of the test: normalized, logistic, bayesian (fastchess), bayeselo (cutechess) or
    /// unscaled-bayeselo
    #[arg(long, value_name = "MODEL", default_value_t = Model::Normalized, requires = "sprt")]
    sprt_model: Model,
    /// Print a JSON object, with null for figures that are undefined or infinite
    #[arg(long)]
    json: bool,
}

/// The figures of `readyok elo`.
#[derive(Serialize)]
struct EloFigures {
    games: u64,
    score: Option<f64>,
    elo: Estimated,
    normalized_elo: Estimated,
    los: Option<f64>,
    draw_ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sprt: Option<Test>,
}

/// An estimate with half the width of its 95 % confidence interval.
#[derive(Serialize)]
struct Estimated {
    value: Option<f64>,
    error: Option<f64>,
}

#[derive(Serialize)]
struct Test {
    #[serde(flatten)]
    plan: SprtPlan,
    #[serde(flatten)]
    state: TestState,
    /// The expected number of further games.
    #[serde(skip_serializing_if = "Option::is_none")]
    more_games: Option<f64>,
}

impl Test {
    fn of(plan: SprtPlan, counts: &Counts) -> Result<Self, Failure> {
        let test = plan.test().map_err(Failure::usage)?;
        let state = test.status(counts).map_err(Failure::usage)?;
        let more_games = match state.verdict {
            Verdict::Continue => test.remaining_as_seen(counts).ok().map(|forecast| forecast.games),
            Verdict::AcceptH0 | Verdict::AcceptH1 => None,
        };
        Ok(Self { plan, state, more_games })
    }
}

impl From<Estimate> for Estimated {
    fn from(estimate: Estimate) -> Self {
        Self { value: estimate.value.number(), error: estimate.error.number() }
    }
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
    let figures = Estimates::of(&counts);
    let sprt = args.sprt.map(|sprt| Test::of(sprt.plan(args.sprt_model), &counts)).transpose()?;
    if args.json {
        let elo = EloFigures {
            games: figures.games,
            score: figures.score.number(),
            elo: figures.elo.into(),
            normalized_elo: figures.normalized_elo.into(),
            los: figures.los.number(),
            draw_ratio: figures.draw_ratio.number(),
            sprt,
        };
        print(&serde_json::to_string(&elo).map_err(Failure::failed)?);
        return Ok(Code::Done);
    }
    print(&format!("games            {}", figures.games));
    print(&format!("score            {:.4}", figures.score));
    print(&format!("Elo              {:.2}", figures.elo));
    print(&format!("normalized Elo   {:.2}", figures.normalized_elo));
    print(&format!("superiority      {:.4}", figures.los));
    print(&format!("draws            {:.4}", figures.draw_ratio));
    if let Some(Test { state, more_games, .. }) = sprt {
        let verdict = match state.verdict {
            Verdict::Continue => "continue",
            Verdict::AcceptH0 => "H0 is accepted",
            Verdict::AcceptH1 => "H1 is accepted",
        };
        let TestState { llr, lower, upper, .. } = state;
        print(&format!("LLR              {llr:.4} between {lower:.4} and {upper:.4}: {verdict}"));
        if let Some(games) = more_games {
            print(&format!("more games       {games:.0} on average"));
        }
    }
    Ok(Code::Done)
}
