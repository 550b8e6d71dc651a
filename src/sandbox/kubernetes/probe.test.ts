import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import type { SandboxFault } from "../provider.ts";
import { lackIn, placesToTry } from "./probe.ts";

test("a sandbox is tried for a way to the cluster itself and to who tells secrets in clouds, and not to itself [X5][Q1]", () => {
  const places = placesToTry("10.0.0.1:443");
  assert.deepEqual([places[0], places.at(-1)], ["10.0.0.1:443", "169.254.169.254:80"]);
  // Whoever tells names on this machine stands between them.
  const tellers = places.slice(1, -1);
  assert.ok(tellers.every((place) => place.endsWith(":53")));
  const without = [...tellers, "169.254.169.254:80"];
  for (const peer of [undefined, "127.0.0.1:6443", "[::1]:6443"]) assert.deepEqual(placesToTry(peer), without);
});

test("where nobody tells names there is nobody to try, but one whose name cannot be read is not passed over [X5]", () => {
  assert.deepEqual(placesToTry(undefined, join(import.meta.dirname, "no-such-file")), ["169.254.169.254:80"]);
  assert.throws(() => placesToTry(undefined, import.meta.dirname), { code: "EISDIR" });
});

test("why a cluster starts no sandbox is told by what somebody has to see to: rights, image, files, or the cluster [X3][P2]", () => {
  const lack = (why: SandboxFault["why"], said: string) => lackIn({ why, said });
  assert.deepEqual(
    [
      ...[lack("unavailable", "401 Unauthorized"), lack("unavailable", "403 pods is forbidden")],
      ...[lack("full", "403 exceeded quota"), lack("unavailable", '403 violates PodSecurity "restricted"')],
      lack("unavailable", '403 RuntimeClass "gvisor" not found'),
      ...[lack("unavailable", "ErrImagePull: no such host"), lack("start_failed", "no image of a guest")],
      ...[lack("unavailable", 'persistentvolumeclaim "a" not found'), lack("start_failed", "no /run/canary.py")],
      ...[lack("start_failed", "failed to prepare subPath"), lack("start_timeout", "ContainerCreating")],
    ],
    [
      ...["cluster_rights", "cluster_rights", "pod_start", "pod_start", "pod_start", "pod_image", "pod_start"],
      ...["pod_files", "pod_files", "pod_files", "pod_start"],
    ],
  );
});
