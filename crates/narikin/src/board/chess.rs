//! Chess and Chess960 on the board of `cozy-chess`.

mod probe;

use cozy_chess::{
    BitBoard, Board as Cozy, BoardBuilder, Color, File, Move, Piece, Rank, Square,
    get_between_rays, get_bishop_moves, get_bishop_rays, get_king_moves, get_knight_moves,
    get_line_rays, get_pawn_attacks, get_rook_moves, get_rook_rays,
};
use readyok_rules::{BoardRef, Position, shakmaty};

use super::{Board, CORRECTION_KEYS, MoveList, SearchMove, TbMove, cuckoo::Cuckoo};
use crate::{
    control::{Limits, TbConfig},
    endgames,
    network::{Changes, features::chess as features},
    score::{DRAW, Value},
    search::{Tuning, tt::Bound},
};

/// Piece values of the SEE.
const PIECE_VALUES: [Value; Piece::NUM] = [100, 310, 330, 500, 960, 10_000];

static KEYS: [[u64; 64]; 12] = super::keys();

/// A move with its piece and the captured piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChessMove {
    mv: Move,
    /// Kind and color: White's pieces come first.
    piece: u8,
    /// The captured kind plus 1; 0 for none.
    victim: u8,
}

impl SearchMove for ChessMove {
    fn packed(self) -> u16 {
        let promotion = self.mv.promotion.map_or(0, |piece| piece as u16);
        self.mv.from as u16 | (self.mv.to as u16) << 6 | promotion << 12
    }

    fn from(self) -> usize {
        self.mv.from as usize
    }

    fn to(self) -> usize {
        self.mv.to as usize
    }

    fn piece(self) -> usize {
        self.piece.into()
    }
}

#[derive(Clone)]
struct ChessState {
    board: Cozy,
    correction_keys: [u64; CORRECTION_KEYS],
    check_info: CheckInfo,
}

/// Squares and pieces that give check.
#[derive(Clone, Copy)]
struct CheckInfo {
    /// Checking squares of a pawn, knight, bishop and rook.
    direct: [BitBoard; 4],
    /// Own pieces that shield the enemy king from own sliders.
    blockers: BitBoard,
}

impl CheckInfo {
    fn new(board: &Cozy) -> Self {
        let side = board.side_to_move();
        let king = board.king(!side);
        let occupied = board.occupied();
        let queens = board.pieces(Piece::Queen);
        let ours = board.colors(side);
        let far = get_bishop_rays(king) & (board.pieces(Piece::Bishop) | queens)
            | get_rook_rays(king) & (board.pieces(Piece::Rook) | queens);
        let mut blockers = BitBoard::EMPTY;
        for attacker in far & ours {
            let between = get_between_rays(attacker, king) & occupied;
            // Exactly one piece.
            if !between.is_empty() && between.0.is_power_of_two() {
                blockers |= between & ours;
            }
        }
        let direct = [
            get_pawn_attacks(king, !side),
            get_knight_moves(king),
            get_bishop_moves(king, occupied),
            get_rook_moves(king, occupied),
        ];
        Self { direct, blockers }
    }
}

impl ChessState {
    fn new(board: Cozy, correction_keys: [u64; CORRECTION_KEYS]) -> Self {
        let check_info = CheckInfo::new(&board);
        Self { board, correction_keys, check_info }
    }
}

#[derive(Clone)]
pub(crate) struct Chess {
    now: ChessState,
    /// Earlier positions of the search.
    line: Vec<ChessState>,
    /// Keys of earlier positions in the game and in the search.
    keys: Vec<u64>,
    /// Plies since the last null move.
    plies_since_null: usize,
    null_move_plies: Vec<usize>,
}

