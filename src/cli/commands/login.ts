import { type Command, Option } from "commander";
import type { App } from "../app/app.ts";
import { UsageError } from "../context/errors.ts";
import { command, examples } from "../flags/command.ts";
import { type KeyStoreName, keyStoreNames } from "../settings/key-stores.ts";
import { login } from "./login/run.ts";

/** `cat login`: parses the flags; `run` does the work. */
export const loginCommand = (app: App, run = login): Command => {
  const made = command("login")
    .usage("[flags]")
    .description(
      "Store the address of the service and your API key in a profile. The key is checked first, and kept in the keychain of your system.",
    )
    .option("--with-key", "read the key from standard input instead of asking for it")
    .addOption(
      new Option("--store <PLACE>", "where to keep the key: keychain, or file (unencrypted, mode 0600)")
        .choices(keyStoreNames)
        .default("keychain"),
    )
    .addHelpText(
      "after",
      examples([
        ["sign in; the key is not shown while you paste it", "cat login"],
        [
          "sign in from a script",
          "cat login --profile ci --base-url https://imaging.example.com --with-key < keyfile",
        ],
        ["on a server without a keychain", "cat login --store file"],
      ]),
    );
  return made.action(async () => {
    const { withKey = false, store } = made.opts<{ withKey?: boolean; store: KeyStoreName }>();
    if (app.globals.mock) {
      throw new UsageError("login cannot be used with --mock", {
        hint: "Remove --mock. The mock service of --mock needs no key.",
      });
    }
    await run(app, { withKey, store });
  });
};
