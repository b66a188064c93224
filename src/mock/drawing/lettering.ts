/**
 * A font of 5 x 7 dots for the space to the tilde, because a bare machine has no fonts. Each letter has five
 * columns with the lowest bit on top; the eighth bit is below the baseline.
 */
const letters = [
  "0000000000 00005f0000 0007000700 147f147f14 242a7f2a12 2313086462 3649562050 0008070300 001c224100 0041221c00",
  "2a1c7f1c2a 08083e0808 0080703000 0808080808 0000606000 2010080402 3e5149453e 00427f4000 7249494946 2141494d33",
  "1814127f10 2745454539 3c4a494931 4121110907 3649494936 464949291e 0000140000 0040340000 0008142241 1414141414",
  "0041221408 0201590906 3e415d594e 7c1211127c 7f49494936 3e41414122 7f4141413e 7f49494941 7f09090901 3e41415173",
  "7f0808087f 00417f4100 2040413f01 7f08142241 7f40404040 7f021c027f 7f0408107f 3e4141413e 7f09090906 3e4151215e",
  "7f09192946 2649494932 03017f0103 3f4040403f 1f2040201f 3f4038403f 6314081463 0304780403 6159494d43 007f414141",
  "0204081020 004141417f 0402010204 4040404040 0003070800 2054547840 7f28444438 3844444428 384444287f 3854545418",
  "00087e0902 18a4a49c78 7f08040478 00447d4000 2040403d00 7f10284400 00417f4000 7c04780478 7c08040478 3844444438",
  "fc18242418 18242418fc 7c08040408 4854545424 04043f4424 3c4040207c 1c2040201c 3c4030403c 4428102844 4c9090907c",
  "4464544c44 0008364100 0000770000 0041360800 0201020402",
]
  .join(" ")
  .split(" ");
/** A box for all other characters. */
const box = "7f4141417f";

/** Columns per letter, including the gap. */
const advance = 6;

/** Width of a text in dots. */
export const widthOf = (text: string): number => Math.max(0, text.length * advance - 1);

/** A text without accents, shortened to `most` letters. */
export function writable(text: string, most: number): string {
  const plain = [...text.normalize("NFD").replaceAll(/\p{M}/gu, "")];
  return plain.length <= most ? plain.join("") : `${plain.slice(0, most - 3).join("")}...`;
}

/** A line of text as a path; `x` and `y` are the top left corner, `dot` is the size of a dot. */
export function lettersAt(text: string, x: number, y: number, dot: number): string {
  let path = "";
  for (const [index, letter] of [...text].entries()) {
    const columns = letters[letter.charCodeAt(0) - 0x20] ?? box;
    for (let column = 0; column < 5; column++) {
      const bits = Number.parseInt(columns.slice(column * 2, column * 2 + 2), 16);
      const left = x + (index * advance + column) * dot;
      // Merges vertically adjacent dots.
      for (let row = 0; row < 8; row++) {
        if (((bits >> row) & 1) === 0) continue;
        const first = row;
        while (((bits >> (row + 1)) & 1) === 1) row++;
        path += `M${left} ${y + first * dot}h${dot}v${(row - first + 1) * dot}h-${dot}z`;
      }
    }
  }
  return path;
}
