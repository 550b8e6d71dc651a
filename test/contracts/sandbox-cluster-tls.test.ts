import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { createServer } from "node:tls";
import { playCluster } from "./played-cluster.ts";
import { cannotStart } from "./sandbox-guests.ts";
import { openKubernetes } from "./sandbox-on-kubernetes.ts";
import { done, hostFolder, triedGuest, wantedGuest } from "./sandbox-place.ts";

test("a cluster is spoken with over TLS, believed by its authority only, and shown the token of the moment [X3][N1]", {
  skip: cannotStart,
}, async (t) => {
  const files = hostFolder(t);
  const own = hostFolder(t);
  const [key, caFile, tokenFile] = [join(own, "key.pem"), join(own, "ca.crt"), join(own, "token")];
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"],
      ...["-subj", "/CN=cluster", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", caFile],
    ],
    { stdio: "ignore" },
  );
  const ends: (() => unknown)[] = [];
  const cluster = await playCluster(
    { after: (end) => void ends.push(end) },
    { namespace: "boxes", volumes: { files } },
  );
  const { port } = new URL(cluster.address);
  const door = createServer({ key: readFileSync(key), cert: readFileSync(caFile) }, (outer) => {
    const inner = connect(Number(port), "127.0.0.1");
    outer.pipe(inner).pipe(outer);
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      one.on("error", () => {});
      one.once("close", () => other.destroy());
    }
  });
  door.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  const bound = door.address();
  const server = `https://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`;
  writeFileSync(tokenFile, "an-old-one");
  const provider = openKubernetes({ server, tokenFile, caFile }, { files });
  const stranger = openKubernetes({ server, tokenFile, caFile: undefined }, { files });
  t.after(async () => {
    await provider.close();
    for (const end of ends) end();
    door.close();
  });
  const lacking = async (tried: typeof provider) =>
    (await tried.probe({ fresh: true })).missing.map(
      ({ name, about }) => `${name} ${about?.detail.replace(server, "")}`,
    );
  assert.deepEqual(
    [await lacking(stranger), await lacking(provider)],
    [["no_cluster : DEPTH_ZERO_SELF_SIGNED_CERT"], ["cluster_rights : 401 Unauthorized"]],
  );
  writeFileSync(tokenFile, cluster.token);
  assert.deepEqual(await lacking(provider), []);
  const opened = await provider.open(wantedGuest({}));
  assert.ok(opened.ok, JSON.stringify(opened));
  assert.deepEqual(await triedGuest(opened.value).run("bash", "echo on"), done({ stdout: "on\n" }));
  await opened.value.close("idle");
  assert.deepEqual(cluster.pods(), []);
});
