import { useState } from "preact/hooks";
import type { ProductPage } from "../data.ts";
import { call } from "./api.ts";
import { Code, type Run, useForm } from "./parts.tsx";

export const kinds = {
  products: "Product",
  assets: "Asset",
  models: "Model",
  keys: "API key",
  "idempotency-keys": "Idempotency key",
} as const;
type PartKind = keyof typeof kinds;

interface Example {
  title: string;
  kind: PartKind;
  /** Default: a new ULID. */
  id?: () => string;
  json: (known: { productId: string }) => string;
}

const example = (title: string, kind: PartKind, fields: object, id?: string): Example => ({
  title,
  kind,
  ...(id !== undefined && { id: () => id }),
  json: () => JSON.stringify(fields, null, 2),
});

/** An image that was generated for the newest product. */
const asset = (title: string, fields: object): Example => ({
  title,
  kind: "assets",
  json: ({ productId }) => JSON.stringify({ product_id: productId, role: "tryon", ...fields }, null, 2),
});

/** Objects that only the service makes. */
export const examples: readonly [Example, ...Example[]] = [
  example("Product without a reference", "products", { name: "Made in the dashboard", reference: null }),
  asset("Edited image", { angle_shot: "full-front", background: "studio", edit_number: 1 }),
  asset("Recolored image", { role: "recoloring", attributes: { color: "#aa0000" } }),
  asset("Watermarked image", { watermarked: true }),
  example("Private model without a preview", "models", { name: "Nora", sex: "female", has_preview: false }),
  example("API key with one scope", "keys", { scopes: ["products:read"], expires_at: null }, "ak_mock_ci"),
  example("Revoked API key", "keys", { revoked: true }, "ak_mock_ci"),
  example("Crashed request", "idempotency-keys", {}, "order-7"),
];

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export function newId(): string {
  let time = Date.now();
  let id = "";
  for (let at = 0; at < 10; at++) {
    id = alphabet[time % 32] + id;
    time = Math.floor(time / 32);
  }
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) id += alphabet[byte % 32];
  return id;
}

/** Makes objects that only the service makes, or changes some of their fields. */
export function PartForm({ run }: { run: Run }) {
  const [kind, setKind] = useState<PartKind>("products");
  const [id, setId] = useState(newId);
  const [json, setJson] = useState(() => examples[0].json({ productId: "" }));
  const [made, setMade] = useState<object | null>(null);
  const { submit, shown } = useForm(run);
  const choose = ({ kind, id = newId, json }: (typeof examples)[number]) =>
    run(async () => {
      const { data } = await call<ProductPage>("GET", "_mock/page/products");
      setKind(kind);
      setId(id());
      setJson(json({ productId: data[0]?.id ?? "ID_OF_A_PRODUCT" }));
      return "";
    });
  const put = () => {
    setMade(null);
    submit(async () => {
      const body = new Blob([json], { type: "application/json" });
      setMade(await call<object>("PUT", `_mock/${kind}/${encodeURIComponent(id)}`, body));
      return `${kinds[kind]} ${id} is in the mock.`;
    });
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        put();
      }}
    >
      <fieldset class="buttons">
        <legend>Examples</legend>
        {examples.map((example) => (
          <button type="button" onClick={() => choose(example)}>
            {example.title}
          </button>
        ))}
      </fieldset>
      <div class="fields">
        <label>
          Kind
          <select
            value={kind}
            onChange={({ currentTarget }) =>
              choose(examples.find((one) => one.kind === currentTarget.value)!)
            }
          >
            {Object.entries(kinds).map(([name, title]) => (
              <option value={name}>{title}</option>
            ))}
          </select>
        </label>
        <label class="grow">
          ID or key
          <input
            type="text"
            required
            spellcheck={false}
            value={id}
            onInput={({ currentTarget }) => setId(currentTarget.value)}
          />
        </label>
        <label class="all">
          Fields as JSON
          <textarea
            rows={7}
            spellcheck={false}
            value={json}
            onInput={({ currentTarget }) => setJson(currentTarget.value)}
          />
        </label>
        <button type="submit" class="main">
          Create or change
        </button>
      </div>
      {shown}
      {made !== null && <Code text={JSON.stringify(made)} />}
    </form>
  );
}
