import type { HelpPage } from "./help-pages.ts";

export interface HelpTopic {
  readonly summary: string;
  /** Loads the page only when it is asked for. */
  load(): Promise<HelpPage>;
}

/** The topics of `cat help TOPIC`. */
export const helpTopics: Readonly<Record<string, HelpTopic>> = {
  environment: {
    summary: "environment variables",
    load: async () => (await import("./help-pages.ts")).environmentPage,
  },
  "exit-codes": {
    summary: "exit statuses, and what a script can do about each",
    load: async () => (await import("./help-pages.ts")).exitCodesPage,
  },
};

/** The topic that a command line asks for, by the words after `help`; null for another command line. */
export const findTopic = (words: readonly string[]): HelpTopic | null =>
  words.length === 1 && Object.hasOwn(helpTopics, words[0]!) ? helpTopics[words[0]!]! : null;
