import { type Command, InvalidArgumentError, Option } from "commander";
import { isBucketAddress } from "../../../flows/bucket/address.ts";
import { withNightFlags } from "../../after-run/flags.ts";
import type { App } from "../../app/app.ts";
import { UsageError } from "../../context/errors.ts";
import { bucketArgument, checkBucketFlags, forBuckets, withBucketFlags } from "../../flags/bucket-flags.ts";
import { command, group, otherFlags } from "../../flags/command.ts";
import { defaultMaxBytes, labelFlag, maxBytesFlag } from "../../flags/common-flags.ts";
import { duration, named, wholeNumber } from "../../flags/values.ts";
import { flagName } from "../../output/command-words.ts";
import type { MirrorBucketFlags } from "./open-bucket.ts";
import { type RawReviewFlags, readReviewFlags, readRoles, roleFlag, withReviewFlags } from "./role-flags.ts";
import type { SyncFlags } from "./sync-run.ts";

interface RawSyncFlags
  extends Pick<
      SyncFlags,
      "delete" | "dryRun" | "verify" | "full" | "merge" | "concurrency" | "label" | "sameOrganization"
    >,
    MirrorBucketFlags,
    RawReviewFlags {
  role?: string[];
  template?: string;
  shard?: { number: number; of: number };
  maxDelete?: number;
  fullEvery: number;
  maxBytes?: number;
}

const week = 7 * 24 * 3_600_000;

/** This command alone in `export`, which has flags of the same names: commander would take them first. */
export const syncGroup = (app: App): Command => group("export", "", [syncCommand(app)]);

export const syncCommand = (app: App): Command => withNightFlags(app, bareSyncCommand(app));

const bareSyncCommand = (app: App): Command =>
  otherFlags(
    withBucketFlags(
      withReviewFlags(
        command("sync", {
          summary: "mirror all images into a folder",
          usage: "DIR [flags]",
          about:
            "Keep DIR a mirror of all images of the catalogue, with the index catalogue.ndjson.\n\n" +
            "The first run downloads everything. Later runs read what changed, and download only that. " +
            "A stopped run is resumed by the same command.",
          examples: [
            ["mirror the catalogue, or bring the mirror up to date", "cat export sync images"],
            ["show what the next run would do", "cat export sync images --delete --dry-run"],
            ["repair damaged files", "cat export sync images --verify"],
            ["mirror one third of the products on this machine", "cat export sync images --shard 1/3"],
            ["mirror into a bucket", "cat export sync s3://shop/images"],
            ["mirror approved images only", "cat export sync images --approved"],
          ],
        })
          .addArgument(
            bucketArgument("<DIR>", "a new or empty folder, or an earlier mirror; or s3://BUCKET/PREFIX"),
          )
          .optionsGroup("Selection:")
          .addOption(roleFlag()),
      )
        .option(
          "--template <T>",
          "names of files, e.g. '{reference}/{role}-{id}{ext}' (default: as suggested)",
        )
        .option("--shard <I/N>", "only the products of part I of N, e.g. 1/3", readShard)
        .optionsGroup("Changes:")
        .option("--delete", "delete files of images that are no longer in the catalogue", false)
        .option(
          "--max-delete <N>",
          "delete no files if more than N are to be deleted (default: a tenth, or 20)",
          wholeNumber({ min: 1 }),
        )
        .option("--dry-run", "show what would change, and write nothing", false)
        .option("--verify", "compare every file with the index, and download damaged ones again", false)
        .option("--full", "read the complete catalogue, which also finds detached photos", false)
        .addOption(
          new Option(
            "--full-every <D>",
            "read the complete catalogue if the last time is longer ago; 0 for never",
          )
            .argParser(durationOrNever)
            .default(week, "7d"),
        )
        .option("--same-organization", "the API key changed, but belongs to the same organization", false)
        .option("--merge", "join the indexes of all shards in DIR, without a request", false)
        .option("--concurrency <N>", "downloads at once", wholeNumber({ min: 1, max: 64 }), 8)
        .addOption(maxBytesFlag())
        .addOption(labelFlag()),
    ).option("--unlocked", "take no lease: no other machine works on this mirror", false),
  ).action(async (folder: string, raw: RawSyncFlags) => {
    const flags = readSyncFlags(folder, raw);
    const { runMerge, runMirror } = await import("./sync-run.ts");
    await (flags.merge ? runMerge : runMirror)(app, flags);
  });

