/** The longest part of a response that is kept and shown, in characters. */
export const longestLine = 200;

/** The first line of a response that has text. */
export const firstLine = (text: string): string => text.trimStart().split(/\r?\n/, 1)[0]!;
