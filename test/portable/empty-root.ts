import { cpSync, existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";

const chroot = "/usr/sbin/chroot";

/** Why no program can run in another root here; empty if one can. */
export const noRoots =
  process.platform !== "linux" || process.arch !== "x64"
    ? "the archive is for Linux on x64"
    : process.getuid?.() !== 0 || !existsSync(chroot)
      ? "chroot needs root"
      : "";

/**
 * A root with nothing but a shell, the libraries of C and C++, and a folder as `/program`. Returns what runs a command in it.
 */
export async function emptyRoot(root: string, program: string) {
  const shell = realpathSync("/bin/sh");
  for (const folder of ["bin", "dev", "tmp", "home"]) mkdirSync(join(root, folder), { recursive: true });
  cpSync(shell, join(root, "bin/sh"));
  // A file is enough: what a program writes there is not read.
  writeFileSync(join(root, "dev/null"), "");
  cpSync(program, join(root, "program"), { recursive: true, verbatimSymlinks: true });
  const native = [
    "@libsql/linux-x64-gnu/index.node",
    "@img/sharp-libvips-linux-x64/lib/libvips-cpp.so.8.18.7",
  ];
  const binaries = [
    shell,
    ...["node", ...native.map((name) => `node_modules/${name}`)].map((name) => join(program, "lib", name)),
  ];
  for (const path of await librariesOf(binaries)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    cpSync(realpathSync(path), join(root, path));
  }
  return async (command: readonly string[]) => {
    const { exitCode, stdout, stderr } = await execa(chroot, [root, ...command], {
      ...{ reject: false, extendEnv: false, env: { PATH: "/bin", HOME: "/home" } },
    });
    return { exitCode, stdout, stderr };
  };
}

/** The libraries of the system that programs load, which are those of C and C++. */
async function librariesOf(binaries: readonly string[]): Promise<Set<string>> {
  const { stdout } = await execa("ldd", binaries);
  return new Set(stdout.match(/\/(?:usr\/)?lib(?:64)?\/[^\s:]+\.so[.\d]*(?= \(0x)/g) ?? []);
}

/** Emulates Linux on arm64, with its libraries of C and C++ from Debian's packages for cross compilers. */
const emulator = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"];

/** Why no program for Linux on arm64 can run here; empty if one can. */
export const noEmulator = ["/usr/bin/qemu-aarch64", "/usr/aarch64-linux-gnu/lib/libstdc++.so.6"]
  .filter((path) => !existsSync(path))
  .map((path) => `${path} is missing`)
  .join(", ");

/** The command lines of the programs in an unpacked archive for arm64. Its launchers would need the emulator in the kernel. */
export const emulated = (folder: string) => ({
  catalogue: [...emulator, join(folder, "lib/node"), join(folder, "lib/bin/catalogue.js")],
  cat: [...emulator, join(folder, "lib/node"), join(folder, "lib/bin/cat.js")],
});
