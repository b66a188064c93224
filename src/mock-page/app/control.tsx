import { useRef, useState } from "preact/hooks";
import type { Control, Status } from "../data.ts";
import { call } from "./api.ts";
import { describeFault } from "./describe.ts";
import { FaultForm } from "./fault-form.tsx";
import { PartForm } from "./part-form.tsx";
import { accountName, Bar, type Run, toTime } from "./parts.tsx";

/** Moves and breaks the mock: clock, faults, credits, rate limits, state. */
export function ControlTab({
  control,
  status,
  run,
}: {
  control: Control | null;
  status: Status | null;
  run: Run;
}) {
  if (control === null || status === null) return null;
  return (
    <div class="scroll boxes">
      <Clock now={status.now} speed={control.speed} run={run} />
      {control.accounts.map((account) => (
        <Account
          key={account.organization}
          account={account}
          name={accountName(account.organization, status.has_secret_keys)}
          run={run}
        />
      ))}
      <State run={run} />
      <section aria-label="Faults" class="box wide">
        <h2>Faults</h2>
        <FaultForm run={run} />
        {control.faults.length > 0 && (
          <>
            <ul class="faults">
              {control.faults.map((fault) => (
                <li key={fault.id}>
                  <span class="count">{fault.id}</span> {describeFault(fault)}{" "}
                  <span class="hint">acted {fault.acted === 1 ? "once" : `${fault.acted ?? 0} times`}</span>{" "}
                  <button
                    type="button"
                    class="small"
                    aria-label={`Remove fault ${fault.id}`}
                    onClick={() =>
                      run(async () => {
                        await call("DELETE", `_mock/faults/${fault.id}`);
                        return `Fault ${fault.id} was removed.`;
                      })
                    }
                  >
                    Remove
                  </button>
                </li>
              ))}
            </ul>
            {control.faults.length < status.faults && (
              <p class="hint">
                The newest {control.faults.length} of {status.faults} faults.
              </p>
            )}
            <button
              type="button"
              onClick={() =>
                run(async () => {
                  const { cleared } = await call<{ cleared: number }>("DELETE", "_mock/faults");
                  return `${cleared} ${cleared === 1 ? "fault" : "faults"} removed.`;
                })
              }
            >
              Remove all faults
            </button>
          </>
        )}
      </section>
      <section aria-label="Any part" class="box wide">
        <h2>Any part of the service</h2>
        <PartForm run={run} />
      </section>
    </div>
  );
}

const steps: readonly [string, number][] = [
  ["1 second", 1_000],
  ["10 seconds", 10_000],
  ["1 minute", 60_000],
  ["10 minutes", 600_000],
  ["1 hour", 3_600_000],
  ["1 day", 86_400_000],
];

function Clock({ now, speed, run }: { now: string; speed: number; run: Run }) {
  const [seconds, setSeconds] = useState("");
  const move = (label: string, advance_ms: number) =>
    run(async () => {
      await call("POST", "_mock/clock", { advance_ms });
      return `The clock was moved by ${label}.`;
    });
  return (
    <section aria-label="Clock" class="box">
      <h2>Clock</h2>
      <p class="big">
        {toTime(now)} <small>{now.slice(0, 10)} UTC</small>
      </p>
      {speed !== 1 && <p class="hint">Jobs run {speed} times faster.</p>}
      <p class="buttons">
        {steps.map(([label, ms]) => (
          <button type="button" onClick={() => move(label, ms)} aria-label={`Move the clock by ${label}`}>
            +{label}
          </button>
        ))}
      </p>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          move(`${seconds} seconds`, Math.round(Number(seconds) * 1_000));
        }}
      >
        <label>
          Seconds
          <input
            type="number"
            min="0"
            step="any"
            required
            value={seconds}
            onInput={({ currentTarget }) => setSeconds(currentTarget.value)}
          />
        </label>
        <button type="submit">Move</button>
      </form>
    </section>
  );
}

