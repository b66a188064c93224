import { existsSync } from "node:fs";
import { platform } from "node:os";
import { dirname, join } from "node:path";
import type { App } from "../../app/app.ts";
import { leadsToUs, systemCats } from "../../context/system-cats.ts";
import { type DoctorResult, ok, warning } from "./check.ts";

/** The programs that a shell, and the scripts of the project in the current folder, start as `cat`. */
export async function checkCat({ context: { env, cwd, host } }: App): Promise<DoctorResult> {
  const onPath: { path: string; isOurs: boolean }[] = [];
  const system = { env, platform: (host?.platform ?? platform()) as NodeJS.Platform, cwd: () => cwd };
  const others = systemCats(system, async (path) => {
    const lead = await leadsToUs(path);
    onPath.push({ path, isOurs: lead === "to us" });
    return lead;
  });
  const other = (await others.next()).value?.path;
  const handed = other === undefined ? "no other cat is on PATH" : `cat FILE goes to ${other}`;
  const first = onPath[0]?.isOurs ? onPath[0].path : null;
  const ofProject = await catOfProject(cwd, first);
  if (ofProject !== null) {
    return warning(
      `scripts of this project find this program as cat: ${ofProject}; ${handed}`,
      "Write catalogue in scripts. To keep the system's cat, use the portable archive with --no-cat instead.",
    );
  }
  if (first !== null) return ok(`the first on PATH is this program, ${first}; ${handed}`);
  return ok(other === undefined ? handed : `the first on PATH is ${other}`);
}

/** This program as `cat` of scripts, first on PATH by package managers (`first`: Plug'n'Play); or null. */
async function catOfProject(folder: string, first: string | null): Promise<string | null> {
  const path = join(folder, "node_modules", ".bin", "cat");
  if (existsSync(path) && (await leadsToUs(path)) === "to us") return path;
  if (first !== null && existsSync(join(folder, ".pnp.cjs"))) return first;
  return dirname(folder) === folder ? null : catOfProject(dirname(folder), first);
}
