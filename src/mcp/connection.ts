import type { Client, ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { inBackground, whenOver } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Logger } from "../observe/observe.ts";
import { type Failure, makeFailure } from "../protocol/failure.ts";
import type { Web } from "../web/web.ts";
import { type Dialled, dial } from "./dial.ts";
import { type Fault, failureOf } from "./faults.ts";
import type { KnownPlace, ToolDefinition } from "./known-tools.ts";
import type { McpServerSettings } from "./settings.ts";
import type { SignIn } from "./sign-in.ts";

/** `known`: its tools are, from the last time; it is started by the first call. */
export type ServerState = "configured" | "known" | "starting" | "ready" | "sign_in_needed" | "failed";

export type ConnectionParts = {
  readonly server: McpServerSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  readonly known: KnownPlace;
  readonly auth: SignIn | undefined;
  readonly web: Pick<Web, "fetchFor">;
  readonly elicit: (request: ElicitRequest) => Promise<ElicitResult>;
  /** Its tools are others than before. */
  readonly onTools: () => void;
};

export type Asked = {
  readonly signal: AbortSignal;
  /** Asking twice does no harm. */
  readonly mayRepeat: boolean;
};

/** A pause after the second failure in a row, twice as long after each further one. */
const pauseMs = 1_000;
const pauseMsMax = 60_000;
/** Whoever was well for so long starts anew: the next failure is the first again. */
const wellMs = 60_000;
/** A server of the older generation may have become one of the newer. */
const generationKnownMsMax = 7 * 86_400_000;
/** After a look-up in the background that failed, nobody looks again for so long unless somebody asks. */
const lookAgainMs = 600_000;

