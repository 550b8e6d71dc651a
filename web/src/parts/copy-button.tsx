import { useState } from "react";
import { useWords } from "../words/words.ts";
import { IconButton } from "./button.tsx";
import { copyText } from "./copy-text.ts";

const saidMs = 1_500;

/** Copies a text, and says so. */
export function CopyButton({ text }: { readonly text: string }) {
  const words = useWords().shell;
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(text))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), saidMs);
  };
  return (
    <IconButton
      icon={isCopied ? "check" : "copy"}
      label={isCopied ? words.copied : words.copy}
      onClick={() => void copy()}
    />
  );
}
