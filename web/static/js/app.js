// What every page has: the switch of colours, copy buttons, the clock of this
// browser, and lists that follow what changes.

import { t } from "./words.js";

import { start } from "./clock.js";

const themes = ["auto", "light", "dark"];
const root = document.documentElement;

function setUpTheme() {
  const button = document.getElementById("theme");
  const name = () => root.dataset.theme || "auto";
  const say = () => {
    const words = { auto: t("Colours: automatic"), light: t("Colours: light"), dark: t("Colours: dark") };
    button.setAttribute("aria-label", words[name()]);
    button.title = words[name()];
  };
  button.hidden = false;
  say();
  button.addEventListener("click", () => {
    const next = themes[(themes.indexOf(name()) + 1) % themes.length];
    if (next === "auto") delete root.dataset.theme;
    else root.dataset.theme = next;
    store("deepoj:theme", next === "auto" ? null : next);
    say();
  });
}

// store keeps a value in this browser, or forgets it when the value is null.
export function store(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // storage is full or forbidden: nothing is kept
  }
}

// stored returns what was kept, or null.
export function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea"); // pages over plain HTTP have no clipboard
  area.value = text;
  document.body.append(area);
  area.select();
  const ok = document.execCommand("copy");
  area.remove();
  if (!ok) throw new Error();
}

// textOf is what a button copies: a listing, or the lines of a source without the compiler's marks.
function textOf({ copy: listing, copyLines: source }) {
  if (listing) return document.getElementById(listing).textContent;
  return [...document.getElementById(source).querySelectorAll(".lt > code")].map((line) => line.textContent + "\n").join("");
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy], button[data-copy-lines]");
  if (!button) return;
  const label = button.querySelector("span");
  try {
    await copy(textOf(button.dataset));
    label.textContent = t("Copied");
  } catch {
    label.textContent = t("Not copied");
  }
  setTimeout(() => { label.textContent = t("Copy"); }, 1600);
});

// enhance makes a part of the page that came from the server pleasant.
export function enhance(part) {
  for (const button of part.querySelectorAll("button[data-copy], button[data-copy-lines]")) button.hidden = false;
}

// tellZone has the server know the clock of this browser, by which it writes times from the next page on.
function tellZone() {
  const zone = encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone || "");
  if (!zone || document.cookie.split("; ").includes(`zone=${zone}`)) return;
  document.cookie = `zone=${zone}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;
}

// touched reports whether somebody has begun to fill in a form of the list, or
// reads something in it that they have unfolded.
function touched(list) {
  return list.querySelector("details[open]") !== null || [...list.querySelectorAll("input")].some((e) => (e.type === "checkbox" ? e.checked !== e.defaultChecked : e.value !== e.defaultValue));
}

// follow replaces a list with a fresh one as long as it asks for it.
function follow(list) {
  const again = async () => {
    if (document.hidden || list.contains(document.activeElement) || touched(list)) return plan();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) return plan();
      if (touched(list)) return plan(); // meanwhile
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById(list.id);
      if (!fresh) return;
      list.replaceChildren(...fresh.childNodes);
      list.dataset.refresh = fresh.dataset.refresh || "";
      enhance(list);
    } catch {
      // the server is away for a moment
    }
    plan();
  };
  const plan = () => { if (list.dataset.refresh) setTimeout(again, Number(list.dataset.refresh)); };
  plan();
}

// painted is when the page is on the screen for the first time. What is not seen can wait until then.
export const painted = new Promise((resolve) => {
  new PerformanceObserver(resolve).observe({ type: "paint", buffered: true });
  setTimeout(resolve, 500); // a page in the background is not painted
});

let shown = ""; // the path of the page that this document shows

// Going back or forth between pages that were turned to changes nothing but the address, also after one was loaded again.
addEventListener("popstate", () => { if (location.pathname !== shown) location.reload(); });

// open makes the page pleasant that has this address now.
export function open() {
  shown = location.pathname;
  setUpTheme();
  enhance(document);
  start();
  for (const list of document.querySelectorAll("[data-refresh]")) follow(list);
}

open();
painted.then(tellZone); // waits for another process of the browser
