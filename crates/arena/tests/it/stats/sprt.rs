//! The log-likelihood ratio against values computed to 40 digits elsewhere, and verdicts.

use readyok_arena::stats::{
    Counts, LlrError, Model, Pentanomial, Sprt, SprtError, Trinomial, Verdict,
};

fn sprt(model: Model, elo0: f64, elo1: f64) -> Sprt {
    Sprt::new(model, elo0, elo1, 0.05, 0.05).unwrap()
}

fn games(losses: u64, draws: u64, wins: u64) -> Counts {
    Counts::Games(Trinomial::new(losses, draws, wins).unwrap())
}

fn pairs(five: [u64; 5]) -> Counts {
    Counts::Pairs(Pentanomial::from_five(five).unwrap())
}

#[track_caller]
fn check(model: Model, counts: Counts, elo0: f64, elo1: f64, exact: f64) {
    let llr = sprt(model, elo0, elo1).llr(&counts).unwrap();
    assert!(
        (llr - exact).abs() <= 1e-8 * exact.abs().max(1.0),
        "{model} {counts:?} [{elo0}, {elo1}]: {llr:.12}, not {exact}"
    );
}

#[test]
fn ratios_of_games_are_exact() {
    use Model::{FastchessBayesian as Bayesian, Logistic, Normalized};
    check(Normalized, games(36027, 68692, 36433), 0.0, 2.0, 0.923_293_450_95);
    check(Normalized, games(10650, 20431, 10871), -1.75, 0.25, 2.297_500_407_10);
    check(Normalized, games(0, 0, 4250), 0.0, 10.0, 120.548_267_741_20);
    check(Logistic, games(21184, 40708, 21404), 0.5, 2.5, -1.571_888_792_69);
    check(Logistic, games(57030, 106_593, 57433), 0.0, 2.0, -2.593_024_163_52);
    check(Logistic, games(759, 1863, 880), 0.0, 5.0, 2.947_224_113_73);
    check(Logistic, games(1351, 2942, 1477), 0.0, 10.0, 2.524_245_607_23);
    check(Bayesian, games(68526, 128_429, 68965), 0.0, 2.0, -1.262_155_889_21);
    check(Bayesian, games(21484, 41111, 21629), 0.5, 2.5, -1.130_642_458_93);
    check(Bayesian, games(759, 1863, 880), 0.0, 5.0, 2.267_767_302_38);
}

#[test]
fn ratios_of_pairs_are_exact() {
    use Model::{Logistic, Normalized};
    check(Normalized, pairs([365, 16618, 36229, 16974, 390]), 0.0, 2.0, 2.250_367_703_55);
    check(Normalized, pairs([127, 4883, 10712, 5150, 104]), -1.75, 0.25, 3.010_154_196_60);
    check(Normalized, pairs([0, 0, 0, 0, 5550]), 0.0, 5.0, 111.797_555_086_71);
    check(Logistic, pairs([223, 9863, 21279, 10037, 246]), 0.5, 2.5, -3.074_126_439_59);
    check(Logistic, pairs([871, 26175, 55983, 26678, 821]), 0.0, 2.0, -4.978_672_863_45);
    check(Normalized, pairs([93, 18711, 58877, 18739, 100]), -1.75, 0.25, 2.942_097_472_08);
    check(Normalized, pairs([379, 10170, 21828, 10640, 343]), 0.0, 2.0, 2.945_495_430_91);
    check(Normalized, pairs([184, 15, 508, 17, 290]), 0.0, 5.0, 2.950_238_225_53);
    check(Normalized, pairs([187, 15, 512, 17, 291]), 0.0, 5.0, 2.888_807_117_72);
    check(Normalized, pairs([1, 2, 3, 4, 5]), 0.0, 5.0, 0.140_937_312_25);
    check(Normalized, pairs([0, 0, 10, 0, 0]), 0.0, 5.0, -0.002_699_430_76);
    check(Normalized, pairs([0, 1, 0, 0, 0]), 0.0, 5.0, -0.014_598_670_44);
    check(Logistic, pairs([0, 0, 1, 0, 0]), 0.0, 5.0, -0.011_281_921_40);
}

