"""Tests of the client against a running server with workers and the sample problems.

DEEPOJ_URL is its address, DEEPOJ_KEY a key of the scope setter, and PACKAGE a package of a problem:
python3 -m unittest discover -s tests
"""

import http.server
import os
import socketserver
import threading
import unittest
import urllib.error
import urllib.request

from deepoj_client import DONE, Client, Refused

URL, KEY, PACKAGE = os.environ["DEEPOJ_URL"], os.environ["DEEPOJ_KEY"], os.environ["PACKAGE"]
RIGHT = "print(sum(map(int, input().split())))\n"


class Cutting(http.server.BaseHTTPRequestHandler):
    """A server before the real one that is busy at first, and cuts every stream after its second event."""

    asked, busy = [], 0

    def answer(self):
        cutting = type(self)
        cutting.asked.append((self.command, self.path, self.headers.get("Last-Event-ID"), self.headers.get("Idempotency-Key")))
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        if cutting.busy > 0:
            cutting.busy -= 1
            self.send_response(503)
            self.send_header("Retry-After", "0")
            self.end_headers()
            return
        kept = ("Authorization", "Content-Type", "Accept", "Last-Event-ID", "Idempotency-Key")
        headers = {name: self.headers[name] for name in kept if self.headers[name]}
        try:
            answer = urllib.request.urlopen(urllib.request.Request(URL + self.path, body, headers, method=self.command), timeout=60)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"] or "text/plain")
            self.end_headers()
            blanks = 0
            for line in answer:
                self.wfile.write(line)
                blanks += line == b"\n"
                if blanks >= 3 and "/events" in self.path:
                    return

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


class Threaded(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


class TestClient(unittest.TestCase):
    def setUp(self):
        self.client = Client(URL, KEY)

    def before(self, busy=0):
        """A client that speaks through a server that cuts."""
        handler = type("Handler", (Cutting,), {"asked": [], "busy": busy})
        server = Threaded(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return Client(f"http://127.0.0.1:{server.server_address[1]}", KEY), handler

    def test_what_is_submitted_gets_its_verdict(self):
        receipt = self.client.submit("aplusb", "python", RIGHT)
        done = self.client.wait(receipt["job_id"], timeout=120)
        self.assertEqual((done["status"], done["result"]["verdict"]), ("FINISHED", "AC"))
        self.assertEqual(done["job_id"], next(self.client.submissions(problem="aplusb", limit=1, before=receipt["job_id"] + 1))["job_id"])

    def test_several_files_are_one_program(self):
        receipt = self.client.submit("aplusb", "python", {"main.py": "from add import add\nprint(add(input()))\n", "add.py": "def add(t): return sum(map(int, t.split()))\n"})
        self.assertEqual(self.client.wait(receipt["job_id"], timeout=120)["result"]["verdict"], "AC")

    def test_the_same_key_is_the_same_submission(self):
        first = self.client.submit("aplusb", "python", RIGHT, once="python-1")
        again = self.client.submit("aplusb", "python", RIGHT, once="python-1")
        self.assertEqual(first["job_id"], again["job_id"])
        self.assertTrue(again["existing"])

    def test_a_server_that_is_busy_is_asked_again_with_the_same_key(self):
        client, server = self.before(busy=2)
        receipt = client.submit("aplusb", "python", RIGHT)
        self.assertGreater(receipt["job_id"], 0)
        self.assertEqual(len(server.asked), 3)
        self.assertEqual(len({key for _, _, _, key in server.asked}), 1)

    def test_events_go_on_where_they_were_cut(self):
        job = self.client.submit("aplusb", "python", RIGHT)["job_id"]
        whole = [e["id"] for e in self.client.events(job, timeout=120)]
        client, server = self.before()
        cut = list(client.events(job, timeout=120))
        self.assertEqual([e["id"] for e in cut], whole)
        self.assertEqual(cut[-1]["kind"], "finished")
        streams = [last for _, path, last, _ in server.asked if path.endswith("/events")]
        self.assertGreater(len(streams), 2)
        self.assertEqual(sorted(map(int, streams)), list(map(int, streams)))

    def test_events_begin_behind_what_was_seen(self):
        job = self.client.submit("aplusb", "python", RIGHT)["job_id"]
        whole = [e["id"] for e in self.client.events(job, timeout=120)]
        self.assertEqual([e["id"] for e in self.client.events(job, after=whole[0], timeout=120)], whole[1:])

    def test_a_run_gives_what_was_written(self):
        receipt = self.client.run("python", "print(int(input()) + 1)", tests=[{"stdin": "1", "expected_output": "2"}, {"stdin": "5"}])
        run = self.client.wait_run(receipt["job_id"], timeout=120)
        self.assertEqual([t["stdout"] for t in run["result"]["tests"]], ["2\n", "6\n"])

    def test_a_package_is_proved_and_goes_live(self):
        receipt = self.client.upload_package("pythonic", PACKAGE, activate=False)
        job = self.client.wait_job(receipt["job_id"], timeout=300)
        self.assertIn(job["status"], DONE)
        version = next(self.client.versions("pythonic"))
        self.assertEqual((version["proved"], version["live"]), (True, False))
        again = self.client.wait_job(self.client.verify("pythonic", version["version"])["job_id"], timeout=300)
        self.assertEqual(again["status"], "FINISHED")
        self.assertTrue(self.client.activate("pythonic", version["version"])["live"])
        self.assertEqual(self.client.problem("pythonic")["version"], version["version"])

    def test_lists_come_page_by_page(self):
        whole = [p["problem"] for p in self.client.problems()] if "problem" in next(self.client.problems()) else [p["slug"] for p in self.client.problems()]
        self.assertIn("aplusb", whole)
        self.assertEqual(len(whole), len(list(self.client.problems(limit=1))))
        self.assertIn("python", [language["id"] for language in self.client.languages()])

    def test_a_refusal_says_which_field_is_wrong(self):
        with self.assertRaises(Refused) as caught:
            self.client.submit("nosuch", "python", RIGHT)
        self.assertEqual((caught.exception.status, caught.exception.field, caught.exception.reason), (422, "problem", "unknown"))
        with self.assertRaises(Refused) as caught:
            next(self.client.submissions(colour="red"))
        self.assertEqual((caught.exception.field, caught.exception.reason), ("colour", "unknown"))
        with self.assertRaises(Refused) as caught:
            Client(URL, "doj_wrong").languages()
        self.assertEqual(caught.exception.status, 401)

    def test_waits_have_bounds(self):
        job = self.client.run("python", "import time\ntime.sleep(3)")["job_id"]
        with self.assertRaises(TimeoutError):
            self.client.wait_run(job, timeout=0.2)
        with self.assertRaises(OSError):
            Client("http://127.0.0.1:9", timeout=0.5).languages()

    def test_an_address_has_to_be_one(self):
        for wrong in ("", "example.org", "ftp://example.org"):
            with self.assertRaises(ValueError):
                Client(wrong)


if __name__ == "__main__":
    unittest.main()
