import {
  lazy,
  memo,
  type ReactNode,
  type RefObject,
  Suspense,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { VList, type VListHandle } from "virtua";
import { useStore } from "../app/store.ts";
import { DecisionCard } from "../decisions/decision-card.tsx";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { AnswerRow, LiveRow } from "./answer-row.tsx";
import { CallCard } from "./call-card.tsx";
import { CallGroup } from "./call-group.tsx";
import { CompactionRow } from "./compaction-row.tsx";
import type { ConversationView, OpenConversation } from "./conversation.ts";
import { EndRow } from "./end-row.tsx";
import type { CallItem, Item } from "./items.ts";
import { MailRow } from "./mail-row.tsx";
import { NoticeRow } from "./notice-row.tsx";
import { type Row, rowsOf } from "./rows.ts";
import { useFound } from "./use-found.ts";
import { UserRow } from "./user-row.tsx";

/** Nearer to the end than this, one follows it. */
const nearPixels = 48;
/** Nearer to the beginning than this, older ones are asked for. */
const olderPixels = 800;

type MessageListProps = {
  readonly opened: OpenConversation;
  /** A place in the log that is looked for. */
  readonly at: number | undefined;
};

export function MessageList({ opened, at }: MessageListProps) {
  const view = useStore(opened.view);
  const words = useWords().chat;
  if (view.phase === "failed") return <p className="greeting">{view.failure?.detail ?? words.notFound}</p>;
  if (view.phase === "deleted") return <p className="greeting">{words.deleted}</p>;
  if (view.phase === "loading") return <Loading />;
  return <Rows opened={opened} view={view} at={at} />;
}

const loadingAfterMs = 300;

/** What takes a moment says so; what takes none does not flicker. */
function Loading() {
  const words = useWords().chat;
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), loadingAfterMs);
    return () => clearTimeout(timer);
  }, []);
  return <p className="greeting">{isLate && words.loading}</p>;
}

type RowsProps = MessageListProps & { readonly view: ConversationView };
type Shown = Row | { readonly kind: "older"; readonly key: "older" } | { readonly kind: "live"; readonly key: "live" };

function Rows({ opened, view, at }: RowsProps) {
  const words = useWords().chat;
  const { items, queue, run, hasOlder } = view;
  const list = useRef<VListHandle>(null);
  // A message that nothing keeps waiting stands where it will stand.
  const first = run === undefined ? queue[0]?.item : undefined;
  const rows = useMemo((): Shown[] => {
    const all = rowsOf(first === undefined ? items : [...items, first]);
    return [
      ...(hasOlder ? [{ kind: "older", key: "older" } as const] : []),
      ...all,
      { kind: "live", key: "live" } as const,
    ];
  }, [items, first, hasOlder]);
  const isShifted = useIsShifted(rows);
  const { following, isFollowing, onScroll, toEnd, letGo } = useFollowing(list, rows.length, at !== undefined);
  // Whoever says something wants to see what comes of it, wherever they were reading.
  const justSaid = queue.findLast(({ item }) => item.seq === 0)?.item.id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another message is what it is about.
  useLayoutEffect(() => {
    if (justSaid !== undefined) toEnd();
  }, [justSaid]);
  const found = useFound({ opened, at, rows, list, onGone: letGo });
  const box = useRef<HTMLDivElement>(null);
  // Also when rows grow that stood there before: cards whose parts come a moment later, agents at work. Who looks for a
  // place in it stays there.
  useResize(box, () => following.current && toEnd(), at === undefined ? ".message-list > *" : undefined);
  const lastEnd = items.findLast((item) => item.kind === "end");
  const isBusy = run !== undefined;
  return (
    <div className="message-list-box" ref={box}>
      <VList
        ref={list}
        className="message-list"
        role="region"
        aria-label={words.messageList}
        aria-busy={isBusy}
        tabIndex={0}
        data={rows}
        shift={isShifted}
        bufferSize={600}
        onScroll={(offset) => {
          onScroll();
          if (hasOlder && offset < olderPixels) void opened.loadOlder();
        }}
      >
        {(row) => (
          <div key={row.key} className="row" data-found={row.key === found ? "true" : undefined}>
            {row.kind === "older" ? (
              <Older opened={opened} />
            ) : row.kind === "live" ? (
              <Growing onGrown={() => following.current && toEnd()}>
                <LiveRow opened={opened} />
              </Growing>
            ) : (
              <MessageRow
                row={row}
                opened={opened}
                isBusy={isBusy}
                isLast={row.kind === "item" && row.item === lastEnd && !isBusy}
              />
            )}
          </div>
        )}
      </VList>
      {!isFollowing && <ToEnd onClick={toEnd} />}
    </div>
  );
}

