//! Trees and many games: opening trees, and the games of a repertoire.

use readyok_library::{Filter, RepertoireGame, RepertoirePlace as LibraryPlace, move_of};
use readyok_rules::Position;
use readyok_rules::record::{GameRecord, NodeId as RecordId, OpeningTree, OpeningTreeOptions};

use super::App;
use super::library::failed;
use super::saving::blocking;
use crate::game::position_view::move_text;
use crate::store::{StoreError, filter_of, listed, storage};
use crate::wire::{
    Answer, ApiError, BuiltTree, ErrorCode, ErrorSubject, GameId, MoveText, Repertoire,
    RepertoirePlace, RepertoireQuery, Selection,
};

/// Maximum number of games of an opening tree.
const MAX_GAMES: usize = 200_000;

/// Maximum number of listed places, and of listed games of a place.
const MAX_PLACES: usize = 500;
const MAX_LISTED: usize = 20;

impl App {
    /// Adds a game with the main lines of games as one tree.
    pub(super) async fn build_opening_tree(
        &self,
        of: Selection,
        plies: u32,
        min_games: u32,
    ) -> Result<Answer, ApiError> {
        let games = self.select(of).await?;
        if MAX_GAMES < games.len() {
            return Err(ApiError::too_many(ErrorSubject::Game));
        }
        let library = self.library()?;
        let options = OpeningTreeOptions {
            plies: plies as usize,
            min_games,
            ..OpeningTreeOptions::default()
        };
        let (record, built) = blocking(move || {
            let mut tree: Option<OpeningTree> = None;
            let mut unconnected = 0;
            for id in games {
                let Some(stored) = library.game(id).map_err(failed)? else { continue };
                let record = stored.record().map_err(failed)?;
                let tree = tree.get_or_insert_with(|| OpeningTree::new(record.start(), options));
                unconnected += u32::from(!tree.add(&record));
            }
            let nothing = || ApiError::conflict(ErrorCode::NothingToMerge);
            let tree = tree.ok_or_else(nothing)?;
            let (games, cut) = (count(tree.len()), count(tree.cut_games()));
            let too_many = |_| ApiError::too_many(ErrorSubject::Move);
            let (record, omitted) = tree.record().map_err(too_many)?;
            let moves = count(record.len());
            Ok((record, BuiltTree { games, moves, omitted: count(omitted), unconnected, cut }))
        })
        .await?;
        let added = self.add_documents(vec![record.into()]).await?;
        let game = *added.first().ok_or_else(|| storage(StoreError::Closed))?;
        Ok(Answer::OpeningTree { game, tree: built })
    }

    /// The games that reach a position of a tree, by the place where they leave it.
    pub(crate) async fn repertoire(&self, query: RepertoireQuery) -> Result<Repertoire, ApiError> {
        let (tree, _) = self.tree_of(query.tree).await?;
        self.write_open_games().await;
        let library = self.library()?;
        let (search, _guard) = self.long_searches.begin(None);
        blocking(move || {
            let condition = filter_of(&query.filter)?;
            let record = &tree.document().record;
            let watch = |done, all| search.report(done, all);
            let filter = Filter::watched(&condition, &watch);
            let found = library.repertoire(record, filter).map_err(failed)?;
            let mut repertoire = Repertoire::default();
            // The tree does not find itself.
            let found: Vec<RepertoireGame> =
                found.into_iter().filter(|exit| exit.game != query.tree).collect();
            for exit in &found {
                repertoire.counts.add(exit.result);
            }
            let places = LibraryPlace::group(found);
            repertoire.total = count(places.len());
            for LibraryPlace { node, mv, counts, games } in places.into_iter().take(MAX_PLACES) {
                let Some((line, position)) = line_to(record, node) else { continue };
                let latest: Vec<GameId> = games.into_iter().rev().take(MAX_LISTED).collect();
                let entries = library.entries(&latest).map_err(failed)?;
                repertoire.places.push(RepertoirePlace {
                    node: node.into(),
                    line,
                    turn: position.turn(),
                    text: move_of(&position, mv).map(|mv| move_text(&position, mv)),
                    counts,
                    games: entries.into_iter().map(listed).collect(),
                });
            }
            Ok(repertoire)
        })
        .await
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The moves to a node, and its position.
fn line_to(record: &GameRecord, node: RecordId) -> Option<(Vec<MoveText>, Position)> {
    let mut position = record.start().clone();
    let mut line = Vec::new();
    for id in record.line_to(node) {
        let mv = record.node(id)?.mv()?;
        if let Some(mv) = mv.legal() {
            line.push(move_text(&position, mv));
        }
        mv.play(&mut position).ok()?;
    }
    Some((line, position))
}
