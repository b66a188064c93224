import { verifySignature } from "../../../contract/signature.ts";
import { explainRejection, type SignatureProblem } from "../signature/explain-rejection.ts";

/** An event whose signature and form were checked. */
export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly created_at: string | null;
  /** Names the resource and its status, e.g. `{"task": {"id", "status"}}`; anything else for an unknown type. */
  readonly data: unknown;
}

/** How to check a delivery. */
export interface Check {
  readonly secret: string;
  readonly headerName: string;
  readonly toleranceSeconds: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The longest ID that is remembered. */
const longestId = 200;

/** The event of a delivery, or why it is rejected (Events, Signature 3). */
export function readDelivery(
  header: string | undefined,
  body: Buffer,
  { secret, headerName, toleranceSeconds, now }: Check,
): ReceivedEvent | SignatureProblem {
  const delivery = { header, rawBody: body, secret, toleranceSeconds };
  const verdict = verifySignature({ ...delivery, now });
  return verdict.ok ? eventOf(body) : explainRejection(verdict, delivery, headerName);
}

export const isProblem = (read: ReceivedEvent | SignatureProblem): read is SignatureProblem => "hint" in read;

/** Strict, because the log keeps the body as text. */
const strictly = new TextDecoder("utf-8", { fatal: true });

function eventOf(body: Buffer): ReceivedEvent | SignatureProblem {
  let event: Partial<Record<string, unknown>> | null;
  try {
    event = JSON.parse(strictly.decode(body)) as typeof event;
  } catch {
    return problem("its body is not JSON");
  }
  if (typeof event !== "object" || event === null || Array.isArray(event)) {
    return problem("its body is not a JSON object");
  }
  const { id, type, created_at: createdAt, data = null } = event;
  if (typeof id !== "string" || id === "" || id.length > longestId) return problem("it has no valid ID");
  if (typeof type !== "string" || type === "") return problem("it has no type");
  try {
    JSON.stringify(data);
  } catch {
    return problem("its JSON is nested too deeply");
  }
  return { id, type, created_at: typeof createdAt === "string" ? createdAt : null, data };
}

const problem = (why: string): SignatureProblem => ({
  code: "invalid_event",
  message: `the delivery is signed, but ${why}`,
  hint: "Check what sends it: the service sends an object with id, type, created_at and data.",
});
