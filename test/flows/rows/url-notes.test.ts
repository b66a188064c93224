import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { urlBreach } from "../../../src/contract/url-policy.ts";
import { directForm } from "../../../src/flows/rows/share-links.ts";
import { UrlNotes } from "../../../src/flows/rows/url-notes.ts";

const host = "https://cdn.example.com";

describe("a URL that leads to no photo is noted", () => {
  test.each([
    ["https://drive.google.com/file/d/1CXl2_pV/view?usp=sharing", "drive_link"],
    ["https://drive.google.com/drive/folders/1abcDEF?usp=sharing", "drive_link"],
    ["https://DRIVE.google.com/open?id=0B1mjaC", "drive_link"],
    ["https://docs.google.com/spreadsheets/d/1a/edit", "drive_link"],
    ["https://www.dropbox.com/s/yojc65rrf908cin/bag.jpg?dl=0", "dropbox_link"],
    ["https://www.dropbox.com/s/yojc65rrf908cin/bag.jpg", "dropbox_link"],
    ["https://dropbox.com/scl/fi/abc123/bag.jpg?rlkey=xyz&dl=0", "dropbox_link"],
    ["https://www.dropbox.com/scl/fo/abc123/h?rlkey=xyz&dl=1", "dropbox_link"],
    ["https://1drv.ms/i/s!AkXyz", "onedrive_link"],
    ["https://onedrive.live.com/?id=1&cid=2", "onedrive_link"],
    ["https://shop-my.sharepoint.com/:i:/g/personal/x/EabcD?e=1", "sharepoint_link"],
    ["https://we.tl/t-abcdef", "wetransfer_link"],
    ["https://shop.wetransfer.com/downloads/1/2", "wetransfer_link"],
    ["https://photos.app.goo.gl/abcdef", "google_photos_link"],
    ["https://photos.google.com/share/AF1", "google_photos_link"],
    ["https://www.youtube.com/watch?v=1", "youtube_link"],
    ["https://youtu.be/dQw4", "youtube_link"],
    ["https://www.instagram.com/p/Cxyz/", "page_link"],
    ["https://app.box.com/s/abc", "page_link"],
    ["https://cdn.exam", "url_without_path"],
    [`${host}/`, "url_without_path"],
    [`${host}/#top`, "url_without_path"],
    [`${host}/{{sku}}.jpg`, "url_placeholder"],
    [`${host}/{sku}.jpg`, "url_placeholder"],
    [`${host}/%7B%7Bsku%7D%7D.jpg`, "url_placeholder"],
    [`${host}/a_{width}x.jpg`, "url_placeholder"],
    [`${host}/<SKU>.jpg`, "url_placeholder"],
    [`${host}/[sku].jpg`, "url_placeholder"],
    [`${host}/%SKU%.jpg`, "url_placeholder"],
    [`${host}/%%sku%%.jpg`, "url_placeholder"],
    [`${host}/undefined`, "url_without_value"],
    [`${host}/undefined.jpg`, "url_without_value"],
    [`${host}/undefined/1.jpg`, "url_without_value"],
    [`${host}/A-1_undefined.jpg`, "url_without_value"],
    [`${host}/a.jpg?id=undefined`, "url_without_value"],
    [`${host}/undefined.jpg?v=2`, "url_without_value"],
    [`${host}/a.jpg?id=null&w=9`, "url_without_value"],
    [`${host}/null`, "url_without_value"],
    [`${host}/NULL.png`, "url_without_value"],
    [`${host}/nan.jpg`, "url_without_value"],
    [`${host}/None`, "url_without_value"],
    [`${host}/[object Object].jpg`.replace(" ", "%20"), "url_without_value"],
    [`${host}/#N/A.jpg`, "url_error_name"],
    [`${host}/#REF!.jpg`, "url_error_name"],
    [`${host}/%23WERT!`, "url_error_name"],
    [`${host}/#¡REF!`, "url_error_name"],
    [`${host}/caf\ufffd.jpg`, "url_error_name"],
    [`${host}/a.jpg?x=1&amp;y=2`, "url_html_code"],
    [`${host}/a.jpg?x=1&#38;y=2`, "url_html_code"],
    [`${host}/a.jpg,`, "url_separator"],
    [`${host}/a.jpg;;`, "url_separator"],
    [`${host}/a?x=1,`, "url_separator"],
    [`${host}/a.jpg)`, "url_separator"],
    [`${host}/a.jpg"`, "url_separator"],
    [`${host}/a.pdf`, "url_of_document"],
    [`${host}/a.MP4?x=1`, "url_of_document"],
    [`${host}/a.heic`, "url_of_other_image"],
    [`${host}/a.TIFF?v=2`, "url_of_other_image"],
    [`${host}/a.jpg::${host}/b.jpg`, "several_urls"],
    [`${host}/a.jpg\uff5c${host}/b.jpg`, "several_urls"],
    [`${host}/a.jpg+${host}/b.jpg`, "several_urls"],
    [`${host}/a.jpg${host}/b.jpg`, "several_urls"],
    [`${host}/a.jpg#http://cdn.example.com/b.jpg`, "several_urls"],
    [`${host}/a.jpg%20${host}/b.jpg`, "several_urls"],
    [`${host}/a.jpg//${host}/b.jpg`, "several_urls"],
    [`${host}/a.jpg?v=1//${host}/b.jpg?v=1`, "several_urls"],
  ])("%s", (url, code) => {
    expect(urlBreach(url)).toBeNull();
    const notes = new UrlNotes();
    expect(notes.of(url)).toBe(code);
    // A known host changes nothing.
    notes.of(`${host}/a.jpg`);
    expect(notes.of(url)).toBe(code);
  });
});

