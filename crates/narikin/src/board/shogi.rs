//! Shogi on the board of `rsshogi`.

use readyok_rules::{
    BoardRef, Impasse,
    rsshogi::{
        board::{
            KING_ATTACKS, Move32List, Ply, Position, generate_position_state,
            position_from_position_state, zobrist::ZobristKey,
        },
        mate::solve_mate_in_one_in_place,
        movegen::{
            CapturePlusPro, Legal, Move32Sink, MoveGenType, QuietsProMinus,
            generate_legal_all_move32, generate_moves_move32_into,
        },
        types::{Color, EnteringKingRule, Hand, HandPiece, Move, Move32, Piece, PieceType},
    },
};

use super::{Board, CORRECTION_KEYS, MoveList, SearchMove};
use crate::{
    control::Limits,
    mate::{self, Solution, Solver},
    network::{Changes, features::shogi as features},
    score::{DRAW, Value, WON, declared_win},
    search::Tuning,
};

/// Piece values of the SEE, by type.
const PIECE_VALUES: [Value; 15] =
    [0, 90, 315, 405, 495, 855, 990, 540, 15_000, 540, 540, 540, 540, 945, 1395];

/// Piece kinds of the history tables: promoted small pieces move like gold.
const KIND: [u8; 15] = [0, 0, 1, 2, 3, 4, 5, 6, 7, 6, 6, 6, 6, 8, 9];
const KINDS: usize = 10;

/// The piece of a move is the one after promotion.
impl SearchMove for Move32 {
    fn packed(self) -> u16 {
        self.to_move().raw()
    }

    fn from(self) -> usize {
        match self.dropped_piece() {
            Some(piece) => 80 + piece.to_index(),
            None => self.from_sq().to_index(),
        }
    }

    fn to(self) -> usize {
        self.to_sq().to_index()
    }

    fn piece(self) -> usize {
        let piece = self.piece_after_move();
        kind(piece.piece_type()) + KINDS * piece.color().to_index()
    }
}

/// Mate in one is searched only for kings with at most this many escapes.
const MAX_ESCAPES: usize = 3;

/// Plies searched for repetitions.
const MAX_REPETITION_PLIES: usize = 256;

/// An earlier position, for repetitions.
#[derive(Clone, Copy)]
struct PastPosition {
    board: u64,
    hand: Hand,
}

#[derive(Clone)]
pub(crate) struct Shogi {
    position: Position,
    /// Earlier positions in the game and in the search.
    past: Vec<PastPosition>,
    /// The keys of these positions.
    keys: KeyFilter,
    /// The number of positions before the root.
    root: usize,
    /// The counters of successive checks at the root, by color.
    root_checks: [u16; Color::COUNT],
    /// Plies since the last null move.
    plies_since_null: usize,
    null_move_plies: Vec<usize>,
    /// The game is drawn after this ply.
    last_ply: Ply,
}

impl Shogi {
    fn generate<K: MoveGenType>(&self, list: &mut MoveList<Move32>, keep: impl Fn(Move32) -> bool) {
        generate_moves_move32_into::<K, _>(&self.position, &mut Sink { list, keep });
    }
}

/// Collects generated moves that pass a filter.
struct Sink<'a, F> {
    list: &'a mut MoveList<Move32>,
    keep: F,
}

impl<F: Fn(Move32) -> bool> Move32Sink for Sink<'_, F> {
    fn push_move32(&mut self, mv: Move32) {
        if (self.keep)(mv) {
            self.list.push((0, mv));
        }
    }

    fn retain_unordered<G: FnMut(Move32) -> bool>(&mut self, mut keep: G) {
        self.list.retain(|&(_, mv)| keep(mv));
    }
}

impl Shogi {
    /// The number of escape squares of the opponent's king.
    fn escapes(&self) -> usize {
        let us = self.position.turn();
        let king = self.position.king_square(us.flip());
        if king.is_none() {
            return 0;
        }
        let free = KING_ATTACKS[king].and(self.position.pieces_by_color(us.flip()).not());
        free.iter().filter(|&to| !self.position.is_attacked_by(to, us)).count()
    }

