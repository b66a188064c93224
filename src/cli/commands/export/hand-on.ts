import { isBucketAddress, nameIn } from "../../../flows/bucket/address.ts";
import { Reviews } from "../../../flows/export/reviews.ts";
import { changesFolder, LocalFolder } from "../../../flows/export/sync/local-folder.ts";
import { exchangeDecisions } from "../../../flows/export/sync/mirror-decisions.ts";
import { decisionsFile, isMirrorOf, mirrorFiles } from "../../../flows/export/sync/mirror-state.ts";
import type { App } from "../../app/app.ts";
import type { BucketFlags } from "../../flags/bucket-flags.ts";
import { named } from "../../flags/values.ts";
import type { HandOn } from "../generate/open-review.ts";
import { mirrorDecisions } from "./known-decisions.ts";
import { mirrorFolder, serviceOfMirror } from "./mirror-place.ts";

/** Opens a mirror of the service in use for a review, maybe before its first run. Throws a CatError. */
export async function openHandOn(app: App, mirror: string, flags: BucketFlags): Promise<HandOn> {
  named(
    "--mirror",
    mirror,
    "Choose the folder or the bucket of a mirror, for example --mirror s3://shop/images.",
  );
  const files = mirrorFiles(null);
  const store = isBucketAddress(mirror)
    ? (await import("./open-bucket.ts")).openBucketMirror(app, mirror, {
        flags: { ...flags, unlocked: false },
        files,
      })
    : new LocalFolder(await mirrorFolder(app, mirror, "--mirror"), changesFolder);
  const { baseUrl } = await serviceOfMirror(app);
  if (!(await isMirrorOf(store, baseUrl, mirror)))
    await app.io.note(
      app.io.visible(`${mirror} is not a mirror yet: cat export sync ${mirror} --approved makes it one.`),
    );
  return async (decisions) => {
    const { clock } = app.context;
    const read = mirrorDecisions(app, mirror, "nothing was handed on");
    const reviews = new Reviews(decisions);
    await exchangeDecisions(store, reviews, { read, clock, isDryRun: false });
    const overruled = decisions.filter(({ task, decision }) => reviews.of(task)?.decision !== decision);
    return { file: nameIn(mirror, decisionsFile), overruled: overruled.length };
  };
}
