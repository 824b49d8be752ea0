"""The headers of a game."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Iterator, List, Tuple

if TYPE_CHECKING:
    from ._readyok import Game


class Headers(MutableMapping[str, str]):
    """The headers of a game, in the order of the file. Changes apply to the game.

    A name that a file repeats has its first value; `all` has the others.
    """

    __slots__ = ("_game",)

    def __init__(self, game: Game) -> None:
        self._game = game

    def __getitem__(self, name: str) -> str:
        value = self._game._header(name)
        if value is None:
            raise KeyError(name)
        return value

    def __setitem__(self, name: str, value: str) -> None:
        self._game._set_header(name, value)

    def __delitem__(self, name: str) -> None:
        if not self._game._remove_header(name):
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.all()))

    def __len__(self) -> int:
        return len(dict(self.all()))

    def all(self) -> List[Tuple[str, str]]:
        """All names and values, in the order of the file."""
        return self._game._headers()

    def __repr__(self) -> str:
        return f"Headers({self.all()!r})"
