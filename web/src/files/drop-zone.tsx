import { useEffect, useRef, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { useWords } from "../words/words.ts";
import { filesIn, hasFiles } from "./dropped.ts";

/** Files may be dropped anywhere on the page; while some are held over it, it says so. */
export function DropZone({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const words = useWords().files;
  const [isOver, setOver] = useState(false);
  const take = useRef(onFiles);
  take.current = onFiles;
  useEffect(() => {
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      depth += 1;
      setOver(true);
    };
    const over = (event: DragEvent) => {
      if (hasFiles(event.dataTransfer)) event.preventDefault();
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return;
      depth = Math.max(0, depth - 1);
      setOver(depth > 0);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      take.current(filesIn(event.dataTransfer));
    };
    const pairs = [
      ["dragenter", enter],
      ["dragover", over],
      ["dragleave", leave],
      ["drop", drop],
    ] as const;
    for (const [name, listen] of pairs) addEventListener(name, listen);
    return () => {
      for (const [name, listen] of pairs) removeEventListener(name, listen);
    };
  }, []);
  if (!isOver) return null;
  return (
    <div className="drop-zone">
      <p>
        <Icon name="upload" />
        {words.drop}
      </p>
    </div>
  );
}
