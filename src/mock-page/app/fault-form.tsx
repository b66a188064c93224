import { useEffect, useState } from "preact/hooks";
import { call } from "./api.ts";
import { type Kind, kinds, type Schema, toOrder, visibleFields } from "./fault-fields.ts";
import { type Run, useForm } from "./parts.tsx";

type Values = Readonly<Record<string, string>>;

const once = { times: "1" };
const imports = { "match.method": "POST", "match.path": "/v1/imports", ...once };
const failing = (job: string, code: string): Values => ({
  ...{ kind: "job", effect: "fail", "match.job": job, ...once },
  ...{ "fail.code": code, "fail.message": "this failure comes from a fault" },
});

const anyEvent = { kind: "delivery", "match.event": "any" };

const noValues: Values = { kind: "request", effect: "status", status: "500", ...once };

const commonFaults: readonly [string, Values][] = [
  ["500, once", noValues],
  ["429, once", { status: "429", ...once }],
  ["503 for a third of all requests", { status: "503", probability: "0.33" }],
  [
    "The page of a gateway",
    {
      status: "502",
      headers: "Content-Type: text/html\nX-Request-Id",
      body: "<h1>502 Bad Gateway</h1>",
      ...once,
    },
  ],
  ["No response after an import was accepted", { effect: "drop", drop: "after", ...imports }],
  ["Crash after an import was accepted", { effect: "drop", drop: "crash", ...imports }],
  ["Every request 3 s late", { effect: "delay_ms", delay_ms: "3000" }],
  ["Half a response", { effect: "truncate", truncate: "100", ...once }],
  ["The next task fails", failing("task", "model_unsafe_content")],
  ["The next import fails", failing("import", "internal_error")],
  ["A delivery twice", { ...anyEvent, effect: "duplicate", duplicate: "1", ...once }],
  ["A wrong signature", { ...anyEvent, effect: "signature", signature: "wrong", ...once }],
];

/** Adds a fault; its fields are those of the schema in /_mock/openapi.json. */
export function FaultForm({ run }: { run: Run }) {
  const [schema, setSchema] = useState<Schema | null>(null);
  const [values, setValues] = useState(noValues);
  const { submit, shown } = useForm(run);
  useEffect(() => {
    run(async () => {
      // biome-ignore lint/suspicious/noExplicitAny: the document is read by one path.
      const { paths } = await call<{ paths: any }>("GET", "_mock/openapi.json");
      setSchema(paths["/_mock/faults"].post.requestBody.content["application/json"].schema);
      return "";
    });
  }, []);
  if (schema === null) return null;
  const kind = values.kind as Kind;
  const { effects, match, effect, often } = visibleFields(schema, kind, values.effect!);
  const set = (more: Values) => setValues({ ...values, ...more });
  const add = () =>
    submit(async () => {
      const { id } = await call<{ id: number }>(
        "POST",
        "_mock/faults",
        toOrder([...match, ...effect, ...often], values),
      );
      return `Fault ${id} was added.`;
    });
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <fieldset class="buttons">
        <legend>Common faults</legend>
        {commonFaults.map(([title, more]) => (
          <button type="button" onClick={() => setValues({ kind: "request", effect: "status", ...more })}>
            {title}
          </button>
        ))}
      </fieldset>
      <div class="fields">
        <label>
          Acts on
          <select
            value={kind}
            onChange={({ currentTarget }) => {
              const chosen = currentTarget.value as Kind;
              set({
                "match.event": "any",
                "match.job": "import",
                kind: chosen,
                effect: visibleFields(schema, chosen, "").effects[0]![0],
              });
            }}
          >
            {Object.entries(kinds).map(([name, title]) => (
              <option value={name}>{title}</option>
            ))}
          </select>
        </label>
        <label>
          Effect
          <select
            value={values.effect}
            onChange={({ currentTarget }) => set({ effect: currentTarget.value })}
          >
            {effects.map(([name, title]) => (
              <option value={name}>{title}</option>
            ))}
          </select>
        </label>
        {[...effect, ...match, ...often].map((field) => (
          <Field
            key={field.path}
            {...field}
            value={values[field.path] ?? ""}
            set={(value) => set({ [field.path]: value })}
          />
        ))}
        <button type="submit" class="main">
          Add fault
        </button>
      </div>
      {shown}
    </form>
  );
}

/** The input of one field, as its schema says. */
function Field({
  path,
  schema,
  isRequired,
  value,
  set,
}: ReturnType<typeof visibleFields>["match"][number] & { value: string; set: (value: string) => void }) {
  const { title, description, type, examples } = schema;
  const shared = { title: description, required: isRequired, value };
  const onInput = ({ currentTarget }: { currentTarget: { value: string } }) => set(currentTarget.value);
  if (schema.enum !== undefined) {
    return (
      <label>
        {title}
        <select {...shared} onChange={onInput}>
          <option value="">{isRequired ? "choose" : "any"}</option>
          {schema.enum.map((word) => (
            <option>{word}</option>
          ))}
        </select>
      </label>
    );
  }
  if (type === "string" || type === "integer" || type === "number") {
    return (
      <label class={type === "string" && examples === undefined ? "grow" : ""}>
        {title}
        <input
          {...shared}
          type={type === "string" ? "text" : "number"}
          step="any"
          min="0"
          spellcheck={false}
          list={examples && `list-${path}`}
          onInput={onInput}
        />
        {examples && (
          <datalist id={`list-${path}`}>
            {examples.map((word) => (
              <option value={word} />
            ))}
          </datalist>
        )}
      </label>
    );
  }
  return (
    <label class="grow">
      {title}
      <textarea
        {...shared}
        rows={3}
        placeholder={type === "object" ? "Name: value\nName (null)" : "JSON, or any other text"}
        spellcheck={false}
        onInput={onInput}
      />
    </label>
  );
}
