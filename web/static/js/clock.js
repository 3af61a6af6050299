// Clocks that run down, and pages that open by themselves: the server says how
// long it is until something begins or ends, so the clock of this machine may be
// wrong. Without this script the page says how long it was when it was made.

import { t } from "./words.js";

const spread = 8000; // milliseconds over which those come who wait for one moment
const loaded = Date.now();

// jitter is how long this browser waits beyond the moment, so that a thousand do
// not load a page in the same second.
export function jitter() {
  return 500 + Math.random() * spread;
}

// text writes a time that is left.
export function text(ms) {
  const s = Math.max(0, Math.ceil(ms / 1000));
  const two = (n) => String(n).padStart(2, "0");
  const [days, hours, minutes] = [Math.floor(s / 86400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
  const clock = days || hours ? `${hours}:${two(minutes)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
  return days ? t("%s d %s", days, clock) : clock;
}

// filled reports whether somebody has begun to fill in a form, which a new page
// would lose.
function filled() {
  return [...document.querySelectorAll("input:not([type=hidden]), textarea, select")].some((e) => {
    if (e.type === "checkbox" || e.type === "radio") return e.checked !== e.defaultChecked;
    if (e.options) return [...e.options].some((o) => o.selected !== o.defaultSelected) && e.value !== "";
    return e.value !== e.defaultValue;
  });
}

function over(state) {
  if ("opens" in state.dataset) {
    const open = () => { filled() ? setTimeout(open, 5000) : location.reload(); };
    setTimeout(open, jitter());
    return;
  }
  state.textContent = state.dataset.over;
  state.classList.add("off");
  if ("closes" in state.dataset) document.dispatchEvent(new Event("deepoj:closed"));
}

// tick shows what is left on every clock of the page.
function tick() {
  for (const state of document.querySelectorAll("[data-left]")) {
    const left = Number(state.dataset.left) - (Date.now() - loaded);
    const clock = state.querySelector("[data-clock]");
    if (clock) clock.textContent = text(left);
    if (left > 0) continue;
    delete state.dataset.left;
    over(state);
  }
}

export function start() {
  if (!document.querySelector("[data-left]")) return;
  tick();
  setInterval(tick, 1000);
}
