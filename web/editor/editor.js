// The source editor of the submit page. It enhances a real <textarea>: the
// textarea keeps its name and its value, so the form works the same with and
// without it.

import { EditorView, basicSetup } from "codemirror";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import { keymap, placeholder } from "@codemirror/view";
import { indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { classHighlighter, highlightCode, tags as t } from "@lezer/highlight";
import { cpp } from "@codemirror/lang-cpp";
import { go } from "@codemirror/lang-go";
import { java } from "@codemirror/lang-java";
import { javascript } from "@codemirror/lang-javascript";
import { python } from "@codemirror/lang-python";
import { rust } from "@codemirror/lang-rust";
import { csharp, kotlin } from "@codemirror/legacy-modes/mode/clike";

// Modes by the name that an adapter's manifest gives in its field "editor".
const modes = {
  c: cpp,
  cpp: cpp,
  csharp: () => StreamLanguage.define(csharp),
  go: go,
  java: java,
  javascript: javascript,
  kotlin: () => StreamLanguage.define(kotlin),
  typescript: () => javascript({ typescript: true }),
  python: python,
  rust: rust,
};

// Colours come from the page's custom properties, so the editor follows its
// light and dark mode by itself.
const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--field)", height: "100%", fontSize: "0.875rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--accent)", paddingBlock: "0.5rem" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--field)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--active-line)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--selection)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket":
    { backgroundColor: "var(--selection)", outline: "1px solid var(--line-strong)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-panel input, .cm-panel button": { color: "var(--text)", background: "var(--field)" },
  ".cm-placeholder": { color: "var(--muted)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--selection)", color: "var(--text)", border: "none" },
});

const colours = HighlightStyle.define([
  { tag: [t.keyword, t.controlKeyword, t.moduleKeyword, t.operatorKeyword], color: "var(--syn-keyword)" },
  { tag: [t.string, t.special(t.string), t.character], color: "var(--syn-string)" },
  { tag: [t.number, t.bool, t.null, t.atom], color: "var(--syn-number)" },
  { tag: [t.comment, t.meta, t.processingInstruction], color: "var(--syn-comment)" },
  { tag: [t.typeName, t.className, t.namespace, t.standard(t.name)], color: "var(--syn-type)" },
  { tag: [t.function(t.variableName), t.function(t.propertyName), t.macroName], color: "var(--syn-function)" },
  { tag: t.invalid, color: "var(--bad)" },
]);

// mount puts an editor in place of textarea and returns its handle.
// options: { mode, nonce, label (id of the label), help (id of the key help),
// phrases (what the editor says, by its English), submit(), leave() }.
export function mount(textarea, options) {
  const language = new Compartment();
  const shell = document.createElement("div");
  shell.className = "editor";
  textarea.after(shell);

  const view = new EditorView({
    parent: shell,
    state: EditorState.create({
      doc: textarea.value,
      extensions: [
        EditorState.phrases.of(options.phrases ?? {}),
        EditorView.cspNonce.of(options.nonce || ""),
        Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (options.submit(), true) }])),
        basicSetup,
        placeholder(textarea.placeholder),
        keymap.of([...lintKeymap, indentWithTab]),
        Prec.lowest(keymap.of([{ key: "Escape", run: () => (options.leave(), true) }])),
        indentUnit.of("    "),
        lintGutter(),
        language.of(modeOf(options.mode)),
        syntaxHighlighting(colours),
        theme,
        EditorView.contentAttributes.of({
          "aria-labelledby": options.label,
          "aria-describedby": options.help,
          tabindex: "0",
          spellcheck: "false",
          autocapitalize: "off",
        }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          textarea.value = update.state.doc.toString();
          textarea.dispatchEvent(new Event("input", { bubbles: true }));
        }),
      ],
    }),
  });
  textarea.classList.add("enhanced");
  textarea.setAttribute("aria-hidden", "true");
  textarea.tabIndex = -1;
  textarea.required = false; // a hidden field cannot show the browser's complaint; the server checks

  return {
    element: shell,
    focus: () => view.focus(),
    setMode: (mode) => view.dispatch({ effects: language.reconfigure(modeOf(mode)) }),
    setText: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    setDiagnostics: (list) => view.dispatch(setDiagnostics(view.state, list.map((d) => place(view.state.doc, d)))),
  };
}

// coloured returns the lines of a source, each as pieces of text with the classes of
// their colours: "" = none.
export function coloured(text, mode) {
  const lines = [[]];
  const language = modes[mode]?.();
  const parser = language?.language?.parser ?? language?.parser;
  if (!parser) return text.split("\n").map((line) => [[line, ""]]);
  highlightCode(text, parser.parse(text), classHighlighter, (piece, classes) => lines.at(-1).push([piece, classes]), () => lines.push([]));
  return lines;
}

function modeOf(name) {
  const mode = modes[name];
  return mode ? mode() : [];
}

// place maps a compiler's line and column to a range of the document.
function place(doc, d) {
  const line = doc.line(Math.min(Math.max(d.line || 1, 1), doc.lines));
  const from = d.column ? Math.min(line.from + d.column - 1, line.to) : line.from;
  const word = /^\w+/.exec(doc.sliceString(from, line.to));
  const to = d.column ? Math.min(from + (word ? word[0].length : 1), line.to) : line.to;
  const severity = { error: "error", warning: "warning" }[d.severity] || "info";
  return { from, to: Math.max(from, to), severity, message: d.message };
}
