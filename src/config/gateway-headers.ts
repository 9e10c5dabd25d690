import { z } from 'zod';
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
  schema: z.string().transform((value, context) => {
    const headers = new Map<string, string>();
    for (const [name, content] of Object.entries(parseObject(value) ?? { '': null })) {
      const key = name.toLowerCase();
      const problem = problemOf(key, content, headers.has(key));
      if (problem !== null)
        context.addIssue({ code: 'custom', message: problem, params: { telling: true } });
      headers.set(key, String(content));
    }
    return Object.fromEntries(headers);
  }),
  allowed: 'a JSON object of header names and texts',
};

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
