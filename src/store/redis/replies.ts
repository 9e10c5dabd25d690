import { memo } from '../../lib/memo.ts';
import type { RecordedOutcome } from '../order-records.ts';
import { RedisSilentError } from './connection.ts';

/** The first words that the answer of each script can have: those that stand in its text. */
const words = new Map<string, ReadonlySet<string>>();

function wordsOf(script: string): ReadonlySet<string> {
  const all = () => new Set([...script.matchAll(/'(\w+)'/g)].map(([, word = '']) => word));
  return memo(words, script, all);
}

/** The answer of a script of the order records. After any other reply the script may have run. */
export function answerIn(script: string, reply: unknown): readonly unknown[] {
  if (Array.isArray(reply) && wordsOf(script).has(reply[0])) return reply;
  throw unreadable();
}

/** As many answers as there were questions. */
export function answersIn(reply: unknown, length: number): readonly unknown[] {
  if (Array.isArray(reply) && reply.length === length) return reply;
  throw unreadable();
}

export function figureIn(value: unknown): number {
  const isFigure = typeof value === 'number' || (typeof value === 'string' && value !== '');
  if (isFigure && Number.isFinite(Number(value))) return Number(value);
  throw unreadable();
}

export function textIn(value: unknown): string {
  if (typeof value === 'string') return value;
  throw unreadable();
}

export function jsonIn(value: unknown): unknown {
  try {
    return JSON.parse(textIn(value));
  } catch {
    throw unreadable();
  }
}

/** Null for an order whose outcome is not recorded yet. */
export function outcomeIn(value: unknown): RecordedOutcome | null {
  const outcome = jsonIn(value);
  if (outcome === null) return null;
  if (typeof outcome === 'object' && 'kind' in outcome) return outcome as RecordedOutcome;
  throw unreadable();
}

function unreadable(): RedisSilentError {
  return new RedisSilentError('Redis gave an answer that cannot be read');
}
