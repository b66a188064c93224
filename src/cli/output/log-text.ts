/** Whether a log of GitHub Actions reads what is printed. */
export const isReadByGithub = ({ GITHUB_ACTIONS }: Readonly<Record<string, string | undefined>>): boolean =>
  GITHUB_ACTIONS === "true";

/** The text with escaped commands of GitHub Actions: `::` at line starts, and `##[`. JSON keeps its value. */
export const withoutCommands = (text: string, isJson = text.startsWith("{")): string =>
  text
    .replace(/^([^\S\r\n\u2028\u2029]*):(?=:)/gm, "$1\\x3a")
    .replaceAll("##[", isJson ? "#\\u0023[" : "#\\x23[");
