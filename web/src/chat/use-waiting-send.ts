import { useEffect, useRef, useState } from "react";

type Mode = "queue" | "steer";
type Wanted = {
  /** Files are on their way that belong to the message. */
  readonly isBusy: boolean;
  /** One of them did not get there: somebody has to see to it first. */
  readonly hasFailed: boolean;
  readonly send: (mode: Mode) => void;
};

/** Whoever sends before the files are there need not send again: the message leaves with the last of them. */
export function useWaitingSend({ isBusy, hasFailed, send }: Wanted) {
  const [waiting, setWaiting] = useState<Mode>();
  const latest = useRef(send);
  useEffect(() => {
    latest.current = send;
  });
  useEffect(() => {
    if (waiting === undefined || isBusy) return;
    setWaiting(undefined);
    if (!hasFailed) latest.current(waiting);
  }, [waiting, isBusy, hasFailed]);
  return {
    isWaiting: waiting !== undefined,
    wantsToSend: (mode: Mode) => (isBusy ? setWaiting(mode) : send(mode)),
    /** They go on writing: it is not to leave by itself. */
    forget: () => setWaiting(undefined),
  };
}
