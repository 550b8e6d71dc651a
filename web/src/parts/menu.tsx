import { type KeyboardEvent, useId, useRef } from "react";
import { Icon } from "./icon.tsx";

export type MenuEntry = { readonly label: string; readonly run: () => void; readonly isDanger?: boolean };

type MenuProps = { readonly label: string; readonly entries: readonly MenuEntry[] };

/** A button with a list of actions. The platform's own popover closes it; arrows, Home and End move in it. */
export function Menu({ label, entries }: MenuProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const items = () => [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  const open = () => {
    if (list.current !== null && button.current !== null) placeBelow(list.current, button.current);
    items()[0]?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const all = items();
    const at = all.findIndex((item) => item.contains(document.activeElement));
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: all.length - 1,
    };
    const next = steps[event.key];
    if (event.key === "Tab") list.current?.hidePopover();
    if (next === undefined) return;
    event.preventDefault();
    all[(next + all.length) % all.length]?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className="icon-button"
        aria-haspopup="menu"
        aria-label={label}
        title={label}
        popoverTarget={id}
      >
        <Icon name="more" />
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={label}
        className="menu"
        onKeyDown={move}
        onToggle={(event) => {
          if (event.newState === "open") open();
        }}
      >
        {entries.map(({ label: text, run, isDanger }) => (
          <button
            key={text}
            type="button"
            role="menuitem"
            tabIndex={-1}
            data-danger={isDanger}
            onClick={() => {
              list.current?.hidePopover();
              run();
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </>
  );
}

/** Below the button, and inside of the window. */
function placeBelow(box: HTMLElement, button: HTMLElement): void {
  const from = button.getBoundingClientRect();
  const top = Math.min(from.bottom + 4, innerHeight - box.offsetHeight - 8);
  const left = Math.max(8, Math.min(from.left, innerWidth - box.offsetWidth - 8));
  box.style.top = `${Math.max(8, top)}px`;
  box.style.left = `${left}px`;
}
