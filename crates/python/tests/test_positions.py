"""Positions, and the differences of results between games."""

import copy
import pickle

import pytest
from readyok import Game, IllegalMoveError, Position, PositionError, Score


def test_moves_of_any_notation_are_pushed_and_taken_back():
    position = Position()
    assert [position.push(move) for move in ("e4", "c7c5", "Nf3", "d6")] == ["e2e4", "c7c5", "g1f3", "d7d6"]
    assert position.ply == 4 and position.moves[-1] == "d7d6" and position.move_number == 3
    assert position.pop() == "d7d6" and position.turn == "second"
    assert position.start == Position() and position.copy() == position
    with pytest.raises(IndexError):
        Position().pop()


def test_an_illegal_line_changes_nothing():
    position = Position()
    with pytest.raises(IllegalMoveError) as raised:
        position.push_all(["e2e4", "e7e5", "e1e3"])
    assert raised.value.index == 2 and raised.value.move == "e1e3" and isinstance(raised.value, ValueError)
    assert position.moves == [] and position == Position()


def test_ambiguous_moves_list_their_candidates():
    position = Position("4k3/8/8/8/8/8/8/R3K2R w - - 0 1")
    with pytest.raises(IllegalMoveError) as raised:
        Position("4k3/8/8/8/8/4K3/8/R6R w - - 0 1").push("Rd1")
    assert sorted(raised.value.candidates) == ["a1d1", "h1d1"]
    assert position.notation("a1d1") == "Rd1"


def test_shogi_has_its_notations_hands_and_results():
    position = Position(game="shogi", moves=["7g7f", "3c3d", "8h2b+", "3a2b"])
    assert (position.hand("first"), position.hand("second")) == ({"B": 1}, {"B": 1})
    assert position.notation("B*4e", "japanese") == "▲４五角"
    assert position.parse("▲４五角", "japanese") == "B*4e"
    assert position.notation("B*4e", "western") == "B*4e"
    assert Position.handicap("rook").turn == "second"
    assert Position(game="shogi").hand("first") == {}


def test_chess960_castles_by_king_takes_rook():
    position = Position("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", game="chess960")
    assert {"e1h1", "e1a1"} <= set(position.legal_moves) and "e1g1" not in position.legal_moves
    assert position.notation("e1h1") == "O-O" and position.text("shredder").split()[2] == "HAha"
    assert Position.chess960(518).text() == Position().text() and Position.chess960(518).chess960_number == 518
    with pytest.raises(ValueError):
        Position.chess960(960)


def test_outcomes_name_winner_and_termination():
    outcome = Position(moves=["f3", "e5", "g4", "Qh4#"]).outcome
    assert (outcome.result, outcome.winner, outcome.termination) == ("0-1", "second", "checkmate")
    repeated = Position(moves=["g1f3", "g8f6", "f3g1", "f6g8"] * 2)
    assert repeated.outcome.termination == "repetition" and repeated.claims == ["repetition"]
    assert Position().outcome is None and len({outcome, outcome}) == 1


def test_keys_are_those_of_polyglot():
    # From the specification of the Polyglot book format.
    assert Position().key == 0x463B96181691FC9C
    assert Position(moves=["e2e4", "d7d5", "e4e5", "f7f5", "e1e2"]).key == 0x652A607CA3F242C1


def test_forms_of_fen_differ_in_castling_and_en_passant():
    position = Position(moves=["e2e4"])
    assert position.text().split()[3] == "-" and position.text("fen").split()[3] == "e3"
    assert str(position) == position.text() and repr(position).startswith("Position('rnbq")


def test_positions_can_be_copied_and_sent_to_other_processes():
    position = Position(moves=["e2e4", "e7e5"])
    for other in (pickle.loads(pickle.dumps(position)), copy.copy(position), copy.deepcopy(position)):
        assert other == position and other.moves == position.moves
        other.push("Nf3")
        assert other != position
    with pytest.raises(TypeError, match="unhashable"):
        hash(position)


def test_bad_positions_have_the_text_of_rust():
    with pytest.raises(PositionError, match="king") as raised:
        Position("8/8/8/8/8/8/8/4K3 w - - 0 1")
    assert isinstance(raised.value, ValueError)


def test_lines_of_engines_stay_unchanged_after_an_illegal_move():
    assert Position().line(["e2e4", "e2e4", "x"]) == ["e4", "e2e4", "x"]


def test_scores_are_ordered_and_count_plies():
    ordered = [Score(mate=-2), Score(mate=-8), Score(-10), Score(0), Score(500), Score(mate=9), Score(mate=1)]
    assert sorted(ordered, key=lambda score: score) == ordered
    assert (-Score(mate=3)).mate == -3 and Score(mate=3).mate_moves == 2 and Score(30).cp == 30
    assert str(Score(25)) == "+0.25" and Score(25) == Score(25) and hash(Score(25)) == hash(Score(25))
    assert Score(0).winning_chances() == 50 and Score(mate=1).winning_chances("shogi") == 100
    with pytest.raises(ValueError):
        Score()


def test_a_game_of_a_finished_position_has_its_outcome():
    game = Game(Position(moves=["f3", "e5", "g4", "Qh4#"]))
    assert game.result == "0-1" and game.outcome.termination == "checkmate" and len(game) == 4
