import type { TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

/** A line of the log. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever fields it expects
export type Line = Readonly<Record<string, any>>;

export function linesOf({ logged }: Pick<TestApp, 'logged'>, message: string): Line[] {
  return logged.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === message);
}

/** The first line with this message, and with this request id if given. */
export function lineOf(
  app: Pick<TestApp, 'logged'>,
  message: string,
  requestId?: string,
): Promise<Line> {
  return eventually(() => {
    const line = linesOf(app, message).find(
      (each) => requestId === undefined || each.requestId === requestId,
    );
    if (line === undefined) throw new Error(`no line "${message}" in:\n${app.logged.join('')}`);
    return line;
  });
}

/** The outcomes of requests with this error code, from their log lines. */
export function outcomesOf(app: Pick<TestApp, 'logged'>, code: string): string[] {
  const lines = linesOf(app, 'request').filter(({ codes }) => codes?.includes(code));
  return [...new Set(lines.map(({ outcome }) => outcome))];
}
