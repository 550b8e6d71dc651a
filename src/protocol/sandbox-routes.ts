import { z } from "zod";
import type { FailureCode } from "./failure.ts";
import { FreeForm, few } from "./free-form.ts";
import { programFailures, storageFailures } from "./program-failures.ts";
import { ById, bodyBytes, Empty, type Route } from "./route.ts";
import {
  DetailedHealth,
  ExecutionFrame,
  SandboxExecution,
  SandboxExecutionPage,
  SandboxSession,
  SandboxSessionPage,
  SandboxTemplate,
  SubmittedExecution,
} from "./sandbox-resources.ts";

const sandboxNameCharactersMax = 200;
const sandboxVariablesMax = 200;
const sandboxEventNamesMax = 20_000;
const sandboxDependenciesMax = 50;
const sandboxTypesMax = 200;
/** A day. How long a program may really run says sandbox.execution_seconds_max. */
export const timeoutSecondsMax = 86_400;
/** The time-out of a program whose caller names none. */
export const timeoutSecondsUsual = 30;

/** Of both dialects; `null` means left out, as clients of the public service send it. */
const name = z.string().max(sandboxNameCharactersMax).nullish();
const SessionId = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/);
const EnvVars = few(z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), z.string()), sandboxVariablesMax);
const amount = z.string().regex(/^[1-9]\d{0,8}(Mi|Gi)$/);
/** `"0.5"` as the public service has it, or a number. */
const cores = z.coerce.number().gt(0).max(10_000);

const FileUploadConfig = z.object({
  max_file_size: z.number().min(0).optional(),
  max_file_size_unit: z.enum(["B", "KB", "MB", "GB"]).default("MB"),
  max_file_count: z.number().int().min(0).optional(),
  allowed_file_types: z.array(z.string().max(32)).max(sandboxTypesMax).optional(),
});

