import type { MouseEvent, ReactNode } from "react";
import { addressOf, go, type Place } from "./router.ts";

type LinkProps = {
  readonly to: Place;
  readonly className?: string | undefined;
  readonly current?: boolean | undefined;
  readonly title?: string | undefined;
  readonly label?: string | undefined;
  readonly onGone?: (() => void) | undefined;
  readonly children: ReactNode;
};

/** A real link, so that it can be opened in another tab; a plain click stays in the page. */
export function Link({ to, className, current, title, label, onGone, children }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
    onGone?.();
  };
  return (
    <a
      href={addressOf(to)}
      onClick={follow}
      {...{ className, title }}
      aria-current={current ? "page" : undefined}
      aria-label={label}
    >
      {children}
    </a>
  );
}