describe("a URL that may lead to a photo has no note", () => {
  test.each([
    "https://drive.google.com/uc?export=download&id=1CXl2",
    "https://drive.google.com/thumbnail?id=1CXl2&sz=w1000",
    "https://lh3.googleusercontent.com/d/1CXl2",
    "https://docs.google.com/uc?export=download&id=1CXl2",
    "https://www.dropbox.com/s/yojc65rrf908cin/bag.jpg?dl=1",
    "https://www.dropbox.com/scl/fi/abc123/bag.jpg?rlkey=xyz&raw=1",
    "https://dl.dropboxusercontent.com/s/yojc65rrf908cin/bag.jpg",
    "https://onedrive.live.com/download?resid=1",
    "https://shop.sharepoint.com/:i:/g/x?download=1",
    "https://i.ytimg.com/vi/1/hqdefault.jpg",
    "https://img.youtube.com/vi/1/0.jpg",
    "https://i.imgur.com/abc.jpg",
    "https://notdropbox.com/s/a.jpg?dl=0",
    `${host}/?id=5`,
    `${host}/images/12345`,
    `${host}/3a1f/-/preview/600x600/`,
    `${host}/image/upload/w_800,h_600,c_fill/q_auto,f_auto/v1/bag.jpg`,
    `${host}/image/upload/f_auto/v1/bag.heic`,
    `${host}/a.tif?fm=jpg&w=800`,
    `${host}/b;v=2.jpg`,
    `${host}/a%2520b.jpg`,
    `${host}/a.jpg#front`,
    `${host}/photo(1).jpg`,
    `${host}/photo[1].jpg`,
    `${host}/{3F2504E0-4F89-11D3-9A0C-0305E82C3301}.jpg`,
    `${host}/banana.jpg`,
    `${host}/nantucket/finance/nonell.jpg`,
    `${host}/none.jpg`,
    `${host}/nan/naan.jpg?x=1`,
    `${host}/lookbook.pdf?page=2&format=jpg`,
    `${host}/nullabor.jpg`,
    `${host}/undefined-beauty.jpg`,
    `${host}/p/undefined-1.jpg`,
    `${host}/null-waste/dress-null-2.jpg`,
    `${host}/\u{1f457}.jpg`,
    `${host}/plaża.jpg`,
    `${host}/a.jpg?x=1&copy=2`,
    `${host}/fetch?src=https://other.example.com/a.jpg,800`,
    `${host}/fetch/https://other.example.com/a.jpg`,
    `${host}/a.jpg/https://shop.example.com/b.jpg`,
    `${host}/unsafe/filters:watermark(https://x.example.com/w.png,1,1)/https://x.example.com/a.jpg`,
    `${host}/fetch?src%3Dhttps://other.example.com/a.jpg`,
    `${host}/A/NV/100%25.jpg`,
  ])("%s", (url) => {
    expect(new UrlNotes().of(url)).toBeNull();
  });

  test("whatever its path, query and place in the file", () => {
    const word = fc.stringMatching(/^[a-z\d]{1,8}(?:[-_%20.][a-z\d]{1,6})?$/);
    const notes = new UrlNotes();
    const harmless = (text: string) => !/un|nu|na|no|%/.test(text);
    fc.assert(
      fc.property(
        fc.constantFrom("cdn.example.com", "img.shop.example", "münchen.example.com", "CDN.example.com"),
        fc.array(word.filter(harmless), { minLength: 1, maxLength: 5 }),
        fc.constantFrom(".jpg", ".JPEG", ".png", ".webp", ""),
        fc.constantFrom("", "?v=123", "?width=800&height=600", "?auto=format,compress"),
        (name, path, extension, query) => {
          const last = extension === "" ? "/image" : `/a${extension}`;
          expect(notes.of(`https://${name}/${path.join("/")}${last}${query}`)).toBeNull();
        },
      ),
    );
  });
});

