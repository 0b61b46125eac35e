// Builds the page of the explorer into the package: one script, one style sheet, and the licences of what is in them.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync, copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../src/equigraph/apps/explore/static");
mkdirSync(out, { recursive: true });

const shared = { bundle: true, minify: true, legalComments: "none", logLevel: "warning", charset: "utf8" };
const found = await build({
  ...shared,
  entryPoints: [join(here, "src/main.ts")],
  outfile: join(out, "explore.js"),
  format: "esm",
  target: "es2021",
  metafile: true,
});
await build({ ...shared, entryPoints: [join(here, "src/style.css")], outfile: join(out, "explore.css") });
for (const name of ["index.html", "icon.svg"]) copyFileSync(join(here, "src", name), join(out, name));

const packages = [
  ...new Set(
    Object.keys(found.metafile.inputs)
      .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
      .filter(Boolean),
  ),
].sort();
const notices = packages.map((name) => {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${about.license}`;
  return `${name} ${about.version} (${about.license})\n\n${text}\n`;
});
writeFileSync(join(out, "LICENSES.txt"), notices.join(`\n${"-".repeat(80)}\n\n`));

// What the built files were made of, so that a test without node can tell whether they are up to date.
const sources = [
  "package.json",
  "package-lock.json",
  "build.mjs",
  ...readdirSync(join(here, "src")).sort().map((name) => `src/${name}`),
];
const digest = (paths) => {
  const hash = createHash("sha256");
  for (const [name, path] of paths) {
    hash.update(`${name}\0`);
    hash.update(readFileSync(path));
  }
  return hash.digest("hex");
};
const built = ["LICENSES.txt", "explore.css", "explore.js", "icon.svg", "index.html"];
const hashes = {
  sources: digest(sources.map((name) => [name, join(here, name)])),
  built: digest(built.map((name) => [name, join(out, name)])),
};
writeFileSync(join(out, "build.json"), `${JSON.stringify(hashes, null, 2)}\n`);
