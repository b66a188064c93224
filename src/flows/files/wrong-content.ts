import { CatError } from "../../errors.ts";
import { BadAnswerError } from "../../http/errors.ts";

/** A URL without what its signature adds, for messages. */
export const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0]!;

/** The error of a download whose bytes are not what they should be; `problem` follows the URL. */
export const wrongContent = (url: string, problem: string): BadAnswerError =>
  new BadAnswerError(`${withoutQuery(url)} ${problem}`, { code: "wrong_content" });

/** The error of an image over `--max-bytes`, with what to do: exit 8, because other images are not affected. */
export function withSizeHint(error: unknown): unknown {
  if (!(error instanceof BadAnswerError) || error.code !== "file_too_large") return error;
  const hint = "To accept larger images, add --max-bytes, for example --max-bytes 200MB.";
  return new CatError(error.message, { type: "partial", code: error.code, hint, cause: error });
}