/** One server, for all users or for one: started at its first use, once, however many ask; and again after it has ended. */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #stop = new AbortController();
  #dialled: Dialled | undefined;
  #starting: Promise<Result<Dialled, Failure>> | undefined;
  #failure: Failure | undefined;
  #tools: readonly ToolDefinition[] | undefined;
  #kept: Promise<void> = Promise.resolve();
  #failuresInARow = 0;
  #readySince = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#tools = parts.known.read()?.tools;
  }

  get id(): string {
    return this.#parts.server.id;
  }

  get state(): ServerState {
    if (this.#starting !== undefined) return "starting";
    if (this.#dialled !== undefined) return "ready";
    if (this.#failure?.code === "mcp_sign_in_needed") return "sign_in_needed";
    if (this.#failure !== undefined) return "failed";
    return this.#tools === undefined ? "configured" : "known";
  }

  /** Why it does not run, where that is not as it should be. */
  get failure(): Failure | undefined {
    return this.state === "failed" ? this.#failure : undefined;
  }

  get tools(): readonly ToolDefinition[] {
    return this.#tools ?? [];
  }

  get generation(): "legacy" | "modern" | undefined {
    return this.#dialled?.generation;
  }

  /** Learns of its tools where nothing is known of them. Nobody waits for it. */
  lookUp(): void {
    const { clock, logger, server } = this.#parts;
    const isDue = clock.monotonic() - this.#lookedAt >= lookAgainMs;
    if (this.#tools !== undefined || this.#starting !== undefined || !isDue) return;
    this.#lookedAt = clock.monotonic();
    void inBackground(logger, "the tools of an MCP server could not be looked up", this.ready(), { server: server.id });
  }

  /** Asks the server something, having started it where it does not run. */
  async ask<T>(
    question: (client: Client) => Promise<Result<T, Fault>>,
    { signal, mayRepeat }: Asked,
  ): Promise<Result<T, Failure>> {
    for (let attempt = 1; ; attempt += 1) {
      const dialled = await this.#whileWanted(this.ready(), signal);
      if (!dialled.ok) return dialled;
      const answer = await question(dialled.value.client);
      if (answer.ok) return answer;
      const fault = answer.failure;
      if (fault.isBroken) await this.#drop(dialled.value, fault);
      if (fault.scope !== undefined) await this.#parts.auth?.widen(fault.scope);
      if (this.#parts.auth?.needsPerson() === true) return this.#needsPerson(dialled.value);
      const isOnceMore = fault.isSessionLost === true || (fault.isBroken === true && mayRepeat);
      if (attempt > 1 || !isOnceMore || signal.aborted) return failed(failureOf(this.#parts.server.id, fault));
    }
  }

  /** Running, or why not. All who ask while it starts wait for the same start. */
  ready(): Promise<Result<Dialled, Failure>> {
    const { server, clock } = this.#parts;
    if (this.#dialled !== undefined) return Promise.resolve(ok(this.#dialled));
    if (this.#starting !== undefined) return this.#starting;
    const left = this.#pausedUntil - clock.monotonic();
    const refuse = (fault: Fault) => Promise.resolve(failed(failureOf(server.id, fault)));
    if (this.#stop.signal.aborted) return refuse({ why: "closed", said: "" });
    if (left > 0) return refuse({ why: "paused", said: `${Math.ceil(left / 1_000)} s` });
    this.#starting = this.#start();
    return this.#starting;
  }

  /** Ends it; the next use starts it at once. */
  async restart(): Promise<void> {
    this.#failuresInARow = 0;
    this.#pausedUntil = Number.NEGATIVE_INFINITY;
    this.#failure = undefined;
    await this.#started();
    const dialled = this.#dialled;
    this.#dialled = undefined;
    await dialled?.close();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#started();
    const dialled = this.#dialled;
    this.#dialled = undefined;
    await dialled?.close();
    await this.#kept;
  }

  /** However it ends: that hears whoever asked for it. */
  async #started(): Promise<void> {
    if (this.#starting !== undefined) await whenOver(this.#starting);
  }

  async #start(): Promise<Result<Dialled, Failure>> {
    const { server, clock, logger, version, known, auth, web, elicit } = this.#parts;
    const before = known.read();
    const isLegacy = before?.generation === "legacy" && clock.now() - before.at < generationKnownMsMax;
    const dialled = await dial(
      server,
      {
        ...{ clock, logger, version, auth, web, isLegacy, elicit },
        onToolsChanged: (tools) => this.#learn(tools),
        onClose: () => this.#lost(),
      },
      this.#stop.signal,
    ).finally(() => {
      this.#starting = undefined;
    });
    if (!dialled.ok) return this.#failed(dialled.failure);
    this.#dialled = dialled.value;
    this.#failure = undefined;
    this.#readySince = clock.monotonic();
    this.#learn(dialled.value.tools);
    logger.info("MCP server {server} is ready", { server: server.id, tools: dialled.value.tools.length });
    return ok(dialled.value);
  }

  #failed(fault: Fault): Result<never, Failure> {
    const { server, logger, auth } = this.#parts;
    const isSignIn = auth?.needsPerson() === true;
    this.#failure = isSignIn ? makeFailure("mcp_sign_in_needed", { server: server.id }) : failureOf(server.id, fault);
    // Whoever has to sign in has done nothing wrong: nothing is held against the server.
    if (!isSignIn && fault.why !== "closed") this.#count();
    logger.warn("MCP server {server} is not ready: {why} {said}", { server: server.id, ...fault });
    return failed(this.#failure);
  }

  #count(): void {
    this.#failuresInARow += 1;
    const waits = this.#failuresInARow - 2;
    if (waits < 0) return;
    this.#pausedUntil = this.#parts.clock.monotonic() + Math.min(pauseMs * 2 ** waits, pauseMsMax);
  }

  /** It ended by itself. */
  #lost(): void {
    const dialled = this.#dialled;
    if (dialled === undefined) return;
    const { logger, server } = this.#parts;
    const dropped = this.#drop(dialled, { why: "ended", said: dialled.ending() });
    void inBackground(logger, "what was left of an MCP server could not be ended", dropped, { server: server.id });
  }

  async #drop(dialled: Dialled, fault: Fault): Promise<void> {
    const { server, logger, clock } = this.#parts;
    if (this.#dialled !== dialled) return;
    this.#dialled = undefined;
    if (fault.isSessionLost !== true) {
      this.#failure = failureOf(server.id, fault);
      if (clock.monotonic() - this.#readySince > wellMs) this.#failuresInARow = 0;
      this.#count();
      logger.warn("MCP server {server} was lost: {why} {said}", { server: server.id, ...fault });
    }
    await dialled.close();
  }

  async #needsPerson(dialled: Dialled): Promise<Result<never, Failure>> {
    this.#failure = makeFailure("mcp_sign_in_needed", { server: this.#parts.server.id });
    if (this.#dialled === dialled) {
      this.#dialled = undefined;
      await dialled.close();
    }
    return failed(this.#failure);
  }

  #learn(tools: readonly ToolDefinition[]): void {
    const { known, clock, logger, server, onTools } = this.#parts;
    const isSame = this.#tools !== undefined && JSON.stringify(this.#tools) === JSON.stringify(tools);
    const { generation = "legacy" } = this;
    const learned = { at: clock.now(), generation, tools: [...tools] };
    const written = this.#kept.then(() => known.write(learned));
    this.#kept = inBackground(logger, "the tools of an MCP server could not be kept", written, { server: server.id });
    if (isSame) return;
    this.#tools = tools;
    onTools();
  }

  /** Whoever asks may stop waiting; the start goes on for the others. */
  async #whileWanted<T>(work: Promise<Result<T, Failure>>, signal: AbortSignal): Promise<Result<T, Failure>> {
    const stopped = new Promise<Result<T, Failure>>((resolve) => {
      const stop = () => resolve(failed(failureOf(this.#parts.server.id, { why: "closed", said: "" })));
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
    });
    return Promise.race([work, stopped]);
  }
}
