// @ts-check
// What must be true of the project before a release is made.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../portable/run.js";

/**
 * The first section of CHANGELOG.md: its version, its date, and its text.
 * @param {string} text
 */
export function firstSection(text) {
  const [, section = ""] = text.split(/^## /m);
  const [title = "", ...lines] = section.split("\n");
  const [version = "", date = ""] = title.split(", ");
  return { version, date, lines: `${lines.join("\n").trim()}\n` };
}

/**
 * What is left to do before the version in package.json can be released, a line each.
 * @param {string} root of the project
 * @returns {string[]}
 */
export function leftToDo(root) {
  /** @param {string} name */
  const read = (name) => readFileSync(join(root, name), "utf8");
  const { version } = JSON.parse(read("package.json"));
  const section = firstSection(read("CHANGELOG.md"));
  const placeholders = ["package.json", "install.sh", "install.ps1"].filter((name) =>
    /\/OWNER\//.test(read(name)),
  );
  /** @param {readonly string[]} args */
  const git = (...args) => run("git", args, root).trim();
  const isClone = existsSync(join(root, ".git"));
  const tags = isClone ? git("tag", "--points-at", "HEAD").split("\n") : [];
  // The workflow that a tag starts makes a release of its commit.
  const [other] = tags.filter((tag) => /^v\d/.test(tag) && tag !== `v${version}`);
  const lines = [
    placeholders.length > 0 && `fill in OWNER in ${placeholders.join(", ")}`,
    section.version !== version &&
      `begin CHANGELOG.md with "## ${version}, DATE": it begins with ${section.version}`,
    !/^\d{4}-\d\d-\d\d$/.test(section.date) &&
      `write the date of ${section.version} in CHANGELOG.md, for example 2026-11-29`,
    !isClone && "work in a clone: only there changes and tags are known",
    isClone && git("status", "--porcelain") !== "" && "commit all changes",
    other !== undefined && `remove the tag ${other} from this commit: package.json has ${version}`,
    isClone &&
      !tags.includes(`v${version}`) &&
      git("tag", "--list", `v${version}`) !== "" &&
      `choose another version: the tag v${version} exists`,
  ];
  return lines.filter((line) => line !== false);
}
