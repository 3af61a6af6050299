"""The client: calls of the API under /api/v1, and what waits for something."""

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

from .events import Stream

DONE = frozenset({"FINISHED", "CANCELLED", "DEAD"})
"""The statuses of a job to which nothing more happens by itself."""

_POLL = 20  # seconds for which the server holds an answer until a job is done
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0  # seconds between tries
_LONGEST_REQUEST = 30  # seconds that the server may be silent, beyond what it was asked to wait
_MOST_REFUSAL = 64 << 10  # bytes of a refusal that are read
_UNREACHED = (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError)


class Refused(Exception):
    """A refusal of the server: a problem document (RFC 9457)."""

    def __init__(self, status, document=None, retry_after=None):
        document = document if isinstance(document, dict) else {}
        self.status = status
        self.reason = document.get("reason", "")
        self.field = document.get("field", "")
        self.detail = document.get("detail", "") or http.client.responses.get(status, "")
        self.remedy = document.get("remedy", "")
        self.errors = document.get("errors", [])
        self.trace_id = document.get("trace_id", "")
        self.retry_after = retry_after
        field = self.field + ": " if self.field else ""
        super().__init__(f"{status}: {field}{self.detail} {self.remedy}".strip())

    @property
    def passes(self):
        """Whether the same may be taken later."""
        return self.retry_after is not None or self.status >= 500


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """No address of the API leads elsewhere, and a key is sent to nobody else."""

    def redirect_request(self, *_):
        return None