/** No address, no path, and no version glued to it; of npm also with the name of its scope. */
const packageName = /^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const npmName = /^(?!.*\.\.)(@[a-z0-9][a-z0-9._-]{0,99}\/)?[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** `1.2`, `==1.2`, `>=1,<2.0`: what stands between commas is a version, so that nothing else can. */
const packageVersion =
  /^(===?|~=|!=|<=?|>=?)?\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*(\s*,\s*(===?|~=|!=|<=?|>=?)\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*)*$/;
const npmVersion = /^(\^|~|<=?|>=?|=)?[A-Za-z0-9][A-Za-z0-9.*+-]*$/;

const dependencies = (name: RegExp, version: RegExp) =>
  z
    .array(z.object({ name: z.string().regex(name), version: z.string().max(64).regex(version).nullish() }))
    .max(sandboxDependenciesMax);
const Dependencies = dependencies(packageName, packageVersion);

const installing = {
  /** Only the configured one is taken. */
  python_package_index_url: z.url().max(500).nullish(),
  /** Seconds. */
  install_timeout: z.number().int().min(30).max(1800).default(300),
  /** Installs each for itself, also where they do not fit together. */
  allow_version_conflicts: z.boolean().default(false),
};

const NewSession = z.object({
  // As the chat platform asks.
  user_id: z.string().nullish(),
  agent_id: name,
  business_domain_id: name,
  config: z.object({ session_id: SessionId.nullish(), file_upload_config: FileUploadConfig.nullish() }).nullish(),
  // The public service.
  id: SessionId.nullish(),
  template_id: z.string().min(1).max(64).nullish(),
  timeout: z.number().int().min(1).max(timeoutSecondsMax).nullish(),
  cpu: cores.nullish(),
  memory: amount.nullish(),
  disk: amount.nullish(),
  env_vars: EnvVars.nullish(),
  event: z.object({ file_upload_config: FileUploadConfig.nullish().catch(undefined) }).nullish(),
  dependencies: Dependencies.nullish(),
  fail_on_dependency_error: z.boolean().default(true),
  ...installing,
});

const InstallBody = z.union([
  z.object({
    ...installing,
    package_manager: z.literal("npm"),
    dependencies: dependencies(npmName, npmVersion).min(1),
  }),
  z.object({ ...installing, package_manager: z.literal("pip").default("pip"), dependencies: Dependencies.min(1) }),
]);

const Execute = z.object({
  code: z.string().min(1),
  language: z.enum(["python", "javascript", "shell", "bash"]).default("python"),
  /** Seconds. */
  timeout: z.number().min(1).max(timeoutSecondsMax).default(timeoutSecondsUsual),
  /** For `handler(event)`. */
  event: few(FreeForm, sandboxEventNamesMax).nullish(),
  /** Below the conversation's files, or from `/workspace` on. */
  working_directory: z.string().max(4096).nullish(),
  conversation_id: z.string().nullish(),
  user_id: z.string().nullish(),
  env_vars: EnvVars.nullish(),
});

const conversation = { conversation_id: z.string().optional() };
/** What is too large or too small a page becomes the largest or smallest one. */
const page = { limit: z.coerce.number().int().default(50), offset: z.coerce.number().int().min(0).default(0) };

const sessionFailures = ["bad_request", "session_not_found", ...storageFailures] as const;

export const packageFailures = [
  "packages_not_configured",
  "packages_installing",
  "package_index_refused",
  "installer_missing",
  "packages_failed",
  "sandbox_unavailable",
  "sandbox_start_failed",
  "sandbox_full",
] as const satisfies readonly FailureCode[];

const executeFailures = [...sessionFailures, "conversation_not_found", ...programFailures] as const;

/** The rows about sessions, executions and templates: the chat platform's, and the public sandbox service's. */
export const sandboxRoutes = {
  createSession: {
    method: "POST",
    path: "/api/v1/sessions",
    scope: "chat",
    creates: true,
    summary: "Create the caller's sandbox session, or revive it.",
    params: Empty,
    query: z.object({ if_exists: z.enum(["fail", "return"]).default("fail") }),
    body: NewSession,
    status: 201,
    failures: [...sessionFailures, "session_exists", "session_of_another", "template_not_found", ...packageFailures],
    answer: SandboxSession,
  },
  listSessions: {
    method: "GET",
    path: "/api/v1/sessions",
    scope: "chat",
    summary: "The caller's sandbox sessions.",
    params: Empty,
    query: z.object({ ...page, status: z.string().optional(), template_id: z.string().optional() }),
    body: Empty,
    status: 200,
    failures: [],
    answer: SandboxSessionPage,
  },
  getSession: {
    method: "GET",
    path: "/api/v1/sessions/{id}",
    scope: "chat",
    summary: "The caller's sandbox session, by its id or another name for it.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["session_not_found"],
    answer: SandboxSession,
  },
  deleteSession: {
    method: "DELETE",
    path: "/api/v1/sessions/{id}",
    scope: "chat",
    summary: "End a sandbox session and forget it with its executions; files stay.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 204,
    failures: sessionFailures,
    answer: Empty,
  },
  terminateSession: {
    method: "POST",
    path: "/api/v1/sessions/{id}/terminate",
    scope: "chat",
    summary: "End the programs of a sandbox session; files stay.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: sessionFailures,
    answer: SandboxSession,
  },
  resetSession: {
    method: "POST",
    path: "/api/v1/sessions/{id}/reset",
    scope: "chat",
    summary: "Forget the Python state of a conversation, or of executions without one.",
    params: ById,
    query: z.object(conversation),
    body: z.object({ conversation_id: z.string().nullish(), user_id: z.string().nullish() }),
    status: 204,
    failures: [...sessionFailures, "conversation_not_found"],
    answer: Empty,
  },
  installDependencies: {
    method: "POST",
    path: "/api/v1/sessions/{id}/dependencies/install",
    scope: "chat",
    creates: true,
    summary: "Install packages for a sandbox session, where an index is configured; answered when they are there.",
    params: ById,
    query: Empty,
    body: InstallBody,
    status: 200,
    failures: [...sessionFailures, ...packageFailures],
    answer: SandboxSession,
  },
  execute: {
    method: "POST",
    path: "/api/v1/executions/sessions/{id}/execute",
    scope: "chat",
    creates: true,
    summary: "Run a program. Answered when it is accepted; it runs by itself.",
    params: ById,
    query: z.object(conversation),
    body: Execute,
    bodyBytesMax: bodyBytes.large,
    status: 201,
    failures: executeFailures,
    answer: SubmittedExecution,
  },
  executeSync: {
    method: "POST",
    path: "/api/v1/executions/sessions/{id}/execute-sync",
    scope: "chat",
    creates: true,
    summary: "Run a program and wait for its end; after sync_timeout seconds it goes on without the caller.",
    params: ById,
    query: z.object({
      ...conversation,
      /** Taken and not needed: the end is heard of at once. */
      poll_interval: z.coerce.number().min(0.1).max(10).default(0.5),
      sync_timeout: z.coerce.number().min(0.1).max(3600).default(300),
    }),
    body: Execute,
    bodyBytesMax: bodyBytes.large,
    status: 200,
    failures: [...executeFailures, "execution_running"],
    answer: SandboxExecution,
  },
  executionStatus: {
    method: "GET",
    path: "/api/v1/executions/{id}/status",
    scope: "chat",
    summary: "What became of an execution so far.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["execution_not_found"],
    answer: SandboxExecution,
  },
  executionResult: {
    method: "GET",
    path: "/api/v1/executions/{id}/result",
    scope: "chat",
    summary: "The same, under the name that the public service has for its end.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["execution_not_found"],
    answer: SandboxExecution,
  },
  followExecution: {
    method: "GET",
    path: "/api/v1/executions/{id}/stream",
    scope: "chat",
    summary: "The output of an execution from its beginning on, then live, then its result.",
    params: ById,
    /** The id of the last frame that came; `Last-Event-ID` says the same and counts before it. */
    query: z.object({ after: z.string().max(64).optional() }),
    body: Empty,
    status: 200,
    streams: true,
    failures: ["execution_not_found", "streams_full"],
    answer: ExecutionFrame,
  },
  cancelExecution: {
    method: "POST",
    path: "/api/v1/executions/{id}/cancel",
    scope: "chat",
    summary: "Stop an execution; one that is over stays as it is.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["execution_not_found"],
    answer: SandboxExecution,
  },
  listExecutions: {
    method: "GET",
    path: "/api/v1/executions/sessions/{id}/executions",
    scope: "chat",
    summary: "The executions of a sandbox session, newest first.",
    params: ById,
    query: z.object(page),
    body: Empty,
    status: 200,
    failures: ["session_not_found"],
    answer: SandboxExecutionPage,
  },
  listTemplates: {
    method: "GET",
    path: "/api/v1/templates",
    scope: "chat",
    summary: "What a sandbox session can be made from. The list is built in.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.array(SandboxTemplate),
  },
  getTemplate: {
    method: "GET",
    path: "/api/v1/templates/{id}",
    scope: "chat",
    summary: "One template.",
    params: ById,
    query: Empty,
    body: Empty,
    status: 200,
    failures: ["template_not_found"],
    answer: SandboxTemplate,
  },
  healthDetailed: {
    method: "GET",
    path: "/api/v1/health/detailed",
    scope: "admin",
    summary: "Whether database, files and sandbox are well: each is tried for this answer.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: DetailedHealth,
  },
  healthSync: {
    method: "POST",
    path: "/api/v1/health/sync",
    scope: "admin",
    summary:
      "Tidy up now what is otherwise tidied up by and by: sandbox sessions past their time, leftovers, deleted files.",
    params: Empty,
    query: Empty,
    body: Empty,
    status: 200,
    failures: [],
    answer: z.object({
      status: z.literal("completed"),
      processes: z.number().int(),
      groups: z.number().int(),
      mounts: z.number().int(),
    }),
  },
} as const satisfies Record<string, Route>;
