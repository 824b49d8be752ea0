//! An engine for chess, Chess960 and shogi that speaks UCI and USI.