test.each([
  ["https://www.dropbox.com/home/bag.jpg"],
  ["https://www.dropbox.com/scl/fo/abc/h?rlkey=x&dl=0"],
  ["https://drive.google.com/drive/folders/1abcDEF"],
  ["https://we.tl/t-abcdef"],
  ["https://evildropbox.com/s/1/a.jpg?dl=0"],
  ["no URL"],
])("a link whose file is not known has no direct form: %s", (link) => {
  expect(directForm(link)).toBeNull();
});

test.each([
  [
    "https://drive.google.com/file/d/1CXl2_pV-tX/view?usp=sharing",
    "https://drive.google.com/uc?export=download&id=1CXl2_pV-tX",
  ],
  [
    "https://drive.google.com/file/u/1/d/1CXl2/preview",
    "https://drive.google.com/uc?export=download&id=1CXl2",
  ],
  ["https://drive.google.com/open?id=0B1mjaC", "https://drive.google.com/uc?export=download&id=0B1mjaC"],
  [
    "https://drive.google.com/file/d/0B1mj/view?resourcekey=0-aBc",
    "https://drive.google.com/uc?export=download&id=0B1mj&resourcekey=0-aBc",
  ],
  ["https://www.dropbox.com/s/yoj/bag.jpg?dl=0", "https://www.dropbox.com/s/yoj/bag.jpg?raw=1"],
  ["https://www.dropbox.com/s/yoj/bag.jpg", "https://www.dropbox.com/s/yoj/bag.jpg?raw=1"],
  [
    "https://www.dropbox.com/scl/fi/abc/bag.jpg?rlkey=xyz&st=1&dl=0",
    "https://www.dropbox.com/scl/fi/abc/bag.jpg?rlkey=xyz&st=1&raw=1",
  ],
])("the direct form of %s is accepted, and has no note itself", (link, direct) => {
  expect(directForm(link)).toBe(direct);
  expect(urlBreach(direct)).toBeNull();
  expect(new UrlNotes().of(link)).not.toBeNull();
  expect(new UrlNotes().of(direct)).toBeNull();
});

test("a URL that is plain after others of its folder is accepted by the service, and has no note by itself", () => {
  const first = "https://cdn.example.com/p/a.jpg";
  const word = fc.constantFrom(
    "a",
    "7",
    "null",
    "undefined",
    "NaN",
    "None",
    "[sku]",
    "%20",
    "#REF!",
    "&amp;",
  );
  const separator = fc.constantFrom("", "-", ".", "/", "?v=1", "://", "@");
  const end = fc.constantFrom(".jpg", ".jpg", ".png?v=2", ".pdf", "", ".jpg,");
  const name = fc
    .tuple(word, separator, word, end)
    .map((parts) => `https://cdn.example.com/p/${parts.join("")}`);
  const other = fc.constantFrom("https://drive.google.com/p/a.jpg", "https://shop.local/p/a.jpg", first);
  let plain = 0;
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ arbitrary: name, weight: 9 }, other), { minLength: 30, maxLength: 60 }),
      (urls) => {
        const notes = new UrlNotes();
        for (const url of [first, first, ...urls]) {
          if (notes.isPlain(url)) {
            plain++;
            expect([url, urlBreach(url), new UrlNotes().of(url)]).toEqual([url, null, null]);
          } else notes.of(url);
        }
      },
    ),
  );
  expect(plain).toBeGreaterThan(20);
});
