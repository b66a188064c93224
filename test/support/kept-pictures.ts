import { onTestFinished } from "vitest";
import { type PictureSource, Pictures } from "../../src/mock/images/pictures.ts";

const kept = new Map<string, Buffer>();
const mostKept = 500;
const { toBytes } = Pictures.prototype;

/**
 * Has the mocks of a test share the pictures of all such tests in its worker: they are the same, and drawing one takes 13 ms.
 * The pictures of a mock are tested without it, in test/mock.
 */
export function keepPictures(): void {
  onTestFinished(() => {
    Pictures.prototype.toBytes = toBytes;
  });
  Pictures.prototype.toBytes = function (image: PictureSource, life: AbortSignal) {
    if (image.bytes !== null) return image.bytes;
    const key = this.entityTag(image);
    const picture = kept.get(key);
    if (picture !== undefined) return picture;
    const drawn = toBytes.call(this, image, life);
    void Promise.resolve(drawn).then(
      (bytes) => {
        if (kept.size < mostKept) kept.set(key, bytes);
      },
      () => {},
    );
    return drawn;
  };
}
