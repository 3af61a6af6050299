// The page of a submission while it is judged, or of another job: the server says
// that something happened, and the page fetches its live part again. Everything
// that is shown is rendered by the server.

import { enhance, painted } from "./app.js";
import { colour } from "./code.js";

const live = document.getElementById("live");
const announce = document.getElementById("announce");
// The constants of host/judge/event.go, which a test compares with these.
const kinds = ["submitted", "dispatched", "publish_failed", "promoted", "redelivered", "claimed", "compiled", "test", "finding", "stage", "retry", "released", "worker_lost", "finished", "imported", "cancelled", "restored", "dead", "rejudge", "applied", "moved"];
// Milliseconds between two fetches at least. The first one is made at once, and the next ones soon.
let pause = 30; // doubled by each
const longest = 250;
let fetching = false, wanted = false, last = -longest;

const card = () => live.querySelector("[data-announce]");
const done = () => card().hasAttribute("data-done");

// refresh fetches the live part, not more often than the pause allows and never
// twice at once.
async function refresh() {
  wanted = true;
  if (fetching) return;
  fetching = true;
  while (wanted) {
    wanted = false;
    const wait = last + pause - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    last = performance.now();
    pause = Math.min(2 * pause, longest);
    try {
      const answer = await fetch(live.dataset.fragment, { headers: { Accept: "text/html" } });
      if (answer.ok) show(await answer.text());
      else wanted = answer.status >= 500;
    } catch {
      wanted = true; // the server is away for a moment
    }
    if (wanted && !done()) last = performance.now() + 1000;
  }
  fetching = false;
}

// show replaces the live part and keeps what the reader opened, closed, scrolled
// to or focused.
function show(html) {
  const before = card().dataset.announce;
  const open = new Map([...live.querySelectorAll("details[id]")].map((d) => [d.id, d.open]));
  const focused = live.contains(document.activeElement) ? document.activeElement.id : "";
  const page = new DOMParser().parseFromString(html, "text/html");
  live.replaceChildren(...page.body.childNodes);
  for (const details of live.querySelectorAll("details[id]")) {
    if (open.has(details.id)) details.open = open.get(details.id);
  }
  if (focused) document.getElementById(focused)?.focus();
  enhance(live);
  colour(live);
  document.title = card().dataset.title;
  if (card().dataset.announce !== before) announce.textContent = card().dataset.announce;
  if (done()) renewActs();
}

// renewActs takes away what can no more be done with the job, and offers what can be done now. What stays is not touched:
// a click that begins on a button ends on it.
async function renewActs() {
  const acts = document.querySelector(".actions");
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!acts || !answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = [...(page.querySelector(".actions")?.children || [])];
    for (const act of [...acts.children]) {
      if (!fresh.some((one) => one.isEqualNode(act)) && !act.contains(document.activeElement)) act.remove();
    }
    fresh.forEach((act, i) => {
      if (![...acts.children].some((one) => one.isEqualNode(act))) acts.insertBefore(act, acts.children[i] || null);
    });
  } catch {
    // the server is away for a moment; it refuses what cannot be done
  }
}

let stream = null;

function follow() {
  stream = new EventSource(`${live.dataset.events}?after=${live.dataset.after}`);
  for (const kind of kinds) stream.addEventListener(kind, refresh);
  stream.addEventListener("place", (event) => {
    const place = JSON.parse(event.data);
    if (place.position !== live.place) refresh();
    live.place = place.position;
  });
  stream.addEventListener("end", () => {
    unfollow();
    refresh();
    poll();
  });
  stream.addEventListener("error", () => {
    if (stream?.readyState === EventSource.CLOSED) poll(); // refused: no room for a stream, or nothing left to see
  });
}

function unfollow() {
  stream?.close();
  stream = null;
}

// A browser has only six connections to a server: pages that nobody looks at
// give theirs back.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return unfollow();
  if (done() || stream) return;
  refresh();
  follow();
});

// poll asks from time to time, where there is no stream, until all is done.
function poll() {
  if (done()) return;
  setTimeout(async () => {
    if (!document.hidden) await refresh();
    poll();
  }, 3000);
}

colour(live);
setTimeout(() => live.classList.remove("fresh"), 500);
if (!document.hidden) painted.then(() => { if (!done() && !stream && !document.hidden) follow(); }); // what is there is shown first
