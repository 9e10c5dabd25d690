const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a URL points to the reader's own machine. */
export function isLocal(url: string): boolean {
  return LOCAL_HOSTS.has(URL.parse(url)?.hostname ?? '');
}
