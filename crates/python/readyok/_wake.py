"""Wake-ups of event loops by threads of the extension."""

import asyncio
import socket
import weakref
from typing import Tuple

from ._readyok import Hub

_hubs: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]" = weakref.WeakKeyDictionary()


def future() -> Tuple[Hub, "asyncio.Future[None]"]:
    """A future of the running loop, and the hub that resolves it."""
    loop = asyncio.get_running_loop()
    hub = _hubs.get(loop)
    if hub is None:
        hub = _hubs[loop] = Hub()
        try:
            loop.add_reader(hub.fileno(), hub.run)
        except NotImplementedError:
            # The loop of Windows watches no sockets, but reads from them.
            task = loop.create_task(_read(loop, weakref.ref(hub), socket.socket(fileno=hub.detach())))
            hub.keep(task)
    return hub, loop.create_future()


async def _read(
    loop: asyncio.AbstractEventLoop, weak_hub: "weakref.ref[Hub]", stream: socket.socket
) -> None:
    with stream:
        while await loop.sock_recv(stream, 64):
            hub = weak_hub()
            if hub is None:
                return
            hub.resolve()
