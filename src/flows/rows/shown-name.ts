/** A file as people are told of it: by the name that was typed, where `-` is what is piped in. */
export const shownName = (file: string): string => (file === "-" ? "stdin" : file);
