// The board of a round goes on by itself: the server says which rows changed, and the page draws those again, as
// web/templates/_round.html does.

import { t, n } from "./words.js";

const live = document.querySelector("[data-board]");
const body = live?.querySelector("tbody");
const mine = document.querySelector("[data-own]");
const ownEvery = 5000; // ms
let stream = null, token = live?.dataset.token;

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

function change(event) {
  const c = JSON.parse(event.data);
  token = c.token;
  if (mine) own();
  if (c.reset) return location.reload();
  const changed = new Map(c.rows.map((row) => [row.participant, row]));
  const focused = document.activeElement;
  const rows = [...c.rows].sort((a, b) => a.place - b.place).map((row) => [row, rowOf(row.participant)]);
  if (rows.some(([, tr]) => tr === null)) return location.reload(); // it was behind the rows of this page
  for (const [row, tr] of rows) {
    redraw(tr, row);
    tr.cells[0].textContent = row.rank === null ? "" : n(row.rank);
    tr.dataset.rank = row.rank ?? "";
    tr.remove();
  }
  for (const [row, tr] of rows) {
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
