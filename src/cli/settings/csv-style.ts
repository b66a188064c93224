import { type CsvStyle, excelCsv } from "../../flows/outputs/cells.ts";
import type { Context } from "../context/context.ts";
import type { GlobalOptions } from "../context/globals.ts";
import type { HomeContext } from "./home-folder.ts";
import { profileInUse } from "./settings.ts";

interface Asker {
  readonly context: HomeContext & Pick<Context, "systemLocale">;
  readonly globals: Pick<GlobalOptions, "profile">;
}

/** CSV for Excel; null unless `--excel` or the profile asks for it. */
export async function excelStyle(
  { context, globals }: Asker,
  given: boolean | undefined,
): Promise<CsvStyle | null> {
  if (!(given ?? (await profileInUse(globals, context)).settings?.excel)) return null;
  return hasDecimalComma(detectLocale(context)) ? { ...excelCsv, delimiter: ";" } : excelCsv;
}

/** The locale of numbers, for example `de-DE`: of the environment (POSIX, 8.2), else of the system. */
function detectLocale({ env, systemLocale }: Asker["context"]): string {
  const named = [env.LC_ALL, env.LC_NUMERIC, env.LANG].find((name) => name !== undefined && name !== "");
  return named?.split(/[.@]/, 1)[0]?.replaceAll("_", "-") ?? systemLocale?.() ?? "C";
}

/** Whether numbers have a decimal comma; then Excel separates columns with a semicolon. */
function hasDecimalComma(locale: string): boolean {
  try {
    const parts = new Intl.NumberFormat(locale).formatToParts(1.5);
    return parts.some(({ type, value }) => type === "decimal" && value === ",");
  } catch {
    // C and POSIX are no languages.
    return false;
  }
}
