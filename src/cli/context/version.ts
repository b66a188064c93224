declare const __VERSION__: string | undefined;

/** The program's version: put in by the build, which reads it from package.json. */
export const version = typeof __VERSION__ === "string" ? __VERSION__ : "0.0.0-source";

/** What `--version` prints. */
export const versionLine = `catalogue ${version}\n`;