/** Checks what commander cannot check by itself. Throws UsageError. */
function readSyncFlags(folder: string, raw: RawSyncFlags): SyncFlags {
  const {
    role,
    approved,
    notRejected,
    decisions,
    template = null,
    shard = null,
    maxDelete = null,
    fullEvery,
    endpoint,
    region,
    pathStyle,
    unlocked,
    ...shared
  } = raw;
  named("DIR", folder, "Choose a folder, for example cat export sync images.");
  if (maxDelete !== null && !raw.delete) {
    const hint = "Add --delete, or remove --max-delete.";
    throw new UsageError("--max-delete needs --delete", { param: "--max-delete", hint });
  }
  if (raw.merge) rejectOthers({ ...raw, noLabel: !raw.label });
  const fullEveryMs = fullEvery === 0 ? null : fullEvery;
  const maxBytes = raw.maxBytes ?? defaultMaxBytes;
  return {
    ...shared,
    folder,
    roles: readRoles(role),
    ...readReviewFlags({ approved, notRejected, decisions }),
    template,
    shard,
    maxDelete,
    fullEveryMs,
    maxBytes,
    bucket: readBucketFlags(folder, { endpoint, region, pathStyle, unlocked }, { shard, merge: raw.merge }),
  };
}

/** Checks the flags of buckets. Throws UsageError. */
function readBucketFlags(
  folder: string,
  flags: MirrorBucketFlags,
  { shard, merge }: { shard: RawSyncFlags["shard"] | null; merge: boolean },
): MirrorBucketFlags {
  checkBucketFlags(folder, flags);
  if (!isBucketAddress(folder)) {
    if (flags.unlocked) throw forBuckets("unlocked");
    return flags;
  }
  if (merge)
    throw new UsageError("--merge is for folders: the last shard joins the indexes in a bucket", {
      hint: "Remove --merge.",
    });
  if (flags.unlocked && shard !== null)
    throw new UsageError("--unlocked cannot be used with --shard", { hint: "Remove one of them." });
  return flags;
}

/** A merge only joins what the shards have: no other flag has an effect on it. */
function rejectOthers(raw: RawSyncFlags & { noLabel: boolean }): void {
  const others = [
    "role",
    "approved",
    "notRejected",
    "decisions",
    "template",
    "shard",
    "delete",
    "dryRun",
    "verify",
    "full",
    "sameOrganization",
    "maxBytes",
    "noLabel",
  ] as const;
  const name = others.find((name) => (raw[name] ?? false) !== false);
  if (name === undefined) return;
  const hint = "Remove one of them.";
  throw new UsageError(`--merge cannot be used with ${flagName(name)}`, { hint });
}

/** Parses `I/N`, for a flag. */
function readShard(text: string): { number: number; of: number } {
  const [, number = "", of = ""] = /^([1-9]\d{0,3})\/([1-9]\d{0,3})$/.exec(text) ?? [];
  if (number !== "" && Number(number) <= Number(of)) return { number: Number(number), of: Number(of) };
  throw new InvalidArgumentError("use I/N with I from 1 to N, such as 1/3");
}

const durationOrNever = (text: string): number => {
  if (text === "0") return 0;
  try {
    return duration(text);
  } catch {
    throw new InvalidArgumentError("use a duration such as 12h or 7d, or 0 for never");
  }
};
