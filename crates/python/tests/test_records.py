"""Games, nodes, reading and writing."""

import array
import gzip
import io
import warnings

import pytest
import readyok
from readyok import Game, Position, RecordError, RecordWarning, Score, read, write

PGN = b"""[Event "Test"]
[White "A"]
[Black "B"]
[Result "1-0"]

1. e4 $1 { best [%clk 0:09:58] [%csl Ge4][%cal Re2e4] } 1... e5 (1... c5 { Sicilian } 2. Nf3) 2. Nf3 1-0
"""


def first(text: bytes, *arguments: str) -> Game:
    return next(read(text, *arguments))


def test_a_tree_has_moves_variations_and_annotations():
    game = first(PGN)
    assert game.moves == ["e2e4", "e7e5", "g1f3"] and game.line() == ["e4", "e5", "Nf3"]
    node = game.root.next
    assert (node.move, node.notation(), node.ply, node.nags, node.comment) == ("e2e4", "e4", 1, [1], "best")
    assert node.clock == 598.0 and node.marks == [("green", "e4", None), ("red", "e2", "e4")]
    assert [child.move for child in node.children] == ["e7e5", "c7c5"]
    assert node.children[1].next.parent == node.children[1] and len(game.nodes) == 5
    assert game.find(Position(moves=["e4", "c5"])).comment == "Sicilian"
    assert game.opening is not None and game.position.moves == game.moves


def test_headers_are_a_dictionary():
    headers = first(PGN).headers
    assert headers["White"] == "A" and "Black" in headers and headers.get("Elo") is None
    headers.update({"White": "C", "Elo": "2000"})
    del headers["Event"]
    assert dict(headers) == {"White": "C", "Black": "B", "Elo": "2000"}
    with pytest.raises(KeyError):
        headers["Event"]
    assert first(b'[A "1"]\n[A "2"]\n\n*').headers.all()[:2] == [("A", "1"), ("A", "2")]


def test_edits_are_written():
    game = Game(Position(moves=["e4", "e5"]))
    node = game.root.next
    node.comment, node.nags, node.clock = "king's pawn", [2], 61.5
    variation = node.add_line(["c5", "Nf3"])
    variation.set_evaluation(Score(30), 12)
    assert game.moves == ["e2e4", "e7e5"]
    variation.promote(to_main=True)
    assert game.moves == ["e2e4", "c7c5", "g1f3"]
    read_back = first(game.write().encode())
    assert read_back.moves == game.moves and read_back.root.next.comment == "king's pawn"
    assert read_back.last.evaluation.score == Score(30) and read_back.last.evaluation.depth == 12
    node.delete()
    assert game.moves == [] and len(game.nodes) == 0
    with pytest.raises(ValueError, match="deleted"):
        node.comment


def test_notes_of_engines_are_a_layer():
    game = Game(Position(moves=["e4", "e5", "Qh5", "Ke7"]))
    for node, score in zip([game.root, *game.nodes], (30, -30, 30, -20, 9000)):
        node.set_note(Score(score), depth=12, lines=[(Score(score), ["a2a3"])])
    assert game.last.label == "blunder" and game.last.evaluation is None and game.last.note.depth == 12
    assert game.accuracy("second") < 60 < game.accuracy("first")
    game.engine = "Test"
    text = game.write()
    assert "$4" in text and "%eval" in text and '[Annotator "Test"]' in text
    assert game.copy().last.label == "blunder"


def test_defects_of_readable_games_are_notices():
    game = first(b"1. e4 e5 2. Ke3 d6 *")
    assert game.moves == ["e2e4", "e7e5"] and "illegal" in game.notices[0]


def test_iteration_continues_after_an_unreadable_game():
    games = read(b'[FEN "bad"]\n\n1. e4 *\n\n[White "B"]\n\n1. d4 *\n')
    with pytest.raises(RecordError) as raised:
        next(games)
    assert (raised.value.game, raised.value.line) == (1, 3) and isinstance(raised.value, ValueError)
    assert next(games).moves == ["d2d4"]
    with pytest.raises(StopIteration):
        next(games)


def test_sources_can_be_paths_bytes_and_file_objects(tmp_path):
    path = tmp_path / "a.pgn"
    path.write_bytes(PGN)
    for source in (path, str(path), PGN, io.BytesIO(PGN), io.StringIO(PGN.decode()), gzip.compress(PGN)):
        assert [len(game) for game in read(source)] == [3]
    with open(path, encoding="utf-8") as text, open(path, "rb") as binary:
        assert [len(game) for game in read(text)] == [len(game) for game in read(binary)] == [3]


