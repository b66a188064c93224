/** Splits a command line into words as a shell does: spaces, single and double quotes, backslashes. No expansion. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (const [part] of line.matchAll(/\s+|'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\]+/gsu)) {
    if (/^\s/.test(part)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (part.startsWith("'")) word = (word ?? "") + part.slice(1, -1);
    else if (part.startsWith('"')) word = (word ?? "") + part.slice(1, -1).replace(/\\(["\\$`])/g, "$1");
    else word = (word ?? "") + (part.startsWith("\\") ? part.slice(1) : part);
  }
  if (word !== null) words.push(word);
  return words;
}
