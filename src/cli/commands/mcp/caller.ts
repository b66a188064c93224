import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import pLimit from "p-limit";
import { limits } from "../../../contract/limits.ts";
import { CatError } from "../../../errors.ts";
import { startTimeLimit } from "../../../flows/run/stage.ts";
import { TimeoutError } from "../../../http/errors.ts";
import { maskedCredentials } from "../../../http/mask.ts";
import { parseJson } from "../../../json.ts";
import { seenInJson, truncated } from "../../../text.ts";
import type { App } from "../../app/app.ts";
import { exitMeanings } from "../../context/errors.ts";
import { explain } from "../../output/explain.ts";
import { type Jobs, patienceMs, type Question } from "./jobs.ts";
import type { Root } from "./root.ts";
import { longestCallMs, type Session, type StartedJob } from "./session.ts";
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

/** A question, and the only call that can bring its answer. */
interface Asked {
  readonly outcome: StartedJob;
  readonly question: Question;
  readonly call: string;
}

/** Runs the calls of tools, a few at once. */
export class Caller {
  readonly #app: App;
  readonly #own: Own;
  readonly #inTurn = pLimit(atOnce);
  #open = 0;
  /** Questions that were passed on in a response, by the key that comes back with the answer. */
  readonly #asked = new Map<string, Asked>();

  constructor(app: App, own: Own) {
    this.#app = app;
    this.#own = own;
  }

