import { inBackground } from "../base/background.ts";
import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import { type Documents, fileKind } from "../documents/documents.ts";
import type { Log } from "../log/log.ts";
import type { Logger } from "../observe/observe.ts";
import type { OwnerId } from "../protocol/ids.ts";
import type { Scope, Search, SearchFailure } from "../search/search.ts";
import type { ConversationRow } from "../storage/storage.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import { openFileTaking } from "./files.ts";
import { messageKind, resultKind } from "./follow-log.ts";
import { openFollowing } from "./follow-logs.ts";
import { openLook } from "./look.ts";
import type { FoundSaid, Lookup, LookupQuery } from "./lookup.ts";
import { patiently } from "./patiently.ts";

type Parts = {
  readonly log: Pick<Log, "list" | "headOf" | "read">;
  readonly workspaces: Pick<Workspaces, "lookInto">;
  readonly documents: Pick<Documents, "takeUp" | "isAsFound">;
  readonly search: Search;
  readonly clock: Clock;
  readonly logger: Logger;
};

export function openLookup(parts: Parts): Lookup {
  const { log, search, clock, logger } = parts;
  const stopped = new AbortController();
  const closing = stopped.signal;
  const following = openFollowing({ log, search, closing });
  const files = openFileTaking({ ...parts, closing });
  const look = openLook({ search, isAsFound: files.isAsFound });

  /** How many conversations are behind. */
  const catchUp = async (owner: OwnerId, wanted: Followed): Promise<Result<number, SearchFailure>> => {
    const { rows, areAll, signal } = wanted;
    let behind = rows.length;
    const onFollowed = () => {
      behind -= 1;
    };
    const done = await patiently(following.catchUp(owner, { rows, areAll, onFollowed }), { clock, signal });
    return done?.ok === false ? done : ok(behind);
  };

  return {
    async find(owner, wanted) {
      const { conversation, signal } = wanted;
      const rows = conversation === undefined ? await rowsOf(log, owner) : [conversation];
      const [followed, taken] = await Promise.all([
        wanted.in === "files" ? ok(0) : catchUp(owner, { rows, areAll: conversation === undefined, signal }),
        wanted.in === "messages" ? undefined : files.takeUp(rows, signal),
      ]);
      if (!followed.ok) return followed;
      const found = await look(scopeOf(owner, wanted), wanted, rows);
      if (!found.ok) return found;
      const { isStopped, ...looked } = found.value;
      const { unsearched = [] } = taken ?? {};
      const isPartial = isStopped || taken?.isPartial === true;
      const state = await search.meaning(owner);
      const meaning = state.ok ? state.value : undefined;
      return ok({ ...looked, conversationsBehind: followed.value, unsearched, isPartial, meaning });
    },
    async said(owner, { words, except, hitsMax, signal }) {
      const rows = await rowsOf(log, owner);
      const followed = await catchUp(owner, { rows, areAll: true, signal });
      if (!followed.ok) return followed;
      const scope = { owner, kinds: [messageKind, resultKind] };
      const found = await search.having({ words, scope, except: String(except.number), hitsMax });
      if (!found.ok) return found;
      const byName = new Map(rows.map((row) => [String(row.number), row]));
      const hits = found.value.hits.flatMap(({ kind, place, at, by, text }): FoundSaid["hits"] => {
        const conversation = byName.get(place.slice(0, place.indexOf("/")));
        const who = kind === resultKind ? { tool: by } : by === "user" ? "user" : "agent";
        return conversation === undefined ? [] : [{ conversation, at, who, text }];
      });
      const others = rows.filter(({ number }) => number !== except.number).length;
      const isStopped = found.value.isStopped || followed.value > 0;
      return ok({ hits, total: found.value.total, conversations: others, isStopped });
    },
    forget(conversation) {
      if (!search.isMade()) return;
      const what = "what was said in a deleted conversation could not be taken out of the index";
      void inBackground(logger, what, following.forget(conversation));
    },
    async close() {
      stopped.abort();
      await Promise.all([following.settled(), files.settled()]);
    },
  };
}

type Followed = {
  readonly rows: readonly ConversationRow[];
  readonly areAll: boolean;
  readonly signal: AbortSignal;
};

const pageRows = 200;

/** All conversations of a user, those used last first. */
async function rowsOf(log: Parts["log"], owner: OwnerId): Promise<ConversationRow[]> {
  const rows: ConversationRow[] = [];
  for (let before: string | undefined; ; ) {
    const page = await log.list(owner, { limit: pageRows, before });
    rows.push(...page);
    before = page.at(-1)?.cursor;
    if (page.length < pageRows) return rows;
  }
}

function scopeOf(owner: OwnerId, { in: where, conversation }: LookupQuery): Scope {
  const kinds = [...(where === "messages" ? [] : [fileKind]), ...(where === "files" ? [] : [messageKind])];
  return { owner, kinds, ...(conversation && { places: [`${conversation.number}/`] }) };
}
