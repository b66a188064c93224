import { until } from "../support/until.ts";
import type { RunningProgram, Windows } from "./wine.ts";

/** A mock service that runs on Windows. */
export interface WindowsService {
  /** The variables that lead `catalogue` to it. */
  readonly env: Readonly<Record<string, string>>;
  readonly running: RunningProgram;
  /** The references of its products that start with a text. */
  references(start: string): Promise<string[]>;
  /** What it returns for a path of the API. */
  get(path: string): Promise<Record<string, unknown>>;
}

/** Starts `serve --mock` on a free port of Windows, and waits until it has printed its address. */
export async function startService(windows: Windows, ...flags: string[]): Promise<WindowsService> {
  const running = windows.start(["serve", "--mock", "--port", "0", "--no-rate-limit", ...flags]);
  const address = () => /running at (http:\S+)/.exec(running.output())?.[1];
  await until(() => address() !== undefined, { pauseMs: 50, seen: running.output });
  const baseUrl = address()!;
  const get = async (path: string) => {
    const response = await fetch(`${baseUrl}/v1${path}`, { headers: { authorization: "Bearer ak_mock" } });
    return (await response.json()) as Record<string, unknown>;
  };
  return {
    env: { CAT_BASE_URL: baseUrl, CAT_API_KEY: "ak_mock" },
    running,
    get,
    references: async (start) => {
      const found: string[] = [];
      for (let cursor: unknown = ""; cursor !== null; ) {
        const page = await get(`/products?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`);
        for (const { reference } of page.data as { reference: string | null }[])
          if (reference?.startsWith(start)) found.push(reference);
        cursor = page.next_cursor;
      }
      return found.sort();
    },
  };
}
