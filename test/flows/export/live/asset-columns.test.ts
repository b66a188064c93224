import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { visibleInCell, visibleInJson } from "../../../../src/cli/output/visible.ts";
import type { ExportRow } from "../../../../src/contract/resources/exports.ts";
import { assetColumns, rowFormat } from "../../../../src/flows/export/live/row-format.ts";
import { rowOf } from "./catalogue-server.ts";

const safe = { json: visibleInJson, cell: visibleInCell };
const csv = rowFormat("csv", safe);

/** The CSV rows of products, each with the columns that are not empty. */
const rowsOf = (...rows: object[]) =>
  (parse(csv.head + csv.text(rows as ExportRow[]), { columns: true }) as Record<string, string>[]).map(
    (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== "")),
  );

const product = { product_id: "01ARZ3NDEKTSV4RRFF00000001", reference: "R-1", name: "Name 1" };

test("an asset has a column per field, per known attribute, and one for other attributes", () => {
  const asset = {
    id: "01ARZ3NDEKTSV4RRFF00000009",
    role: "tryon",
    url: "https://cdn.example.com/1.png?a=1,2",
    url_expires_at: "2026-01-05T10:00:00.000Z",
    mime_type: "image/png",
    width: 600,
    height: null,
    ai_generated: true,
    watermarked: false,
    derived: true,
    created_at: "2026-01-05T09:00:00.000Z",
    task_id: "01ARZ3NDEKTSV4RRFF00000008",
    attributes: {
      angle_shot: "full-front",
      background: "#ffffff",
      model_id: "Mia",
      edit_number: 2,
      mood: "calm",
      tags: [1],
    },
    also_features: ["01ARZ3NDEKTSV4RRFF00000002", "01ARZ3NDEKTSV4RRFF00000003"],
    suggested_filename: "R-1_tryon.png",
    newer: "field",
  };
  const { attributes: _, newer: __, height: ___, id: asset_id, also_features, ...fields } = asset;
  expect(rowsOf(rowOf(1, [asset]))).toEqual([
    {
      ...product,
      asset_id,
      ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
      angle_shot: "full-front",
      background: "#ffffff",
      model_id: "Mia",
      edit_number: "2",
      attributes: '{"mood":"calm","tags":[1]}',
      also_features: also_features.join("|"),
    },
  ]);
});

test("a product without assets has no row, a deleted one has one", () => {
  const gone = rowOf(1);
  const deleted_at = "2026-01-05T09:00:00.000Z";
  expect(rowsOf(rowOf(2), { ...gone, product: { ...gone.product, deleted_at } })).toEqual([
    { ...product, deleted_at },
  ]);
  expect(csv.text([rowOf(2)] as ExportRow[])).toBe("");
});

test.each([
  [{}, {}],
  [null, {}],
  [{ id: 7, attributes: null, also_features: null }, { asset_id: "7" }],
  [{ attributes: "x", also_features: "A" }, { also_features: "A" }],
  [
    { role: { a: 1 }, also_features: [{ b: 1 }, null] },
    { role: '{"a":1}', also_features: '{"b":1}|' },
  ],
])("fields that are missing or of another type do not stop the export: %j", (asset, cells) => {
  expect(rowsOf(rowOf(1, [asset]))).toEqual([{ ...product, ...cells }]);
});

test("a missing list of assets is an empty one", () => {
  expect(rowsOf({ ...rowOf(1), assets: undefined }, { ...rowOf(1), assets: null })).toEqual([]);
});

test("delimiters, quotes, line ends and control characters stay in their cell", () => {
  const row = rowOf(1, [{ id: "A", role: "source" }]);
  const name = 'Dress, "long"\nblue \u001b[31m';
  expect(rowsOf({ ...row, product: { ...row.product, name } })).toEqual([
    { ...product, name: 'Dress, "long"\nblue \\x1b[31m', asset_id: "A", role: "source" },
  ]);
});

test("any text is quoted as a CSV library does it", () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom(",", '"', "\r", "\n", " ", "é", "×", "\u202e"), fc.string()),
  });
  fc.assert(
    fc.property(text, text, (name, role) => {
      const row = rowOf(1, [{ role }]);
      const lines = csv.text([{ ...row, product: { ...row.product, name } }] as ExportRow[]);
      const cells = parse(lines, { relax_column_count: false }) as string[][];
      expect(cells[0]?.[2]).toBe(visibleInCell(name));
      expect(cells[0]?.[6]).toBe(visibleInCell(role));
      expect(lines).toBe(stringify(cells));
    }),
  );
});

test("every row has a cell for each column", () => {
  const lines = parse(csv.text([rowOf(1, [{}, { id: "A" }])] as ExportRow[])) as string[][];
  expect(lines.map((cells) => cells.length)).toEqual([assetColumns.length, assetColumns.length]);
});

test("NDJSON has the fields of the service, unknown ones included, on one line", () => {
  const row = { ...rowOf(1, [{ id: "A", newer: { a: [1, null] } }]), newest: "\u001b\u2028" };
  const text = rowFormat("ndjson", safe).text([row] as unknown as ExportRow[]);
  expect(JSON.parse(text)).toEqual(row);
  expect(text).toMatch(/^[\x20-\x7e]+\n$/);
});