    /// The value of a repetition: the first one in the search, the fourth occurrence in the game.
    fn repetition(&self, ply: usize) -> Option<Value> {
        let board = self.position.board_key().low_u64();
        if !self.keys.may_contain(board) {
            return None;
        }
        let us = self.position.turn();
        let hand = self.position.hand(us);
        // Every second position has the same side to move, and the last of these always differs.
        let earlier = self
            .past
            .iter()
            .rev()
            .take(self.plies_since_null.min(MAX_REPETITION_PLIES))
            .enumerate();
        let earlier = earlier.skip(3).step_by(2);
        let mut same = earlier.filter(|(_, past)| past.board == board && past.hand == hand);
        let (index, _) = same.next()?;
        // One repetition within the search is enough.
        let index = if index + 1 < ply { index } else { same.nth(1)?.0 };
        // A side that gave check with every move since then loses. The counters count two per
        // check.
        Some(if index < self.continuous_checks(us) {
            -WON
        } else if index < self.continuous_checks(us.flip()) {
            WON
        } else {
            DRAW
        })
    }

    fn is_capture(&self, mv: Move32) -> bool {
        !mv.is_drop() && self.position.piece_on(mv.to_sq()) != Piece::NONE
    }

    /// Two per successive check of this color, up to its last move.
    fn continuous_checks(&self, color: Color) -> usize {
        let in_search = usize::from(self.position.continuous_checks()[color.to_index()]);
        let plies = self.past.len() - self.root;
        let moves = if color == self.position.turn() { plies / 2 } else { plies.div_ceil(2) };
        // The counter of `position` begins at the root.
        let before = if in_search == 2 * moves { self.root_checks[color.to_index()] } else { 0 };
        in_search + usize::from(before)
    }

    fn push(&mut self) {
        let board = self.position.board_key().low_u64();
        self.keys.add(board);
        self.past.push(PastPosition { board, hand: self.position.hand(self.position.turn()) });
    }

    fn pop(&mut self) {
        if let Some(past) = self.past.pop() {
            self.keys.remove(past.board);
        }
    }
}

/// Most positions do not repeat, which a counting Bloom filter with one hash function shows without a
/// search.
#[derive(Clone)]
struct KeyFilter(Box<[u16; Self::LENGTH]>);

impl Default for KeyFilter {
    fn default() -> Self {
        Self(Box::new([0; Self::LENGTH]))
    }
}

impl KeyFilter {
    const LENGTH: usize = 4096;

    fn index(key: u64) -> usize {
        usize::try_from(key % Self::LENGTH as u64).unwrap_or(0)
    }

    fn add(&mut self, key: u64) {
        if let Some(count) = self.0.get_mut(Self::index(key)) {
            *count += 1;
        }
    }

    fn remove(&mut self, key: u64) {
        if let Some(count) = self.0.get_mut(Self::index(key)) {
            *count -= 1;
        }
    }

    fn may_contain(&self, key: u64) -> bool {
        self.0.get(Self::index(key)).is_some_and(|&count| count > 0)
    }
}

fn kind(piece: PieceType) -> usize {
    KIND.get(piece.to_index()).copied().unwrap_or(0).into()
}

fn piece_value(piece: PieceType) -> Value {
    PIECE_VALUES.get(piece.to_index()).copied().unwrap_or(0)
}

/// 2^64 divided by the golden ratio, for multiplicative hashing.
const GOLDEN_RATIO: u64 = 0x9E37_79B9_7F4A_7C15;

/// The value of a capture: the piece changes sides, unpromoted.
fn capture_value(piece: PieceType) -> Value {
    piece_value(piece) + piece_value(piece.demote())
}

impl Board for Shogi {
    type Move = Move32;

