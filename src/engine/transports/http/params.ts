import { parseExactJson } from '../../../lib/exact-json.ts';

/** The parameters in the body of a POST. It throws where the body is no JSON. */
export function jsonOf(body: Buffer): unknown {
  // Some clients begin with U+FEFF, which is no JSON.
  return parseExactJson(body.toString().replace(/^\ufeff/, ''));
}

/** The parameters of a GET. It throws where one of them is no JSON. */
export function paramsOf(url: string): Record<string, unknown> {
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
