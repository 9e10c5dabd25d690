import type { IncomingMessage } from 'node:http';
import { parseExactJson } from '../../../lib/exact-json.ts';

/** The parameters that a request sends, or why they cannot be read. */
type Reading =
  | { readonly kind: 'params'; readonly sent: unknown }
  | { readonly kind: 'fault'; readonly fault: string };

const BYTE_ORDER_MARK = 0xfeff;

/** The parameters of a GET, or of a POST that has a body. */
export function readParams({ url = '' }: IncomingMessage, body: Buffer | null): Reading {
  try {
    return { kind: 'params', sent: body === null ? readQueryString(url) : readBody(body) };
  } catch {
    return {
      kind: 'fault',
      fault: body === null ? '`variables` and `extensions` are JSON.' : 'The body is not JSON.',
    };
  }
}

function readBody(body: Buffer): unknown {
  const text = body.toString();
  const hasMark = text.charCodeAt(0) === BYTE_ORDER_MARK;
  return parseExactJson(hasMark ? text.slice(1) : text);
}

function readQueryString(url: string): Record<string, unknown> {
  const at = url.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : url.slice(at + 1));
  const params: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'documentId']) {
    const value = query.get(name);
    if (value) params[name] = value;
  }
  for (const name of ['variables', 'extensions']) {
    const value = query.get(name);
    if (value) params[name] = parseExactJson(value);
  }
  return params;
}
