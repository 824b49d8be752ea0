//! Ratings: cases that can be solved by hand, awkward tournaments, and known ratings found again.

use std::collections::BTreeMap;

use fastrand::Rng;
use readyok_arena::stats::{
    Crosstable, Estimate, Figure, FirstMove, Outcome, Ratings, RatingsError, Trinomial,
    elo_of_score, score_of_elo,
};

const NO_ADVANTAGE: FirstMove = FirstMove::Known(0.0);

fn table(players: usize) -> Crosstable {
    Crosstable::new(players).unwrap()
}

fn games(losses: u64, draws: u64, wins: u64) -> Trinomial {
    Trinomial::new(losses, draws, wins).unwrap()
}

fn rate(table: &Crosstable) -> Ratings {
    Ratings::of(table, &BTreeMap::new(), NO_ADVANTAGE).unwrap()
}

fn numbers(estimate: Estimate) -> (f64, f64) {
    (estimate.value.number().unwrap(), estimate.error.number().unwrap())
}

#[track_caller]
fn close(one: f64, other: f64) {
    assert!((one - other).abs() <= 1e-7 * other.abs().max(1.0), "{one} is not {other}");
}

/// The difference is the Elo of the score. Its variance is that of the score times the square of
/// the slope of Elo, with one more game of the largest variance.
#[test]
fn two_players_differ_by_the_elo_of_their_score() {
    let mut table = table(2);
    table.add_games(0, 1, games(20, 50, 30)).unwrap();
    let ratings = rate(&table);
    let score: f64 = 0.55;
    let (difference, error) = numbers(ratings.difference(0, 1));
    close(difference, elo_of_score(score).number().unwrap());
    close(numbers(ratings.rating(0)).0, difference / 2.0);
    close(numbers(ratings.rating(1)).0, -difference / 2.0);
    let seen = 30.0 * (1.0 - score).powi(2) + 50.0 * (0.5 - score).powi(2) + 20.0 * score.powi(2);
    let even = score * (1.0 - score);
    let slope = 400.0 / std::f64::consts::LN_10 / even;
    close(error, 1.959_963_984_540_054 * slope * (seen + even).sqrt() / 100.0);
    close(numbers(ratings.rating(0)).1, error / 2.0);
    let los = ratings.los(0, 1).number().unwrap();
    close(los + ratings.los(1, 0).number().unwrap(), 1.0);
    assert!((0.90..0.95).contains(&los), "{los}");
    assert!(!ratings.rests_on_prior(0));
}

/// Every player beats the next with 3 of 4 points: all neighbours are equally far apart.
#[test]
fn a_chain_adds_up() {
    let mut table = table(4);
    for player in 0..3 {
        table.add_games(player, player + 1, games(25, 0, 75)).unwrap();
    }
    let ratings = rate(&table);
    let step = elo_of_score(0.75).number().unwrap();
    for player in 0..3 {
        close(numbers(ratings.difference(player, player + 1)).0, step);
    }
    let (far, near) = (ratings.difference(0, 3), ratings.difference(0, 1));
    close(numbers(far).0, 3.0 * step);
    close(numbers(far).1, 3f64.sqrt() * numbers(near).1);
}

#[test]
fn errors_follow_from_the_covariance() {
    let mut table = table(5);
    for (player, games) in
        [games(25, 0, 75), games(5, 10, 20), games(1, 2, 4)].into_iter().enumerate()
    {
        table.add_games(player, player + 1, games).unwrap();
    }
    let ratings = rate(&table);
    let covariance = |one, other| ratings.covariance(one, other).number().unwrap();
    let error = |variance: f64| 1.959_963_984_540_054 * variance.sqrt();
    for one in 0..4 {
        close(numbers(ratings.rating(one)).1, error(covariance(one, one)));
        for other in (0..4).filter(|other| *other != one) {
            close(covariance(one, other), covariance(other, one));
            let variance =
                covariance(one, one) + covariance(other, other) - 2.0 * covariance(one, other);
            close(numbers(ratings.difference(one, other)).1, error(variance));
        }
    }
    // The mean is always 0, and a player without games has no rating.
    close((0..4).map(|other| covariance(0, other)).sum::<f64>() + 1.0, 1.0);
    assert_eq!(ratings.covariance(0, 4), Figure::Unknown);
    assert_eq!(ratings.covariance(4, 4), Figure::Unknown);
}

