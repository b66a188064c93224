import { describe, expect, test, vi } from "vitest";
import { asFileError, CatError, fileProblem } from "../src/errors.ts";

const thrown = (code: string, syscall: string, path?: string) =>
  Object.assign(new Error(`${code}: text of the system, ${syscall}`), { code, syscall, path });

describe("an error of the file system", () => {
  test.each([
    ["ENOSPC", "write", undefined, "cannot write a file: no space left on device"],
    ["EDQUOT", "mkdir", "/a", "cannot write /a: disk quota exceeded"],
    ["EFBIG", "write", "/a", "cannot write /a: the file is too large for its disk"],
    ["EACCES", "scandir", "/a", "cannot read /a: permission denied"],
    ["EPERM", "rename", "/a", "cannot write /a: permission denied"],
    ["EROFS", "open", "/a", "cannot open /a: the file system is read-only"],
    ["EISDIR", "read", "/a", "cannot read /a: it is a folder"],
    ["ENAMETOOLONG", "open", "/a", "cannot open /a: its name is too long"],
    ["EMFILE", "open", "/a", "cannot open /a: too many open files"],
    ["EIO", "fsync", "/a", "cannot write /a: the disk reported an error"],
  ])("%s of %s is an error of the file", (code, syscall, path, message) => {
    const error = asFileError(thrown(code, syscall, path));
    expect(error).toBeInstanceOf(CatError);
    expect(error).toMatchObject({ type: "file", code, message, hint: fileProblem({ code })!.hint });
  });

  test("of the current folder names it, and what to do", () => {
    expect(asFileError(thrown("ENOENT", "uv_cwd"))).toMatchObject({
      ...{ type: "file", code: "ENOENT", message: "cannot read the current folder: no such file or folder" },
      hint: "Go to a folder that exists, and run the command again.",
    });
  });

  test("of a network, another system call or an unknown code is returned unchanged, like a converted one", () => {
    const told = new CatError("x", { type: "x", code: "EACCES" });
    for (const error of [
      thrown("EACCES", "connect"),
      thrown("EACCES", "listen"),
      thrown("EWHATEVER", "open"),
      Object.assign(new Error("x"), { code: "ENOSPC" }),
      new TypeError("x"),
      told,
      undefined,
      "text",
    ]) {
      expect(asFileError(error)).toBe(error);
    }
  });
});

describe("instanceof across two copies of the package", () => {
  const copyOf = async () => {
    vi.resetModules();
    return { ...(await import("../src/errors.ts")), ...(await import("../src/http/errors.ts")) };
  };
  const detail = { code: "unreachable", transient: true };

  test("an error of one copy is one of each class that it extends in the other, and of no other class", async () => {
    const [one, other] = [await copyOf(), await copyOf()];
    const error = new one.NetworkError("x", detail);
    expect(one.NetworkError).not.toBe(other.NetworkError);
    expect(error instanceof other.NetworkError).toBe(true);
    expect(error instanceof other.CatalogueError).toBe(true);
    expect(error instanceof other.TimeoutError).toBe(false);
    expect(new one.CatalogueError("x", { type: "x", code: "x" }) instanceof other.NetworkError).toBe(false);
  });

  test("a class that a user derives has its own instances only, whatever its name", async () => {
    const [one, other] = [await copyOf(), await copyOf()];
    class ShopError extends one.NetworkError {}
    expect(new ShopError("x", detail) instanceof other.NetworkError).toBe(true);
    expect(new ShopError("x", detail) instanceof ShopError).toBe(true);
    expect(new one.NetworkError("x", detail) instanceof ShopError).toBe(false);
  });

  test.each([null, undefined, 1, "x", {}, new Error("x"), Object.create(null)])(
    "%o is no error of ours",
    (value) => {
      expect(value instanceof CatError).toBe(false);
    },
  );
});
