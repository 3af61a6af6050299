// Sentences of scripts in the language of the page. For a language other than English a script
// before this one holds them, by their English text.

const words = globalThis.deepojWords || {};

// t returns a sentence; %s, or %[2]s for the second, is where an argument goes.
export function t(key, ...args) {
  let next = 0;
  return (words[key] ?? key).replace(/%(?:\[(\d+)\])?s/g, (_, place) => String(args[place ? place - 1 : next++]));
}

// n writes a number as the language of the page does.
export const n = (number) => number.toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 });
