import { randomBytes } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { MovableClock } from "../../clock.ts";
import { limits } from "../../contract/limits.ts";
import type { MockOptions } from "../api/options.ts";
import { Deliveries } from "../deliveries/deliveries.ts";
import { Faults } from "../faults/faults.ts";
import { SignedUrls } from "../images/signed-urls.ts";
import type { Network } from "../outgoing/network.ts";
import { ApiKeys, type OrganizationName, organizationNames } from "../rules/api-keys.ts";
import { Cursors } from "../rules/cursors.ts";
import { Ids, Random, seedStart } from "../seed/seed.ts";
import type { Wake } from "../store/organization.ts";
import { Organization } from "../store/organization.ts";
import { addLookbookImage, laterModel, withUnknownFields } from "../tomorrow/tomorrow.ts";
import { WorkInProgress } from "../work/work-in-progress.ts";
import { addDemoModels, addDemoProducts } from "./demo.ts";
import { RequestIds, RequestLog } from "./requests.ts";

type Filled =
  | "clock"
  | "demo"
  | "speed"
  | "rateLimit"
  | "latencyMs"
  | "strict"
  | "strictSlugs"
  | "fetchImages"
  | "bodies";

/** Options of a mock, with defaults filled in. */
export interface WorldOptions
  extends Required<Pick<MockOptions, Filled>>,
    Pick<MockOptions, "seed" | "tomorrow" | "onRequest"> {
  /** Hosts besides this machine, as `exactHost` writes them, that may use control routes and get webhooks. */
  allowHosts: ReadonlySet<string>;
  /** Loads an initial state instead of demo products, at every reset. */
  begin?: ((world: World) => void) | undefined;
  network: Network;
}

/**
 * The complete state of the mock in memory, and its clock. It stays empty and idle until the first `reset()`,
 * so that jobs and deliveries start only once the server is reachable.
 */
export class World {
  readonly clock: MovableClock;
  readonly options: WorldOptions;
  readonly log: RequestLog;
  readonly faults = new Faults();
  readonly network: Network;
  /** Work in progress that depends on other servers, in real time. */
  readonly workInProgress = new WorkInProgress();
  readonly deliveries: Deliveries;
  /** Ends at the next reset, restore or stop; cancels outgoing requests. */
  life!: AbortSignal;
  #ending = new AbortController();
  /** The start of signed URLs: the `baseUrl` option, or the address, e.g. `http://127.0.0.1:4010`. */
  baseUrl = "http://127.0.0.1";
  /** Signs URLs and cursors. Part of the state, so that signatures stay valid after a restore. */
  secret = "";
  organizations!: Record<OrganizationName, Organization>;
  keys = new ApiKeys({ areSecret: false });
  ids!: Ids;
  requestIds!: RequestIds;
  cursors!: Cursors;
  signedUrls!: SignedUrls;
  readonly #demoSeed = randomBytes(16).toString("hex");
  /** The last timestamp, shared by records of the same millisecond to save memory. */
  #stamp = { at: 0, text: new Date(0).toISOString() };
  readonly #timers = new Set<() => void>();
  /** Requests delayed by the latency option, with the functions that cancel their timers. */
  readonly #held = new Map<() => void, () => void>();

  constructor(options: WorldOptions) {
    this.options = options;
    this.clock = options.clock;
    this.network = options.network;
    this.log = new RequestLog(options.bodies);
    this.#begin();
    this.deliveries = new Deliveries(this);
    this.#renew();
  }

  /** Resets to the start: same seed, and demo products or initial state. The clock is not reset. */
  reset(): void {
    this.letThrough();
    this.cancelTimers();
    this.log.clear();
    this.faults.reset();
    const { random, moment } = this.#renew();
    const { demo, begin } = this.options;
    if (begin !== undefined) {
      begin(this);
      return;
    }
    addDemoModels(this.organizations.main, this.ids);
    addDemoProducts(this.organizations.main, this.ids, random, demo, moment ?? this.clock.now());
    if (this.options.tomorrow) this.#addLaterObjects();
  }

