import type { CommandList } from "../../src/cli/completion/command-list.ts";
import type { Context } from "../../src/cli/context/context.ts";
import { main } from "../../src/cli/main.ts";
import { FakeOutput } from "./fake-output.ts";

let list: Promise<CommandList> | undefined;

/** Every command, flag and exit status, as `cat commands --json` prints them. */
export function listedCommands(): Promise<CommandList> {
  list ??= load();
  return list;
}

async function load(): Promise<CommandList> {
  const [stdout, stderr] = [new FakeOutput(), new FakeOutput()];
  // The command needs neither a service nor a folder.
  const context = { stdout, stderr, env: {}, interrupt: new AbortController().signal } as unknown as Context;
  if ((await main(["commands", "--json"], context)) !== 0) throw new Error(stderr.text);
  return JSON.parse(stdout.text) as CommandList;
}
