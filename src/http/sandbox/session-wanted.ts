import { ok, type Result } from "../../base/result.ts";
import { type Failure, failure } from "../../protocol/failure.ts";
import { isAlias } from "../../protocol/session-names.ts";
import type { UploadPolicy } from "../../protocol/upload-policy.ts";
import { defaultDomain, fitsGuest, type NewSession } from "../../sandbox/sandbox.ts";
import type { Call } from "../handler.ts";
import { isTemplate, templateNotFound } from "./templates.ts";

type Create = Pick<Call<"createSession">, "body" | "header">;
type Body = Create["body"];
type Policy = NonNullable<NonNullable<Body["config"]>["file_upload_config"]>;

const domainCharactersMax = 200;

/** Both dialects' wishes as ours. Whoever names the session by `id`, or a template, speaks the public service's. */
export function sessionWanted({ body, header }: Create): Result<NewSession, Failure> {
  const template = body.template_id ?? undefined;
  if (template !== undefined && !isTemplate(template)) return templateNotFound(template);
  const env = body.env_vars ?? {};
  if (!fitsGuest(env)) return failure("bad_request", { what: "body.env_vars", rule: "env_vars" });
  const id = sessionNamed(body);
  const policy = body.config?.file_upload_config ?? body.event?.file_upload_config ?? undefined;
  return ok({
    id: id === undefined || isAlias(id) ? undefined : id,
    dialect: (body.id ?? template) === undefined ? "seed" : "public",
    agentId: body.agent_id ?? undefined,
    businessDomain:
      body.business_domain_id ?? header("x-business-domain")?.slice(0, domainCharactersMax) ?? defaultDomain,
    templateId: template,
    uploads: policy === undefined ? undefined : uploadsWanted(policy),
    limits: limitsWanted(body),
    env,
    executionTimeoutMs: body.timeout == null ? undefined : body.timeout * 1000,
  });
}

/** The id that the body gives the session, an alias for one. */
export function sessionNamed(body: Body): string | undefined {
  return body.id ?? body.config?.session_id ?? undefined;
}

function limitsWanted({ cpu, memory, disk }: Body): NewSession["limits"] {
  return {
    ...(cpu == null ? {} : { cpus: cpu }),
    ...(memory == null ? {} : { memoryBytes: bytesIn(memory) }),
    ...(disk == null ? {} : { fileBytesMax: bytesIn(disk) }),
  };
}

/** `512Mi`, `1Gi`. */
function bytesIn(amount: string): number {
  return Number.parseInt(amount, 10) * (amount.endsWith("Gi") ? 1024 ** 3 : 1024 ** 2);
}

const unitBytes = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 } as const;

function uploadsWanted(policy: Policy): Partial<UploadPolicy> {
  const { max_file_size: size, max_file_size_unit: unit, max_file_count: filesMax, allowed_file_types: types } = policy;
  return {
    ...(size === undefined ? {} : { fileBytesMax: Math.floor(size * unitBytes[unit]) }),
    ...(filesMax === undefined ? {} : { filesMax }),
    ...(types === undefined ? {} : { types: types.map((type) => type.trim().replace(/^\./, "").toLowerCase()) }),
  };
}
