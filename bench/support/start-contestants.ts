import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PreparedAnswers } from '../contestants/wire.ts';
import { type Contestant, type ContestantOptions, createContestant } from './contestant.ts';
import type { Gateway } from './gateway.ts';
import { ALONE, OURS, UNLIMITED } from './ours.ts';
import { ProbedProcess, type ProcessOptions } from './probed-process.ts';
import type { Workload } from './workloads.ts';

type Surroundings = Pick<Gateway, 'url' | 'tokens'>;

/** How its process differs from another one of the same program. */
export type Variant = Partial<Pick<ProcessOptions, 'script' | 'nodeFlags' | 'environment'>>;

type Entry = Pick<ContestantOptions, 'name' | 'endpoint' | 'replaysRecording'> &
  Variant & { readonly script: string };

/** This project as it runs in production, with limits that a load test does not reach. */
export function startOurs(
  gateway: Surroundings,
  name = 'ours',
  { environment, ...variant }: Variant = {},
): Promise<Contestant> {
  const settings = { ...ALONE, ...UNLIMITED, ...environment };
  return start(gateway, {
    ...{ name, endpoint: '/graphql', script: OURS, ...variant, environment: settings },
  });
}

export function startByHand(gateway: Surroundings): Promise<Contestant> {
  const script = pathOf('../contestants/by-hand/main.ts');
  return start(gateway, { name: 'by hand', endpoint: null, script });
}

/** The wire replays the answers of `model`. */
export async function startWire(
  gateway: Surroundings,
  model: Contestant,
  workloads: readonly Workload[],
): Promise<Contestant> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const file = join(folder, 'answers.json');
    await writeFile(file, JSON.stringify(await answersOf(model, workloads)));
    return await start(gateway, {
      name: 'wire',
      endpoint: null,
      replaysRecording: true,
      script: pathOf('../contestants/wire.ts'),
      environment: { ANSWERS: file },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function answersOf(
  model: Contestant,
  workloads: readonly Workload[],
): Promise<PreparedAnswers> {
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
): Promise<Contestant> {
  const given = { script, nodeFlags, environment: { GATEWAY_URL: url, ...environment } };
  return createContestant({ ...entry, process: await ProbedProcess.listening(given), tokens });
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
