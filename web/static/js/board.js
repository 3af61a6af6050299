// The board of a round goes on by itself: the server says which rows changed, and the page draws those again, as
// web/templates/_round.html does.

import { t, n } from "./words.js";

const live = document.querySelector("[data-board]");
const body = live?.querySelector("tbody");
const mine = document.querySelector("[data-own]");
const ownEvery = 5000; // ms
const spread = 3000; // ms, over which all who look on ask the server for the same
const all = live ? new URL(live.dataset.board, location.href).searchParams.get("view") === "staff" : false;
let stream = null, token = live?.dataset.token, known = live?.dataset.moments;

const rowOf = (participant) => body.querySelector(`tr[data-team="${CSS.escape(participant)}"]`);

function element(name, text, className) {
  const out = document.createElement(name);
  if (text !== undefined) out.textContent = text;
  if (className) out.className = className;
  return out;
}

// cell draws what somebody has of a problem.
function cell(c, scored) {
  const td = element("td", undefined, "num");
  if (scored) {
    if (c.judged) td.append(n(c.score));
    if (c.pending) td.append(element("span", "?", "pending"));
    return td;
  }
  const draw = (kind, mark, said, text, below) => {
    td.classList.add(kind);
    const sign = element("span", mark);
    sign.setAttribute("aria-hidden", "true");
    td.append(sign);
    if (said) td.append(element("span", said, "visually-hidden"));
    td.append(` ${text}`, element("br"), element("small", below));
  };
  if (c.solved) draw("solved", "✓", t("solved"), n(Math.floor(c.time_ms / 60000)), c.judged === 1 ? t("1 try") : t("%s tries", n(c.judged)));
  else if (c.pending) draw("pending", "?", "", `${n(c.judged)} + ${n(c.pending)}`, t("pending"));
  else if (c.judged) draw("wrong", "✗", "", n(c.judged), t("wrong"));
  else td.className = "";
  return td;
}

// redraw writes a row anew, but for its name, which has links.
function redraw(tr, row) {
  const scored = live.querySelectorAll("thead th:not([data-problem])").length === 3;
  while (tr.cells.length > 2) tr.deleteCell(2);
  if (scored) tr.append(element("td", n(row.points), "num"));
  else tr.append(element("td", n(row.solved), "num"), element("td", n(row.total), "num"));
  tr.append(...row.cells.map((c) => cell(c, scored)));
}

// named makes the row of somebody who was behind the rows of this page.
function named(row) {
  const tr = element("tr"), th = element("th", undefined, "words"), name = element("a", row.name);
  const at = new URL(location.href), stars = (at.searchParams.get("fav") ?? "").split(",").filter(Boolean);
  tr.dataset.team = row.participant;
  th.scope = "row";
  name.href = `${at.pathname}/teams/${encodeURIComponent(row.participant)}${all ? "?view=staff" : ""}`;
  if (body.querySelector("a.star")) {
    const starred = stars.includes(row.participant), star = element("a", starred ? "★" : "☆", "star");
    at.searchParams.set("fav", starred ? stars.filter((code) => code !== row.participant) : [...stars, row.participant]);
    star.href = at;
    star.setAttribute("aria-label", starred ? t("No favourite any more: %s", row.name) : t("Favourite: %s", row.name));
    th.append(star, " ");
  }
  th.append(name);
  tr.append(element("td", "", "num"), th);
  return tr;
}

// phase draws a phase of the round.
function phase(name) {
  const draw = (text, kind) => element("span", text, kind ? `state ${kind}` : "state");
  switch (name) {
    case "before": return draw(t("not begun"));
    case "running": return draw(t("running"));
    case "paused": return draw(t("the countdown is stopped"));
    case "frozen": return draw(t("frozen"), "warn");
    case "over": return draw(t("over"), "off");
    default: return draw(t("without a time yet"));
  }
}

// soon waits for a moment that is another one for each who looks on, as all of them do then what follows.
const soon = () => new Promise((done) => setTimeout(done, Math.random() * spread));
const reload = async () => { await soon(); location.reload(); };

