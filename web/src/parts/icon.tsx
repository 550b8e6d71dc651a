/** Drawn with lines of one width in a square of 20; all icons stand here, so that they look like one family. */
const paths = {
  plus: "M10 4v12M4 10h12",
  inbox: "M3 11l2.5-6h9L17 11v5H3zM3 11h4l1 2h4l1-2h4",
  tasks: "M4 5h3v3H4zM4 12h3v3H4zM10 6.5h6M10 13.5h6",
  files: "M3 5h5l1.5 2H17v9H3z",
  chats: "M3 4h14v9H9l-4 3v-3H3z",
  settings: "M4 6h7M15 6h1M4 14h1M9 14h7M13 4v4M7 12v4",
  sun: "M10 6.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
  moon: "M16 11.8A6.5 6.5 0 0 1 8.2 4 6.5 6.5 0 1 0 16 11.8z",
  rail: "M3 4h14v12H3zM8 4v12",
  pane: "M3 4h14v12H3zM12 4v12",
  close: "M5 5l10 10M15 5L5 15",
  send: "M10 16V5M5.5 9.5L10 5l4.5 4.5",
  stop: "M6 6h8v8H6z",
  more: "M4.5 9.6a.4.4 0 1 1 0 .8.4.4 0 0 1 0-.8zM10 9.6a.4.4 0 1 1 0 .8.4.4 0 0 1 0-.8zM15.5 9.6a.4.4 0 1 1 0 .8.4.4 0 0 1 0-.8z",
  search: "M9 4a5 5 0 1 1 0 10A5 5 0 0 1 9 4zM12.7 12.7L17 17",
  pin: "M7 3h6M8 3v5l-2 3h8l-2-3V3M10 11v6",
  down: "M10 4v11M5.5 10.5L10 15l4.5-4.5",
  right: "M8 5l5 5-5 5",
  check: "M4.5 10.5l3.5 3.5 7.5-8",
  cross: "M6 6l8 8M14 6l-8 8",
  working: "M10 4a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM10 9a1 1 0 1 1 0 2 1 1 0 0 1 0-2z",
  clock: "M10 4a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM10 7v3.5l2 1.5",
  copy: "M7 7h9v9H7zM4 13V4h9",
  again: "M15.5 8A6 6 0 1 0 16 11.5M16 4v4h-4",
  branch: "M6 4v12M6 12c0-4 8-2 8-7M14 3v2",
  edit: "M4 16l1-4 8.5-8.5 3 3L8 15z",
  quote: "M4 14c2-.5 3-2 3-4H4V6h4v4c0 3.5-1.5 5.5-4 6zM12 14c2-.5 3-2 3-4h-3V6h4v4c0 3.5-1.5 5.5-4 6z",
  attach: "M14.5 9l-5 5a3 3 0 0 1-4.2-4.2l6-6a2 2 0 0 1 2.9 2.9l-6 6",
  warning: "M10 4l7 12H3zM10 9v3M10 14h.01",
  keyboard: "M2.5 5h15v10h-15zM5 8h.01M8 8h.01M11 8h.01M14 8h.01M6 12h8",
  picture: "M3 4h14v12H3zM3 13l4-4 3.5 3.5L13 10l4 4M7 7h.01",
  file: "M5 3h7l3 3v11H5zM12 3v3h3",
  table: "M3 4h14v12H3zM3 8h14M3 12h14M8 4v12",
  download: "M10 3v9M6 8.5L10 12l4-3.5M4 16h12",
  upload: "M10 12V3M6 6.5L10 3l4 3.5M4 16h12",
  trash: "M4 6h12M8 6V4h4v2M5.5 6l1 10h7l1-10",
  left: "M12 5l-5 5 5 5",
  chart: "M4 4v12h12M8 13v-3M11.5 13V7M15 13V9",
  steer: "M4 10h9M9 5.5L13.5 10 9 14.5M16.5 5v10",
} as const;

export type IconName = keyof typeof paths;

/** Never alone: whoever shows one names it in words, too. */
export function Icon({ name, size = 20 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg className="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
