//! Root causes of engines with several defects.

use readyok_check::{Profile, Report, Suite, Target, Timeouts, Verdict};

use crate::faults::{filter_map_parallel, test_program};

pub(crate) fn explore(fault: &str) -> Result<Report, String> {
    let target = Target::program(test_program("obedient"), ["--break", fault]);
    let suite = Suite::new(target).profile(Profile::Uci2006).timeouts(Timeouts::fixed(1.0));
    let suite = suite.random_searches(30).random_lines(4).jobs(6);
    suite.run().map_err(|error| format!("{fault}: {error}"))
}

#[test]
fn explore_faults() {
    let Ok(list) = std::env::var("EXPLORE") else { return };
    let faults: Vec<&str> = list.split_whitespace().collect();
    filter_map_parallel(2, &faults, |fault| {
        let begin = std::time::Instant::now();
        let text = match explore(fault) {
            Ok(report) => {
                let mut text = format!("{fault}: {} roots\n", report.causes().len());
                for cause in report.causes() {
                    let name = cause.name().map(ToString::to_string).unwrap_or_default();
                    let fails = |result: &&&readyok_check::CheckResult| matches!(result.verdict, Verdict::Fail(_));
                    let failed: Vec<&str> = cause.dependents.iter().filter(fails).map(|it| it.check.id).collect();
                    let other = cause.dependents.len() - failed.len();
                    text += &format!("    {} [{name}] also {failed:?} +{other}\n", cause.id);
                }
                if std::env::var("VERBOSE").is_ok() { text += &format!("{report}"); }
                text
            }
            Err(error) => error,
        };
        println!("{text}    {:.1} s", begin.elapsed().as_secs_f64());
        None::<()>
    });
}
