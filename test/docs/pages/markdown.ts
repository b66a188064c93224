/** A page without its fenced blocks. */
export const withoutBlocks = (page: string): string => page.replace(/^```.*?^```$/gms, "");

/** The targets of a page's links. */
export const linksOf = (page: string): string[] =>
  [...withoutBlocks(page).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);

/** The anchors of a page's headings, as GitHub makes them. */
export const anchorsOf = (page: string): string[] =>
  [...withoutBlocks(page).matchAll(/^#+ (.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

/** The cells of a page's tables. */
export const tableCells = (page: string): string[] =>
  withoutBlocks(page)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .flatMap((line) => line.slice(1, -1).split(/(?<!\\)\|/))
    .map((cell) => cell.trim());
