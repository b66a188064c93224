import type { Typed } from "./record.ts";

/** The file of try-ons in the pictures. */
const looks = `product_reference,model_id,background,angle_shot
DRESS-ECR,Amara,studio,full-front
DRESS-ECR,Amara,beach,full-front
DRESS-ECR,Amara,studio,full-back
DRESS-NAV,Amara,studio,full-front
DRESS-NAV,Amara,street,half-front
SHIRT-NAV,Bastian,studio,full-front
SHIRT-NAV,Bastian,street,half-front
SHIRT-NAV,Bastian,studio,full-back
`;

const commands: readonly Typed[] = [
  { command: "cat import products.csv" },
  {
    command: "cat tryon looks.csv --save images --gallery review.html",
    replies: [["(balance unknown)", "y\r"]],
  },
];

/** A text without what differs from run to run: durations, and spaces at the ends of lines. */
export const shownText = (text: string): string =>
  text
    .replace(/\bin \d[\d.]* s\b/g, "in # s")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");

/** What the pictures show: an import, and try-ons in the gallery. */
export const scene = {
  title:
    "A shell: cat import imports 24 products, then cat tryon generates eight images and writes a gallery of them.",
  screen: { columns: 80, rows: 12 },
  gallery: "review.html",
  looks,
  commands,
};
