/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  /** The rest of the line that opens it: a file name, or `no-run`. */
  readonly label: string;
  readonly lines: readonly string[];
  /** The line of the page with its first line, from 0. */
  readonly start: number;
}

/**
 * The fenced blocks of a Markdown page, in order. Throws where a fence stays open. A comment with the name of a workbook makes
 * the table below it a block of the language `sheet`; a comment `$ COMMAND` stands for what the reader does by hand.
 */
export function blocksOf(page: string): Block[] {
  const lines = page.split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, hidden] = /^<!-- \$ (.+) -->$/.exec(lines[at]!) ?? [];
    if (hidden !== undefined) blocks.push({ language: "sh", label: "", lines: [hidden], start: at });
    const [, sheet] = /^<!-- (\S+\.xlsx) -->$/.exec(lines[at]!) ?? [];
    if (sheet !== undefined) {
      const rows = lines.slice(at + 2, lines.indexOf("", at + 2)).filter((line) => !line.startsWith("|---"));
      blocks.push({ language: "sheet", label: sheet, lines: rows, start: at });
    }
    const opening = /^```(\S*) *(.*)$/.exec(lines[at]!);
    if (opening === null) continue;
    const end = lines.indexOf("```", at + 1);
    if (end === -1) throw new Error(`line ${at + 1}: the block is not closed`);
    blocks.push({
      language: opening[1]!,
      label: opening[2]!,
      lines: lines.slice(at + 1, end),
      start: at + 1,
    });
    at = end;
  }
  return blocks;
}

/** A command of a block and the output that the page shows for it; null where it shows none. */
export interface Example {
  readonly command: string;
  readonly output: readonly string[] | null;
  /** Whether the page stops the command with Ctrl-C, which the terminal shows as ^C. */
  readonly isInterrupted: boolean;
  /** The lines of the page with the output: the first, and the one after the last. */
  readonly outputLines: readonly [from: number, to: number];
}

/** The commands of a `console` block (`$ COMMAND`, then its output) or of a `sh` block (one per line). */
export function examplesOf(block: Block): Example[] {
  return block.language === "console" ? consoleExamples(block) : shellExamples(block);
}

function consoleExamples({ lines, start }: Block): Example[] {
  const prompts = lines.flatMap((line, at) => (line.startsWith("$ ") ? [at] : []));
  if (prompts[0] !== 0) throw new Error(`line ${start + 1}: a console block opens with a command ($ ...)`);
  return prompts.map((at, index) => {
    const next = prompts[index + 1] ?? lines.length;
    const isInterrupted = lines[at + 1] === "^C";
    const from = at + (isInterrupted ? 2 : 1);
    return {
      command: lines[at]!.slice(2),
      output: lines.slice(from, next),
      isInterrupted,
      outputLines: [start + from, start + next],
    };
  });
}

function shellExamples({ lines, start }: Block): Example[] {
  return lines.flatMap((line, at) => {
    const command = line.replace(/(?:^| +)#.*$/, "");
    const outputLines = [start + at + 1, start + at + 1] as const;
    return command === "" ? [] : [{ command, output: null, isInterrupted: false, outputLines }];
  });
}
