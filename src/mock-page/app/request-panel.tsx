import { useEffect, useState } from "preact/hooks";
import type { RequestDetail, RequestRow } from "../data.ts";
import { call, mockUrl } from "./api.ts";
import { reasonsFor, toCurl } from "./describe.ts";
import { Badge, Code, Copy, kindOfStatus, Time } from "./parts.tsx";

export function RequestPanel({
  number,
  row,
  onClose,
  onSelect,
}: {
  number: number;
  /** The row in the list; its changes read the request again. */
  row: RequestRow | null;
  onClose: () => void;
  onSelect: (number: number) => void;
}) {
  const [detail, setDetail] = useState<RequestDetail | null>(null);
  const [problem, setProblem] = useState("");
  const isOver = row?.isOver;
  // A request that is over is read again, with its response.
  useEffect(() => {
    let isWanted = true;
    setProblem("");
    call<RequestDetail>("GET", `_mock/page/requests/${number}`).then(
      (found) => isWanted && setDetail(found),
      (error: Error) => isWanted && setProblem(error.message),
    );
    return () => {
      isWanted = false;
    };
  }, [number, isOver]);

  const current = detail?.row.number === number ? detail : null;
  return (
    <section class="panel" aria-label="Request">
      <div class="bar">
        <h2>Request {number}</h2>
        {current !== null && <Copy text={() => toCurl(current, mockUrl())}>Copy as curl</Copy>}
        <button type="button" class="small" onClick={onClose}>
          Close
        </button>
      </div>
      {problem !== "" && <p class="error">{problem}</p>}
      {current !== null && <Detail detail={current} onSelect={onSelect} />}
    </section>
  );
}

function Detail({ detail, onSelect }: { detail: RequestDetail; onSelect: (number: number) => void }) {
  const { row, request, first } = detail;
  const { body, response } = request;
  const reasons = reasonsFor(detail);
  return (
    <div class="detail">
      <p class="line">
        <span class={`method ${row.method}`}>{row.method}</span> <span class="url">{request.path}</span>
      </p>
      <p class="facts">
        <Badge kind={kindOfStatus(row.status)}>{row.status ?? (row.isOver ? "lost" : "in progress")}</Badge>
        {row.duration_ms !== null && <span>{row.duration_ms} ms</span>}
        <Time at={row.at} long />
        <span>{row.key ?? "no API key"}</span>
        <span class="mono">{request.request_id}</span>
        {row.idempotency_key !== null && <span class="mono">Idempotency-Key: {row.idempotency_key}</span>}
      </p>
      {reasons.length > 0 && (
        <div class="why">
          <ul>
            {reasons.map((reason) => (
              <li>{reason}</li>
            ))}
          </ul>
          {first !== null && (
            <button type="button" class="small" onClick={() => onSelect(first.number)}>
              Show request {first.number}
            </button>
          )}
        </div>
      )}
      {body === undefined && (
        <p class="hint">Bodies and responses are kept for the last 200 requests, while this page is open.</p>
      )}
      {body !== undefined && <Body title="Request body" body={body} />}
      <Headers title="Request headers" headers={request.headers} />
      {response != null && (
        <>
          <Body title="Response body" body={response.body} />
          <Headers title="Response headers" headers={response.headers} />
        </>
      )}
    </div>
  );
}

function Body({
  title,
  body,
}: {
  title: string;
  body: NonNullable<RequestDetail["request"]["body"]> | null;
}) {
  return (
    <section aria-label={title}>
      <h3>
        {title}
        {body !== null && <small>{body.bytes.toLocaleString("en")} bytes</small>}
        {body !== null && body.content !== "" && <Copy text={body.content}>Copy</Copy>}
      </h3>
      {body === null && <p class="hint">none</p>}
      {body?.note !== undefined && <p class="note">{body.note}</p>}
      {body?.encoding === "base64" && <p class="note">bytes, as base64</p>}
      {body !== null && body.content !== "" && <Code text={body.content} />}
    </section>
  );
}

function Headers({ title, headers }: { title: string; headers: Record<string, string> }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <dl class="headers">
        {Object.entries(headers).map(([name, value]) => (
          <div>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
