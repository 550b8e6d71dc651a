import { Link } from "../app/link.tsx";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";

/** Opens the files of a conversation beside it, and closes them again. */
export function FilesButton({ conversation, isOpen }: { readonly conversation: string; readonly isOpen: boolean }) {
  const words = useWords().files;
  return (
    <Link
      to={{ page: "chat", conversation, file: isOpen ? undefined : "" }}
      className="icon-button"
      label={words.title}
      title={words.title}
      current={isOpen}
    >
      <Icon name="files" />
    </Link>
  );
}
