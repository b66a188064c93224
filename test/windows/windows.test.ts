import { afterAll, beforeAll, beforeEach, describe } from "vitest";
import { longTest } from "../support/long-test.ts";
import { isLong } from "../support/repetitions.ts";
import { batchFilesOnWindows } from "./batch-files.ts";
import { guideOnWindows } from "./guide.ts";
import { heldFilesOnWindows } from "./held-files.ts";
import { pathsOnWindows } from "./paths.ts";
import { runsOnWindows } from "./runs.ts";
import { startService, type WindowsService } from "./service.ts";
import { smokeOnWindows } from "./smoke.ts";
import { textsOnWindows } from "./texts.ts";
import { missing, openWindows, type Windows } from "./wine.ts";

if (missing !== "") longTest("programs of Windows run here", ({ skip }) => skip(missing));

// All share one Windows, whose start takes half a minute; it is wine, so small programs play what Excel and a terminal do.
describe.runIf(isLong && missing === "")("on Windows", () => {
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
  batchFilesOnWindows(get);
  smokeOnWindows(get);
});
