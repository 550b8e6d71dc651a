import { Button } from "../parts/button.tsx";
import { useWords } from "../words/words.ts";

/** Why something cannot be shown, in the server's words. */
export function Trouble({ detail, onRetry }: { readonly detail: string; readonly onRetry?: (() => void) | undefined }) {
  const words = useWords().preview;
  return (
    <div className="about" role="alert">
      <p>{detail}</p>
      {onRetry !== undefined && <Button onClick={onRetry}>{words.retry}</Button>}
    </div>
  );
}
