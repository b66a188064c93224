import type { CommandList } from "../completion/command-list.ts";
export const skillText = (_: CommandList): string => "";
