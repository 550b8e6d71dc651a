/** Whether this browser tells of what waits; `unable`: it has no such thing, or not at this address. */
export type Notifying = "off" | "on" | "refused" | "unable";

export function notifying(): Notifying {
  if (!("Notification" in globalThis) || !globalThis.isSecureContext) return "unable";
  if (Notification.permission === "default") return "off";
  return Notification.permission === "granted" ? "on" : "refused";
}

/** Only where somebody clicked for it. */
export async function askToNotify(): Promise<Notifying> {
  if (notifying() === "off") await Notification.requestPermission();
  return notifying();
}

export type News = { readonly title: string; readonly body: string; readonly id: string; readonly onOpen: () => void };

/** Tabs of one browser tell the same once: the newest of an id takes the place of the others. */
export function tell({ title, body, id, onOpen }: News): void {
  if (notifying() !== "on") return;
  const shown = notificationOf(title, { body, tag: id });
  shown?.addEventListener("click", () => {
    globalThis.focus();
    shown.close();
    onOpen();
  });
}

/** Phones want a worker for it, and throw without one. */
function notificationOf(title: string, options: NotificationOptions): Notification | undefined {
  try {
    return new Notification(title, options);
  } catch {
    return undefined;
  }
}
