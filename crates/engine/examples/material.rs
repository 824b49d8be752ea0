//! Searches the material balance by iterative deepening, for chess and Chess960.

use cozy_chess::{Board as Chess, GameStatus, Move, Piece};
use readyok_engine::protocol::Go;
use readyok_engine::{Answer, Board, Control, Engine, Info, Options, Runner, Score, SearchRequest};

const MATE: i32 = 30_000;

struct Material;

impl Engine for Material {
    type Board = Chess;

    fn search(&mut self, request: &SearchRequest, control: &Control) -> Answer {
        let board = Chess::from_position(&request.position)?;
        let Go { depth, nodes: max_nodes, search_moves, .. } = &request.go;
        let mut moves = legal_moves(&board);
        if let Some(wanted) = search_moves {
            let wanted: Vec<Move> =
                wanted.tokens().filter_map(|text| board.decode_move(text).ok()).collect();
            moves.retain(|mv| wanted.contains(mv));
        }
        let (mut best, mut nodes) = (moves.first().copied(), 0);
        for depth in 1..=depth.unwrap_or(64).min(64) {
            let is_over =
                |nodes: u64| control.stopped() || max_nodes.is_some_and(|max| max <= nodes);
            let mut iteration = None;
            for &mv in &moves {
                let mut next = board.clone();
                next.play_move(&mv)?;
                let most = iteration.map_or(-MATE, |(most, _)| most);
                let score = -negamax(&next, depth - 1, (1, -MATE, -most), &mut nodes, &is_over);
                if (iteration.is_none() || most < score) && !is_over(nodes) {
                    iteration = Some((score, mv));
                }
            }
            let Some((score, mv)) = iteration.filter(|_| !is_over(nodes)) else { break };
            best = Some(mv);
            control.info(Info {
                depth: Some(depth),
                score: Some(reported(score)),
                nodes: Some(nodes),
                time: Some(control.elapsed()),
                pv: Some(board.encode_line(&[mv], request.castling)),
                ..Info::default()
            });
        }
        board.answer(best, request)
    }
}

/// A score in centipawns, or the distance to mate.
fn reported(score: i32) -> Score {
    match MATE - score.abs() {
        plies @ ..1000 if 0 < score => Score::MateIn { plies: plies.unsigned_abs() },
        plies @ ..1000 => Score::MatedIn { plies: plies.unsigned_abs() },
        _ => Score::Cp(score),
    }
}

/// The score of the side to move, by alpha-beta search.
fn negamax(
    board: &Chess,
    depth: u32,
    (ply, mut alpha, beta): (i32, i32, i32),
    nodes: &mut u64,
    is_over: &impl Fn(u64) -> bool,
) -> i32 {
    *nodes += 1;
    match board.status() {
        GameStatus::Won => return ply - MATE,
        GameStatus::Drawn => return 0,
        GameStatus::Ongoing if depth == 0 || is_over(*nodes) => return material(board),
        GameStatus::Ongoing => (),
    }
    for mv in legal_moves(board) {
        let mut next = board.clone();
        next.play_unchecked(mv);
        alpha = alpha.max(-negamax(&next, depth - 1, (ply + 1, -beta, -alpha), nodes, is_over));
        if beta <= alpha {
            break;
        }
    }
    alpha
}

fn material(board: &Chess) -> i32 {
    let value = |(piece, value): (Piece, i32)| {
        let count = |color| board.colored_pieces(color, piece).len().cast_signed();
        let ours = board.side_to_move();
        value * (count(ours) - count(!ours))
    };
    let values = [
        (Piece::Pawn, 100),
        (Piece::Knight, 300),
        (Piece::Bishop, 300),
        (Piece::Rook, 500),
        (Piece::Queen, 900),
    ];
    values.into_iter().map(value).sum()
}

fn legal_moves(board: &Chess) -> Vec<Move> {
    let mut moves = Vec::new();
    board.generate_moves(|more| {
        moves.extend(more);
        false
    });
    moves
}

fn main() -> std::io::Result<()> {
    let mut options = Options::new();
    options.chess960();
    options.ponder();
    Runner::new("Material 1.0", Material).author("A. Author").options(options).run_stdio()
}
