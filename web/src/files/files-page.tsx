import { useState } from "react";
import { useYard } from "../app/yard.ts";
import { ConversationChoice, useListed } from "../conversations/conversation-choice.tsx";
import { useWords } from "../words/words.ts";
import { DropZone } from "./drop-zone.tsx";
import { FilesPanel } from "./files-panel.tsx";

/** The files of a conversation over the whole page; of the newest one, until another is chosen. */
export function FilesPage() {
  const words = useWords().files;
  const { files } = useYard();
  const { items } = useListed();
  const [chosen, setChosen] = useState<string>();
  const id = chosen ?? items[0]?.id;
  return (
    <main className="page files-page" id="place">
      <h1>{words.title}</h1>
      <p className="about">{id === undefined ? words.noConversation : words.about}</p>
      {id !== undefined && (
        <>
          <ConversationChoice label={words.whichConversation} chosen={id} onChoose={setChosen} />
          <FilesPanel conversation={id} file={undefined} />
          <DropZone onFiles={(given) => files.of(id).upload(given)} />
        </>
      )}
    </main>
  );
}