    const STALEMATE_LOSES: bool = true;
    const HAS_ZUGZWANG: bool = false;
    const SQUARES: usize = 81;
    const FROMS: usize = 88;
    const PIECES: usize = 2 * KINDS;
    const VICTIMS: usize = KINDS + 1;
    const TUNING: Tuning = Tuning {
        window: 30,
        reverse_futility: 110,
        razor: None,
        futility: [140, 130],
        quiet_exchange: 30,
        noisy_exchange: 130,
        probcut: 300,
        delta: 280,
        late_moves: [6, 1],
        reduction: [70, 235],
        reduction_terms: [2048, 512, 1024, 128],
        special_reductions: [768, 1024, 1024, 1024, 768, 1024],
        eval_change_bonus: 10,
        history_bonus: [160, 1800],
        correction: 128,
        null_move: [60, 20],
        extensions: [18, 90],
        hindsight: 170,
        history_pruning: [1500, 3500],
        check_plies: 1,
        wide_plies: 16,
    };

    fn new(position: &readyok_rules::Position, limits: &Limits) -> Option<Self> {
        let BoardRef::Shogi(board) = position.board() else { return None };
        if position.defect().is_some() {
            return None;
        }
        let position = board.position();
        let mut past: Vec<PastPosition> = position
            .state_history()
            .iter()
            .map(|entry| PastPosition { board: entry.board_key().low_u64(), hand: entry.hand() })
            .collect();
        past.pop();
        let plies_since_null = past.len();
        // Each move of `rsshogi` would compare the position with all of the history.
        let root_checks = position.continuous_checks();
        let mut position = position_from_position_state(&generate_position_state(position));
        position.set_entering_king_rule(match (limits.impasse, limits.ignore_missing_pieces) {
            (Some(Impasse::Ignored), _) => EnteringKingRule::None,
            (Some(Impasse::Points24), false) => EnteringKingRule::Point24Handicap,
            (Some(Impasse::Points24), true) => EnteringKingRule::Point24,
            (Some(Impasse::Points27Handicap), false) => EnteringKingRule::Point27Handicap,
            (Some(Impasse::Points27) | None, _) | (Some(Impasse::Points27Handicap), true) => {
                EnteringKingRule::Point27
            }
            (Some(Impasse::Try), _) => EnteringKingRule::TryRule,
        });
        let last_ply = limits.max_moves.and_then(|moves| moves.try_into().ok());
        let last_ply = last_ply.unwrap_or(Ply::MAX);
        let root = past.len();
        let mut keys = KeyFilter::default();
        for past in &past {
            keys.add(past.board);
        }
        Some(Self {
            position,
            past,
            keys,
            root,
            root_checks,
            plies_since_null,
            null_move_plies: Vec::new(),
            last_ply,
        })
    }

    #[cfg(test)]
    fn notation(mv: Move32) -> String {
        mv.to_usi()
    }

    fn moves(
        _position: &readyok_rules::Position,
        line: &[Move32],
    ) -> impl Iterator<Item = readyok_rules::Move> {
        line.iter().copied().map(readyok_rules::Move::Shogi)
    }

    fn generate_noisy(&self, list: &mut MoveList<Move32>) {
        if self.in_check() {
            self.generate::<Legal>(list, |mv| self.is_noisy(mv));
        } else {
            self.generate::<CapturePlusPro>(list, |_| true);
        }
    }

    fn generate_quiets(&self, list: &mut MoveList<Move32>) {
        if self.in_check() {
            self.generate::<Legal>(list, |mv| !self.is_noisy(mv));
        } else {
            self.generate::<QuietsProMinus>(list, |_| true);
        }
    }

    fn generate_quiet_checks(&self, list: &mut MoveList<Move32>) {
        self.generate::<QuietsProMinus>(list, |mv| self.gives_check(mv));
    }

    fn generate_all(&self, list: &mut MoveList<Move32>) {
        let mut moves = Move32List::new();
        generate_legal_all_move32(&self.position, &mut moves);
        list.extend(moves.iter().map(|&mv| (0, mv)));
    }

    fn is_legal(&self, mv: Move32) -> bool {
        self.position.is_legal_after_pseudo_move32(mv)
    }

