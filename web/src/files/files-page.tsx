import { useEffect, useState } from "react";
import { useStore } from "../app/store.ts";
import { useYard } from "../app/yard.ts";
import { useWords } from "../words/words.ts";
import { DropZone } from "./drop-zone.tsx";
import { FilesPanel } from "./files-panel.tsx";

/** The files of a conversation over the whole page; of the newest one, until another is chosen. */
export function FilesPage() {
  const { files: words, conversations: other } = useWords();
  const { conversations, files } = useYard();
  const { items } = useStore(conversations.view);
  const [chosen, setChosen] = useState<string>();
  useEffect(() => {
    void conversations.refresh();
  }, [conversations]);
  const id = chosen ?? items[0]?.id;
  return (
    <main className="page files-page" id="place">
      <h1>{words.title}</h1>
      <p className="about">{id === undefined ? words.noConversation : words.about}</p>
      {id !== undefined && (
        <>
          <label className="files-choice">
            {words.whichConversation}
            <select className="field" value={id} onChange={({ target }) => setChosen(target.value)}>
              {items.map(({ id: one, title }) => (
                <option key={one} value={one}>
                  {title || other.untitled}
                </option>
              ))}
            </select>
          </label>
          <FilesPanel conversation={id} file={undefined} />
          <DropZone onFiles={(given) => files.of(id).upload(given)} />
        </>
      )}
    </main>
  );
}
