import { randomBytes } from "node:crypto";
import type { MovableClock } from "../../clock.ts";
import type { EventType } from "../../contract/value-sets.ts";
import { Deliveries } from "../deliveries/deliveries.ts";
import { Faults } from "../faults/faults.ts";
import { SignedUrls } from "../images/signed-urls.ts";
import { type Network, realNetwork } from "../outgoing/network.ts";
import { type OrganizationName, organizationNames } from "../rules/authenticate.ts";
import { Cursors } from "../rules/cursors.ts";
import type { RateLimit } from "../rules/rate-limit.ts";
import { RequestIds } from "../rules/request-id.ts";
import { Ids, momentOf } from "../seed/ids.ts";
import { Random } from "../seed/random.ts";
import { Organization } from "../store/organization.ts";
import { Life } from "../work/life.ts";
import { Underway } from "../work/underway.ts";
import { addDemoModels, addDemoProducts } from "./demo.ts";
import { RequestLog } from "./request-log.ts";

/** What a mock is started with, defaults filled in. */
export interface WorldOptions {
  readonly clock: MovableClock;
  /** Null: every start is another world. */
  readonly seed: number | null;
  /** How many demo products the first organization begins with. */
  readonly demo: number;
  /** Jobs run this many times faster than the service's. */
  readonly speed: number;
  readonly rateLimit: RateLimit;
  /** How long every request is held before its work is done. */
  readonly latencyMs: number;
  /** Refuses webhook URLs on loopback, as the service does. */
  readonly strict: boolean;
  /** Fetches the image URLs of imports instead of drawing a picture for each. */
  readonly fetchImages: boolean;
  /** Fills a world that starts with a state of its own, in place of demo products: when it is told to begin, and after a reset. */
  readonly begin?: ((world: World) => void) | undefined;
  /** How it calls out; the network as it is unless told. */
  readonly network?: Network | undefined;
}

/**
 * The service's whole state in memory, and the one clock that it runs on. With a state of its own it is empty and does nothing until
 * `begin()`: jobs go on and deliveries go out of one that can be reached, and of no other.
 */
export class World {
  readonly clock: MovableClock;
  readonly options: WorldOptions;
  readonly log = new RequestLog();
  readonly faults = new Faults();
  readonly network: Network;
  /** What waits for others, in real time. */
  readonly underway = new Underway();
  readonly deliveries: Deliveries;
  /** Until the next reset, restore or stop: calls to others end with it. */
  life = new Life();
  /** Where the mock listens, e.g. `http://127.0.0.1:4010`: signed URLs begin with it. */
  baseUrl = "http://127.0.0.1";
  /** Signs URLs and cursors, so it belongs to the state: what was signed before a restore holds after it. */
  secret = "";
  organizations!: Record<OrganizationName, Organization>;
  ids!: Ids;
  requestIds!: RequestIds;
  cursors!: Cursors;
  signedUrls!: SignedUrls;
  /** The last timestamp: things made in the same millisecond share it, which is lighter, too. */
  #stamp = { at: 0, text: new Date(0).toISOString() };
  readonly #timers = new Set<() => void>();
  /** The requests that wait out the latency, each with how to take its timer back. */
  readonly #held = new Map<() => void, () => void>();
  /** What waits for the beginning; null once it has begun. */
  #early: (() => void)[] | null = null;

  constructor(options: WorldOptions) {
    this.options = options;
    this.clock = options.clock;
    this.network = options.network ?? realNetwork();
    this.deliveries = new Deliveries(this);
    if (options.begin === undefined) {
      this.reset();
      return;
    }
    this.#early = [];
    this.#renew();
  }

  /** Puts its own state in, where it has one, and lets through what has come before. */
  begin(): void {
    if (this.#early === null) return;
    this.reset();
    const early = this.#early;
    this.#early = null;
    for (const run of early) run();
  }

  get hasBegun(): boolean {
    return this.#early === null;
  }

  /** Runs something as soon as the world begins, which it has not yet. */
  onceBegun(run: () => void): void {
    this.#early?.push(run);
  }

  /** Back to how it started: the same seed, the demo products or the state it was given, nothing else. The clock stays where it is. */
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
  }

  /** Empties everything and draws anew what follows from the seed. */
  #renew(): { random: Random; moment: number | null } {
    const { seed } = this.options;
    const random = Random.from(seed === null ? randomBytes(16).toString("hex") : `seed ${seed}`);
    const moment = seed === null ? null : momentOf(random);
    this.useSecret(random.text(32));
    this.requestIds = new RequestIds(random);
    this.ids = new Ids({ random: random.state(), time: moment }, () => this.clock.now());
    this.empty();
    return { random, moment };
  }

  /**
   * The ids of what one row of a job makes. They follow from the seed, the job and the row alone: not from how many requests
   * came while the job ran. The secret is the seed's, and a snapshot has it.
   */
  idsOfRow(jobId: string, index: number): Ids {
    return this.ids.derive(this.secret, `${jobId} ${index}`, jobId);
  }

  /** The same for one thing that is made of another, e.g. the event about a job: it follows from the job and its own name. */
  idFor(name: string, about: string): string {
    return this.ids.derive(this.secret, `${about} ${name}`, about).next();
  }

  /** Takes everything out of every organization. */
  empty(): void {
    this.deliveries.clear();
    this.organizations = Object.fromEntries(
      organizationNames.map((name) => [name, new Organization(name)]),
    ) as Record<OrganizationName, Organization>;
  }

  useSecret(secret: string): void {
    this.secret = secret;
    this.cursors = new Cursors(secret);
    this.signedUrls = new SignedUrls(secret);
  }

  /** Now, as the service writes timestamps: RFC 3339 in UTC (Resources). */
  timestamp(): string {
    const now = this.clock.now();
    if (now !== this.#stamp.at) this.#stamp = { at: now, text: new Date(now).toISOString() };
    return this.#stamp.text;
  }

  /** Tells the organization's webhooks that a job has ended (Events). */
  announce(
    organization: Organization,
    type: EventType,
    resource: Readonly<{ id: string; status: string }>,
  ): void {
    this.deliveries.announce(organization, type, resource);
  }

  /** Runs something at a moment of the clock; forgotten on reset and stop. */
  schedule(time: number, run: () => void): void {
    const cancel = this.clock.at(time, () => {
      this.#timers.delete(cancel);
      run();
    });
    this.#timers.add(cancel);
  }

  /** Holds a request back until a moment of the clock; a reset lets it through before that, as somebody waits for its answer. */
  hold(time: number, run: () => void): void {
    const go = () => {
      this.#held.delete(go);
      run();
    };
    this.#held.set(go, this.clock.at(time, go));
  }

  /** Lets every request that is held do its work now. */
  letThrough(): void {
    for (const [go, cancel] of [...this.#held]) {
      cancel();
      go();
    }
  }

  /** Ends everything that would go on by itself. Only this world's own: others may wait on the same clock. */
  cancelTimers(): void {
    this.life.end();
    this.life = new Life();
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
  }
}
