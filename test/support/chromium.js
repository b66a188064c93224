/**
 * How tests and measurements start Debian's Chromium, or the one that CHROMIUM names: without a window, and without requests of
 * its own. Plain JavaScript, because bench/ runs without a compiler.
 */
export const chromiumOptions = {
  get executablePath() {
    return process.env.CHROMIUM ?? "/usr/bin/chromium";
  },
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
  ],
};
