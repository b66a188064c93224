import { didYouMean, questionFor } from "../../../contract/did-you-mean.ts";
import { labelColors } from "../../app/profile-label.ts";
import { UsageError } from "../../context/errors.ts";
import { either } from "../../flags/usage-message.ts";
import { visible } from "../../output/visible.ts";
import { checkedBaseUrl } from "../../settings/base-url.ts";
import type { Profile } from "../../settings/profile.ts";
import { looksLikeKey } from "../../settings/profile-name-rule.ts";
import type { Profiles } from "../../settings/profiles.ts";
import { checkedSignatureHeader } from "../../settings/signature-header.ts";

/** The settings that `cat config set` changes; each value is checked before it is stored. */
export const settings: Readonly<Record<SettingName, (value: string, profiles: Profiles) => string>> = {
  active(value, profiles) {
    if (profiles.find(value) !== null) return value;
    throw new UsageError(`unknown profile ${JSON.stringify(value)}`, {
      code: "unknown_profile",
      param: "active",
      hint: "To list the profiles: cat config list. To add one: cat login --profile NAME",
    });
  },
  baseUrl: (value) => checkedBaseUrl({ value, source: "the command line" }),
  signatureHeader: (value) => checkedSignatureHeader(value, "the command line"),
  label(value) {
    if (looksLikeKey(value)) throw invalid("label", "it looks like an API key");
    if (value.trim() !== "" && value.length <= 40 && visible(value) === value) return value.trim();
    throw invalid("label", "use up to 40 characters, for example production");
  },
  color(value) {
    if ((labelColors as readonly string[]).includes(value)) return value;
    throw invalid("color", `use ${either(labelColors)}`);
  },
};

/** `active` is a setting of the file, the others of a profile. */
export const settingNames = ["active", "baseUrl", "signatureHeader", "label", "color"] as const;
export type SettingName = (typeof settingNames)[number];

/** Settings of a profile that other commands write. */
const others = ["columns", "keyStore", "keyOrigin"] as const satisfies readonly (keyof Profile)[];
export const shownNames = [...settingNames.slice(1), ...others];

/** The setting of that name. Throws UsageError, without a value that may be a key. */
export function settingOf(name: string): SettingName {
  const found = settingNames.find((one) => one === name);
  if (found !== undefined) return found;
  if (/key|secret|token/i.test(name))
    throw unknownSetting(name, "To store an API key: cat login. To remove it: cat logout");
  const near = questionFor(didYouMean(name, settingNames, { url: "baseUrl", host: "baseUrl" }), "");
  throw unknownSetting(name, `${near === "" ? "" : `D${near.slice(1)} `}Use ${either(settingNames)}.`);
}

export const unknownSetting = (name: string, hint: string): UsageError =>
  new UsageError(`unknown setting ${JSON.stringify(name)}`, { code: "unknown_setting", hint });

const invalid = (name: string, rule: string): UsageError =>
  new UsageError(`invalid ${name}: ${rule}`, {
    code: "invalid_setting",
    param: name,
    hint: `To remove it: cat config unset ${name}`,
  });
