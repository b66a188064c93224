import { useState } from "preact/hooks";
import { call } from "./api.ts";
import { type Run, useForm } from "./parts.tsx";

const effects = {
  status: "Send a response",
  delay_ms: "Delay",
  before: "Close the connection before the work",
  after: "Close the connection after the work",
  crash: "Crash after the work",
  truncate: "Cut the response",
  fail: "Fail the job",
} as const;
type Effect = keyof typeof effects;

/** The value of an effect: its label, and the type of its field; null for none. */
const valueFields: Record<Effect, { label: string; type: "number" | "text" } | null> = {
  status: { label: "Status", type: "number" },
  delay_ms: { label: "Milliseconds", type: "number" },
  before: null,
  after: null,
  crash: null,
  truncate: { label: "Bytes", type: "number" },
  fail: { label: "Code", type: "text" },
};

interface Fields {
  /** A method, empty for any. */
  method: string;
  path: string;
  job: string;
  effect: Effect;
  value: string;
  /** One header per line. */
  headers: string;
  body: string;
  times: string;
  percent: string;
}

const noFields: Fields = {
  method: "",
  path: "",
  job: "import",
  effect: "status",
  value: "500",
  headers: "",
  body: "",
  times: "1",
  percent: "",
};

const imports = { method: "POST", path: "/v1/imports", value: "" };

const commonFaults: readonly [string, Partial<Fields>][] = [
  ["500, once", { value: "500" }],
  ["429, once", { value: "429" }],
  ["503 for a third of all requests", { value: "503", times: "", percent: "33" }],
  [
    "The page of a gateway",
    { value: "502", headers: "Content-Type: text/html\nX-Request-Id", body: "<h1>502 Bad Gateway</h1>" },
  ],
  ["No response after an import was accepted", { ...imports, effect: "after" }],
  ["Crash after an import was accepted", { ...imports, effect: "crash" }],
  ["Every request 3 s late", { effect: "delay_ms", value: "3000", times: "" }],
  ["Half a response", { effect: "truncate", value: "100" }],
  ["The next task fails", { job: "task", effect: "fail", value: "model_unsafe_content" }],
  ["The next import fails", { job: "import", effect: "fail", value: "internal_error" }],
];

/** The fault as the mock takes it. */
function toOrder({ method, path, job, effect, value, headers, body, ...often }: Fields): object {
  const { times, percent } = often;
  const isJob = effect === "fail";
  const match = isJob ? { job } : { ...(method !== "" && { method }), ...(path !== "" && { path }) };
  const limits = {
    ...(times !== "" && { times: Number(times) }),
    ...(percent !== "" && { probability: Number(percent) / 100 }),
  };
  if (isJob) return { match, ...limits, fail: { code: value, message: "this failure comes from a fault" } };
  if (valueFields[effect] === null) return { match, ...limits, drop: effect };
  if (effect !== "status") return { match, ...limits, [effect]: Number(value) };
  return {
    match,
    ...limits,
    status: Number(value),
    ...(headers.trim() !== "" && { headers: toHeaders(headers) }),
    ...(body !== "" && { body: toBody(body) }),
  };
}

/** `Name: value` sets a header, a name alone removes it. */
const toHeaders = (text: string): Record<string, string | null> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const colon = line.indexOf(":");
        return colon < 0 ? [line.trim(), null] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
      }),
  );

/** The value of a JSON object or list; any other text is sent as it is. */
function toBody(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function FaultForm({ run }: { run: Run }) {
  const [fields, setFields] = useState(noFields);
  const set = (more: Partial<Fields>) => setFields({ ...fields, ...more });
  const isJob = fields.effect === "fail";
  const value = valueFields[fields.effect];
  const { submit, shown } = useForm(run);
  const add = () =>
    submit(async () => {
      const { id } = await call<{ id: number }>("POST", "_mock/faults", toOrder(fields));
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
          <button type="button" onClick={() => setFields({ ...noFields, ...more })}>
            {title}
          </button>
        ))}
      </fieldset>
      <div class="fields">
        <label>
          Effect
          <select
            value={fields.effect}
            onChange={({ currentTarget }) => set({ effect: currentTarget.value as Effect, value: "" })}
          >
            {Object.entries(effects).map(([name, title]) => (
              <option value={name}>{title}</option>
            ))}
          </select>
        </label>
        {value !== null && (
          <label>
            {value.label}
            <input
              type={value.type as "text"}
              min="0"
              required
              value={fields.value}
              onInput={({ currentTarget }) => set({ value: currentTarget.value })}
            />
          </label>
        )}
        {isJob ? (
          <label>
            Job
            <select value={fields.job} onChange={({ currentTarget }) => set({ job: currentTarget.value })}>
              {["import", "export", "task"].map((job) => (
                <option>{job}</option>
              ))}
            </select>
          </label>
        ) : (
          <>
            <label>
              Method
              <select
                value={fields.method}
                onChange={({ currentTarget }) => set({ method: currentTarget.value })}
              >
                <option value="">any</option>
                {["GET", "POST", "PATCH", "DELETE"].map((method) => (
                  <option>{method}</option>
                ))}
              </select>
            </label>
            <label class="grow">
              Path begins with
              <input
                type="text"
                placeholder="/v1/products"
                pattern="/.*"
                title="A path begins with /"
                spellcheck={false}
                value={fields.path}
                onInput={({ currentTarget }) => set({ path: currentTarget.value })}
              />
            </label>
          </>
        )}
        <label>
          Times
          <input
            type="number"
            min="1"
            placeholder="always"
            value={fields.times}
            onInput={({ currentTarget }) => set({ times: currentTarget.value })}
          />
        </label>
        <label>
          Percent
          <input
            type="number"
            min="0"
            max="100"
            placeholder="100"
            value={fields.percent}
            onInput={({ currentTarget }) => set({ percent: currentTarget.value })}
          />
        </label>
      </div>
      {fields.effect === "status" && (
        <div class="fields">
          <label class="grow">
            Headers
            <textarea
              rows={3}
              placeholder={"Name: value\nName (removes it)"}
              spellcheck={false}
              value={fields.headers}
              onInput={({ currentTarget }) => set({ headers: currentTarget.value })}
            />
          </label>
          <label class="grow">
            Body
            <textarea
              rows={3}
              placeholder="Text, HTML or JSON. Empty from 400 on: the error of the service"
              spellcheck={false}
              value={fields.body}
              onInput={({ currentTarget }) => set({ body: currentTarget.value })}
            />
          </label>
        </div>
      )}
      <div class="fields">
        <button type="submit" class="main">
          Add fault
        </button>
      </div>
      {shown}
    </form>
  );
}
