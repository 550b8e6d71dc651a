export type MarkdownProps = {
  readonly text: string;
  /** It is still being written: the last block may be half. */
  readonly isOpen?: boolean | undefined;
};

/** The text of a model. Nothing in it is ever taken for markup of ours. */
export function Markdown({ text }: MarkdownProps) {
  return <div className="prose">{text}</div>;
}
