import { join } from "node:path";
import { root, withPeak } from "./pairs.js";

/** Imports a file with its own settings and state folder; returns the time, and the peak memory in MB. */
export const importFile = (file, { baseUrl, home, flags = [] }) =>
  withPeak([join(root, "bin/cat.js"), "import", "--quiet", "--no-input", ...flags, file], {
    env: { ...process.env, CAT_HOME: home, CAT_BASE_URL: baseUrl, CAT_API_KEY: "ak_mock" },
  });
