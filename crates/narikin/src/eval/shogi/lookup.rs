//! The evaluation as a sum of values from tables in which the weights of a square and a king are summed beforehand.

use readyok_rules::rsshogi::types::{Color, HandPiece, Piece, SQ_NONE, Square};

use super::{
    attack_map::{Case, Cases},
    terms::{Side, guard, hand, threat},
    view::{COLORS, Context, DISTANCES, LEVELS, SQUARES, View},
    visit::Sink,
};
use crate::eval::{MAX_PHASE, Sum, WEIGHT_UNITS, Weight};

/// Sums values from the tables.
pub(super) struct Lookup<'a> {
    tables: &'a LookupTables,
    rows: [&'a Row; 2],
    levels: [usize; 2],
    threats: &'a Pieces<Values>,
    sum: LookupSum,
}

impl<'a> Lookup<'a> {
    #[inline(always)]
    pub(super) fn new(tables: &'a LookupTables, context: &Context) -> Self {
        let [black, white] = &tables.threats;
        let threats = if context.turn == Color::BLACK { black } else { white };
        let rows = tables.rows(context.kings);
        let mut sum = LookupSum::default();
        for row in rows {
            sum.add(row.king, 1);
        }
        Self { tables, rows, levels: context.levels, threats, sum }
    }

    #[inline(always)]
    pub(super) fn value(&self, phase: i32) -> i32 {
        let LookupSum { mg, eg } = self.sum;
        (mg * phase + eg * (MAX_PHASE - phase)) / (MAX_PHASE * WEIGHT_UNITS)
    }
}

impl Sink for Lookup<'_> {
    // Indices are reduced to the lengths of the tables, which are powers of two, so no bounds check
    // is needed.

    #[inline(always)]
    fn piece(&mut self, piece: Piece, square: usize, case: Case) {
        let (piece, square) = (piece.to_index() % Piece::COUNT, square % 128);
        let case = usize::from(case % 16);
        for (row, guards) in self.rows.iter().zip(&self.tables.guards) {
            let distance = usize::from(row.distances[square] % 8);
            self.sum.add(row.pieces[piece][square], 1);
            self.sum.add(guards[distance][piece][case], 1);
        }
        self.sum.add(self.threats[piece][case], 1);
    }

    #[inline(always)]
    fn attacks_map(&mut self, cases: &Cases) {
        for (row, level) in self.rows.iter().zip(self.levels) {
            for (values, case) in row.attacks_map[level % LEVELS].iter().zip(cases.iter()) {
                self.sum.add(values[usize::from(case % 16)], 1);
            }
        }
    }

    #[inline(always)]
    fn hand(&mut self, color: Color, piece: HandPiece, count: usize) {
        let hands = &self.tables.hands[color.to_index()];
        if let Some(values) = hands.get(piece.to_index()) {
            self.sum.add(values[count % 32], 1);
        }
    }

    #[inline(always)]
    fn term(&mut self, weight: usize, count: i32) {
        if let Some(&weight) = self.tables.weights.get(weight) {
            self.sum.add(weight, count);
        }
    }
}

#[derive(Default)]
struct LookupSum {
    mg: i32,
    eg: i32,
}

impl LookupSum {
    fn add(&mut self, weight: Weight, count: i32) {
        self.mg += i32::from(weight.mg) * count;
        self.eg += i32::from(weight.eg) * count;
    }
}

/// One per square, padded so that 7-bit indices are in range.
pub(super) type Squares<T> = [T; 128];

/// One per colored piece.
pub(super) type Pieces<T> = [T; Piece::COUNT];

/// One per [`Case`].
pub(super) type Values = [Weight; 16];

/// Values by king square.
pub(super) struct Row {
    pub(super) king: Weight,
    pub(super) pieces: Pieces<Squares<Weight>>,
    /// Distances of squares; [`DISTANCES`] without a king.
    pub(super) distances: Squares<u8>,
    /// By drop level of the opponent.
    pub(super) attacks_map: [[Values; SQUARES]; LEVELS],
}

