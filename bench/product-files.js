import { once } from "node:events";
import { createWriteStream } from "node:fs";

/** Writes an import file of that many products, two photos each, as `csv` or `ndjson`. */
export async function writeProducts(file, { rows, format }) {
  const out = createWriteStream(file);
  if (format === "csv") out.write("reference,name,description,sex,image_front,image_back\n");
  let text = "";
  for (let index = 0; index < rows; index++) {
    const [front, back] = ["front", "back"].map(
      (side) => `https://cdn.example.com/photos/2026/${index}-${side}.jpg`,
    );
    text +=
      format === "csv"
        ? `SKU-${index},Linen dress number ${index},"A light dress, for summer days",female,${front},${back}\n`
        : `{"reference":"SKU-${index}","name":"Linen dress number ${index}","description":"A light dress, for summer days","sex":"female","images":[{"url":"${front}","orientation":"front"},{"url":"${back}","orientation":"back"}]}\n`;
    if (text.length > 1 << 20) {
      if (!out.write(text)) await once(out, "drain");
      text = "";
    }
  }
  out.end(text);
  await once(out, "finish");
}
