import type { CheckResult } from "../../../flows/import/check.ts";
import type { Problem } from "../../../flows/import/read/problem.ts";
import type { Io } from "../../output/io.ts";
import { grouped } from "../../output/numbers.ts";

/** How many problems are listed for people; `--json` gives all of them. */
const listed = 1000;

/** Where the problems of a check go while they are found, so that a million of them take no memory. */
export interface ProblemList {
  add(problem: Problem): Promise<void>;
  /** Ends the list once the check is over. */
  end(check: CheckResult): Promise<void>;
}

/** For people: one line each, `FILE:LINE  field  code  message`, up to a limit; all of them are counted. */
export function problemLines(file: string, io: Pick<Io, "line" | "visible">): ProblemList {
  const name = file === "-" ? "stdin" : file;
  let count = 0;
  return {
    async add({ line, param, code, message }) {
      if (++count > listed) return;
      await io.line(io.visible(`${name}:${line}  ${param ?? "-"}  ${code}  ${message}`));
    },
    async end() {
      if (count > listed)
        await io.line(`and ${grouped(count - listed)} more: --dry-run --json lists all of them`);
    },
  };
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
  const begin = () => write(`{"file":${JSON.stringify(file)},"problems":[`);
  return {
    async add({ line, reference, param, code, message }) {
      if (count === 0) await begin();
      await write((count++ === 0 ? "" : ",") + JSON.stringify({ line, reference, param, code, message }));
    },
    async end({ total, valid, invalid }) {
      if (count === 0) {
        if (!always) return;
        await begin();
      }
      await write(`],"total":${total},"valid":${valid},"invalid":${invalid}}\n`);
    },
  };
}

/** For a run that leaves the refused rows out and speaks JSON: the failed file names them. */
export const noList: ProblemList = { async add() {}, async end() {} };