/// The values of cutechess's own tests, wins and losses and draws at alpha and beta of 0.01.
#[test]
fn bayes_elo_is_that_of_cutechess() {
    let sprt = Sprt::new(Model::BayesElo, 0.0, 10.0, 0.01, 0.01).unwrap();
    for ([wins, losses, draws], expected) in
        [([1477, 1351, 2942], 2.52), ([555, 555, 298], -0.74), ([3, 149, 1], -4.69)]
    {
        let llr = sprt.llr(&games(losses, draws, wins)).unwrap();
        assert!((llr - expected).abs() <= 0.01, "{wins} {losses} {draws}: {llr}, not {expected}");
    }
    assert!((sprt.upper() - 4.6).abs() < 0.01 && (sprt.lower() + 4.6).abs() < 0.01);
}

/// With the probabilities of BayesElo written out: 100 losses, 200 draws, 120 wins.
#[test]
fn unscaled_bayes_elo_compares_two_laws() {
    let (loss, win): (f64, f64) = (100.0 / 420.0, 120.0 / 420.0);
    let draw_elo = 200.0 * ((1.0 - loss) / loss * (1.0 - win) / win).log10();
    let law = |elo: f64| {
        let win = 1.0 / (1.0 + 10f64.powf((draw_elo - elo) / 400.0));
        let loss = 1.0 / (1.0 + 10f64.powf((draw_elo + elo) / 400.0));
        [loss, 1.0 - win - loss, win]
    };
    let by_hand: f64 = [100.0, 200.0, 120.0]
        .iter()
        .zip(law(0.0).iter().zip(law(6.0)))
        .map(|(count, (p0, p1))| count * (p1 / p0).ln())
        .sum();
    check(Model::UnscaledBayesElo, games(100, 200, 120), 0.0, 6.0, by_hand);
}

#[test]
fn bounds_come_from_the_error_probabilities() {
    let sprt = Sprt::new(Model::Normalized, 0.0, 2.0, 0.05, 0.10).unwrap();
    assert!((sprt.upper() - 2.890_371_757_896_165).abs() < 1e-12);
    assert!((sprt.lower() + 2.251_291_798_606_495).abs() < 1e-12);
    assert_eq!(sprt.judge(2.89), Verdict::Continue);
    assert_eq!(sprt.judge(sprt.upper()), Verdict::AcceptH1);
    assert_eq!(sprt.judge(-2.25), Verdict::Continue);
    assert_eq!(sprt.judge(sprt.lower()), Verdict::AcceptH0);
}

#[test]
fn progress_is_the_share_of_the_way_to_the_bound() {
    let sprt = Sprt::new(Model::Normalized, 0.0, 5.0, 0.05, 0.10).unwrap();
    let status = sprt.status(&pairs([16, 25, 42, 12, 3])).unwrap();
    assert!((status.progress() * status.lower + status.llr).abs() < 1e-12 && status.llr < 0.0);
}

