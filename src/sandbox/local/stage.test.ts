import assert from "node:assert/strict";
import { test } from "node:test";
import { stagedCommand } from "./stage.ts";

test("what a guest is shown is what was opened for it: each place is compared before its user takes over [X3][S4]", () => {
  const opened = [
    { fd: 20, path: "/a", isFolder: true },
    { fd: 21, path: "/b", isFolder: false },
    { fd: 22, path: "/c", isFolder: true },
  ];
  const [unshare, ...rest] = stagedCommand({ opened, uid: 1234 }, ["bwrap", "--args", "7"]);
  const at = rest.indexOf("-ec");
  assert.deepEqual(
    [unshare, rest.slice(0, at), rest.slice(at + 2)],
    ["/usr/bin/unshare", ["--mount", "--propagation", "private", "--", "/bin/sh"], ["stage", "bwrap", "--args", "7"]],
  );
  const lines = (rest[at + 1] ?? "").split("\n");
  const fd = (number: number) => `/proc/${process.pid}/fd/${number}`;
  assert.deepEqual(
    lines.filter((line) => /^(test|mkdir|: > \/mnt\/\d|readlink|exec)/.test(line)),
    [
      ...["mkdir /mnt/0 /mnt/2", ": > /mnt/1"],
      `readlink ${fd(20)} ${fd(21)} ${fd(22)} | while IFS= read -r name; do`,
      ...[20, 21, 22].map((number, index) => `test /mnt/${index} -ef ${fd(number)}`),
      `exec setpriv --reuid 1234 --regid 1234 --clear-groups --inh-caps=-all -- "$@"`,
    ],
  );
  assert.match(lines[0] ?? "", /^mount -t tmpfs -o mode=0711,size=64k,nosuid,nodev none \/mnt$/);
});

test("a guest that is shown nothing of the host has no place made for it [X3]", () => {
  const script = stagedCommand({ opened: [], uid: 7 }, ["bwrap"])[7] ?? "";
  assert.deepEqual(
    script.split("\n").map((line) => line.split(" ")[0]),
    ["mount", "exec"],
  );
});
