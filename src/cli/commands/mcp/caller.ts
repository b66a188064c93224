import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import pLimit from "p-limit";
import { CatError } from "../../../errors.ts";
import { startTimeLimit } from "../../../flows/run/stage.ts";
import { maskedKeys, maskedSignatures } from "../../../http/mask.ts";
import { parseJson } from "../../../json.ts";
import type { App } from "../../app/app.ts";
import { exitMeanings } from "../../context/errors.ts";
import { explain } from "../../output/explain.ts";
import { visibleInJson } from "../../output/visible.ts";
import type { Jobs } from "./jobs.ts";
import type { Root } from "./root.ts";
import { longestCallMs, type Outcome, type Session, type StartedJob } from "./session.ts";
import type { Tool } from "./tools.ts";

/** Calls that work at once, and those that may wait for them. */
const atOnce = 8;
export const mostWaiting = 200;

type Reply = CallToolResult | InputRequiredResult;

interface Own {
  readonly root: Root;
  readonly jobs: Jobs;
  /** Whether a person has agreed to everything that is allowed (`--yes`). */
  readonly isAgreed: boolean;
}

/** Runs the calls of tools, a few at once. */
export class Caller {
  readonly #app: App;
  readonly #own: Own;
  readonly #inTurn = pLimit(atOnce);
  /** The commands whose questions were passed on, by the key of the question. */
  readonly #asked = new Map<string, StartedJob>();

  constructor(app: App, own: Own) {
    this.#app = app;
    this.#own = own;
  }

  async call(tool: Tool, args: unknown, ctx: ServerContext, canAsk: boolean): Promise<Reply> {
    if (this.#inTurn.pendingCount >= mostWaiting) return this.#failed(busy());
    return this.#inTurn(() => this.#call(tool, args, ctx, canAsk));
  }

  async #call(tool: Tool, args: unknown, { mcpReq }: ServerContext, canAsk: boolean): Promise<Reply> {
    const { context } = this.#app;
    const limit = startTimeLimit("call", longestCallMs, {
      clock: context.clock,
      signal: AbortSignal.any([context.interrupt, mcpReq.signal]),
    });
    try {
      const key = mcpReq.requestState<string>();
      const outcome =
        key === undefined
          ? await tool.run(args, this.#session(limit.signal, canAsk))
          : this.#answer(key, mcpReq.inputResponses);
      return await this.#replyTo(outcome, mcpReq.signal);
    } catch (error) {
      return this.#failed(limit.signal.aborted ? limit.signal.reason : error);
    } finally {
      limit.release();
    }
  }

  /** The app of one call: what it waits for ends with the call. */
  #session(signal: AbortSignal, canAsk: boolean): Session {
    const { root, jobs, isAgreed } = this.#own;
    const context = { value: Object.create(this.#app.context, { interrupt: { value: signal } }) };
    return {
      app: Object.create(this.#app, { context }),
      root,
      jobs,
      options: { signal },
      start: (words, paths = []) => jobs.start(words, root.folder, paths, { canAsk, isAgreed }),
    };
  }

  /** Passes the answer of the person on, once. */
  #answer(key: string, responses: Record<string, unknown> | undefined): StartedJob {
    const asked = this.#asked.get(key);
    this.#asked.delete(key);
    const { question } = asked?.job ?? {};
    if (asked === undefined || question?.key !== key)
      throw new CatError("the question has expired; nothing was done", {
        type: "conflict",
        code: "question_expired",
        hint: "Use the tool again.",
      });
    const given = inputResponse(responses, "confirm");
    question.answer(given.kind === "elicit" && given.action === "accept" && given.content?.confirm === true);
    return asked;
  }

  async #replyTo(outcome: Outcome, cancelled: AbortSignal): Promise<Reply> {
    if ("picture" in outcome) return { content: [{ type: "image", ...outcome.picture }] };
    if ("value" in outcome) return this.#text(outcome.value);
    const { job, isResult = false, until } = outcome;
    await this.#wait(outcome, cancelled);
    if (job.question !== null) return this.#ask(outcome, cancelled);
    if (isResult && job.exit !== null) return this.#text(job.result, job.isFailed);
    return this.#text(job.report, until !== "end" && job.isFailed);
  }

  async #wait({ job, until, waitMs }: StartedJob, cancelled: AbortSignal): Promise<void> {
    const { clock, interrupt } = this.#app.context;
    const limit = startTimeLimit("call", waitMs, { clock, signal: AbortSignal.any([interrupt, cancelled]) });
    const isReached = () => (until === "run" && job.hasRun) || (until === "agreement" && job.isAgreed);
    while (!limit.signal.aborted && job.exit === null && job.question === null && !isReached())
      await job.change(limit.signal);
    limit.release();
  }

  #ask(outcome: StartedJob, cancelled: AbortSignal): InputRequiredResult {
    const question = outcome.job.question!;
    this.#asked.set(question.key, outcome);
    // In the era of 2025, the call stays open while the person is asked.
    cancelled.addEventListener("abort", () => question.answer(false), { once: true });
    return inputRequired({
      inputRequests: {
        confirm: inputRequired.elicit({
          message: this.#masked(question.message),
          requestedSchema: {
            type: "object",
            properties: { confirm: { type: "boolean", title: "Yes, do it" } },
            required: ["confirm"],
          },
        }),
      },
      requestState: question.key,
    });
  }

  #text(value: unknown, isError = false): CallToolResult {
    const text = this.#masked(visibleInJson(JSON.stringify(value, withoutUrls) ?? "null"));
    return { content: [{ type: "text", text }], ...(isError && { isError }) };
  }

  #failed(error: unknown): CallToolResult {
    const format = {
      json: true,
      verbose: false,
      width: null,
      mask: this.#app.secrets.mask,
      paint: (text: string) => text,
    };
    const shown = parseJson(explain(error, format)) as { error: { exit: keyof typeof exitMeanings } };
    return this.#text({ ...shown, outcome: exitMeanings[shown.error.exit] }, true);
  }

  #masked(text: string): string {
    return maskedKeys(maskedSignatures(this.#app.secrets.mask(text)));
  }
}

/** Signed URLs give access without a key, and are long. */
const signedFields = new Set([
  "url",
  "url_expires_at",
  "preview_url",
  "preview_url_expires_at",
  "results_url",
]);

const withoutUrls = (name: string, value: unknown): unknown => (signedFields.has(name) ? undefined : value);

const busy = (): CatError =>
  new CatError(`${mostWaiting} requests are waiting; nothing was done`, {
    type: "conflict",
    code: "too_many_calls",
    hint: "Wait for the responses, and use the tool again.",
  });
