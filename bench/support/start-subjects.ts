import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PreparedAnswers } from '../subjects/wire.ts';
import type { Gateway } from './gateway.ts';
import { ALONE, OURS, UNLIMITED } from './ours.ts';
import { ProbedProcess, type ProcessOptions } from './probed-process.ts';
import { createSubject, type Subject, type SubjectOptions } from './subject.ts';
import type { Workload } from './workloads.ts';

type Surroundings = Pick<Gateway, 'url' | 'tokens'>;

/** Overrides for the launch of one of several processes of the same program. */
export type Variant = Partial<Pick<ProcessOptions, 'script' | 'nodeFlags' | 'environment'>>;

type Entry = Pick<SubjectOptions, 'name' | 'endpoint' | 'replaysRecording'> &
  Variant & { readonly script: string };

/** This project as in production, with limits that a load test does not reach. */
export function startOurs(
  gateway: Surroundings,
  name = 'ours',
  { environment, ...variant }: Variant = {},
): Promise<Subject> {
  const settings = { ...ALONE, ...UNLIMITED, ...environment };
  return start(gateway, {
    name,
    endpoint: '/graphql',
    script: OURS,
    ...variant,
    environment: settings,
  });
}

export function startByHand(gateway: Surroundings): Promise<Subject> {
  const script = pathOf('../subjects/by-hand/main.ts');
  return start(gateway, { name: 'by hand', endpoint: null, script });
}

/** The wire replays the answers of `model`. */
export async function startWire(
  gateway: Surroundings,
  model: Subject,
  workloads: readonly Workload[],
): Promise<Subject> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
  const file = join(folder.path, 'answers.json');
  await writeFile(file, JSON.stringify(await answersOf(model, workloads)));
  return await start(gateway, {
    name: 'wire',
    endpoint: null,
    replaysRecording: true,
    script: pathOf('../subjects/wire.ts'),
    environment: { ANSWERS: file },
  });
}

async function answersOf(model: Subject, workloads: readonly Workload[]): Promise<PreparedAnswers> {
  const answers: Record<string, PreparedAnswers[string]> = {};
  for (const { samples, calls } of workloads) {
    const bodies: string[] = [];
    for (const sample of samples) bodies.push((await model.ask(sample)).text);
    answers[samples[0].path] = { calls, bodies };
  }
  return answers;
}

export async function start(
  { url, tokens }: Surroundings,
  { script, environment, nodeFlags = [], ...entry }: Entry,
): Promise<Subject> {
  const given = { script, nodeFlags, environment: { GATEWAY_URL: url, ...environment } };
  return createSubject({ ...entry, process: await ProbedProcess.listening(given), tokens });
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
