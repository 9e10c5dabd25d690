import type { Answer } from './exchange.ts';
import { type GatewayRefusal, toRefusal } from './wire/bodies.ts';

/** The body as JSON; undefined where it is none. A page of HTML with status 200 is not an answer. */
export function jsonOf(answer: Answer, parse: (text: string) => unknown = JSON.parse): unknown {
  if (!isJsonType(answer.headers['content-type'])) return undefined;
  try {
    return parse(answer.bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

export function isJsonType(type: string | undefined): boolean {
  if (type === undefined || type === 'application/json') return true;
  return /^\s*[\w.+-]+\/([\w.+-]+\+)?json\b/i.test(type);
}

export function refusalOf(answer: Answer): GatewayRefusal {
  return toRefusal(jsonOf(answer));
}

/** Whether it has an error body of the interface; without one the gateway may not even have sent it. */
export function isWorded(answer: Answer): boolean {
  const { error, message } = refusalOf(answer);
  return error !== null || message !== null;
}
