import { maskedKey, shortestSecret } from "../../http/mask.ts";
import type { Context, Output } from "../context/context.ts";

/** The signing secret of a webhook, and the start of one at the end of a text. */
const webhookSecret = /whsec_[\w+/=-]{8,}/g;
const maskedWebhookSecret = "whsec_…";
const webhookSecretBegun = /w(?:h(?:s(?:e(?:c(?:_[\w+/=-]*)?)?)?)?)?$/;

/**
 * The secrets of the user, which are masked on stdout, on stderr and in output files, for example when the
 * service echoes the API key. A command that prints a secret on purpose calls `show` first.
 */
export class Secrets {
  /** Each form of a secret and its mask, the longest form first. */
  #masks: (readonly [form: string, mask: string])[] = [];
  readonly #shown = new Set<string>();

  constructor({ CAT_API_KEY, CAT_WEBHOOK_SECRET }: Context["env"]) {
    this.add(CAT_API_KEY);
    this.add(CAT_WEBHOOK_SECRET);
  }

  add(secret: string | undefined): void {
    const text = secret?.trim() ?? "";
    if (text.length < shortestSecret || this.#shown.has(text)) return;
    const mask = text.startsWith("whsec_") ? maskedWebhookSecret : maskedKey(text)!;
    const masks = new Map([...this.#masks, ...formsOf(text).map((form) => [form, mask] as const)]);
    this.#masks = [...masks].sort(([one], [other]) => other.length - one.length);
  }

  /** Leaves a secret readable from now on, such as a `signing_secret` that is shown once. */
  show(secret: string): void {
    this.#shown.add(secret);
    const forms = formsOf(secret);
    this.#masks = this.#masks.filter(([form]) => !forms.includes(form));
  }

  readonly mask = (text: string): string => this.maskWebhooks(this.maskKnown(text));

  maskKnown(text: string): string {
    return this.#masks.reduce((masked, [form, mask]) => masked.replaceAll(form, mask), text);
  }

  maskWebhooks(text: string): string {
    if (!text.includes("whsec_")) return text;
    return text.replace(webhookSecret, (secret) => (this.#shown.has(secret) ? secret : maskedWebhookSecret));
  }

  /**
   * The index at which a secret may start that continues in the next text; the length of the text if none
   * may.
   */
  begunAt(text: string): number {
    // Secrets contain no line ends, and most texts end with one.
    if (text.endsWith("\n")) return text.length;
    const starts = this.#masks.map(([form]) => {
      for (let at = Math.max(0, text.length - form.length + 1); at < text.length; at++) {
        if (form.startsWith(text.slice(at))) return at;
      }
      return text.length;
    });
    return Math.min(text.length, ...starts, webhookSecretBegun.exec(text)?.index ?? text.length);
  }
}

/** The forms of a secret: as is, in JSON, in a URL, and in a quoted CSV cell. */
const formsOf = (secret: string): string[] => [
  ...new Set([
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    secret.replaceAll('"', '""'),
  ]),
];

/**
 * An output that masks secrets in text, also when split over two writes. Bytes are file contents and are not
 * changed.
 */
export class MaskedOutput implements Output {
  readonly #output: Output;
  readonly #secrets: Secrets;
  /** The end of the text so far, in which a secret may have started. */
  #held = "";

  constructor(output: Output, secrets: Secrets) {
    this.#output = output;
    this.#secrets = secrets;
  }

  get isTTY(): boolean {
    return this.#output.isTTY;
  }

  get columns(): number {
    return this.#output.columns;
  }

  get raw(): NodeJS.WritableStream {
    return this.#output.raw;
  }

  async write(text: string | Uint8Array): Promise<void> {
    if (typeof text !== "string") {
      await this.end();
      return this.#output.write(text);
    }
    const all = this.#secrets.maskKnown(this.#held + text);
    const end = this.#secrets.begunAt(all);
    this.#held = all.slice(end);
    const masked = this.#secrets.maskWebhooks(all.slice(0, end));
    if (masked !== "" || text === "") await this.#output.write(masked);
  }

  /** Writes the text that was held back. */
  async end(): Promise<void> {
    const rest = this.#secrets.mask(this.#held);
    this.#held = "";
    if (rest !== "") await this.#output.write(rest);
  }
}

/** The context with masked outputs, each created on first use, and a function that ends them. */
export function maskedContext(
  context: Context,
  secrets: Secrets,
): { masked: Context; end: () => Promise<void> } {
  const outputs = new Map<"stdout" | "stderr", MaskedOutput>();
  const outputOf = (name: "stdout" | "stderr"): MaskedOutput => {
    const output = outputs.get(name) ?? new MaskedOutput(context[name], secrets);
    outputs.set(name, output);
    return output;
  };
  const masked = Object.create(context, {
    stdout: { get: () => outputOf("stdout") },
    stderr: { get: () => outputOf("stderr") },
  });
  return {
    masked,
    async end() {
      for (const output of outputs.values()) await output.end();
    },
  };
}