    fn unpack(&self, packed: u16) -> Option<Move32> {
        let mv = self.position.move32_from_move(Move::from_raw(packed));
        (mv.is_normal() && self.position.is_legal_move32(mv)).then_some(mv)
    }

    fn play(&mut self, mv: Move32) {
        self.push();
        self.plies_since_null += 1;
        self.position.apply_move32(mv);
    }

    fn undo(&mut self, mv: Move32) {
        let undone = self.position.undo_move32(mv);
        debug_assert!(undone.is_ok(), "only the last move is unmade");
        self.pop();
        self.plies_since_null = self.plies_since_null.saturating_sub(1);
    }

    fn null_move_allowed(&self) -> bool {
        !self.in_check()
    }

    fn make_null(&mut self) {
        self.push();
        self.null_move_plies.push(self.plies_since_null);
        self.plies_since_null = 0;
        let passed = self.position.apply_null_move();
        debug_assert!(passed.is_ok(), "no null move in check");
    }

    fn unmake_null(&mut self) {
        let undone = self.position.undo_null_move();
        debug_assert!(undone.is_ok(), "only a null move is unmade");
        self.pop();
        self.plies_since_null = self.null_move_plies.pop().unwrap_or(0);
    }

    fn side(&self) -> usize {
        self.position.turn().to_index()
    }

    fn key(&self) -> u64 {
        self.position.key().low_u64()
    }

    fn correction_keys(&self) -> [u64; CORRECTION_KEYS] {
        let keys = self.position.partial_keys();
        let [black, white] = keys.non_pawn;
        let [pawn, black, white] = [keys.pawn, black, white].map(ZobristKey::low_u64);
        // The other keys do not cover the hands.
        let hand = |color| u64::from(self.position.hand(color).bits());
        let hands = (hand(Color::BLACK) << 32 | hand(Color::WHITE)).wrapping_mul(GOLDEN_RATIO);
        [pawn, black, white, hands ^ hands >> 29]
    }

    fn in_check(&self) -> bool {
        self.position.is_in_check()
    }

    fn gives_check(&self, mv: Move32) -> bool {
        self.position.gives_check_move32(mv)
    }

    fn game_end(&self, ply: usize) -> Option<Value> {
        self.repetition(ply).or_else(|| {
            // Plies count from 1 and include the next one.
            if self.position.game_ply() > self.last_ply && !self.in_check() {
                return Some(DRAW);
            }
            let declared = ply > 0 && self.position.declaration_win_move() != Move32::MOVE_NONE;
            declared.then(|| declared_win(ply))
        })
    }

    fn has_upcoming_repetition(&self, _ply: usize) -> bool {
        false
    }

    fn plies_left(&self) -> u32 {
        (self.last_ply.saturating_add(1)).saturating_sub(self.position.game_ply()).into()
    }

    fn rule50_scale(&self) -> i32 {
        256
    }

    type Position = Position;

    fn position(&self) -> &Position {
        &self.position
    }

    fn changes(&self, mv: Move32) -> Changes {
        let mut changes = Changes::default();
        let us = self.position.turn();
        let hand = self.position.hand(us);
        let (piece, to) = (mv.piece_after_move(), mv.to_sq());
        if let Some(piece) = mv.dropped_piece().and_then(HandPiece::from_piece_type) {
            changes.remove(features::hand_feature(piece, hand.count(piece), us));
        } else {
            let from = mv.from_sq();
            changes.remove(features::piece_feature(self.position.piece_on(from), from));
            let victim = self.position.piece_on(to);
            if victim != Piece::NONE {
                changes.remove(features::piece_feature(victim, to));
                if let Some(piece) = HandPiece::from_piece_type(victim.piece_type().demote()) {
                    changes.add(features::hand_feature(piece, hand.count(piece) + 1, us));
                }
            }
        }
        changes.add(features::piece_feature(piece, to));
        if piece.piece_type() == PieceType::KING {
            changes.set_mirrored(features::is_mirrored_by(to, us));
        }
        changes
    }

