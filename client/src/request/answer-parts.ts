import { fireAndForget } from '../fire-and-forget.ts';
import { isObject } from './failures.ts';
import { parseJson } from './wire-result.ts';

/** The media type of an answer in parts, by the proposal of 2022, in which each part has its path. */
export const PARTS = 'multipart/mixed;deferSpec=20220824';

/** The parts so far, in the form of an answer in one piece. */
export interface AnswerSoFar {
  readonly data: unknown;
  readonly errors: readonly unknown[];
  readonly extensions?: unknown;
}

/** The boundary of an answer in parts; null for an answer in one piece. */
export function boundaryOf({ headers }: Response): string | null {
  const type = headers.get('content-type') ?? '';
  return type.startsWith('multipart/mixed')
    ? (/boundary="?([^";]+)/.exec(type)?.[1] ?? null)
    : null;
}

/** Reads an answer in parts, each of which adds to the former ones. Rejects if the last part is missing. */
export async function readParts(
  response: Response,
  boundary: string,
  onPart: (soFar: AnswerSoFar) => void,
): Promise<AnswerSoFar> {
  let soFar: AnswerSoFar = { data: undefined, errors: [] };
  let isWhole = false;
  let rest = '';
  for await (const text of textsOf(response)) {
    const pieces = (rest + text).split(`\r\n--${boundary}`);
    rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      const message = parseJson(piece.slice(piece.indexOf('\r\n\r\n')));
      if (!isObject(message)) continue;
      soFar = joined(soFar, message);
      // A complete answer has no `hasNext`.
      isWhole = message.hasNext !== true;
      if (!isWhole) onPart(soFar);
    }
  }
  if (!isWhole) throw new Error('The last part of the answer is missing.');
  return soFar;
}

/** Reads the body piece by piece. React Native gives the body only as a whole. */
export async function* textsOf(response: Response): AsyncGenerator<string> {
  if (typeof response.body?.getReader !== 'function') return yield await response.text();
  const copy = copyOf(response);
  const reader = copy.body?.getReader();
  const whole = copy === response ? null : response.arrayBuffer();
  if (whole) fireAndForget(whole);
  const decoder = new TextDecoder();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    yield decoder.decode(read.value, { stream: true });
  }
  await whole;
}

/**
 * Chromium reports a request as cancelled if only a reader has read its body, so a clone is read piece by piece. Expo's
 * `fetch` cannot clone before SDK 56, and its response has no text after its body was accessed, so there the response itself
 * is read.
 */
function copyOf(response: Response): Response {
  try {
    return response.clone();
  } catch {
    return response;
  }
}

function joined(before: AnswerSoFar, message: Record<string, unknown>): AnswerSoFar {
  const parts = Array.isArray(message.incremental) ? message.incremental : [message];
  const { extensions = before.extensions } = message;
  const { data, errors } = parts.reduce<AnswerSoFar>(
    (soFar, part) => ({
      data: merged(soFar.data, part.data),
      errors: soFar.errors.concat(part.errors ?? []),
    }),
    before,
  );
  return { data, errors, extensions };
}

/** A field that two parts select has the fields of both. */
function merged(one: unknown, other: unknown): unknown {
  if (other === undefined) return one;
  if (Array.isArray(one) && Array.isArray(other)) {
    return other.map((each, at) => merged(one[at], each));
  }
  if (!isObject(one) || !isObject(other) || Array.isArray(other)) return other;
  const whole: Record<string, unknown> = { ...one };
  for (const [name, value] of Object.entries(other)) whole[name] = merged(one[name], value);
  return whole;
}
