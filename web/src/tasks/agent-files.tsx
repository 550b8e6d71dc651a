import { useEffect, useState } from "react";
import type { AgentInfo } from "../../../src/protocol/agent-routes.ts";
import type { FileEntry } from "../../../src/protocol/resources.ts";
import { bytesText } from "../app/format.ts";
import { Link } from "../app/link.tsx";
import { useStore } from "../app/store.ts";
import { useYard, type Yard } from "../app/yard.ts";
import type { OpenConversation } from "../chat/conversation.ts";
import { shownPath } from "../files/file-names.ts";
import { downloadAddress } from "../markdown/files-of.ts";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";

type AgentFilesProps = { readonly opened: OpenConversation; readonly agent: AgentInfo };

/** The files that a task works with; those of its end are among the conversation's. */
export function AgentFiles({ opened, agent }: AgentFilesProps) {
  const { team: words, language } = useWords();
  const yard = useYard();
  const changes = useStore(opened.filesChanged);
  const [files, setFiles] = useState<readonly FileEntry[]>();
  const { workspace, folder, id } = agent;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of a file asks for the list anew.
  useEffect(() => {
    if (workspace === null) return undefined;
    let isWanted = true;
    void listFiles(yard, opened.id, id).then((listed) => isWanted && setFiles(listed));
    return () => {
      isWanted = false;
    };
  }, [yard, opened, id, workspace, changes]);
  if (workspace === null)
    return (
      <p>
        <Link to={{ page: "chat", conversation: opened.id, file: "" }}>{words.filesOfCaller}</Link>
      </p>
    );
  return (
    <>
      {folder !== null && (
        <p>
          <Link to={{ page: "chat", conversation: opened.id, file: "" }}>{words.filesMoved({ folder })}</Link>
        </p>
      )}
      {files?.length === 0 && <p className="meta">{words.noFiles}</p>}
      <ul className="call-files task-files">
        {files?.map(({ path, bytes }) => (
          <li key={path}>
            <a className="file-chip" href={downloadAddress(opened.id, path, id)} download>
              <Icon name="download" size={16} />
              {shownPath(path)}
              <span className="file-note">{bytesText(bytes, language)}</span>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

const foldersMax = 20;
const filesMax = 200;

async function listFiles({ client }: Yard, conversation: string, agent: string): Promise<FileEntry[]> {
  const files: FileEntry[] = [];
  const folders = ["."];
  for (let at = 0; at < Math.min(folders.length, foldersMax) && files.length < filesMax; at += 1) {
    const query = { path: folders[at] ?? ".", agent };
    const listed = await client().call("listFiles", { params: { id: conversation }, query });
    if (!listed.ok) continue;
    for (const entry of listed.value.items) {
      if (entry.type === "file") files.push(entry);
      if (entry.type === "folder" && entry.path !== "skills") folders.push(entry.path);
    }
  }
  return files.slice(0, filesMax);
}
