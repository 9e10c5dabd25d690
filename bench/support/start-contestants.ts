import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PreparedAnswers } from '../contestants/wire.ts';
import { Contestant, type ContestantOptions } from './contestant.ts';
import { CONTESTANT_CORE } from './cores.ts';
import type { Gateway } from './gateway.ts';
import { ALONE, OURS, UNLIMITED } from './ours.ts';
import { ProbedProcess } from './probed-process.ts';
import type { Workload } from './workloads.ts';

type Surroundings = Pick<Gateway, 'url' | 'tokens'>;

interface Entry extends Pick<ContestantOptions, 'name' | 'endpoint' | 'replaysRecording'> {
  readonly script: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
}

/** The difference between a further one of this project's processes and the first. */
export interface Variant {
  readonly name: string;
  /** Another checkout of the project. */
  readonly folder?: string;
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** This project as it runs in production, with limits that a load test does not reach. */
export function startOurs(
  gateway: Surroundings,
  { name, folder, nodeFlags = [], environment }: Variant = { name: 'ours' },
): Promise<Contestant> {
  return start(gateway, {
    name,
    endpoint: '/graphql',
    script: folder === undefined ? OURS : join(folder, 'src/main.ts'),
    nodeFlags,
    environment: { ...ALONE, ...UNLIMITED, ...environment },
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
  for (const { samples, calls, title } of workloads) {
    const [question] = samples;
    if (!question) throw new Error(`${title}: nothing is asked`);
    const bodies: string[] = [];
    for (const sample of samples) bodies.push((await model.ask(sample)).text);
    answers[question.path] = { calls, bodies };
  }
  return answers;
}

export async function start(
  { url, tokens }: Surroundings,
  { script, environment, nodeFlags = [], ...entry }: Entry,
): Promise<Contestant> {
  const process = await ProbedProcess.listening({
    script,
    core: CONTESTANT_CORE,
    nodeFlags,
    environment: { GATEWAY_URL: url, ...environment },
  });
  return new Contestant({ ...entry, process, tokens });
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
