import { useCallback, useEffect, useState } from "react";
import type { Result } from "../../../src/base/result.ts";
import type { Client, ClientFailure } from "../../../src/client/client.ts";
import { useYard } from "../app/yard.ts";

export type Loaded<T> = {
  readonly value: T | undefined;
  readonly trouble: string;
  readonly reload: () => void;
};

/** Asks when it is first shown, and again whenever `reload` is called; the old answer stays until then. */
export function useLoaded<T>(ask: (client: Client) => Promise<Result<T, ClientFailure>>): Loaded<T> {
  const { client } = useYard();
  const [value, setValue] = useState<T>();
  const [trouble, setTrouble] = useState("");
  const reload = useCallback(() => {
    void ask(client()).then((answer) => {
      if (answer.ok) setValue(answer.value);
      setTrouble(answer.ok ? "" : answer.failure.detail);
    });
  }, [ask, client]);
  useEffect(reload, [reload]);
  return { value, trouble, reload };
}

/** Does something, says at the edge of the page why it did not work, and looks again. */
export function useDoing(reload: () => void) {
  const { client, toasts } = useYard();
  return async <T>(ask: (client: Client) => Promise<Result<T, ClientFailure>>): Promise<T | undefined> => {
    const answer = await ask(client());
    if (!answer.ok) toasts.tell({ kind: "trouble", text: answer.failure.detail });
    reload();
    return answer.ok ? answer.value : undefined;
  };
}
