import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { copyText, Rejection } from "./api.ts";

/** Runs an action and says how it went. */
export type Run = (action: () => Promise<string>) => void;

/** An organization by its public key; by its own name if it has none. */
export function accountName(organization: string, hasSecretKeys: boolean): string {
  if (hasSecretKeys) return organization;
  return organization === "main" ? "ak_mock" : `ak_mock_${organization}`;
}

export function Badge({ children, kind }: { children: ComponentChildren; kind: string }) {
  return <span class={`badge ${kind}`}>{children}</span>;
}

export const kindOfStatus = (status: number | null): string =>
  status === null ? "quiet" : `s${Math.floor(status / 100)}`;

export function kindOfState(state: string): string {
  if (["completed", "succeeded", "delivered", "active"].includes(state)) return "s2";
  if (["failed", "abandoned", "disabled"].includes(state)) return "s5";
  if (["completed_with_errors", "partial", "paused"].includes(state)) return "s4";
  return "busy";
}

export const toTime = (timestamp: string, length = 8): string => timestamp.slice(11, 11 + length);

/** A timestamp: the time, with the date as a tooltip. */
export function Time({ at, long = false }: { at: string; long?: boolean }) {
  return (
    <time dateTime={at} title={at}>
      {toTime(at, long ? 12 : 8)}
    </time>
  );
}

export function Copy({ text, children }: { text: string | (() => string); children: ComponentChildren }) {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef(0);
  const copy = async () => {
    await copyText(typeof text === "string" ? text : text());
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      {isCopied ? "Copied" : children}
    </button>
  );
}

/** A picture of the mock. Its size is that of all drawn pictures, so that nothing moves when it comes. */
export function Picture({ id, label }: { id: string | null; label: string }) {
  return (
    <span class="picture">
      {id === null ? null : (
        <img
          src={`_mock/pictures/${encodeURIComponent(id)}`}
          alt={label}
          loading="lazy"
          width={600}
          height={800}
        />
      )}
    </span>
  );
}

export function Bar({ value, label }: { value: number; label: string }) {
  return <progress max={1} value={value} aria-label={label} />;
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p>{title}</p>
      {children}
    </div>
  );
}

const token = /("(?:[^"\\]|\\.)*"?)(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;
/** A longer text is not colored: each color is an element. */
const longestColored = 20_000;

export function Code({ text }: { text: string }) {
  const json = indented(text);
  if (json === null || json.length > longestColored) return <pre>{json ?? text}</pre>;
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of json.matchAll(token)) {
    const [all, string, colon] = match;
    parts.push(json.slice(end, match.index));
    const kind = string === undefined ? "literal" : colon === undefined ? "string" : "name";
    parts.push(<span class={kind}>{string ?? all}</span>, colon ?? "");
    end = match.index + all.length;
  }
  return (
    <pre>
      {parts}
      {json.slice(end)}
    </pre>
  );
}

/** Deeper JSON is not indented: 64 kB of brackets would become gigabytes. */
const deepestIndented = 100;

function indented(text: string): string | null {
  if (!/^\s*[{[]/.test(text)) return null;
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    if (depth > deepestIndented) return null;
  }
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

/** Runs the action of a form like `run`. What the mock rejects is shown in the form, with every problem. */
export function useForm(run: Run) {
  const [problems, setProblems] = useState<readonly string[]>([]);
  const submit: Run = (action) =>
    run(async () => {
      setProblems([]);
      try {
        return await action();
      } catch (error) {
        if (!(error instanceof Rejection)) throw error;
        setProblems(error.problems);
        return "";
      }
    });
  const shown = problems.length > 0 && (
    <ul class="problems" role="alert">
      {problems.map((problem) => (
        <li>{problem}</li>
      ))}
    </ul>
  );
  return { submit, shown };
}
