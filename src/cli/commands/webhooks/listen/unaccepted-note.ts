import type { UnacceptedEvents } from "../../../../flows/listen/log-lines.ts";
import { counted } from "../../../../flows/words.ts";
import type { App } from "../../../app/app.ts";
import { commandLine } from "../../../output/command-line.ts";

/**
 * A warning about events of the last day that a handler has not accepted, and the command that sends them again. `log` is `--log` as
 * typed.
 */
export function unacceptedNote(
  { globals, io }: Pick<App, "globals" | "io">,
  { count, urls }: Pick<UnacceptedEvents, "count" | "urls">,
  { log, logPath }: { log: string | undefined; logPath: string },
): [message: string, hint: string] {
  const [url] = urls;
  // With several handlers the user chooses.
  const to = urls.length === 1 && url !== undefined && io.visible(url) === url ? url : "URL";
  const words = [
    "webhooks",
    "replay",
    "--failed",
    "--since",
    "24h",
    "--to",
    to,
    ...(log === undefined ? [] : ["--log", logPath]),
  ];
  return [
    `a handler did not accept ${counted(count, "event")} of the last 24 h in ${logPath}`,
    `To send ${count === 1 ? "it" : "them"} again: ${commandLine(words, { profile: globals.profile, baseUrl: undefined })}`,
  ];
}
