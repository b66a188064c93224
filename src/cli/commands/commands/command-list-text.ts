import { explainsAll } from "../../flags/flag-description.ts";
import { either } from "../../flags/usage-message.ts";
import type { CommandList, ListedArgument, ListedFlag } from "./command-list.ts";

/** The list for people: a block per command, then the global flags and the exit statuses. */
export function commandListText(list: CommandList, heading: (text: string) => string): string {
  const blocks = list.commands.map(
    (one) =>
      `${heading(one.usage)}\n  ${one.summary}\n` +
      lines([...one.arguments.map((a) => [a.name, about(a)] as const), ...one.flags.map(flagLine)]),
  );
  const statuses = list.exit_statuses.map(
    ({ status, meaning }) => [String(status).padStart(3), meaning] as const,
  );
  return [
    ...blocks,
    `${heading("Global flags")}\n${lines(list.global_flags.map(flagLine))}`,
    `${heading("Exit status")}\n${lines(statuses)}`,
  ].join("\n");
}

type Line = readonly [name: string, about: string];

function lines(all: readonly Line[]): string {
  const width = Math.max(0, ...all.map(([name]) => name.length));
  return all.map(([name, text]) => `    ${name.padEnd(width)}  ${text}\n`).join("");
}

const flagLine = (one: ListedFlag): Line => {
  const name = one.short === null ? one.flag : `${one.short}, ${one.flag}`;
  return [one.value === null ? name : `${name} ${one.value}`, about(one)];
};

function about({
  description,
  choices,
  default: usual,
  required,
  repeatable,
}: ListedArgument | ListedFlag): string {
  const more = [
    ...(required ? ["required"] : []),
    ...(repeatable && !description.includes("repeatable") ? ["repeatable"] : []),
    ...(choices === null || explainsAll(description, choices) ? [] : [either(choices)]),
    ...(usual === null ? [] : [`default: ${usual}`]),
  ];
  return more.length === 0 ? description : `${description} (${more.join("; ")})`;
}
