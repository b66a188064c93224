import { BadAnswerError } from "../../http/errors.ts";

/** A URL without what its signature adds, for messages. */
export const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0]!;

/** The error of a download whose bytes are not what they should be; `problem` follows the URL. */
export const wrongContent = (url: string, problem: string): BadAnswerError =>
  new BadAnswerError(`${withoutQuery(url)} ${problem}`, { code: "wrong_content" });
