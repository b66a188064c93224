import fc from "fast-check";
import { expect, test } from "vitest";
import { withUnknownFields } from "../../../src/mock/tomorrow/tomorrow.ts";
import { startReceiver } from "../receiver.ts";
import { row, startWorld } from "../world.ts";
import { worldWithHook } from "../world-with-hook.ts";

const later = { note: "a field of a later version", values: [1, null, "a"] };

/** The objects of a value that lack the unknown field. */
function without(value: unknown, name = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => without(item, name));
  if (typeof value !== "object" || value === null) return [];
  const { added_later, ...fields } = value as Record<string, unknown>;
  const expected = name === "attributes" ? "soft light" : later;
  const isThere = JSON.stringify(added_later) === JSON.stringify(expected);
  return [
    ...(isThere ? [] : [name]),
    ...Object.entries(fields).flatMap(([key, inner]) => without(inner, key)),
  ];
}

test("every object of every response has an unknown field: lists, errors, files and events", async () => {
  const receiver = await startReceiver(200);
  const { mock, send, runImport, importRows } = await worldWithHook(receiver.url, {
    tomorrow: true,
    demo: 3,
  });
  const id = await runImport();
  await mock.settled();
  const paths = ["products", "exports", "models", "webhooks", "tasks", `imports/${id}`, `imports/${id}/rows`];
  for (const path of [...paths, "products/none", "nothing"]) {
    const { body } = await send(`/v1/${path}`);
    expect([path, without(body)]).toEqual([path, []]);
  }
  expect(without((await importRows([row("A"), row("A")])).body)).toEqual([]);
  const { body: manifest } = await send("/v1/exports", { json: {} });
  for (const url of [manifest.url, (await send(`/v1/imports/${id}`)).body.results_url]) {
    for (const line of (await (await fetch(url)).text()).trimEnd().split("\n")) {
      expect(without(JSON.parse(line))).toEqual([]);
    }
  }
  expect(without(receiver.received[0]!.body)).toEqual([]);
  // The control routes are not part of the service.
  expect(JSON.stringify((await send("/_mock/faults", { key: null })).body)).toBe("[]");
  expect(JSON.stringify(mock.state())).not.toContain("added_later");
});

test("open sets have new values: roles, attributes and looks of a model", async () => {
  const { send, clock } = await startWorld({ tomorrow: true, demo: 2 });
  const roles = async () =>
    (await send("/v1/exports")).body.data.map(({ assets }: { assets: { role: string }[] }) =>
      assets.map(({ role }) => role).filter((role) => role !== "source"),
    );
  expect(await roles()).toEqual([["lookbook"], ["lookbook"]]);
  const { id } = (await send("/v1/products?limit=1")).body.data[0];
  const inputs = [{ product_id: id, model_id: "mdl_later", background: "studio", angle_shot: "full-front" }];
  expect((await send("/v1/tasks/tryon", { json: { inputs } })).status).toBe(202);
  clock.advance(60_000);
  expect((await roles())[0]).toEqual(["lookbook", "tryon", "lookbook"]);
  expect((await send("/v1/models?limit=100")).body.data.at(-1)).toMatchObject({
    body_type: "made-to-measure",
  });
});

test("without tomorrow, and with the same seed, the IDs are the same", async () => {
  const ids = async (tomorrow: boolean) => {
    const { runImport, send } = await startWorld({ tomorrow, demo: 2 });
    await runImport([row("A")]);
    return (await send("/v1/products")).body.data.map(({ id }: { id: string }) => id);
  };
  expect(await ids(true)).toEqual(await ids(false));
});

test("the unknown fields change nothing else of any JSON", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const remove = (_key: string, value: unknown) => {
        if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
        const { added_later: _added, ...fields } = value as Record<string, unknown>;
        return fields;
      };
      const before = JSON.stringify(JSON.parse(json));
      fc.pre(!before.includes("added_later") && !before.includes("__proto__"));
      expect(JSON.stringify(JSON.parse(withUnknownFields(json), remove))).toBe(before);
    }),
    { numRuns: 100 },
  );
});
