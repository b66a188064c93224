// A bare loop: downloads each URL of standard input, and uploads it with the client of the store. Arguments: endpoint, prefix,
// images at once.
import { text } from "node:stream/consumers";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import pLimit from "p-limit";
import { request } from "undici";

const [endpoint, prefix, atOnce] = process.argv.slice(2);
const urls = (await text(process.stdin)).split("\n").filter((line) => line !== "");
const s3 = new S3Client({
  endpoint,
  region: "us-east-1",
  forcePathStyle: true,
  requestChecksumCalculation: "WHEN_REQUIRED",
});
const limit = pLimit(Number(atOnce));
await Promise.all(
  urls.map((url, at) =>
    limit(async () => {
      const { body } = await request(url);
      const Body = Buffer.from(await body.arrayBuffer());
      await s3.send(new PutObjectCommand({ Bucket: "shop", Key: `${prefix}/${at}.png`, Body }));
    }),
  ),
);
