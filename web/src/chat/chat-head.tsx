import { countText, durationText } from "../app/format.ts";
import { Link } from "../app/link.tsx";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { ConversationMenu } from "../conversations/conversation-menu.tsx";
import { amountText, shareOf } from "../parts/budget-lines.tsx";
import { useWords } from "../words/words.ts";
import { useActions } from "./actions.ts";
import type { ConversationView, OpenConversation } from "./conversation.ts";
import { useSince } from "./since.ts";

/** Title, what runs, how full the window is, and what can be done with the whole conversation. */
export function ChatHead({ opened }: { readonly opened: OpenConversation }) {
  const words = useWords();
  const view = useStore(opened.view);
  const { compact } = useActions(opened);
  const { items } = useStore(useYard().conversations.view);
  const listed = items.find(({ id }) => id === opened.id);
  const title = view.title || listed?.title || words.conversations.untitled;
  return (
    <>
      <h1 className="chat-title" title={title}>
        {title}
      </h1>
      <RunStatus view={view} />
      <span className="composer-gap" />
      <BudgetMeter view={view} conversation={opened.id} />
      <TokenMeter view={view} />
      {view.phase === "ready" && (
        <ConversationMenu
          id={opened.id}
          title={title}
          isPinned={listed?.pinned === true}
          isOpen
          more={[{ label: words.chat.compact, run: () => void compact() }]}
        />
      )}
    </>
  );
}

function RunStatus({ view }: { readonly view: ConversationView }) {
  const { chat, language } = useWords();
  const { run, decisions } = view;
  const since = useSince(run?.startedAt);
  if (run === undefined) return null;
  const state = run.isStopping ? chat.stopping : decisions.length > 0 ? chat.waitsForYou : chat.running;
  const step = run.step > 0 ? ` · ${chat.step({ step: run.step })}` : "";
  return (
    <span className="run-status" data-waiting={decisions.length > 0}>
      {state}
      {step} · {durationText(since ?? 0, language)}
    </span>
  );
}

type BudgetMeterProps = { readonly view: ConversationView; readonly conversation: string };

/** What is nearest to its limit, of the conversation or of the turn that runs; nothing where there is no limit. */
function BudgetMeter({ view, conversation }: BudgetMeterProps) {
  const words = useWords();
  const budget = view.state?.budget;
  if (budget === undefined) return null;
  const shares = [budget, ...(budget.turn === null ? [] : [budget.turn])].flatMap(shareOf);
  const nearest = shares.filter(({ kind }) => kind !== "agents").toSorted((a, b) => b.share - a.share)[0];
  if (nearest === undefined) return null;
  const { kind, spent, limit, share } = nearest;
  const text = words.chat.budgetUsed({
    kind: words.team.budgetKinds[kind],
    spent: amountText(kind, spent, words),
    limit: amountText(kind, limit, words),
  });
  return (
    <Link className="tokens" to={{ page: "tasks", conversation, agent: "root" }} title={text} label={text}>
      <meter aria-label={text} min={0} max={1} high={0.8} optimum={0} value={share} />
      <span aria-hidden="true">
        {words.chat.budgetLeft({ amount: amountText(kind, Math.max(0, limit - spent), words) })}
      </span>
    </Link>
  );
}

function TokenMeter({ view }: { readonly view: ConversationView }) {
  const { chat, language } = useWords();
  const tokens = view.state?.tokens;
  if (tokens === undefined || tokens.window === 0) return null;
  const used = Math.min(1, view.tokensUsed / tokens.window);
  const text = chat.tokensUsed({
    used: countText(view.tokensUsed, language),
    window: countText(tokens.window, language),
    percent: Math.round(used * 100),
  });
  return (
    <span className="tokens" title={text}>
      <meter aria-label={text} min={0} max={1} high={0.8} optimum={0} value={used} />
      <span aria-hidden="true">{chat.windowUsed({ percent: Math.round(used * 100) })}</span>
    </span>
  );
}