@pytest.mark.parametrize("extension", ["", ".gz", ".bz2", ".zst"])
def test_compression_follows_the_extension(tmp_path, extension):
    path = tmp_path / f"a.pgn{extension}"
    assert write([first(PGN), first(PGN)], path) == 2
    assert path.read_bytes().startswith(b"[Event") is (extension == "")
    assert [game.moves for game in read(path)] == [first(PGN).moves] * 2


def test_a_file_is_replaced_when_it_is_complete(tmp_path):
    path = tmp_path / "a.pgn"
    assert write([first(PGN)] * 200, path) == 200
    assert write(read(path), path) == 200 and len(list(read(path))) == 200
    with pytest.raises(RuntimeError):
        write((game for game in iter_then_fail(first(PGN))), path)
    assert len(list(read(path))) == 200 and [file.name for file in tmp_path.iterdir()] == ["a.pgn"]


def iter_then_fail(game):
    yield game
    raise RuntimeError


def test_shogi_formats_convert_into_each_other():
    game = Game(Position(game="shogi", moves=["7g7f", "3c3d", "8h2b+"]))
    game.set_player("first", "羽生")
    for format in ("kif", "ki2", "csa", "jkf", "usi"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordWarning)
            text = game.write(format)
        back = first(text.encode("utf-8"), format)
        assert back.moves == game.moves and back.game == "shogi"
    out = io.BytesIO()
    assert write([game], out, "kif", encoding="shift_jis") == 1
    assert first(out.getvalue()).player("first") == "羽生" and b"\x89H\x90\xb6" in out.getvalue()


def test_losses_are_reported():
    game = first(PGN)
    assert "variations" in game.losses("uci")
    with pytest.warns(RecordWarning, match="cannot hold"):
        game.write("uci")
    with pytest.warns(RecordWarning):
        write([game], io.BytesIO(), "uci")
    with pytest.raises(RecordError):
        game.write("kif")


def test_keys_and_texts_have_one_more_than_the_moves():
    game = first(PGN)
    keys = array.array("Q", game.keys())
    assert len(keys) == len(game.texts()) == len(game) + 1
    assert keys[0] == Position().key and keys[-1] == game.position.key


def test_errors_of_file_objects_are_raised_unchanged():
    class Broken:
        def read(self, size):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        read(Broken())
    closed = io.BytesIO(PGN)
    closed.close()
    with pytest.raises(ValueError, match="closed"):
        read(closed)

    class Wrong:
        def __init__(self, answer):
            self.answer = answer

        def read(self, size):
            return self.answer

    with pytest.raises(TypeError):
        next(read(Wrong(5)))
    assert [len(game) for game in read(io.StringIO("手合割：平手\n\n   1 ７六歩(77)\n"), "kif")] == [1]
    with pytest.raises(FileNotFoundError) as raised:
        read("/no/such.pgn")
    assert raised.value.filename == "/no/such.pgn"
    with pytest.raises(OSError):
        write([first(PGN)], "/no/such/directory.pgn")


def test_iterators_after_close_end_and_do_not_recurse():
    games = read(PGN)
    with games as same:
        assert same is games
    assert list(games) == []

    class Recursive:
        games = None

        def read(self, size):
            if self.games is None:
                return b"1. e4 *\n\n[A"
            return next(self.games).write().encode()

    source = Recursive()
    games = source.games = read(source, "pgn")
    with pytest.raises(ValueError, match="running already"):
        list(games)


def test_protocol_lines_are_read_and_written():
    line = "info depth 12 score cp 31 pv e2e4 e7e5"
    message, defects = readyok.parse_reply(line)
    assert message["Info"]["score"] == {"kind": "cp", "value": 31} and defects == []
    assert readyok.format_reply(message) == line
    command, defects = readyok.parse_command("position sfen bad moves 7g7f", "usi")
    assert command and defects
    for line in ("uci", "isready", "go depth 3", "setoption name Hash value 16", "position startpos moves e2e4"):
        assert readyok.format_command(readyok.parse_command(line)[0]) == line
    with pytest.raises(ValueError):
        readyok.format_command({"Nothing": 1})
    with pytest.raises(TypeError):
        readyok.format_command(object())


def test_tablebases_and_books(root):
    tables = readyok.Tablebase(root / "testdata" / "syzygy")
    won = tables.probe(Position("8/8/8/8/8/4k3/8/4K2Q w - - 0 1"))
    assert won.category == "win" and won.dtz > 0 and won.moves[0].category == "win"
    with pytest.raises(LookupError):
        tables.probe(Position())
    with pytest.raises(OSError):
        readyok.Tablebase("/no/such")
    with pytest.raises(FileNotFoundError):
        readyok.Book("/no/such.bin")
