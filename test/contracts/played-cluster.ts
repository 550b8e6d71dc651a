import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { z } from "zod";
import { parsedObject } from "../../src/base/json.ts";
import type { RunningContainer } from "../world/played-container.ts";
import { type AttachedEnd, attachEnd } from "./played-cluster-attach.ts";
import { type PodSpec, podSpec, startPod } from "./played-cluster-pod.ts";
import { type PlayedPools, playPools } from "./played-cluster-pools.ts";

// A Kubernetes cluster as far as its API goes: REST, watches and attached streams over real connections, tokens and rights.
// Pods really run, see played-cluster-pod.ts.

/** What an API server says no with. */
export type Refusal = {
  readonly status: number;
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfter?: number;
};

/** What goes wrong, from now on. A question is `create pods`, `list pods`, `watch pods`, `delete pods`, `get pods/attach`. */
export type ClusterFaults = {
  /** `silence`: it is never answered. `break`: the connection breaks. `made`: it breaks after it was done. */
  readonly answer?: (asked: string) => Refusal | "silence" | "break" | "made" | undefined;
  /** Pods come no further than this. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** Nothing keeps pods from the network. */
  readonly hasNetwork?: boolean;
  /** Somebody changes pods on their way in. */
  readonly edit?: (spec: Record<string, unknown>) => void;
  readonly command?: readonly string[];
};

export type Rule = { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] };

export type PlayedCluster = {
  readonly address: string;
  readonly token: string;
  /** Names of pods that are there. */
  pods(): readonly string[];
  spec(name: string): PodSpec | undefined;
  /** What its node has kept of what a pod said. */
  log(name: string): Buffer;
  /** Every question that was asked, once each. */
  asked(): ReadonlySet<string>;
  breaks(faults: ClusterFaults): void;
  /** Ends a pod as a node does that needs its room. */
  evict(name: string, reason?: string): void;
  /** Takes a pod away, at once and with nobody told but those who watch. */
  lose(name: string): void;
  breakStreams(): void;
  /** As if it were killed: every connection breaks, and nobody answers any more. */
  vanish(): void;
};

type Pod = {
  readonly name: string;
  readonly metadata: Record<string, unknown> & { readonly labels: Record<string, string> };
  readonly spec: PodSpec;
  readonly said: Buffer[];
  status: Record<string, unknown>;
  attached: AttachedEnd | undefined;
  running: RunningContainer | undefined;
};

type Watcher = { readonly selector: Readonly<Record<string, string>>; readonly response: ServerResponse };

type State = {
  readonly options: ClusterOptions;
  readonly token: string;
  readonly all: Map<string, Pod>;
  readonly logs: Map<string, Buffer[]>;
  readonly watchers: Set<Watcher>;
  readonly asked: Set<string>;
  /** Everything that changed, by its version: who watches from an earlier one is told. */
  readonly history: { readonly version: number; readonly pod: Pod; readonly line: string }[];
  readonly pools: PlayedPools | undefined;
  version: number;
  faults: ClusterFaults;
};

export type ClusterOptions = {
  readonly namespace: string;
  readonly volumes: Readonly<Record<string, string>>;
  /** Undefined: the token may do everything. */
  readonly rules?: readonly Rule[];
  /** agent-sandbox is installed. */
  readonly hasPools?: boolean;
};

