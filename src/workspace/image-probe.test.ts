import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

const isRoot = process.geteuid?.() === 0;

/** What is said of a machine: this one, made poorer by the words before the command. */
function probe(t: TestContext, { under = [], folder, first = "" }: Machine = {}): unknown {
  const place = mkdtempSync(join(tmpdir(), "probe-"));
  t.after(() => rmSync(place, { recursive: true, force: true }));
  const module = join(import.meta.dirname, "image-probe.ts");
  const text = `const { probeImages } = await import(${JSON.stringify(module)}); ${first}
const found = await probeImages(${JSON.stringify(folder ?? place)});
process.stdout.write(JSON.stringify(found.ok ? "ok" : [found.failure.code, found.failure.params]));`;
  const [program = "", ...args] = [...under, process.execPath, "--input-type=module", "--eval", text];
  const { stdout, stderr } = spawnSync(program, args, { encoding: "utf8", cwd: place });
  assert.deepEqual(readdirSync(place), [], "nothing of it stays");
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

type Machine = { readonly under?: readonly string[]; readonly folder?: string; readonly first?: string };

test("only root makes images, and whoever is not hears that [X3][P4]", (t) => {
  const found = probe(t, { first: "if (process.geteuid() === 0) process.seteuid(65534);" });
  assert.deepEqual(found, ["images_unusable", { why: "no_root", said: "" }]);
});

test("where a program, the disk or the right to mount is missing, that is said, and not another thing [X3][P4]", (t) => {
  // In a container without that right nothing can be hidden, either.
  if (!isRoot || spawnSync("unshare", ["--mount", "true"]).status !== 0)
    return t.skip("needs root with the right to mount");
  const hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /usr/sbin && exec "$@"', "sh"];
  assert.deepEqual(probe(t, { under: hidden }), ["images_unusable", { why: "no_programs", said: "mkfs.ext4" }]);
  assert.deepEqual(probe(t, { folder: "/proc/none" }), ["images_unusable", { why: "no_disk", said: "io" }]);
  const unable = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", "--"];
  const [code, params] = [probe(t, { under: unable })].flat();
  assert.deepEqual([code, Object(params).why], ["images_unusable", "no_loop"]);
  assert.match(Object(params).said, /^mount: /);
});
