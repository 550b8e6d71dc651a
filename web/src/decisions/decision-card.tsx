import type { DecisionItem } from "../chat/items.ts";

export type DecisionCardProps = { readonly conversation: string; readonly item: DecisionItem };

/** What a person is asked in a conversation, with its answer once there is one. */
export function DecisionCard({ item }: DecisionCardProps) {
  const { asked } = item;
  return (
    <section className="card" aria-label={asked.tool}>
      <strong>{asked.question ?? asked.tool}</strong>
      <pre>{asked.arguments}</pre>
    </section>
  );
}
