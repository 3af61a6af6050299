// Sources on the page of a submission, in colours. Without this script, or where
// the editor was not built, they are plain text.

const shown = new Map(); // the lines of a source as they were coloured, by the text

import { painted } from "./app.js";

// colour gives the sources in a part of the page their colours.
export async function colour(part) {
  for (const table of part.querySelectorAll("table.code[data-mode]")) {
    if (!table.dataset.mode) continue;
    const cells = [...table.querySelectorAll(".lt > code")];
    const text = cells.map((c) => c.textContent).join("\n");
    if (!shown.has(text)) {
      try {
        await painted; // the editor takes longer to load than the page
        const { coloured } = await import(table.dataset.editor);
        shown.set(text, coloured(text, table.dataset.mode));
      } catch (err) {
        return console.warn("the source editor did not load", err);
      }
    }
    const lines = shown.get(text);
    cells.forEach((cell, i) => cell.replaceChildren(...(lines[i] || []).map(span)));
  }
}

function span([text, classes]) {
  if (!classes) return document.createTextNode(text);
  const s = document.createElement("span");
  s.className = classes;
  s.textContent = text;
  return s;
}
