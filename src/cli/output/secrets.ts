import { maskedKey, shortestSecret } from "../../http/mask.ts";
import type { Context } from "../context/context.ts";
import type { Output } from "../context/standard-streams.ts";
import { isReadByGithub, withoutCommands } from "./log-text.ts";

const webhookSecret = /whsec_[\w+/=-]{8,}/g;
const maskedWebhookSecret = "whsec_…";

/** Secrets, masked in every output. A command that prints one on purpose calls `show` first. */
export class Secrets {
  /** Each form of a secret and its mask, the longest form first. */
  #masks: (readonly [form: string, mask: string])[] = [];
  readonly #shown = new Set<string>();

  constructor({ CAT_API_KEY, CAT_WEBHOOK_SECRET }: Context["env"]) {
    this.add(CAT_API_KEY);
    this.add(CAT_WEBHOOK_SECRET);
  }

  /** `shown` is what replaces it (default: the ends of a key). */
  add(secret: string | undefined, shown?: string): void {
    const text = secret?.trim() ?? "";
    if (text.length < shortestSecret || this.#shown.has(text)) return;
    const mask = shown ?? (text.startsWith("whsec_") ? maskedWebhookSecret : maskedKey(text)!);
    const masks = new Map([...this.#masks, ...secretForms(text).map((form) => [form, mask] as const)]);
    this.#masks = [...masks].sort(([a], [b]) => b.length - a.length);
  }

  /** Leaves a secret readable from now on, such as a `signing_secret` that is shown once. */
  show(secret: string): void {
    this.#shown.add(secret);
    const forms = secretForms(secret);
    this.#masks = this.#masks.filter(([form]) => !forms.includes(form));
  }

  /** Masks the secrets in a text; needs no `this`. */
  get mask(): (text: string) => string {
    return (text) => {
      const masked = this.#masks.reduce(
        (rest, [form, mask]) => (rest.includes(form) ? rest.replaceAll(form, mask) : rest),
        text,
      );
      if (!masked.includes("whsec_")) return masked;
      return masked.replace(webhookSecret, (secret) =>
        this.#shown.has(secret) ? secret : maskedWebhookSecret,
      );
    };
  }
}

/** The forms of a secret: as is, in JSON, in a URL, and in a quoted CSV cell. */
const secretForms = (secret: string): string[] => [
  ...new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    secret.replaceAll('"', '""'),
  ]),
];

/** The context with masked texts (bytes are file contents), which are no commands in GitHub's logs. */
export function maskedContext(context: Context, { mask }: Secrets): Context {
  const isLog = isReadByGithub(context.env);
  const told = (text: string) => (isLog ? withoutCommands(mask(text)) : mask(text));
  const masked = (name: "stdout" | "stderr", shown: (text: string) => string): Output => ({
    get isTTY() {
      return context[name].isTTY;
    },
    get columns() {
      return context[name].columns;
    },
    get rows() {
      return context[name].rows;
    },
    get raw() {
      return context[name].raw;
    },
    write: (text) => context[name].write(typeof text === "string" ? shown(text) : text),
    ...(name === "stderr" && { writeCommand: (text) => context[name].write(mask(text)) }),
  });
  return Object.create(context, {
    stdout: { value: masked("stdout", mask) },
    stderr: { value: masked("stderr", told) },
  });
}
