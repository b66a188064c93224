import { PassThrough } from "node:stream";
import { createMCPClient, ElicitationRequestSchema, type MCPTransport } from "@ai-sdk/mcp";
import { Client } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";
import type { Output } from "../../../src/cli/context/standard-streams.ts";
import type { Running, TestWorld } from "../../support/world.ts";

/** How a person answers a question. */
export type Answer = "yes" | "unchecked" | "decline" | "cancel";

/** The clients and the eras that they speak: SDK 2.4.0 of each era, and one that is not of the SDK. */
export const clients = ["2025", "auto", "2026-07-28", "ai-sdk"] as const;
export type ClientName = (typeof clients)[number];

/** A value whose form the test expects. */
export type Json = ReturnType<JSON["parse"]>;

export interface Agent {
  readonly running: Running;
  /** Every question that was asked. */
  readonly questions: string[];
  /** What was written to stdout, as it came. */
  readonly written: string[];
  /** Lines as the client would write them. */
  write(text: string | Uint8Array): void;
  list(): Promise<{ name: string; annotations?: object | undefined }[]>;
  /** The JSON of a result, or its picture. */
  call(name: string, args?: object): Promise<Json>;
  close(): Promise<void>;
}

export interface AgentOptions {
  readonly client?: ClientName;
  /** How the person answers; null for a client that cannot ask. */
  readonly answer?: Answer | null | (() => Promise<Answer>);
  /** The words after `cat mcp`. */
  readonly words?: readonly string[];
  readonly program?: "cat" | "catalogue";
}

export const allAllowed = ["--allow", "writes,generations,deletes"] as const;

/** The streams of `cat mcp` in this process: both clients take them as a transport. */
class Wire implements MCPTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: Json) => void;
  readonly stdin = new PassThrough();
  readonly written: string[] = [];
  readonly #raw = new PassThrough();
  readonly stdout: Output = {
    isTTY: false,
    columns: 80,
    rows: 24,
    write: (text) => void this.#raw.write(text),
    raw: this.#raw,
  };

  async start(): Promise<void> {
    let rest = "";
    this.#raw.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        this.written.push(line);
        this.onmessage?.(JSON.parse(line));
      }
    });
  }

  async send(message: unknown): Promise<void> {
    this.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.stdin.end();
    this.onclose?.();
  }
}

/** Starts `cat mcp` in a test environment, and connects a client. */
export async function openAgent(
  world: TestWorld,
  { client = "2025", answer = "yes", words = allAllowed, program = "cat" }: AgentOptions = {},
): Promise<Agent> {
  const wire = new Wire();
  const running = world.cat(["mcp", ...words], {
    stdin: wire.stdin,
    context: { stdout: wire.stdout, program },
  });
  const questions: string[] = [];
  const ask = async (message: string) => {
    questions.push(message);
    const given = typeof answer === "function" ? await answer() : answer!;
    const action = { yes: "accept", unchecked: "accept", decline: "decline", cancel: "cancel" } as const;
    const content = action[given] === "accept" ? { content: { confirm: given === "yes" } } : {};
    return { action: action[given], ...content };
  };
  const opened = await (client === "ai-sdk" ? openOther : openSdk)(
    wire,
    client,
    answer === null ? null : ask,
  );
  const close = async () => {
    wire.stdin.end();
    await running;
  };
  onTestFinished(close);
  return {
    running,
    questions,
    written: wire.written,
    write: (text) => void wire.stdin.write(text),
    ...opened,
    close,
  };
}

type Ask = ((message: string) => Promise<Json>) | null;
interface Result {
  readonly content: readonly { type: string; text?: string; data?: string; mimeType?: string }[];
  readonly isError?: boolean | undefined;
}

function read({ content: [first, ...others], isError = false }: Result): unknown {
  if (first === undefined || others.length > 0) throw new Error(`${others.length + 1} contents`);
  if (first.type === "image") return { mimeType: first.mimeType, bytes: Buffer.from(first.data!, "base64") };
  let value: unknown = first.text;
  try {
    value = JSON.parse(first.text!);
  } catch {}
  return isError ? { isError, ...(typeof value === "object" ? value : { text: value }) } : value;
}

async function openSdk(wire: Wire, mode: ClientName, ask: Ask) {
  const eras = { "2025": {}, auto: { mode: "auto" }, "2026-07-28": { mode: { pin: "2026-07-28" } } } as const;
  const client = new Client(
    { name: "test", version: "1" },
    {
      capabilities: ask === null ? {} : { elicitation: { form: {} } },
      versionNegotiation: eras[mode as keyof typeof eras] as never,
    },
  );
  if (ask !== null) client.setRequestHandler("elicitation/create", async ({ params }) => ask(params.message));
  await client.connect(wire as never);
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name: string, args: object = {}) =>
      read((await client.callTool({ name, arguments: args as never })) as Result),
  };
}

async function openOther(wire: Wire, _mode: ClientName, ask: Ask) {
  const client = await createMCPClient({
    transport: wire,
    ...(ask !== null && { capabilities: { elicitation: {} } }),
  });
  if (ask !== null)
    client.onElicitationRequest(ElicitationRequestSchema, async ({ params }) => ask(params.message));
  const set = (await client.tools()) as Record<string, Json>;
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name: string, args: object = {}) =>
      read(await set[name].execute(args, { toolCallId: "1", messages: [] })),
  };
}
