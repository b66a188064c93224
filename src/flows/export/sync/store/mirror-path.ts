import { OutputError } from "../../../files/output-error.ts";

/**
 * The components of a path in a mirror. Throws an OutputError for a path that could lead out of it: an index may have
 * been edited.
 */
export function pathComponents(path: string): string[] {
  const components = path.split("/");
  const isSafe = components.every(
    (one) => one !== "" && one !== "." && one !== ".." && !one.includes("\\") && !one.includes("\0"),
  );
  if (isSafe) return components;
  throw new OutputError(path, Object.assign(new Error("not a path of a mirror"), { code: "EINVAL" }), {
    what: "is not a path inside the mirror",
    code: "unsafe_path",
    hint: "The index was changed. Restore it, or mirror the catalogue into a new folder.",
  });
}
