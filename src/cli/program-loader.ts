import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { version as ownVersion } from "./context/version.ts";

/*
 * Loads the built program, whose parts are CommonJS. Compiling them takes a third of a start, so the code that V8 has made
 * of them is kept between starts. Node does that from 22.8 on for modules that it loads itself, but only there.
 */

/** What a part exports. */
type Exports = Record<string, unknown>;

interface Compiled {
  createCachedData(): Buffer;
}

interface KeptCode {
  /** Null if it is missing, or not as it was written. */
  read(name: string): Buffer | null;
  add(name: string, script: Compiled): void;
}

type Host = Pick<
  NodeJS.Process,
  "arch" | "env" | "execArgv" | "getBuiltinModule" | "getuid" | "on" | "version"
>;

/** Flags of V8 that a command may set (context.ts), with their defaults. Node 22 has another budget, which none sets. */
const defaultFlags = (version: string): string[] => [
  "--heap-growing-percent=0",
  ...(Number.parseInt(version.slice(1), 10) < 22 ? ["--wasm-tiering-budget=1800000"] : []),
];

/** The last bytes of a file of code: V8 would run code of which a crash of the machine has left only the beginning. */
const end = Buffer.from("\ncomplete");

/** The name of a part that contains the hash of its content. V8 compares only the length. */
const hashedName = /^([\w-]+-[A-Z0-9]{8})\.js$/;

/**
 * Loads parts of the program by their path within `folder`, the one of the built program. Each loader evaluates
 * parts anew; `onLoad` receives the path of each part, and the name of each package.
 */
export function programLoader(
  host: Host,
  folder: string,
  onLoad: (path: string) => void = () => {},
): (path: string) => Exports {
  const { readFileSync } = host.getBuiltinModule("node:fs");
  const { Script } = host.getBuiltinModule("node:vm");
  const ofNode = createRequire(join(folder, "main.js"));
  const loaded = new Map<string, { exports: Exports }>();
  const kept = keptCode(host);
  const compile = (path: string) => {
    const name = hashedName.exec(path.slice(path.lastIndexOf("/") + 1))?.[1];
    const source = `(function (module, exports, require, __import, __filename) {${readFileSync(join(folder, path), "utf8")}\n})`;
    // Kept code names its file in stacks for all installations of this version.
    const options = { filename: `catalogue/${path}` };
    if (kept === null || name === undefined) return new Script(source, options);
    const cachedData = kept.read(name);
    if (cachedData !== null) return new Script(source, { ...options, cachedData });
    const script = new Script(source, options);
    kept.add(name, script);
    return script;
  };
  // A script cannot import by itself without a warning.
  const importPackage = (name: string) => {
    onLoad(name);
    return import(name);
  };
  const load = (path: string): Exports => {
    const known = loaded.get(path);
    if (known !== undefined) return known.exports;
    const part = { exports: {} };
    loaded.set(path, part);
    onLoad(path);
    const requireFrom = (name: string) => {
      if (name.startsWith(".")) return load(join(dirname(path), name));
      onLoad(name);
      return neededByFew.has(name) ? loadedOnUse(() => ofNode(name)) : ofNode(name);
    };
    compile(path).runInThisContext()(part, part.exports, requireFrom, importPackage, join(folder, path));
    return part.exports;
  };
  return load;
}

/** Modules of Node that take 5 and 2 ms, and that many starts do not need. */
const neededByFew = new Set(["node:crypto", "node:fs/promises"]);

/** A module that loads when the first of its exports is read. */
function loadedOnUse(load: () => Exports): Exports {
  let loaded: Exports | undefined;
  const all = () => {
    loaded ??= load();
    return loaded;
  };
  return new Proxy({}, { get: (_, name) => all()[name as string], ownKeys: () => Reflect.ownKeys(all()) });
}

/** The code of parts from earlier starts; null if none can be kept. What is added is written when the process ends. */
function keptCode(host: Host): KeptCode | null {
  const folder = folderOfCode(host);
  if (folder === null) return null;
  const { readFileSync } = host.getBuiltinModule("node:fs");
  const added = new Map<string, Compiled>();
  host.on("exit", () => {
    if (added.size === 0) return;
    try {
      // V8 rejects code that was made with other flags.
      for (const flag of defaultFlags(host.version))
        host.getBuiltinModule("node:v8").setFlagsFromString(flag);
      for (const [name, script] of added)
        replaceFile(host, join(folder, name), Buffer.concat([script.createCachedData(), end]));
    } catch {}
  });
  return {
    read(name) {
      try {
        const file = readFileSync(join(folder, name));
        const isComplete = file.subarray(-end.length).equals(end);
        return isComplete ? file.subarray(0, -end.length) : null;
      } catch {
        return null;
      }
    },
    add: (name, script) => void added.set(name, script),
  };
}

function replaceFile(host: Host, path: string, content: Buffer): void {
  const { renameSync, rmSync, writeFileSync } = host.getBuiltinModule("node:fs");
  const part = `${path}.${process.pid}`;
  try {
    writeFileSync(part, content, { mode: 0o600, flush: true });
    renameSync(part, path);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

/**
 * The folder of the code for this version and this Node with its flags, in the one of Node's own compile cache. Null if it cannot be used,
 * which only costs time, if NODE_DISABLE_COMPILE_CACHE is set, and at the first start, which only creates it: in a
 * container there may be no second one.
 */
function folderOfCode({ arch, env, execArgv, getBuiltinModule, getuid, version }: Host): string | null {
  if (env.NODE_DISABLE_COMPILE_CACHE) return null;
  const { lstatSync, mkdirSync } = getBuiltinModule("node:fs");
  const flags = [...execArgv, env.NODE_OPTIONS ?? ""].join(" ").trim();
  const withFlags =
    flags && `-${getBuiltinModule("node:crypto").createHash("sha256").update(flags).digest("hex")}`;
  let isNew = false;
  let folder = env.NODE_COMPILE_CACHE || `${getBuiltinModule("node:os").tmpdir()}/node-compile-cache`;
  try {
    for (const inner of ["", `/catalogue-${ownVersion}-node-${version}-${arch}${withFlags}`]) {
      folder += inner;
      isNew = true;
      try {
        mkdirSync(folder, { mode: 0o700 });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") return null;
        // Code that another user put into the folder would run with the rights of this process.
        if (lstatSync(folder).uid !== (getuid?.() ?? 0)) return null;
        isNew = false;
      }
    }
    return isNew ? null : folder;
  } catch {
    return null;
  }
}
