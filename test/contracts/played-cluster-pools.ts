import { randomUUID } from "node:crypto";
import { z } from "zod";

// agent-sandbox as far as claims from a warm pool go: templates, pools whose pods run before anybody asks, and claims that are
// given one of them, with labels. As there, a claim changes nothing of the pod but these.

type Labels = Record<string, string>;
type Pods = {
  make(name: string, labels: Labels, spec: Record<string, unknown>): unknown;
  label(name: string, labels: Labels): void;
  leave(name: string): void;
};
type Asked = { readonly verb: string; readonly resource: string; readonly name: string };

export type PlayedPools = {
  answer(asked: Asked, body: Readonly<Record<string, unknown>> | undefined): { status: number; body: unknown };
};

const metadata = z.object({ name: z.string(), labels: z.record(z.string(), z.string()) });
const kinds = {
  sandboxtemplates: z.object({
    metadata,
    spec: z.strictObject({
      networkPolicyManagement: z.literal("Unmanaged"),
      podTemplate: z.object({
        metadata: z.object({ labels: z.record(z.string(), z.string()) }),
        spec: z.record(z.string(), z.unknown()),
      }),
    }),
  }),
  sandboxwarmpools: z.object({
    metadata,
    spec: z.strictObject({ replicas: z.number(), sandboxTemplateRef: z.object({ name: z.string() }) }),
  }),
  sandboxclaims: z.object({
    metadata,
    spec: z.strictObject({
      warmPoolRef: z.object({ name: z.string() }),
      additionalPodMetadata: z.object({ labels: z.record(z.string(), z.string()) }),
      lifecycle: z.object({ shutdownTime: z.iso.datetime(), shutdownPolicy: z.literal("Delete") }),
    }),
  }),
};

export function playPools(pods: Pods): PlayedPools {
  const templates = new Map<string, z.infer<typeof kinds.sandboxtemplates>>();
  const pools = new Map<string, z.infer<typeof kinds.sandboxwarmpools> & { readonly waiting: string[] }>();
  const claims = new Map<string, z.infer<typeof kinds.sandboxclaims> & { readonly pod: string | undefined }>();
  const all: Readonly<Record<string, ReadonlyMap<string, unknown>>> = {
    ...{ sandboxtemplates: templates, sandboxwarmpools: pools, sandboxclaims: claims },
  };
  const fill = (name: string) => {
    const pool = pools.get(name);
    const template = templates.get(pool?.spec.sandboxTemplateRef.name ?? "");
    if (pool === undefined || template === undefined) return;
    while (pool.waiting.length < pool.spec.replicas) {
      const pod = `${name}-${randomUUID().slice(0, 5)}`;
      const { metadata: told, spec } = template.spec.podTemplate;
      pods.make(pod, told.labels, structuredClone(spec));
      pool.waiting.push(pod);
    }
  };
  const create = (resource: string, body: unknown) => {
    if (resource === "sandboxtemplates") {
      const made = kinds.sandboxtemplates.parse(body);
      templates.set(made.metadata.name, made);
    } else if (resource === "sandboxwarmpools") {
      const made = kinds.sandboxwarmpools.parse(body);
      pools.set(made.metadata.name, { ...made, waiting: [] });
      fill(made.metadata.name);
    } else {
      const made = kinds.sandboxclaims.parse(body);
      const pod = pools.get(made.spec.warmPoolRef.name)?.waiting.shift();
      claims.set(made.metadata.name, { ...made, pod });
      if (pod !== undefined) pods.label(pod, made.spec.additionalPodMetadata.labels);
      fill(made.spec.warmPoolRef.name);
    }
  };
  const remove = (resource: string, name: string) => {
    if (resource === "sandboxtemplates") return templates.delete(name);
    if (resource === "sandboxwarmpools") {
      for (const pod of pools.get(name)?.waiting ?? []) pods.leave(pod);
      return pools.delete(name);
    }
    const pod = claims.get(name)?.pod;
    if (pod !== undefined) pods.leave(pod);
    return claims.delete(name);
  };
  return {
    answer({ verb, resource, name }, body) {
      const found = all[resource];
      if (found === undefined) return { status: 404, body: {} };
      if (verb === "list") return { status: 200, body: { items: [...found.values()] } };
      if (verb === "create") {
        const { name: wanted } = metadata.parse(body?.metadata);
        if (found.has(wanted)) return { status: 409, body: { reason: "AlreadyExists" } };
        create(resource, body);
        return { status: 201, body };
      }
      if (!found.has(name)) return { status: 404, body: { reason: "NotFound" } };
      remove(resource, name);
      return { status: 200, body: {} };
    },
  };
}
