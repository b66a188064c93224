import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import type { Clock } from "../../clock.ts";
import { CatError } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import { childEnvironment } from "./child-environment.ts";

/** A store of API keys, by account: the name of an entry, which is not secret. */
export interface Keychain {
  /** The key; null if the store has none, or is locked and does not say so. Rejects with a KeychainError. */
  read(account: string): Promise<string | null>;
  write(account: string, key: string): Promise<void>;
  /** Resolves whether or not the store had the key. */
  remove(account: string): Promise<void>;
}

/** The keychain of the operating system cannot be used: exit 4. */
export class KeychainError extends CatError {
  override readonly name = "KeychainError";

  constructor(why: string, next = "Unlock the keychain and run the command again.") {
    super(`cannot use the keychain: ${why}`, {
      type: "unauthorized",
      code: "keychain_unavailable",
      hint: `${next} Without a keychain, set CAT_API_KEY, or run: cat login --store file`,
    });
  }
}

/** The time in which the keychain must respond, in milliseconds. */
const limitMs = 3_000;

/** The name under which keychains show the entries. */
const service = "catalogue";

/**
 * The child's program. Its arguments are the library, the service, the account and the action; the key comes
 * on stdin. On Linux the store is pinned: otherwise the library falls back to the kernel's keyring, which a
 * restart empties.
 */
const program = `
const [library, service, account, action] = process.argv.slice(1);
const print = (result) => process.stdout.write(JSON.stringify(result));
(async () => {
  const { AsyncEntry } = require(library);
  const entry = new AsyncEntry(service, account, { linux: { store: "secret-service" } });
  if (action === "remove") await entry.deleteCredential();
  if (action === "write") {
    const key = require("node:fs").readFileSync(0, "utf8");
    await entry.setPassword(key);
    if ((await entry.getPassword()) !== key) throw new Error("it did not keep the key");
  }
  print({ key: action === "read" ? await entry.getPassword() : null });
})().catch((error) => print({ error: String(error.message) }));
`;

/** The parts of the process that the keychain needs. */
export interface KeychainPlace {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The path of Node. */
  readonly node: string;
}

/** The keychain, in a child that can be ended: the library blocks. The key is in no argument or variable. */
export function osKeychain(place: KeychainPlace): Keychain {
  return {
    read: (account) => request(place, account, "read"),
    write: async (account, key) => void (await request(place, account, "write", key)),
    remove: async (account) => void (await request(place, account, "remove")),
  };
}

async function request(
  { clock, env, node }: KeychainPlace,
  account: string,
  action: "read" | "write" | "remove",
  key = "",
): Promise<string | null> {
  const library = libraryPath();
  const child = spawn(node, ["-e", program, "--", library, service, account, action], {
    env: childEnvironment(env, "session"),
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true,
  });
  const over = new AbortController();
  const output = new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
    });
    child.on("error", reject).on("close", () => resolve(text));
    // A child that has ended reads nothing.
    child.stdin.on("error", () => {}).end(key);
  });
  const late = clock.sleep(limitMs, over.signal).then(
    () => null,
    () => null,
  );
  try {
    const text = await Promise.race([output, late]);
    if (text === null) throw new KeychainError("no response within 3 s; it may be locked");
    return parseResult(text);
  } finally {
    over.abort();
    child.kill("SIGKILL");
  }
}

/** The library is an optional package. */
function libraryPath(): string {
  try {
    return createRequire(import.meta.url).resolve("@napi-rs/keyring");
  } catch {
    const next = "Install this program again with its optional packages.";
    throw new KeychainError("the package @napi-rs/keyring is not installed", next);
  }
}

function parseResult(text: string): string | null {
  let result: { key?: string | null; error?: string };
  try {
    result = parseJson(text) as typeof result;
  } catch {
    throw new KeychainError("its library does not work on this system");
  }
  if (result.error !== undefined) throw new KeychainError(result.error.replace(/\.$/, ""));
  return result.key ?? null;
}
