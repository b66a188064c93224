/** A sample of the text format: its name, labels and value. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * A strict reader of Prometheus' text format (version 0.0.4), written from its documentation, for files of
 * node_exporter: no timestamps, one HELP and TYPE per metric before its samples, no repeated sample.
 */
export function parsePrometheus(text: string): Sample[] {
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  const helps = new Set<string>();
  const types = new Map<string, string>();
  const seen = new Set<string>();
  const closed = new Set<string>();
  const samples: Sample[] = [];
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [hash, keyword, name = "", rest = ""] =
      /^(#) (\S+)(?: (\S+)(?: (.+))?)?/.exec(line)?.slice(1) ?? [];
    if (hash !== undefined && keyword !== "HELP" && keyword !== "TYPE") continue;
    if (hash !== undefined) {
      if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name)) throw new Error(`bad name: ${line}`);
      if (keyword === "HELP") {
        if (helps.has(name)) throw new Error(`second HELP: ${line}`);
        helps.add(name);
      } else {
        if (types.has(name) || seen.has(name)) throw new Error(`late TYPE: ${line}`);
        if (!["counter", "gauge", "histogram", "summary", "untyped"].includes(rest)) throw new Error(line);
        types.set(name, rest);
      }
      continue;
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (sample === null) throw new Error(`not a sample: ${line}`);
    const [, metric = "", inside = "", number = ""] = sample;
    if (!helps.has(metric) || !types.has(metric)) throw new Error(`no HELP or TYPE: ${line}`);
    if (metric !== current) {
      if (closed.has(metric)) throw new Error(`samples of ${metric} are not together`);
      closed.add(current);
      current = metric;
    }
    const labels: Record<string, string> = {};
    let left = inside;
    while (left !== "") {
      const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/.exec(left);
      if (label === null || label[1]! in labels) throw new Error(`bad labels: ${line}`);
      labels[label[1]!] = label[2]!.replace(/\\(.)/g, (_, one) => (one === "n" ? "\n" : one));
      left = left.slice(label[0].length);
    }
    const id = `${metric}${JSON.stringify(Object.entries(labels).sort())}`;
    if (seen.has(id)) throw new Error(`repeated: ${line}`);
    seen.add(id);
    seen.add(metric);
    const value = number === "+Inf" ? Number.POSITIVE_INFINITY : Number(number);
    if (Number.isNaN(value)) throw new Error(`not a number: ${line}`);
    if (types.get(metric) === "counter" && !(metric.endsWith("_total") && value >= 0)) throw new Error(line);
    samples.push({ name: metric, labels, value });
  }
  return samples;
}

/** The values of one metric, by its labels other than command and profile; `""` without any. */
export const valuesOf = (text: string, name: string, command = "import"): Record<string, number> =>
  Object.fromEntries(
    parsePrometheus(text)
      .filter((sample) => sample.name === name && sample.labels.command === command)
      .map(({ labels: { command: _, profile: __, ...labels }, value }) => [
        Object.values(labels).join(),
        value,
      ]),
  );