#[test]
fn an_invalid_test_is_rejected() {
    for (elo0, elo1) in [(5.0, 0.0), (1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
        let rejected = Sprt::new(Model::Normalized, elo0, elo1, 0.05, 0.05);
        assert!(matches!(rejected, Err(SprtError::InvalidHypotheses { .. })), "{elo0} {elo1}");
    }
    for (alpha, beta) in [(0.0, 0.05), (0.05, 0.0), (0.5, 0.5), (f64::NAN, 0.05), (-0.1, 0.1)] {
        let rejected = Sprt::new(Model::Normalized, 0.0, 1.0, alpha, beta);
        assert!(matches!(rejected, Err(SprtError::InvalidErrorRates { .. })), "{alpha} {beta}");
    }
}

#[test]
fn nothing_played_is_no_evidence() {
    for model in ["normalized", "logistic", "bayesian", "bayeselo", "unscaled-bayeselo"] {
        let model: Model = model.parse().unwrap();
        assert_eq!(sprt(model, 0.0, 5.0).llr(&games(0, 0, 0)), Ok(0.0));
        let pairs = Counts::Pairs(Pentanomial::default());
        assert_eq!(sprt(model, 0.0, 5.0).llr(&pairs), Ok(0.0));
    }
}

#[test]
fn models_of_single_games_need_the_middle_split() {
    let whole = pairs([10, 20, 30, 20, 10]);
    let split = Counts::Pairs(Pentanomial::new(10, 20, 5, 25, 20, 10).unwrap());
    for model in [Model::FastchessBayesian, Model::BayesElo, Model::UnscaledBayesElo] {
        assert_eq!(sprt(model, 0.0, 5.0).llr(&whole), Err(LlrError::NeedsSingleGames));
        assert!(sprt(model, 0.0, 5.0).llr(&split).unwrap() < 0.0);
    }
}

/// Iterations from evenly spread results lose themselves here; see fastchess issue 879.
#[test]
fn bounds_far_from_even_have_a_ratio() {
    let counts = pairs([144, 3, 1, 0, 0]);
    let llr = sprt(Model::Normalized, -1500.0, -500.0).llr(&counts).unwrap();
    assert!(llr.is_finite() && llr < 0.0, "{llr}");
    let mirrored = pairs([0, 0, 1, 3, 144]);
    let mirror = sprt(Model::Normalized, 500.0, 1500.0).llr(&mirrored).unwrap();
    assert!((llr + mirror).abs() < 1e-6 * llr.abs(), "{llr} {mirror}");
}

#[test]
fn no_counts_give_a_ratio_that_is_no_number() {
    let counts = [0, 1, 7, 500, 1 << 40];
    for ll in counts {
        for middle in counts {
            for ww in counts {
                for ld in [0, 3] {
                    let counts = pairs([ll, ld, middle, 0, ww]);
                    for model in [Model::Normalized, Model::Logistic] {
                        for (elo0, elo1) in [(0.0, 2.0), (-300.0, 400.0), (-4000.0, 4000.0)] {
                            match sprt(model, elo0, elo1).llr(&counts) {
                                Ok(llr) => assert!(llr.is_finite(), "{counts:?} {llr}"),
                                Err(error) => assert_eq!(error, LlrError::OutOfReach),
                            }
                        }
                        // Common bounds can always be reached.
                        for (elo0, elo1) in [(-10.0, 0.0), (0.0, 50.0), (100.0, 200.0)] {
                            let llr = sprt(model, elo0, elo1).llr(&counts);
                            assert!(llr.is_ok(), "{model} {counts:?} [{elo0}, {elo1}]");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_other_side_has_the_opposite_ratio() {
    let one = Pentanomial::new(16, 25, 20, 22, 12, 3).unwrap();
    for model in ["normalized", "logistic", "bayesian", "bayeselo", "unscaled-bayeselo"] {
        let model: Model = model.parse().unwrap();
        let forward = sprt(model, -3.0, 8.0).llr(&Counts::Pairs(one)).unwrap();
        let backward = sprt(model, -8.0, 3.0).llr(&Counts::Pairs(one.reversed())).unwrap();
        assert!((forward + backward).abs() < 1e-9, "{model} {forward} {backward}");
    }
}

#[test]
fn models_are_known_by_their_names() {
    for name in ["normalized", "logistic", "bayesian", "bayeselo", "unscaled-bayeselo"] {
        assert_eq!(name.parse::<Model>().unwrap().to_string(), name);
    }
    for (old, name) in [("fastchess-bayesian", "bayesian"), ("bayes-elo", "bayeselo")] {
        assert_eq!(old.parse::<Model>().unwrap().to_string(), name);
    }
    let error = "nelo".parse::<Model>().unwrap_err().to_string();
    let expected = "unknown model `nelo`; expected one of normalized, logistic, bayesian, \
                bayeselo, unscaled-bayeselo";
    assert_eq!(error, expected);
}