impl Chess {
    /// Calls `each` with every piece that a move removes (false) or adds (true).
    fn for_each_change(
        &self,
        mv: Move,
        piece: Piece,
        mut each: impl FnMut(Piece, Color, Square, bool),
    ) {
        let board = &self.now.board;
        let side = board.side_to_move();
        if board.colors(side).has(mv.to) {
            let short = mv.from.file() < mv.to.file();
            let (king, rook) = if short { (File::G, File::F) } else { (File::C, File::D) };
            let rank = Rank::First.relative_to(side);
            each(Piece::King, side, mv.from, false);
            each(Piece::Rook, side, mv.to, false);
            each(Piece::King, side, Square::new(king, rank), true);
            each(Piece::Rook, side, Square::new(rook, rank), true);
            return;
        }
        each(piece, side, mv.from, false);
        if let Some(victim) = board.piece_on(mv.to) {
            each(victim, !side, mv.to, false);
        } else if piece == Piece::Pawn && mv.from.file() != mv.to.file() {
            each(Piece::Pawn, !side, Square::new(mv.to.file(), mv.from.rank()), false);
        }
        each(mv.promotion.unwrap_or(piece), side, mv.to, true);
    }

    /// Generates moves. Underpromotions count as quiet.
    fn generate(&self, kind_filter: GenKind, list: &mut MoveList<ChessMove>) {
        let board = &self.now.board;
        let side = board.side_to_move();
        let theirs = board.colors(!side);
        let last = Rank::Eighth.relative_to(side).bitboard();
        let en_passant = ep_square(board).map_or(BitBoard::EMPTY, Square::bitboard);
        board.generate_moves(|mut moves| {
            let piece = colored(side, moves.piece);
            let captures = match moves.piece {
                Piece::Pawn => theirs | en_passant,
                _ => theirs,
            };
            if moves.piece == Piece::Pawn {
                for to in moves.to & last {
                    let victim = self.victim_on(to, moves.piece, moves.from);
                    let mut add = |promotion| {
                        let mv = Move { from: moves.from, to, promotion: Some(promotion) };
                        list.push((0, ChessMove { mv, piece, victim }));
                    };
                    if kind_filter != GenKind::Quiet {
                        add(Piece::Queen);
                    }
                    if kind_filter != GenKind::Noisy {
                        [Piece::Knight, Piece::Rook, Piece::Bishop].into_iter().for_each(&mut add);
                    }
                }
                moves.to &= !last;
            }
            if kind_filter != GenKind::Quiet {
                for to in moves.to & captures {
                    let victim = self.victim_on(to, moves.piece, moves.from);
                    let mv = Move { from: moves.from, to, promotion: None };
                    list.push((0, ChessMove { mv, piece, victim }));
                }
            }
            if kind_filter != GenKind::Noisy {
                for to in moves.to & !captures {
                    let mv = Move { from: moves.from, to, promotion: None };
                    list.push((0, ChessMove { mv, piece, victim: 0 }));
                }
            }
            false
        });
    }

    fn chess_move(&self, mv: Move, piece: Piece) -> ChessMove {
        let victim = self.victim_on(mv.to, piece, mv.from);
        ChessMove { mv, piece: colored(self.now.board.side_to_move(), piece), victim }
    }

    /// The captured piece of a move, as in [`ChessMove::victim`].
    fn victim_on(&self, to: Square, piece: Piece, from: Square) -> u8 {
        let board = &self.now.board;
        if board.colors(board.side_to_move()).has(to) {
            return 0;
        }
        match board.piece_on(to) {
            Some(victim) => victim as u8 + 1,
            None if piece == Piece::Pawn && from.file() != to.file() => Piece::Pawn as u8 + 1,
            None => 0,
        }
    }

    /// Distances in plies to earlier occurrences of the position, the last one first.
    fn occurrences(&self) -> impl Iterator<Item = usize> {
        let reversible = usize::from(self.now.board.halfmove_clock()).min(self.plies_since_null);
        let key = key_of(&self.now.board);
        // Every second position has the same side to move, and the last of these always differs.
        let earlier = self.keys.iter().rev().take(reversible).enumerate().skip(3).step_by(2);
        earlier.filter(move |&(_, &earlier)| earlier == key).map(|(back, _)| back + 1)
    }

    fn is_threefold_repetition(&self) -> bool {
        self.occurrences().nth(1).is_some()
    }

