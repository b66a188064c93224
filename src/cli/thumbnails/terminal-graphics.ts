/** How a terminal draws pictures: the escape sequences of iTerm2 or Kitty, or Sixel. */
export type Graphics = "iterm2" | "kitty" | "sixel";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The pictures that a terminal can draw, by the variables that it sets; null for none or an unknown one. tmux and
 * screen pass no pictures on. Asking the terminal itself would read the user's keys.
 */
export function graphicsOf(env: Env): Graphics | null {
  const { TERM = "", TERM_PROGRAM = "", LC_TERMINAL = "" } = env;
  if (env.TMUX !== undefined || env.STY !== undefined || /^(?:tmux|screen|dumb)/.test(TERM)) return null;
  if (env.KITTY_WINDOW_ID !== undefined || /kitty|ghostty/.test(TERM) || TERM_PROGRAM === "ghostty")
    return "kitty";
  if (/^(?:iTerm\.app|WezTerm|mintty|rio)$/.test(TERM_PROGRAM) || LC_TERMINAL === "iTerm2") return "iterm2";
  // Konsole 22.04 and later.
  if (Number(env.KONSOLE_VERSION) >= 220_400) return "iterm2";
  return /^(?:foot|mlterm|contour)|sixel/.test(TERM) ? "sixel" : null;
}
