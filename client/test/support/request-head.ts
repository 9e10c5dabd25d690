import type { IncomingMessage } from 'node:http';

/** The request's line and headers as they came, for another path where it is given. */
export function headOf(
  { method, url, rawHeaders }: IncomingMessage,
  path: string | undefined = url,
): string {
  const headers = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `${method} ${path} HTTP/1.1\r\n${headers.join('')}\r\n`;
}
