import {
  Agent,
  createServer,
  request as forward,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** A response of the service on its way to the client. */
export interface Passing {
  readonly method: string;
  readonly path: string;
  /** The API key of the request, if it has one. */
  readonly key: string | null;
  /** Its idempotency key. */
  readonly idempotencyKey: string | undefined;
  status: number;
  headers: Record<string, string>;
  /** The JSON of the body; undefined for other bodies. */
  json: unknown;
  /** Cuts the body after this many bytes, and announces only those. */
  cutAt?: number;
}

/** What happens to the responses; null leaves them as the mock sent them. */
export type Change = ((passing: Passing) => void) | null;

/**
 * A server in front of the mock, which may change its responses. It accepts any API key. `secrets` are those that its
 * responses contained: signatures of URLs, and signing secrets of webhooks.
 */
export async function serviceInFront(mockUrl: string) {
  const secrets = new Set<string>();
  const agent = new Agent({ keepAlive: true });
  const front = {
    origin: "",
    target: mockUrl,
    secrets: secrets as ReadonlySet<string>,
    change: null as Change,
    /** The number of requests. */
    count: 0,
    /** Closes the connection instead of a response. */
    isCut: false,
    /** Whether a request with this body is lost on its way. */
    loses: null as ((body: string) => boolean) | null,
  };
  const server = createServer(async (request, response) => {
    const sent = await buffer(request);
    front.count++;
    if (front.isCut || front.loses?.(sent.toString()) === true)
      return void response.socket?.resetAndDestroy();
    const received = await passOn(new URL(request.url!, front.target), request, sent, agent).catch(
      () => null,
    );
    // The mock has dropped the connection.
    if (received === null) return void response.socket?.resetAndDestroy();
    const bytes = await buffer(received);
    const passing = passingOf(request, received, bytes);
    front.change?.(passing);
    send(response, passing, bytes, secrets);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  front.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    agent.destroy();
  });
  return front;
}

const passOn = (url: URL, request: IncomingMessage, body: Buffer, agent: Agent): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { authorization, ...headers } = request.headers;
    const own = { ...headers, host: url.host, ...(authorization && { authorization: "Bearer ak_mock" }) };
    forward(url, { method: request.method!, headers: own, agent }, resolve).on("error", reject).end(body);
  });

function passingOf(request: IncomingMessage, received: IncomingMessage, bytes: Buffer): Passing {
  const { connection: _hop, "transfer-encoding": _encoding, ...headers } = received.headers;
  return {
    method: request.method!,
    path: request.url!,
    key: request.headers.authorization?.replace("Bearer ", "") ?? null,
    idempotencyKey: request.headers["idempotency-key"] as string | undefined,
    status: received.statusCode!,
    headers: headers as Record<string, string>,
    json: headers["content-type"]?.startsWith("application/json") ? JSON.parse(bytes.toString()) : undefined,
  };
}

function send(
  response: ServerResponse,
  { status, headers, json, cutAt }: Passing,
  bytes: Buffer,
  secrets: Set<string>,
) {
  const whole = json === undefined ? bytes : Buffer.from(JSON.stringify(json));
  const body = whole.subarray(0, cutAt);
  if (json !== undefined) {
    const text = body.toString();
    for (const [secret] of text.matchAll(/(?<=[?&]signature=)\w+|whsec_\w{8,}/g)) secrets.add(secret);
  }
  // Node would add its own.
  response.sendDate = headers.date !== undefined;
  const { "content-length": _length, ...rest } = headers;
  response.writeHead(status, { ...rest, ...(status !== 204 && { "content-length": body.length }) }).end(body);
}
