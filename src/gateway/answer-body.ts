import type { Answer } from './exchange.ts';

/** The body as JSON; undefined if it is not JSON. An HTML page with status 200 is not an answer. */
export function jsonOf(answer: Answer, parse: (text: string) => unknown = JSON.parse): unknown {
  if (!isJsonContent(answer.headers['content-type'])) return undefined;
  try {
    return parse(answer.bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

export function isJsonContent(type: string | undefined): boolean {
  if (type === undefined || type === 'application/json') return true;
  return /^\s*[\w.+-]+\/([\w.+-]+\+)?json\b/i.test(type);
}
