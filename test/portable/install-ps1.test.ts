import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const read = (name: string) => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), "utf8");

// No PowerShell runs where these tests run: install.sh, which says the same, is what they compare with.
describe("install.ps1", () => {
  const [script, other] = [read("install.ps1"), read("install.sh")];

  test("has only characters that Windows PowerShell reads without a byte order mark, and Windows reads its name", () => {
    expect(script).toMatch(/^[\t\n -~]*$/);
  });

  test("downloads from where install.sh does, which is where package.json says the project is", () => {
    const [ofScript, ofOther] = [script, other].map(
      (text) => /^\$?releases ?= ?"?([^"\n]+)/m.exec(text)?.[1],
    );
    expect(ofScript).toBe(ofOther);
    expect(`${ofScript}`).toBe(manifest.homepage.replace("#readme", "/releases"));
  });

  test("names each of its parameters in its usage, and no other", () => {
    const parameters = [...script.matchAll(/^ {2}\[(?:string|switch)\]\$(\w+)/gm)].map(([, name]) => name);
    const usage = [...script.matchAll(/^ {2}-(\w+) /gm)].map(([, name]) => name);
    expect(parameters).toEqual(["Version", "From", "To", "Help"]);
    expect(usage).toEqual(parameters);
  });

  test("calls each of its functions, and each that it calls exists", () => {
    const functions = [...script.matchAll(/^function ([\w-]+)/gm)].map(([, name]) => name!);
    const own = /\b(?:Stop-Install|Get-ReleaseFile|Get-Place|Find-Archive|Set-Current|Install-Catalogue)\b/g;
    const counts = new Map<string, number>();
    for (const [name] of script.matchAll(own)) counts.set(name, (counts.get(name) ?? 0) + 1);
    expect([...counts.keys()].sort()).toEqual(functions.sort());
    expect([...counts].filter(([, count]) => count < 2)).toEqual([]);
  });

  test("compares the SHA-256 before it unpacks, and unpacks before it replaces what is installed", () => {
    const steps = ["Get-FileHash", "ExtractToDirectory", "--version", "Set-Current $unpacked"];
    const places = steps.map((step) => script.indexOf(step));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  test("removes only folders that it has installed from where the user keeps it", () => {
    const [, removed = "$"] = /Where-Object \{ \$_\.Name -match "(.*?)" -and/.exec(script) ?? [];
    const names = [
      "catalogue-0.1.0-windows-x64",
      "catalogue-2026",
      "catalogue-photos-windows-x64",
      "my-catalogue",
    ];
    expect(names.filter((name) => new RegExp(removed).test(name))).toEqual([names[0]]);
  });

  test("the line that it prints for PATH can be pasted into PowerShell and cmd, also with an apostrophe in the path", () => {
    expect(script).toContain(
      `Write-Host "  powershell -Command ""[Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$($current.Replace("'", "''"))', 'User')"""`,
    );
  });

  test("takes a version with the v of its tag, as install.sh does, before it looks for it", () => {
    expect(other).toMatch(/ version=\$\{2#v\} /);
    const places = ['$Version = $Version -replace "^v", ""', "$place = Get-Place"].map((one) =>
      script.indexOf(one),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  test("says about a file that is cut what install.sh says", () => {
    const message = /is cut or changed: [^"]*/.exec(other)![0];
    expect(message).toBe(
      "is cut or changed: its SHA-256 is not the one in SHA256SUMS; nothing was installed",
    );
    expect(script).toContain(message);
  });
});
