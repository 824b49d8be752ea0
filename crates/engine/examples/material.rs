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
                let score = -negamax(&next, depth - 1, 1, &mut nodes, &is_over);
                if iteration.is_none_or(|(most, _)| most < score) && !is_over(nodes) {
                    iteration = Some((score, mv));
                }
            }
            let Some((score, mv)) = iteration.filter(|_| !is_over(nodes)) else { break };
            best = Some(mv);
            control.info(Info {
                depth: Some(depth),
                score: Some(Score::Cp(score)),
                nodes: Some(nodes),
                time: Some(control.elapsed()),
                pv: Some(board.encode_line(&[mv], request.castling)),
                ..Info::default()
            });
        }
        board.answer(best, request)
    }
}

/// The score of the side to move.
fn negamax(
    board: &Chess,
    depth: u32,
    ply: i32,
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
    let mut best = -MATE;
    for mv in legal_moves(board) {
        let mut next = board.clone();
        next.play_unchecked(mv);
        best = best.max(-negamax(&next, depth - 1, ply + 1, nodes, is_over));
    }
    best
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
