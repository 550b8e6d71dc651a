import { type ReactNode, useEffect, useRef } from "react";
import { useWords } from "../words/words.ts";
import { IconButton } from "./button.tsx";

type DialogProps = { readonly title: string; readonly onClose: () => void; readonly children: ReactNode };

/** The platform's own dialog: it holds the focus, and Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const words = useWords().shell;
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current: dialog } = box;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={box} className="dialog" aria-label={title} onClose={onClose}>
      <header className="dialog-head">
        <h2>{title}</h2>
        <IconButton icon="close" label={words.close} onClick={onClose} />
      </header>
      {children}
    </dialog>
  );
}
