//! Elo and its relatives, against numbers that fastchess prints.

use readyok_arena::stats::{
    Counts, Estimates, Figure, MAX_GAMES, Outcome, Pentanomial, TooManyGames, Trinomial,
    elo_of_score, score_of_elo,
};

fn games(losses: u64, draws: u64, wins: u64) -> Estimates {
    Estimates::of(&Counts::Games(Trinomial::new(losses, draws, wins).unwrap()))
}

fn pairs(five: [u64; 5]) -> Estimates {
    Estimates::of(&Counts::Pairs(Pentanomial::from_five(five).unwrap()))
}

#[track_caller]
fn check(figures: Estimates, score: f64, elo: [f64; 2], normalized: [f64; 2]) {
    for (figure, exact) in [
        (figures.score, score),
        (figures.elo.value, elo[0]),
        (figures.elo.error, elo[1]),
        (figures.normalized_elo.value, normalized[0]),
        (figures.normalized_elo.error, normalized[1]),
    ] {
        let figure = figure.number().unwrap();
        assert!((figure - exact).abs() < 1e-9 * exact.abs().max(1.0), "{figure:.10}, not {exact}");
    }
}

#[test]
fn elo_is_that_of_the_field() {
    let elo = [-15.693_520_705_4, 30.458_000_717_0];
    check(games(89, 123, 76), 0.477_430_555_6, elo, [-20.756_449_777_4, 40.126_025_557_6]);
    let elo = [40.702_458_186_5, 30.427_217_943_6];
    check(games(96, 111, 136), 0.558_309_037_9, elo, [49.768_415_381_0, 36.768_450_595_0]);
    let elo = [-407.988_432_372_2, 63.164_514_735_8];
    check(games(356, 0, 34), 0.087_179_487_2, elo, [-508.435_325_039_7, 34.481_812_485_4]);
    let elo = [55.579_780_420_4, 27.653_429_506_4];
    let normalized = [57.935_599_938_1, 28.275_376_243_4];
    check(pairs([34, 54, 63, 64, 75]), 0.579_310_344_8, elo, normalized);
    let elo = [-8.642_667_268_0, 10.334_194_424_4];
    let normalized = [-9.172_914_270_0, 10.960_458_877_5];
    check(pairs([332, 433, 498, 333, 334]), 0.487_564_766_8, elo, normalized);
    let elo = [-21.043_520_578_2, 2.945_280_868_5];
    let normalized = [-19.012_834_278_9, 2.654_501_916_5];
    check(pairs([7895, 8757, 5685, 568, 9999]), 0.469_752_917_6, elo, normalized);
}

#[test]
fn the_other_figures_are_those_of_the_field() {
    let figures = pairs([104, 524, 876, 653, 141]);
    assert_eq!(format!("{:.2}", figures.elo), "15.36 +/- 6.87");
    assert_eq!(format!("{:.2}", figures.normalized_elo), "22.49 +/- 10.04");
    assert_eq!(figures.games, 4596);
    assert_eq!(figures.half_points, 4799);
    assert!((figures.draw_ratio.number().unwrap() - 0.381_2).abs() < 5e-5);
    assert!((figures.los.number().unwrap() - 1.0).abs() < 5e-5);
    let figures = pairs([16, 25, 42, 12, 3]);
    assert_eq!(format!("{:.2}", figures.elo), "-70.07 +/- 35.86");
    assert_eq!(format!("{:.2}", figures.pairs.unwrap().pairs_ratio), "0.37");
    let figures = pairs([1, 22, 52, 21, 4]);
    assert!((figures.los.number().unwrap() - 0.736_0).abs() < 5e-5);
}

#[test]
fn nothing_is_known_of_no_games() {
    for figures in [games(0, 0, 0), pairs([0; 5])] {
        for figure in [
            figures.score,
            figures.elo.value,
            figures.elo.error,
            figures.normalized_elo.value,
            figures.normalized_elo.error,
            figures.safe_elo.low,
            figures.safe_elo.high,
            figures.los,
            figures.draw_ratio,
        ] {
            assert_eq!(figure, Figure::Unknown);
        }
    }
    assert_eq!(pairs([0; 5]).pairs.unwrap().pairs_ratio, Figure::Unknown);
}

#[test]
fn nothing_but_wins_has_no_upper_bound_but_a_lower_one() {
    for figures in [games(0, 0, 10), pairs([0, 0, 0, 0, 10])] {
        assert_eq!(figures.elo.value, Figure::PlusInfinity);
        assert_eq!(figures.elo.error, Figure::PlusInfinity);
        assert_eq!(figures.normalized_elo.value, Figure::PlusInfinity);
        assert_eq!(figures.los, Figure::Number(1.0));
        assert_eq!(figures.safe_elo.high, Figure::PlusInfinity);
        // Wilson: 10 / (10 + 1.96^2) is the lower end of the score.
        let low = figures.safe_elo.low.number().unwrap();
        assert!((low - 400.0 * (10.0 / 3.841_458_820_694_124_f64).log10()).abs() < 1e-9, "{low}");
    }
    assert_eq!(games(10, 0, 0).elo.value, Figure::MinusInfinity);
    assert_eq!(games(10, 0, 0).los, Figure::Number(0.0));
    assert_eq!(format!("{:.2}", games(10, 0, 0).elo), "-inf +/- inf");
    assert_eq!(format!("{:7.2}", games(10, 0, 0).elo.value), "   -inf");
}