#[test]
fn the_advantage_of_the_first_move_is_found() {
    let mut table = table(2);
    // As first mover 0 scores 0.65, as second 0.45: 10 more for either than on average.
    table.add_games(0, 1, games(2000, 3000, 5000)).unwrap();
    table.add_games(1, 0, games(3500, 2000, 4500)).unwrap();
    let ratings = Ratings::of(&table, &BTreeMap::new(), FirstMove::Estimated).unwrap();
    let [as_first, as_second] = [0.65, 0.45].map(|score| elo_of_score(score).number().unwrap());
    let (difference, _) = numbers(ratings.difference(0, 1));
    assert!((difference - f64::midpoint(as_first, as_second)).abs() < 0.1, "{difference}");
    let (first_move, error) = numbers(ratings.first_move());
    assert!((first_move - (as_first - as_second) / 2.0).abs() < 0.2, "{first_move}");
    assert!(error > 0.0 && error < 10.0, "{error}");
    // A player that always moves first may owe its score to that advantage, so the errors are large.
    let mut table = self::table(2);
    table.add_games(0, 1, games(2000, 3000, 5000)).unwrap();
    let unknown = Ratings::of(&table, &BTreeMap::new(), FirstMove::Estimated).unwrap();
    assert!(numbers(unknown.difference(0, 1)).1 > 150.0);
    let known = Ratings::of(&table, &BTreeMap::new(), FirstMove::Known(30.0)).unwrap();
    close(numbers(known.difference(0, 1)).0, as_first - 30.0);
    assert_eq!(numbers(known.first_move()), (30.0, 0.0));
}

/// Openings that decide every game carry no information about strength, which single games cannot show.
#[test]
fn pairs_that_cancel_out_narrow_the_errors() {
    let (mut pairs, mut single) = (table(2), table(2));
    for _ in 0..100 {
        pairs.add_pair(0, 1, Outcome::Win, Outcome::Loss).unwrap();
        single.add_game(0, 1, Outcome::Win).unwrap();
        single.add_game(1, 0, Outcome::Win).unwrap();
    }
    assert_eq!(pairs.against(1, 0), single.against(1, 0));
    let [(even, narrow), (also, wide)] =
        [&pairs, &single].map(|table| numbers(rate(table).difference(0, 1)));
    assert!(even.abs() < 1e-9 && also.abs() < 1e-9);
    assert!(narrow < wide / 5.0, "{narrow} {wide}");
    assert!(narrow > 0.0);
}

#[test]
fn pairs_are_the_same_seen_from_either_player() {
    let (mut one, mut other) = (table(2), table(2));
    one.add_pair(0, 1, Outcome::Win, Outcome::Draw).unwrap();
    one.add_pair(0, 1, Outcome::Loss, Outcome::Draw).unwrap();
    // Player 1 moved second where player 0 moved first.
    other.add_pair(1, 0, Outcome::Draw, Outcome::Loss).unwrap();
    other.add_pair(1, 0, Outcome::Draw, Outcome::Win).unwrap();
    assert_eq!(one, other);
}

#[test]
fn who_won_everything_is_rated_by_the_prior() {
    let mut table = table(3);
    table.add_games(0, 1, games(0, 0, 20)).unwrap();
    table.add_games(1, 2, games(5, 10, 5)).unwrap();
    let ratings = rate(&table);
    for player in 0..3 {
        assert!(ratings.rests_on_prior(player));
    }
    let (difference, error) = numbers(ratings.difference(0, 1));
    assert!((300.0..1500.0).contains(&difference), "{difference}");
    assert!(error > 200.0, "{error}");
    assert!(numbers(ratings.difference(1, 2)).0.abs() < 5.0);
    let more: f64 = (0..3).map(|player| numbers(ratings.rating(player)).0).sum();
    assert!(more.abs() < 1e-6);
    // More wins mean more.
    table.add_games(0, 1, games(0, 0, 500)).unwrap();
    assert!(numbers(rate(&table).difference(0, 1)).0 > difference + 100.0);
}

#[test]
fn groups_that_never_met_are_not_compared() {
    let mut table = table(5);
    table.add_games(0, 1, games(3, 3, 6)).unwrap();
    table.add_games(2, 3, games(6, 3, 3)).unwrap();
    let ratings = rate(&table);
    assert!(numbers(ratings.difference(0, 1)).0 > 0.0);
    assert_eq!(
        ratings.difference(0, 2),
        Estimate { value: Figure::Unknown, error: Figure::Unknown }
    );
    assert_eq!(ratings.los(0, 2), Figure::Unknown);
    assert_eq!(ratings.rating(4).value, Figure::Unknown);
    // Anchors make them comparable.
    let anchors = BTreeMap::from([(0, 2000.0), (3, 2500.0)]);
    let ratings = Ratings::of(&table, &anchors, NO_ADVANTAGE).unwrap();
    assert_eq!(numbers(ratings.rating(0)), (2000.0, 0.0));
    let (below, error) = numbers(ratings.difference(1, 3));
    close(below, numbers(ratings.rating(1)).0 - 2500.0);
    close(error, numbers(ratings.rating(1)).1);
    assert_eq!(ratings.los(3, 0), Figure::Number(1.0));
    assert_eq!(ratings.los(0, 5), Figure::Unknown);
}

#[test]
fn anchors_shift_all_ratings() {
    let mut table = table(3);
    table.add_games(0, 1, games(25, 0, 75)).unwrap();
    table.add_games(1, 2, games(25, 0, 75)).unwrap();
    let ratings = Ratings::of(&table, &BTreeMap::from([(1, 3000.0)]), NO_ADVANTAGE).unwrap();
    let step = elo_of_score(0.75).number().unwrap();
    close(numbers(ratings.rating(0)).0, 3000.0 + step);
    close(numbers(ratings.rating(2)).0, 3000.0 - step);
    // Beaten by a whitewash between two anchors, one is still found by the likelihood alone.
    let mut table = self::table(3);
    table.add_games(0, 1, games(0, 0, 9)).unwrap();
    table.add_games(1, 2, games(0, 0, 9)).unwrap();
    let anchors = BTreeMap::from([(0, 100.0), (2, -100.0)]);
    let ratings = Ratings::of(&table, &anchors, NO_ADVANTAGE).unwrap();
    assert!(!ratings.rests_on_prior(1));
    assert!(numbers(ratings.rating(1)).0.abs() < 1e-6);
}

