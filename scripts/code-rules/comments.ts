import type ts from "typescript";

const longestLine = 110;
const isComment = /^\s*(?:\/\/|\/?\*)/;
const whatOf = /(?:\/\*\*|\/\/|^\s*\*)\s+What of\b/;

/** Comments that are too long, or begin without a subject. */
export const commentProblems = (source: ts.SourceFile): string[] =>
  source.text.split("\n").flatMap((line, at) => {
    const place = `${source.fileName}:${at + 1}`;
    if (isComment.test(line) && line.length > longestLine && !/https?:\/\/\S{60}/.test(line))
      return [`${place}: a comment of ${line.length} columns; at most ${longestLine}`];
    return whatOf.test(line) ? [`${place}: a comment begins with "What of"; begin with a noun or verb`] : [];
  });
