import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Frame, RequestFrame, View } from "../../mock-page/data.ts";
import type { LoggedRequest } from "../world/requests.ts";
import type { World } from "../world/world.ts";
import { toJobs } from "./job-cards.ts";
import { productRevision, toControl, toRow, toStatus, toWebhooks } from "./views.ts";

/** Time between two frames, in real milliseconds. */
const frameMs = 100;
/** A stream whose reader takes nothing for this time is closed. */
const patienceMs = 5_000;
/** New requests in one frame: more than a page can show, far less than a mock can serve. */
const rowsPerFrame = 200;

interface Stream {
  readonly response: ServerResponse;
  readonly view: View;
  /** The number of the newest request that was sent. */
  sent: number;
  /** Sent requests that were not over. */
  readonly open: Map<number, LoggedRequest>;
  life: string | null;
  /** The last content of each part, as JSON. */
  readonly last: Map<keyof Frame, string>;
  /** Since when the reader takes nothing; null while it does. */
  stuckSince: number | null;
}

/**
 * The open pages, which get what has changed ten times per second, by server-sent events. Nothing is computed
 * while no page is open, and a request does no work for a page: each frame reads the log.
 */
export class Streams {
  readonly #world: World;
  readonly #streams = new Set<Stream>();
  /** Tells the requests of this mock from those of an earlier one on the same port. */
  readonly #process = randomBytes(4).toString("hex");
  #cancel: (() => void) | null = null;

  constructor(world: World) {
    this.#world = world;
  }

  /** Sends the parts of a view, from the frame with the ID `lastId` on, until the page closes the stream. */
  open(response: ServerResponse, view: View, lastId: string | undefined): void {
    const stream: Stream = {
      response,
      view,
      ...this.#resumed(lastId),
      open: new Map(),
      last: new Map(),
      stuckSince: null,
    };
    response.writeHead(200, {
      "Content-Type": "text/event-stream; charset=utf-8",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "Cross-Origin-Resource-Policy": "same-origin",
    });
    response.write("retry: 1000\n\n");
    response.on("close", () => this.#streams.delete(stream));
    this.#streams.add(stream);
    this.#write(stream);
    this.#plan();
  }

  get #life(): string {
    return `${this.#process}-${this.#world.log.clears}`;
  }

  #resumed(lastId: string | undefined): Pick<Stream, "sent" | "life"> {
    const [, life, sent] = /^([0-9a-f]+-\d+)\.(\d{1,15})$/.exec(lastId ?? "") ?? [];
    return life === this.#life ? { sent: Number(sent), life } : { sent: 0, life: null };
  }

  #plan(): void {
    if (this.#cancel !== null || this.#streams.size === 0) return;
    const { time } = this.#world.network;
    this.#cancel = time.at(time.now() + frameMs, () => {
      this.#cancel = null;
      for (const stream of this.#streams) this.#send(stream);
      this.#plan();
    });
  }

  /** Sends one frame. While the reader has not taken the last one, it is skipped instead of buffered. */
  #send(stream: Stream): void {
    const { response } = stream;
    const now = this.#world.network.time.now();
    if (response.writableLength > 0) {
      stream.stuckSince ??= now;
      if (now - stream.stuckSince >= patienceMs) response.destroy();
      return;
    }
    stream.stuckSince = null;
    this.#write(stream);
  }

  #write(stream: Stream): void {
    const frame = this.#nextFrame(stream);
    if (frame === null) return;
    // A page that comes back with this ID gets every request that was not over again.
    const through = Math.min(stream.sent, ...[...stream.open.keys()].map((number) => number - 1));
    stream.response.write(`id: ${this.#life}.${through}\ndata: ${JSON.stringify(frame)}\n\n`);
  }

  /** The parts that have changed since the last frame; null if there are none. */
  #nextFrame(stream: Stream): Frame | null {
    const world = this.#world;
    const frame: Frame = {};
    const add = <Part extends Exclude<keyof Frame, "requests">>(
      part: Part,
      value: NonNullable<Frame[Part]>,
    ) => {
      const json = JSON.stringify(value);
      if (stream.last.get(part) === json) return;
      stream.last.set(part, json);
      Object.assign(frame, { [part]: value });
    };
    add("status", toStatus(world));
    if (stream.view === "products") add("products", productRevision(world));
    else if (stream.view === "jobs") add("jobs", toJobs(world));
    else if (stream.view === "webhooks") add("webhooks", toWebhooks(world));
    else if (stream.view === "control") add("control", toControl(world));
    else {
      const requests = this.#newRequests(stream);
      if (requests !== null) frame.requests = requests;
    }
    return Object.keys(frame).length === 0 ? null : frame;
  }

  /** New requests, and those that are over by now; null if there are none. */
  #newRequests(stream: Stream): RequestFrame | null {
    const { log } = this.#world;
    const life = this.#life;
    const isNew = stream.life !== life;
    if (isNew) {
      stream.life = life;
      stream.sent = 0;
      stream.open.clear();
    }
    const changed = new Map<number, LoggedRequest>();
    for (const [number, logged] of stream.open) {
      const isKept = log.numbered(number) === logged;
      if (isOver(logged) && isKept) changed.set(number, logged);
      if (isOver(logged) || !isKept) stream.open.delete(number);
    }
    // The first frame has all that are kept.
    for (const [number, logged] of log.from(stream.sent + 1, isNew ? log.count : rowsPerFrame)) {
      changed.set(number, logged);
      if (!isOver(logged)) stream.open.set(number, logged);
    }
    stream.sent = log.count;
    if (changed.size === 0 && !isNew) return null;
    return { life, total: log.count, rows: [...changed].map(([number, logged]) => toRow(number, logged)) };
  }
}

const isOver = ({ status, kept }: LoggedRequest): boolean => status !== null || kept?.isOver === true;