// stand says anew how far the round is, if it has begun, was frozen, is over, or shows what was hidden.
async function stand(state) {
  const is = ["started", "frozen", "ended", "thawed", "finalized"].filter((moment) => state[moment]).join(" ");
  if (is === known) return;
  known = is;
  await soon();
  const answer = await fetch(live.dataset.round, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer?.ok || is !== known) return; // the next moment says it
  const round = await answer.json();
  document.querySelector("[data-phase]").replaceChildren(phase(round.phase));
  if (all) return;
  const hides = Boolean(state.frozen && !state.thawed), notice = document.querySelector("[data-minutes]");
  if (live.dataset.mine && hides !== Boolean(mine)) return location.reload(); // while something is hidden, one has a row of one's own
  const left = Math.floor((round.duration_ms - round.freeze_ms) / 60000);
  if (hides && Number(notice?.dataset.minutes ?? 0) !== left) return location.reload(); // it was frozen at another time than planned
  if (notice) notice.hidden = !hides;
}

// favourites writes what changed into the rows of favourites, which are on the page twice.
function favourites(changed) {
  for (const tr of document.querySelectorAll("table.favourites tbody tr")) {
    const row = changed.get(tr.dataset.team), other = rowOf(tr.dataset.team);
    if (row) redraw(tr, row);
    if (row || other) tr.cells[0].textContent = other ? other.cells[0].textContent : row.rank === null ? "" : n(row.rank);
  }
}

// change draws what is another than before. The page has the first rows of the board, and goes on to have the first ones, however
// many these are.
function change(event) {
  const c = JSON.parse(event.data);
  token = c.token;
  if (mine) own();
  if (c.reset) return reload();
  stand(c.state);
  const changed = new Map(c.rows.map((row) => [row.participant, row]));
  const focused = document.activeElement, shown = body.rows.length;
  const rows = [...c.rows].sort((a, b) => a.place - b.place).map((row) => [row, rowOf(row.participant)]);
  for (const [, tr] of rows) tr?.remove();
  for (const [row, was] of rows) {
    if (row.place > body.rows.length || (!was && row.place >= shown)) continue; // it is behind the rows of this page
    const tr = was ?? named(row);
    redraw(tr, row);
    tr.querySelector("th a:not(.star)").textContent = row.name;
    tr.cells[0].textContent = row.rank === null ? "" : n(row.rank);
    tr.dataset.rank = row.rank ?? "";
    body.insertBefore(tr, body.rows[row.place] ?? null);
    tr.classList.remove("changed");
    void tr.offsetWidth; // so that the animation begins again
    tr.classList.add("changed");
  }
  for (const shift of c.shifts) {
    for (let at = shift.from; at <= Math.min(shift.to, body.rows.length - 1); at++) {
      const tr = body.rows[at];
      if (changed.has(tr.dataset.team) || tr.dataset.rank === "") continue;
      tr.dataset.rank = Number(tr.dataset.rank) + shift.by;
      tr.cells[0].textContent = n(Number(tr.dataset.rank));
    }
  }
  favourites(changed);
  if (body.contains(focused)) focused.focus();
}

// own reads one's own row anew, which in a freeze has verdicts that nobody else is told, so that no event of the board
// tells of them.
async function own() {
  const answer = await fetch(mine.dataset.own, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer?.ok) return; // another look comes
  const { row } = await answer.json();
  if (row === null) return; // one takes part no more
  const tr = mine.querySelector("tbody tr");
  redraw(tr, row);
  tr.cells[0].textContent = row.rank === null ? "" : n(row.rank);
}

function follow() {
  const address = new URL(live.dataset.board, location.href);
  address.searchParams.set("token", token);
  stream = new EventSource(address);
  stream.addEventListener("board", change);
}

// A browser has only six connections to a server: pages that nobody looks at give theirs back.
document.addEventListener("visibilitychange", () => {
  if (!live) return;
  stream?.close();
  stream = null;
  if (!document.hidden) follow();
});

if (live && !document.hidden) follow();
if (live && mine) setInterval(() => document.hidden || own(), ownEvery);