function Account({ account, name, run }: { account: Control["accounts"][number]; name: string; run: Run }) {
  const { organization, credits, reset } = account;
  const [wanted, setWanted] = useState("");
  const setCredits = (value: number | null) =>
    run(async () => {
      await call("POST", `_mock/account/${organization}`, { credits: value });
      return `${name}: ${value === null ? "no limit of credits" : `${value} credits`}.`;
    });
  const setRate = (used: { reads?: number; writes?: number }, text: string) =>
    run(async () => {
      await call("POST", `_mock/page/rate/${organization}`, used);
      return `${name}: ${text}.`;
    });
  return (
    <section aria-label={name} class="box">
      <h2 class="mono">{name}</h2>
      <p>
        Credits: <strong>{credits === null ? "no limit" : credits.toLocaleString("en")}</strong>
      </p>
      <form
        class="inline"
        onSubmit={(event) => {
          event.preventDefault();
          setCredits(Number(wanted));
        }}
      >
        <label>
          Credits
          <input
            type="number"
            min="0"
            required
            value={wanted}
            onInput={({ currentTarget }) => setWanted(currentTarget.value)}
          />
        </label>
        <button type="submit">Set</button>
        <button type="button" onClick={() => setCredits(null)}>
          No limit
        </button>
      </form>
      {(["reads", "writes"] as const).map((kind) => {
        const { used, limit } = account[kind];
        return (
          <div class="rate">
            <span>
              {used.toLocaleString("en")} {limit === null ? "" : `of ${limit.toLocaleString("en")} `}
              {kind} this minute
            </span>
            {limit !== null && (
              <>
                <Bar value={limit === 0 ? 1 : used / limit} label={`Used ${kind}`} />
                <button
                  type="button"
                  class="small"
                  aria-label={`Use up the ${kind}`}
                  onClick={() => setRate({ [kind]: limit }, `no ${kind} left this minute`)}
                >
                  Use up
                </button>
              </>
            )}
          </div>
        );
      })}
      <p class="hint">
        The next window begins at {toTime(new Date(reset * 1_000).toISOString())}.{" "}
        <button type="button" class="small" onClick={() => setRate({ reads: 0, writes: 0 }, "new window")}>
          Begin it now
        </button>
      </p>
    </section>
  );
}

function State({ run }: { run: Run }) {
  const file = useRef<HTMLInputElement>(null);
  const dialog = useRef<HTMLDialogElement>(null);
  const load = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    run(async () => {
      await call("PUT", "_mock/state", chosen);
      return `The state in ${chosen.name} was loaded.`;
    });
    // The same file can be chosen again.
    file.current!.value = "";
  };
  return (
    <section aria-label="State" class="box">
      <h2>State</h2>
      <p class="buttons">
        <a class="button" href="_mock/state" download="mock-state.json">
          Save
        </a>
        <button type="button" onClick={() => file.current!.click()}>
          Load…
        </button>
        <button type="button" class="danger" onClick={() => dialog.current!.showModal()}>
          Reset…
        </button>
      </p>
      <input
        ref={file}
        type="file"
        accept="application/json,.json"
        hidden
        aria-label="State file"
        onChange={({ currentTarget }) => load(currentTarget.files?.[0])}
      />
      <p class="hint">
        A saved state has the products, images, jobs, webhooks and deliveries. The clock moves forward only.
      </p>
      <dialog ref={dialog} aria-labelledby="reset-title">
        <h2 id="reset-title">Reset the mock?</h2>
        <p>This returns to the state after the start. It removes the log and the faults as well.</p>
        <form method="dialog" class="buttons">
          <button
            type="submit"
            class="danger"
            onClick={() =>
              run(async () => {
                await call("POST", "_mock/reset");
                return "The mock was reset.";
              })
            }
          >
            Reset
          </button>
          <button type="submit">Cancel</button>
        </form>
      </dialog>
    </section>
  );
}
