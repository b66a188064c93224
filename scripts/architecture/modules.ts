/** A module of src/: a folder, or files that belong together. */
export interface Module {
  readonly name: string;
  /** What it does, in the picture. */
  readonly text: string;
  readonly files: RegExp;
}

/** The modules of the picture. A file belongs to the first one that matches. */
export const modules: readonly Module[] = [
  { name: "cli", text: "commands, flags, output", files: /^src\/cli\// },
  { name: "flows/import", text: "rows become products", files: /^src\/flows\/import\// },
  { name: "flows/generate", text: "try-ons, beautified shots", files: /^src\/flows\/generate\// },
  { name: "flows/export", text: "exports, mirrors", files: /^src\/flows\/export\// },
  { name: "flows/listen", text: "receives webhooks", files: /^src\/flows\/listen\// },
  { name: "flows/run", text: "sends nothing twice", files: /^src\/flows\/run\// },
  { name: "flows/outputs", text: "results, failed files", files: /^src\/flows\/outputs\// },
  { name: "flows/photos", text: "finds, uploads photos", files: /^src\/flows\/photos\// },
  { name: "flows/catalogue", text: "looks up products", files: /^src\/flows\/catalogue\// },
  { name: "flows/rows", text: "files become rows", files: /^src\/flows\/rows\// },
  { name: "flows/workbook", text: "xlsx, ods", files: /^src\/flows\/workbook\// },
  { name: "flows/files", text: "downloads, complete files", files: /^src\/flows\/files\// },
  { name: "flows/bucket", text: "s3:// and leases", files: /^src\/flows\/bucket\// },
  { name: "flows/*.ts", text: "errors, words, progress", files: /^src\/flows\/[^/]+$/ },
  { name: "mock", text: "the service in memory", files: /^src\/mock\// },
  { name: "mock-page", text: "its page, drawn images", files: /^src\/mock-page\// },
  { name: "client", text: "typed requests", files: /^src\/(client\/|index\.ts|webhooks\.ts)/ },
  { name: "state", text: "SQLite per profile", files: /^src\/state\// },
  { name: "http", text: "retry, pacing, limits", files: /^src\/http\// },
  { name: "contract", text: "what the service is", files: /^src\/contract\// },
  { name: "src/*.ts", text: "clock, errors, json, text …", files: /^src\/[^/]+$/ },
];