#[test]
fn draws_alone_give_no_likelihood_of_superiority() {
    let figures = games(0, 10, 0);
    assert_eq!(figures.elo.value.number().map(f64::abs), Some(0.0));
    assert_eq!(figures.los, Figure::Unknown);
    assert_eq!(figures.normalized_elo.value, Figure::Unknown);
    assert!(figures.safe_elo.low.number().unwrap() < -150.0);
}

/// A sample variance of zero is not certainty.
#[test]
fn constant_scores_have_an_unknown_error() {
    for figures in [games(0, 10, 0), games(0, 1, 0), pairs([0, 0, 0, 1, 0]), pairs([0, 7, 0, 0, 0])]
    {
        assert!(figures.elo.value.number().is_some());
        assert_eq!(figures.elo.error, Figure::Unknown);
    }
    assert_eq!(format!("{:.1}", pairs([0, 0, 1, 0, 0]).elo), "0.0 +/- unknown");
    assert!(games(0, 10, 1).elo.error.number().is_some());
}

#[test]
fn an_interval_beyond_all_scores_has_no_error() {
    let figures = games(9, 1, 0);
    assert!(figures.elo.value.number().is_some());
    assert_eq!(figures.elo.error, Figure::PlusInfinity);
}

/// For all counts, the safe interval contains the plain estimate and is wider than the plain interval.
#[test]
fn the_safe_interval_is_the_wider_one() {
    for five in [[34, 54, 63, 64, 75], [1, 22, 52, 21, 4], [0, 3, 500, 9, 0]] {
        let figures = pairs(five);
        let (low, high) =
            (figures.safe_elo.low.number().unwrap(), figures.safe_elo.high.number().unwrap());
        let elo = figures.elo.value.number().unwrap();
        assert!(low < elo && elo < high);
        assert!(high - low > 2.0 * figures.elo.error.number().unwrap());
    }
}

#[test]
fn pairs_are_counted_with_the_middle_split() {
    use Outcome::{Draw, Loss, Win};
    let mut pairs = Pentanomial::default();
    let mut games = Trinomial::default();
    for (one, other) in [
        (Loss, Loss),
        (Loss, Draw),
        (Draw, Loss),
        (Win, Loss),
        (Loss, Win),
        (Win, Loss),
        (Draw, Draw),
        (Win, Draw),
        (Win, Win),
        (Win, Win),
    ] {
        pairs.add(one, other).unwrap();
        games.add(one).unwrap();
        games.add(other).unwrap();
    }
    assert_eq!(pairs.five(), [1, 2, 4, 1, 2]);
    assert_eq!((pairs.win_and_loss(), pairs.two_draws()), (Some(3), Some(1)));
    assert_eq!(pairs.single_games(), Some(games));
    assert_eq!(pairs.half_points(), games.half_points());
    assert_eq!(pairs.reversed().single_games(), Some(games.reversed()));
    let figures = Estimates::of(&Counts::Pairs(pairs)).pairs.unwrap();
    assert_eq!(figures.pairs_ratio, Figure::Number(1.0));
    assert_eq!(figures.wl_dd_ratio, Figure::Number(3.0));
    let unsplit = Pentanomial::from_five([1, 2, 4, 1, 2]).unwrap();
    assert_eq!(pairs.plus(unsplit).unwrap().win_and_loss(), None);
    assert_eq!(pairs.plus(pairs).unwrap().win_and_loss(), Some(6));
    let figures = Estimates::of(&Counts::Pairs(unsplit)).pairs.unwrap();
    assert_eq!(figures.wl_dd_ratio, Figure::Unknown);
}

#[test]
fn too_many_games_are_rejected() {
    assert_eq!(Trinomial::new(u64::MAX, 1, 1), Err(TooManyGames));
    assert_eq!(Trinomial::new(MAX_GAMES, 1, 0), Err(TooManyGames));
    let mut full = Trinomial::new(MAX_GAMES, 0, 0).unwrap();
    assert_eq!(full.add(Outcome::Win), Err(TooManyGames));
    assert_eq!(full.plus(full), Err(TooManyGames));
    let mut full = Pentanomial::from_five([0, 0, MAX_GAMES / 2, 0, 0]).unwrap();
    assert_eq!(full.add(Outcome::Win, Outcome::Win), Err(TooManyGames));
    assert_eq!(full.plus(full), Err(TooManyGames));
    assert_eq!(Pentanomial::new(0, 0, u64::MAX, 1, 0, 0), Err(TooManyGames));
}

#[test]
fn elo_and_score_are_inverse() {
    for elo in [-1200.0, -70.5, 0.0, 3.25, 800.0] {
        let back = elo_of_score(score_of_elo(elo)).number().unwrap();
        assert!((back - elo).abs() < 1e-9, "{back}");
    }
    assert_eq!(elo_of_score(1.0), Figure::PlusInfinity);
    assert_eq!(elo_of_score(0.0), Figure::MinusInfinity);
    assert_eq!(elo_of_score(1.01), Figure::Unknown);
    assert_eq!(elo_of_score(f64::NAN), Figure::Unknown);
}

#[test]
fn what_rounds_to_nothing_has_no_sign() {
    let draws = pairs([0, 0, 7, 0, 0]);
    assert!(format!("{:.1}", draws.elo).starts_with("0.0 +/- "), "{:.1}", draws.elo);
    let show = |value| format!("{:.1}", Figure::Number(value));
    assert_eq!([-0.0, -0.04, -0.06, 0.04].map(show), ["0.0", "0.0", "-0.1", "0.0"]);
    assert_eq!(Figure::Number(-0.0).to_string(), "0");
    assert_eq!(Figure::Number(-0.5).to_string(), "-0.5");
}
