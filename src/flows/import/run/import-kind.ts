/** The kind of run that an import is. */
export const importKind = "import";
