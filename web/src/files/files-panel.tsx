import { useWords } from "../words/words.ts";

export type FilesPanelProps = {
  readonly conversation: string;
  /** The file that is looked at, by its path in the workspace. */
  readonly file: string | undefined;
};

/** The files of a conversation, in the pane beside it. */
export function FilesPanel({ file }: FilesPanelProps) {
  const words = useWords().files;
  return (
    <section className="page" aria-label={words.title}>
      <h2>{words.title}</h2>
      <p className="about">{file ?? words.about}</p>
    </section>
  );
}
