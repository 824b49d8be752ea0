"""Each function with each wrong argument: an exception of Python, never an abort."""

import inspect
import io
import random

import pytest
import readyok
from readyok import Game, Position, Score

LINE = "x" * (1 << 20)
VALUES = [
    None, True, 0, -1, 2**70, 1.5, float("nan"), float("inf"), "", "\0", "e2e4\0", "\ud800", LINE, "先手" * 1000, b"", b"\0\xff", [],
    ["e2e4"], [None], {}, {"a": 1}, object(), int, lambda: 1, (1, 2), Position(), Game(), Score(1), io.BytesIO(b"x"), iter([]),
]


def attempt(function, *arguments, **named):
    """Calls a function. It may succeed or raise, but not with an error of the interpreter itself."""
    try:
        result = function(*arguments, **named)
        if hasattr(result, "__next__"):
            for _ in range(3):
                next(result, None)
    except (SystemError, RecursionError, MemoryError) as error:
        raise AssertionError(f"{function} {arguments!r}") from error
    except Exception:
        pass


def subjects():
    """Objects and functions with arguments. Engines have their own tests, as each call would start one."""
    game = next(readyok.read(b"1. e4 { a } e5 (1... c5) 2. Nf3 *"))
    yield from (Position(), Position(game="shogi"), game, game.root.next, game.headers, Score(3), readyok.read(b"1. e4 *"))
    yield from (readyok.read, readyok.parse_reply, readyok.parse_command, readyok.format_reply, readyok.format_command)
    yield from (Position, Game, Score, Position.chess960, Position.handicap, readyok.Book, readyok.Tablebase)


def functions():
    for subject in subjects():
        if callable(subject):
            yield subject
            continue
        for name in dir(subject):
            try:
                member = getattr(subject, name)
            except ValueError:
                # The node was deleted by an earlier call.
                continue
            if callable(member) and name not in ("__class__", "__init_subclass__", "__subclasshook__", "__new__", "__init__"):
                yield member


def test_every_function_rejects_wrong_arguments_with_an_exception():
    count = 0
    for function in functions():
        attempt(function)
        for value in VALUES:
            attempt(function, value)
            attempt(function, value, value)
            count += 2
        for keyword in ("game", "moves", "notation", "format", "encoding", "text", "move", "side", "lines", "depth", "to_main"):
            attempt(function, **{keyword: random.Random(count).choice(VALUES)})
    assert count > 3000


def test_every_attribute_rejects_wrong_values_with_an_exception():
    game = next(readyok.read(b"1. e4 { a } e5 *"))
    for subject in (game, game.root, game.root.next, Position(), Score(1)):
        for name, _ in inspect.getmembers(type(subject), inspect.isdatadescriptor):
            for value in VALUES:
                attempt(setattr, subject, name, value)
            attempt(delattr, subject, name)
    assert game.moves


def test_engines_reject_wrong_arguments_with_an_exception(stockfish):
    for value in VALUES:
        if not isinstance(value, str) or "\0" in value:
            attempt(readyok.Engine, value)
        for keyword in ("protocol", "options", "timeout", "directory"):
            if value not in (None, ""):
                attempt(readyok.Engine, "/no/such/engine", **{keyword: value})
    limits = ("time", "depth", "nodes", "mate", "clock", "increment", "byoyomi", "moves_to_go", "moves", "lines", "options", "deadline")
    with readyok.Engine(stockfish) as engine:
        for value in VALUES:
            attempt(engine.begin, value)
            attempt(engine.set_option, value, value)
            attempt(engine.set_option, "Hash", value)
            attempt(engine.option, value)
            attempt(engine.game_over, value)
            for name in limits:
                attempt(engine.begin, Position(), **{name: value, "nodes": 1} if name != "nodes" else {name: value})
        assert engine.play(Position(), nodes=1).move


@pytest.mark.parametrize("seed", range(4))
def test_damaged_records_never_abort(root, seed):
    dice = random.Random(seed)
    files = sorted((root / "testdata").rglob("*.pgn")) + sorted((root / "testdata").rglob("*.kif"))
    assert len(files) > 3
    for path in files[:40]:
        data = bytearray(path.read_bytes()[:20_000])
        for _ in range(30):
            data[dice.randrange(len(data) or 1) if data else 0 : 0] = bytes([dice.randrange(256)])
        attempt(lambda data: [game.write() for game in readyok.read(data)], bytes(data))


def test_random_calls_never_abort():
    import fuzz

    assert fuzz.run(5, 1) > 100
