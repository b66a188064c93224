/** What a fault does, by its name in the form. */
export const effects = {
  status: "Send a response",
  delay_ms: "Delay",
  before: "Close the connection before the work",
  after: "Close the connection after the work",
  crash: "Crash after the work",
  truncate: "Cut the response",
  fail: "Fail the job",
} as const;
export type Effect = keyof typeof effects;

/** The value of an effect: its label, and the type of its field; null for none. */
export const values: Record<Effect, { label: string; type: "number" | "text" } | null> = {
  status: { label: "Status", type: "number" },
  delay_ms: { label: "Milliseconds", type: "number" },
  before: null,
  after: null,
  crash: null,
  truncate: { label: "Bytes", type: "number" },
  fail: { label: "Code", type: "text" },
};

/** The fields of the form, as they are typed. */
export interface Fields {
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

export const empty: Fields = {
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

/** The faults that developers test most. */
export const common: readonly [string, Partial<Fields>][] = [
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
export function toOrder({ method, path, job, effect, value, headers, body, ...often }: Fields): object {
  const { times, percent } = often;
  const isJob = effect === "fail";
  const match = isJob ? { job } : { ...(method !== "" && { method }), ...(path !== "" && { path }) };
  const limits = {
    ...(times !== "" && { times: Number(times) }),
    ...(percent !== "" && { probability: Number(percent) / 100 }),
  };
  if (isJob) return { match, ...limits, fail: { code: value, message: "this failure comes from a fault" } };
  if (values[effect] === null) return { match, ...limits, drop: effect };
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
