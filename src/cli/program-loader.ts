import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type KeptCodeHost, keptCode } from "./kept-code.ts";

/*
 * Loads the built program, whose parts are CommonJS. Compiling them takes a third of a start, so the code
 * that V8 has made of them is kept between starts. Node does that from 22.8 on for modules that it loads
 * itself, but only there.
 */

type Exports = Record<string, unknown>;

/** The name of a part with a hash of its content. The others are too short to gain. */
const hashedName = /^([\w-]+-[A-Z0-9]{8})\.js$/;

/** Loads parts by their path in `folder`, anew per loader. `onLoad` receives each path, and each package. */
export function programLoader(
  host: KeptCodeHost,
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
    const source = readFileSync(join(folder, path));
    const wrapped = `(function (module, exports, require, __import, __filename) {${source.toString()}\n})`;
    // Kept code names its file in stacks for all installations of this version.
    const options = { filename: `catalogue/${path}` };
    if (kept === null || name === undefined) return new Script(wrapped, options);
    const cachedData = kept.read(name, source);
    if (cachedData !== null) return new Script(wrapped, { ...options, cachedData });
    const script = new Script(wrapped, options);
    kept.add(name, source, script);
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
