import { afterAll, beforeAll, beforeEach, describe, test } from "vitest";
import { isLong } from "../support/repetitions.ts";
import { guideOnWindows } from "./guide.ts";
import { heldFilesOnWindows } from "./held-files.ts";
import { pathsOnWindows } from "./paths.ts";
import { runsOnWindows } from "./runs.ts";
import { startService, type WindowsService } from "./service.ts";
import { textsOnWindows } from "./texts.ts";
import { missing, openWindows, type Windows } from "./wine.ts";

const canRun = missing === "";

test.skipIf(canRun)(`programs of Windows run here (skipped: ${missing})`, () => {});

// `npm run test:long` only. All share one Windows, whose start takes half a minute; it is wine, so what a terminal or Excel does
// is played by small programs.
describe.runIf(isLong && canRun)("on Windows", () => {
  let windows: Windows;
  let service: WindowsService;
  let unavailable = "";
  beforeAll(async () => {
    const opened = await openWindows();
    if (typeof opened === "string") {
      unavailable = opened;
      return;
    }
    windows = opened;
    service = await startService(windows, "--speed", "50");
  });
  afterAll(() => windows?.close());
  beforeEach(({ skip }) => skip(unavailable !== "", unavailable));

  const get = () => windows;
  pathsOnWindows(get, () => service);
  heldFilesOnWindows(get, () => service);
  textsOnWindows(get, () => service);
  runsOnWindows(get);
  guideOnWindows(get);
});
