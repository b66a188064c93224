// Draws a recording as an animated SVG, which needs no script: each frame is shown in its time by CSS.
import { type Recording, type Span, textOf } from "./record.ts";

/** The colors of a theme. */
export interface Theme {
  readonly background: string;
  readonly border: string;
  readonly text: string;
  readonly dim: string;
  /** The 16 colors of the palette. */
  readonly palette: readonly string[];
}

const size = { font: 14, width: 8.4, height: 20, padding: 16, bar: 30 };
/** How long the last frame is shown before the animation starts again, in milliseconds. */
const restMs = 5_000;

/** `title` is what the picture shows, for people who cannot see it; the text of its last frame is its description. */
export function svgOf({ columns, frames }: Recording, theme: Theme, title: string): string {
  const rows = Math.max(...frames.map(({ lines }) => lines.length));
  const width = Math.ceil(columns * size.width + 2 * size.padding);
  const height = rows * size.height + size.bar + size.padding;
  const start = frames[0]!.at;
  const total = frames.at(-1)!.at - start + restMs;
  const percent = (at: number) => `${(((at - start) / total) * 100).toFixed(2)}%`;
  // Lines that several frames share are drawn once.
  const ids = new Map<string, number>();
  const uses = frames.map(({ lines }) =>
    lines
      .map((spans, row) => {
        if (spans.length === 0) return "";
        const drawn = spans.map((span) => spanOf(span, theme)).join("");
        const id = ids.get(drawn) ?? ids.set(drawn, ids.size).size - 1;
        return `<use href="#l${id}" y="${size.bar + row * size.height}"/>`;
      })
      .join(""),
  );
  const groups = uses.map((lines, at) => `<g transform="translate(${at * width})">${lines}</g>`).join("");
  const steps = frames.map(({ at }, index) => `${percent(at)}{transform:translateX(${-index * width}px)}`);
  const last = -(frames.length - 1) * width;
  const css =
    `text{font:${size.font}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;fill:${theme.text}}` +
    `.film{animation:film ${(total / 1000).toFixed(2)}s step-end infinite}` +
    `@keyframes film{${steps.join("")}100%{transform:translateX(${last}px)}}` +
    `@media (prefers-reduced-motion:reduce){.film{animation:none;transform:translateX(${last}px)}}`;
  const dots = [0, 1, 2].map(
    (at) => `<circle cx="${size.padding + 6 + at * 18}" cy="15" r="5" fill="${theme.border}"/>`,
  );
  const defs = [...ids].map(([drawn, id]) => `<g id="l${id}">${drawn}</g>`).join("");
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">` +
    `<title>${escaped(title)}</title><desc>${escaped(textOf(frames.at(-1)!))}</desc><style>${css}</style><defs>${defs}</defs>` +
    `<rect width="${width - 1}" height="${height - 1}" x=".5" y=".5" rx="8" fill="${theme.background}" stroke="${theme.border}"/>` +
    `${dots.join("")}<svg x="0" width="${width}" height="${height}"><g class="film">${groups}</g></svg></svg>\n`
  );
}

/** The text of a span, which is as wide as its columns in any font. */
function spanOf({ text, column, color, bold, dim }: Span, theme: Theme): string {
  const lead = text.length - text.trimStart().length;
  const shown = text.trim();
  const x = (size.padding + (column + lead) * size.width).toFixed(1);
  const fill = color !== null ? theme.palette[color] : dim ? theme.dim : undefined;
  const look = `${fill === undefined ? "" : ` style="fill:${fill}"`}${bold ? ' font-weight="700"' : ""}`;
  const wide = (shown.length * size.width).toFixed(1);
  return `<text x="${x}" y="${size.font}" textLength="${wide}" lengthAdjust="spacingAndGlyphs"${look}>${escaped(shown)}</text>`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
