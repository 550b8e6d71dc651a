import { lazy, Suspense, useEffect } from "react";
import { useYard } from "../app/yard.ts";
import { FilesOf } from "../markdown/files-of.ts";
import { FileList } from "./file-list.tsx";

/** Loaded when the first file is looked at. */
const Preview = lazy(async () => ({ default: (await import("../preview/preview.tsx")).Preview }));

export type FilesPanelProps = {
  readonly conversation: string;
  /** The file that is looked at, by its path in the workspace; empty or undefined: the list. */
  readonly file: string | undefined;
  readonly spot?: string | undefined;
  /** Grows with every change of files that the conversation tells of. */
  readonly changes?: number | undefined;
};

/** The files of a conversation, in the pane beside it: the list, or what is in one of them. */
export function FilesPanel({ conversation, file, spot, changes = 0 }: FilesPanelProps) {
  const { files } = useYard();
  const own = files.of(conversation);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of a file asks for the list anew.
  useEffect(() => {
    void own.refresh();
  }, [own, changes]);
  return (
    <FilesOf value={conversation}>
      {file === undefined || file === "" ? (
        <FileList key={conversation} conversation={conversation} files={own} />
      ) : (
        <Suspense>
          <Preview
            key={`${conversation}/${file}`}
            conversation={conversation}
            files={own}
            path={file}
            spot={spot}
            changes={changes}
          />
        </Suspense>
      )}
    </FilesOf>
  );
}