/// The lookup tables.
pub(super) struct LookupTables {
    pub(super) weights: Vec<Weight>,
    /// By king square of Black and White.
    rows: [Vec<Row>; 2],
    /// Without a king.
    kingless: Box<[Row; 2]>,
    pub(super) threats: [Pieces<Values>; 2],
    /// By distance from the kings of Black and White.
    pub(super) guards: [[Pieces<Values>; 8]; 2],
    /// By number of pieces in the hands of Black and White.
    pub(super) hands: [[[Weight; 32]; HandPiece::COUNT]; 2],
}

impl LookupTables {
    pub(super) fn new(weights: Vec<Weight>) -> Self {
        let sums = Sums(&weights);
        Self {
            rows: COLORS.map(|color| Square::iter().map(|king| sums.row(color, king)).collect()),
            kingless: Box::new(COLORS.map(|color| sums.row(color, SQ_NONE))),
            threats: COLORS.map(|turn| {
                pieces(|piece| cases(|case| sums.of(|sum| threat(turn, piece, case, sum))))
            }),
            guards: COLORS.map(|color| {
                each(|distance| {
                    pieces(|piece| cases(|case| sums.guard(color, distance, piece, case)))
                })
            }),
            hands: COLORS.map(|color| {
                each(|index| {
                    let piece = HandPiece::iter().nth(index);
                    each(|count| match piece {
                        Some(piece) => sums.of(|sum| hand(color, piece, count, sum)),
                        None => Weight::default(),
                    })
                })
            }),
            weights,
        }
    }

    /// The rows of these king squares.
    pub(super) fn rows(&self, [black, white]: [Square; 2]) -> [&Row; 2] {
        let ([blacks, whites], [no_black, no_white]) = (&self.rows, &*self.kingless);
        [
            blacks.get(black.to_index()).unwrap_or(no_black),
            whites.get(white.to_index()).unwrap_or(no_white),
        ]
    }
}

/// Builds table entries.
struct Sums<'a>(&'a [Weight]);

impl Sums<'_> {
    fn row(&self, color: Color, king: Square) -> Row {
        let view = View::new(color, king);
        let side = |level| Side { color, view, level };
        let distance = |square| view.map_or(DISTANCES, |view| view.offset(square).distance());
        Row {
            king: self.of(|sum| side(0).king(sum)),
            pieces: pieces(|piece| {
                squares(|square| self.of(|sum| side(0).piece(piece, square, sum)))
            }),
            distances: squares(|square| u8::try_from(distance(square)).unwrap_or(u8::MAX)),
            attacks_map: each(|level| {
                each(|square| cases(|case| self.of(|sum| side(level).effect(square, case, sum))))
            }),
        }
    }

    fn guard(&self, color: Color, distance: usize, piece: Piece, case: Case) -> Weight {
        if distance < DISTANCES {
            self.of(|sum| guard(color, distance, piece, case, sum))
        } else {
            Weight::default()
        }
    }

    fn of(&self, terms: impl FnOnce(&mut Sum<'_>)) -> Weight {
        let mut sum = Sum { weights: self.0, mg: 0, eg: 0 };
        terms(&mut sum);
        Weight { mg: narrow(sum.mg), eg: narrow(sum.eg) }
    }
}

/// Saturates at 40 pawns.
fn narrow(value: i32) -> i16 {
    i16::try_from(value).unwrap_or(if value < 0 { i16::MIN } else { i16::MAX })
}

fn each<T, const N: usize>(make: impl FnMut(usize) -> T) -> [T; N] {
    std::array::from_fn(make)
}

fn cases(mut make: impl FnMut(Case) -> Weight) -> Values {
    let mut case = 0..;
    each(|_| case.next().map_or_else(Weight::default, &mut make))
}

fn pieces<T>(mut make: impl FnMut(Piece) -> T) -> Pieces<T> {
    let mut raw = 0..;
    each(|_| make(raw.next().map_or(Piece::NONE, Piece::new)))
}

fn squares<T: Default>(mut make: impl FnMut(usize) -> T) -> Squares<T> {
    each(|square| if square < SQUARES { make(square) } else { T::default() })
}
