// Records what a shell shows: the real program on a pseudo-terminal (`script` of util-linux), drawn by xterm's emulator.
import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import xterm from "@xterm/headless";

/** A command line that is typed, and what is typed when the program asks. */
export interface Typed {
  readonly command: string;
  /** A text of the screen, and the keys to press once it is shown. */
  readonly replies?: readonly (readonly [shown: string, keys: string])[];
}

/** Characters of one line with the same look. */
export interface Span {
  readonly text: string;
  /** The column of the first character, from 0. */
  readonly column: number;
  /** The color of the palette, 0 to 15; null for the color of text. */
  readonly color: number | null;
  readonly bold: boolean;
  readonly dim: boolean;
}

/** What the screen shows from a moment on, in milliseconds. */
export interface Frame {
  readonly at: number;
  readonly lines: readonly (readonly Span[])[];
}

export interface Recording {
  readonly columns: number;
  readonly rows: number;
  readonly frames: readonly Frame[];
}

/** More frames than this are not told apart by the eye. */
const frameMs = 160;
const keyMs = 45;
const pauseMs = 900;

/** Types the commands one after another and records the screen. Throws where one fails or asks something else. */
export async function record(
  commands: readonly Typed[],
  { columns, rows, cwd, env }: { columns: number; rows: number; cwd: string; env: NodeJS.ProcessEnv },
): Promise<Recording> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: false });
  const frames: Frame[] = [];
  let time = 0;
  const write = (text: string | Uint8Array) => new Promise<void>((resolve) => terminal.write(text, resolve));
  const take = () => {
    const lines = linesOf(terminal);
    const last = frames.at(-1);
    if (last !== undefined && JSON.stringify(last.lines) === JSON.stringify(lines)) return;
    // Frames that are replaced at once are left out.
    if (last !== undefined && time - last.at < frameMs / 4) frames.pop();
    frames.push({ at: time, lines });
  };
  for (const { command, replies = [] } of commands) {
    await write("\x1b[32m$\x1b[39m ");
    take();
    time += pauseMs;
    for (const key of command) {
      await write(key);
      time += keyMs;
      take();
    }
    time += pauseMs / 2;
    await write("\r\n");
    const began = performance.now() - time;
    const child = spawn("script", ["-qefc", `stty rows ${rows} cols ${columns}; ${command}`, "/dev/null"], {
      cwd,
      env: { ...env, COLUMNS: String(columns), TERM: "xterm-256color", FORCE_COLOR: "1" },
    });
    const waiting = [...replies];
    let output = "";
    const timer = setInterval(() => {
      time = performance.now() - began;
      take();
    }, frameMs);
    child.stdout.on("data", (bytes: Buffer) => {
      terminal.write(bytes);
      output += bytes.toString();
      const next = waiting[0];
      if (next === undefined || !stripVTControlCharacters(output).includes(next[0])) return;
      waiting.shift();
      output = "";
      setTimeout(() => child.stdin.write(next[1]), pauseMs);
    });
    const status = await new Promise((resolve) => child.on("close", resolve));
    clearInterval(timer);
    if (status !== 0 || waiting.length > 0)
      throw new Error(
        `${command} exited with ${status}; not asked: ${waiting.map(([text]) => text)}; ${output}`,
      );
    time = performance.now() - began;
    await write("");
    take();
    time += pauseMs;
  }
  return { columns, rows, frames };
}

/** The lines of the screen, without the empty ones at its end. */
function linesOf({ buffer: { active }, rows, cols }: xterm.Terminal): Span[][] {
  const lines: Span[][] = [];
  const cell = active.getNullCell();
  for (let row = 0; row < rows; row++) {
    const line = active.getLine(active.baseY + row);
    const spans: Span[] = [];
    for (let column = 0; column < cols; column++) {
      if (line?.getCell(column, cell) === undefined || cell.getWidth() === 0) continue;
      const look = {
        color: cell.isFgPalette() ? cell.getFgColor() : null,
        bold: cell.isBold() !== 0,
        dim: cell.isDim() !== 0,
      };
      const text = cell.getChars() || " ";
      const last = spans.at(-1);
      const isSame =
        last !== undefined && last.color === look.color && last.bold === look.bold && last.dim === look.dim;
      if (isSame) spans[spans.length - 1] = { ...last, text: last.text + text };
      else spans.push({ text, column, ...look });
    }
    const shown = spans.map((span, at) =>
      at === spans.length - 1 ? { ...span, text: span.text.trimEnd() } : span,
    );
    lines.push(shown.filter(({ text }) => text.trim() !== ""));
  }
  while (lines.at(-1)?.length === 0) lines.pop();
  return lines;
}

/** What a terminal of that size shows after a text was written to it. */
export async function screenText(
  text: string,
  { columns, rows }: { columns: number; rows: number },
): Promise<string> {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, convertEol: true });
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  return textOf({ at: 0, lines: linesOf(terminal) });
}

/** A frame as text. */
export const textOf = ({ lines }: Frame): string =>
  lines.map((spans) => spans.reduce((line, { text, column }) => line.padEnd(column) + text, "")).join("\n");
