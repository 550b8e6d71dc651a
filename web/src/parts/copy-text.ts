/** Puts a text into the clipboard, also on a page without TLS, which browsers give no `navigator.clipboard`. False: it could not. */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  const had = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  Object.assign(field.style, { position: "fixed", opacity: "0" });
  // Beside what was pressed: outside of an open dialog nothing can be selected.
  (had?.parentElement ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  if (had instanceof HTMLElement) had.focus();
  return isCopied;
}
