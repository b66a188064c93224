/** Colors for the label of a profile. */
export const labelColors = ["red", "green", "yellow", "blue", "magenta", "cyan"] as const;