export async function playCluster(
  t: { after(action: () => void): void },
  options: ClusterOptions,
): Promise<PlayedCluster> {
  const state: State = {
    ...{ options, token: randomUUID(), all: new Map(), logs: new Map(), watchers: new Set(), asked: new Set() },
    ...{ history: [], version: 1, faults: {} },
    pools: options.hasPools ? playPools(podsOf(() => state)) : undefined,
  };
  const open = new Set<Duplex>();
  const server = createServer((request, response) => void answer(state, request, response));
  server.on("connection", (socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => open.delete(socket));
  });
  server.on("upgrade", (request, socket) => upgrade(state, request, socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  const vanish = () => {
    for (const pod of state.all.values()) pod.running?.kill();
    for (const socket of open) socket.destroy();
    server.close();
  };
  t.after(vanish);
  return {
    ...{ address: `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}`, token: state.token, vanish },
    pods: () => Array.from(state.all.keys()),
    spec: (name) => state.all.get(name)?.spec,
    log: (name) => Buffer.concat(state.logs.get(name) ?? []),
    asked: () => state.asked,
    breaks(faults) {
      state.faults = faults;
    },
    evict(name, reason = "Evicted") {
      const pod = state.all.get(name);
      if (pod === undefined) return;
      pod.status = { ...pod.status, phase: "Failed", reason, message: "The node was low on resource: memory." };
      pod.running?.kill();
      if (pod.running === undefined) change(state, "MODIFIED", pod);
    },
    lose(name) {
      const pod = state.all.get(name);
      if (pod !== undefined) remove(state, pod);
    },
    breakStreams() {
      for (const pod of state.all.values()) pod.attached?.end();
    },
  };
}

/** What agent-sandbox does with pods. */
function podsOf(state: () => State): Parameters<typeof playPools>[0] {
  return {
    make: (name, labels, spec) => make(state(), { name, labels }, spec),
    label(name, labels) {
      const pod = state().all.get(name);
      if (pod === undefined) return;
      Object.assign(pod.metadata.labels, labels);
      change(state(), "MODIFIED", pod);
    },
    leave(name) {
      const pod = state().all.get(name);
      if (pod !== undefined) leave(state(), pod);
    },
  };
}

type Question = {
  /** Of the API: empty for pods. */
  readonly group: string;
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
  readonly query: URLSearchParams;
};

function questionOf({ method, url = "" }: IncomingMessage, namespace: string): Question | undefined {
  const { pathname, searchParams: query } = new URL(url, "http://cluster");
  const [, group = "", rest] = /^\/(?:api|apis\/([^/]+))\/[^/]+\/namespaces\/(.+)$/.exec(pathname) ?? [];
  if (!rest?.startsWith(`${namespace}/`)) return undefined;
  const [, resource = "", name = "", below] = rest.split("/");
  const isWatched = query.get("watch") === "1";
  const verbs: Readonly<Record<string, string>> = {
    GET: name !== "" ? "get" : isWatched ? "watch" : "list",
    POST: "create",
    DELETE: "delete",
  };
  return {
    verb: verbs[method ?? ""] ?? "",
    resource: below === undefined ? resource : `${resource}/${below}`,
    ...{ group, name, query },
  };
}

/** As the authoriser does it. A stream needs both rights since 1.35. */
function mayAsk({ options: { rules } }: State, { group, verb, resource }: Question): boolean {
  if (rules === undefined) return true;
  const verbs = resource.endsWith("/attach") ? ["get", "create"] : [verb];
  return verbs.every((one) =>
    rules.some(
      (rule) => rule.apiGroups.includes(group) && rule.resources.includes(resource) && rule.verbs.includes(one),
    ),
  );
}

function judge(state: State, request: IncomingMessage): Question | Refusal | "silence" | "break" | "made" {
  if (request.headers.authorization !== `Bearer ${state.token}`)
    return { status: 401, reason: "Unauthorized", message: "Unauthorized" };
  const question = questionOf(request, state.options.namespace);
  if (question === undefined) return { status: 404, reason: "NotFound", message: "the server could not find it" };
  const asked = `${question.verb} ${question.resource}`;
  state.asked.add(asked);
  if (!mayAsk(state, question))
    return { status: 403, reason: "Forbidden", message: `${question.resource} is forbidden: cannot ${asked}` };
  return state.faults.answer?.(asked) ?? question;
}

function say(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(value));
}

function refuse(response: ServerResponse, { status, reason = "", message = "", retryAfter }: Refusal): void {
  const body = { kind: "Status", apiVersion: "v1", status: "Failure", code: status, reason, message };
  say(response, status, body, retryAfter === undefined ? {} : { "Retry-After": `${retryAfter}` });
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  const judged = judge(state, request);
  if (judged === "silence") return;
  if (judged === "break") return void request.socket.destroy();
  const question = judged === "made" ? questionOf(request, state.options.namespace) : judged;
  if (question === undefined || "status" in question) return void (question && refuse(response, question));
  const { verb, name, query } = question;
  if (question.group !== "") {
    const told = state.pools?.answer(question, parsedObject(Buffer.concat(pieces).toString("utf8")));
    if (told === undefined) return refuse(response, { status: 404, reason: "NotFound", message: "page not found" });
    return say(response, told.status, told.body);
  }
  const selector = selectorOf(query.get("labelSelector") ?? "");
  if (verb === "list") {
    const items = Array.from(state.all.values()).filter((pod) => isChosen(pod, selector));
    return say(response, 200, {
      kind: "PodList",
      metadata: { resourceVersion: `${state.version}` },
      items: items.map(shown),
    });
  }
  if (verb === "watch") {
    const watcher = { selector, response };
    response.writeHead(200, { "Content-Type": "application/json" }).flushHeaders();
    for (const { version, pod, line } of state.history)
      if (version > Number(query.get("resourceVersion")) && isChosen(pod, selector)) response.write(line);
    state.watchers.add(watcher);
    return void response.once("close", () => state.watchers.delete(watcher));
  }
  if (verb === "create") return create(state, response, Buffer.concat(pieces), judged === "made");
  const pod = state.all.get(name);
  if (pod === undefined)
    return refuse(response, { status: 404, reason: "NotFound", message: `pods "${name}" not found` });
  leave(state, pod);
  return say(response, 200, shown(pod));
}

function selectorOf(text: string): Record<string, string> {
  return Object.fromEntries(text.split(",").map((pair) => pair.split("=")));
}

