import type { Patch } from "../program-files.ts";

/** Faults that are added on purpose, and must be found. */
export const controls = {
  /** Responds before the event is on disk. */
  "respond-first": [
    {
      file: "src/flows/listen/event-log.ts",
      from: "done: (error) => (error === null ? resolve() : reject(error)),",
      to: "done: () => {},",
    },
    {
      file: "src/flows/listen/event-log.ts",
      from: "this.#writing ??= this.#write();",
      to: "resolve(); void reject; this.#writing ??= new Promise((r) => setTimeout(r, 2_000)).then(() => this.#write());",
    },
  ],
  /** Does not read the log when it starts. */
  forget: [
    {
      file: "src/flows/listen/event-log.ts",
      from: "if (!file.isNew) for await",
      to: "if (file.isNew) for await",
    },
  ],
  /** Creates another webhook instead of taking over the one that an earlier listener left. */
  "leave-behind": [
    {
      file: "src/flows/listen/leftover.ts",
      from: "webhook.url === url && leftover === null",
      to: "webhook.url === null && leftover === null",
    },
  ],
  /** Listens at a URL that another listener has. */
  "share-url": [
    {
      file: "src/flows/listen/leftover.ts",
      from: "if (mark.url === url) throw urlInUse(url, hold.heldBy.pid);",
      to: "",
    },
  ],
  /** Takes the 403 of a gateway for one of the service. */
  "trust-gateway": [
    {
      file: "src/flows/listen/registration.ts",
      from: 'if (isRejectedByService(error)) this.#remains = "mark";',
      to: 'if (isRejectedByService(error) || (error instanceof Error && "requestId" in error)) this.#remains = "mark";',
    },
  ],
  /** Cuts the log after a full disk by the size that this process knows. */
  "known-size": [
    {
      file: "src/flows/listen/log-file.ts",
      from: "let isTorn = startTorn;",
      to: "let [isTorn, known] = [startTorn, -1];",
    },
    {
      file: "src/flows/listen/log-file.ts",
      from: "isTorn = false;\n      } catch",
      to: "known = (known < 0 ? now.size : known) + all.length;\n } catch",
    },
    {
      file: "src/flows/listen/log-file.ts",
      from: "if (!cutBack(file.descriptor, now.size, all.subarray(0, written))) isTorn = true;",
      to: "ftruncateSync(file.fd, Math.max(0, known));",
    },
  ],
  /** Uses a log that has another name. */
  "two-names": [
    { file: "src/flows/listen/log-file.ts", from: "if (nlink > 1) throw hasOtherNames(path);", to: "" },
  ],
  /** Believes the `Date` of the service when it starts to poll, and a stored time that is in the future. */
  "believe-date": [
    {
      file: "src/flows/listen/poller.ts",
      from: "const since = clock.now();",
      to: "const since = client.serviceNow() ?? clock.now();",
    },
    {
      file: "src/flows/listen/poller.ts",
      from: "const { client, clock, signal } = this.options.service;",
      to: "const { client, clock, signal } = this.options.service; await client.models.list({ limit: 1 }, { signal });",
    },
    {
      file: "src/flows/listen/poller.ts",
      from: "if (!isBelievable(progress.since, this.options.service.client)) {",
      to: "if (isBelievable === undefined) {",
    },
  ],
  /** Never reads its webhook again. */
  "never-look": [{ file: "src/flows/listen/watch-webhook.ts", from: ") void checkNow();", to: ") {}" }],
  /** Takes the second signal of a Ctrl-C for a second request, and leaves no time after one. */
  "stop-at-once": [
    { file: "src/cli/context/context.ts", from: "const sameMs = 1_000;", to: "const sameMs = -1;" },
    { file: "src/cli/context/last-acts.ts", from: "finishMs = 5_000", to: "finishMs = 0" },
  ],
} as const satisfies Record<string, readonly Patch[]>;

export type Control = keyof typeof controls;
