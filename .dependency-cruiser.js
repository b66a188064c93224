// The import table of the project (CONTRIBUTING.md, "Modules"): what each module may import. Anything else is
// an error.
const may = {
  "^src/contract/": ["^src/contract/", "^src/text\\.ts$", "/zod/", "/ipaddr\\.js/", "^(node:)?crypto$"],
  "^src/text\\.ts$": [],
  "^src/shell-word\\.ts$": ["^src/text\\.ts$", "^(node:)?os$"],
  "^src/errors\\.ts$": [],
  "^src/clock\\.ts$": [],
  "^src/json\\.ts$": [],
  "^src/open-file\\.ts$": ["^(node:)?(fs(/promises)?|os|path|timers/promises|util)$"],
  "^src/move-file\\.ts$": ["^src/open-file\\.ts$", "^(node:)?(fs|path|util)$"],
  "^src/http/": [
    "^src/http/",
    "^src/(clock|errors|json|open-file|text)\\.ts$",
    "/undici/",
    "^node:",
    "^[a-z_]+$",
  ],
  "^src/client/": [
    "^src/client/",
    "^src/contract/",
    "^src/http/",
    "^src/(clock|errors|json|text)\\.ts$",
    "/zod/",
    "^(node:)?(fs|util/types)$",
  ],
  "^src/state/": [
    "^src/state/",
    "^src/(clock|errors|json|(move|open)-file)\\.ts$",
    "/libsql/",
    "^(node:)?[a-z_/]+$",
  ],
  "^src/flows/": [
    "^src/flows/",
    "^src/contract/",
    "^src/client/",
    "^src/(clock|errors|json|shell-word|text|(move|open)-file)\\.ts$",
    "^src/http/(errors|post|outside-exchange)\\.ts$",
    "^src/state/",
    "/@aws-sdk/",
    "/csv-parse/",
    "/csv-stringify/",
    "/jschardet/",
    "/split2/",
    "/p-limit/",
    "/yauzl/",
    "/yazl/",
    "/saxes/",
    "/sharp/",
    "/ulid/",
    "^(node:)?[a-z_/]+$",
  ],
  "^src/mock/": [
    "^src/mock/",
    "^src/mock-page/(?!app/)",
    "^src/contract/",
    "^src/(clock|json|text)\\.ts$",
    "/@fastify/busboy/",
    "/p-limit/",
    "/zod/",
    "/ulid/",
    "/sharp/",
    "/image-size/",
    "^(node:)?[a-z_/]+$",
  ],
  // What the mock shows, without the mock: drawings, and the page with what it reads.
  "^src/mock-page/(?!app/)": ["^src/mock-page/(?!app/)", "^src/contract/", "^src/json\\.ts$", "/zod/"],
  // The page runs in a browser.
  "^src/mock-page/app/": ["^src/mock-page/app/", "^src/mock-page/data\\.ts$", "/preact/"],
};

/** The flows; every other folder of src/flows is shared by them. */
const flows = "(import|generate|export|listen)";

const rooms = Object.entries(may).map(([from, to]) => ({
  name: `may-import ${from}`,
  comment: "A module may import only what the table in CONTRIBUTING.md lists for it.",
  severity: "error",
  from: { path: from },
  to: { pathNot: to.length > 0 ? to : ["^$"] },
}));

export default {
  forbidden: [
    ...rooms,
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-cycles-between-folders",
      comment: "Imports point down between folders as well as between files.",
      severity: "error",
      scope: "folder",
      from: { path: "^src/" },
      to: { circular: true },
    },
    {
      name: "shared-modules-know-no-flow",
      comment: "Modules shared by several flows import none of them.",
      severity: "error",
      from: { path: "^src/flows/", pathNot: `^src/flows/${flows}/` },
      to: { path: `^src/flows/${flows}/` },
    },
    {
      name: "no-flow-imports-another",
      severity: "error",
      from: { path: `^src/flows/${flows}/` },
      to: { path: `^src/flows/${flows}/`, pathNot: "^src/flows/$1/" },
    },
    {
      name: "folders-do-not-import-files-above-them",
      comment:
        "dependency-cruiser treats a folder's files and its subfolders as one folder: only files above may import.",
      severity: "error",
      from: { path: "^src/(mock|cli)/[^/]+/" },
      to: { path: "^src/$1/[^/]+$" },
    },
    {
      name: "no-orphans",
      severity: "error",
      from: { orphan: true, pathNot: ["^src/(index|webhooks)\\.ts$"] },
      to: {},
    },
    {
      name: "mock-stays-behind-serve-and-the-switch",
      comment: "Only the serve command and the --mock switch start the mock, and load it on demand.",
      severity: "error",
      from: { path: "^src/cli/", pathNot: "^src/cli/(commands/serve/(run|clone)|app/open-client)\\.ts$" },
      to: { path: "^src/mock(-page)?/" },
    },
    {
      name: "mock-loads-lazily",
      severity: "error",
      from: { path: "^src/cli/" },
      to: { path: "^src/mock/", dynamic: false, dependencyTypesNot: ["type-only"] },
    },
    { name: "not-to-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "only-the-cli-and-bin-see-terminals",
      comment: "A flow emits events; only the command line draws.",
      severity: "error",
      from: { pathNot: "^(src/cli/|bin/)" },
      to: { path: "/(commander|cli-progress|chalk|conf|ms)/" },
    },
  ],
  options: {
    // Built files are checked as the sources they were built from.
    doNotFollow: { path: ["node_modules", "^dist/"] },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
