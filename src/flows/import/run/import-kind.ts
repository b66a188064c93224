/** The kind of an import run (`Run.kind`). */
export const importKind = "import";
