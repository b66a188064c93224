/** The text of a formula that is only a text, such as ="00123"; null for any other. */
export function formulaText(cell: string): string | null {
  if (!cell.startsWith("=")) return null;
  const [, text] = /^=\s*"((?:[^"]|"")*)"\s*$/.exec(cell) ?? [];
  return text === undefined ? null : text.replaceAll('""', '"');
}
