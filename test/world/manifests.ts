import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import type { Rule } from "../contracts/played-cluster.ts";

const folder = join(import.meta.dirname, "../../deploy/kubernetes");

const manifest = z.looseObject({
  ...{ apiVersion: z.string(), kind: z.string() },
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
export type Manifest = z.infer<typeof manifest>;

/** What `deploy/kubernetes` puts into a cluster, and the secret that the operator makes. */
export function readManifests(): readonly Manifest[] {
  const { resources } = z
    .object({ resources: z.array(z.string()) })
    .parse(parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")));
  return [...resources, "secret.example.yaml"].flatMap(readAll);
}

function readAll(name: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(folder, name), "utf8")).map((document) => {
    if (document.errors.length > 0) throw new Error(`${name}: ${document.errors[0]?.message}`);
    return manifest.parse(document.toJS());
  });
}

const role = z.object({
  rules: z.array(
    z.object({ apiGroups: z.array(z.string()), resources: z.array(z.string()), verbs: z.array(z.string()) }),
  ),
});

/** What the servers may do where sandboxes run; or only what one file lets them. */
export function readRules(file?: string): readonly Rule[] {
  return (file === undefined ? readManifests() : readAll(file)).flatMap((one) =>
    one.kind === "Role" ? role.parse(one).rules : [],
  );
}

/** Everything that stands under a key, however deep. */
export function allOf(value: unknown, key: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [...(name === key ? [inner] : []), ...allOf(inner, key)]);
}
