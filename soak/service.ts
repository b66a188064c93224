import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { FaultOrder } from "../src/mock/faults/fault-order.ts";
import type { MockState } from "../src/mock/index.ts";

const key = { authorization: "Bearer ak_mock" };

/** Much faster than the service, slow enough that jobs of large batches are seen running. */
const speed = 25;

/** A `cat serve --mock` process that keeps its port and its state across restarts. */
export class Service {
  readonly #stateFile: string;
  readonly #program: string;
  #child: ChildProcess | null = null;
  #blank: string | null = null;
  /** Whether its clock is ahead of the machine's. */
  #isAhead = false;
  baseUrl = "";

  private constructor(folder: string, program: string) {
    this.#stateFile = join(folder, "service.json");
    this.#program = program;
  }

  /** Runs the program in that file, and keeps its state in the folder. */
  static async start(folder: string, program: string): Promise<Service> {
    const service = new Service(folder, program);
    await service.#start("0");
    service.#blank = await (await service.#ask("GET", "/_mock/state")).text();
    return service;
  }

  /** Stops it as a shutdown does, and starts it from the saved state. */
  async restart(): Promise<void> {
    await this.stop();
    const { port } = new URL(this.baseUrl);
    for (let tries = 1; ; tries++) {
      try {
        return await this.#start(port);
      } catch (error) {
        // A connection of any process may have taken the port meanwhile.
        if (tries === 50) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }

  /** Resets it to the start, without faults. */
  async reset(): Promise<void> {
    await this.clearFaults();
    // No saved state moves a clock back.
    if (this.#isAhead) {
      await this.stop();
      rmSync(this.#stateFile, { force: true });
      this.#isAhead = false;
      await this.restart();
    }
    await this.#ask("PUT", "/_mock/state", this.#blank!);
  }

  async fault(order: FaultOrder): Promise<void> {
    await this.#ask("POST", "/_mock/faults", JSON.stringify(order));
  }

  async clearFaults(): Promise<void> {
    await this.#ask("DELETE", "/_mock/faults");
  }

  /** Sets how many images the organization can still pay for; null for any number. */
  async credits(credits: number | null): Promise<void> {
    await this.#ask("POST", "/_mock/account", JSON.stringify({ credits }));
  }

  /** Moves its clock forward, until the next reset. */
  async advance(ms: number): Promise<void> {
    this.#isAhead = true;
    await this.#ask("POST", "/_mock/clock", JSON.stringify({ advance_ms: ms }));
  }

  async state(): Promise<MockState> {
    return (await (await this.#ask("GET", "/_mock/state")).json()) as MockState;
  }

  /** Imports rows as another client of the organization; returns the ID of the import. */
  async importByOthers(rows: readonly object[]): Promise<string> {
    const { id } = await this.#call("POST", "/v1/imports", { rows });
    for (;;) {
      const { status } = await this.#call("GET", `/v1/imports/${id}`);
      if (status === "completed") return id as string;
      if (status === "failed" || status === "completed_with_errors")
        throw new Error("the import of another client failed");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Deletes a product (`name` null) or renames it, as another client does. */
  async meddle(productId: string, name: string | null): Promise<void> {
    await this.#call(
      name === null ? "DELETE" : "PATCH",
      `/v1/products/${productId}`,
      name === null ? null : { name },
    );
  }

  async #start(port: string): Promise<void> {
    const flags = ["--demo", "0", "--no-rate-limit", "--speed", String(speed), "--load", this.#stateFile];
    const child = spawn(
      process.execPath,
      [this.#program, "serve", "--mock", "--port", port, "--json", "--save", this.#stateFile, ...flags],
      { stdio: ["ignore", "pipe", "inherit"], env: { PATH: process.env.PATH ?? "" } },
    );
    this.#child = child;
    const failed = once(child, "exit").then(() => {
      throw new Error("the service could not be started");
    });
    failed.catch(() => {});
    const [line] = await Promise.race([once(createInterface({ input: child.stdout! }), "line"), failed]);
    this.baseUrl = (JSON.parse(line as string) as { base_url: string }).base_url;
  }

  async #call(method: string, path: string, body: object | null = null): Promise<Record<string, unknown>> {
    const answer = await this.#ask(method, path, body === null ? undefined : JSON.stringify(body));
    return answer.status === 204 ? {} : ((await answer.json()) as Record<string, unknown>);
  }

  async #ask(method: string, path: string, body?: string): Promise<Response> {
    const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    const headers = { ...key, ...(body === undefined ? {} : { "content-type": type }) };
    const answer = await fetch(this.baseUrl + path, { method, headers, body: body ?? null });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}
