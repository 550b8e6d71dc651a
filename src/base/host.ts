/** As a socket wants it: `[::1]` is `::1`. */
export function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}

/** As it stands before a port: `::1` is `[::1]`. */
export function hostInAddress(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
