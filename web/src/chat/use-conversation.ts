import { useEffect, useState } from "react";
import { useYard } from "../app/yard.ts";
import { OpenConversation } from "./conversation.ts";

/** The conversation of the address, followed as long as it is shown. */
export function useConversation(id: string | undefined): OpenConversation | undefined {
  const { client } = useYard();
  const [opened, setOpened] = useState<OpenConversation>();
  useEffect(() => {
    if (id === undefined) return setOpened(undefined);
    const made = new OpenConversation(id, client);
    setOpened(made);
    return () => made.close();
  }, [id, client]);
  return opened?.id === id ? opened : undefined;
}