  /** Objects with values that today's service does not have. */
  #addLaterObjects(): void {
    const { main } = this.organizations;
    for (const { models } of Object.values(this.organizations)) models.push(laterModel);
    for (const product of [...main.products.newestFirst(null)]) {
      const id = this.idFor("lookbook", product.id);
      addLookbookImage(main, product, { id, task_id: null, now: product.created_at });
    }
  }

  #begin(): void {
    this.#ending = new AbortController();
    this.life = this.#ending.signal;
    // Every request in flight listens to it.
    setMaxListeners(0, this.life);
  }

  /** Removes all data and restarts what follows from the seed. Without one, demo products stay the same. */
  #renew(): { random: Random; moment: number | null } {
    const { seed } = this.options;
    const random = Random.from(seed === undefined ? randomBytes(16).toString("hex") : `seed ${seed}`);
    const moment = seed === undefined ? null : seedStart(random);
    this.useSecret(random.text(32));
    this.requestIds = new RequestIds(random);
    this.ids = new Ids({ random: random.state(), time: moment }, () => this.clock.now());
    this.keys = new ApiKeys({ areSecret: false });
    this.empty();
    return { random: seed === undefined ? Random.from(this.#demoSeed) : random, moment };
  }

  /**
   * The IDs for the results of one row of a job. They follow from the seed, the job and the row alone, not
   * from the number of requests during the job. The secret follows from the seed and is part of snapshots.
   */
  idsOfRow(jobId: string, index: number): Ids {
    return this.ids.derive(this.secret, `${jobId} ${index}`, jobId);
  }

  /** The ID of a derived record, e.g. the event of a job; it follows from the job and the name. */
  idFor(name: string, about: string): string {
    return this.ids.derive(this.secret, `${about} ${name}`, about).next();
  }

  empty(): void {
    this.deliveries.clear();
    const wake: Wake = (time, run) => this.schedule(time, () => run(this.clock.now()));
    this.organizations = Object.fromEntries(
      organizationNames.map((name) => [name, new Organization(name, wake)]),
    ) as Record<OrganizationName, Organization>;
  }

  /** The JSON of a value outside a response, with unknown fields if they are wanted. */
  printed(value: unknown): string {
    const json = JSON.stringify(value);
    return this.options.tomorrow ? withUnknownFields(json) : json;
  }

  useSecret(secret: string): void {
    this.secret = secret;
    this.cursors = new Cursors(secret);
    this.signedUrls = new SignedUrls(secret);
  }

  /** A signed URL for a path of `signedPaths`, and its expiry time. */
  sign(path: string, at = this.clock.now()): ReturnType<SignedUrls["sign"]> {
    return this.signedUrls.sign(this.baseUrl, path, at);
  }

  /** `Retry-After` in seconds while a job runs (Limits, job polling interval); shorter at higher speeds. */
  pollSeconds({ finished_at }: { finished_at: string | null }): number | undefined {
    return finished_at !== null ? undefined : Math.round(limits.jobPollSeconds / this.options.speed);
  }

  /** The current time as RFC 3339 in UTC (Resources). */
  timestamp(): string {
    const now = this.clock.now();
    if (now !== this.#stamp.at) this.#stamp = { at: now, text: new Date(now).toISOString() };
    return this.#stamp.text;
  }

  /** Runs something at a time of the clock; canceled by reset and stop. */
  schedule(time: number, run: () => void): void {
    const cancel = this.clock.at(time, () => {
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }

  /** Delays a request until a time of the clock; a reset releases it, because the client waits. */
  hold(time: number, run: () => void): void {
    const go = () => {
      this.#held.delete(go);
      run();
    };
    this.#held.set(go, this.clock.at(time, go));
  }

  letThrough(): void {
    for (const [go, cancel] of [...this.#held]) {
      cancel();
      go();
    }
  }

  /** Cancels all timers of this mock. Other users of the same clock keep theirs. */
  cancelTimers(): void {
    this.#ending.abort();
    this.#begin();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}