    fn is_castling(&self, mv: Move) -> bool {
        self.now.board.colors(self.now.board.side_to_move()).has(mv.to)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GenKind {
    Noisy,
    Quiet,
    All,
}

/// A hash key with the en passant file only if a capture is possible.
fn key_of(board: &Cozy) -> u64 {
    let side = board.side_to_move();
    let ready = ep_square(board).is_some_and(|square| {
        !(get_pawn_attacks(square, !side) & board.colored_pieces(side, Piece::Pawn)).is_empty()
    });
    if ready { board.hash() } else { board.hash_without_ep() }
}

/// Converts a position; none if it is not supported, such as with more than 16 pieces of a color.
/// A legal move.
fn to_shakmaty(board: &shakmaty::Board, mv: Move) -> Option<shakmaty::Move> {
    let square = |square: Square| shakmaty::Square::try_from(square as u32).ok();
    let (from, to) = (square(mv.from)?, square(mv.to)?);
    let role = board.role_at(from)?;
    Some(match (role, board.role_at(to)) {
        (shakmaty::Role::King, Some(shakmaty::Role::Rook))
            if board.color_at(from) == board.color_at(to) =>
        {
            shakmaty::Move::Castle { king: from, rook: to }
        }
        (shakmaty::Role::Pawn, None) if from.file() != to.file() => {
            shakmaty::Move::EnPassant { from, to }
        }
        (_, capture) => {
            let promotion = mv.promotion.map(|piece| match piece {
                Piece::Pawn => shakmaty::Role::Pawn,
                Piece::Knight => shakmaty::Role::Knight,
                Piece::Bishop => shakmaty::Role::Bishop,
                Piece::Rook => shakmaty::Role::Rook,
                Piece::Queen => shakmaty::Role::Queen,
                Piece::King => shakmaty::Role::King,
            });
            shakmaty::Move::Normal { role, from, capture, to, promotion }
        }
    })
}

fn to_cozy(position: &shakmaty::Chess) -> Option<Cozy> {
    use shakmaty::Position as _;

    let mut board = BoardBuilder::empty();
    for (square, piece) in position.board() {
        let kind = match piece.role {
            shakmaty::Role::Pawn => Piece::Pawn,
            shakmaty::Role::Knight => Piece::Knight,
            shakmaty::Role::Bishop => Piece::Bishop,
            shakmaty::Role::Rook => Piece::Rook,
            shakmaty::Role::Queen => Piece::Queen,
            shakmaty::Role::King => Piece::King,
        };
        let color = piece.color.fold_wb(Color::White, Color::Black);
        *board.square_mut(Square::try_index(square.to_usize())?) = Some((kind, color));
    }
    board.side_to_move = position.turn().fold_wb(Color::White, Color::Black);
    let castles = position.castles();
    for (from, to) in
        [(shakmaty::Color::White, Color::White), (shakmaty::Color::Black, Color::Black)]
    {
        let file = |side| {
            let rook = castles.rook(from, side)?;
            Some(Square::try_index(rook.to_usize())?.file())
        };
        let rights = board.castle_rights_mut(to);
        rights.short = file(shakmaty::CastlingSide::KingSide);
        rights.long = file(shakmaty::CastlingSide::QueenSide);
    }
    board.en_passant =
        position.legal_ep_square().and_then(|square| Square::try_index(square.to_usize()));
    // Larger counters make no difference.
    board.halfmove_clock = u8::try_from(position.halfmoves().min(100)).unwrap_or(100);
    board.fullmove_number = u16::try_from(position.fullmoves().get().min(1000)).unwrap_or(1000);
    board.build().ok()
}

fn colored(side: Color, piece: Piece) -> u8 {
    side as u8 * 6 + piece as u8
}

/// The kind of a colored piece.
fn kind(piece: u8) -> Piece {
    Piece::try_index(usize::from(piece % 6)).unwrap_or(Piece::Pawn)
}

/// The en passant square.
fn ep_square(board: &Cozy) -> Option<Square> {
    let file = board.en_passant()?;
    Some(Square::new(file, Rank::Sixth.relative_to(board.side_to_move())))
}

/// Toggles a piece in the correction history keys.
fn toggle(
    correction_keys: &mut [u64; CORRECTION_KEYS],
    piece: Piece,
    color: Color,
    square: Square,
) {
    let index = usize::from(colored(color, piece));
    let key = KEYS.get(index).and_then(|keys| keys.get(square as usize)).copied().unwrap_or(0);
    let [pawns, white, black, minors] = correction_keys;
    match (piece, color) {
        (Piece::Pawn, _) => *pawns ^= key,
        (_, Color::White) => *white ^= key,
        (_, Color::Black) => *black ^= key,
    }
    if matches!(piece, Piece::Knight | Piece::Bishop | Piece::King) {
        *minors ^= key;
    }
}

fn pieces(board: &Cozy) -> impl Iterator<Item = (Piece, Color, Square)> {
    board
        .occupied()
        .into_iter()
        .filter_map(|square| Some((board.piece_on(square)?, board.color_on(square)?, square)))
}

fn correction_keys_of(board: &Cozy) -> [u64; CORRECTION_KEYS] {
    let mut correction_keys = [0; CORRECTION_KEYS];
    pieces(board)
        .for_each(|(piece, color, square)| toggle(&mut correction_keys, piece, color, square));
    correction_keys
}

impl Board for Chess {
    type Move = ChessMove;

    const STALEMATE_LOSES: bool = false;
    const HAS_ZUGZWANG: bool = true;
    const SQUARES: usize = 64;
    const FROMS: usize = 64;
    const PIECES: usize = 12;
    const VICTIMS: usize = 7;
    const TUNING: Tuning = Tuning {
        window: 21,
        reverse_futility: 41,
        razor: Some(197),
        futility: [65, 69],
        quiet_exchange: 24,
        noisy_exchange: 76,
        probcut: 141,
        delta: 170,
        late_moves: [6, 1],
        reduction: [100, 232],
        reduction_terms: [1342, 421, 903, 78],
        special_reductions: [687, 615, 1580, 919, 662, 667],
        eval_change_bonus: 6,
        history_bonus: [163, 1531],
        correction: 148,
        null_move: [63, 14],
        extensions: [20, 65],
        hindsight: 107,
        history_pruning: [2070, 4899],
        check_plies: 0,
        wide_plies: 6,
    };

    fn new(position: &Position, _limits: &Limits) -> Option<Self> {
        let BoardRef::Chess(board) = position.board() else { return None };
        if position.defect().is_some() {
            return None;
        }
        let cozy = to_cozy(board.position())?;
        // The libraries have different hash keys. An unsupported position cannot recur.
        let keys: Vec<u64> = board
            .earlier()
            .map(|earlier| to_cozy(earlier).map_or(0, |position| key_of(&position)))
            .collect();
        let correction_keys = correction_keys_of(&cozy);
        let plies_since_null = keys.len();
        Some(Self {
            now: ChessState::new(cozy, correction_keys),
            line: Vec::with_capacity(256),
            keys,
            plies_since_null,
            null_move_plies: Vec::new(),
        })
    }

    #[cfg(test)]
    fn notation(ChessMove { mv, .. }: ChessMove) -> String {
        mv.to_string()
    }

    fn moves(position: &Position, line: &[ChessMove]) -> impl Iterator<Item = readyok_rules::Move> {
        use shakmaty::Position as _;

        let board = match position.board() {
            BoardRef::Chess(board) => Some(board.position().clone()),
            BoardRef::Shogi(_) | BoardRef::Diagram(_) => None,
        };
        line.iter().scan(board, |board, mv| {
            let board = board.as_mut()?;
            let mv = to_shakmaty(board.board(), mv.mv)?;
            board.play_unchecked(mv);
            Some(readyok_rules::Move::Chess(mv))
        })
    }

    fn generate_noisy(&self, list: &mut MoveList<ChessMove>) {
        self.generate(GenKind::Noisy, list);
    }

    fn generate_quiets(&self, list: &mut MoveList<ChessMove>) {
        self.generate(GenKind::Quiet, list);
    }

    fn generate_quiet_checks(&self, list: &mut MoveList<ChessMove>) {
        let start = list.len();
        self.generate(GenKind::Quiet, list);
        let mut kept = start;
        for index in start..list.len() {
            if list.get(index).is_some_and(|&(_, mv)| self.gives_check(mv)) {
                list.swap(kept, index);
                kept += 1;
            }
        }
        list.truncate(kept);
    }

    fn generate_all(&self, list: &mut MoveList<ChessMove>) {
        self.generate(GenKind::All, list);
    }

    fn is_legal(&self, _mv: ChessMove) -> bool {
        // Generated moves are legal.
        true
    }

    fn unpack(&self, packed: u16) -> Option<ChessMove> {
        let square = |bits: u16| Square::try_index(usize::from(bits & 63));
        let (from, to) = (square(packed)?, square(packed >> 6)?);
        let promotion = match packed >> 12 {
            0 => None,
            piece => Some(Piece::try_index(usize::from(piece))?),
        };
        let mv = Move { from, to, promotion };
        let board = &self.now.board;
        let piece = board.piece_on(from)?;
        if !board.is_legal(mv) {
            return None;
        }
        Some(self.chess_move(mv, piece))
    }

    fn play(&mut self, mv: ChessMove) {
        self.line.push(self.now.clone());
        self.keys.push(key_of(&self.now.board));
        let mut correction_keys = self.now.correction_keys;
        self.for_each_change(mv.mv, kind(mv.piece), |piece, color, square, _| {
            toggle(&mut correction_keys, piece, color, square);
        });
        self.now.correction_keys = correction_keys;
        self.now.board.play_unchecked(mv.mv);
        self.now.check_info = CheckInfo::new(&self.now.board);
        self.plies_since_null += 1;
    }

    fn undo(&mut self, _mv: ChessMove) {
        if let (Some(state), Some(_)) = (self.line.pop(), self.keys.pop()) {
            self.now = state;
            self.plies_since_null = self.plies_since_null.saturating_sub(1);
        }
    }

    fn null_move_allowed(&self) -> bool {
        let board = &self.now.board;
        let pawns = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
        !self.in_check() && !(board.colors(board.side_to_move()) & !pawns).is_empty()
    }

    fn make_null(&mut self) {
        if let Some(board) = self.now.board.null_move() {
            self.line.push(self.now.clone());
            self.keys.push(key_of(&self.now.board));
            self.now = ChessState::new(board, self.now.correction_keys);
            self.null_move_plies.push(self.plies_since_null);
            self.plies_since_null = 0;
        }
    }

    fn unmake_null(&mut self) {
        if let (Some(state), Some(_)) = (self.line.pop(), self.keys.pop()) {
            self.now = state;
            self.plies_since_null = self.null_move_plies.pop().unwrap_or(0);
        }
    }

    fn side(&self) -> usize {
        self.now.board.side_to_move() as usize
    }

    fn key(&self) -> u64 {
        key_of(&self.now.board)
    }

    fn has_bare_king(&self) -> bool {
        Color::ALL.into_iter().any(|color| self.now.board.colors(color).len() == 1)
    }

    fn correction_keys(&self) -> [u64; CORRECTION_KEYS] {
        self.now.correction_keys
    }

    fn in_check(&self) -> bool {
        !self.now.board.checkers().is_empty()
    }

    fn gives_check(&self, mv: ChessMove) -> bool {
        let board = &self.now.board;
        let side = board.side_to_move();
        let king = board.king(!side);
        let ChessMove { mv, piece, .. } = mv;
        let piece = kind(piece);
        let en_passant = piece == Piece::Pawn && Some(mv.to) == ep_square(board);
        if mv.promotion.is_some() || self.is_castling(mv) || en_passant {
            let mut after = board.clone();
            after.play_unchecked(mv);
            return !after.checkers().is_empty();
        }
        let CheckInfo { direct: [pawn, knight, diagonal, straight], blockers } =
            self.now.check_info;
        let from_there = match piece {
            Piece::Pawn => pawn,
            Piece::Knight => knight,
            Piece::Bishop => diagonal,
            Piece::Rook => straight,
            Piece::Queen => diagonal | straight,
            Piece::King => BitBoard::EMPTY,
        };
        from_there.has(mv.to) || blockers.has(mv.from) && !get_line_rays(king, mv.from).has(mv.to)
    }

    fn game_end(&self, ply: usize) -> Option<Value> {
        let board = &self.now.board;
        if board.halfmove_clock() >= 100 {
            // Checkmate on the last ply has priority.
            let mated = self.in_check() && !board.generate_moves(|_| true);
            return (!mated).then_some(DRAW);
        }
        let mut same = self.occurrences();
        // One repetition within the search is enough.
        let repeated = same.next().is_some_and(|back| back < ply || same.next().is_some());
        (repeated || cannot_mate(board)).then_some(DRAW)
    }

    fn has_upcoming_repetition(&self, ply: usize) -> bool {
        let board = &self.now.board;
        let reversible = usize::from(board.halfmove_clock()).min(self.plies_since_null);
        if reversible < 3 {
            return false;
        }
        let key = key_of(board);
        let earlier = self.keys.iter().rev().take(reversible.min(ply)).enumerate();
        earlier.skip(2).step_by(2).any(|(_, &earlier)| {
            Cuckoo::get().move_between(key ^ earlier).is_some_and(|(from, to)| {
                (get_between_rays(from, to) & board.occupied()).is_empty()
                    && board.occupied().has(from) != board.occupied().has(to)
            })
        })
    }

    fn plies_left(&self) -> u32 {
        100_u32.saturating_sub(self.now.board.halfmove_clock().into())
    }

    fn threats(&self) -> u128 {
        let board = &self.now.board;
        let (side, occupied) = (board.side_to_move(), board.occupied());
        let theirs = |piece| board.colored_pieces(!side, piece);
        let mut attacked = get_king_moves(board.king(!side));
        for pawn in theirs(Piece::Pawn) {
            attacked |= get_pawn_attacks(pawn, !side);
        }
        for knight in theirs(Piece::Knight) {
            attacked |= get_knight_moves(knight);
        }
        let queens = theirs(Piece::Queen);
        for slider in theirs(Piece::Bishop) | queens {
            attacked |= get_bishop_moves(slider, occupied);
        }
        for slider in theirs(Piece::Rook) | queens {
            attacked |= get_rook_moves(slider, occupied);
        }
        attacked.0.into()
    }

    fn rule50_scale(&self) -> i32 {
        256 - i32::from(self.now.board.halfmove_clock())
    }

    fn endgame_value(&self, value: Value) -> Value {
        endgames::corrected_value(&self.now.board, value)
    }

    type Position = Cozy;

    fn position(&self) -> &Cozy {
        &self.now.board
    }

    fn changes(&self, mv: ChessMove) -> Changes {
        let mut changes = Changes::default();
        self.for_each_change(mv.mv, kind(mv.piece), |piece, color, square, added| {
            let feature = features::piece_feature(piece, color, square);
            if !added {
                changes.remove(feature);
                return;
            }
            changes.add(feature);
            if piece == Piece::King {
                changes.set_mirrored(features::is_mirrored_by(square));
            }
        });
        changes
    }

    fn is_noisy(&self, mv: ChessMove) -> bool {
        match mv.mv.promotion {
            Some(piece) => piece == Piece::Queen,
            None => mv.victim != 0,
        }
    }

    fn victim(&self, mv: ChessMove) -> usize {
        mv.victim.into()
    }

    fn material_gain(&self, mv: ChessMove) -> Value {
        let taken = match mv.victim.checked_sub(1) {
            Some(victim) => piece_value(kind(victim)),
            None => 0,
        };
        taken + mv.mv.promotion.map_or(0, |piece| piece_value(piece) - piece_value(Piece::Pawn))
    }

    fn see_ge(&self, mv: ChessMove, threshold: Value) -> bool {
        if self.is_castling(mv.mv) {
            return threshold <= 0;
        }
        see_ge(&self.now.board, mv.mv, kind(mv.piece), self.material_gain(mv), threshold)
    }

    fn probe(&self, config: &TbConfig, depth: i32, win: Value) -> Option<(Value, Bound)> {
        self.tablebase_bound(config, depth, win)
    }

    fn probe_root(&self, config: &TbConfig, win: Value) -> Option<Vec<TbMove>> {
        self.tablebase_root(config, win)
    }

    fn mate_in_one(&mut self) -> Option<ChessMove> {
        None
    }
}

fn piece_value(piece: Piece) -> Value {
    PIECE_VALUES.get(piece as usize).copied().unwrap_or(0)
}

/// Insufficient material: kings with one knight, or with bishops on squares of one color.
fn cannot_mate(board: &Cozy) -> bool {
    let bishops = board.pieces(Piece::Bishop);
    let others = board.occupied() & !board.pieces(Piece::King) & !bishops;
    if !others.is_empty() {
        return bishops.is_empty() && others.len() == 1 && others == board.pieces(Piece::Knight);
    }
    bishops.is_subset(BitBoard::LIGHT_SQUARES) || bishops.is_subset(BitBoard::DARK_SQUARES)
}

/// Static exchange evaluation: whether a move that gains `gain` gains at least `threshold` after
/// all recaptures.
///
/// Each side captures with its least valuable piece or stops. Pins are ignored.
fn see_ge(board: &Cozy, mv: Move, piece: Piece, material_gain: Value, threshold: Value) -> bool {
    // The balance if the moved piece is not recaptured, then if it is lost.
    let mut balance = material_gain - threshold;
    if balance < 0 {
        return false;
    }
    balance -= piece_value(mv.promotion.unwrap_or(piece));
    if balance >= 0 {
        return true;
    }
    let to = mv.to;
    let diagonal = board.pieces(Piece::Bishop) | board.pieces(Piece::Queen);
    let straight = board.pieces(Piece::Rook) | board.pieces(Piece::Queen);
    let mut occupied = (board.occupied() & !mv.from.bitboard()) | to.bitboard();
    if piece == Piece::Pawn && mv.from.file() != to.file() && !board.occupied().has(to) {
        occupied &= !Square::new(to.file(), mv.from.rank()).bitboard();
    }
    let mut side = !board.side_to_move();
    let pawns = board.pieces(Piece::Pawn);
    let mut attackers = get_pawn_attacks(to, side) & board.colors(!side) & pawns
        | get_pawn_attacks(to, !side) & board.colors(side) & pawns
        | get_knight_moves(to) & board.pieces(Piece::Knight)
        | get_king_moves(to) & board.pieces(Piece::King)
        | get_bishop_moves(to, occupied) & diagonal
        | get_rook_moves(to, occupied) & straight;
    loop {
        attackers &= occupied;
        let ours = attackers & board.colors(side);
        let attacker_kind =
            Piece::ALL.into_iter().find(|&kind| !(ours & board.pieces(kind)).is_empty());
        let Some(kind) = attacker_kind else { break };
        // The king cannot capture a defended piece.
        if kind == Piece::King && !(attackers & board.colors(!side)).is_empty() {
            break;
        }
        let Some(from) = (ours & board.pieces(kind)).next_square() else { break };
        occupied ^= from.bitboard();
        if matches!(kind, Piece::Pawn | Piece::Bishop | Piece::Queen) {
            attackers |= get_bishop_moves(to, occupied) & diagonal;
        }
        if matches!(kind, Piece::Rook | Piece::Queen) {
            attackers |= get_rook_moves(to, occupied) & straight;
        }
        side = !side;
        balance = -balance - 1 - piece_value(kind);
        // Ahead even without the capturing piece.
        if balance >= 0 {
            break;
        }
    }
    side != board.side_to_move()
}

#[cfg(test)]
mod tests {
    use readyok_rules::Game;

    use super::*;

    #[test]
    fn threats_are_squares_with_an_attacker() {
        for fen in [
            "rnbq1k1r/pP1Pbppp/2p5/8/2B5/8/P1P1NnPP/RNBQK2R w KQ - 1 8",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
        ] {
            let position = Position::from_text(Game::Chess, fen).expect("a position");
            let chess = Chess::new(&position, &Limits::default()).expect("a board");
            let board = &chess.now.board;
            let (side, occupied) = (board.side_to_move(), board.occupied());
            let theirs = |piece| board.colored_pieces(!side, piece);
            let queens = theirs(Piece::Queen);
            for square in Square::ALL {
                let attackers = get_pawn_attacks(square, side) & theirs(Piece::Pawn)
                    | get_knight_moves(square) & theirs(Piece::Knight)
                    | get_bishop_moves(square, occupied) & (theirs(Piece::Bishop) | queens)
                    | get_rook_moves(square, occupied) & (theirs(Piece::Rook) | queens)
                    | get_king_moves(square) & theirs(Piece::King);
                let is_threatened = chess.threats() >> square as usize & 1 != 0;
                assert_eq!(is_threatened, !attackers.is_empty(), "{fen} {square}");
            }
        }
    }
}