#[test]
fn invalid_input_is_rejected() {
    let table = table(2);
    let anchored = |player, elo| {
        Ratings::of(&table, &BTreeMap::from([(player, elo)]), NO_ADVANTAGE).unwrap_err()
    };
    assert_eq!(anchored(2, 0.0), RatingsError::NoSuchPlayer(2));
    assert_eq!(anchored(0, f64::INFINITY), RatingsError::Value(f64::INFINITY));
    let error = Ratings::of(&table, &BTreeMap::new(), FirstMove::Known(f64::NAN)).unwrap_err();
    assert!(matches!(error, RatingsError::Value(elo) if elo.is_nan()));
    let empty = Ratings::of(&Crosstable::new(0).unwrap(), &BTreeMap::new(), FirstMove::Estimated);
    assert_eq!(empty.unwrap().players(), 0);
    assert_eq!(rate(&table).first_move().value.number(), Some(0.0));
    let unplayed = Ratings::of(&table, &BTreeMap::new(), FirstMove::Estimated).unwrap();
    assert_eq!(unplayed.first_move().value, Figure::Unknown);
}

/// Draws as often as the mean leaves room for.
fn play(rng: &mut Rng, elo: f64) -> Outcome {
    let score = score_of_elo(elo);
    let half_draws = 0.8 * score * (1.0 - score);
    let chance = rng.f64();
    if chance < score - half_draws {
        Outcome::Win
    } else if chance < score + half_draws {
        Outcome::Draw
    } else {
        Outcome::Loss
    }
}

/// The intervals hold what they should as often as they should.
#[test]
fn known_ratings_are_found_again() {
    const TOURNAMENTS: u32 = 400;
    let elos = [180.0, 60.0, 20.0, -40.0, -220.0];
    let first_move = 30.0;
    let mut rng = Rng::with_seed(5);
    let (mut held, mut asked, mut first_move_held) = (0u32, 0u32, 0u32);
    let mut sums = [0.0; 5];
    for _ in 0..TOURNAMENTS {
        let mut table = table(elos.len());
        for (one, a) in elos.iter().enumerate() {
            for (other, b) in elos.iter().enumerate().filter(|(other, _)| *other != one) {
                for _ in 0..30 {
                    let outcome = play(&mut rng, a - b + first_move);
                    table.add_game(one, other, outcome).unwrap();
                }
            }
        }
        let ratings = Ratings::of(&table, &BTreeMap::new(), FirstMove::Estimated).unwrap();
        for (sum, player) in sums.iter_mut().zip(0..) {
            *sum += numbers(ratings.rating(player)).0;
        }
        for (one, a) in elos.iter().enumerate() {
            for (other, b) in elos.iter().enumerate().filter(|(other, _)| *other > one) {
                let (difference, error) = numbers(ratings.difference(one, other));
                asked += 1;
                held += u32::from((difference - (a - b)).abs() <= error);
            }
        }
        let (found, error) = numbers(ratings.first_move());
        first_move_held += u32::from((found - first_move).abs() <= error);
    }
    for (sum, elo) in sums.iter().zip(elos) {
        let mean = sum / f64::from(TOURNAMENTS);
        assert!((mean - elo).abs() < 4.0, "{mean}, not {elo}");
    }
    let share = f64::from(held) / f64::from(asked);
    assert!((0.93..0.97).contains(&share), "{share} of the differences");
    let share = f64::from(first_move_held) / f64::from(TOURNAMENTS);
    assert!((0.92..0.98).contains(&share), "{share} of the advantages");
}

/// At the maximum of the likelihood, the expected points of every player equal the points scored.
#[test]
fn expected_points_are_those_made() {
    let elos = [100.0, 0.0, -30.0, -250.0, 15.0, 400.0];
    let mut rng = Rng::with_seed(6);
    let mut table = table(elos.len());
    for _ in 0..400 {
        let (one, other) = (rng.usize(0..6), rng.usize(0..6));
        if one != other {
            let outcome = play(&mut rng, elos[one] - elos[other]);
            table.add_game(one, other, outcome).unwrap();
        }
    }
    let ratings = rate(&table);
    for one in 0..elos.len() {
        let (mut made, mut expected) = (0.0, 0.0);
        for other in (0..elos.len()).filter(|other| *other != one) {
            let games = table.against(one, other);
            made += f64::from(u32::try_from(games.half_points()).unwrap()) / 2.0;
            let (difference, _) = numbers(ratings.difference(one, other));
            let played = f64::from(u32::try_from(games.games()).unwrap());
            expected += played * score_of_elo(difference);
        }
        close(made, expected);
    }
}
