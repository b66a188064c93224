import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { until } from "./until.ts";
import type { TestWorld } from "./world.ts";

/** Runs a command on a terminal. `type` waits for a text on the screen, and types. */
export function atTerminal(
  world: Pick<TestWorld, "cat">,
  line: string,
  tty: { stdin?: boolean; stdout?: boolean; stderr?: boolean } | true = true,
) {
  const stdin = new PassThrough();
  const ran = world.cat(line, { stdin, tty });
  const screen = () => stripVTControlCharacters(ran.stderr);
  const shows = (text: string) => until(() => screen().includes(text), { seen: screen });
  return {
    ran,
    screen,
    shows,
    async type(question: string, ...typed: string[]) {
      await shows(question);
      // A prompt listens to keys as soon as it has drawn itself, in the same turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      for (const text of typed) stdin.write(text);
    },
  };
}
