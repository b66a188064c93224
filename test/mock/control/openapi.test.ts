import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "vitest";
import { controlRoutes } from "../../../src/mock/control/routes.ts";
import { pageRoutes } from "../../../src/mock/page/page-routes.ts";
import { longTest } from "../../support/long-test.ts";
import { startReceiver } from "../receiver.ts";
import { worldWithHook } from "../world-with-hook.ts";

const ids = {
  product_id: "01HN1H1W4PQ0DXQWPCCMJ7W5M8",
  image_id: "01HN1H1W4KFRNEJ8WWP189ZPWJ",
  model_id: "01HN1H1W4H4ABF57W7VR084AMS",
  fault_id: "1",
  key: "ak_ci",
  number: "1",
  idempotency_key: "order-7",
  organization: "other",
};

/** A valid body of each route that takes one; the state is that of the mock itself. */
const bodies: Readonly<Record<string, object>> = {
  "POST /_mock/clock": { advance_ms: 0 },
  "POST /_mock/faults": { match: { path: "/v1" }, status: 502, headers: { Via: null }, body: "<p>" },
  "POST /_mock/account": { credits: 3 },
  "POST /_mock/account/{organization}": { credits: null },
  "PUT /_mock/keys/{key}": { scopes: ["products:read"], revoked: true },
  "PUT /_mock/products/{product_id}": { reference: "R", images: [{ id: ids.image_id }] },
  "PUT /_mock/assets/{image_id}": { watermarked: true, attributes: { a: 1 } },
  "PUT /_mock/models/{model_id}": { name: "Nora", has_preview: false },
  "PUT /_mock/idempotency-keys/{idempotency_key}": {},
  "POST /_mock/page/rate/{organization}": { reads: 5 },
};

longTest(
  "the document of the control routes passes Redocly's spec ruleset, and every response fits it",
  async () => {
    const receiver = await startReceiver(200);
    const { mock, send, runImport } = await worldWithHook(receiver.url);
    await runImport();
    await mock.settled();
    const call = (path: string, more: object = {}) => send(path, { key: null, ...more });
    const document = (await call("/_mock/openapi.json")).body;
    const config = await createConfig({ extends: ["spec"] });
    const source = JSON.stringify(document);
    expect(await lintFromString({ source, absoluteRef: "/openapi.json", config })).toEqual([]);
    expect(document.servers).toEqual([{ url: mock.baseUrl }]);

    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, "doc");
    const problems = (pointer: string, value: unknown) => {
      const check = ajv.compile({ $ref: `doc#${pointer}` });
      return check(value) ? [] : check.errors;
    };
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const routes = [...controlRoutes, ...pageRoutes];
    expect(operations).toEqual(routes.map(({ method, path }) => `${method} ${path}`));
    const [delivery] = mock.deliveries();
    const state = mock.state();
    const known = { ...ids, id: state.organizations.main.products[0]!.id, delivery_id: delivery!.id };
    // Last: these remove what the others need.
    const removing = ["DELETE /_mock/faults", "POST /_mock/reset", "PUT /_mock/state"];
    const last = (name: string) => removing.indexOf(name);
    for (const name of operations.sort((one, other) => last(one) - last(other))) {
      const [method = "", path = ""] = name.split(" ");
      const at = `/paths/${path.replaceAll("/", "~1").replaceAll("{", "%7B").replaceAll("}", "%7D")}/${method.toLowerCase()}`;
      const json = name === "PUT /_mock/state" ? state : bodies[name];
      if (json !== undefined) {
        const pointer = `${at}/requestBody/content/application~1json/schema`;
        expect([name, problems(pointer, json)]).toEqual([name, []]);
        expect([name, problems(pointer, { ...json, unknown_field: 1 })]).not.toEqual([name, []]);
      }
      const values: Readonly<Record<string, string>> = path.startsWith("/_mock/pictures")
        ? { id: state.organizations.main.images[0]!.id }
        : known;
      const url = path.replaceAll(/\{(\w+)\}/g, (_match, param: string) => values[param]!);
      if (path === "/_mock/events") continue;
      const got = await call(url, { method, ...(json !== undefined && { json }) });
      expect([name, got.status]).toEqual([name, 200]);
      const [type = ""] = Object.keys(document.paths[path][method.toLowerCase()].responses[200].content);
      expect([name, got.headers.get("content-type")]).toEqual([
        name,
        expect.stringContaining(type.replace("*", "")),
      ]);
      if (type !== "application/json") continue;
      expect([name, problems(`${at}/responses/200/content/application~1json/schema`, got.body)]).toEqual([
        name,
        [],
      ]);
      if (json === undefined || Object.keys(json).length === 0) continue;
      const wrong = await call(url, { method, json: { unknown_field: 1 } });
      expect([name, wrong.status]).toEqual([name, 400]);
      expect(problems("/components/schemas/ControlError", wrong.body)).toEqual([]);
    }
  },
);
