//! Positions, legal moves and notations of chess, Chess960 and shogi.
