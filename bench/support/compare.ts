import { isDeepStrictEqual } from 'node:util';
import type { Subject } from './subject.ts';
import type { Workload } from './workloads.ts';

const SHOWN_CHARACTERS = 300;

/** Throws at the first difference, because a subject with a different answer does different work. */
export async function compareAnswers(
  model: Subject,
  other: Subject,
  { title, samples, mayFindFewer }: Workload,
): Promise<void> {
  // Recorded answers are replayed in a fixed order, independent of the request, so several questions cannot be compared.
  if (other.replaysRecording && samples.length > 1) return;
  for (const question of samples) {
    const { data: expected } = await model.ask(question);
    const { data } = await other.ask(question);
    const isEqual = isDeepStrictEqual(data, expected);
    const isAccepted = isEqual || (mayFindFewer && startsWith(expected, data));
    if (isAccepted) continue;
    throw new Error(
      `${title}: ${other.name} answers otherwise than ${model.name} to ${JSON.stringify(question.variables)}:\n` +
        `${shown(data)}\n${shown(expected)}`,
    );
  }
}

/**
 * Whether `beginning` is the same answer as `whole`, but with fewer rows: each list in it is the beginning of the list in
 * `whole`. An answer with a scalar outside its lists is never accepted. The answers to searches have no such scalar.
 */
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
  return JSON.stringify(value).slice(0, SHOWN_CHARACTERS);
}
