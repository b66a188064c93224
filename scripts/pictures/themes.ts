import type { Theme } from "./svg.ts";

/** The themes of the pictures: GitHub's own backgrounds and colors for both. */
export const themes: Readonly<Record<"light" | "dark", Theme>> = {
  light: {
    ...{ background: "#f6f8fa", border: "#d0d7de", text: "#1f2328", dim: "#656d76" },
    palette: [
      ...["#24292f", "#cf222e", "#116329", "#7d4e00", "#0969da", "#8250df", "#1b7c83", "#6e7781"],
      ...["#57606a", "#a40e26", "#1a7f37", "#633c01", "#218bff", "#a475f9", "#3192aa", "#8c959f"],
    ],
  },
  dark: {
    ...{ background: "#0d1117", border: "#30363d", text: "#e6edf3", dim: "#8d96a0" },
    palette: [
      ...["#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4"],
      ...["#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff"],
    ],
  },
};
