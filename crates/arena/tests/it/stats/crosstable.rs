//! Crosstables and tie-breaks.

use readyok_arena::stats::{
    Counts, Crosstable, CrosstableError, MAX_GAMES, MAX_PLAYERS, Outcome, Pentanomial, Ranking,
    TieBreak, Trinomial,
};

/// Four players, each against each once: 0 beats all but draws 1; 1 beats 3 and draws 2; 2 beats 3.
fn round_robin() -> Crosstable {
    use Outcome::{Draw, Loss, Win};
    let mut table = Crosstable::new(4).unwrap();
    for (first, second, outcome) in
        [(0, 1, Draw), (2, 0, Loss), (0, 3, Win), (1, 2, Draw), (3, 1, Loss), (2, 3, Win)]
    {
        table.add_game(first, second, outcome).unwrap();
    }
    table
}

#[test]
fn a_round_robin_is_ranked() {
    let rules = [
        TieBreak::SonnebornBerger,
        TieBreak::Buchholz,
        TieBreak::BuchholzCut1,
        TieBreak::MedianBuchholz,
        TieBreak::Wins,
    ];
    let rankings = round_robin().rankings(&rules);
    let places: Vec<_> = rankings
        .iter()
        .map(|place| (place.player, place.rank, place.half_points, place.tie_breaks.as_slice()))
        .collect();
    // Half points are 5, 4, 3, 0.
    assert_eq!(
        places,
        [
            (0, 1, 5, &[4 + 2 * 3, 4 + 3, 7, 3, 2][..]),
            (1, 2, 4, &[5 + 3, 5 + 3, 8, 3, 1]),
            (2, 3, 3, &[4, 5 + 4, 9, 4, 1]),
            (3, 4, 0, &[0, 5 + 4 + 3, 9, 4, 0]),
        ]
    );
}

#[test]
fn tie_breaks_rank_equal_points_and_complete_ties_share_a_rank() {
    let mut table = Crosstable::new(4).unwrap();
    table.add_game(0, 1, Outcome::Win).unwrap();
    table.add_game(3, 2, Outcome::Win).unwrap();
    table.add_game(1, 2, Outcome::Win).unwrap();
    let rank = |rankings: &[Ranking]| -> Vec<(usize, usize)> {
        rankings.iter().map(|place| (place.player, place.rank)).collect()
    };
    assert_eq!(rank(&table.rankings(&[])), [(0, 1), (1, 1), (3, 1), (2, 4)]);
    assert_eq!(
        rank(&table.rankings(&[TieBreak::SonnebornBerger])),
        [(0, 1), (1, 2), (3, 2), (2, 4)]
    );
}

#[test]
fn byes_are_points_without_an_opponent() {
    let mut table = round_robin();
    table.add_bye(3, 2).unwrap();
    let rankings = table.rankings(&[TieBreak::Buchholz]);
    let last = rankings.iter().find(|place| place.player == 3).unwrap();
    assert_eq!((last.half_points, last.games, last.tie_breaks[0]), (2, 3, 12));
    let first = rankings.first().unwrap();
    assert_eq!((first.player, first.tie_breaks[0]), (0, 4 + 3 + 2));
}

#[test]
fn games_are_seen_from_either_side() {
    let mut table = Crosstable::new(2).unwrap();
    table.add_games(1, 0, Trinomial::new(1, 2, 3).unwrap()).unwrap();
    table.add_pair(1, 0, Outcome::Win, Outcome::Draw).unwrap();
    assert_eq!(table.against(1, 0), Trinomial::new(1, 3, 4).unwrap());
    assert_eq!(table.against(0, 1), Trinomial::new(4, 3, 1).unwrap());
    assert_eq!(table.against(0, 9), Trinomial::default());
    assert_eq!(table.half_points(1) + table.half_points(0), 16);
}

#[test]
fn invalid_results_are_rejected() {
    use CrosstableError::{Alone, NoSuchPlayer, TooManyGames, TooManyPlayers};
    assert_eq!(Crosstable::new(MAX_PLAYERS + 1), Err(TooManyPlayers(MAX_PLAYERS + 1)));
    let mut table = Crosstable::new(2).unwrap();
    assert_eq!(table.add_game(0, 2, Outcome::Win), Err(NoSuchPlayer(2)));
    assert_eq!(table.add_game(1, 1, Outcome::Win), Err(Alone(1)));
    assert_eq!(table.add_bye(7, 2), Err(NoSuchPlayer(7)));
    table.add_games(0, 1, Trinomial::new(MAX_GAMES, 0, 0).unwrap()).unwrap();
    let before = table.clone();
    assert_eq!(table.add_game(1, 0, Outcome::Win), Err(TooManyGames));
    let pair = table.add_pair(1, 0, Outcome::Win, Outcome::Win);
    assert_eq!(pair, Err(TooManyGames));
    assert_eq!(table, before);
    table.add_bye(0, u64::MAX).unwrap();
    assert_eq!(table.add_bye(0, 1), Err(TooManyGames));
    assert_eq!(table.half_points(0), u64::MAX);
}

#[test]
fn results_are_pairs_while_there_is_nothing_else() {
    use Outcome::{Draw, Loss, Win};
    let mut table = Crosstable::new(3).expect("three players");
    let outcomes = [Loss, Draw, Win];
    for first in outcomes {
        for second in outcomes {
            table.add_pair(1, 0, first, second).expect("players of the table");
        }
    }
    table.add_pair(2, 0, Win, Draw).expect("players of the table");
    let pairs = |counts: [u64; 6]| {
        let [ll, ld, wl, dd, wd, ww] = counts;
        Counts::Pairs(Pentanomial::new(ll, ld, wl, dd, wd, ww).expect("few"))
    };
    assert_eq!(table.counts(1, 0), pairs([1, 2, 2, 1, 2, 1]));
    assert_eq!(table.counts(0, 2), pairs([0, 1, 0, 0, 0, 0]));
    assert_eq!(table.counts(1, 2).games(), 0);
    assert_eq!(table.total(0), pairs([1, 3, 2, 1, 2, 1]));
    table.add_game(2, 0, Win).expect("players of the table");
    let games =
        |losses, draws, wins| Counts::Games(Trinomial::new(losses, draws, wins).expect("few"));
    assert_eq!(table.counts(2, 0), games(0, 1, 2));
    assert_eq!(table.counts(1, 0), pairs([1, 2, 2, 1, 2, 1]));
    assert_eq!(table.total(0), games(6 + 2, 6 + 1, 6));
}
