import type { Kind } from './kinds.ts';

const NAME = /^[!#$%&'*+\-.^_`|~\da-z]+$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

// The gateway client writes these itself; a fixed one would break the call, or replace the user's token.
const TAKEN = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'expect',
  'if-none-match',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Problems name the header and never its value: the values are secrets. */
export const gatewayHeaders: Kind<Readonly<Record<string, string>>> = {
  parse(text) {
    const { headers, problems } = readHeaders(text);
    return problems.length === 0 ? Object.fromEntries(headers) : null;
  },
  allowed: 'a JSON object of header names and texts',
  problems: (text) => readHeaders(text).problems,
};

function readHeaders(text: string) {
  const headers = new Map<string, string>();
  const problems: string[] = [];
  for (const [name, content] of Object.entries(parseObject(text) ?? { '': null })) {
    const key = name.toLowerCase();
    const problem = problemOf(key, content, headers.has(key));
    if (problem !== null) problems.push(problem);
    headers.set(key, String(content));
  }
  return { headers, problems };
}

function problemOf(name: string, content: unknown, isRepeated: boolean): string | null {
  if (name === '' || !NAME.test(name)) return 'not an object of legal header names';
  if (TAKEN.has(name)) return `${name} is set by the program itself`;
  if (isRepeated) return `${name} is there twice`;
  return typeof content === 'string' && VALUE.test(content) ? null : `${name} is not a legal text`;
}

function parseObject(value: string): object | null {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}
