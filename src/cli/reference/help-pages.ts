import { type ExitCode, exitMeanings } from "../context/errors.ts";
import { environment } from "../settings/environment.ts";

interface HelpSection {
  readonly title: string;
  readonly lines: readonly (readonly [name: string, text: string])[];
}

/** A page for people, and the same for programs. */
export interface HelpPage {
  readonly sections: readonly HelpSection[];
  readonly json: object;
}

/** The options of a script for each exit status. A status without an entry does not compile. */
export const exitAdvice: Readonly<Record<ExitCode, string>> = {
  0: "continue",
  1: "stop, and report the output with --verbose",
  2: "stop, and fix the command or the path",
  3: "stop: the file or the value must change; nothing of it was sent unless the message says so",
  4: "stop: set CAT_API_KEY, use a key with the scope, or add credits",
  5: "stop: check the ID or the reference",
  6: "run the command again once the other one has ended; a duplicate stays a duplicate",
  7: "run the same command again later: it resumes, and nothing is sent twice",
  8: "continue with the rows that succeeded; fix the failed file and run the same command on it",
  9: "review the plan, then apply it",
  129: "run the same command again: it resumes",
  130: "run the same command again: it resumes",
  143: "run the same command again: it resumes",
};

export const environmentPage: HelpPage = {
  sections: environment.map(({ title, variables }) => ({
    title,
    lines: variables.map(({ name, about }) => [name, about] as const),
  })),
  json: { variables: environment.flatMap(({ variables }) => variables) },
};

export const exitCodesPage: HelpPage = {
  sections: [
    {
      title: "Exit statuses",
      lines: Object.entries(exitMeanings).map(([status, meaning]) => [status.padStart(3), meaning] as const),
    },
    {
      title: "In a script",
      lines: Object.entries(exitAdvice).map(([status, advice]) => [status.padStart(3), advice] as const),
    },
    {
      title: "Details",
      lines: [
        ["--json", 'the error is an object on stderr: {"error":{"type","code","message","exit"}}'],
        [
          "-- COMMAND",
          "cat serve and cat webhooks listen exit with the status of the command; 127 if it was not found, 126 if it cannot be run",
        ],
      ],
    },
  ],
  json: {
    exit_statuses: Object.entries(exitMeanings).map(([status, meaning]) => ({
      status: Number(status),
      meaning,
      advice: exitAdvice[Number(status) as keyof typeof exitAdvice],
    })),
  },
};
