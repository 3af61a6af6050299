"""Server-sent events: what happens to a job, as it happens."""

import json
import time

_LONGEST_EVENT = 1 << 20  # bytes


class Stream:
    """The events of a job behind one, over as many connections as it takes."""

    def __init__(self, send, path, after, silence):
        self._send, self._path, self._silence = send, path, silence
        self.last = after  # the id of the newest event that was read
        self.ended = False  # the server said that nothing more will come

    def read(self, deadline):
        """Yields the events of one connection, until it is cut or the deadline is over."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(self.last)}
        with self._send("GET", self._path, None, None, headers, self._silence) as answer:
            if answer.status == 204:
                self.ended = True
                return
            kind, data = "", []
            while time.monotonic() < deadline:
                line = answer.readline(_LONGEST_EVENT)
                if not line.endswith(b"\n"):
                    return  # it was cut
                field, _, value = line.decode().rstrip("\r\n").partition(":")
                value = value[1:] if value.startswith(" ") else value
                if field == "event":
                    kind = value
                elif field == "data":
                    data.append(value)
                elif field == "" and value == "" and line.strip() == b"":  # the end of an event; a comment has a value
                    if kind == "end":
                        self.ended = True
                        return
                    if data and kind != "place":
                        event = json.loads("\n".join(data))
                        self.last = event["id"]
                        yield event
                    kind, data = "", []
