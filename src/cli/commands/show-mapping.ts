import type { Command } from "commander";
import type { Mapping } from "../../flows/rows/mapped-columns.ts";
import type { App } from "../app/app.ts";
import { command } from "../flags/command.ts";
import { type RawPrintFlags, readPrintFlags, withPrintFlags } from "../flags/print-flags.ts";
import { named } from "../flags/values.ts";
import { namedForm } from "../resources/forms.ts";

const rowFields = ["kind", "field", "name", "read_as", "files", "from"] as const;

/** A column or a value, what it is read as, in which files, and where that is written. */
type MappingRow = Readonly<Record<(typeof rowFields)[number], string | null>>;

const mappingForm = namedForm<MappingRow>(
  [
    { name: "kind", value: ({ kind }) => kind, cut: "never" },
    { name: "field", value: ({ field }) => field ?? "" },
    { name: "name", value: ({ name }) => name },
    { name: "read as", value: ({ read_as }) => read_as || "no value" },
    { name: "files", value: ({ files }) => files, cut: "never" },
    { name: "from", value: ({ from }) => from },
  ],
  rowFields,
);

/** `cat config mapping`: the columns and values of the file of mappings, then those that the profile remembers. */
export const mappingCommand = (app: App): Command =>
  withPrintFlags(
    command("mapping", {
      summary: "list the columns and values that are mapped",
      about:
        "List how columns and values of files are read: by catalogue.map.json in the current folder, " +
        "then by what the profile remembers. Flags (--map, --map-value) come before both.",
      examples: [["for a script", "cat config mapping --json"]],
    }).option("--map-file <FILE>", "file with columns and values (default: catalogue.map.json)"),
  ).action(async (flags: RawPrintFlags & { mapFile?: string }) => {
    const printing = readPrintFlags(flags, mappingForm);
    const { readMapFile, vocabularies } = await import("../mapping/map-file.ts");
    const { savedEncoding, savedMapping } = await import("../mapping/saved-mapping.ts");
    const file = await readMapFile(app.context.cwd, named("--map-file", flags.mapFile, "Choose a file."));
    const rows = file === null ? [] : rowsOf(file, { files: "all", from: file.name });
    for (const words of vocabularies) {
      const saved = await savedMapping(app, words);
      const at = { files: words.kind, from: `profile ${saved.profile}` };
      rows.push(...rowsOf(saved, at, file));
      const encoding = await savedEncoding(app, words);
      if (encoding !== null)
        rows.push({ kind: "encoding", field: null, name: "not UTF-8", read_as: encoding.encoding, ...at });
    }
    await app.io.show(printing, rows);
    if (rows.length === 0) await app.io.note("No columns or values are mapped yet.");
  });

/** The rows of a mapping, without those that the first one has. */
const rowsOf = (
  { map, values }: Mapping,
  at: Pick<MappingRow, "files" | "from">,
  first: Mapping | null = null,
): MappingRow[] => [
  ...[...map]
    .filter(([name]) => !first?.map.has(name))
    .map(([name, read_as]) => ({ kind: "column", field: null, name, read_as, ...at })),
  ...[...values].flatMap(([field, some]) =>
    [...some]
      .filter(([name]) => !first?.values.get(field)?.has(name))
      .map(([name, read_as]) => ({ kind: "value", field, name, read_as, ...at })),
  ),
];