    fn is_noisy(&self, mv: Move32) -> bool {
        let pawn = mv.is_promotion() && mv.piece_after_move().piece_type() == PieceType::PRO_PAWN;
        pawn || self.is_capture(mv)
    }

    fn victim(&self, mv: Move32) -> usize {
        match self.position.piece_on(mv.to_sq()) {
            Piece::NONE => 0,
            piece => 1 + kind(piece.piece_type()),
        }
    }

    fn material_gain(&self, mv: Move32) -> Value {
        let promoted = if mv.is_promotion() {
            let after = mv.piece_after_move().piece_type();
            piece_value(after) - piece_value(after.demote())
        } else {
            0
        };
        let taken = if mv.is_drop() {
            0
        } else {
            capture_value(self.position.piece_on(mv.to_sq()).piece_type())
        };
        taken + promoted
    }

    fn see_ge(&self, mv: Move32, threshold: Value) -> bool {
        see_ge(&self.position, mv, self.material_gain(mv), threshold)
    }

    fn mate_in_one(&mut self) -> Option<Move32> {
        // A king with many escapes is hardly ever mated in one.
        if self.escapes() > MAX_ESCAPES {
            return None;
        }
        solve_mate_in_one_in_place(&mut self.position)
    }

    fn mate(
        &self,
        solver: &mut Solver,
        limits: &mate::SolverLimits,
        stop: &mut dyn FnMut() -> bool,
    ) -> Solution {
        // A mate after the end of the game does not count.
        let left = self.last_ply.saturating_sub(self.position.game_ply().saturating_sub(1));
        let left = (self.last_ply < Ply::MAX).then_some(left);
        let plies = left.into_iter().chain(limits.plies).min();
        solver
            .solve(&self.position, &mate::SolverLimits { plies, ..limits.clone() }, &mut |_| stop())
    }
}

/// Piece types, least valuable first.
const ASCENDING_VALUES: [PieceType; 14] = [
    PieceType::PAWN,
    PieceType::LANCE,
    PieceType::KNIGHT,
    PieceType::PRO_PAWN,
    PieceType::PRO_LANCE,
    PieceType::PRO_KNIGHT,
    PieceType::SILVER,
    PieceType::PRO_SILVER,
    PieceType::GOLD,
    PieceType::BISHOP,
    PieceType::HORSE,
    PieceType::ROOK,
    PieceType::DRAGON,
    PieceType::KING,
];

/// Static exchange evaluation: whether a move that gains `gain` gains at least `threshold` after
/// all recaptures.
///
/// Each side captures with its least valuable piece or stops. Pins and promotions are ignored.
fn see_ge(position: &Position, mv: Move32, material_gain: Value, threshold: Value) -> bool {
    let mut balance = material_gain - threshold;
    if balance < 0 {
        return false;
    }
    balance -= capture_value(mv.piece_after_move().piece_type());
    if balance >= 0 {
        return true;
    }
    let to = mv.to_sq();
    let mut occupied = position.pieces();
    occupied.set(to);
    if !mv.is_drop() {
        occupied.clear(mv.from_sq());
    }
    let us = position.turn();
    let mut side = us.flip();
    loop {
        let attackers = position.attackers_to(to, occupied).and(occupied);
        let ours = attackers.and(position.pieces_by_color(side));
        let attacker_kind = ASCENDING_VALUES
            .into_iter()
            .find(|&kind| ours.intersects(position.pieces_by_type(kind)));
        let Some(kind) = attacker_kind else { break };
        // The king cannot capture a defended piece.
        if kind == PieceType::KING && attackers.intersects(position.pieces_by_color(side.flip())) {
            break;
        }
        let Some(from) = ours.and(position.pieces_by_type(kind)).lsb() else { break };
        occupied.clear(from);
        side = side.flip();
        balance = -balance - 1 - capture_value(kind);
        // Ahead even without the capturing piece.
        if balance >= 0 {
            break;
        }
    }
    side != us
}
