declare const __VERSION__: string | undefined;

/** The version of the program, which the build inserts from package.json. */
export const version = typeof __VERSION__ === "string" ? __VERSION__ : "0.0.0-source";

/** The output of `--version`, with `--json` an object. */
export const toVersionLine = (argv: readonly string[]): string =>
  `${argv.includes("--json") ? JSON.stringify({ version }) : `catalogue ${version}`}\n`;
