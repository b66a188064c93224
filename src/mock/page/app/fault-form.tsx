import { useState } from "preact/hooks";
import { call } from "./api.ts";
import { common, type Effect, effects, empty, type Fields, toOrder, values } from "./fault-fields.ts";
import { type Run, useForm } from "./parts.tsx";

/** Orders faults: a common one by a click, any by the fields. */
export function FaultForm({ run }: { run: Run }) {
  const [fields, setFields] = useState(empty);
  const set = (more: Partial<Fields>) => setFields({ ...fields, ...more });
  const isJob = fields.effect === "fail";
  const value = values[fields.effect];
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
