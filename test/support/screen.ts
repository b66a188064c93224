/** The text on a terminal of unlimited height after a text was written to it, without trailing empty lines. */
export function screenOf(text: string): string[] {
  const lines: string[] = [""];
  let [row, column] = [0, 0];
  let saved: [row: number, column: number] = [0, 0];
  for (const [part] of text.matchAll(/\x1b\[[?\d;]*[A-Za-z]|\x1b[78]|[^\x1b]/gs)) {
    if (part === "\x1b7") saved = [row, column];
    else if (part === "\x1b8") [row, column] = saved;
    else if (part === "\n") [row, column] = [row + 1, 0];
    else if (part === "\r" || part === "\x1b[1G") column = 0;
    else if (/^\x1b\[0?K$/.test(part)) lines[row] = lines[row]!.slice(0, column);
    else if (part === "\x1b[2K") lines[row] = "";
    // Colors, cursor visibility and line wrapping change no text.
    else if (part.startsWith("\x1b[")) {
      if (!/[mhl]$/.test(part))
        throw new Error(`not a sequence that this screen knows: ${JSON.stringify(part)}`);
    } else {
      const line = (lines[row] ?? "").padEnd(column);
      lines[row] = line.slice(0, column) + part + line.slice(column + 1);
      column++;
    }
    while (lines.length <= row) lines.push("");
  }
  return lines.join("\n").trimEnd().split("\n");
}
