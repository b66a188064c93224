import { join } from "node:path";
import { root, withPeak } from "./pairs.js";

/** Imports a file as a user would, with a folder of its own for settings and state; gives its time and its peak memory in MB. */
export const importFile = (file, { baseUrl, home, flags = [] }) =>
  withPeak([join(root, "bin/cat.js"), "import", "--quiet", "--no-input", ...flags, file], {
    env: { ...process.env, CAT_HOME: home, CAT_BASE_URL: baseUrl, CAT_API_KEY: "ak_mock" },
  });
