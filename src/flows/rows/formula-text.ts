/** The text of a formula that is a text alone, as programs keep it from spreadsheets: ="00123"; null for any other text. */
export function formulaText(cell: string): string | null {
  if (!cell.startsWith("=")) return null;
  const [, text] = /^=\s*"((?:[^"]|"")*)"\s*$/.exec(cell) ?? [];
  return text === undefined ? null : text.replaceAll('""', '"');
}
