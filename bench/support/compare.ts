import { isDeepStrictEqual } from 'node:util';
import type { Contestant } from './contestant.ts';
import type { Workload } from './workloads.ts';

const SHOWN = 300;

/** Whoever answers something else is not measured: it did other work. Throws at the first difference. */
export async function compareAnswers(
  model: Contestant,
  other: Contestant,
  { title, samples, encoding, mayEndEarly }: Workload,
): Promise<void> {
  // What is known by heart comes in turn, whatever was asked.
  if (other.knowsByHeart && samples.length > 1) return;
  for (const question of samples) {
    const expected = await model.ask(question, encoding);
    const answered = await other.ask(question, encoding);
    const isAlike =
      isDeepStrictEqual(answered.data, expected.data) ||
      (mayEndEarly && startsWith(expected.data, answered.data));
    if (!isAlike) {
      throw new Error(
        `${title}: ${other.name} answers otherwise than ${model.name} to ${JSON.stringify(question.variables)}:\n` +
          `${shown(answered.data)}\n${shown(expected.data)}`,
      );
    }
    if (answered.encoding !== encoding) {
      throw new Error(`${title}: ${other.name} sends ${answered.encoding}, not ${encoding}`);
    }
  }
}

/** Whether every list of one is the beginning of the other's. */
function startsWith(whole: unknown, beginning: unknown): boolean {
  if (Array.isArray(whole) && Array.isArray(beginning)) {
    return isDeepStrictEqual(whole.slice(0, beginning.length), beginning);
  }
  if (typeof whole !== 'object' || typeof beginning !== 'object') return false;
  return Object.entries(whole ?? {}).every(([name, value]) =>
    startsWith(value, (beginning as Record<string, unknown> | null)?.[name]),
  );
}

function shown(value: unknown): string {
  return JSON.stringify(value).slice(0, SHOWN);
}