class Client:
    """A client of one server. key is the secret of a key or the token of a session; None is a guest, where one may be.

    timeout bounds every call, in seconds, with all its tries.
    """

    def __init__(self, url, key=None, timeout=60):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{url!r} is no address of a server: it has to begin with http:// or https://")
        self._base = url.rstrip("/")
        self._key = key
        self._timeout = timeout
        self._open = urllib.request.build_opener(_NoRedirect).open

    # Any address.

    def call(self, method, path, body=None, query=None, once=None, timeout=None, media="application/json"):
        """Calls an address of the API and returns what it answers: JSON, bytes of another media type, or None.

        body is what is sent: bytes of a media type, or anything that is JSON. once is an Idempotency-Key; with one, and
        for what only reads, the call is repeated where that may help.
        """
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        repeatable = once is not None or method in ("GET", "HEAD")
        data = body if body is None or isinstance(body, (bytes, bytearray)) else json.dumps(body).encode()
        headers = {"Accept": "application/json", **({"Idempotency-Key": once} if once else {})}
        if data is not None:
            headers["Content-Type"] = media
        pause = _FIRST_PAUSE
        while True:
            left = deadline - time.monotonic()
            try:
                with self._send(method, path, data, query, headers, max(left, 0.1)) as answer:
                    text, kind = answer.read(), answer.headers.get_content_type()
                return (json.loads(text) if kind == "application/json" else text) if text else None
            except Refused as refused:
                if not refused.passes or not repeatable:
                    raise
                failure, wait = refused, refused.retry_after or pause
            except _UNREACHED as failed:
                if not repeatable:
                    raise
                failure, wait = failed, pause
            if time.monotonic() + wait >= deadline:
                raise failure
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _send(self, method, path, data, query, headers, timeout):
        given = {name: value for name, value in (query or {}).items() if value is not None}
        for name, value in given.items():
            if isinstance(value, bool):
                given[name] = "true" if value else "false"
        address = self._base + path + ("?" + urllib.parse.urlencode(given) if given else "")
        request = urllib.request.Request(address, data=data, headers=headers, method=method)
        if self._key:
            request.add_unredirected_header("Authorization", "Bearer " + self._key)
        try:
            return self._open(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            with error:
                text = error.read(_MOST_REFUSAL)
                after = error.headers.get("Retry-After", "")
            try:
                document = json.loads(text)
            except ValueError:
                document = None
            raise Refused(error.code, document, int(after) if after.isdecimal() else None) from None

    def _pages(self, path, member, cursor, query):
        query = dict(query)
        while True:
            page = self.call("GET", path, query=query)
            yield from page[member] or ()
            if page["next"] is None:
                return
            query[cursor] = page["next"]

    # Submissions.

    def submit(self, problem, language, source, *, space=None, once=None, **more):
        """Hands a program in, a text or a dictionary of file names and texts, and returns a receipt with its job_id.

        The submission is stored when this returns. once, an Idempotency-Key, makes a repeated call return the first
        one's submission; None is a fresh one for every call.
        """
        body = {"problem": problem, "language": language, **_program(source), **({"space": space} if space else {}), **more}
        return self.call("POST", "/api/v1/submissions", body, once=once or str(uuid.uuid4()))

    def submission(self, job_id, wait=0):
        """Returns a submission, as soon as it is done or after wait seconds, 30 at most."""
        return self._job("submissions", job_id, wait)

    def submissions(self, **filters):
        """Yields submissions, newest first: author, problem, language, verdict and space choose."""
        space = filters.pop("space", None)
        path = f"/api/v1/spaces/{_part(space)}/submissions" if space else "/api/v1/submissions"
        return self._pages(path, "submissions", "before", filters)

    def wait(self, job_id, timeout=3600):
        """Returns the submission as soon as it is done. It survives a server that goes away for a while."""
        return self._wait("submissions", job_id, timeout)

    def cancel(self, job_id, why=""):
        """Withdraws a submission that has no result yet."""
        return self.call("POST", f"/api/v1/submissions/{int(job_id)}/cancel", {"why": why})

    def events(self, job_id, after=0, timeout=3600, kind="submissions"):
        """Yields what happens to a submission, from the event after an id on, until it is done.

        kind is runs or jobs for what happens to one of those. A stream that is cut goes on where it was.
        """
        stream = Stream(self._send, f"/api/v1/{kind}/{int(job_id)}/events", after, _LONGEST_REQUEST)
        deadline, pause = time.monotonic() + timeout, _FIRST_PAUSE
        while True:
            before = stream.last
            wait = None
            try:
                yield from stream.read(deadline)
            except Refused as refused:
                if not refused.passes:
                    raise
                wait = refused.retry_after
            except _UNREACHED:
                pass
            if stream.ended:
                return
            pause = _FIRST_PAUSE if stream.last > before else min(2 * pause, _LONGEST_PAUSE)
            if time.monotonic() + (wait or pause) >= deadline:
                raise TimeoutError(f"{kind} {job_id} was not done within {timeout} seconds")
            time.sleep(wait or pause)

    # Runs.

    def run(self, language, source, *, tests=None, problem=None, samples=None, limits=None, once=None, **more):
        """Runs a program on inputs, which does not count, and returns a receipt with its job_id.

        tests is a list of dictionaries with stdin and maybe expected_output; one text is one input.
        """
        if isinstance(tests, str):
            tests = [{"stdin": tests}]
        given = {"tests": tests, "problem": problem, "samples": samples, "limits": limits, **more}
        body = {"language": language, **_program(source), **{name: value for name, value in given.items() if value is not None}}
        return self.call("POST", "/api/v1/runs", body, once=once or str(uuid.uuid4()))

    def wait_run(self, job_id, timeout=3600):
        """Returns the run as soon as it is done."""
        return self._wait("runs", job_id, timeout)

    # Problems and packages.

    def problems(self, **filters):
        """Yields the problems by short name: q, tag, easiest, hardest and solved choose."""
        return self._pages("/api/v1/problems", "problems", "after", filters)

    def problem(self, name, lang=None):
        """Returns a problem with its statement, in a language by its tag."""
        return self.call("GET", "/api/v1/problems/" + _part(name), query={"lang": lang})

    def languages(self):
        """Returns the languages that the server knows."""
        return list(self._pages("/api/v1/languages", "languages", "after", {}))

    def upload_package(self, problem, archive, *, activate=True, once=None, timeout=600, **more):
        """Takes a package in, the bytes or the path of a ZIP file, and returns a receipt with the job of its proof."""
        if isinstance(archive, (str, os.PathLike)):
            with open(archive, "rb") as file:
                archive = file.read()
        return self.call("POST", "/api/v1/problems", bytes(archive), query={"problem": problem, "activate": activate, **more},
                         once=once or str(uuid.uuid4()), timeout=timeout, media="application/zip")

    def job(self, job_id):
        """Returns a job that is neither a submission nor a run, such as the proof of a package."""
        return self.call("GET", f"/api/v1/jobs/{int(job_id)}")

    def wait_job(self, job_id, timeout=3600):
        """Returns such a job as soon as it is done."""
        deadline = time.monotonic() + timeout
        while True:
            for _ in self.events(job_id, timeout=deadline - time.monotonic(), kind="jobs"):
                pass
            job = self.job(job_id)
            if job["status"] in DONE:
                return job

    def versions(self, problem):
        """Yields the versions of a problem, newest first."""
        return self._pages(f"/api/v1/problems/{_part(problem)}/versions", "versions", "before", {})

    def verify(self, problem, version, *, once=None):
        """Has a version proved again and returns a receipt with the job."""
        return self.call("POST", f"/api/v1/problems/{_part(problem)}/versions/{_part(version)}/verify", once=once or str(uuid.uuid4()))

    def activate(self, problem, version, override=False):
        """Makes a version live; with override, for staff, although it is not proved."""
        return self.call("POST", f"/api/v1/problems/{_part(problem)}/versions/{_part(version)}/activate", {"override": override})

    def roll_back(self, problem):
        """Makes the version live that was live before, and returns it."""
        return self.call("POST", f"/api/v1/problems/{_part(problem)}/rollback")

    # What the others share.

    def _job(self, kind, job_id, wait, timeout=None):
        return self.call("GET", f"/api/v1/{kind}/{int(job_id)}", query={"wait": wait or None}, timeout=timeout)

    def _wait(self, kind, job_id, timeout):
        deadline = time.monotonic() + timeout
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"{kind} {job_id} was not done within {timeout} seconds")
            job = self._job(kind, job_id, round(min(left, _POLL), 3), timeout=left + _LONGEST_REQUEST)
            if job["status"] in DONE:
                return job


def _part(name):
    return urllib.parse.quote(str(name), safe="")


def _program(source):
    if isinstance(source, str):
        return {"source": source}
    return {"sources": [{"name": name, "text": text} for name, text in source.items()]}