  async call(tool: Tool, args: unknown, ctx: ServerContext, canAsk: boolean): Promise<Reply> {
    if (this.#open >= atOnce + mostWaiting) return this.#failed(busy());
    this.#open += 1;
    return this.#call(tool, args, ctx, canAsk).finally(() => {
      this.#open -= 1;
    });
  }

  async #call(tool: Tool, args: unknown, { mcpReq }: ServerContext, canAsk: boolean): Promise<Reply> {
    let limit = this.#startLimit(mcpReq.signal);
    const call = `${tool.name} ${JSON.stringify(args)}`;
    try {
      const outcome = await this.#inTurn(async () => {
        limit.signal.throwIfAborted();
        const key = mcpReq.requestState<string>();
        if (key !== undefined) return this.#answer(key, call, mcpReq.inputResponses);
        const started = await tool.run(args, this.#session(limit.signal, canAsk));
        if ("job" in started && started.isResult) await this.#wait(started, limit.signal);
        return started;
      });
      if ("picture" in outcome) return { content: [{ type: "image", ...outcome.picture }] };
      if ("value" in outcome) return this.#text(outcome.value);
      const { job } = outcome;
      await this.#wait(outcome, limit.signal);
      while (job.question !== null) {
        if (mcpReq.envelope !== undefined) return this.#pass(outcome, job.question, call);
        limit.release();
        await this.#ask(job.question, mcpReq);
        limit = this.#startLimit(mcpReq.signal);
        await this.#wait(outcome, limit.signal);
      }
      return this.#replyTo(outcome);
    } catch (error) {
      return this.#failed(limit.signal.aborted ? stopReason(limit.signal) : error);
    } finally {
      limit.release();
    }
  }

  /** From the receipt of a call; the time of a person does not count. */
  #startLimit(cancelled: AbortSignal) {
    const { clock, interrupt } = this.#app.context;
    return startTimeLimit("call", longestCallMs, { clock, signal: AbortSignal.any([interrupt, cancelled]) });
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
      start: (words, paths = [], release = async () => {}) =>
        jobs.start(words, root.folder, paths, { canAsk, isAgreed }, release),
    };
  }

  /** Passes the answer of the person on, once, and only for the call that asked. */
  #answer(key: string, call: string, responses: Record<string, unknown> | undefined): StartedJob {
    const asked = this.#asked.get(key);
    if (asked === undefined || asked.call !== call || asked.outcome.job.question !== asked.question)
      throw new CatError("the question has expired; nothing was done", {
        type: "conflict",
        code: "question_expired",
        hint: "Use the tool again.",
      });
    this.#asked.delete(key);
    const given = inputResponse(responses, "confirm");
    if (given.kind === "elicit") asked.question.answer(isYes(given));
    else asked.question.answer(null);
    return asked.outcome;
  }

  #replyTo({ job, isResult, until }: StartedJob): Reply {
    if (isResult === true && job.exit !== null) return this.#text(job.result, job.isFailed);
    return this.#text(job.report, until !== "end" && job.isFailed);
  }

  async #wait({ job, until, waitMs }: StartedJob, signal: AbortSignal): Promise<void> {
    const limit = startTimeLimit("call", waitMs, { clock: this.#app.context.clock, signal });
    const isReached = () => (until === "run" && job.hasRun) || (until === "agreement" && job.isAgreed);
    while (!limit.signal.aborted && job.exit === null && job.question === null && !isReached())
      await job.change(limit.signal);
    limit.release();
  }

  /** Asks in the era of 2026-07-28: the answer comes with the same call again. */
  #pass(outcome: StartedJob, question: Question, call: string): InputRequiredResult {
    for (const [key, asked] of this.#asked)
      if (asked.outcome.job.question !== asked.question) this.#asked.delete(key);
    const key = crypto.randomUUID();
    this.#asked.set(key, { outcome, question, call });
    return inputRequired({
      inputRequests: { confirm: inputRequired.elicit(this.#form(question)) },
      requestState: key,
    });
  }

  /** Asks in the era of 2025: the call stays open meanwhile. */
  async #ask(question: Question, { elicitInput, signal }: ServerContext["mcpReq"]): Promise<void> {
    const options = { signal: AbortSignal.any([signal, question.signal]), timeout: patienceMs };
    try {
      question.answer(isYes(await elicitInput(this.#form(question), options)));
    } catch {
      question.answer(signal.aborted ? false : null);
    }
  }

  #form(question: Question) {
    return {
      message: this.#masked(question.message),
      requestedSchema: {
        type: "object" as const,
        properties: { confirm: { type: "boolean" as const, title: "Yes, do it" } },
        required: ["confirm"],
      },
    };
  }

  #text(value: unknown, isError = false): CallToolResult {
    const shown = JSON.stringify(value, this.#shown(longestText)) ?? "null";
    const text = this.#masked(seenInJson(shown));
    return { content: [{ type: "text", text }], ...(isError && { isError }) };
  }

  /** Leaves out signed URLs, and cuts long texts: those in lists more, because a page has many. */
  #shown(longest: number): (name: string, value: unknown) => unknown {
    return (name, value) => {
      if (signedFields.has(name)) return undefined;
      if (Array.isArray(value) && longest === longestText)
        return parseJson(JSON.stringify(value, this.#shown(longestInList)));
      // Of a key that is cut, the mask would not know the rest.
      return typeof value === "string" && value.length > longest
        ? truncated(this.#masked(value), longest)
        : value;
    };
  }

  #failed(error: unknown): CallToolResult {
    const { io, secrets } = this.#app;
    const format = {
      json: true,
      verbose: false,
      width: null,
      mask: (text: string) => secrets.mask(io.asCalled(text)),
      paint: (text: string) => text,
    };
    const shown = parseJson(explain(error, format)) as { error: { exit: keyof typeof exitMeanings } };
    return this.#text({ ...shown, outcome: exitMeanings[shown.error.exit] }, true);
  }

  #masked(text: string): string {
    return maskedCredentials(this.#app.secrets.mask(text));
  }
}

const isYes = ({ action, content }: { action: string; content?: object | undefined }): boolean =>
  action === "accept" && (content as { confirm?: unknown } | undefined)?.confirm === true;

/** Signed URLs give access without a key, and are long. */
const signedFields = new Set([
  "url",
  "url_expires_at",
  "preview_url",
  "preview_url_expires_at",
  "results_url",
]);

/** The longest text of a product is complete where it is alone. */
const longestText = limits.descriptionLength.max;
const longestInList = 300;

/** A call that ends without a command has changed nothing. */
const stopReason = ({ reason }: AbortSignal): unknown =>
  reason instanceof TimeoutError
    ? new TimeoutError(reason.message, {
        code: reason.code,
        hint: "Nothing was changed. Use the tool again.",
      })
    : reason;

const busy = (): CatError =>
  new CatError(`${mostWaiting} requests are waiting; nothing was done`, {
    type: "conflict",
    code: "too_many_calls",
    hint: "Wait for the responses, and use the tool again.",
  });
