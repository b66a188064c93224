import { setTimeout as pause } from "node:timers/promises";
import { FakeOutput } from "../../test/support/fake-output.ts";
import type { Running } from "../program.ts";
import { generateByOthers } from "./day.ts";
import type { Ended } from "./machine.ts";
import { count, type Scene } from "./scene.ts";
import { angles } from "./shop.ts";

const flagsOf = ({ hooks, hooksPort }: Scene): string[] => [
  ...["webhooks", "listen", "--json", "--keep-webhook", "--port", String(hooksPort)],
  ...["--log", hooks.at("events.ndjson")],
];

/** A listener in this process, which keeps its webhook from night to night. */
export class Listener {
  readonly #stop: AbortController;
  readonly #ended: Promise<Ended>;

  private constructor(stop: AbortController, ended: Promise<Ended>) {
    this.#stop = stop;
    this.#ended = ended;
  }

  static async start(scene: Scene): Promise<Listener> {
    const out = new FakeOutput();
    const stop = new AbortController();
    const ended = scene.hooks.cat(flagsOf(scene), stop.signal, out);
    const early = await Promise.race([ended, until(() => out.text.includes("\n"))]);
    if (early !== null) throw new Error(`the listener ended: ${JSON.stringify(early)}`);
    const { listening } = JSON.parse(out.text.split("\n", 1)[0]!) as { listening: string };
    // The webhook is found again by its URL.
    scene.hooksPort = Number(new URL(listening).port);
    return new Listener(stop, ended);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    const { status, stderr } = await this.#ended;
    if (status !== 0) throw new Error(`the listener exited with ${status}: ${stderr}`);
  }
}

/** A listener as a process, which is killed while another client generates an image: the next one takes its webhook over. */
export async function killListener(scene: Scene): Promise<void> {
  const { random, shop, hooks } = scene;
  await hooks.start(flagsOf(scene), {
    onStart: async (running: Running) => {
      const early = await Promise.race([running.ended, until(() => running.out.stdout.includes("\n"))]);
      if (early !== null) throw new Error(`the listener ended: ${JSON.stringify(early)}`);
      await generateByOthers(scene, random.pick([...shop.products.values()]), random.pick(angles));
      await pause(random.below(900));
      running.kill();
    },
  });
  count(scene, "listener_kills");
}

async function until(is: () => boolean): Promise<null> {
  while (!is()) await pause(2);
  return null;
}