/** Rows came in before the first one: what is looked at must not move. */
function useIsShifted(rows: readonly Shown[]): boolean {
  const firstKey = rows.find(({ kind }) => kind !== "older")?.key;
  const before = useRef(firstKey);
  const isShifted = before.current !== firstKey && rows.some(({ key }) => key === before.current);
  useEffect(() => {
    before.current = firstKey;
  }, [firstKey]);
  return isShifted;
}

/** Whoever stands at the end stays there while it grows; whoever has scrolled up is left alone. */
function useFollowing(list: RefObject<VListHandle | null>, count: number, isLooking: boolean) {
  const current = useRef(true);
  const offset = useRef(0);
  const [isOn, setOn] = useState(true);
  const toEnd = () => {
    current.current = true;
    setOn(true);
    list.current?.scrollToIndex(count - 1, { align: "end" });
  };
  const onScroll = () => {
    const { current: handle } = list;
    if (handle === null) return;
    const { scrollOffset } = handle;
    const rest = handle.scrollSize - handle.viewportSize - scrollOffset;
    // Rows that turn out to be higher than they seemed move the end away: only who goes up, or looks for a place, lets go.
    const isMoved = current.current && !isLooking && scrollOffset >= offset.current;
    current.current = rest < nearPixels || isMoved;
    offset.current = scrollOffset;
    setOn(current.current);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another row is what it is about.
  useLayoutEffect(() => {
    if (current.current) list.current?.scrollToIndex(count - 1, { align: "end" });
  }, [count]);
  const letGo = useCallback(() => {
    current.current = false;
    setOn(false);
  }, []);
  return { following: current, isFollowing: isOn, onScroll, toEnd, letGo };
}

function Older({ opened }: { readonly opened: OpenConversation }) {
  const words = useWords().chat;
  return (
    <p className="older">
      <Button onClick={() => void opened.loadOlder()}>{words.older}</Button>
    </p>
  );
}

type GrowingProps = { readonly children: ReactNode; readonly onGrown: () => void };

/** Tells when what is in it has become larger. */
function Growing({ children, onGrown }: GrowingProps) {
  const box = useRef<HTMLDivElement>(null);
  useResize(box, onGrown);
  return <div ref={box}>{children}</div>;
}

function useResize(box: RefObject<HTMLElement | null>, onResize: () => void, within?: string): void {
  const told = useRef(onResize);
  useEffect(() => {
    told.current = onResize;
  });
  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(() => told.current());
    observer.observe(box.current);
    const inner = within === undefined ? null : box.current.querySelector(within);
    if (inner !== null) observer.observe(inner);
    return () => observer.disconnect();
  }, [box, within]);
}

function ToEnd({ onClick }: { readonly onClick: () => void }) {
  const words = useWords().chat;
  return (
    <button type="button" className="to-end" onClick={onClick}>
      <Icon name="down" size={16} />
      {words.toEnd}
    </button>
  );
}

type MessageRowProps = {
  readonly row: Row;
  readonly opened: OpenConversation;
  readonly isBusy: boolean;
  readonly isLast: boolean;
};

/** Drawn again only when its own item has changed. */
const MessageRow = memo(function MessageRow({ row, opened, isBusy, isLast }: MessageRowProps) {
  if (row.kind === "calls") return <CallGroup opened={opened} calls={row.calls} />;
  return <ItemRow item={row.item} opened={opened} isBusy={isBusy} isLast={isLast} />;
}, isSame);

function isSame(before: MessageRowProps, after: MessageRowProps): boolean {
  const isSameRow =
    before.row.kind === "item" && after.row.kind === "item"
      ? before.row.item === after.row.item
      : before.row === after.row;
  return isSameRow && before.isBusy === after.isBusy && before.isLast === after.isLast;
}

/** Loaded when the first call makes one. */
const AgentTree = lazy(async () => ({ default: (await import("./agent-tree.tsx")).AgentTree }));

function CallWithAgents({ opened, item }: { readonly opened: OpenConversation; readonly item: CallItem }) {
  return (
    <>
      <CallCard opened={opened} item={item} />
      {item.agents.length > 0 && (
        <Suspense>
          <AgentTree opened={opened} ids={item.agents} />
        </Suspense>
      )}
    </>
  );
}

type ItemRowProps = Omit<MessageRowProps, "row"> & { readonly item: Item };

function ItemRow({ item, opened, isBusy, isLast }: ItemRowProps) {
  switch (item.kind) {
    case "user":
      return <UserRow opened={opened} item={item} isBusy={isBusy} />;
    case "answer":
      return <AnswerRow item={item} />;
    case "call":
      return <CallWithAgents opened={opened} item={item} />;
    case "decision":
      return <DecisionCard conversation={opened.id} item={item} />;
    case "compaction":
      return <CompactionRow opened={opened} item={item} canUndo={!isBusy} />;
    case "notice":
      return <NoticeRow item={item} />;
    case "mail":
      return <MailRow item={item} team={opened.view.get().team} />;
    case "end":
      return <EndRow opened={opened} item={item} isLast={isLast} />;
  }
}
