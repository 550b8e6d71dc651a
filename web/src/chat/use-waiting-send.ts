import { useEffect, useRef } from "react";

export type Mode = "queue" | "steer";
type Wanted = {
  /** Files are on their way that belong to the message. */
  readonly isBusy: boolean;
  /** One of them did not get there: somebody has to see to it first. */
  readonly hasFailed: boolean;
  /** Somebody has sent it already. */
  readonly waiting: Mode | undefined;
  readonly wait: (mode: Mode | undefined) => void;
};

/** Whoever sends before the files are there need not send again: the message leaves with the last of them. */
export function useWaitingSend({ isBusy, hasFailed, waiting, wait }: Wanted, send: (mode: Mode) => void) {
  const latest = useRef({ send, wait });
  useEffect(() => {
    latest.current = { send, wait };
  });
  useEffect(() => {
    if (waiting === undefined || isBusy) return;
    latest.current.wait(undefined);
    if (!hasFailed) latest.current.send(waiting);
  }, [waiting, isBusy, hasFailed]);
  return {
    wantsToSend: (mode: Mode) => (isBusy ? wait(mode) : send(mode)),
    /** They go on writing: it is not to leave by itself. */
    forget: () => waiting !== undefined && wait(undefined),
  };
}
