import type { CheckResult } from "../../flows/rows/check.ts";
import type { Problem } from "../../flows/rows/problem.ts";
import { shownName } from "../../flows/rows/shown-name.ts";
import type { Io } from "./io.ts";
import { grouped } from "./numbers.ts";
import { shellWord } from "./shell-word.ts";
import { visible } from "./visible.ts";

/** A report is gathered to this many characters before it is written: a write for each of a million problems takes longer than the check. */
const bufferLength = 64 * 1024;

/** How many problems are listed for people; `--json` gives all of them. */
const listed = 1000;

/** Where the problems of a check go while they are found, so that a million of them take no memory. */
export interface ProblemList {
  add(problem: Problem): Promise<void>;
  /** Ends the list once the check is over. */
  end(check: CheckResult): Promise<void>;
}

/** A problem as it is listed: the service's have codes of its own, and may be about the lines from one to another. */
type Listed = Pick<Problem, "param" | "message" | "mapsTo"> & {
  line: number | `${number}-${number}`;
  code: string;
};

/**
 * For people: one line each, `FILE:LINE  field  code  message`, up to a limit; all of them are counted. `listsAll` is the
 * flag, or flags, with which the same command lists all of them.
 */
export function problemLines(file: string, io: Pick<Io, "line" | "visible">, listsAll = "--dry-run --json") {
  const name = shownName(file);
  let count = 0;
  return {
    async add(problem: Listed) {
      if (++count > listed) return;
      const { line, param, code } = problem;
      await io.line(io.visible(`${name}:${line}  ${param ?? "-"}  ${code}  ${wholeMessage(problem)}`));
    },
    async end() {
      if (count > listed) await io.line(`and ${grouped(count - listed)} more: ${listsAll} lists all of them`);
    },
  } satisfies ProblemList;
}

/**
 * For programs: `{"file","problems":[...],"total","valid","invalid"}` on stdout, written as the problems are found.
 * Unless `always`, nothing is written when there are none.
 */
export function problemReport(
  file: string,
  write: (text: string) => Promise<void>,
  always: boolean,
): ProblemList {
  let count = 0;
  let gathered = `{"file":${JSON.stringify(file)},"problems":[`;
  return {
    async add(problem) {
      const { line, reference, param, code } = problem;
      const message = wholeMessage(problem);
      gathered += (count++ === 0 ? "" : ",") + JSON.stringify({ line, reference, param, code, message });
      if (gathered.length < bufferLength) return;
      const text = gathered;
      gathered = "";
      await write(text);
    },
    async end({ total, valid, invalid }) {
      if (count === 0 && !always) return;
      await write(`${gathered}],"total":${total},"valid":${valid},"invalid":${invalid}}\n`);
    },
  };
}

/** The message with the flags that would make something of an unknown column. */
function wholeMessage({ param, message, mapsTo }: Pick<Problem, "param" | "message" | "mapsTo">): string {
  if (param === undefined || mapsTo === undefined) return message;
  const flags = mapsTo.map((field) => `--map ${inQuotes(`${param}=${field}`)}`);
  return `${message}, or give ${flags.join(", or ")}`;
}

/** A word in double quotes, as people write headers, where a shell reads nothing into it. */
const inQuotes = (word: string): string =>
  visible(word) === word && !/["$`\\!]/.test(word) ? `"${word}"` : shellWord(word);

/** For a run that leaves the refused rows out and speaks JSON: the failed file names them. */
export const noList: ProblemList = { async add() {}, async end() {} };
