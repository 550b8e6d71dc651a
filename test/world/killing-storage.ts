import type { Storage } from "../../src/storage/storage.ts";

type Options = {
  /** None, and nothing that says when: it is only watched. */
  readonly afterWrites?: number | undefined;
  /** What ends everything; this process, if nothing else is said. */
  readonly kill?: () => void;
  /** Hears of every write that is on disk: run a scenario once with this to know how often it can be killed. */
  readonly onWritten?: (name: string, given: readonly unknown[]) => void;
  /** Whether this write is to be the last one. */
  readonly isLast?: (name: string, given: readonly unknown[]) => boolean;
};

/**
 * Ends the process, as a power cut would, when the n-th write is on disk and nobody has heard of it yet. What was refused
 * does not count. From then on nothing is answered and nothing is stored: whoever collects several such ends in one
 * process before it is killed has in each of them what a kill at that moment leaves.
 */
export function killingStorage(storage: Storage, options: Options): Storage {
  const { afterWrites, kill = killSelf, onWritten, isLast = () => writes === afterWrites } = options;
  let writes = 0;
  let isOver = false;
  const unlessOver = <T>(answer: T): T | Promise<never> => (isOver ? new Promise<never>(() => {}) : answer);
  const written = (name: string, given: readonly unknown[]) => {
    writes += 1;
    onWritten?.(name, given);
    if (!isLast(name, given)) return;
    isOver = true;
    kill();
  };
  return new Proxy(storage, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function" || listens.has(String(name))) return method;
      return async (...given: unknown[]) => {
        await unlessOver(undefined);
        const answer: unknown = await Reflect.apply(method, target, given);
        if (!isOver && isWrite(String(name)) && !isRefused(answer)) written(String(name), given);
        return unlessOver(answer);
      };
    },
  });
}

function killSelf(): void {
  process.kill(process.pid, "SIGKILL");
}

/** Whether this method of a storage changes it. */
export function isWrite(name: string): boolean {
  return !reads.has(name) && !listens.has(name);
}

export function isRefused(answer: unknown): boolean {
  return answer === false || Object(answer).ok === false;
}

const listens: ReadonlySet<string> = new Set<keyof Storage>(["onAppend", "onTold"]);

/** Everything else changes the database: a new method of the port counts until it is named here. */
const reads: ReadonlySet<string> = new Set<keyof Storage>([
  ...(["findConversation", "conversationByNumber", "ownersOfConversation", "findByPrefix"] as const),
  ...(["listConversations", "searchConversations", "unusedByCallers", "read", "readBack", "headOf"] as const),
  ...(["received", "dueWakes", "getBlob", "openDecisions", "listRules", "listMemory", "findWorkspace"] as const),
  ...(["agentsOf", "unusedWorkspaces", "orphanedWorkspaces", "listTrash", "findTrash", "expiredTrash"] as const),
  ...(["findSession", "listSessions", "findExecution", "ownerOfExecution", "listExecutions"] as const),
  ...(["openExecutions", "findUser", "findUserBySubject", "listUsers", "ownsAnything", "findKey"] as const),
  ...([
    "listKeys",
    "beat",
    "homeOf",
    "addressSeen",
    "numberOfFolder",
    "tell",
    "findSignIn",
    "findSecret",
    "listSecrets",
    "listToolboxes",
    "listBoxTools",
    "copyTo",
    "count",
    "check",
    "close",
  ] as const),
]);
