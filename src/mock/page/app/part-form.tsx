import { useState } from "preact/hooks";
import type { ProductPage } from "../data.ts";
import { call } from "./api.ts";
import { examples, kinds, newId, type PartKind } from "./part-examples.ts";
import { Code, type Run } from "./parts.tsx";
import { useForm } from "./problems.tsx";

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
