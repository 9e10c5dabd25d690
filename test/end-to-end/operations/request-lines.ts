import type { TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

type Log = Pick<TestApp, 'logged'>;

/** A line of the log. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever fields it expects
export type Line = Readonly<Record<string, any>>;

export function linesOf({ logged }: Log, message: string): Line[] {
  return logged.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === message);
}

/** The first line with this message, and with this request id if given. */
export function lineOf(app: Log, message: string, requestId?: string): Promise<Line> {
  const isWanted = (line: Line) => requestId === undefined || line.requestId === requestId;
  return eventually(() => {
    const line = linesOf(app, message).find(isWanted);
    if (line === undefined) throw new Error(`no line "${message}" in:\n${app.logged.join('')}`);
    return line;
  });
}

/** The outcomes of requests with this error code, from their log lines. */
export function outcomesOf(app: Log, code: string): string[] {
  const lines = linesOf(app, 'request').filter(({ codes }) => codes?.includes(code));
  return [...new Set(lines.map(({ outcome }) => outcome))];
}
