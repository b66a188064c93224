import type { DeliveryCard, Webhooks } from "../data.ts";
import { call } from "./api.ts";
import { Badge, Code, Copy, Empty, kindOfState, kindOfStatus, type Run, Time } from "./parts.tsx";

export function WebhooksTab({ webhooks, run }: { webhooks: Webhooks | null; run: Run }) {
  if (webhooks === null) return null;
  const { webhooks: all, deliveries } = webhooks;
  if (all.length + deliveries.length === 0) {
    return (
      <Empty title="No webhooks yet.">
        <pre>cat webhooks listen</pre>
      </Empty>
    );
  }
  return (
    <div class="scroll">
      <section aria-label="Webhooks">
        <h2>Webhooks</h2>
        <ul class="items">
          {all.map(({ id, url, events, status, description, organization, last_delivery_at }) => (
            <li key={id} class="job">
              <p class="head">
                <Badge kind={kindOfState(status)}>{status}</Badge>
                <strong class="url">{url}</strong>
              </p>
              <p>{events.join(", ")}</p>
              {description !== null && <p class="hint">{description}</p>}
              <p class="hint mono">
                {id}
                {organization !== "main" && ` · organization ${organization}`}
                {last_delivery_at !== null && ` · last delivery ${last_delivery_at}`}
              </p>
            </li>
          ))}
        </ul>
      </section>
      <section aria-label="Deliveries">
        <h2>Deliveries</h2>
        {deliveries.length === 0 && <p class="hint">none</p>}
        <ul class="items">
          {deliveries.map((delivery) => (
            <li key={delivery.id}>
              <Delivery delivery={delivery} run={run} />
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

function Delivery({ delivery, run }: { delivery: DeliveryCard; run: Run }) {
  const { id, event_id, type, url, state, attempts, next_attempt_at, event } = delivery;
  const resend = () =>
    run(async () => {
      const { attempts: made } = await call<DeliveryCard>(
        "POST",
        `_mock/deliveries/${encodeURIComponent(id)}/resend`,
      );
      const last = made.at(-1);
      return `${type} was sent again: ${last?.status ?? last?.error}.`;
    });
  return (
    <article class="job">
      <p class="head">
        <Badge kind={kindOfState(state)}>{state}</Badge>
        <strong>{type}</strong>
        <span class="url">{url}</span>
        <button type="button" class="small" onClick={resend} aria-label={`Resend ${type}`}>
          Resend
        </button>
      </p>
      <ol class="attempts">
        {attempts.map(({ at, status, error, signature }) => (
          <li>
            <Time at={at} />
            <Badge kind={status === null ? "s5" : kindOfStatus(status)}>{status ?? error}</Badge>
            <code>{signature}</code>
          </li>
        ))}
      </ol>
      {next_attempt_at !== null && <p class="hint">Next attempt at {next_attempt_at}</p>}
      <details>
        <summary>
          Event <span class="mono">{event_id}</span>
        </summary>
        <Code text={JSON.stringify(event)} />
        <Copy text={JSON.stringify(event)}>Copy</Copy>
      </details>
    </article>
  );
}