function isChosen({ metadata }: Pod, selector: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([name, value]) => metadata.labels[name] === value);
}

function shown({ metadata, spec, status }: Pod) {
  return { metadata, spec, status };
}

const wantedPod = z.object({
  ...{ apiVersion: z.literal("v1"), kind: z.literal("Pod"), spec: z.record(z.string(), z.unknown()) },
  metadata: z.object({ name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/), labels: z.record(z.string(), z.string()) }),
});

function create(state: State, response: ServerResponse, bytes: Buffer, isBrokenOff: boolean): void {
  const { metadata, spec: wanted } = wantedPod.parse(JSON.parse(bytes.toString("utf8")));
  const { name } = metadata;
  if (state.all.has(name))
    return refuse(response, { status: 409, reason: "AlreadyExists", message: `pods "${name}" already exists` });
  const pod = make(state, metadata, wanted);
  if (isBrokenOff) response.destroy();
  else say(response, 201, shown(pod));
}

function make(
  state: State,
  metadata: { readonly name: string; readonly labels: Record<string, string> },
  wanted: Record<string, unknown>,
): Pod {
  const { name } = metadata;
  state.faults.edit?.(wanted);
  const spec = podSpec.parse(wanted);
  const pod: Pod = {
    ...{ name, spec, status: { phase: "Pending" }, said: [], attached: undefined, running: undefined },
    metadata: { ...metadata, labels: { ...metadata.labels }, uid: randomUUID() },
  };
  state.logs.set(name, pod.said);
  state.all.set(name, pod);
  change(state, "ADDED", pod);
  const { status } = state.faults;
  if (status === undefined) run(state, pod);
  else {
    pod.status = { ...pod.status, ...status };
    change(state, "MODIFIED", pod);
  }
  return pod;
}

function run(state: State, pod: Pod): void {
  const { hasNetwork = false, command } = state.faults;
  const running = startPod(pod.spec, { volumes: state.options.volumes, hasNetwork, command });
  if (typeof running === "string") {
    const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message: running };
    pod.status = { ...pod.status, conditions: [condition] };
    return change(state, "MODIFIED", pod);
  }
  const { child } = running;
  pod.running = running;
  pod.status = { phase: "Running", containerStatuses: [{ state: { running: {} } }] };
  child.stdout.on("data", (bytes: Buffer) => {
    pod.said.push(bytes);
    pod.attached?.send(1, bytes);
  });
  child.stderr.on("data", (bytes: Buffer) => pod.attached?.send(2, bytes));
  child.once("close", (code, signal) => {
    running.clean();
    const exitCode = code ?? (signal === null ? 0 : 137);
    const terminated = { exitCode, reason: exitCode === 0 ? "Completed" : "Error" };
    pod.attached?.send(3, Buffer.from(JSON.stringify({ metadata: {}, status: "Success" })));
    pod.attached?.end();
    const phase = exitCode === 0 ? "Succeeded" : "Failed";
    pod.status = {
      phase,
      ...(pod.status.phase === "Failed" ? pod.status : {}),
      containerStatuses: [{ state: { terminated } }],
    };
    if (!state.all.has(pod.name)) return;
    change(state, "MODIFIED", pod);
    if (pod.metadata.deletionTimestamp !== undefined) remove(state, pod);
  });
  change(state, "MODIFIED", pod);
}

/** Its programs are ended first. */
function leave(state: State, pod: Pod): void {
  pod.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
  const isOver =
    pod.running === undefined || pod.running.child.exitCode !== null || pod.running.child.signalCode !== null;
  if (isOver) return remove(state, pod);
  change(state, "MODIFIED", pod);
  pod.running?.kill();
}

function remove(state: State, pod: Pod): void {
  pod.running?.kill();
  if (state.all.delete(pod.name)) change(state, "DELETED", pod);
}

function change(state: State, type: string, pod: Pod): void {
  state.version += 1;
  pod.metadata.resourceVersion = `${state.version}`;
  const line = `${JSON.stringify({ type, object: shown(pod) })}\n`;
  state.history.push({ version: state.version, pod, line });
  for (const { selector, response } of state.watchers) if (isChosen(pod, selector)) response.write(line);
}

function upgrade(state: State, request: IncomingMessage, socket: Duplex): void {
  const judged = judge(state, request);
  if (judged === "silence") return;
  if (typeof judged === "string") return void socket.destroy();
  const pod = "status" in judged ? undefined : state.all.get(judged.name);
  if (pod?.running === undefined || "status" in judged) {
    const { status = 404, message = "container not found" } = "status" in judged ? judged : {};
    const text = JSON.stringify({ kind: "Status", code: status, message });
    return void socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  }
  const { stdin, exitCode } = pod.running.child;
  pod.attached = attachEnd(request, socket, {
    stdin: (bytes) => void stdin.write(bytes),
    over: () => void stdin.end(),
  });
  // Who comes after its end hears nothing more.
  if (exitCode !== null) pod.attached.end();
}
