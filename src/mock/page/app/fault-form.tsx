import { useState } from "preact/hooks";
import { call } from "./api.ts";
import type { Run } from "./parts.tsx";

const effects = {
  status: "Respond with an error",
  delay_ms: "Delay",
  before: "Close the connection before the work",
  after: "Close the connection after the work",
  truncate: "Cut the response",
  fail: "Fail the job",
} as const;
type Effect = keyof typeof effects;

/** The value of an effect: its label, and the smallest number; null for none. */
const values: Record<Effect, { label: string; isNumber: boolean } | null> = {
  status: { label: "Status", isNumber: true },
  delay_ms: { label: "Milliseconds", isNumber: true },
  before: null,
  after: null,
  truncate: { label: "Bytes", isNumber: true },
  fail: { label: "Code", isNumber: false },
};

interface Fields {
  /** A method, empty for any. */
  method: string;
  path: string;
  job: string;
  effect: Effect;
  value: string;
  times: string;
  percent: string;
}

const empty: Fields = {
  method: "",
  path: "",
  job: "import",
  effect: "status",
  value: "500",
  times: "1",
  percent: "",
};

/** The faults that developers test most. */
const common: readonly [string, Partial<Fields>][] = [
  ["500, once", { value: "500" }],
  ["429, once", { value: "429" }],
  ["503 for a third of all requests", { value: "503", times: "", percent: "33" }],
  [
    "No response after an import was accepted",
    { method: "POST", path: "/v1/imports", effect: "after", value: "" },
  ],
  ["Every request 3 s late", { effect: "delay_ms", value: "3000", times: "" }],
  ["Half a response", { effect: "truncate", value: "100" }],
  ["The next task fails", { job: "task", effect: "fail", value: "model_unsafe_content" }],
  ["The next import fails", { job: "import", effect: "fail", value: "internal_error" }],
];

/** The fault as the mock takes it. */
function toOrder({ method, path, job, effect, value, times, percent }: Fields): object {
  const isJob = effect === "fail";
  const match = isJob ? { job } : { ...(method !== "" && { method }), ...(path !== "" && { path }) };
  const limits = {
    ...(times !== "" && { times: Number(times) }),
    ...(percent !== "" && { probability: Number(percent) / 100 }),
  };
  if (isJob) return { match, ...limits, fail: { code: value, message: "this failure comes from a fault" } };
  if (effect === "before" || effect === "after") return { match, ...limits, drop: effect };
  return { match, ...limits, [effect]: Number(value) };
}

/** Orders faults: a common one by a click, any by the fields. */
export function FaultForm({ run }: { run: Run }) {
  const [fields, setFields] = useState(empty);
  const set = (more: Partial<Fields>) => setFields({ ...fields, ...more });
  const isJob = fields.effect === "fail";
  const value = values[fields.effect];
  const onValue = ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
    set({ value: currentTarget.value });
  const add = () =>
    run(async () => {
      const { id } = await call<{ id: number }>("POST", "/_mock/faults", toOrder(fields));
      return `Fault ${id} was added.`;
    });
  return (
    <form
      class="fault-form"
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <fieldset class="buttons">
        <legend>Common faults</legend>
        {common.map(([title, more]) => (
          <button type="button" onClick={() => setFields({ ...empty, ...more })}>
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
        {value?.isNumber === true && (
          <label>
            {value.label}
            <input type="number" min="0" required value={fields.value} onInput={onValue} />
          </label>
        )}
        {value?.isNumber === false && (
          <label>
            {value.label}
            <input type="text" required value={fields.value} onInput={onValue} />
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
        <button type="submit" class="main">
          Add fault
        </button>
      </div>
    </form>
  );
}
