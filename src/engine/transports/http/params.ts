import { parseExactJson } from '../../../lib/exact-json.ts';

/** The parameters in the body of a POST. Throws if the body is not JSON. */
export function jsonOf(body: Buffer): unknown {
  // Some clients begin the body with U+FEFF, which JSON does not allow.
  return parseExactJson(body.toString().replace(/^\ufeff/, ''));
}

/** The parameters of a GET. Throws if one of them is not JSON. */
export function paramsOf(url: string): Record<string, unknown> {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
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
