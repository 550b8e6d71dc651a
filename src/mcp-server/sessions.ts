import { type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { Clock } from "../base/clock.ts";
import { untilTaken } from "../base/gate.ts";
import type { Ids } from "../base/ids.ts";
import { mcpLimits } from "./limits.ts";

/** A client of the older generation, from its `initialize` on. */
export type Session = {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Answers and streams that are on their way. */
  uses: number;
  endIdle: () => void;
};

type SessionLimits = Readonly<Record<"sessionsPerUserMax" | "sessionsMax" | "sessionIdleMs", number>>;
type SessionParts = { readonly clock: Clock; readonly ids: Ids; readonly limits?: SessionLimits };

/** The MCP sessions there are. They live in memory alone: after a restart they are not found, and clients begin anew. */
export class Sessions {
  readonly #open = new Map<string, Session>();
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #limits: SessionLimits;

  constructor({ clock, ids, limits = mcpLimits }: SessionParts) {
    this.#clock = clock;
    this.#ids = ids;
    this.#limits = limits;
  }

  /** One of somebody else is not there. */
  find(id: string, owner: string): Session | undefined {
    const session = this.#open.get(id);
    return session?.owner === owner ? session : undefined;
  }

  /** Undefined where all there may be are in use. One that nobody uses at the moment makes room. */
  async begin(owner: string, server: McpServer): Promise<Session | undefined> {
    const own = [...this.#open].filter(([, session]) => session.owner === owner);
    if (own.length >= this.#limits.sessionsPerUserMax && !(await this.#endOldest(own))) return undefined;
    if (this.#open.size >= this.#limits.sessionsMax && !(await this.#endOldest([...this.#open]))) return undefined;
    const id = this.#ids.uuid();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessionclosed: () => this.#forget(id),
    });
    await server.connect(transport);
    const session: Session = { owner, transport, uses: 0, endIdle: () => {} };
    this.#open.set(id, session);
    return session;
  }

  /** Answers for it; while the answer is on its way the session is in use. */
  async use(session: Session, answer: () => Promise<Response>): Promise<Response> {
    session.uses += 1;
    session.endIdle();
    return untilTaken(answer(), () => this.#letGo(session));
  }

  async close(): Promise<void> {
    for (const [id, { transport }] of [...this.#open]) {
      this.#forget(id);
      await transport.close();
    }
  }

  #letGo(session: Session): void {
    session.uses -= 1;
    if (session.uses > 0) return;
    const { sessionId: id } = session.transport;
    // Nothing came of its `initialize`.
    if (id === undefined) return void this.#end(session);
    if (!this.#open.has(id)) return;
    // The one that was used last stands last.
    this.#open.delete(id);
    this.#open.set(id, session);
    session.endIdle = this.#clock.after(this.#limits.sessionIdleMs, () => void this.#end(session));
  }

  async #endOldest(sessions: readonly [string, Session][]): Promise<boolean> {
    const unused = sessions.find(([, { uses }]) => uses === 0);
    if (unused === undefined) return false;
    await this.#end(unused[1]);
    return true;
  }

  async #end(session: Session): Promise<void> {
    for (const [id, other] of this.#open) if (other === session) this.#forget(id);
    await session.transport.close();
  }

  #forget(id: string): void {
    this.#open.get(id)?.endIdle();
    this.#open.delete(id);
  }
}
