/** The name of a file in messages: as typed, or `stdin` for `-`. */
export const shownName = (file: string): string => (file === "-" ? "stdin" : file);
